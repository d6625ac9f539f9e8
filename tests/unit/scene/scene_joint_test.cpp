// What is on the axes of joints, as read from scenes, and what is wrong with it.
#include <gtest/gtest.h>

#include <numbers>
#include <utility>

#include "unit/scene/scene_texts.h"

namespace slipstick {
namespace {

std::string two_bodies(const std::string& joints) {
  return "slipstick: 1\nbodies:\n  - {name: left, mass: 1, inertia: [1, 1, 1]}\n"
         "  - {name: right, mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}\njoints:\n" +
         joints + "\n";
}

std::string first_fault(const std::string& joint) {
  const std::vector<std::string> faults = faults_of(two_bodies("  - " + joint));
  return faults.size() == 1 ? faults[0] : std::to_string(faults.size()) + " faults";
}

TEST(SceneJoint, AxesOfJointsBecomeLimitsMotorsFrictionAndCouplings) {
  Result<Scene> scene = parse_scene(two_bodies(R"yaml(
  - hinge: {name: pin, between: [world, left], at: [0, 0, 0], axis: [0, 0, 1], limits_deg: [-90, 45], restitution: 0.4, motor: {speed: "2*t", max: 50}, friction: 0.1}
  - wheel: {name: wheel, between: [left, right], at: [1, 0, 0], axis: [0, 1, 0], suspension: {stiffness: 100, damping: 2, limits: [none, 0.1]}, motor: {speed: 1, max: 2}}
  - generic: {name: free, between: [world, right], at: [0, 0, 0], free: {x: {friction: 3}, y: {}, rz: {limits_rad: [-1, 1]}, rx: {}}}
  - gear: {name: pair, joints: [pin, wheel.spin], ratio: -3})yaml"),
                                    "s.yaml");
  ASSERT_TRUE(scene) << scene.faults()[0].text();
  const Model& model = scene.value().model;
  ASSERT_EQ(model.joints.size(), 4u);
  ASSERT_EQ(model.limits.size(), 5u);
  EXPECT_NEAR(model.limits[0].bound, -std::numbers::pi / 2, 1e-15);
  EXPECT_EQ(model.limits[1].law.restitution, 0.4);
  EXPECT_TRUE(model.limits[2].upper);
  ASSERT_EQ(model.couplings.size(), 1u);
  EXPECT_EQ(model.couplings[0].term[1].factor, 3);
  EXPECT_EQ(model.axes[0].motor->target.at(3), 6);
  EXPECT_EQ(model.axes[0].friction, 0.1);
  // hinge 5, wheel 3 and its steering locked, generic 2, one coupling, two motors, two frictions
  EXPECT_EQ(model.joint_rows, 5 + 4 + 2 + 1 + 2 + 2);
  EXPECT_EQ(scene.value().initial.joint_impulse.size(), 16u);
  EXPECT_EQ(scene.value().initial.axis.size(), model.axes.size());
}

TEST(SceneJoint, MotorsAreFunctionsOfTime) {
  const Result<Scene> scene = parse_scene(two_bodies(R"yaml(
  - hinge: {between: [world, left], at: [0, 0, 0], axis: [0, 0, 1], motor: {position_deg: "90*t", max: "t < 2 ? 5*t : 1", max_speed: 1 + t}}
  - velocity_motor: {between: [left, right], axis: [1, 0, 0], speed: 1, max: 3*t}
  - hinge: {between: [world, right], at: [0, 0, 0], axis: [0, 0, 1], stiffness: 2, damping: 0.5, rest_deg: 270})yaml"),
                                          "s.yaml");
  ASSERT_TRUE(scene) << scene.faults()[0].text();
  const std::vector<Axis>& axes = scene.value().model.axes;
  ASSERT_EQ(axes.size(), 3u);
  EXPECT_DOUBLE_EQ(axes[0].motor->target.at(2), std::numbers::pi);
  EXPECT_EQ(axes[0].motor->max.at(0), 0);
  EXPECT_EQ(axes[0].motor->max.at(1.5), 7.5);
  EXPECT_EQ(axes[0].motor->max.at(2), 1);
  EXPECT_EQ(axes[0].motor->max_speed->at(3), 4);
  EXPECT_EQ(axes[1].motor->max.at(2), 6);
  EXPECT_EQ(axes[2].stiffness, 2);
  EXPECT_EQ(axes[2].damping, 0.5);
  EXPECT_DOUBLE_EQ(axes[2].rest, 1.5 * std::numbers::pi);
}

TEST(SceneJoint, WithoutAnAnchorIsAtTheBodyThatMoves) {
  const char* const bodies = R"yaml(slipstick: 1
bodies:
  - {name: frame, fixed: true, position: [7, 8, 9]}
  - {name: lift, kinematic: {velocity: [0, 0, 1]}, position: [5, 5, 5]}
  - {name: left, mass: 1, inertia: [1, 1, 1], position: [1, 2, 3]}
  - {name: right, mass: 1, inertia: [1, 1, 1], position: [4, 2, 3]}
joints:
  - {slider: {axis: [1, 0, 0], between: )yaml";
  const Vec3 left(1, 2, 3), right(4, 2, 3);
  const std::vector<std::pair<std::string, Vec3>> cases{
      {"[left, right]", right}, {"[right, left]", left}, {"[world, left]", left}, {"[left, world]", left},
      {"[frame, left]", left},  {"[left, frame]", left}, {"[left, lift]", left},
  };
  for (const auto& [between, at] : cases) {
    const Result<Scene> scene = parse_scene(bodies + between + "}}\n", "s.yaml");
    ASSERT_TRUE(scene) << scene.faults()[0].text();
    EXPECT_EQ(scene.value().description.joints[0].at, at) << between;
  }
}

TEST(SceneJoint, FaultsSayWhatAndWhere) {
  const std::string pin = "hinge: {name: pin, between: [world, left], at: [0, 0, 0], axis: [0, 0, 1], ";
  EXPECT_EQ(first_fault(pin + "limits: [1, 2]}"),
            "s.yaml:6:88: joint 'pin': is 0 to begin with, outside its limits [1, 2]");
  EXPECT_NE(first_fault(pin + "limits: [1]}").find("expected two numbers [low, high]"), std::string::npos);
  EXPECT_NE(first_fault(pin + "limits_deg: [1, -1]}").find("low <= high"), std::string::npos);
  EXPECT_NE(first_fault(pin + "motor: {max: 3}}").find("needs one of speed, position (or position_deg) and torque"),
            std::string::npos);
  EXPECT_NE(first_fault(pin + "motor: {speed: 1}}").find("missing key 'max'"), std::string::npos);
  EXPECT_NE(first_fault(pin + "motor: {speed: 1, max: -1}}").find("max of the motor must be"), std::string::npos);
  EXPECT_NE(first_fault(pin + "motor: {speed: 1, max: 1, sped: 2}}").find("did you mean 'speed'"), std::string::npos);
  EXPECT_NE(first_fault(pin + "friction: -1}").find("friction"), std::string::npos);
  EXPECT_EQ(first_fault(pin + "stiffness: -1}"), "s.yaml:6:91: joint 'pin': stiffness must not be negative, but is -1");
  EXPECT_EQ(first_fault(pin + "stiffness: 1, rest: 1, rest_deg: 1}"),
            "s.yaml:6:113: rest is given twice in hinge 'pin'");
  EXPECT_EQ(first_fault(pin + "motor: {speed: 1, max: -t - 1}}"),
            "s.yaml:6:103: joint 'pin': max of the motor must not be negative, but is -1");
  EXPECT_NE(first_fault("ball: {between: [world, left], at: [0, 0, 0], lock: true}").find("unknown key 'lock'"),
            std::string::npos);
  EXPECT_NE(first_fault("universal: {between: [left, right], at: [0, 0, 0], axis: [1, 0, 0], axis_b: [1, 1, 0]}")
                .find("right angles"),
            std::string::npos);
  EXPECT_NE(first_fault("gear: {joints: [a, b], ratio: 2}").find("unknown joint 'a'"), std::string::npos);
  EXPECT_NE(first_fault("gear: {joints: [a], ratio: 2}").find("must name 2 joints"), std::string::npos);
  EXPECT_NE(first_fault("generic: {between: [left, right], at: [0, 0, 0], free: [q]}").find("unknown freedom 'q'"),
            std::string::npos);
  EXPECT_EQ(first_fault("generic: {between: [left, right], at: [0, 0, 0], free: {rx: {friction: 1}, ry: {}, rz: {}}}"),
            "ok");  // gimbals
  EXPECT_NE(first_fault(pin + "motor: {torque: 1, stiffness: 2}}").find("a motor that is a force has no"),
            std::string::npos);
  EXPECT_NE(first_fault(pin + "armature: -1}").find("armature must not be negative"), std::string::npos);
  EXPECT_NE(first_fault("gear: {joints: [a, b], ratio: 1, polynomial: [1]}").find("not both"), std::string::npos);
  EXPECT_NE(first_fault("rolling: {between: [left, right], radius: 0}").find("radius must be"), std::string::npos);
  EXPECT_NE(first_fault("rope: {between: [left, right], length: 0.5}").find("more than its length 0.5"),
            std::string::npos);
}

}  // namespace
}  // namespace slipstick
