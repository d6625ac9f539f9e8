// slipstick plot: series of a recording as a picture, for scripts.
#include "closest.h"
#include "commands.h"
#include "terminal.h"

#include <slipstick/app/plot.h>
#include <slipstick/app/recording_series.h>

#include <algorithm>

int plot(const PlotArguments& arguments) {
  const std::vector<std::string> known = slipstick::plot_series_names();
  const std::vector<std::string> wanted = split_names(arguments.what);
  if (wanted.empty()) {
    say("plot", "--what names at least one of " + join(known));
    return kBadInput;
  }
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string hint = make_hint(name, known);
    say("plot", "nothing is called '" + name + "'" + (hint.empty() ? ";" : hint) + " There are " + join(known));
    return kBadInput;
  }
  const auto panels =
      slipstick::make_plots(arguments.recording, wanted, {arguments.body, arguments.joint, arguments.sensor});
  const slipstick::Faults faults = panels ? slipstick::save_plot(arguments.output, *panels) : panels.faults();
  for (const slipstick::Fault& fault : faults) say("plot", fault.text());
  return faults.empty() ? kDone : kBadInput;
}
