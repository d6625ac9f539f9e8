#include "step/impact_stage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "step/assemble.h"
#include "step/flight.h"

namespace slipstick {

namespace {

/// Impacts that follow each other at one instant: more of them are left to the rows of the step.
constexpr std::size_t kMostPasses = 20, kMostPilePasses = 3;
/// From this e on a pile has as many as others: what is left to the rows is plastic, and that is what would be missed.
constexpr double kElastic = 0.9;
/// Contacts of one impact up to which all that touch take part. In a larger pile those of the bodies that are struck
/// do, and what they are given goes on in the next pass.
constexpr std::size_t kAllTogether = 12;

bool rebounds(const PairLaw& law) { return law.restitution > 0 || law.tangential_restitution > 0; }

}  // namespace

double calc_plastic_speed(const Model& model, double h) { return std::max(1e-3, 2 * h * model.gravity.norm()); }

void ImpactStage::update_acceleration(const StepInput& input) {
  const Model& model = *input.model;
  acceleration_.assign(model.bodies.size(), {});
  moves_.resize(model.bodies.size());
  for (std::size_t i = 0; i < moves_.size(); ++i) moves_[i] = model.bodies[i].kind == BodyKind::Dynamic;
  if (!model.loads.empty() || input.drive)
    update_loads(model, input.drive, input.state->pose, input.state->time, &load_);
  else
    load_.assign(model.bodies.size(), Vec6::Zero());
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const Body& body = model.bodies[i];
    if (body.kind != BodyKind::Dynamic || body.dof == 0) continue;
    Vec6 force = load_[i];
    force.head<3>() += body.mass * body.gravity_scale * model.gravity;
    acceleration_[i] = calc_kick(body, force);
  }
}

/// Whether anything that rebounds may close faster than `threshold`, by the speeds of centres and spins alone: what
/// rests, or hardly moves, needs no rows to know that it does not.
bool ImpactStage::may_be_due(const Model& model, std::span<const Pose> pose, double threshold) const {
  constexpr double kRounding = 0.999;
  if (!(threshold > 0)) return true;
  const auto spin = [&](int body, const Vec3& point) {
    return body < 0 ? 0 : velocity_[body].angular.norm() * (point - pose[body].position).norm();
  };
  return std::any_of(all_.contacts.begin(), all_.contacts.end(), [&](const Contact& contact) {
    if (!rebounds(law_of(model, contact))) return false;
    if (contact.limit >= 0) return true;
    const Vec3 point = 0.5 * (contact.point_a + contact.point_b);
    double speed = -spin(contact.body_a, point) - spin(contact.body_b, point);
    if (contact.body_a >= 0) speed -= contact.normal.dot(velocity_[contact.body_a].linear);
    if (contact.body_b >= 0) speed += contact.normal.dot(velocity_[contact.body_b].linear);
    return speed < -kRounding * threshold;
  });
}

/// What touches, and with `ahead` what rebounds and will close; fills `restitution_` too.
bool ImpactStage::is_due(const StepInput& input, bool ahead, double threshold, ContactSet* touching) {
  const Model& model = *input.model;
  touching->contacts.clear();
  restitution_.clear();
  due_.clear();
  bool due = false;
  double largest = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Contact& contact = all_.contacts[i];
    const PairLaw& law = law_of(model, contact);
    const ContactRows& rows = rows_[i];
    const double speed = calc_pair_speed(velocity_, rows.body_a, rows.body_b, rows.row[0]);
    const double approach = -calc_pair_speed(acceleration_, rows.body_a, rows.body_b, rows.row[0]);
    const bool fast = rebounds(law) && speed < -threshold;
    const bool closes = contact.gap + input.h * (speed - 0.5 * input.h * approach) < 0;
    if (contact.gap > 0 && !(ahead && fast && closes)) continue;
    const double e = law.restitution;
    double share = e * e;
    if (ahead && fast) share -= (1 - e * e) * 2 * approach * contact.gap / (speed * speed);
    touching->contacts.push_back(contact);
    restitution_.push_back(fast ? std::sqrt(std::clamp(share, 0.0, 1.0)) : e);
    due_.push_back(fast);
    due = due || fast;
    if (fast) largest = std::max(largest, e);
  }
  const bool is_pile = touching->contacts.size() > kAllTogether;
  if (due && is_pile) keep_near(touching);
  ends_early_ = is_pile && largest < kElastic;
  return due;
}

