// Where an MJCF model starts: keyframes, and ranges that do not hold the reference.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "import/mjcf_tree.h"

namespace slipstick {

class MjcfStart {
 public:
  MjcfStart(const MjcfTree& tree, ImportContext* context, Robot* robot)
      : tree_(tree), context_(*context), robot_(*robot) {}

  /// The next joint in the order of qpos: its link and its index there, -1 for a free joint.
  void add_joint(int link, int index) { order_.push_back({link, index}); }
  std::size_t joints() const { return order_.size(); }
  /// The keyframe of this name or number; empty: none, or the first one if the reference is outside of some range.
  void read(const std::string& wanted);
  /// Joints that start outside of their range start at its end.
  void hold_ranges();
  const std::vector<double>& controls() const { return controls_; }  ///< empty: all zero

 private:
  bool starts_outside() const;
  void apply_key(const XmlElement& xml);
  void set_positions(const std::vector<double>& q);
  void set_speeds(const std::vector<double>& v);

  const MjcfTree& tree_;
  ImportContext& context_;
  Robot& robot_;
  std::vector<std::array<int, 2>> order_;
  std::vector<double> controls_;
};

}  // namespace slipstick
