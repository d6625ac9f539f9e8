// Room: report. Line plots as PNG or SVG: one or more panels in rows, linear or logarithmic axes, a legend.
#pragma once

#include <slipstick/result.h>

#include <optional>
#include <string>
#include <vector>

namespace slipstick {

struct PlotLine {
  std::string label;  ///< in the legend; empty: not there
  std::vector<double> x, y;
  bool steps = false;    ///< y holds from one x to the next: a staircase
  bool markers = false;  ///< a dot at each point
  bool dashed = false;
  bool joined = true;                ///< by lines; otherwise points alone
  std::vector<std::string> notes{};  ///< beside the points, where there are any
};

struct PlotAxis {
  std::string label;
  bool log = false;                 ///< values that are not positive are left out
  std::optional<double> low, high;  ///< what is not given follows from the lines
};

struct Plot {
  std::string title;
  PlotAxis x, y;
  std::vector<PlotLine> lines;
};

/// The ending of `path` says which: .png or .svg. Panels with lines of the same names share one legend. Empty when
/// good.
Faults save_plot(const std::string& path, const std::vector<Plot>& panels);

}  // namespace slipstick
