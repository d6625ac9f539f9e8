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

Projection::Projection(const Model& model, const SimulationOptions& options, const ThreadTeam* team)
    : model_(model), still_(model.bodies.size()), displacement_(model.bodies.size()) {
  input_.model = &model;
  input_.options = &options;
  input_.prescribed = still_;
  input_.h_nominal = options.step;
  input_.team = team;
}

void Projection::begin(const State& state, std::span<const char> taking_part) {
  input_.state = &state;
  begin_problem(model_, &problem_, &map_, taking_part);
  add_body_columns(model_, map_, &problem_);
  for (std::size_t i = 0; i < model_.bodies.size(); ++i)
    if (map_.column_of_body[i] >= 0)
      fill_body_column(model_.bodies[i], Vec6::Zero(), nullptr, map_.column_of_body[i], &problem_);
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
  const auto in_portions = [&](const auto& f) {
    for_portions(input_.team, normals_.size(), kContactPortion, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) f(&normals_[i]);
    });
  };
  normals_.clear();
  for (std::size_t i = 0; i < offset.size(); ++i)
    if (std::isfinite(offset[i])) normals_.push_back({static_cast<int>(i), -1, {}});
  in_portions([&](Normal* normal) {
    const NormalRow row = calc_normal_row(model_, input_.state->pose, contacts.contacts[normal->contact]);
    if (is_row_movable(input_, map_, row.body_a, row.body_b, row.row)) normal->of = row;
  });
  reserve_rows(normals_.size(), 1, &problem_);
  for (Normal& normal : normals_) {
    if (normal.of.body_a == kWorld && normal.of.body_b == kWorld) continue;  // nothing can move it
    const Contact& contact = contacts.contacts[normal.contact];
    RowBlock& block = problem_.add_block(LawKind::Nonnegative, 1);
    block.mode = law_of(model_, contact).solve;
    block.rigid = contact.limit >= 0;
    add_pair_columns(map_, normal.of.body_a, normal.of.body_b, &problem_);
    normal.block = static_cast<int>(problem_.blocks.size()) - 1;
  }
  in_portions([&](Normal* normal) {
    if (normal->block < 0) return;
    const RowBlock& block = problem_.blocks[normal->block];
    const NormalRow& of = normal->of;
    problem_.c[block.row] = offset[normal->contact];
    fill_pair_entries(input_, map_, of.body_a, of.body_b, 0, {&of.row, 1}, block, &problem_);
    soften(of.body_a, of.body_b, of.row, block.row);
  });
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
  for (const Normal& normal : normals_) {
    if (normal.block < 0) continue;
    double change = 0;
    const auto side = [&](int body, const Vec6& row) {
      if (body == kWorld || map_.column_of_body[body] < 0) return;
      change += row.head<3>().dot(displacement_[body].linear) + row.tail<3>().dot(displacement_[body].angular);
    };
    side(normal.of.body_a, normal.of.row.a);
    side(normal.of.body_b, normal.of.row.b);
    contacts->contacts[normal.contact].gap += share_ * change;
  }
}

}  // namespace slipstick
