#include "step/joint_ends.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/se3.h"
#include "step/actuation.h"
#include "step/assemble.h"
#include "step/overlap.h"

namespace slipstick {

namespace {

/// Positions are good when no joint is off by more than this share of its size, m, or by as many rad.
constexpr double kClosed = 1e-10;
/// A loop that stays open by more than this has no position that closes it.
constexpr double kOpenLoop = 1e-6;
constexpr int kMostEndPasses = 8;
/// The same where only the rows of a loop are to agree, and nothing holds at both ends.
constexpr double kNearlyClosed = 1e-7;
constexpr int kFewPasses = 1;
/// A pass that leaves more than this share of the error before it is not worth another one.
constexpr double kHelps = 0.5;
/// Compliance of the joints that close loops, as a share of what a unit impulse moves: rows of redundant loops are not
/// independent. It is no softness: where positions close the loop, nothing is left for it to carry.
constexpr double kLoopCompliance = 1e-10;
/// The same in a step through a singular pose, where passes do not find positions that close a loop exactly: one of its
/// directions has a row that changes its sign on the way. The others still close.
constexpr double kSingularCompliance = 1e-4;
/// Parts of a step that are shorter than this share of it bend no way: rounding of positions would be all they see.
constexpr double kShort = 1e-3;
/// Of its angular velocity: what the end of a step changes by more, and by more than so many rad in a step, has lost
/// its joints.
constexpr double kAstray = 0.25, kNoTurn = 1e-6;
/// A velocity that changed by more than this share in the last step tells nothing of the next one.
constexpr double kSmooth = 0.25;

/// rad in a step, up to which for alpha = 1/2 the turn of the pass before says more than the free one.
constexpr double kSlowTurn = 1;

bool is_holonomic(JointKind kind) { return kind != JointKind::Rolling && kind != JointKind::KnifeEdge; }

void add_row_impulse(const PairRow& row, int body_a, int body_b, double impulse, std::vector<Vec6>* sum) {
  if (body_a >= 0) (*sum)[body_a] += impulse * row.a;
  if (body_b >= 0) (*sum)[body_b] += impulse * row.b;
}

}  // namespace

void JointEnds::begin(const StepInput& input, const Scheme& scheme, const Flight& flight, const Equations& equations,
                      StepProblem* made) {
  const Model& model = *input.model;
  const Weights w = scheme.weights(*input.options);
  JointEnd& end = made->joint_end;
  passes_ = 0;
  bent_.clear();
  implicit_ = w.alpha == 1;
  active_ = linear_ = open_loop_ = two_sided_ = closing_ = false;
  bends_ = true;
  end.active = false;
  end.start = &equations;
  end.split.assign(model.joint_rows, 0);
  end.impulse.assign(model.joint_rows, 0.0);
  end.ranges.clear();
  stiff_.clear();
  axes_.clear(model);
  if (input.backward || !scheme.closes_joints(*input.options)) return;
  two_sided_ = w.alpha != 1;
  closing_ = !two_sided_ && input.options->close_joints;
  find_stiff(input, w, equations, *made);
  if (model.joints.empty() && stiff_.empty()) return;
  axes_.begin(input, two_sided_, closing_, flight, equations, &end);
  const bool has_ranges = ranges_.begin(input, flight, equations, made);
  active_ = has_ranges || !stiff_.empty() || axes_.holds();
  loops_.update(model, equations.joints);
  held_.assign(model.joints.size(), 0);
  kept_.assign(model.joint_rows, 0.0);
  for (const JointRows& rows : equations.joints) {
    const Joint& joint = model.joints[rows.joint];
    if (rows.count == 0 || rows.compliance > 0 || rows.damping_time > 0) continue;
    if (two_sided_ && !is_holonomic(joint.kind)) continue;
    const bool flies = flight.flies_joined(joint.a) || flight.flies_joined(joint.b);
    const bool closes = closing_ && is_holonomic(joint.kind);
    if (!two_sided_ && !flies && !closes && !loops_.redundant[rows.joint]) continue;
    held_[rows.joint] = 1;
    active_ = true;
    for (int r = 0; r < rows.count; ++r) {
      if (two_sided_ || flies) end.split[joint.first_row + r] = 1;
      // A part of a step takes its share of the error with it: divided by its own length that would be any speed.
      const bool open = stands_open(model, input.h_nominal, input.state->velocity, rows, r);
      kept_[joint.first_row + r] = (open ? 1 : std::max(0.0, 1 - input.h / input.h_nominal)) * rows.value[r];
    }
  }
  if (!active_) return;
  linear_ = input.h < kShort * input.h_nominal;
  start_ = equations.joints;
  singular_.assign(model.joints.size(), 0);
  guess_way(input, flight);
  guess_ = way_;
  update_errors(input);
}

/// u of the coming step, from the change in the last one where that was smooth.
void JointEnds::guess_way(const StepInput& input, const Flight& flight) {
  const State& state = *input.state;
  const bool known = state.previous_velocity.size() == state.velocity.size() && state.step > 0;
  way_.resize(state.velocity.size());
  for (std::size_t i = 0; i < way_.size(); ++i) {
    const Twist& v = state.velocity[i];
    way_[i] = input.model->bodies[i].kind == BodyKind::Kinematic ? input.prescribed[i] : v;
    if (!known || input.model->bodies[i].kind != BodyKind::Dynamic) continue;
    const Twist& before = state.previous_velocity[i];
    const Vec3 linear = v.linear - before.linear, angular = v.angular - before.angular;
    if (linear.norm() > kSmooth * v.linear.norm() || angular.norm() > kSmooth * v.angular.norm()) continue;
    // A velocity that stands half a step behind is a whole step from the next one.
    const double ahead = two_sided_ || flight.flies_joined(static_cast<int>(i)) ? 0.5 : 1;
    way_[i] = {v.linear + ahead * linear, v.angular + ahead * angular};
  }
}

void JointEnds::update_errors(const StepInput& input) {
  const Model& model = *input.model;
  pose_end_.resize(way_.size());
  for (std::size_t i = 0; i < way_.size(); ++i)
    pose_end_[i] =
        model.bodies[i].kind == BodyKind::Fixed ? input.state->pose[i] : move(input.state->pose[i], way_[i], input.h);
  update_joint_rows(model, pose_end_, &reached_);
  ranges_.update(input, pose_end_);
  if (!stiff_.empty()) update_spring_rows(model, pose_end_, input.state->axis, &spring_reached_);
  axes_.reach(input, way_, pose_end_);
}

/// Of a row that follows from no place: the mean of its speeds at both ends of the way. With the row of the start alone
/// what goes round a bend would be slowed down in each step, by half of the angle's square.
double JointEnds::calc_mean_speed(const JointRows& start, int row) const {
  const JointRows& end = reached_[start.joint];
  return 0.5 * (calc_pair_speed(way_, start.body_a, start.body_b, start.row[row]) +
                calc_pair_speed(way_, end.body_a, end.body_b, end.row[row]));
}

void JointEnds::apply(const StepInput& input, StepProblem* made) {
  if (!active_) return;
  apply_springs(input, made);
  axes_.apply(input, way_, linear_, made);
  if (!linear_) ranges_.apply(input, way_, made);
  const Model& model = *input.model;
  Problem& problem = made->problem;
  for (const JointRows& rows : start_) {
    if (!held_[rows.joint]) continue;
    const int first = model.joints[rows.joint].first_row;
    for (int r = 0; r < rows.count; ++r) {
      const int row = made->map.joint_row[first + r];
      if (row < 0) continue;
      // What prescribed bodies do is part of c already, and of w.
      double before = 0, given = 0;
      for (const bool of_b : {false, true}) {
        const int body = of_b ? rows.body_b : rows.body_a;
        if (body < 0) continue;
        const Vec6& part = of_b ? rows.row[r].b : rows.row[r].a;
        const Twist& w = way_[body];
        const double speed = part.head<3>().dot(w.linear) + part.tail<3>().dot(w.angular);
        (model.bodies[body].kind == BodyKind::Kinematic ? given : before) += speed;
      }
      if (rows.velocity_only[r])
        problem.c[row] = linear_ ? given : calc_mean_speed(rows, r) - before;
      else
        problem.c[row] = linear_ ? given + (rows.value[r] - kept_[first + r]) / input.h
                                 : (reached_[rows.joint].value[r] - kept_[first + r]) / input.h - before;
      if (loops_.closes[rows.joint])
        problem.compliance[row] = (singular_[rows.joint] ? kSingularCompliance : kLoopCompliance) *
                                  calc_pair_mobility(model, rows.body_a, rows.body_b, rows.row[r]);
    }
  }
}

void JointEnds::add_bends(const StepInput& input, StepProblem* made) {
  if (!active_ || held_.empty() || passes_ == 0) return;
  bent_.resize(way_.size());
  const bool bends = bends_ && !linear_;
  const auto bend = [&](int body) {
    const int column = body < 0 ? -1 : made->map.column_of_body[body];
    if (column < 0 || done_[root_of(column)]) return;  // an answer that is kept has the turn of its own pass
    const Vec3& turn = way_[body].angular;
    const bool known = bends && (!two_sided_ || input.h * turn.norm() < kSlowTurn);
    bent_[body] = known ? std::optional<Vec3>(turn) : std::nullopt;
  };
  for (const JointRows& rows : start_)
    if (held_[rows.joint] && made->joint_end.split[input.model->joints[rows.joint].first_row])
      bend(rows.body_a), bend(rows.body_b);
  made->bent_spin = bent_;
}

int JointEnds::root_of(int column) {
  while (island_[column] != column) column = island_[column] = island_[island_[column]];
  return column;
}

void JointEnds::find_islands(const Problem& problem) {
  island_.resize(problem.columns());
  std::iota(island_.begin(), island_.end(), 0);
  for (const RowBlock& block : problem.blocks)
    for (int k = 1; k < block.entries; ++k) {
      const int a = root_of(problem.entries[block.entry].column);
      const int b = root_of(problem.entries[block.entry + k].column);
      island_[std::max(a, b)] = std::min(a, b);
    }
  done_.assign(island_.size(), 0);
  worst_.assign(island_.size(), kInfinity);
}

bool JointEnds::refine(const StepInput& input, const StepProblem& made, const Solution& solution) {
  if (!active_ || linear_) return false;
  if (passes_ == 0) find_islands(made.problem);
  ++passes_;
  for (std::size_t i = 0; i < way_.size(); ++i)
    if (const int column = made.map.column_of_body[i]; column >= 0 && !done_[root_of(column)])
      way_[i] = calc_body_twist(input, made.map, made.problem, solution.v, static_cast<int>(i));
  update_errors(input);
  find_errors(input, made, solution);
  bool again = false, diverges = false;
  for (std::size_t i = 0; i < island_.size(); ++i) {
    if (done_[i] || island_[i] != static_cast<int>(i)) continue;
    // The scheme may have made another problem of the second pass.
    const bool helps = passes_ <= 2 || found_[i] < kHelps * worst_[i];
    done_[i] = found_[i] <= (exact_[i] ? kClosed : kNearlyClosed) ||
               passes_ >= (exact_[i] || closing_ ? kMostEndPasses : kFewPasses + 1) ||
               (!helps && found_[i] <= kOpenLoop);
    diverges = diverges || (!done_[i] && !helps);
    worst_[i] = found_[i];
    again = again || !done_[i];
  }
  if (diverges && bends_) {
    bends_ = false;
    passes_ = 1;
  } else if (diverges && !begin_singular(input, made)) {
    linear_ = true;
  }
  return again;
}

/// The island of a joint or spring, as its first column; -1: it has none.
int JointEnds::island_of(const StepProblem& made, int a, int b) {
  const int column = a >= 0 && made.map.column_of_body[a] >= 0 ? made.map.column_of_body[a]
                     : b >= 0                                  ? made.map.column_of_body[b]
                                                               : -1;
  return column < 0 ? -1 : root_of(column);
}

/// What the last pass has left of each island's joints and stiff springs.
void JointEnds::find_errors(const StepInput& input, const StepProblem& made, const Solution& solution) {
  found_.assign(island_.size(), 0.0);
  exact_.assign(island_.size(), 0);
  open_loop_ = false;
  for (const int i : stiff_) {
    const int island = island_of(made, spring_start_[i].body_a, spring_start_[i].body_b);
    if (island < 0) continue;
    found_[island] = std::max(found_[island], calc_spring_error(input, made, solution, i));
    exact_[island] = 1;
  }
  axes_.for_each_error(made, solution, input.h, [&](const AxisEnds::Hold& hold, double error) {
    const int island = island_of(made, hold.row.body[0], hold.row.body[hold.row.count - 1]);
    found_[island] = std::max(found_[island], error);
    exact_[island] |= made.joint_end.split[hold.slot];
  });
  for (std::size_t k = 0; k < ranges_.size(); ++k) {
    const int island = island_of(made, ranges_.rows(made, k).body_a, ranges_.rows(made, k).body_b);
    if (island < 0) continue;
    found_[island] = std::max(found_[island], ranges_.calc_error(made, solution, k));
    exact_[island] = 1;
  }
  for (const JointRows& rows : start_) {
    const int island = held_.empty() || !held_[rows.joint] ? -1 : island_of(made, rows.body_a, rows.body_b);
    if (island < 0) continue;
    const int first = input.model->joints[rows.joint].first_row;
    for (int r = 0; r < rows.count; ++r) {
      if (made.map.joint_row[first + r] < 0) continue;
      const double left =
          rows.velocity_only[r] ? input.h * calc_mean_speed(rows, r) : reached_[rows.joint].value[r] - kept_[first + r];
      const double error = std::abs(left) / loops_.size[rows.joint];
      found_[island] = std::max(found_[island], error);
      exact_[island] |= made.joint_end.split[first + r];
      open_loop_ = open_loop_ || (loops_.within[rows.joint] && !(error <= kOpenLoop));
    }
  }
}

/// Passes diverge where a loop goes through a singular pose: begun again from the guess, with loops that give way.
/// False: there is none, or that was tried.
bool JointEnds::begin_singular(const StepInput& input, const StepProblem& made) {
  bool begins = false;
  for (const JointRows& rows : start_) {
    if (!held_[rows.joint] || !loops_.closes[rows.joint] || singular_[rows.joint]) continue;
    const int island = island_of(made, rows.body_a, rows.body_b);
    if (island < 0 || done_[island]) continue;
    singular_[rows.joint] = 1;
    begins = true;
  }
  if (!begins) return false;
  for (std::size_t i = 0; i < way_.size(); ++i)
    if (const int column = made.map.column_of_body[i]; column >= 0 && !done_[root_of(column)]) way_[i] = guess_[i];
  update_errors(input);
  passes_ = 1;
  return true;
}

Problem JointEnds::make_rigid(const StepInput& input, const StepProblem& made) const {
  Problem rigid = made.problem;
  for (const JointRows& rows : start_)
    for (int r = 0; r < rows.count && held_[rows.joint] && loops_.closes[rows.joint]; ++r)
      if (const int row = made.map.joint_row[input.model->joints[rows.joint].first_row + r]; row >= 0)
        rigid.compliance[row] = 0;
  return rigid;
}

std::span<const char> JointEnds::find_good(std::span<const char> others) {
  good_columns_.clear();
  if (!active_ || passes_ == 0) return {};
  for (int k = 0; k < static_cast<int>(island_.size()); ++k)
    good_columns_.push_back(done_[root_of(k)] && (others.empty() || others[k]));
  return good_columns_;
}

/// The scheme has given every impulse twice. Those of joints and rotors get their second half from the problem of the
/// end: what they had of it is taken back.
void JointEnds::undo_second_half(const StepInput& input, const Solution& solution, const StepProblem& made,
                                 State* next) {
  const Model& model = *input.model;
  const double h = input.h;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (made.map.column_of_body[i] < 0 || first_[i].isZero(0)) continue;
    const Body& body = model.bodies[i];
    const Mat3* added = made.added_inertia.empty() ? nullptr : &made.added_inertia[i];
    const Twist& v = input.state->velocity[i];
    const Twist u = calc_body_twist(input, made.map, made.problem, solution.v, static_cast<int>(i));
    // Impulses of contacts and springs act at q*, half before and half after a motion that joints have bent away from
    // it. About the centres of mass at the start and at the end that is a moment more or less.
    const Vec3 gained = u.linear - v.linear;
    const Vec3 others = body.mass * gained - first_[i].head<3>() -
                        0.5 * made.kick[i].before * (made.equations->gravity[i] + made.equations->load[i]).head<3>();
    const Vec3 moment = h * gained.cross(others);
    const Quat to_start = input.state->pose[i].orientation.conjugate();
    Vec6 excess = first_[i];
    if (!made.turning[i]) {
      excess.tail<3>() += to_start * moment;
      const Twist less = calc_kick(body, excess, added);
      next->velocity[i].linear -= less.linear;
      next->velocity[i].angular -= less.angular;
      continue;
    }
    next->velocity[i].linear -= excess.head<3>() / body.mass;
    // Of a torque that more inertia takes its part of, the body's own share.
    const auto own = [&](const Vec3& torque) -> Vec3 {
      return added == nullptr ? torque : Vec3(body.inertia * (body.inertia + *added).llt().solve(torque));
    };
    const Vec3 first = own(first_[i].tail<3>()), twice = 2 * first;
    const Vec3 change = first - to_start * (made.pose[i].orientation * twice) - own(to_start * moment);
    next->velocity[i].angular += calc_carried_spin(body, change, u.angular, h);
  }
}

