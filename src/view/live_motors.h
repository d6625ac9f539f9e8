// Motors and `let` variables of a running scene, for the sliders of the page.
#pragma once

#include "view/packet.h"

#include <slipstick/scene.h>

#include <optional>
#include <vector>

namespace slipstick {

/// One entry per motor: "name", "axis" (index in Model::axes), "kind" (speed, position, force), "turn", "low" and
/// "high": a range that holds what the scene asks for and, of a position, its limits.
Json describe_motors(const Scene& scene);
/// One entry per variable that does not follow from others: "name", "value".
Json describe_variables(const Scene& scene);

/// Puts targets in place of the scene's; one per Model::axes, nothing: the scene's.
void hold_motors(const std::vector<std::optional<double>>& targets, Inputs* inputs);

}  // namespace slipstick
