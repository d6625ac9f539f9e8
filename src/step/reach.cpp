#include "step/reach.h"

#include <algorithm>

#include "step/overlap.h"

namespace slipstick {

namespace {

/// How much faster than now a body may leave a step before its active set is looked at again (stage 10).
constexpr double kSpeedMargin = 1.25;
constexpr double kSwiftSlack = 0.1;  // of the thickness

double calc_speed(const Body& body, const Twist& v) { return v.linear.norm() + v.angular.norm() * body.reach_radius; }

}  // namespace

Reach::Reach(const Model& model, Effort effort)
    : model_(model), speed_(model.bodies.size()), length_(model.bodies.size()) {
  if (effort != Effort::Swift) return;
  slack_ = calc_thicknesses(model);
  for (double& slack : slack_) slack *= kSwiftSlack;
}

void Reach::assume(const State& state, std::span<const Twist> prescribed, double h) {
  h_ = h;
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const Body& body = model_.bodies[i];
    if (body.kind == BodyKind::Fixed) speed_[i] = 0;
    if (body.kind == BodyKind::Kinematic) speed_[i] = calc_speed(body, prescribed[i]);
    if (body.kind != BodyKind::Dynamic) continue;
    // A body that has just been stopped may rebound: what it did one step ago counts too.
    double now = calc_speed(body, state.velocity[i]);
    if (!state.previous_velocity.empty()) now = std::max(now, calc_speed(body, state.previous_velocity[i]));
    speed_[i] = kSpeedMargin * (now + 2 * h * model_.gravity.norm());
  }
}

bool Reach::is_faster(std::size_t i, double more, const State& next) const {
  return model_.bodies[i].kind == BodyKind::Dynamic &&
         calc_speed(model_.bodies[i], next.velocity[i]) > speed_[i] + more;
}

bool Reach::covers(const State& next) const {
  for (std::size_t i = 0; i < model_.bodies.size(); ++i)
    if (model_.bodies[i].shape_count > 0 && is_faster(i, slack_.empty() ? 0.0 : slack_[i] / h_, next)) return false;
  return true;
}

std::span<const char> Reach::raise(const State& next) {
  raised_.assign(model_.bodies.size(), 0);
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    if (!is_faster(i, 0, next)) continue;
    speed_[i] = kSpeedMargin * calc_speed(model_.bodies[i], next.velocity[i]);
    raised_[i] = 1;
  }
  return raised_;
}

std::span<const double> Reach::lengths(double h) {
  for (std::size_t i = 0; i < speed_.size(); ++i) length_[i] = speed_[i] * h;
  return length_;
}

}  // namespace slipstick