/// With alpha = 1 what a contact, a motor or a stiff spring carries ends a step with velocities that its joints have
/// not seen. The next step's rows take care of them, but not of a thin link: the momentum that it carries into its new
/// axes is that of any spin about its own one. Groups with such a body have the velocities that their joints allow.
bool JointEnds::find_astray(const StepInput& input, const Flight& flight, const Solution& solution,
                            const StepProblem& made, const State& next) {
  astray_.clear();
  if (!implicit_ || input.backward || made.turning.empty() || input.model->joints.empty()) return false;
  const std::vector<Body>& bodies = input.model->bodies;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const int body = static_cast<int>(i), group = flight.carried_joined_group(body);
    if (group < 0 || !made.turning[i]) continue;
    const Vec3 u = calc_body_twist(input, made.map, made.problem, solution.v, body).angular;
    const double change = (next.velocity[i].angular - u).norm();
    const double size = std::max(u.norm(), input.state->velocity[i].angular.norm());
    if (!(change > kAstray * size && change * input.h > kNoTurn)) continue;
    if (astray_.empty()) {
      astray_.assign(bodies.size(), 0);
      loops_.update(*input.model, made.equations->joints);
    }
    astray_[group] = 1;
  }
  return !astray_.empty();
}

bool JointEnds::takes_part(const Flight& flight, int body) const {
  const int group = body < 0 || astray_.empty() ? -1 : flight.carried_joined_group(body);
  return flight.flies_joined(body) || (group >= 0 && astray_[group]);
}

