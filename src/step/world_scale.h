// What is large in a world and what is nothing: from its masses, sizes and speeds, its gravity and the time at play,
// once and in one place (docs/certificate.md, Scales). No metre, second or joule of its own is in it, so that scenes in
// millimetres and microseconds are judged as those in metres and seconds.
#pragma once

#include <slipstick/health.h>
#include <slipstick/problem.h>

#include "step/scheme.h"

namespace slipstick {

/// Of a world as it stands. Bodies without shapes are as large as the scene, a scene of one such body 1 m.
WorldScale calc_world_scale(const Model& model, const State& state, double time);

/// Problem::place of all columns.
void update_places(const StepInput& input, const RowMap& map, Problem* problem);

}  // namespace slipstick
