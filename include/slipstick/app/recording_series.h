// Room: report. Series of a recording, ready to be plotted.
#pragma once

#include <slipstick/app/plot.h>
#include <slipstick/result.h>

#include <string>
#include <vector>

namespace slipstick {

/// What `make_plots` knows: energy, ledger, residual, ..., and speed, position, ... of a body.
std::vector<std::string> plot_series_names();

/// One panel a name. `body`: for the series that are about one; may be empty otherwise.
Result<std::vector<Plot>> make_plots(const std::string& recording, const std::vector<std::string>& names,
                                     const std::string& body);

}  // namespace slipstick
