#include "step/open_contacts.h"

#include <algorithm>
#include <numeric>

#include "step/insert_contacts.h"
#include "step/overlap.h"

namespace slipstick {

namespace {

/// Contacts of a group from which on those that cannot close have no rows: in smaller ones rows cost next to nothing.
constexpr int kLargeGroup = 2000;
/// A contact may close by so much more, in sizes of the motion that its bodies meet with elsewhere: they may be stopped
/// or pushed by others.
constexpr double kAgitated = 1;
/// Of the smaller body: what is this near has its row anyway.
constexpr double kNearly = 1e-3;
/// Of the smaller body: overlap that the next step's rows take away (overlap.h). Of the thinner body, in `swift`: what
/// is left to the correction.
constexpr double kOpenSlop = 1e-7, kOpenBand = 0.01;

bool is_pushed(const Model& model, int body) { return body != kWorld && model.bodies[body].kind == BodyKind::Dynamic; }

/// Gaps of round shapes are convex in the motion: a row that stays open by the linear gap does. Faces tilt, and meet in
/// other places than they did.
bool is_round(const Model& model, int shape) {
  const ShapeKind kind = model.shapes[shape].kind;
  return kind == ShapeKind::Sphere || kind == ShapeKind::Disk || kind == ShapeKind::Plane;
}

}  // namespace

OpenContacts::OpenContacts(const Model& model, Effort effort)
    : model_(model),
      effort_(effort),
      thickness_(effort == Effort::Swift ? calc_thicknesses(model) : std::vector<double>()),
      motion_(model.bodies.size()),
      group_(model.bodies.size()),
      count_(model.bodies.size()),
      agitation_(model.bodies.size()) {}

/// In world axes, so that a contact costs a cross product a side.
void OpenContacts::set_motion(std::size_t body, const Pose& pose, const Vec3& linear, const Vec3& angular) {
  motion_[body] = {pose.position, linear, pose.orientation * angular};
}

/// n . (velocity of B - velocity of A), both at the point half way between the surfaces, as the row has it.
double OpenContacts::calc_parting(const Contact& contact) const {
  const Vec3 point = 0.5 * (contact.point_a + contact.point_b);
  const auto speed = [&](int body) -> double {
    if (body == kWorld) return 0;
    const Motion& m = motion_[body];
    return contact.normal.dot(m.linear + m.angular.cross(point - m.position));
  };
  return speed(contact.body_b) - speed(contact.body_a);
}

int OpenContacts::root_of(int body) {
  while (group_[body] != body) body = group_[body] = group_[group_[body]];
  return body;
}

/// Groups, and how many contacts each has. False: none is large.
bool OpenContacts::find_groups(const ContactSet& found) {
  std::iota(group_.begin(), group_.end(), 0);
  std::fill(count_.begin(), count_.end(), 0);
  for (const Contact& contact : found.contacts) {
    if (contact.limit >= 0 || !is_pushed(model_, contact.body_a) || !is_pushed(model_, contact.body_b)) continue;
    const int a = root_of(contact.body_a), b = root_of(contact.body_b);
    group_[std::max(a, b)] = std::min(a, b);
  }
  bool any = false;
  for (const Contact& contact : found.contacts) {
    if (contact.limit >= 0) continue;
    const int body = root_of(is_pushed(model_, contact.body_a) ? contact.body_a : contact.body_b);
    any = ++count_[body] >= kLargeGroup || any;
  }
  return any;
}

void OpenContacts::update_agitation(const ContactSet& found) {
  std::fill(agitation_.begin(), agitation_.end(), 0.0);
  approach_.resize(found.contacts.size());
  for (std::size_t i = 0; i < found.contacts.size(); ++i) {
    const Contact& contact = found.contacts[i];
    if (contact.limit >= 0) continue;
    const double approach = approach_[i] = -calc_parting(contact);
    for (const int body : {contact.body_a, contact.body_b})
      if (body != kWorld) agitation_[body] = std::max(agitation_[body], approach);
  }
  near_agitation_ = agitation_;
  for (const Contact& contact : found.contacts) {
    if (contact.limit >= 0 || !is_pushed(model_, contact.body_a) || !is_pushed(model_, contact.body_b)) continue;
    double &a = near_agitation_[contact.body_a], &b = near_agitation_[contact.body_b];
    a = std::max(a, agitation_[contact.body_b]);
    b = std::max(b, agitation_[contact.body_a]);
  }
}

bool OpenContacts::may_close(const Contact& contact, std::size_t index, double h) {
  if (contact.limit >= 0 || contact.gap <= kNearly * calc_contact_size(model_, contact)) return true;
  if (!is_round(model_, contact.key.shape_a) || !is_round(model_, contact.key.shape_b)) return true;
  const bool a = is_pushed(model_, contact.body_a), b = is_pushed(model_, contact.body_b);
  if (count_[root_of(a ? contact.body_a : contact.body_b)] < kLargeGroup) return true;
  // What does not move, or is driven, is not stopped by what it meets elsewhere.
  const double other = (a ? near_agitation_[contact.body_a] : 0) + (b ? near_agitation_[contact.body_b] : 0);
  return contact.gap <= h * (std::max(approach_[index], 0.0) + kAgitated * other);
}

bool OpenContacts::find_near(const State& state, std::span<const Twist> prescribed, double h, const ContactSet& found,
                             ContactSet* near) {
  if (effort_ == Effort::Exact || found.contacts.size() < kLargeGroup || !find_groups(found)) return false;
  for (std::size_t i = 0; i < motion_.size(); ++i) {
    const Body& body = model_.bodies[i];
    const bool dynamic = body.kind == BodyKind::Dynamic;
    const Twist& v = dynamic ? state.velocity[i] : prescribed[i];
    const Vec3 fall = dynamic ? Vec3(h * body.gravity_scale * model_.gravity) : Vec3(Vec3::Zero());
    set_motion(i, state.pose[i], v.linear + fall, v.angular);
  }
  update_agitation(found);
  near->contacts.clear();
  for (std::size_t i = 0; i < found.contacts.size(); ++i)
    if (may_close(found.contacts[i], i, h)) near->contacts.push_back(found.contacts[i]);
  return near->contacts.size() < found.contacts.size();
}

double OpenContacts::calc_slack(const Contact& contact) const {
  if (!thickness_.empty()) return kOpenBand * calc_thickness(thickness_, contact);
  return kOpenSlop * calc_contact_size(model_, contact);
}

/// Known contacts, and those of `found` with another key that `takes` says yes to. False: there are none of these.
template <class F>
bool OpenContacts::merge(const ContactSet& found, const ContactSet& known, const F& takes, ContactSet* all) {
  added_.clear();
  places_.clear();
  auto next = known.contacts.begin();
  for (const Contact& contact : found.contacts) {
    while (next != known.contacts.end() && next->key < contact.key) ++next;
    if (next != known.contacts.end() && next->key == contact.key) continue;
    if (contact.limit >= 0 || !takes(contact)) continue;
    added_.push_back(&contact);
    places_.push_back(next - known.contacts.begin());
  }
  if (added_.empty()) return false;
  if (all != &known) *all = known;
  insert_contacts(
      places_, [&](std::size_t i) { return *added_[i]; }, &all->contacts);
  return true;
}

bool OpenContacts::find_closed(const State& start, const State& end, double h, const ContactSet& found,
                               const ContactSet& known, ContactSet* all) {
  for (std::size_t i = 0; i < motion_.size(); ++i)
    set_motion(i, start.pose[i], (end.pose[i].position - start.pose[i].position) / h, end.velocity[i].angular);
  const auto has_closed = [&](const Contact& contact) {
    return contact.gap + h * calc_parting(contact) < -calc_slack(contact);
  };
  return merge(found, known, has_closed, all);
}

void OpenContacts::take_all(const ContactSet& found, const ContactSet& known, ContactSet* all) {
  merge(
      found, known, [](const Contact&) { return true; }, all);
}

}  // namespace slipstick
