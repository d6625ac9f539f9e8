// The joints of the links of a robot as joints of the engine.
#pragma once

#include <map>
#include <string>

#include "import/robot_layout.h"

namespace slipstick {

/// Where a joint of the file has gone: a joint of the engine, or one axis of it.
struct JointAxis {
  std::string name;  ///< as a gear names it
  double sign = 1;
};
using JointAxes = std::map<std::string, JointAxis>;  ///< by the name in the file

JointDescription begin_joint(const std::string& name, JointKind kind, const std::string& a, const std::string& b,
                             SourceTag source, UniqueNames* names);

/// One joint for each link with joints; light bodies where no joint of the engine is what the link has.
JointAxes add_link_joints(const RobotLayout& layout, ImportContext* context, UniqueNames* names, ModelDescription* out);

}  // namespace slipstick
