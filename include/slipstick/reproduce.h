// Room: io. Experiments of the papers, run again and held against the published figures (docs/studies.md).
#pragma once

#include <slipstick/plot.h>
#include <slipstick/result.h>

#include <string>
#include <vector>

namespace slipstick {

struct ReproducedFigure {
  std::string experiment, quantity;
  double published = 0, ours = 0;
  double tolerance = 0;  ///< relative, on ours / published
  double ratio() const { return ours / published; }
  bool ok() const;
};

struct Reproduction {
  std::string name, citation, about;
  std::vector<ReproducedFigure> figures;
  std::vector<Plot> panels;
  long uncertified = 0;  ///< steps that could not be certified
};

std::vector<std::string> experiment_names();
/// Runs one experiment on the scenes of a folder. Faults: an unknown name, a scene that cannot be read, a failed step.
Result<Reproduction> reproduce_experiment(const std::string& name, const std::string& scenes);

std::string make_reproduction_text(const std::vector<Reproduction>& all);
std::string make_reproduction_json(const std::vector<Reproduction>& all);
/// NAME.png for each experiment and report.html, which has them inside, in a folder that is made. Empty when good.
Faults save_reproduction(const std::string& folder, const std::vector<Reproduction>& all);

}  // namespace slipstick
