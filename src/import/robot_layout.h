// Where the links of a robot are at t = 0, which of them are one body, and how bodies and joints are called.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "import/robot.h"

namespace slipstick {

/// Names that differ from each other, without the braces that a scene would take for an index.
class UniqueNames {
 public:
  /// `name`, or `kind` if that is empty; with a number behind it if it is taken.
  std::string make(std::string name, const char* kind);
  void release(const std::string& name) { taken_.erase(name); }

 private:
  std::set<std::string> taken_;
};

struct RobotLayout {
  explicit RobotLayout(const Robot& robot);

  /// The axis and the anchor of joint j of link i, world, at t = 0.
  Vec3 calc_axis(std::size_t i, std::size_t j) const;
  Vec3 calc_anchor(std::size_t i, std::size_t j) const;
  /// A point of a link (-1: the world), world, at t = 0.
  Vec3 calc_point(int link, const Vec3& p) const;
  const std::string& body_of(int link) const;  ///< "world" for -1

  const Robot& robot;
  std::vector<Pose> pose, reference;  ///< at t = 0, and with all joints at their reference
  std::vector<int> owner;             ///< the link whose body it is part of: links without joints go with their parent
  std::vector<bool> moves;
  std::vector<std::string> body;  ///< "world" until the body is made
};

}  // namespace slipstick
