// Room: study. Experiments of the papers, run again and held against the published figures (docs/studies.md).
#pragma once

#include <slipstick/app/plot.h>
#include <slipstick/app/study.h>
#include <slipstick/result.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

/// When a figure agrees with the one that it is held against.
enum class FigureRule : std::uint8_t {
  Relative,  ///< |ours / published - 1| <= tolerance
  Absolute,  ///< |ours - published| <= tolerance
  AtMost     ///< ours <= published + tolerance
};

/// Where that one comes from.
enum class FigureSource : std::uint8_t {
  Paper,       ///< printed in the paper
  Theorem,     ///< the paper proves it
  ClosedForm,  ///< follows from the equations of motion with pencil and paper
  Computed     ///< another program's output: an integration from event to event, or the same method written separately
};
std::string_view name_of(FigureSource source);

struct ReproducedFigure {
  std::string experiment, quantity;
  double published = 0, ours = 0;
  double tolerance = 0;
  FigureRule rule = FigureRule::Relative;
  FigureSource source = FigureSource::Paper;
  double ratio() const { return ours == published ? 1 : ours / published; }
  bool ok() const;
};

struct Reproduction {
  std::string name, paper, citation, about;
  std::vector<ReproducedFigure> figures;
  std::vector<Plot> panels;
  long steps = 0;
  long uncertified = 0;  ///< steps that could not be certified
  std::string failure;   ///< a run that could not be finished, and why; the figures are then not complete

  bool ok() const;
};

std::vector<std::string> experiment_names();
/// Runs one experiment on the scenes of a folder. Faults: an unknown name, a scene that cannot be read, an end that the
/// monitor asked for. A failed step is a `failure` of the reproduction.
Result<Reproduction> reproduce_experiment(const std::string& name, const std::string& scenes,
                                          const StudyMonitor& monitor = {});

std::string make_reproduction_text(const std::vector<Reproduction>& all);
std::string make_reproduction_json(const std::vector<Reproduction>& all);
/// NAME.png for each experiment and report.html, which has them inside, in a folder that is made. Every file appears
/// whole or not at all. Empty when good.
Faults save_reproduction(const std::string& folder, const std::vector<Reproduction>& all);

}  // namespace slipstick
