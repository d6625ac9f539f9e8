#include "commands.h"
#include "scene_arguments.h"
#include "terminal.h"

#include <slipstick/app/scene_check.h>

#include <unistd.h>

int check(const CheckArguments& arguments) {
  const std::optional<slipstick::Scene> scene = load("check", arguments.scene, arguments.simulation);
  if (!scene) return kBadInput;
  const slipstick::SceneCheck result = slipstick::check_scene(*scene);
  const bool written = write_out(arguments.json ? slipstick::make_json(result)
                                                : slipstick::make_text(result, wants_colour(STDOUT_FILENO)));
  const bool open = arguments.assemble && result.assembly.needed && !result.assembly.closed;
  return written && !open ? kDone : kFailed;
}
