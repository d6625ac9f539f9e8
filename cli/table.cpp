// slipstick table: series of a recording as CSV.
#include "closest.h"
#include "commands.h"
#include "output_paths.h"
#include "terminal.h"

#include <slipstick/app/table.h>
#include <slipstick/output_file.h>

#include <algorithm>

namespace {

/// What there is, one line each.
std::string make_listing() {
  const std::vector<slipstick::TableSeries> all = slipstick::table_series();
  std::size_t width = 0;
  for (const auto& series : all) width = std::max(width, series.name.size());
  std::string text;
  for (const auto& series : all)
    text += series.name + std::string(width + 2 - series.name.size(), ' ') + series.about + "\n";
  return text;
}

/// False, and the user told, if a name is not among the known ones.
bool check_names(const std::vector<std::string>& typed, const std::vector<std::string>& known, const char* what) {
  for (const std::string& name : typed) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string hint = make_hint(name, known);
    say("table", std::string(what) + " '" + name + "'" +
                     (hint.empty() ? "; 'slipstick table RUN.h5 --what list' says what there is" : hint));
    return false;
  }
  return true;
}

}  // namespace

int table(const TableArguments& arguments) {
  slipstick::TableRequest request{arguments.recording, split_names(arguments.what), split_names(arguments.body),
                                  split_names(arguments.joint)};
  const auto names = slipstick::read_table_names(arguments.recording);
  if (!names) {
    for (const slipstick::Fault& fault : names.faults()) say("table", fault.text());
    return kBadInput;
  }
  if (request.what.empty() || request.what == std::vector<std::string>{"list"})
    return write_out(make_listing()) ? kDone : kFailed;
  std::vector<std::string> known;
  for (const auto& series : slipstick::table_series()) known.push_back(series.name);
  if (!check_names(request.what, known, "nothing is called") ||
      !check_names(request.bodies, names->bodies, "the recording has no body") ||
      !check_names(request.joints, names->joints, "the recording has no joint") ||
      !check_outputs("table", {{"-o", arguments.output}}, "recording", {arguments.recording}, arguments.no_clobber))
    return kBadInput;
  std::string fault, text;
  slipstick::OutputFile file;
  if (!arguments.output.empty() && !file.open(arguments.output, &fault)) {
    say("table", fault);
    return kBadInput;
  }
  bool good = true;
  const slipstick::Faults faults = slipstick::write_table(request, [&](const std::string& line) {
    if (arguments.output.empty()) return good = write_out(line);
    text += line;
    return true;
  });
  for (const slipstick::Fault& each : faults) say("table", each.text());
  if (!faults.empty()) return kBadInput;
  if (!arguments.output.empty() && !file.write(text, &fault)) {
    say("table", fault);
    return kFailed;
  }
  return good ? kDone : kFailed;
}