/// Contacts that are due, and those of their bodies.
void ImpactStage::keep_near(ContactSet* touching) {
  struck_.assign(velocity_.size(), 0);
  std::vector<Contact>& contacts = touching->contacts;
  const auto bodies = [&](const Contact& contact) { return std::array{contact.body_a, contact.body_b}; };
  for (std::size_t i = 0; i < contacts.size(); ++i)
    for (const int body : bodies(contacts[i]))
      if (due_[i] && body >= 0 && moves_[body]) struck_[body] = 1;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    bool near = false;
    for (const int body : bodies(contacts[i])) near = near || (body >= 0 && struck_[body]);
    if (!near) continue;
    contacts[kept] = contacts[i];
    restitution_[kept++] = restitution_[i];
  }
  contacts.resize(kept);
  restitution_.resize(kept);
}

/// The bodies of these contacts, and all that joints hold: those pass on what they are given. The others keep their
/// velocities, to the last bit, whatever there is elsewhere.
std::span<const char> ImpactStage::find_taking_part(const Model& model, const ContactSet& touching) {
  taking_part_.assign(model.bodies.size(), 0);
  const auto take = [&](int body) {
    if (body >= 0) taking_part_[body] = 1;
  };
  for (const Contact& contact : touching.contacts) take(contact.body_a), take(contact.body_b);
  for (const Joint& joint : model.joints) take(joint.a), take(joint.b);
  return taking_part_;
}

bool ImpactStage::run(const StepInput& input, const Scheme& scheme, bool ahead, StepSolver* ladder, State* restarted,
                      std::span<const char> handled) {
  const Model& model = *input.model;
  events_.clear();
  count_ = 0;
  const std::vector<Contact>& given = input.contacts->contacts;
  if (std::none_of(given.begin(), given.end(),
                   [&](const Contact& contact) { return !contact.central && rebounds(law_of(model, contact)); }))
    return false;
  all_.contacts.clear();
  const auto is_handled = [&](int body) { return !handled.empty() && body >= 0 && handled[body] != 0; };
  std::copy_if(given.begin(), given.end(), std::back_inserter(all_.contacts), [&](const Contact& contact) {
    return !contact.central && (contact.limit >= 0 || !(is_handled(contact.body_a) || is_handled(contact.body_b)));
  });
  velocity_ = input.state->velocity;
  for (std::size_t i = 0; i < velocity_.size(); ++i)
    if (model.bodies[i].kind == BodyKind::Kinematic) velocity_[i] = input.prescribed[i];
  const double threshold = input.options->restitution_threshold.value_or(calc_plastic_speed(model, input.h_nominal));
  if (!may_be_due(model, input.state->pose, threshold)) return false;
  update_acceleration(input);
  update_contact_rows(model, input.state->pose, all_, &rows_, input.state->time, velocity_);
  ends_early_ = false;
  while (count_ < (ends_early_ ? kMostPilePasses : kMostPasses)) {
    if (count_ == passes_.size()) passes_.emplace_back();
    Pass& pass = passes_[count_];
    if (!is_due(input, ahead, threshold, &pass.contacts)) break;
    ImpactInput impact;
    impact.step = input;
    impact.step.contacts = &pass.contacts;
    impact.step.h = 0;
    impact.scheme = &scheme;
    impact.restitution = restitution_;
    impact.taking_part = find_taking_part(model, pass.contacts);
    impact.plastic_speed = calc_plastic_speed(model, input.h_nominal);
    pass.result = apply_impact(impact, ladder, &pass.scratch, &velocity_, &events_);
    if (!pass.result.happened) break;
    ++count_;
  }
  if (count_ == 0) return false;
  *restarted = *input.state;
  restarted->velocity = velocity_;
  restarted->previous_velocity.clear();
  return true;
}

}  // namespace slipstick
