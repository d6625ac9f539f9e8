#include "step/contact_ends.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/se3.h"
#include "step/assemble.h"
#include "step/flight.h"
#include "step/overlap.h"
#include "step/trial.h"

namespace slipstick {

namespace {

/// What carries a body at a start: touches by this share of its size, as in flight.cpp.
constexpr double kTouchingAtStart = 1e-9;
/// A body that more contacts carry, and all bodies of scenes with more contacts within reach, keep the rows of the
/// start: a heap does not roll for long, and each pass makes the whole problem anew.
constexpr int kMostCarrying = 12, kMostAround = 100;
/// rad in a step: a body that turns less rests.
constexpr double kRests = 1e-5;
/// Of the size of the body: a gap that is bent by less in the step is linear.
constexpr double kBent = 1e-9;
/// Of that size too: offsets are good when they are known to this.
constexpr double kEndsKnown = 1e-10;
constexpr int kMostRollPasses = 10;
/// A pass that leaves more than this share of the error before it is not worth another one, and how much may be left.
constexpr double kEndsHelp = 0.6, kEndsNear = 1e-6;
/// Of the size of the body: what is nearest at the end and farther away than this is not where it rolled to.
constexpr double kOtherSide = 0.8;
/// A corner is run over if it lies within so many times the way of the contact that rolls; and it is a corner if it
/// stays where it is on its body, to this share of the size.
constexpr double kRunOver = 2, kStays = 1e-9;
/// The name of no contact.
constexpr std::uint32_t kNoFeature = ~0u;

bool is_dynamic(const Model& model, int body) { return body >= 0 && model.bodies[body].kind == BodyKind::Dynamic; }

bool is_curved(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::Sphere:
    case ShapeKind::Capsule:
    case ShapeKind::Disk:
    case ShapeKind::Cylinder:
    case ShapeKind::Cone:
    case ShapeKind::Ellipsoid:
      return true;
    default:
      return false;
  }
}

double calc_half_speed(const Vec6& part, const Twist& v) {
  return part.head<3>().dot(v.linear) + part.tail<3>().dot(v.angular);
}

int find_group(std::vector<int>* group, int i) {
  while ((*group)[i] != i) i = (*group)[i] = (*group)[(*group)[i]];
  return i;
}

/// The contact of that name, or else the nearest one of its shapes. Below 0: they are far apart.
int find_contact(const std::vector<Contact>& contacts, const ContactKey& key, bool nearest_too) {
  const ContactKey first{key.shape_a, key.shape_b, 0};
  auto at = std::lower_bound(contacts.begin(), contacts.end(), first,
                             [](const Contact& each, const ContactKey& k) { return each.key < k; });
  int nearest = -1;
  for (; at != contacts.end() && at->key.shape_a == key.shape_a && at->key.shape_b == key.shape_b; ++at) {
    const int i = static_cast<int>(at - contacts.begin());
    if (at->key == key) return i;
    if (nearest < 0 || at->gap < contacts[nearest].gap) nearest = i;
  }
  return nearest_too ? nearest : -1;
}

}  // namespace

// ---------------------------------------------------------------- who rolls

void ContactEnds::find_lone(const Model& model) {
  if (lone_.size() == model.bodies.size()) return;
  lone_.assign(model.bodies.size(), 0);
  for (std::size_t i = 0; i < lone_.size(); ++i)
    lone_[i] = is_dynamic(model, static_cast<int>(i)) && model.bodies[i].dof > 0;
  const auto hold = [&](int body) {
    if (body >= 0) lone_[body] = 0;
  };
  for (const Joint& joint : model.joints) hold(joint.a), hold(joint.b);
  for (const Spring& spring : model.springs) hold(spring.a), hold(spring.b);
}

