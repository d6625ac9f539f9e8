#include "step/projection.h"

#include <algorithm>
#include <cmath>

#include "base/se3.h"
#include "step/actuation.h"
#include "step/assemble.h"

namespace slipstick {

namespace {

/// A compliance of every row, as a share of what a unit impulse moves: a body that is squeezed between two walls has no
/// displacement that serves both, and ends in the middle. What it leaves over is taken in the next round.
constexpr double kSoftness = 1e-6;

bool is_finite_twist(const Twist& d) { return d.linear.allFinite() && d.angular.allFinite(); }

}  // namespace

Projection::Projection(const Model& model, const SimulationOptions& options)
    : model_(model), still_(model.bodies.size()), displacement_(model.bodies.size()) {
  input_.model = &model;
  input_.options = &options;
  input_.prescribed = still_;
  input_.h_nominal = options.step;
}

void Projection::begin(const State& state) {
  input_.state = &state;
  begin_problem(model_, &problem_, &map_);
  for (std::size_t i = 0; i < model_.bodies.size(); ++i)
    if (map_.column_of_body[i] >= 0) add_body_column(model_.bodies[i], Vec6::Zero(), nullptr, &problem_);
}

void Projection::soften(int body_a, int body_b, const PairRow& row, int problem_row) {
  problem_.compliance[problem_row] = kSoftness * calc_pair_mobility(model_, body_a, body_b, row);
}

void Projection::add_joints(std::span<const JointRows> joints, std::span<const double> offset) {
  joints_.assign(joints.begin(), joints.end());
  for (JointRows& joint : joints_) joint.compliance = 0;  // whatever it gives way by is no affair of positions
  add_joint_rows(input_, {}, joints_, 0, &problem_, &map_);
  for (const JointRows& joint : joints_) {
    const int first = model_.joints[joint.joint].first_row;
    for (int r = 0; r < joint.count; ++r) {
      const int row = map_.joint_row[first + r];
      if (row < 0) continue;
      problem_.c[row] = offset[first + r];
      soften(joint.body_a, joint.body_b, joint.row[r], row);
    }
  }
  if (model_.couplings.empty()) return;
  update_axis_rows(model_, input_.state->pose, input_.state->axis, &equations_.axes);
  update_coupling_rows(model_, equations_.axes, &equations_.couplings);
  add_axis_rows(input_, {}, equations_, 0, &problem_, &map_, still_);  // rotors too are at rest here
  for (const Coupling& coupling : model_.couplings)
    if (map_.joint_row[coupling.row] >= 0) problem_.c[map_.joint_row[coupling.row]] = offset[coupling.row];
}

void Projection::add_contacts(const ContactSet& contacts, std::span<const double> offset) {
  input_.contacts = &contacts;
  std::vector<ContactRows>& rows = equations_.contacts;
  update_contact_rows(model_, input_.state->pose, contacts, &rows);
  offset_.assign(offset.begin(), offset.end());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].friction = 0;
    if (!is_row_movable(input_, map_, rows[i].body_a, rows[i].body_b, rows[i].row[0])) offset_[i] = kInfinity;
  }
  add_contact_rows(input_, rows, offset_, &problem_, &map_);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (map_.contact_row[i] >= 0) soften(rows[i].body_a, rows[i].body_b, rows[i].row[0], map_.contact_row[i]);
}

LadderResult Projection::solve(StepSolver* solver) {
  solution_.lambda.resize(0);
  return solver->solve_unjudged(problem_, &solution_);
}

double Projection::move(double most, State* state) {
  double farthest = 0;
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    if (map_.column_of_body[i] < 0) continue;
    displacement_[i] = calc_body_twist(input_, map_, problem_, solution_.v, static_cast<int>(i));
    const Twist& d = displacement_[i];
    if (!is_finite_twist(d)) return share_ = 0;
    farthest = std::max(farthest, d.linear.norm() + d.angular.norm() * model_.bodies[i].reach_radius);
  }
  const double share = farthest > most ? most / farthest : 1;
  before_.axis = state->axis;
  before_.idle_axis = state->idle_axis;
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const Twist& d = displacement_[i];
    if (map_.column_of_body[i] < 0 || (d.linear.isZero(0) && d.angular.isZero(0))) continue;
    state->pose[i] = slipstick::move(state->pose[i], d, share);
  }
  update_coordinates(model_, before_, state);
  share_ = share;
  return share * farthest;
}

void Projection::update_gaps(ContactSet* contacts) const {
  for (std::size_t i = 0; i < equations_.contacts.size(); ++i) {
    const ContactRows& rows = equations_.contacts[i];
    if (map_.contact_row[i] < 0) continue;
    double change = 0;
    const auto side = [&](int body, const Vec6& row) {
      if (body == kWorld || map_.column_of_body[body] < 0) return;
      change += row.head<3>().dot(displacement_[body].linear) + row.tail<3>().dot(displacement_[body].angular);
    };
    side(rows.body_a, rows.row[0].a);
    side(rows.body_b, rows.row[0].b);
    contacts->contacts[rows.contact].gap += share_ * change;
  }
}

}  // namespace slipstick
