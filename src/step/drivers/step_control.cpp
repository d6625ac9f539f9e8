#include "step/drivers/step_control.h"

#include <algorithm>
#include <cmath>

namespace slipstick {

namespace {

/// Of the next length by r: safety, and the powers of r and of the r before.
constexpr double kSafety = 0.9, kPower = 0.35, kPowerBefore = 0.2;
constexpr double kShrink = 0.3, kGrow = 2;
/// A part that cannot be judged is this share of the length that could.
constexpr double kUnjudged = 0.25;
/// The first part of all, and the shortest, as shares of a step.
constexpr double kFirst = 1.0 / 64, kShortest = 1.0 / (1 << 16);
/// Below this r all the same: nothing is known about how much longer the next part may be.
constexpr double kLeastRatio = 1e-6;

/// What a turn moves: the farthest point, or of a body without shapes its matter.
double calc_size(const Body& body) {
  return std::max(body.reach_radius, body.mass > 0 ? std::sqrt(body.inertia.trace() / (2 * body.mass)) : 0.0);
}

}  // namespace

void PaceReport::add(const PaceReport& step) {
  parts += step.parts;
  rejected += step.rejected;
  coarse += step.coarse;
  error += step.error;
  if (step.shortest > 0) shortest = shortest > 0 ? std::min(shortest, step.shortest) : step.shortest;
}

double StepControl::least() const { return kShortest * options_.step; }

double StepControl::choose(double left) {
  if (!(pace_.next > 0)) pace_.next = kFirst / kUnjudged * options_.step;
  const double asked = std::max(pace_.acceleration.empty() ? kUnjudged * pace_.next : pace_.next, least());
  if (asked >= left) return left;
  return 2 * asked > left ? left / 2 : asked;  // no crumbs before the end
}

/// m, of the worst body; fills `acceleration_`.
double StepControl::calc_error(const State& start, const State& end, double h) {
  const std::size_t bodies = model_.bodies.size();
  acceleration_.assign(bodies, {});
  const bool judged = !pace_.acceleration.empty();
  double worst = 0;
  for (std::size_t i = 0; i < bodies; ++i) {
    if (model_.bodies[i].kind != BodyKind::Dynamic) continue;
    const Twist &v = start.velocity[i], &w = end.velocity[i];
    Twist& a = acceleration_[i];
    a = {(w.linear - v.linear) / h, (w.angular - v.angular) / h};
    if (!judged) continue;
    const double between = (h + pace_.last) / 2;
    const Twist& before = pace_.acceleration[i];
    const double moved = (a.linear - before.linear).norm() / between;
    const Vec3 middle = (v.angular + w.angular) / 2;
    const double turned = (a.angular - before.angular).norm() / between + middle.cross(a.angular).norm();
    worst = std::max({worst, moved, calc_size(model_.bodies[i]) * turned});
  }
  return h * h * h / 6 * worst;
}

bool StepControl::accept(const State& start, const State& end, double h, PaceReport* report) {
  const double error = calc_error(start, end, h);
  const bool judged = !pace_.acceleration.empty();
  const double r = std::max(error / (options_.accuracy * h), kLeastRatio);
  if (judged && r > 1 && h > least()) {
    pace_.next = std::max(h * std::max(kShrink, kSafety / std::sqrt(r)), least());
    ++report->rejected;
    return false;
  }
  ++report->parts;
  report->error += error;
  if (r > 1) ++report->coarse;
  report->shortest = report->shortest > 0 ? std::min(report->shortest, h) : h;
  if (judged) {
    const double before = pace_.ratio > 0 ? pace_.ratio : r;
    const double factor = kSafety * std::pow(r, -kPower) * std::pow(before, kPowerBefore);
    pace_.next = std::clamp(h * factor, kShrink * h, std::max(kGrow * h, pace_.next));
    pace_.ratio = r;
  }
  pace_.last = h;
  std::swap(pace_.acceleration, acceleration_);
  return true;
}

}  // namespace slipstick
