#include "step/bent_ways.h"

#include <algorithm>
#include <cmath>

#include "base/se3.h"
#include "step/assemble.h"
#include "step/flight.h"
#include "step/overlap.h"

namespace slipstick {

namespace {

/// Of calc_touch_length: a gap below this touches.
constexpr double kRestingGap = 1e-9;

/// Of the weight: what carries a body gives it no more than this.
constexpr double kMostWeights = 1.5;
/// rad in a trial up to which the orientation at its end says how fast a body has turned.
constexpr double kPlainTurn = 1;

bool was_loaded(const State& state, const ContactKey& key) {
  const auto place = std::lower_bound(state.contact_memory.begin(), state.contact_memory.end(), key,
                                      [](const ContactMemory& each, const ContactKey& k) { return each.key < k; });
  return place != state.contact_memory.end() && place->key == key && place->loaded;
}

/// The same impulse with its moment in the axes of a body there.
Vec6 turn_into(const Pose& pose, Vec6 impulse) {
  impulse.tail<3>() = pose.orientation.conjugate() * Vec3(impulse.tail<3>());
  return impulse;
}

}  // namespace

BentWays::BentWays(const Model& model) : model_(model), last_(model.bodies.size(), -1) {
  for (const Body& body : model.bodies)
    rotations_.push_back(body.kind == BodyKind::Dynamic ? static_cast<char>(count_free_rotations(body)) : 0);
}

void BentWays::begin(const StepInput& input, std::span<const char> of) {
  input_ = &input;
  strikes_.clear();
  last_.assign(model_.bodies.size(), -1);
  find_carried(input, of);
  if (!model_.loads.empty() || input.drive)
    update_loads(model_, input.drive, input.state->pose, input.state->time, &force_);
  else
    force_.assign(model_.bodies.size(), Vec6::Zero());
  gain_.assign(model_.bodies.size(), {});
  for (std::size_t i = 0; i < force_.size(); ++i) {
    const Body& body = model_.bodies[i];
    if (!of[i] || body.kind != BodyKind::Dynamic || body.dof == 0) {
      force_[i].setZero();
      continue;
    }
    force_[i].head<3>() += body.mass * body.gravity_scale * model_.gravity;
    if (carried_[i]) force_[i] = calc_carried_force(static_cast<int>(i));
    gain_[i] = calc_kick(body, force_[i]);
  }
}

/// Who carried load in the step before and still touches there, in a first step who touches, and does not close.
void BentWays::find_carried(const StepInput& input, std::span<const char> of) {
  const State& state = *input.state;
  carried_.assign(model_.bodies.size(), 0);
  const bool first = state.step == 0 && state.contact_memory.empty();
  const double slow = 2 * model_.gravity.norm() * input.h_nominal;
  const auto is_asked = [&](int body) { return body >= 0 && of[body] != 0; };
  const auto along = [&](int body, const Vec3& point) {
    if (body < 0) return Vec3(Vec3::Zero());
    const Pose& q = state.pose[body];
    const Twist& v = model_.bodies[body].kind == BodyKind::Kinematic ? input.prescribed[body] : state.velocity[body];
    return point_velocity(q, v, q.orientation.conjugate() * (point - q.position));
  };
  for (const Contact& contact : input.contacts->contacts) {
    if (contact.limit >= 0 || !(is_asked(contact.body_a) || is_asked(contact.body_b))) continue;
    const double near = kRestingGap * calc_touch_length(model_, contact) + (first ? 0 : 0.5 * input.h * slow);
    if (contact.gap > near || (!first && !was_loaded(state, contact.key))) continue;
    const double speed =
        contact.normal.dot(along(contact.body_b, contact.point_b) - along(contact.body_a, contact.point_a));
    if (std::abs(speed) > slow) continue;
    for (const int body : {contact.body_a, contact.body_b})
      if (body >= 0) carried_[body] = 1;
  }
}

/// What acts on a body beside its contacts is not what moves it. What has moved it in the step before is, if that is
/// no more than weights do.
Vec6 BentWays::calc_carried_force(int body) const {
  const State& state = *input_->state;
  Vec6 force = Vec6::Zero();
  if (state.previous_velocity.size() != state.velocity.size()) return force;
  const Vec3 gained = (state.velocity[body].linear - state.previous_velocity[body].linear) / input_->h_nominal;
  if (gained.norm() <= kMostWeights * model_.gravity.norm()) force.head<3>() = model_.bodies[body].mass * gained;
  return force;
}

void BentWays::strike(int body, double share, const Pose& pose, const Twist& velocity, const Vec6& impulse) {
  strikes_.push_back({share, pose, velocity, impulse, last_[body], {}, Vec6::Zero()});
  last_[body] = static_cast<int>(strikes_.size()) - 1;
}

/// As a trial of length t moves what begins it with the velocity `start`.
BentWays::Turn BentWays::calc_turn(int i, const Twist& start, double t) const {
  const Body& body = model_.bodies[i];
  if (body.kind == BodyKind::Kinematic) return {input_->prescribed[i], Vec3::Zero()};
  if (body.kind == BodyKind::Fixed || body.dof == 0) return {{Vec3::Zero(), Vec3::Zero()}, Vec3::Zero()};
  Turn turn{{start.linear + 0.5 * t * gain_[i].linear, start.angular + 0.5 * t * gain_[i].angular}, Vec3::Zero()};
  if (rotations_[i] < 2) return turn;
  Vec6 momentum = Vec6::Zero();
  momentum.tail<3>() =
      calc_turning_momentum(body, rotations_[i] == 3, start.angular, 0.5 * t * force_[i].tail<3>(), t, &turn.moment);
  turn.u.angular =
      rotations_[i] == 3 ? Vec3(body.inertia_inverse * momentum.tail<3>()) : calc_kick(body, momentum).angular;
  return turn;
}

Twist BentWays::calc_end(int i, const Turn& turn, double t) const {
  const Body& body = model_.bodies[i];
  if (body.kind != BodyKind::Dynamic || body.dof == 0) return turn.u;
  Twist end = turn.u;
  if (rotations_[i] == 3)
    end.angular = calc_carried_spin(body, body.inertia * turn.u.angular + turn.moment, turn.u.angular, t);
  return {end.linear + 0.5 * t * gain_[i].linear, end.angular + 0.5 * t * gain_[i].angular};
}

void BentWays::find(int i, double share, Pose* pose, Twist* velocity) const {
  int k = last_[i];
  while (k >= 0 && strikes_[k].share > share) k = strikes_[k].before;
  const Pose& from = k >= 0 ? strikes_[k].pose : input_->state->pose[i];
  const Twist& start = k >= 0 ? strikes_[k].velocity : input_->state->velocity[i];
  const double t = (share - (k >= 0 ? strikes_[k].share : 0)) * input_->h;
  const Turn turn = calc_turn(i, start, t);
  *pose = t > 0 && model_.bodies[i].kind != BodyKind::Fixed ? move(from, turn.u, t) : from;
  *velocity = t > 0 ? calc_end(i, turn, t) : model_.bodies[i].kind == BodyKind::Kinematic ? turn.u : start;
}

/// The spin with which a trial ends at the orientation of `end`. False: it turns too far to tell.
bool BentWays::fit_spin(int i, const Pose& end, Twist* start) const {
  const Body& body = model_.bodies[i];
  if (rotations_[i] != 3 || input_->h * start->angular.norm() > kPlainTurn) return false;
  const Quat turned = input_->state->pose[i].orientation.conjugate() * end.orientation;
  const double sine = turned.vec().norm();
  if (!(sine > 0)) return false;
  const double angle = 2 * std::atan2(sine, std::abs(turned.w()));
  if (angle > kPlainTurn) return false;
  const Vec3 u = std::copysign(angle / (sine * input_->h), turned.w()) * turned.vec();
  const Vec3 momentum = body.inertia * u + calc_turn_moment(body, u, input_->h);
  start->angular = body.inertia_inverse * (momentum - 0.5 * input_->h * force_[i].tail<3>());
  return true;
}

void BentWays::finish(int i) {
  Strike& last = strikes_[last_[i]];
  const Twist& v = input_->state->velocity[i];
  Vec6 early = Vec6::Zero(), late = Vec6::Zero();
  for (int k = last_[i]; k >= 0; k = strikes_[k].before) {
    early += (1 - strikes_[k].share) * strikes_[k].impulse;
    late += strikes_[k].share * strikes_[k].impulse;
  }
  const Body& body = model_.bodies[i];
  last.start_kick = calc_kick(body, turn_into(input_->state->pose[i], early));
  last.end_impulse = late;
  Pose pose;
  Twist velocity, start{v.linear + last.start_kick.linear, v.angular + last.start_kick.angular};
  find(i, 1, &pose, &velocity);
  if (!fit_spin(i, pose, &start)) return;
  last.start_kick.angular = start.angular - v.angular;
  const Twist end = calc_end(i, calc_turn(i, start, input_->h), input_->h);
  last.end_impulse.tail<3>() = pose.orientation * (body.inertia * (velocity.angular - end.angular));
}

Twist BentWays::calc_end_kick(int body, const Pose& pose) const {
  return calc_kick(model_.bodies[body], turn_into(pose, strikes_[last_[body]].end_impulse));
}

Twist BentWays::calc_motion(int body) const {
  if (model_.bodies[body].kind == BodyKind::Fixed) return {Vec3::Zero(), Vec3::Zero()};
  Twist start = input_->state->velocity[body];
  if (is_struck(body)) {
    const Twist& kick = start_kick(body);
    start = {start.linear + kick.linear, start.angular + kick.angular};
  }
  return calc_turn(body, start, input_->h).u;
}

}  // namespace slipstick
