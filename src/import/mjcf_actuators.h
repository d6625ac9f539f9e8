// <actuator> of MJCF: motors of joints. All actuators of a joint together are one motor.
#pragma once

#include "import/mjcf_forces.h"

namespace slipstick {

void read_mjcf_actuators(const MjcfTree& tree, const MjcfNames& names, std::map<std::string, MjcfSum>* sums,
                         ImportContext* context, Robot* robot);

}  // namespace slipstick
