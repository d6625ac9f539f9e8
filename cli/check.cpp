#include "commands.h"
#include "scene_arguments.h"
#include "terminal.h"

#include <slipstick/app/scene_check.h>

#include <unistd.h>

#include <cmath>

namespace {

constexpr double kMostSteps = 1e9;

/// The moment that is asked for; says what is wrong with it.
std::optional<double> read_time(const std::string& text) {
  if (text.empty()) return 0;
  std::string fault;
  const std::optional<double> at = read_expression("--at", text, &fault);
  if (at && std::isfinite(*at) && *at >= 0) return at;
  say("check", at ? "--at '" + text + "': must be a time in seconds, zero or more" : fault);
  return std::nullopt;
}

}  // namespace

int check(const CheckArguments& arguments) {
  const std::optional<double> at = read_time(arguments.at);
  if (!at) return kBadInput;
  const std::optional<slipstick::Scene> scene = load("check", arguments.scene, arguments.simulation);
  if (!scene) return kBadInput;
  if (*at > kMostSteps * scene->options.step) {
    say("check", "--at '" + arguments.at + "': more than 1e9 steps away; take a longer --step, or an earlier time");
    return kBadInput;
  }
  const slipstick::SceneCheck result = slipstick::check_scene(*scene, *at);
  if (!result.failure.empty()) {
    say("check", result.failure);
    return kFailed;
  }
  const bool written = write_out(arguments.json ? slipstick::make_json(result)
                                                : slipstick::make_text(result, wants_colour(STDOUT_FILENO)));
  const bool open = arguments.assemble && result.assembly.needed && !result.assembly.closed;
  return written && !open ? kDone : kFailed;
}
