#include "step/flight.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <numeric>

#include "step/assemble.h"
#include "step/trial.h"

namespace slipstick {

namespace {

/// Of the larger body: a gap below this touches.
constexpr double kTouching = 1e-9;

/// h^2 k/m and h d/(2 m) up to which springs and dampers are forces at both ends of a step. The leapfrog is stable
/// to 4.
constexpr double kMostStiff = 1, kMostDamped = 0.5;

/// How often a group changes its mind in a trial, and how often all of them together have the problem solved again.
constexpr int kMostTurns = 2, kMostSettles = 6;
/// In islands of more contacts nobody who leaves has it solved again.
constexpr int kFewContacts = 12;

/// The most that a unit impulse at the point changes its velocity.
double calc_most_mobility(const Body& body, const Vec3& anchor) {
  const double turn = count_free_rotations(body) > 0 ? body.inertia_inverse.norm() * anchor.squaredNorm() : 0;
  return 1 / body.mass + turn;
}

/// Of h^2 K, where alpha < 1: a leapfrog with it would be stable from a quarter on, if the forces of the step were
/// known.
constexpr double kHeavyShare = 0.5;

/// The most that a unit force or torque on an axis changes the velocity that it acts along, on one of the bodies. What
/// turns about a point of the world has its inertia there.
double calc_most_mobility(const Model& model, const Axis& axis, bool of_b) {
  const Joint& joint = model.joints[axis.joint];
  const Body& body = model.bodies[of_b ? joint.b : joint.a];
  const Vec3& anchor = of_b ? joint.anchor_b : joint.anchor_a;
  const Vec3 along = (of_b ? joint.frame_b : joint.frame_a).col(static_cast<int>(axis.freedom) % 3);
  if (axis.freedom == Freedom::Length) return calc_most_mobility(body, anchor);
  const auto is_free = [&](int k) { return joint.free[k] && !joint.lock[k]; };
  const int slides = is_free(0) + is_free(1) + is_free(2), turns = is_free(3) + is_free(4) + is_free(5);
  const int other = of_b ? joint.a : joint.b;
  const bool held = other == kWorld || model.bodies[other].kind != BodyKind::Dynamic;
  if (!is_turn(axis.freedom)) {
    if (held && turns == 0) return 1 / body.mass;
    return calc_most_mobility(body, anchor.cross(along));
  }
  if (count_free_rotations(body) == 0) return 0;
  Mat3 inertia = body.inertia;
  if (held && slides == 0)
    inertia += body.mass * (anchor.squaredNorm() * Mat3::Identity() - anchor * anchor.transpose());
  if (turns > 1) return inertia.inverse().norm();
  return held ? 1 / along.dot(inertia * along) : along.dot(inertia.inverse() * along);
}

int find_root(const std::vector<int>& group, int i) {
  while (group[i] != i) i = group[i];
  return i;
}

bool moves(const Model& model, int body) { return body >= 0 && model.bodies[body].kind == BodyKind::Dynamic; }

/// What pulls two bodies: a spring of the model, or one of an axis.
struct Pull {
  int a = kWorld, b = kWorld;
  double stiffness = 0, damping = 0;
  double mobility_a = 0, mobility_b = 0;  ///< of those that move
};

/// In the order of Equations::springs.
std::vector<Pull> list_pulls(const Model& model) {
  std::vector<Pull> pulls;
  const auto at = [&](int body, const Vec3& anchor) {
    return moves(model, body) ? calc_most_mobility(model.bodies[body], anchor) : 0;
  };
  for (const Spring& spring : model.springs)
    pulls.push_back({spring.a, spring.b, spring.stiffness, spring.damping, at(spring.a, spring.anchor_a),
                     at(spring.b, spring.anchor_b)});
  for (const Axis& axis : model.axes) {
    if (!has_spring(axis)) continue;
    const Joint& joint = model.joints[axis.joint];
    pulls.push_back({joint.a, joint.b, axis.stiffness, axis.damping,
                     moves(model, joint.a) ? calc_most_mobility(model, axis, false) : 0,
                     moves(model, joint.b) ? calc_most_mobility(model, axis, true) : 0});
  }
  return pulls;
}

}  // namespace

Twist calc_kick(const Body& body, const Vec6& impulse, const Mat3* added) {
  if (body.dof == 6 && added == nullptr)
    return {impulse.head<3>() / body.mass, body.inertia_inverse * impulse.tail<3>()};
  const auto basis = body.free_basis().leftCols(body.dof);
  Mat6 mass = Mat6::Zero();
  mass.diagonal().head<3>().setConstant(body.mass);
  mass.bottomRightCorner<3, 3>() = body.inertia;
  if (added != nullptr) mass.bottomRightCorner<3, 3>() += *added;
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6> inner = basis.transpose() * mass * basis;
  const Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1> free = basis.transpose() * impulse;
  const Vec6 v = basis * inner.llt().solve(free);
  return {v.head<3>(), v.tail<3>()};
}

/// Fixed and driven bodies connect nothing: they stay what they are.
void Flight::update_groups(const Model& model, const Scheme& scheme, const SimulationOptions& options, double h) {
  if (group_.size() == model.bodies.size()) return;
  group_.resize(model.bodies.size());
  held_.assign(model.bodies.size(), 0);
  std::iota(group_.begin(), group_.end(), 0);
  const auto connect = [&](int a, int b) {
    if (moves(model, a) && moves(model, b)) group_[find_root(group_, a)] = find_root(group_, b);
  };
  for (const Joint& joint : model.joints) connect(joint.a, joint.b);
  for (const Spring& spring : model.springs) connect(spring.a, spring.b);
  for (std::size_t i = 0; i < group_.size(); ++i) group_[i] = find_root(group_, static_cast<int>(i));
  joined_.assign(model.bodies.size(), 0);
  hold_joints(model, scheme.closes_joints(options));
  find_followed(model, scheme, h);
}

/// Springs that the step cannot follow hold like joints: with s = h^2 k/m, all springs at both ends, which bounds
/// every frequency of the group.
void Flight::find_followed(const Model& model, const Scheme& scheme, double h) {
  const std::vector<Pull> pulls = list_pulls(model);
  std::vector<double> stiff(model.bodies.size(), 0.0), damped(model.bodies.size(), 0.0);
  for (const Pull& pull : pulls)
    for (const bool of_b : {false, true}) {
      const int body = of_b ? pull.b : pull.a;
      if (!moves(model, body)) continue;
      const double mobility = of_b ? pull.mobility_b : pull.mobility_a;
      stiff[body] += h * h * pull.stiffness * mobility;
      damped[body] += 0.5 * h * pull.damping * mobility;
    }
  follows_.clear();
  for (const Pull& pull : pulls) {
    double s = 0, x = 0;
    for (const int body : {pull.a, pull.b})
      if (moves(model, body)) s += stiff[body], x += damped[body];
    follows_.push_back(scheme.splits_springs() && s <= kMostStiff && x <= kMostDamped);
    for (const int body : {pull.a, pull.b})
      if (!follows_.back() && moves(model, body)) held_[group_[body]] = 1;
  }
}

/// Rigid joints let their group fly if the scheme ends steps with velocities that they allow (joint_ends.h). What is
/// driven or rubs on an axis acts in the problem alone.
void Flight::hold_joints(const Model& model, bool closes) {
  const auto hold = [&](const Joint& joint) {
    for (const int body : {joint.a, joint.b})
      if (body >= 0) held_[group_[body]] = 1;
  };
  for (const Joint& joint : model.joints) {
    bool rigid = closes && joint.compliance == 0 && joint.damping_time == 0 && joint.kind != JointKind::VelocityMotor;
    for (const int body : {joint.a, joint.b}) {
      if (body < 0) continue;
      joined_[group_[body]] = 1;
      rigid = rigid && model.bodies[body].kind != BodyKind::Kinematic;
    }
    if (!rigid) hold(joint);
  }
  for (const Axis& axis : model.axes)
    if (axis.motor || axis.friction > 0) hold(model.joints[axis.joint]);
  for (const Coupling& coupling : model.couplings)
    for (int k = 0; k < coupling.count; ++k) hold(model.joints[model.axes[coupling.term[k].axis].joint]);
}

bool Flight::flies(const StepInput& input, std::size_t body) const {
  return input.model->bodies[body].kind == BodyKind::Dynamic && !held_[group_[body]] && !touched_[group_[body]];
}

bool Flight::is_held_range(const StepInput& input, const ContactRows& rows) const {
  return holds_ranges_ && input.contacts->contacts[rows.contact].limit >= 0;
}

/// Fixed steps: who carried load in the step before.
void Flight::touch_remembered(const StepInput& input) {
  const Model& model = *input.model;
  for (const ContactMemory& memory : input.state->contact_memory) {
    if (!memory.loaded) continue;
    if (memory.key.shape_a < 0) {
      if (holds_ranges_) continue;
      const Limit& limit = model.limits[memory.key.shape_a - kFirstLimitKey];
      const Joint& joint = model.joints[model.axes[limit.axis].joint];
      touch(joint.a), touch(joint.b);
      continue;
    }
    touch(model.shapes[memory.key.shape_a].body);
    touch(model.shapes[memory.key.shape_b].body);
  }
}

/// Before the first step nothing is remembered: who touches and neither leaves nor hits is carried.
void Flight::touch_resting(const StepInput& input, const Equations& equations) {
  const Model& model = *input.model;
  const double slow = 2 * model.gravity.norm() * input.h_nominal;
  for (const ContactRows& rows : equations.contacts) {
    if (is_held_range(input, rows)) continue;
    double size = 0;
    for (const int body : {rows.body_a, rows.body_b})
      if (body >= 0) size = std::max(size, model.bodies[body].reach_radius);
    if (input.contacts->contacts[rows.contact].gap > kTouching * size) continue;
    if (std::abs(calc_pair_speed(input.state->velocity, rows.body_a, rows.body_b, rows.row[0])) > slow) continue;
    touch(rows.body_a);
    touch(rows.body_b);
  }
}

/// A chain under load swings its links faster than the step can see: they have more inertia then.
void Flight::find_heavy(const StepInput& input, const Equations& equations, StepProblem* made) {
  made->added_inertia.clear();
  heavy_.clear();
  if (!stiffens_ || equations.joints.empty()) return;
  stiffness_.update(input, made->last_impulse, equations.joints, true);
  const std::size_t count = input.model->bodies.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!stiffness_.has(static_cast<int>(i))) continue;
    if (heavy_.empty()) {
      heavy_.assign(count, 0);
      made->added_inertia.assign(count, Mat3::Zero());
    }
    heavy_[i] = 1;
    made->added_inertia[i] = (on_ ? 1 : kHeavyShare) * stiffness_.calc_after(static_cast<int>(i));
  }
}