/// Who carried load in the step before; before the first one who touches, and neither leaves nor hits.
bool ContactEnds::find_carried(const StepInput& input) {
  const Model& model = *input.model;
  const State& state = *input.state;
  const std::vector<Contact>& contacts = input.contacts->contacts;
  const std::vector<ContactMemory>& memory = state.contact_memory;
  carrying_.clear();
  const bool first = state.step == 0 && memory.empty();
  if (!first && memory.empty()) return false;
  for (const ContactMemory& known : memory)
    if (known.loaded && known.key.shape_a >= 0)
      if (const int i = find_contact(contacts, known.key, true); i >= 0) carrying_.push_back(i);
  for (std::size_t i = 0; first && i < contacts.size(); ++i) {
    const Contact& contact = contacts[i];
    if (contact.limit >= 0 || contact.central) continue;
    if (contact.gap > kTouchingAtStart * calc_touch_length(model, contact)) continue;
    const NormalRow row = calc_normal_row(model, state.pose, contact);
    const double slow = 2 * model.gravity.norm() * input.h_nominal;
    if (std::abs(calc_pair_speed(way_, row.body_a, row.body_b, row.row)) <= slow)
      carrying_.push_back(static_cast<int>(i));
  }
  return !carrying_.empty();
}

bool ContactEnds::find_turning(const StepInput& input) {
  const Model& model = *input.model;
  turning_.assign(model.bodies.size(), 0);
  bool any = false;
  for (const int i : carrying_) {
    const Contact& contact = input.contacts->contacts[i];
    for (const bool of_b : {false, true}) {
      const int body = of_b ? contact.body_b : contact.body_a;
      const int shape = of_b ? contact.key.shape_b : contact.key.shape_a;
      if (body < 0 || !lone_[body] || way_[body].angular.norm() * input.h < kRests) continue;
      const int other = of_b ? contact.key.shape_a : contact.key.shape_b;
      if (!is_curved(model.shapes[shape].kind) && !is_curved(model.shapes[other].kind)) continue;
      turning_[body] = 1;
      any = true;
    }
  }
  return any;
}

/// Of bodies that turn, those that only the surroundings carry, in a few places: of two that carry each other both must
/// have their reactions at the same instants.
void ContactEnds::find_asked(const StepInput& input) {
  const Model& model = *input.model;
  count_.assign(model.bodies.size(), 0);
  for (const int i : carrying_) {
    const Contact& contact = input.contacts->contacts[i];
    const bool both = is_dynamic(model, contact.body_a) && is_dynamic(model, contact.body_b);
    for (const int body : {contact.body_a, contact.body_b})
      if (body >= 0) count_[body] += both ? kMostCarrying + 1 : 1;
  }
  for (std::size_t i = 0; i < turning_.size(); ++i) turning_[i] = turning_[i] && count_[i] <= kMostCarrying;
}

/// Of these, those with a gap that is not linear.
bool ContactEnds::find_bent(const StepInput& input) {
  const Model& model = *input.model;
  rolling_.assign(turning_.size(), 0);
  if (std::find(turning_.begin(), turning_.end(), 1) == turning_.end()) return false;
  look(input, turning_);
  bool any = false;
  for (const int i : carrying_) {
    const Contact& contact = input.contacts->contacts[i];
    const int body = is_dynamic(model, contact.body_a) ? contact.body_a : contact.body_b;
    if (body < 0 || !turning_[body] || rolling_[body]) continue;
    const NormalRow row = calc_normal_row(model, input.state->pose, contact);
    const double linear = contact.gap + input.h * calc_pair_speed(way_, row.body_a, row.body_b, row.row);
    const double bend = find_end(input, contact).gap - linear;
    rolling_[body] = std::abs(bend) > kBent * calc_contact_size(model, contact);
    any = any || rolling_[body];
  }
  return any;
}

