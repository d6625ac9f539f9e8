// What a simulation may be asked for, and what is wrong with it if it may not.
#include <cmath>
#include <utility>

#include "base/closest_name.h"
#include "step/scheme.h"
#include "step/step_solver.h"

namespace slipstick {

namespace {

std::string unknown(const std::string& what, const std::string& name, const std::vector<std::string_view>& known) {
  std::string text = "unknown " + what + " '" + name + "'";
  const std::vector<std::string> names(known.begin(), known.end());
  if (const auto near = closest_name(name, names)) return text + "; did you mean '" + *near + "'?";
  text += " (known:";
  for (const std::string& each : names) text += " " + each;
  return text + ")";
}

bool contains(const std::vector<std::string_view>& names, const std::string& name) {
  for (const std::string_view each : names)
    if (each == name) return true;
  return false;
}

}  // namespace

bool can_choose_steps(const SimulationOptions& options) {
  const auto scheme = make_scheme(options.scheme);
  if (!scheme || !scheme->locates(options)) return false;
  const Weights weights = scheme->weights(options);
  return weights.alpha == 0.5 && weights.gamma == 0.5;
}

void set_accuracy(double accuracy, SimulationOptions* options) {
  options->accuracy = accuracy;
  if (accuracy > 0 && !can_choose_steps(*options)) options->scheme = "trapezoid";
}

std::string make_solver_text(const SimulationOptions& options) {
  if (!options.prototype) return options.solver;
  return std::string(options.prototype->name()) + " before " + options.solver;
}

std::vector<OptionFault> find_option_faults(const SimulationOptions& o) {
  std::vector<OptionFault> faults;
  const auto require = [&faults](bool good, const char* item, const char* key, const char* text) {
    if (!good) faults.push_back({item, key, text});
  };
  require(std::isfinite(o.step) && o.step > 0, "", "step", "step must be a positive time in seconds");
  require(std::isfinite(o.duration) && o.duration >= 0, "", "duration",
          "duration must be a time in seconds, zero or more");
  require(!(o.step > 0) || o.duration / o.step <= 1e12, "", o.duration > 1e6 ? "duration" : "step",
          "duration / step is more than 1e12 steps");
  require(std::isfinite(o.accuracy) && o.accuracy >= 0, "", "accuracy",
          "accuracy must be a length in metres (the error allowed per second of motion)");
  require(!(o.accuracy > 0) || !contains(scheme_names(), o.scheme) || can_choose_steps(o), "", "accuracy",
          "accuracy needs a scheme of second order with located events: trapezoid, or alpha-gamma with both at 1/2");
  require(o.tolerance > 0 && o.tolerance < 1, "", "tolerance", "tolerance must lie between 0 and 1");
  require(o.budget >= 0, "", "budget", "budget must be a number of sweeps, 0 for what the effort says");
  require(o.heap_tolerance >= 0 && o.heap_tolerance < 1, "", "heap_tolerance",
          "heap_tolerance must lie between 0 and 1");
  require(!o.restitution_threshold || *o.restitution_threshold >= 0, "", "restitution_threshold",
          "restitution_threshold must not be negative");
  require(o.facets >= 4 && o.facets <= 64 && o.facets % 2 == 0, "friction", "facets",
          "facets must be an even number from 4 to 64");
  require(o.threads >= 1 && o.threads <= 1024, "", "threads", "threads must be a number from 1 to 1024");
  for (const std::string_view name : scheme_names()) make_scheme(name)->find_faults(o, &faults);
  if (o.reduce_contacts && contains(scheme_names(), o.scheme)) {
    const auto scheme = make_scheme(o.scheme);
    require(
        scheme->looks_ahead() && !scheme->locates(o), "", "reduce_contacts",
        "reduce_contacts needs fixed steps (scheme stabilized or spook, without locate): events follow each contact");
  }
  for (OptionFault& fault : find_solver_option_faults(o.solver_options)) faults.push_back(std::move(fault));
  if (!contains(scheme_names(), o.scheme))
    faults.push_back({"", "scheme", unknown("scheme", o.scheme, scheme_names())});
  if (!contains(solver_choices(), o.solver)) {
    faults.push_back({"", "solver", unknown("solver", o.solver, solver_choices())});
  } else if (const auto solver = make_solver(o.solver)) {
    const SolverTraits traits = solver->traits();
    const bool can = o.friction == FrictionModel::Cone      ? traits.cone
                     : o.friction == FrictionModel::Pyramid ? traits.pyramid
                                                            : traits.box_friction;
    if (!can)
      faults.push_back(
          {"", "solver", "solver '" + o.solver + "' cannot do this friction model; choose another, or solver 'auto'"});
  }
  return faults;
}

std::vector<std::string_view> effort_names() { return {"exact", "balanced", "swift"}; }

long calc_step_count(const SimulationOptions& options) {
  return static_cast<long>(std::ceil(options.duration / options.step - 1e-6));
}

}  // namespace slipstick
