#include "step/correction.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/se3.h"
#include "mechanics/equations.h"
#include "step/overlap.h"
#include "step/rigid_turn.h"

namespace slipstick {

namespace {

/// Overlap comes out in about kFallShare sqrt(size/g), a part of the time in which the body falls by its size; without
/// gravity, where nothing says what is quick, in kFloatingTime or so many steps. No more than a tenth in a step, and
/// within that time no less than kLeast and no more than kMost sizes. In seconds alone a scene of microseconds would
/// wait for ever; in steps alone joints, which a move opens by its square, would be opened the faster the shorter steps
/// are.
constexpr double kFallShare = 0.4, kFloatingTime = 0.1, kFloatingSteps = 100, kMostShare = 0.1;
constexpr double kLeast = 0.05, kMost = 1;
/// What is left would be a little more than that: all of it at once.
constexpr double kAllAtOnce = 1.5;
/// Body sizes: open contacts that take part where the effort is less than exact.
constexpr double kNear = 0.01;
/// Contacts of a group up to which `balanced` is as careful as `exact`: there a round costs next to nothing.
constexpr int kFew = 200;
/// Rounds of a larger group there, and what they may leave, in body sizes.
constexpr int kLargeRounds = 2;
constexpr double kLargeCorrected = 1e-4;
/// The overlap that is corrected under `balanced`, where there are no joints, though a turn has left it, in body sizes.
/// In a blow (omega h)^2 R is centimetres, and the rows of the next step would turn them into speed.
constexpr double kMostLeft = 1e-3;
/// Where a turn may have left more than this, the overlap says little about where the body came from.
constexpr double kMostTurned = 0.1;
/// Levers may move a point farther than the contact that is corrected, by this much.
constexpr double kCorrectionLever = 10;
/// Joints are closed where they have come apart by more than this share of their size, m, or by as many rad.
constexpr double kLoose = 1e-6;

/// What of a correction a step may do of a body of that size.
double calc_share(const Model& model, double h, double size) {
  const double gravity = model.gravity.norm();
  const double time =
      gravity > 0 ? kFallShare * std::sqrt(size / gravity) : std::min(kFloatingTime, kFloatingSteps * h);
  return std::min(kMostShare, h / time);
}

double calc_parting_speed(const Contact& contact, const State& state) {
  const auto speed = [&](int body, const Vec3& point) -> double {
    if (body == kWorld) return 0;
    const Pose& q = state.pose[body];
    const Vec3 r = q.orientation.conjugate() * (point - q.position);
    return contact.normal.dot(point_velocity(q, state.velocity[body], r));
  };
  return speed(contact.body_b, contact.point_b) - speed(contact.body_a, contact.point_a);
}

}  // namespace

/// Each round costs as much as a look for contacts and a tenth of a step's sweeps: where digits are not worth that,
/// what one round leaves is the next step's.
Correction::Care Correction::care_of(Effort effort) {
  switch (effort) {
    case Effort::Exact:
    case Effort::Balanced:
      return {.rounds = 6, .band = 0, .corrected = 1e-10, .parting = 10};
    case Effort::Swift:
      return {.rounds = 4, .band = 3e-3, .corrected = 0, .parting = 0};
  }
  return {};
}

Correction::Correction(const Model& model, const SimulationOptions& options, const ThreadTeam* team)
    : model_(model),
      options_(options),
      care_(care_of(options.effort)),
      thickness_(care_.band > 0 ? calc_thicknesses(model) : std::vector<double>()),
      projection_(model, options, team),
      reach_(model.bodies.size()),
      group_(model.bodies.size()),
      due_(model.bodies.size()) {
  for (std::size_t i = 0; i < reach_.size(); ++i)
    if (const double size = model.bodies[i].reach_radius; model.bodies[i].kind == BodyKind::Dynamic && size > 0)
      reach_[i] = calc_share(model, options.step, size) * kLeast * size;
}

bool Correction::is_real(const State& state, const Contact& contact, bool turns) const {
  if (options_.close_joints && contact.limit >= 0)
    return contact.gap < -kLoose * calc_contact_size(model_, contact);  // ends of ranges are joints too
  if (contact.gap >= 0) return false;
  // With a band, what a turn has left is not waited for: rows of the next step would turn it into speed.
  const bool has_band = care_.band > 0 && contact.limit < 0;
  double left = has_band ? calc_band(contact) : calc_slop(model_, options_.step, state.velocity, contact);
  if (const double size = calc_contact_size(model_, contact);
      turns && options_.effort == Effort::Balanced && contact.limit < 0 && left <= kMostTurned * size)
    left = std::min(left, kMostLeft * size);
  if (contact.gap >= -left) return false;
  return contact.limit >= 0 || !(care_.parting * options_.step * calc_parting_speed(contact, state) > -contact.gap);
}

bool Correction::is_due(const State& state, const ContactSet& contacts) {
  return std::any_of(contacts.contacts.begin(), contacts.contacts.end(),
                     [&](const Contact& contact) { return is_real(state, contact, true); }) ||
         find_loose(state);
}

/// Not what gives way by itself, nor what stands open and is held as it stands.
bool Correction::is_closable(const State& state, const JointRows& joint) const {
  if (!options_.close_joints || joint.compliance > 0) return false;
  for (int r = 0; r < joint.count; ++r)
    if (stands_open(model_, options_.step, state.velocity, joint, r)) return false;
  return true;
}

/// Joints and couplings that have come apart.
bool Correction::find_loose(const State& state) {
  loose_.clear();
  looseness_ = 0;
  if (!options_.close_joints) return false;
  const auto look = [&](double error, double size, int joint) {
    if (std::abs(error) <= kLoose * size) return;
    const Joint& made = model_.joints[joint];
    loose_.push_back(made.b != kWorld ? made.b : made.a);
    looseness_ = std::max(looseness_, std::abs(error));
  };
  update_joint_rows(model_, state.pose, &joints_);
  for (const JointRows& joint : joints_) {
    if (!is_closable(state, joint)) continue;
    const double size = calc_joint_size(model_, model_.joints[joint.joint]);
    for (int r = 0; r < joint.count; ++r) look(joint.value[r], size, joint.joint);
  }
  if (model_.couplings.empty()) return !loose_.empty();
  update_axis_rows(model_, state.pose, state.axis, &axes_);
  update_coupling_rows(model_, axes_, &couplings_);
  for (std::size_t k = 0; k < couplings_.size(); ++k)
    look(couplings_[k].value, 1, model_.axes[model_.couplings[k].term[0].axis].joint);
  return !loose_.empty();
}

// ---------------------------------------------------------------- who is moved

int Correction::root_of(int body) {
  while (group_[body] != body) body = group_[body] = group_[group_[body]];
  return body;
}

void Correction::join(int a, int b) {
  if (!moves(a) || !moves(b)) return;
  a = root_of(a), b = root_of(b);
  group_[std::max(a, b)] = std::min(a, b);
}

/// By what touches in the group itself: what is elsewhere must not decide how well it is corrected.
void Correction::count_contacts() {
  if (options_.effort != Effort::Balanced) return;
  touching_.assign(group_.size(), 0);
  for (const Contact& contact : contacts_.contacts) {
    const std::array<int, 2> bodies = bodies_of(model_, contact);
    const int body = moves(bodies[0]) ? bodies[0] : bodies[1];
    if (moves(body)) ++touching_[root_of(body)];
  }
}

bool Correction::is_large(int body) {
  return options_.effort == Effort::Balanced && moves(body) && touching_[root_of(body)] > kFew;
}

/// A large group has had its rounds. False: no other one is due.
bool Correction::leave_large() {
  bool any = false;
  for (std::size_t i = 0; i < due_.size(); ++i) {
    if (is_large(static_cast<int>(i))) due_[i] = 0;
    any = any || due_[i] != 0;
  }
  return any;
}

/// After a round, by the gaps to first order in its move: large groups in which nothing is left that is worth another
/// round. In a pile of a thousand rocks looking for contacts once more costs as much as a step's solution, and finds
/// what the square of a move of a thousandth of their size has left. False: no group is due any more.
bool Correction::leave_corrected() {
  std::vector<char>& left = left_;
  left.assign(due_.size(), 0);
  for (const Contact& contact : contacts_.contacts) {
    if (contact.gap >= -calc_corrected(contact)) continue;
    for (const int body : bodies_of(model_, contact))
      if (moves(body)) left[root_of(body)] = 1;
  }
  bool any = false;
  for (std::size_t i = 0; i < due_.size(); ++i) {
    if (is_large(static_cast<int>(i)) && !left[root_of(static_cast<int>(i))]) due_[i] = 0;
    any = any || due_[i] != 0;
  }
  return any;
}

/// Groups with joints: what turns leave there is the rows' as before. Rocks that are jammed in a bucket are moved
/// against each other by such corrections, and what was solved to the tolerance is not any more.
void Correction::find_jointed() {
  jointed_.assign(group_.size(), 0);
  for (const Joint& joint : model_.joints)
    for (const int body : {joint.a, joint.b})
      if (moves(body)) jointed_[root_of(body)] = 1;
}

bool Correction::is_jointed(const std::array<int, 2>& bodies) {
  return std::any_of(bodies.begin(), bodies.end(), [&](int body) { return moves(body) && jointed_[root_of(body)]; });
}

/// Groups, and in the first round those of them that are due; later those of them that are not done. False: none.
bool Correction::find_groups(const State& state, bool first) {
  if (first) {
    std::iota(group_.begin(), group_.end(), 0);
    for (const Joint& joint : model_.joints) join(joint.a, joint.b);
    for (const Coupling& coupling : model_.couplings)
      for (int k = 1; k < coupling.count; ++k)
        join(model_.joints[model_.axes[coupling.term[0].axis].joint].b,
             model_.joints[model_.axes[coupling.term[k].axis].joint].b);
    due_.assign(due_.size(), 0);
  }
  for (const Contact& contact : contacts_.contacts)
    if (contact.limit < 0) join(contact.body_a, contact.body_b);
  // Groups may have grown together: one that is due makes the whole due.
  for (std::size_t i = 0; i < due_.size(); ++i)
    if (due_[i]) due_[root_of(static_cast<int>(i))] = 1;
  count_contacts();
  bool any = false;
  if (find_loose(state)) {
    for (const int body : loose_) {
      if (!moves(body)) continue;
      if (first) due_[root_of(body)] = 1;
      any = any || due_[root_of(body)] != 0;
    }
  }
  find_jointed();
  for (const Contact& contact : contacts_.contacts) {
    const std::array<int, 2> bodies = bodies_of(model_, contact);
    if (!(first ? is_real(state, contact, !is_jointed(bodies)) : contact.gap < -calc_corrected(contact))) continue;
    for (const int body : bodies) {
      if (!moves(body)) continue;
      if (first) due_[root_of(body)] = 1;
      any = any || due_[root_of(body)] != 0;
    }
  }
  return any;
}

/// One entry per body. Couplings may reach from those that are moved to others: then it is all of them.
std::span<const char> Correction::find_moved() {
  if (!model_.couplings.empty()) return {};
  taking_part_.resize(due_.size());
  for (std::size_t i = 0; i < due_.size(); ++i) taking_part_[i] = due_[root_of(static_cast<int>(i))];
  return taking_part_;
}

// ---------------------------------------------------------------- by how much

double Correction::calc_band(const Contact& contact) const { return care_.band * calc_thickness(thickness_, contact); }

double Correction::calc_corrected(const Contact& contact) {
  if (care_.band > 0 && contact.limit < 0) return calc_band(contact);
  bool large = false;
  for (const int body : bodies_of(model_, contact)) large = large || is_large(body);
  return (large ? kLargeCorrected : care_.corrected) * calc_contact_size(model_, contact);
}

/// How far the contact may come out in this step.
double Correction::calc_allowance(const Contact& contact) const {
  const double depth = -contact.gap, size = calc_contact_size(model_, contact);
  const double step = calc_share(model_, options_.step, size) * std::clamp(depth, kLeast * size, kMost * size);
  return depth <= kAllAtOnce * step ? depth : step;
}

/// True: some contact has farther to go than it may in this step; `spent`: all has been done that may be done.
bool Correction::update_offsets(bool spent) {
  bool limited = false;
  offset_.assign(contacts_.contacts.size(), kInfinity);
  for (std::size_t i = 0; i < offset_.size(); ++i) {
    const Contact& contact = contacts_.contacts[i];
    const std::array<int, 2> bodies = bodies_of(model_, contact);
    if (!is_moved(bodies[0]) && !is_moved(bodies[1])) continue;
    offset_[i] = contact.gap >= 0 ? contact.gap : spent ? 0 : -calc_allowance(contact);
    limited = limited || offset_[i] > contact.gap;
  }
  return limited;
}

/// The joints of those who are moved keep the errors that they had, but for those that are closed.
void Correction::update_joints(const State& state, bool first) {
  update_joint_rows(model_, state.pose, &joints_);
  if (first) joint_start_.assign(model_.joint_rows, 0.0);
  joint_offset_.assign(model_.joint_rows, 0.0);
  moved_joints_.clear();
  for (const JointRows& joint : joints_) {
    const int row = model_.joints[joint.joint].first_row;
    const bool keeps = first && !is_closable(state, joint);
    for (int r = 0; r < joint.count; ++r) {
      if (keeps) joint_start_[row + r] = joint.value[r];
      joint_offset_[row + r] = joint.value[r] - joint_start_[row + r];
    }
    if (is_moved(joint.body_a) || is_moved(joint.body_b)) moved_joints_.push_back(joint);
  }
  if (!options_.close_joints) return;
  for (std::size_t k = 0; k < couplings_.size(); ++k)  // of find_loose
    if (is_moved(model_.joints[model_.axes[model_.couplings[k].term[0].axis].joint].b))
      joint_offset_[model_.couplings[k].row] = couplings_[k].value;
}

void Correction::find(const State& state, ContactFinder* finder) {
  finder->find(state, reach_, &contacts_);
  add_limit_contacts(model_, state, &contacts_);
}

/// The contacts that a correction may close. By their own measure, not by the deepest overlap that there is: what is
/// elsewhere must not decide who takes part here. What is closed all the same is the next step's.
void Correction::take_near(const ContactSet& found) {
  contacts_.contacts.clear();
  for (const Contact& contact : found.contacts)
    if (contact.limit >= 0 || contact.gap <= kNear * calc_contact_size(model_, contact))
      contacts_.contacts.push_back(contact);
}

/// Who floats: no joint to the world, no contact with it within reach, no direction that is locked.
void Correction::keep_momentum(State* state) {
  moved_.assign(group_.size(), -1);
  held_.assign(group_.size(), 0);
  const auto hold = [&](int a, int b) {
    if (moves(a) && !moves(b)) held_[root_of(a)] = 1;
    if (moves(b) && !moves(a)) held_[root_of(b)] = 1;
  };
  for (std::size_t i = 0; i < group_.size(); ++i) {
    const int body = static_cast<int>(i);
    if (moves(body) && is_moved(body)) moved_[i] = root_of(body);
    if (moves(body) && !is_unheld(model_, body)) held_[root_of(body)] = 1;
  }
  for (const Joint& joint : model_.joints) hold(joint.a, joint.b);
  for (const Contact& contact : contacts_.contacts)
    if (contact.limit < 0) hold(contact.body_a, contact.body_b);
  restore_angular_momentum(model_, moved_, held_, before_, state);
}

CorrectionResult Correction::run(const ContactSet& found, ContactFinder* finder, StepSolver* solver, State* state) {
  CorrectionResult result;
  const double before = calc_energy(model_, state->pose, state->velocity, state->axis).total();
  before_ = state->pose;
  bool spent = false;
  double most = 0;
  for (int round = 0; round < care_.rounds; ++round) {
    if (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed)) break;  // the step is given up
    const bool looks = options_.effort == Effort::Exact || (round > 0 && options_.effort != Effort::Swift);
    if (looks) find(*state, finder);
    if (!looks && round == 0) take_near(found);
    if (!find_groups(*state, round == 0)) break;
    if (round >= kLargeRounds && !leave_large()) break;
    const bool limited = update_offsets(spent);
    for (const double offset : offset_)
      if (offset < 0) most = std::max(most, -offset);
    most = std::max(most, looseness_);
    update_joints(*state, round == 0);
    projection_.begin(*state, find_moved());
    projection_.add_joints(moved_joints_, joint_offset_);
    projection_.add_contacts(contacts_, offset_);
    const LadderResult solved = projection_.solve(solver);
    result.solve.iterations += solved.iterations;
    result.solve.escalations += solved.escalations;
    result.solve.certify_seconds += solved.certify_seconds;
    const double moved = projection_.move(kCorrectionLever * most, state);
    if (options_.effort != Effort::Exact) projection_.update_gaps(&contacts_);
    result.moved += moved;
    if (options_.effort == Effort::Balanced && !leave_corrected()) break;
    // Joints drift in a move of finite length: a last round takes that back, and lets no contact go deeper.
    if (moved == 0 || spent || (limited && moved_joints_.empty())) break;
    spent = limited;
  }
  if (result.moved > 0) keep_momentum(state);
  result.energy = calc_energy(model_, state->pose, state->velocity, state->axis).total() - before;
  return result;
}

}  // namespace slipstick
