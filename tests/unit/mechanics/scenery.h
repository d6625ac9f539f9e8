// Random placements and small models for the tests of this room.
#pragma once

#include <gtest/gtest.h>
#include <slipstick/model.h>
#include <slipstick/state.h>

#include <random>
#include <string>
#include <vector>

#include "base/se3.h"

namespace slipstick::test {

/// Bodies at the two ends of a joint or spring: both on bodies, and the world on either side.
inline constexpr std::array<std::array<const char*, 2>, 3> kEnds{{{"0", "1"}, {"world", "1"}, {"0", "world"}}};

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  double number() { return 2 * (engine_() / 4294967295.0) - 1; }  // the standard fixes the bits of mt19937
  Vec3 vector() { return {number(), number(), number()}; }
  Vec3 direction() {
    Vec3 v = vector();
    while (v.norm() < 0.1) v = vector();
    return v.normalized();
  }
  Pose pose() { return {3 * vector(), exp_rotation(3 * vector())}; }
  Twist twist() { return {vector(), vector()}; }

 private:
  std::mt19937 engine_;
};

/// Bodies "0", "1", ... of an uneven form at random poses (planar: in the plane).
inline ModelDescription make_bodies(int count, bool planar, Dice* dice) {
  ModelDescription world;
  world.planar = planar;
  world.gravity = planar ? Vec3(0, -9.81, 0) : Vec3(0, 0, -9.81);
  for (int i = 0; i < count; ++i) {
    BodyDescription body;
    body.name = std::to_string(i);
    body.mass = 1 + i;
    ShapeDescription shape;
    shape.kind = ShapeKind::Box;
    shape.size = Vec3(1, 2, 3);
    shape.pose.position = planar ? Vec3(0.3, -0.2, 0) : Vec3(0.3, -0.2, 0.1);
    body.shapes = {shape};
    body.pose = dice->pose();
    if (planar) {
      body.pose.position.z() = 0;
      body.pose.orientation = exp_rotation({0, 0, 3 * dice->number()});
    }
    world.bodies.push_back(body);
  }
  return world;
}

inline Model compile_good(const ModelDescription& description, State* start) {
  CompiledModel made = compile(description, start);
  for (const CompileFault& fault : made.faults) ADD_FAILURE() << fault.message;
  return std::move(made.model);
}

inline std::vector<Pose> moved(const std::vector<Pose>& pose, const std::vector<Twist>& velocity, double h) {
  std::vector<Pose> result;
  for (std::size_t i = 0; i < pose.size(); ++i) result.push_back(move(pose[i], velocity[i], h));
  return result;
}

/// row . v of a pair of bodies, the world taking no part.
template <class Row>
double calc_rate(const Row& row, int a, int b, const std::vector<Twist>& velocity) {
  const auto side = [&](const Vec6& part, int body) {
    if (body == kWorld) return 0.0;
    return part.head<3>().dot(velocity[body].linear) + part.tail<3>().dot(velocity[body].angular);
  };
  return side(row.a, a) + side(row.b, b);
}

/// A joint anywhere; where a kind needs more, the test adds it.
inline JointDescription make_any_joint(JointKind kind, const std::array<const char*, 2>& ends, Dice* dice) {
  JointDescription joint;
  joint.kind = kind;
  joint.a = ends[0];
  joint.b = ends[1];
  joint.at = 2 * dice->vector();
  joint.at_b = 2 * dice->vector();
  joint.axis = dice->direction();
  return joint;
}

}  // namespace slipstick::test