/// With velocities half a step behind: half steps of joint forces at both ends would be unstable with alpha = gamma
/// = 1.
void Flight::touch_heavy() {
  for (std::size_t i = 0; i < heavy_.size(); ++i) {
    if (!heavy_[i]) continue;
    touched_[group_[i]] = 1;
    turns_[group_[i]] = kMostTurns;
  }
}

/// What comes down has had its forces until the touch before the trial, and gets the others in it (landing.h).
void Flight::touch_landing(const StepInput& input) {
  for (std::size_t i = 0; i < input.landing.size(); ++i) {
    if (input.landing[i].share < 0) continue;
    touched_[group_[i]] = 1;
    turns_[group_[i]] = kMostTurns;
  }
}

void Flight::begin(const StepInput& input, const Scheme& scheme, const Equations& equations, StepProblem* made) {
  const Weights weights = scheme.weights(*input.options);
  on_ = weights.alpha == 1 && weights.gamma == 1;
  splits_ = scheme.splits_springs();
  stiffens_ = scheme.stiffens_turns();
  holds_ranges_ = scheme.closes_joints(*input.options);
  settles_ = 0;
  find_heavy(input, equations, made);
  if (on_) {
    update_groups(*input.model, scheme, *input.options, input.h_nominal);
    touched_.assign(group_.size(), 0);
    turns_.assign(group_.size(), 0);
    if (input.closed) {
      for (const ContactRows& rows : equations.contacts)
        if (!is_held_range(input, rows)) touch(rows.body_a), touch(rows.body_b);
    } else if (input.state->step == 0 && input.state->contact_memory.empty()) {
      touch_resting(input, equations);
    } else {
      touch_remembered(input);
    }
    touch_heavy();
    touch_landing(input);
    for (std::size_t i = 0; i < input.rolling.size(); ++i)
      if (input.rolling[i]) touched_[group_[i]] = 0;
  }
  update_kicks(input, equations, made);
}

