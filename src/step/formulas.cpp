#include "step/formulas.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/as_quoted.h"
#include "mechanics/drive.h"

namespace slipstick {

namespace {

/// The instants of one step, and the first formula that fails at one of them.
class FormulaCheck {
 public:
  FormulaCheck(double t, double h, double alpha, std::span<const double> readings)
      : times_{t, t + h / 2, t + alpha * h, t + h}, readings_(readings) {}

  /// `may_be_infinite`: a bound that is none.
  void look(const Expression& formula, const std::string& whose, bool may_be_infinite = false) {
    for (const double t : times_) {
      const double value = formula.at(t, readings_);
      if (!text_.empty() || std::isfinite(value) || (may_be_infinite && !std::isnan(value))) continue;
      char place[96];
      std::snprintf(place, sizeof place, " is %g at t = %.9g s", value, t);
      text_ = whose + place;
    }
  }
  void look(const std::array<Expression, 3>& formulas, const std::string& whose) {
    for (const Expression& formula : formulas) look(formula, whose);
  }
  const std::string& text() const { return text_; }

 private:
  std::array<double, 4> times_;
  std::span<const double> readings_;
  std::string text_;
};

std::string name_load(const Model& model, const Load& load) {
  const std::string body = " on body " + as_quoted(model.bodies[load.body].name);
  return "the load " + (load.name.empty() ? body.substr(1) : as_quoted(load.name) + body);
}

}  // namespace

std::string find_formula_fault(const StepInput& input) {
  const Model& model = *input.model;
  FormulaCheck check(input.state->time, input.h, calc_alpha(*input.options),
                     input.drive ? input.drive->readings : std::span<const double>());
  for (const Body& body : model.bodies) {
    if (body.kind != BodyKind::Kinematic) continue;
    const auto& [velocity, angular_velocity, path] = *body.motion;
    check.look(velocity, "body " + as_quoted(body.name) + ": its prescribed velocity");
    check.look(angular_velocity, "body " + as_quoted(body.name) + ": its prescribed angular velocity");
    if (path.has_position) check.look(path.position, "body " + as_quoted(body.name) + ": its prescribed position");
    if (path.has_angle) check.look(path.angle, "body " + as_quoted(body.name) + ": its prescribed angle");
  }
  for (const Load& load : model.loads) {
    check.look(load.force, name_load(model, load) + ": its force");
    check.look(load.torque, name_load(model, load) + ": its torque");
  }
  for (const Axis& axis : model.axes) {
    if (!axis.motor) continue;
    const std::string motor = "the motor of joint " + as_quoted(model.joints[axis.joint].name) + ": its ";
    const char* const target = axis.motor->drives_position ? "position" : axis.motor->drives_force ? "torque" : "speed";
    check.look(axis.motor->target, motor + target);
    check.look(axis.motor->max, motor + "largest force", true);
    if (axis.motor->max_speed) check.look(*axis.motor->max_speed, motor + "largest speed", true);
  }
  return check.text();
}

bool has_numbers(const Problem& problem) {
  const auto finite = [](double x) { return std::isfinite(x); };
  const auto number = [](double x) { return !std::isnan(x); };
  return std::all_of(problem.b.begin(), problem.b.end(), finite) &&
         std::all_of(problem.c.begin(), problem.c.end(), finite) &&
         std::all_of(problem.lower.begin(), problem.lower.end(), number) &&
         std::all_of(problem.upper.begin(), problem.upper.end(), number);
}

}  // namespace slipstick
