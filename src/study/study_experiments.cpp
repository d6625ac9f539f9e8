// The experiments by name. Each is a function in a file of its theme; published numbers are data there.
#include "study/study_runs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "study/study_spook.h"

namespace slipstick {
namespace {

struct Experiment {
  const char* name;
  Result<Reproduction> (*run)(const std::string& scenes, const StudyMonitor& monitor);
};
/// By paper: the report has a heading for each.
constexpr std::array kExperiments{
    Experiment{"double-pendulum", reproduce_pendulum},
    Experiment{"two-carts", reproduce_carts},
    Experiment{"ball-and-wall", reproduce_ball},
    Experiment{"cannonball", reproduce_cannonball},
    Experiment{"simple-joint", reproduce_simple_joint},
    Experiment{"stick-slip", reproduce_stick_slip},
    Experiment{"painleve", reproduce_painleve},
    Experiment{"spook-oscillator", reproduce_spook_oscillator},
    Experiment{"spook-pendulum", reproduce_spook_pendulum},
    Experiment{"spook-ball", reproduce_spook_ball},
    Experiment{"spook-slider-crank", reproduce_spook_crank},
    Experiment{"spook-logs", reproduce_spook_logs},
    Experiment{"spook-walls", reproduce_spook_walls},
    Experiment{"spook-squeezed-box", reproduce_spook_box},
    Experiment{"spook-loader", reproduce_spook_loader},
};

}  // namespace

std::string_view name_of(FigureSource source) {
  switch (source) {
    case FigureSource::Paper:
      return "paper";
    case FigureSource::Theorem:
      return "theorem";
    case FigureSource::ClosedForm:
      return "closed form";
    case FigureSource::Computed:
      break;
  }
  return "computed";
}

bool ReproducedFigure::ok() const {
  if (!std::isfinite(ours)) return false;
  switch (rule) {
    case FigureRule::Relative:
      return std::abs(ratio() - 1) <= tolerance;
    case FigureRule::Absolute:
      return std::abs(ours - published) <= tolerance;
    case FigureRule::AtMost:
      break;
  }
  return ours <= published + tolerance;
}

bool Reproduction::ok() const {
  return failure.empty() &&
         std::all_of(figures.begin(), figures.end(), [](const ReproducedFigure& figure) { return figure.ok(); });
}

std::vector<std::string> experiment_names() {
  std::vector<std::string> names;
  for (const Experiment& experiment : kExperiments) names.emplace_back(experiment.name);
  return names;
}

Result<Reproduction> reproduce_experiment(const std::string& name, const std::string& scenes,
                                          const StudyMonitor& monitor) {
  for (const Experiment& experiment : kExperiments)
    if (name == experiment.name) return experiment.run(scenes, monitor);
  return Fault{{}, "no experiment is called '" + name + "'"};
}

}  // namespace slipstick
