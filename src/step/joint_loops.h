// Which joints close loops, and which loops have more rows than freedoms: the same at every pose.
#pragma once

#include <vector>

#include "step/scheme.h"

namespace slipstick {

/// All per joint.
struct JointLoops {
  /// Once for a model; `rows` are those of its joints, in order.
  void update(const Model& model, const std::vector<JointRows>& rows);

  std::vector<char> closes;     ///< those before it connect its bodies already
  std::vector<char> within;     ///< its group has a loop
  std::vector<char> redundant;  ///< its loops have more rows than freedoms
  std::vector<double> size;     ///< what errors are measured by, m

 private:
  void find_redundant(const Model& model, const std::vector<JointRows>& rows);
};

}  // namespace slipstick
