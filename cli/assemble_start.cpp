#include "assemble_start.h"

#include "terminal.h"

#include <slipstick/assembly.h>

#include <cstdio>

namespace {

std::string as_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

}  // namespace

bool assemble_start(const char* command, slipstick::Scene* scene) {
  slipstick::Assembly made = slipstick::assemble(scene->model, scene->options, scene->initial);
  if (!made.needed) return true;
  const std::string open = "joints start open by " + as_text(made.error) + " (m or rad)";
  if (!made.closed) {
    say(command, "warning: " + open +
                     " and cannot be put together by moving bodies a little: they are not closed by force either; "
                     "slipstick check --assemble says more");
    return false;
  }
  say(command, open + ": put together, '" + std::string(slipstick::body_name(scene->model, made.body)) +
                   "' moved the farthest, " + as_text(made.moved) + " m");
  scene->initial = std::move(made.state);
  return true;
}
