#include "scene_arguments.h"

#include "terminal.h"

#include <slipstick/app/import.h>
#include <slipstick/expression.h>

#include <algorithm>
#include <cmath>

namespace {

/// A text that may be absent; a fault goes to `faults`.
void read_number(const char* option, const std::string& text, double* number, std::vector<std::string>* faults) {
  if (text.empty()) return;
  std::string fault;
  if (const std::optional<double> value = read_expression(option, text, &fault)) {
    *number = *value;
  } else {
    faults->push_back(fault);
  }
}

void read_friction(const std::string& text, slipstick::FrictionModel* model, std::vector<std::string>* faults) {
  if (text == "cone") *model = slipstick::FrictionModel::Cone;
  if (text == "pyramid") *model = slipstick::FrictionModel::Pyramid;
  if (text == "box") *model = slipstick::FrictionModel::Box;
  if (!text.empty() && text != "cone" && text != "pyramid" && text != "box")
    faults->push_back("--friction '" + text + "': must be cone, pyramid or box");
}

void read_effort(const std::string& text, slipstick::Effort* effort, std::vector<std::string>* faults) {
  if (text.empty()) return;
  const std::vector<std::string_view> names = slipstick::effort_names();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return faults->push_back("--effort '" + text + "': must be exact, balanced or swift");
  *effort = static_cast<slipstick::Effort>(found - names.begin());
}

std::vector<std::string> apply(const SimulationArguments& given, slipstick::SimulationOptions* options) {
  std::vector<std::string> faults;
  read_number("--step", given.step, &options->step, &faults);
  read_number("--duration", given.duration, &options->duration, &faults);
  read_number("--tolerance", given.tolerance, &options->tolerance, &faults);
  read_friction(given.friction, &options->friction, &faults);
  read_effort(given.effort, &options->effort, &faults);
  if (!given.scheme.empty()) options->scheme = given.scheme;
  read_number("--accuracy", given.accuracy, &options->accuracy, &faults);
  if (!given.accuracy.empty() && given.scheme.empty()) set_accuracy(options->accuracy, options);
  if (!given.solver.empty() && given.solver != options->solver) {
    options->solver = given.solver;
    options->solver_options = {};  // the scene's are for its own solver
  }
  if (given.facets) options->facets = *given.facets;
  if (given.threads) options->threads = *given.threads;
  for (slipstick::OptionFault& fault : slipstick::find_option_faults(*options))
    faults.push_back(std::move(fault.message));
  return faults;
}

/// How files are read. False, and a fault, where --set makes no sense.
bool make_import_options(const SceneArguments& arguments, slipstick::ImportOptions* import, std::string* fault) {
  slipstick::SceneLoadOptions& options = import->files;
  options.allow_path = arguments.allow_path;
  if (arguments.max_bodies) options.max_bodies = *arguments.max_bodies;
  import->key = arguments.model.key;
  import->mesh = arguments.model.mesh == "exact" ? slipstick::MeshUse::Exact : slipstick::MeshUse::Hull;
  import->free_base = arguments.model.base == "free";
  import->floor = arguments.model.floor;
  import->repair_inertia = arguments.model.repair_inertia;
  for (const std::string& item : arguments.set) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0) {
      *fault = "--set '" + item + "': must be name=value, for example --set n=20";
      return false;
    }
    options.set.emplace_back(item.substr(0, equals), item.substr(equals + 1));
  }
  return true;
}

}  // namespace

std::optional<double> read_expression(const char* option, const std::string& text, std::string* fault) {
  slipstick::ExpressionContext context;
  context.lookup = [](std::string_view) { return std::optional<double>(); };
  const auto compiled = slipstick::compile_expression(text, context);
  if (const auto* wrong = std::get_if<slipstick::ExpressionFault>(&compiled)) {
    *fault = std::string(option) + " '" + text + "': " + wrong->message;
    return std::nullopt;
  }
  return std::get<slipstick::Expression>(compiled).at(0);
}

std::optional<slipstick::Scene> load(const SceneArguments& arguments, const SimulationArguments& simulation,
                                     slipstick::Faults* faults) {
  slipstick::ImportOptions import;
  slipstick::ImportReport report;
  std::string fault;
  if (!make_import_options(arguments, &import, &fault)) {
    faults->push_back({{}, fault});
    return std::nullopt;
  }
  slipstick::Result<slipstick::Scene> scene = slipstick::load_any(arguments.scene, import, &report);
  if (!scene) {
    *faults = scene.faults();
    return std::nullopt;
  }
  for (std::string& message : apply(simulation, &scene.value().options)) faults->push_back({{}, std::move(message)});
  if (!faults->empty()) return std::nullopt;
  return std::move(scene).value();
}

std::optional<slipstick::Scene> load(const char* command, const SceneArguments& arguments,
                                     const SimulationArguments& simulation, slipstick::ImportReport* report) {
  slipstick::ImportOptions import;
  std::string wrong;
  if (!make_import_options(arguments, &import, &wrong)) {
    say(command, wrong);
    return std::nullopt;
  }
  ProgressBar bar(true);
  import.progress = [&](const std::string& what) { bar.update("reading " + arguments.scene + ": " + what);
};
slipstick::ImportReport own;
slipstick::Result<slipstick::Scene> scene = slipstick::load_any(arguments.scene, import, report ? report : &own);
bar.erase();
if (!scene) {
  for (const slipstick::Fault& fault : scene.faults()) say(fault.text());
  return std::nullopt;
}
const std::vector<std::string> faults = apply(simulation, &scene.value().options);
for (const std::string& fault : faults) say(command, fault);
if (!faults.empty()) return std::nullopt;
if (!own.ignored.empty())
  say(command, arguments.scene + ": " + std::to_string(own.ignored.size()) +
                   " items of the model are not modelled; 'slipstick convert " + arguments.scene +
                   " --report' lists them");
return std::move(scene).value();
}
