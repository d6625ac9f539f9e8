#include "step/landing.h"

#include <algorithm>
#include <cmath>

#include "base/se3.h"
#include "step/flight.h"
#include "step/impact_stage.h"

namespace slipstick {

namespace {

/// Of the approach at the beginning: a gap that this would not close is not closed by its acceleration either.
constexpr double kFarther = 1.5;

bool moves(const Model& model, int body) { return body >= 0 && model.bodies[body].kind == BodyKind::Dynamic; }

/// Speed at which the gap closes, m/s.
double calc_approach(std::span<const Pose> pose, std::span<const Twist> velocity, const Contact& contact) {
  const auto speed = [&](int body, const Vec3& point) {
    if (body < 0) return 0.0;
    const Pose& q = pose[body];
    return contact.normal.dot(point_velocity(q, velocity[body], q.orientation.conjugate() * (point - q.position)));
  };
  return speed(contact.body_a, contact.point_a) - speed(contact.body_b, contact.point_b);
}

/// When a gap that closes with w at once, and with `gained` more after the step, is closed: a share of the step, above
/// 1 if not within it.
double calc_closing_share(double gap, double w, double gained, double h) {
  const double way = gap / h;  // = w s + gained s^2/2
  if (way <= 0) return 0;
  const double root = w * w + 2 * gained * way;
  return root < 0 ? 2 : 2 * way / (w + std::sqrt(root));
}

const ContactMemory* find_memory(const State& state, const ContactKey& key) {
  const auto place = std::lower_bound(state.contact_memory.begin(), state.contact_memory.end(), key,
                                      [](const ContactMemory& each, const ContactKey& k) { return each.key < k; });
  return place != state.contact_memory.end() && place->key == key ? &*place : nullptr;
}

}  // namespace

Landings::Landings(const Model& model) : model_(model), free_(model.bodies.size(), 0) {
  for (std::size_t i = 0; i < free_.size(); ++i)
    free_[i] = moves(model, static_cast<int>(i)) && model.bodies[i].dof > 0 ? 1 : 0;
  const auto hold = [&](int body) {
    if (body >= 0) free_[body] = 0;
  };
  for (const Joint& joint : model.joints) hold(joint.a), hold(joint.b);
  for (const Spring& spring : model.springs) hold(spring.a), hold(spring.b);
}

/// The body of a contact with the surroundings that could come down on them, or -1. Points of a rim that rolls come
/// down one after the other, and none of them hits: what does, has its impulses at both ends of the step anyway.
int Landings::find_lone(const Contact& contact) const {
  if (contact.limit >= 0 || contact.central) return -1;
  const bool a = moves(model_, contact.body_a), b = moves(model_, contact.body_b);
  const int body = a ? contact.body_a : contact.body_b;
  return a != b && free_[body] && !meets_[body] && (rolling_.empty() || !rolling_[body]) ? body : -1;
}

void Landings::find_lags(const StepInput& input) {
  lag_.assign(model_.bodies.size(), -1);
  for (const ContactMemory& memory : input.state->contact_memory) {
    if (!memory.loaded || memory.key.shape_a < 0) continue;
    for (const int shape : {memory.key.shape_a, memory.key.shape_b}) lag_[model_.shapes[shape].body] = 0.5 * input.h;
  }
}

/// When the body touches, as a share of the step; above 1: not within it. Its acceleration is that of the last step
/// where something carries it, and that of gravity where it flies.
double Landings::calc_share(const StepInput& input, const Contact& contact, int body) const {
  const State& state = *input.state;
  const double approach = calc_approach(state.pose, speed_, contact);
  double gained = 0;  // in a step
  const double lag = std::max(lag_[body], 0.0);
  if (lag_[body] < 0)
    gained = input.h * model_.bodies[body].gravity_scale * model_.gravity.dot(contact.normal) *
             (body == contact.body_a ? 1 : -1);
  else if (state.previous_velocity.size() == speed_.size())
    gained = input.h / input.h_nominal * (approach - calc_approach(state.pose, state.previous_velocity, contact));
  const double most = calc_plastic_speed(model_, input.h_nominal);
  gained = std::clamp(gained, -most, most);
  return calc_closing_share(contact.gap, approach + gained * lag / input.h, gained, input.h);
}

bool Landings::find_touches(const StepInput& input, std::span<const char> handled) {
  const State& state = *input.state;
  const double plastic = calc_plastic_speed(model_, input.h_nominal);
  if (handled.empty())
    meets_.assign(model_.bodies.size(), 0);
  else
    meets_.assign(handled.begin(), handled.end());
  for (const Contact& contact : input.contacts->contacts)
    if (moves(model_, contact.body_a) && moves(model_, contact.body_b))
      meets_[contact.body_a] = meets_[contact.body_b] = 1;
  bool any = false;
  for (const Contact& contact : input.contacts->contacts) {
    const int body = find_lone(contact);
    if (body < 0) continue;
    const double approach = calc_approach(state.pose, speed_, contact);
    if (approach < plastic || contact.gap > kFarther * input.h * approach) continue;
    const ContactMemory* memory = find_memory(state, contact.key);
    if (memory != nullptr && memory->closed) continue;  // the second part of the last step's impact
    if (!any) {
      find_lags(input);
      landing_.assign(model_.bodies.size(), {});
    }
    any = true;
    const double share = calc_share(input, contact, body);
    Landing& landing = landing_[body];
    if (share <= 1 && (landing.share < 0 || share < landing.share)) landing.share = share;
  }
  return any && std::any_of(landing_.begin(), landing_.end(), [](const Landing& each) { return each.share >= 0; });
}

/// Gravity and loads act until the touch.
void Landings::fall(const StepInput& input, State* restarted) {
  const State& state = *input.state;
  if (!model_.loads.empty() || input.drive)
    update_loads(model_, input.drive, state.pose, state.time, &load_);
  else
    load_.assign(model_.bodies.size(), Vec6::Zero());
  *restarted = state;
  gravity_work_ = load_work_ = 0;
  for (std::size_t i = 0; i < landing_.size(); ++i) {
    Landing& landing = landing_[i];
    if (landing.share < 0) continue;
    const Body& body = model_.bodies[i];
    landing.acted = std::max(lag_[i], 0.0) + landing.share * input.h;
    Vec6 gravity = Vec6::Zero();
    gravity.head<3>() = landing.acted * body.mass * body.gravity_scale * model_.gravity;
    const Vec6 load = landing.acted * load_[i];
    const Twist kick = calc_kick(body, gravity + load);
    Twist& v = restarted->velocity[i];
    const Twist mean{v.linear + 0.5 * kick.linear, v.angular + 0.5 * kick.angular};
    gravity_work_ += gravity.head<3>().dot(mean.linear);
    load_work_ += load.head<3>().dot(mean.linear) + load.tail<3>().dot(mean.angular);
    v = {v.linear + kick.linear, v.angular + kick.angular};
  }
}

/// And so does what carries the body, where it is then.
bool Landings::carry(const StepInput& input, ContactFinder* finder, StepSolver* ladder, State* restarted) {
  const State& state = *input.state;
  result_ = {};
  carried_.assign(model_.bodies.size(), 0);
  for (std::size_t i = 0; i < landing_.size(); ++i) carried_[i] = landing_[i].share >= 0 && lag_[i] >= 0;
  if (std::find(carried_.begin(), carried_.end(), 1) == carried_.end()) return true;
  touch_ = state;
  reach_.assign(model_.bodies.size(), 0.0);
  for (std::size_t i = 0; i < landing_.size(); ++i) {
    if (!carried_[i]) continue;
    touch_.pose[i] = move(state.pose[i], state.velocity[i], landing_[i].share * input.h);
    reach_[i] =
        input.h * (state.velocity[i].linear.norm() + state.velocity[i].angular.norm() * model_.bodies[i].reach_radius);
  }
  finder->find(touch_, reach_, carried_, &found_);
  carrying_.contacts.clear();
  for (const Contact& contact : found_.contacts) {
    const int body = find_lone(contact);
    if (body < 0 || !carried_[body]) continue;
    const ContactMemory* memory = find_memory(state, contact.key);
    if (memory != nullptr && memory->loaded) carrying_.contacts.push_back(contact);
  }
  ImpactInput impact;
  impact.step = carried_at(input);
  impact.plastic = true;
  impact.taking_part = carried_;
  ignored_.clear();
  result_ = apply_impact(impact, ladder, &scratch_, &restarted->velocity, &ignored_);
  return !result_.happened || result_.solve.certified;
}

StepInput Landings::carried_at(const StepInput& input) const {
  StepInput at = input;
  at.state = &touch_;
  at.contacts = &carrying_;
  at.h = 0;
  return at;
}

void Landings::aim(const ContactSet& given, ContactSet* aimed) const {
  *aimed = given;
  for (Contact& contact : aimed->contacts) {
    const int body = find_lone(contact);
    if (body < 0 || landing_[body].share < 0 || contact.gap <= 0) continue;
    (body == contact.body_a ? contact.point_b : contact.point_a) =
        body == contact.body_a ? contact.point_a : contact.point_b;
  }
}

bool Landings::run(const StepInput& input, std::span<const char> handled, ContactFinder* finder, StepSolver* ladder,
                   State* restarted) {
  landing_.clear();
  result_ = {};
  rolling_ = input.rolling;
  if (std::find(free_.begin(), free_.end(), 1) == free_.end()) return false;
  speed_ = input.state->velocity;
  for (std::size_t i = 0; i < speed_.size(); ++i)
    if (model_.bodies[i].kind == BodyKind::Kinematic) speed_[i] = input.prescribed[i];
  if (find_touches(input, handled)) {
    fall(input, restarted);
    if (carry(input, finder, ladder, restarted)) return true;
  }
  landing_.clear();
  result_ = {};
  return false;
}

}  // namespace slipstick