std::span<const char> ContactEnds::find(const StepInput& input, const Scheme& scheme) {
  rolling_.clear();
  const std::vector<Contact>& contacts = input.contacts->contacts;
  if (!scheme.closes_joints(*input.options) || contacts.empty() || contacts.size() > kMostAround) return {};
  const bool sorted = std::is_sorted(contacts.begin(), contacts.end(),
                                     [](const Contact& a, const Contact& b) { return a.key < b.key; });
  if (!sorted) return {};  // rows on the way of centres stand behind the others
  find_lone(*input.model);
  way_ = input.state->velocity;
  for (std::size_t i = 0; i < way_.size(); ++i)
    if (input.model->bodies[i].kind == BodyKind::Kinematic) way_[i] = input.prescribed[i];
  if (!find_carried(input) || !find_turning(input)) return {};
  find_asked(input);
  if (!find_bent(input)) rolling_.clear();
  return rolling_;
}

// ---------------------------------------------------------------- the end of a way

/// Contacts of these bodies where `way_` leads.
void ContactEnds::look(const StepInput& input, std::span<const char> bodies) {
  const Model& model = *input.model;
  end_.pose.resize(way_.size());
  reach_.resize(way_.size());
  for (std::size_t i = 0; i < way_.size(); ++i) {
    end_.pose[i] =
        model.bodies[i].kind == BodyKind::Fixed ? input.state->pose[i] : move(input.state->pose[i], way_[i], input.h);
    reach_[i] = input.h * (way_[i].linear.norm() + way_[i].angular.norm() * model.bodies[i].reach_radius);
  }
  finder_.find(end_, reach_, bodies, &found_);
}

/// Where a contact is at the end. Names come and go on a rim, and a lowest point that meets one of its corners takes
/// that one's name. So the nearest contact of two shapes goes on as their nearest one where its own name is gone, or
/// that one's is new, unless it is on another side. Others go by their names, and those whose name has gone are points
/// that go with their bodies.
Contact ContactEnds::find_end(const StepInput& input, const Contact& start) const {
  const std::vector<Contact>& all = input.contacts->contacts;
  const ContactKey of_pair{start.key.shape_a, start.key.shape_b, kNoFeature};
  const int first = find_contact(all, of_pair, true), same = find_contact(found_.contacts, start.key, false);
  if (first >= 0 && all[first].key == start.key) {
    const int near = find_contact(found_.contacts, of_pair, true);
    const double far = kOtherSide * calc_contact_size(*input.model, start);
    if (near >= 0 && (same < 0 || find_contact(all, found_.contacts[near].key, false) < 0) &&
        (found_.contacts[near].point_b - start.point_b).norm() <= far)
      return found_.contacts[near];
  }
  if (same >= 0) return found_.contacts[same];
  Contact end = start;
  const auto carry = [&](int body, const Vec3& p) {
    if (body < 0) return p;
    const Pose& from = input.state->pose[body];
    return slipstick::apply(end_.pose[body], from.orientation.conjugate() * (p - from.position));
  };
  end.point_a = carry(start.body_a, start.point_a);
  end.point_b = carry(start.body_b, start.point_b);
  if (start.body_a >= 0)
    end.normal =
        end_.pose[start.body_a].orientation * (input.state->pose[start.body_a].orientation.conjugate() * start.normal);
  end.gap = end.normal.dot(end.point_b - end.point_a);
  return end;
}

void ContactEnds::begin(const StepInput& input, const Equations& equations, StepProblem* made) {
  const Model& model = *input.model;
  made->contact_end.active = false;
  active_ = !input.rolling.empty();
  held_.clear();
  if (!active_) return;
  linear_ = false;
  bends_ = true;
  passes_ = 0;
  const auto holds = [&](int body) { return body < 0 || !is_dynamic(model, body) || input.rolling[body]; };
  for (std::size_t i = 0; i < equations.contacts.size(); ++i) {
    const Contact& contact = input.contacts->contacts[equations.contacts[i].contact];
    if (contact.limit >= 0 || contact.central || !holds(contact.body_a) || !holds(contact.body_b)) continue;
    held_.push_back({static_cast<int>(i), std::min(contact.gap - calc_row_gap(input, contact), 0.0), {}, {}});
  }
  look(input, input.rolling);
  update_offsets(input, equations);
}

