// Room: step. How far each joint is from holding.
#pragma once

#include <slipstick/model.h>

#include <span>
#include <vector>

namespace slipstick {

/// The largest |error| over the rows of each joint at the position level, m or rad; one entry a joint of the model.
std::vector<double> calc_joint_errors(const Model& model, std::span<const Pose> pose);

}  // namespace slipstick