void Flight::update_kicks(const StepInput& input, const Equations& equations, StepProblem* made) {
  made->kick.assign(input.model->bodies.size(), {0, input.h, 0, Vec6::Zero(), Vec6::Zero()});
  made->spring_before.assign(equations.springs.size(), 0.0);
  made->spring_end.clear();
  if (!on_) return;
  for (std::size_t i = 0; i < made->kick.size(); ++i)
    if (flies(input, i)) made->kick[i].before = 0.5 * input.h;
  for (std::size_t i = 0; i < input.landing.size(); ++i) {
    if (input.landing[i].share < 0) continue;
    made->kick[i].early = input.landing[i].acted;
    made->kick[i].before = input.h - input.landing[i].acted;
  }
  if (splits_) update_splits(input, equations.springs, made);
}

/// Springs that the step can follow are forces: at both ends of it where their bodies fly, at its start where they do
/// not.
void Flight::update_splits(const StepInput& input, const std::vector<SpringRows>& springs, StepProblem* made) {
  for (std::size_t i = 0; i < springs.size(); ++i) {
    if (!follows_[i]) continue;
    made->spring_before[i] = input.h;
    for (const int body : {springs[i].body_a, springs[i].body_b})
      if (body >= 0 && flies(input, body)) made->spring_before[i] = 0.5 * input.h;
  }
}

