// Room: report. Series of a recording, ready to be plotted.
#pragma once

#include <slipstick/app/plot.h>
#include <slipstick/result.h>

#include <string>
#include <vector>

namespace slipstick {

/// What `make_plots` knows: energy, ledger, residual, ..., speed, position, ... of a body, joint_position, ... of a
/// joint.
std::vector<std::string> plot_series_names();

/// What the series that are about one thing are about; may be empty otherwise.
struct PlotSubject {
  std::string body, joint;
  std::string sensor = {};  ///< of `sensors`: names, separated by commas; empty: all
};

/// One panel per name.
Result<std::vector<Plot>> make_plots(const std::string& recording, const std::vector<std::string>& names,
                                     const PlotSubject& subject);

}  // namespace slipstick
