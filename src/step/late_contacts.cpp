#include "step/late_contacts.h"

#include <algorithm>

#include "base/se3.h"

namespace slipstick {

namespace {

constexpr double kTurn = 0.02;      // rad per step: less moves no corner far off its row
constexpr double kLatePart = 0.02;  // of the motion of both bodies

/// A point of a body given at `from`, world, as it is at `to`.
Vec3 carry(const Pose& from, const Pose& to, const Vec3& p) {
  return apply(to, from.orientation.conjugate() * (p - from.position));
}

}  // namespace

LateContacts::LateContacts(const Model& model)
    : model_(model), angular_(model.bodies.size(), 0), none_(model.bodies.size(), 0.0) {
  for (const Shape& shape : model.shapes)
    if (shape.kind != ShapeKind::Sphere && shape.kind != ShapeKind::Disk) angular_[shape.body] = 1;
}

bool LateContacts::anything_turns(const State& next, double h) const {
  for (std::size_t i = 0; i < angular_.size(); ++i)
    if (angular_[i] && next.velocity[i].angular.norm() * h > kTurn) return true;
  return false;
}

bool LateContacts::add(const State& state, const State& next, double h, std::span<const double> reach,
                       ContactFinder* finder, ContactSet* contacts) {
  if (!anything_turns(next, h)) return false;
  finder->find(next, none_, &found_);
  bool added = false;
  for (const Contact& contact : found_.contacts) {
    const double slack = kLatePart * (reach[contact.body_a] + reach[contact.body_b]);
    if (contact.gap < -slack) added |= add_one(state, next, h, slack, contact, contacts);
  }
  return added;
}

/// The row of the contact at the end of the step, as one of its start: the same points and normal, and the gap that
/// with the velocities just found would be the one that there is.
bool LateContacts::add_one(const State& state, const State& next, double h, double slack, Contact contact,
                           ContactSet* contacts) {
  const auto place = std::lower_bound(contacts->contacts.begin(), contacts->contacts.end(), contact.key,
                                      [](const Contact& c, const ContactKey& key) { return c.key < key; });
  const bool known = place != contacts->contacts.end() && place->key == contact.key;
  if (known && contact.gap > std::min(place->gap, 0.0) - slack) return false;  // was as deep before
  const auto velocity = [&](int body, const Vec3& p) {
    const Pose& pose = state.pose[body];
    return point_velocity(pose, next.velocity[body], pose.orientation.conjugate() * (p - pose.position));
  };
  contact.point_a = carry(next.pose[contact.body_a], state.pose[contact.body_a], contact.point_a);
  contact.point_b = carry(next.pose[contact.body_b], state.pose[contact.body_b], contact.point_b);
  contact.gap -=
      h * contact.normal.dot(velocity(contact.body_b, contact.point_b) - velocity(contact.body_a, contact.point_a));
  if (known)
    *place = contact;
  else
    contacts->contacts.insert(place, contact);
  return true;
}

}  // namespace slipstick
