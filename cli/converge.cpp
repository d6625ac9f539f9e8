#include "commands.h"
#include "scene_arguments.h"
#include "stop.h"
#include "terminal.h"

#include <slipstick/app/study.h>

#include <filesystem>
#include <numeric>

namespace {

/// "2^-5..2^-9" and the reference to numbers; says what is wrong.
std::optional<slipstick::StepRange> read_range(const ConvergeArguments& arguments) {
  const std::size_t dots = arguments.steps.find("..");
  if (dots == std::string::npos) {
    say("converge", "--steps '" + arguments.steps + "': must be A..B, for example 2^-5..2^-9");
    return std::nullopt;
  }
  std::string fault;
  const auto first = read_expression("--steps", arguments.steps.substr(0, dots), &fault);
  const auto last = first ? read_expression("--steps", arguments.steps.substr(dots + 2), &fault) : std::nullopt;
  std::optional<double> reference = 0.0;
  if (last && arguments.reference != "finest") {
    reference = read_expression("--reference", arguments.reference, &fault);
    if (reference && !(*reference > 0)) {
      fault = "--reference '" + arguments.reference + "': must be finest or a positive time in seconds";
      reference.reset();
    }
  }
  if (first && last && reference) return slipstick::StepRange{*first, *last, *reference};
  say("converge", fault);
  return std::nullopt;
}

bool is_picture(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (path.empty() || ending == ".png" || ending == ".svg") return true;
  say("converge", path + ": a picture's name must end in .png or .svg");
  return false;
}

}  // namespace

int converge(const ConvergeArguments& arguments) {
  const std::optional<slipstick::StepRange> range = read_range(arguments);
  if (!range || !is_picture(arguments.plot)) return kBadInput;
  const std::optional<slipstick::Scene> scene = load("converge", arguments.scene, arguments.simulation);
  if (!scene) return kBadInput;
  listen_for_stop();
  ProgressBar bar(true);
  const auto watch = [&bar](std::string_view run, double part) {
    bar.update(run, part);
    return !stop_requested();
  };
  const slipstick::Result<slipstick::ConvergenceStudy> study = slipstick::calc_convergence(*scene, *range, watch);
  bar.erase();
  if (!study) {
    if (stop_requested()) return kInterrupted;
    for (const slipstick::Fault& fault : study.faults()) say("converge", fault.text());
    return study.faults()[0].place.file.empty() ? kBadInput : kFailed;  // a failed run names its scene
  }
  bool good =
      write_out(arguments.json ? slipstick::make_convergence_json(*study) : slipstick::make_convergence_text(*study));
  if (!arguments.plot.empty()) {
    const slipstick::Faults faults = slipstick::save_plot(arguments.plot, slipstick::make_convergence_plots(*study));
    for (const slipstick::Fault& fault : faults) say("converge", fault.text());
    good = good && faults.empty();
  }
  const long uncertified =
      std::accumulate(study->uncertified.begin(), study->uncertified.end(), study->reference_uncertified);
  if (uncertified > 0) say("converge", "warning: " + std::to_string(uncertified) + " steps could not be certified");
  return good ? kDone : kFailed;
}