void JointEnds::add_rows(StepProblem* made) {
  const Model& model = *at_end_.model;
  const Equations& eq = made->joint_end.equations;
  add_joint_rows(at_end_, {}, taking_part_, 0, &problem_, &map_);
  for (const JointRows& rows : taking_part_)
    for (int r = 0; r < rows.count && loops_.closes[rows.joint]; ++r)
      if (const int row = map_.joint_row[model.joints[rows.joint].first_row + r]; row >= 0)
        problem_.compliance[row] = kLoopCompliance * calc_pair_mobility(model, rows.body_a, rows.body_b, rows.row[r]);
  for (std::size_t k = 0; k < eq.couplings.size() && acts_on_axes(); ++k)
    add_coupling_row(at_end_, eq.couplings[k], model.couplings[k], 0, &problem_, &map_);
  axes_.add_rows(at_end_, eq.axes, &problem_, &map_);
}

/// Velocities that have every impulse of joints and rotors at the start once.
void JointEnds::take_second_half(const StepInput& input, const StepProblem& made, const Solution& solution,
                                 State* next) {
  for (const JointRows& rows : start_)
    for (int r = 0; r < rows.count && held_[rows.joint]; ++r)
      if (const int row = made.map.joint_row[input.model->joints[rows.joint].first_row + r]; row >= 0)
        add_row_impulse(rows.row[r], rows.body_a, rows.body_b, solution.lambda[row], &first_);
  axes_.add_first(made, solution, &first_);
  undo_second_half(input, solution, made, next);
}

