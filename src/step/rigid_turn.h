// Bodies that are moved without a change of their velocities have another angular momentum afterwards. A group of them
// that nothing holds gets a rigid turn about its centre of mass which puts that back; its linear momentum and its
// centre are as they were, since displacements nearest to none in the metric of the masses leave them.
#pragma once

#include <span>

#include "mechanics/equations.h"

namespace slipstick {

/// Whether all freedoms of the body are free.
bool is_unheld(const Model& model, int body);

/// `group`: per body, the body that stands for its group, or -1 for those that were not moved; `held`: per body that
/// stands for a group, whether the world holds it. `before`: poses before the displacement.
void restore_angular_momentum(const Model& model, std::span<const int> group, std::span<const char> held,
                              std::span<const Pose> before, State* state);

}  // namespace slipstick
