// Room: step. How far each joint is from holding.
#pragma once

#include <slipstick/model.h>
#include <slipstick/state.h>

#include <vector>

namespace slipstick {

/// The largest |error| over the rows of each joint at the position level, m or rad; one entry per joint of the model.
/// Couplings count whole turns, and limits by how far they are overshot.
std::vector<double> calc_joint_errors(const Model& model, const State& state);

}  // namespace slipstick