/// False: nothing acts at the end.
bool JointEnds::find_end(const StepInput& input, const Flight& flight, const StepProblem& made,
                         const Solution& solution, const State& next, Equations* at) {
  const Model& model = *input.model;
  at->joints.clear();
  taking_part_.clear();
  if (active_ || !astray_.empty()) update_joint_rows(model, next.pose, &at->joints);
  for (const JointRows& rows : at->joints)
    if (rows.compliance == 0 && (two_sided_ || takes_part(flight, rows.body_a) || takes_part(flight, rows.body_b)))
      taking_part_.push_back(rows);
  update_axis_rows(model, next.pose, input.state->axis, &at->axes);
  update_coupling_rows(model, at->axes, &at->couplings);
  axes_.find_acting(input, made, solution, next, at->axes, acts_on_axes());
  return !taking_part_.empty() || axes_.acts();
}

/// The bodies that the problem of the end is about; empty: all.
std::span<const char> JointEnds::find_moved(const Flight& flight, const StepProblem& made, bool pushes) {
  if (astray_.empty() && (pushes || !taking_part_.empty())) return {};
  const std::span<const char> rotors = axes_.find_moved(*at_end_.model, made.joint_end.equations.axes);
  if (astray_.empty()) return rotors;
  for (std::size_t i = 0; i < astray_.size(); ++i)
    astray_[i] = rotors[i] != 0 || takes_part(flight, static_cast<int>(i));
  return astray_;
}