// ---------------------------------------------------------------- what a solution says

/// Groups that a contact carries, or the end of a range that is not held as joints are. Rows on the way of centres are
/// not there when the step is over.
void Flight::find_loaded(const StepInput& input, const StepProblem& made, const Solution& solution) {
  loaded_.assign(group_.size(), 0);
  const double least = kLoaded * calc_largest_normal(made, solution);
  for (std::size_t i = 0; i < made.equations->contacts.size(); ++i) {
    const ContactRows& rows = made.equations->contacts[i];
    const int row = made.map.contact_row[i];
    if (row < 0 || is_held_range(input, rows) || !(solution.lambda[row] > least)) continue;
    if (input.contacts->contacts[rows.contact].central) continue;
    for (const int body : {rows.body_a, rows.body_b})
      if (body >= 0) loaded_[group_[body]] = 1;
  }
}

int Flight::root_of(int column) {
  while (island_[column] != column) column = island_[column] = island_[island_[column]];
  return column;
}

void Flight::find_islands(const StepProblem& made) {
  const Problem& problem = made.problem;
  island_.resize(problem.columns());
  std::iota(island_.begin(), island_.end(), 0);
  for (const RowBlock& block : problem.blocks)
    for (int k = 1; k < block.entries; ++k) {
      const int a = root_of(problem.entries[block.entry].column), b = root_of(problem.entries[block.entry + k].column);
      island_[std::max(a, b)] = std::min(a, b);
    }
}

/// In a heap someone leaves in every step, and that he does so as if he were still carried takes him h^2 f/2 farther.
bool Flight::is_in_heap(const StepInput& input, const StepProblem& made, int group) {
  if (island_.empty()) {
    find_islands(made);
    contacts_.assign(island_.size(), 0);
    for (const int block : made.map.contact_block) {
      if (block < 0 || made.problem.blocks[block].entries == 0) continue;
      ++contacts_[root_of(made.problem.entries[made.problem.blocks[block].entry].column)];
    }
    most_contacts_.assign(group_.size(), 0);
    for (std::size_t i = 0; i < group_.size(); ++i)
      if (const int column = made.map.column_of_body[i];
          input.model->bodies[i].kind == BodyKind::Dynamic && column >= 0)
        most_contacts_[group_[i]] = std::max(most_contacts_[group_[i]], contacts_[root_of(column)]);
  }
  return most_contacts_[group] > kFewContacts;
}

