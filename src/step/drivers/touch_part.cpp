#include "step/drivers/touch_part.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "mechanics/equations.h"
#include "step/overlap.h"

namespace slipstick {

namespace {

/// Of the time until the touch: the trial must end before it.
constexpr double kJustBefore = 0.99;
/// Of a whole step: shorter parts are not worth their price.
constexpr double kLeastPart = 0.05;
/// Contacts of a group from which on it is a pile, or a machine that stands in one.
constexpr int kMostTouching = 12;
/// What a speed gains in a step is at most itself.
constexpr double kMostGain = 2;

}  // namespace

TouchPart::TouchPart(const Model& model) : model_(model), joined_(model.bodies.size(), 0) {
  for (const Joint& joint : model.joints)
    for (const int body : {joint.a, joint.b})
      if (body >= 0 && model.bodies[body].kind == BodyKind::Dynamic) joined_[body] = 1;
}

int TouchPart::root_of(int body) {
  while (root_[body] != body) body = root_[body] = root_[root_[body]];
  return body;
}

/// What joints and touches connect.
void TouchPart::find_groups(std::span<const Contact> contacts, double near) {
  root_.resize(model_.bodies.size());
  for (std::size_t i = 0; i < root_.size(); ++i) root_[i] = static_cast<int>(i);
  const auto moves = [&](int body) { return body >= 0 && model_.bodies[body].kind == BodyKind::Dynamic; };
  const auto unite = [&](int a, int b) {
    if (!moves(a) || !moves(b)) return;
    a = root_of(a), b = root_of(b);
    root_[std::max(a, b)] = std::min(a, b);
  };
  for (const Joint& joint : model_.joints) unite(joint.a, joint.b);
  for (const Contact& contact : contacts)
    if (contact.limit < 0 && contact.gap <= near) unite(contact.body_a, contact.body_b);
  contacts_of_.assign(root_.size(), 0);
  for (const Contact& contact : contacts) {
    if (contact.limit >= 0 || contact.gap > near) continue;
    const int body = moves(contact.body_a) ? contact.body_a : contact.body_b;
    if (moves(body)) ++contacts_of_[root_of(body)];
  }
}

/// Until the contact closes, as the trial would close it: what moves gains speed as in the step before, at once.
double TouchPart::calc_time(const State& state, std::span<const Twist> speed, const Contact& contact, double threshold,
                            double h, double whole) const {
  const NormalRow row = calc_normal_row(model_, state.pose, contact);
  const double w = -calc_pair_speed(speed, row.body_a, row.body_b, row.row);
  if (!(w > 0)) return kInfinity;
  double gained = 0;  // in a second
  if (state.previous_velocity.size() == speed.size())
    gained = (w + calc_pair_speed(state.previous_velocity, row.body_a, row.body_b, row.row)) / whole;
  gained = std::clamp(gained, -w / whole, w / whole);  // what has just been struck says nothing
  const double time = 2 * contact.gap / (w + std::sqrt(std::max(0.0, w * w + 4 * gained * contact.gap)));
  return time < h && w + gained * time > threshold ? time : kInfinity;
}

/// No row closes faster, m/s or rad/s: rows of the many ends that are far away need not be made.
double TouchPart::calc_most_speed(std::span<const Twist> speed, const Contact& contact,
                                  const std::array<int, 2>& bodies) const {
  double most = 0, spin = 0;
  for (const int body : bodies) {
    if (body < 0) continue;
    const double turn = speed[body].angular.norm();
    most += speed[body].linear.norm() + turn * model_.bodies[body].reach_radius;
    spin += turn;
  }
  return contact.limit < 0 ? most : most + spin * std::max(1.0, calc_contact_size(model_, contact));
}

double TouchPart::find(const State& state, std::span<const Twist> speed, std::span<const Contact> contacts,
                       double threshold, double h, double whole) {
  touches_.clear();
  const auto joined = [&](int body) { return body >= 0 && joined_[body] != 0; };
  for (const Contact& contact : contacts) {
    if (contact.gap <= 0 || contact.central) continue;
    const std::array<int, 2> bodies = bodies_of(model_, contact);
    if (!joined(bodies[0]) && !joined(bodies[1])) continue;
    const PairLaw& law = law_of(model_, contact);
    if (contact.limit < 0 && law.restitution == 0 && law.tangential_restitution == 0) continue;
    if (contact.gap > kMostGain * h * calc_most_speed(speed, contact, bodies)) continue;
    const double time = calc_time(state, speed, contact, threshold, h, whole);
    if (time < h) touches_.push_back({time, joined(bodies[0]) ? bodies[0] : bodies[1]});
  }
  if (touches_.empty()) return h;
  find_groups(contacts, 0.5 * h * threshold);
  double first = kInfinity;
  for (const Touch& touch : touches_)
    if (contacts_of_[root_of(touch.body)] <= kMostTouching) first = std::min(first, touch.time);
  const double part = kJustBefore * first;
  return part < h && part > kLeastPart * whole ? part : h;
}

}  // namespace slipstick