/// Along a row: the speed of bodies with prescribed motion, and that of the others.
double ContactEnds::calc_given(const StepInput& input, const ContactRows& rows, int k, double* moving) const {
  double given = 0;
  *moving = 0;
  for (const bool of_b : {false, true}) {
    const int body = of_b ? rows.body_b : rows.body_a;
    if (body < 0) continue;
    const double speed = calc_half_speed(of_b ? rows.row[k].b : rows.row[k].a, way_[body]);
    (input.model->bodies[body].kind == BodyKind::Kinematic ? given : *moving) += speed;
  }
  return given;
}

/// Speed of B's matter over A's where they meet at the end, along a tangent of the start that is turned with the
/// normal. A body turns about one axis on its way, so that its angular velocity is the same in the world at both ends.
double ContactEnds::calc_slip(const StepInput& input, const Contact& end, const Vec3& direction,
                              const Vec3& normal) const {
  const Vec3 point = 0.5 * (end.point_a + end.point_b);
  const Vec3 along = Quat::FromTwoVectors(normal, end.normal) * direction;
  const auto speed = [&](int body) {
    if (body < 0) return 0.0;
    const Vec3 turn = input.state->pose[body].orientation * way_[body].angular;
    return along.dot(way_[body].linear + turn.cross(point - end_.pose[body].position));
  };
  return speed(end.body_b) - speed(end.body_a);
}

/// A corner of a rim that its lowest point runs over in this step: that one keeps it from going in, and both would only
/// carry beside each other for the step, the corner against the motion.
bool ContactEnds::is_run_over(const StepInput& input, int contact, const Contact& end) const {
  const std::vector<Contact>& all = input.contacts->contacts;
  const Contact& start = all[contact];
  const int first = find_contact(all, {start.key.shape_a, start.key.shape_b, kNoFeature}, true);
  if (first == contact || std::find(carrying_.begin(), carrying_.end(), contact) != carrying_.end()) return false;
  const Vec3 from = all[first].point_b, to = find_end(input, all[first]).point_b;
  if ((start.point_b - from).norm() > kRunOver * (to - from).norm() &&
      (end.point_b - to).norm() > kRunOver * (to - from).norm())
    return false;
  const auto stays = [&](int body, const Vec3& before, const Vec3& after) {
    if (body < 0) return false;
    const Pose &p = input.state->pose[body], &q = end_.pose[body];
    const Vec3 moved =
        q.orientation.conjugate() * (after - q.position) - p.orientation.conjugate() * (before - p.position);
    return moved.norm() <= kStays * calc_contact_size(*input.model, start);
  };
  return (is_dynamic(*input.model, start.body_a) && stays(start.body_a, start.point_a, end.point_a)) ||
         (is_dynamic(*input.model, start.body_b) && stays(start.body_b, start.point_b, end.point_b));
}

void ContactEnds::update_offsets(const StepInput& input, const Equations& equations) {
  for (Held& held : held_) {
    const ContactRows& rows = equations.contacts[held.contact];
    const Contact& contact = input.contacts->contacts[rows.contact];
    held.end = find_end(input, contact);
    double moving = 0;
    calc_given(input, rows, 0, &moving);
    held.offset[0] = (held.end.gap - held.kept) / input.h - moving;
    if (is_run_over(input, rows.contact, held.end)) {
      double margin = 0;
      for (const int body : {rows.body_a, rows.body_b})
        if (body >= 0) margin += reach_[body] / input.h;
      held.offset[0] = std::max(held.offset[0], margin - moving);
    }
    for (int k = 1; k < rows.count; ++k) {
      const double given = calc_given(input, rows, k, &moving);
      const double slip = calc_slip(input, held.end, rows.direction[k], contact.normal);
      held.offset[k] = rows.drift[k] + 0.5 * (given + moving + slip) - moving;
    }
  }
}

void ContactEnds::apply(StepProblem* made) const {
  if (!active_ || linear_) return;
  for (const Held& held : held_) {
    const int row = made->map.contact_row[held.contact];
    if (row < 0) continue;
    const ContactRows& rows = made->equations->contacts[held.contact];
    for (int k = 0; k < (rows.friction == 0 ? 1 : rows.count); ++k) made->problem.c[row + k] = held.offset[k];
  }
}