bool Flight::settle(const StepInput& input, const Equations& equations, const Solution& solution, StepProblem* made) {
  if (!on_ || input.closed || settles_ >= kMostSettles) return false;
  find_loaded(input, *made, solution);
  turning_.assign(group_.size(), 0);
  island_.clear();
  bool any = false;
  for (std::size_t i = 0; i < group_.size(); ++i) {
    if (group_[i] != static_cast<int>(i) || held_[i] || input.model->bodies[i].kind != BodyKind::Dynamic) continue;
    if (!input.rolling.empty() && input.rolling[i]) continue;
    const bool lands = !touched_[i] && loaded_[i];
    const bool leaves = touched_[i] && !loaded_[i] && turns_[i] == 0 && !is_in_heap(input, *made, static_cast<int>(i));
    if (!lands && !leaves) continue;
    touched_[i] = lands;
    ++turns_[i];
    turning_[i] = any = true;
  }
  if (!any) return false;
  ++settles_;
  split_ = made->spring_before;
  update_kicks(input, equations, made);
  update_settled(input, *made);
  return true;
}

void Flight::update_settled(const StepInput& input, const StepProblem& made) {
  settled_.clear();
  if (split_ != made.spring_before) return;
  if (island_.empty()) find_islands(made);
  settled_.assign(island_.size(), 1);
  for (std::size_t i = 0; i < group_.size(); ++i)
    if (const int column = made.map.column_of_body[i];
        column >= 0 && input.model->bodies[i].kind == BodyKind::Dynamic && turning_[group_[i]])
      settled_[root_of(column)] = 0;
  for (std::size_t k = 0; k < settled_.size(); ++k) settled_[k] = settled_[root_of(static_cast<int>(k))];
}

// ---------------------------------------------------------------- the end

/// The other half of springs and dampers, where their bodies are now.
void Flight::kick_springs(const StepInput& input, const Solution& solution, StepProblem* made, const State& next) {
  const Model& model = *input.model;
  update_spring_rows(model, next.pose, input.state->axis, &made->spring_end);
  made->spring_impulse.assign(made->spring_end.size(), {});
  for (std::size_t i = 0; i < made->spring_end.size(); ++i) {
    const SpringRows& spring = made->spring_end[i];
    bool ends = false;
    for (const int body : {spring.body_a, spring.body_b})
      if (body >= 0 && model.bodies[body].kind == BodyKind::Dynamic) ends = flies(input, body);
    if (!ends) continue;
    const auto speed = [&](int body, const Vec6& part) {
      if (body < 0) return 0.0;
      const Twist u = calc_body_twist(input, made->map, made->problem, solution.v, body);
      return part.head<3>().dot(u.linear) + part.tail<3>().dot(u.angular);
    };
    for (int r = 0; r < spring.count; ++r) {
      const PairRow& row = spring.row[r];
      const double rate = spring.damping > 0 ? speed(spring.body_a, row.a) + speed(spring.body_b, row.b) : 0;
      const double impulse = -0.5 * input.h * (spring.stiffness * spring.value[r] + spring.damping * rate);
      made->spring_impulse[i][r] = impulse;
      if (spring.body_a >= 0) made->kick[spring.body_a].spring += impulse * row.a;
      if (spring.body_b >= 0) made->kick[spring.body_b].spring += impulse * row.b;
    }
  }
}

void Flight::end(const StepInput& input, const Solution& solution, StepProblem* made, State* next) {
  if (!on_) return;
  const bool has_loads = !input.model->loads.empty() || input.drive;
  if (has_loads) update_loads(*input.model, input.drive, next->pose, input.state->time + input.h, &load_);
  if (splits_ && !made->spring_before.empty()) kick_springs(input, solution, made, *next);
  const auto kick_one = [&](std::size_t i) {
    if (!flies(input, i) || made->map.column_of_body[i] < 0) return;
    Kick& kick = made->kick[i];
    kick.after = 0.5 * input.h;
    if (has_loads) kick.load = load_[i];
    const Twist more =
        calc_kick(input.model->bodies[i], kick.after * (made->equations->gravity[i] + kick.load) + kick.spring);
    next->velocity[i].linear += more.linear;
    next->velocity[i].angular += more.angular;
  };
  for_portions(input.team, made->kick.size(), kBodyPortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) kick_one(i);
  });
}

}  // namespace slipstick