/// The problem of the end, without rows. `pushes`: ends of ranges will be among them.
void JointEnds::begin_end(const StepInput& input, const Flight& flight, const StepProblem& made, bool pushes,
                          const State& next) {
  const Model& model = *input.model;
  prescribed_.assign(model.bodies.size(), {});
  for (std::size_t i = 0; i < model.bodies.size(); ++i)
    if (model.bodies[i].kind == BodyKind::Kinematic) prescribed_[i] = next.velocity[i];
  at_end_ = input;
  at_end_.state = &next;
  at_end_.prescribed = prescribed_;
  at_end_.h = 0;
  begin_problem(model, &problem_, &map_, find_moved(flight, made, pushes));
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (map_.column_of_body[i] < 0) continue;
    const Body& body = model.bodies[i];
    const Vec3& omega = next.velocity[i].angular;
    Vec6 momentum;
    momentum << body.mass * next.velocity[i].linear, body.inertia * omega;
    const bool adds = !made.added_inertia.empty();
    const Mat3 less = adds ? Mat3(-made.added_inertia[i]) : Mat3(Mat3::Zero());
    if (adds) momentum.tail<3>() += made.added_inertia[i] * omega;
    add_body_column(body, momentum, adds ? &less : nullptr, &problem_);
  }
}