void ContactEnds::add_bends(const StepInput& input, StepProblem* made) const {
  if (!active_ || linear_ || !bends_ || passes_ == 0) return;
  made->bent_spin.resize(way_.size());
  for (std::size_t i = 0; i < way_.size(); ++i)
    if (input.rolling[i]) made->bent_spin[i] = way_[i].angular;
}

bool ContactEnds::refine(const StepInput& input, const StepProblem& made, const Solution& solution) {
  if (!active_ || linear_) return false;
  const Model& model = *input.model;
  ++passes_;
  for (std::size_t i = 0; i < way_.size(); ++i)
    if (made.map.column_of_body[i] >= 0)
      way_[i] = calc_body_twist(input, made.map, made.problem, solution.v, static_cast<int>(i));
  before_ = held_;
  look(input, input.rolling);
  update_offsets(input, *made.equations);
  const double least = kLoaded * calc_largest_normal(made, solution);
  double error = 0;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    const ContactRows& rows = made.equations->contacts[held_[i].contact];
    const int row = made.map.contact_row[held_[i].contact];
    if (row < 0) continue;
    const double size = calc_contact_size(model, input.contacts->contacts[rows.contact]);
    const bool carries = solution.lambda[row] > least;
    if (!carries && !(held_[i].end.gap - held_[i].kept < -kEndsKnown * size)) continue;
    for (int k = 0; k < (rows.friction == 0 || !carries ? 1 : rows.count); ++k)
      error = std::max(error, input.h * std::abs(held_[i].offset[k] - before_[i].offset[k]) / size);
  }
  const bool helps = passes_ <= 2 || error < kEndsHelp * worst_;
  worst_ = error;
  if (error <= kEndsKnown || passes_ >= kMostRollPasses || (!helps && error <= kEndsNear)) return false;
  if (!helps && bends_) {
    bends_ = false;
    passes_ = 1;
  } else if (!helps) {
    linear_ = true;
  }
  return true;
}

std::span<const char> ContactEnds::find_good(const Problem& problem, const RowMap& map) {
  good_.clear();
  if (!active_) return {};
  island_.resize(problem.columns());
  std::iota(island_.begin(), island_.end(), 0);
  for (const RowBlock& block : problem.blocks)
    for (int k = 1; k < block.entries; ++k) {
      const int a = find_group(&island_, problem.entries[block.entry].column);
      const int b = find_group(&island_, problem.entries[block.entry + k].column);
      island_[std::max(a, b)] = std::min(a, b);
    }
  good_.assign(island_.size(), 1);
  for (std::size_t i = 0; i < rolling_.size(); ++i)
    if (rolling_[i] && map.column_of_body[i] >= 0) good_[find_group(&island_, map.column_of_body[i])] = 0;
  for (std::size_t k = 0; k < good_.size(); ++k) good_[k] = good_[find_group(&island_, static_cast<int>(k))];
  return good_;
}

// ---------------------------------------------------------------- the velocities at the end

/// The contacts that carry, where they are at the end.
void ContactEnds::find_ends(const StepInput& input, const Solution& solution, StepProblem* made) const {
  const Model& model = *input.model;
  ContactEnd& end = made->contact_end;
  end.of.clear();
  end.contacts.contacts.clear();
  end.held.assign(made->equations->contacts.size(), 0);
  const double least = kLoaded * calc_largest_normal(*made, solution);
  for (const Held& held : held_) {
    const int row = made->map.contact_row[held.contact];
    if (row < 0 || !(solution.lambda[row] > least)) continue;
    const double size =
        calc_contact_size(model, input.contacts->contacts[made->equations->contacts[held.contact].contact]);
    if (held.end.gap - held.kept > kEndsNear * size) continue;  // a pass more would have let it go
    const auto is_same = [&](const Contact& other) { return other.key == held.end.key; };
    if (std::any_of(end.contacts.contacts.begin(), end.contacts.contacts.end(), is_same)) continue;
    end.held[held.contact] = 1;
    end.of.push_back(held.contact);
    end.contacts.contacts.push_back(held.end);
  }
}

