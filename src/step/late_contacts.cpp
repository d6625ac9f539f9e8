#include "step/late_contacts.h"

#include <algorithm>

#include "base/se3.h"
#include "step/overlap.h"

namespace slipstick {

namespace {

constexpr double kTurn = 0.02;  // rad per step: less moves no corner far off its row
// Of the motion of both bodies, and of the size of the smaller one where they are fast: two bricks that met at 6 m/s
// may else overlap by 2 mm before anybody looks.
constexpr double kLatePart = 0.02, kLateSize = 2e-3;
constexpr double kSwiftBand = 0.03;  // of the thinner body
// In the name of a late contact beside one that is known: as the body is held by the late row it may turn back, and
// then only the known one stops it (a ball of half a tonne came 12 mm into a brick that way).
// No name of a corner, an edge or a side reaches that far; the highest bit says whose corner it is (planar_pairs.cpp).
constexpr std::uint32_t kLateFeature = 1u << 30;

/// A point of a body given at `from`, world, as it is at `to`.
Vec3 carry(const Pose& from, const Pose& to, const Vec3& p) {
  return apply(to, from.orientation.conjugate() * (p - from.position));
}

}  // namespace

LateContacts::LateContacts(const Model& model, Effort effort)
    : model_(model),
      thickness_(effort == Effort::Swift ? calc_thicknesses(model) : std::vector<double>()),
      angular_(model.bodies.size(), 0),
      none_(model.bodies.size(), 0.0) {
  for (const Shape& shape : model.shapes)
    if (shape.kind != ShapeKind::Sphere && shape.kind != ShapeKind::Disk) angular_[shape.body] = 1;
}

bool LateContacts::find_turning(const State& next, double h) {
  turning_.resize(angular_.size());
  bool any = false;
  for (std::size_t i = 0; i < angular_.size(); ++i) {
    turning_[i] = angular_[i] && next.velocity[i].angular.norm() * h > kTurn;
    any = any || turning_[i];
  }
  return any;
}

bool LateContacts::find(const State& state, const State& next, double h, std::span<const double> reach, bool careful,
                        const ContactSet& known, ContactFinder* finder, ContactSet* all) {
  if (!find_turning(next, h)) return false;
  finder->find(next, none_, turning_, &found_);
  late_.contacts.clear();
  for (Contact& contact : found_.contacts) {
    const double slack = calc_slack(contact, reach, careful);
    if (contact.gap < -slack && find_one(state, next, h, slack, known, &contact)) late_.contacts.push_back(contact);
  }
  if (late_.contacts.empty()) return false;
  std::sort(late_.contacts.begin(), late_.contacts.end(),
            [](const Contact& a, const Contact& b) { return a.key < b.key; });
  // Both are sorted; a late contact takes the place of the one of its key, which an earlier repeat has found.
  merged_.contacts.clear();
  auto late = late_.contacts.begin();
  for (const Contact& contact : known.contacts) {
    while (late != late_.contacts.end() && late->key < contact.key) merged_.contacts.push_back(*late++);
    const bool replaced = late != late_.contacts.end() && late->key == contact.key;
    merged_.contacts.push_back(replaced ? *late++ : contact);
  }
  merged_.contacts.insert(merged_.contacts.end(), late, late_.contacts.end());
  std::swap(*all, merged_);
  return true;
}

/// The overlap that is left to the correction.
double LateContacts::calc_slack(const Contact& contact, std::span<const double> reach, bool careful) const {
  const double motion = kLatePart * (reach[contact.body_a] + reach[contact.body_b]);
  if (!thickness_.empty()) return std::max(motion, kSwiftBand * calc_thickness(thickness_, contact));
  return careful ? std::min(motion, kLateSize * calc_contact_size(model_, contact)) : motion;
}

/// The row of the contact at the end of the step, as one of its start: the same points and normal, and the gap that
/// with the velocities just found would be the one that there is. False: the known set has it as it is.
bool LateContacts::find_one(const State& state, const State& next, double h, double slack, const ContactSet& known,
                            Contact* contact) const {
  const auto place = std::lower_bound(known.contacts.begin(), known.contacts.end(), contact->key,
                                      [](const Contact& c, const ContactKey& key) { return c.key < key; });
  const bool has = place != known.contacts.end() && place->key == contact->key;
  if (has && contact->gap > std::min(place->gap, 0.0) - slack) return false;  // was as deep before
  const auto velocity = [&](int body, const Vec3& p) {
    const Pose& pose = state.pose[body];
    const Twist moved{(next.pose[body].position - pose.position) / h, next.velocity[body].angular};
    return point_velocity(pose, moved, pose.orientation.conjugate() * (p - pose.position));
  };
  if (has) contact->key.feature ^= kLateFeature;
  contact->point_a = carry(next.pose[contact->body_a], state.pose[contact->body_a], contact->point_a);
  contact->point_b = carry(next.pose[contact->body_b], state.pose[contact->body_b], contact->point_b);
  contact->gap -= h * contact->normal.dot(velocity(contact->body_b, contact->point_b) -
                                          velocity(contact->body_a, contact->point_a));
  return true;
}

}  // namespace slipstick