LadderResult JointEnds::end(const StepInput& input, const Flight& flight, const Solution& solution, StepSolver* solver,
                            StepProblem* made, State* next) {
  LadderResult result;
  result.certified = true;
  made->spring_rate.clear();
  if (!stiff_.empty() && !linear_) {
    made->spring_rate.resize(spring_start_.size());
    for (const int i : stiff_)
      for (int r = 0; r < spring_start_[i].count; ++r)
        made->spring_rate[i][r] = (spring_reached_[i].value[r] - spring_start_[i].value[r]) / input.h;
  }
  const Model& model = *input.model;
  const bool astray = find_astray(input, flight, solution, *made, *next);
  if (model.joints.empty() || !(active_ || astray || axes_.has_rotors())) return result;
  JointEnd& end = made->joint_end;
  first_.assign(model.bodies.size(), Vec6::Zero());
  if (active_ && two_sided_) take_second_half(input, *made, solution, next);
  const bool pushes = active_ && ranges_.find_pushing(input, next->pose, solution, made);
  const bool acts = find_end(input, flight, *made, solution, *next, &end.equations);
  if (!acts && !pushes) return result;
  begin_end(input, flight, *made, pushes, *next);
  add_rows(made);
  if (active_) ranges_.add_rows(at_end_, *made, map_, &problem_);
  solution_.v.resize(problem_.unknowns());
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (map_.column_of_body[i] < 0) continue;
    Vec6 v;
    v << next->velocity[i].linear, next->velocity[i].angular;
    for (int k = 0; k < model.bodies[i].dof; ++k)
      solution_.v[problem_.column_start[map_.column_of_body[i]] + k] = model.bodies[i].free_basis().col(k).dot(v);
  }
  solution_.lambda.setZero(problem_.rows());
  for (int slot = 0; slot < model.joint_rows; ++slot)
    if (map_.joint_row[slot] >= 0 && end.split[slot] && made->map.joint_row[slot] >= 0)
      solution_.lambda[map_.joint_row[slot]] = solution.lambda[made->map.joint_row[slot]];
  if (active_) ranges_.guess(*made, solution, &solution_);
  result = solver->solve(problem_, &solution_);
  take(input, made, next);
  return result;
}