void ContactEnds::make_problem(const StepInput& input, const Solution& solution, StepProblem* made, State* next) {
  const Model& model = *input.model;
  ContactEnd& end = made->contact_end;
  const double time = input.state->time + input.h;
  prescribed_.assign(model.bodies.size(), {});
  for (std::size_t i = 0; i < model.bodies.size(); ++i)
    if (model.bodies[i].kind == BodyKind::Kinematic)
      prescribed_[i] = calc_kinematic_twist(model.bodies[i], next->pose[i], time, input.h_nominal);
  at_end_ = input;
  at_end_.state = next;
  at_end_.contacts = &end.contacts;
  at_end_.prescribed = prescribed_;
  at_end_.h = 0;
  update_contact_rows(model, next->pose, end.contacts, &end.rows, time, next->velocity);
  begin_problem(model, &problem_, &map_, input.rolling);
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (map_.column_of_body[i] < 0) continue;
    const Body& body = model.bodies[i];
    Vec6 momentum;
    momentum << body.mass * next->velocity[i].linear, body.inertia * next->velocity[i].angular;
    add_body_column(body, momentum, nullptr, &problem_);
  }
  offset_.assign(end.rows.size(), 0.0);
  add_contact_rows(at_end_, end.rows, offset_, &problem_, &map_);
  solution_.v.resize(problem_.unknowns());
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (map_.column_of_body[i] < 0) continue;
    Vec6 v;
    v << next->velocity[i].linear, next->velocity[i].angular;
    for (int k = 0; k < model.bodies[i].dof; ++k)
      solution_.v[problem_.column_start[map_.column_of_body[i]] + k] = model.bodies[i].free_basis().col(k).dot(v);
  }
  solution_.lambda.setZero(problem_.rows());
  for (std::size_t i = 0; i < end.rows.size(); ++i)
    for (int k = 0; k < problem_.blocks[map_.contact_block[i]].size; ++k)
      solution_.lambda[map_.contact_row[i] + k] = solution.lambda[made->map.contact_row[end.of[i]] + k];
  solution_.uniqueness.assign(problem_.blocks.size(), Uniqueness::Unknown);
}

LadderResult ContactEnds::end(const StepInput& input, const Solution& solution, StepSolver* solver, StepProblem* made,
                              State* next) {
  LadderResult result;
  result.certified = true;
  if (!active_) return result;
  find_ends(input, solution, made);
  if (made->contact_end.of.empty()) return result;
  make_problem(input, solution, made, next);
  result = solver->solve(problem_, &solution_);
  take(input, made, next);
  return result;
}

void ContactEnds::take(const StepInput& input, StepProblem* made, State* next) {
  ContactEnd& end = made->contact_end;
  end.active = true;
  end.way = way_;
  end.body.assign(input.model->bodies.size(), Vec6::Zero());
  end.impulse.assign(end.rows.size(), {});
  for (std::size_t i = 0; i < end.rows.size(); ++i) {
    const ContactRows& rows = end.rows[i];
    for (int k = 0; k < problem_.blocks[map_.contact_block[i]].size; ++k) {
      const double impulse = end.impulse[i][k] = solution_.lambda[map_.contact_row[i] + k];
      if (rows.body_a >= 0) end.body[rows.body_a] += impulse * rows.at(k).a;
      if (rows.body_b >= 0) end.body[rows.body_b] += impulse * rows.at(k).b;
    }
  }
  for (std::size_t i = 0; i < end.body.size(); ++i)
    if (!end.body[i].isZero(0) && map_.column_of_body[i] >= 0)
      next->velocity[i] = calc_body_twist(at_end_, map_, problem_, solution_.v, static_cast<int>(i));
}

}  // namespace slipstick
