#include <slipstick/app/info.h>

#include "commands.h"
#include "terminal.h"

int info(const InfoArguments& arguments) {
  const slipstick::BuildInfo info = slipstick::make_build_info();
  if (arguments.json) return write_out(slipstick::make_json(info)) ? kDone : kFailed;
  std::string text = "slipstick " + info.version + "\n";
  const auto line = [&](std::string label, const std::string& content) {
    label.resize(14, ' ');
    text += "  " + label + content + "\n";
  };
  line("build", info.build_type + ", " + info.compiler + ", " + info.simd);
  line("threads", std::to_string(info.threads));
  std::vector<std::string> dependencies;
  for (const auto& [name, number] : info.dependencies) dependencies.push_back(name + " " + number);
  line("dependencies", join(dependencies));
  line("schemes", join(info.schemes));
  line("solvers", join(info.solvers));
  line("shapes", join(info.shapes));
  line("joints", join(info.joints));
  return write_out(text) ? kDone : kFailed;
}