void JointEnds::take(const StepInput& input, StepProblem* made, State* next) {
  const Model& model = *input.model;
  JointEnd& end = made->joint_end;
  end.active = true;
  end.body.assign(model.bodies.size(), Vec6::Zero());
  end.once.resize(model.bodies.size());
  for (std::size_t i = 0; i < model.bodies.size(); ++i) end.once[i] = first_[i];
  for (int slot = 0; slot < model.joint_rows; ++slot)
    end.impulse[slot] = map_.joint_row[slot] < 0 ? 0.0 : solution_.lambda[map_.joint_row[slot]];
  for (const JointRows& rows : taking_part_)
    for (int r = 0; r < rows.count; ++r)
      add_row_impulse(rows.row[r], rows.body_a, rows.body_b, end.impulse[model.joints[rows.joint].first_row + r],
                      &end.body);
  axes_.add_last(model, end.equations.axes, end.impulse, &end.body);
  if (active_) ranges_.take(solution_, made);
  for (std::size_t k = 0; k < model.couplings.size() && acts_on_axes(); ++k) {
    const CouplingRow& coupling = end.equations.couplings[k];
    for (int i = 0; i < coupling.count; ++i)
      end.body[coupling.body[i]] += end.impulse[model.couplings[k].row] * coupling.row[i];
  }
  for (std::size_t i = 0; i < model.bodies.size(); ++i)
    if (!end.body[i].isZero(0) && map_.column_of_body[i] >= 0)
      next->velocity[i] = calc_body_twist(at_end_, map_, problem_, solution_.v, static_cast<int>(i));
}

}  // namespace slipstick
