// What is on the axes of joints, as read from scenes, and what is wrong with it.
#include <gtest/gtest.h>

#include <numbers>

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

TEST(SceneJoint, FaultsSayWhatAndWhere) {
  const std::string pin = "hinge: {name: pin, between: [world, left], at: [0, 0, 0], axis: [0, 0, 1], ";
  EXPECT_EQ(first_fault(pin + "limits: [1, 2]}"),
            "s.yaml:6:88: joint 'pin': is 0 to begin with, outside its limits [1, 2]");
  EXPECT_NE(first_fault(pin + "limits: [1]}").find("expected two numbers [low, high]"), std::string::npos);
  EXPECT_NE(first_fault(pin + "limits_deg: [1, -1]}").find("low <= high"), std::string::npos);
  EXPECT_NE(first_fault(pin + "motor: {max: 3}}").find("needs one of speed and position"), std::string::npos);
  EXPECT_NE(first_fault(pin + "motor: {speed: 1}}").find("missing key 'max'"), std::string::npos);
  EXPECT_NE(first_fault(pin + "motor: {speed: 1, max: -1}}").find("max of the motor must be"), std::string::npos);
  EXPECT_NE(first_fault(pin + "motor: {speed: 1, max: 1, sped: 2}}").find("did you mean 'speed'"), std::string::npos);
  EXPECT_NE(first_fault(pin + "friction: -1}").find("friction"), std::string::npos);
  EXPECT_NE(first_fault(pin + "stiffness: 1}").find("unknown key 'stiffness'"), std::string::npos);
  EXPECT_NE(first_fault("ball: {between: [world, left], at: [0, 0, 0], lock: true}").find("unknown key 'lock'"),
            std::string::npos);
  EXPECT_NE(first_fault("universal: {between: [left, right], at: [0, 0, 0], axis: [1, 0, 0], axis_b: [1, 1, 0]}")
                .find("right angles"),
            std::string::npos);
  EXPECT_NE(first_fault("gear: {joints: [a, b], ratio: 2}").find("unknown joint 'a'"), std::string::npos);
  EXPECT_NE(first_fault("gear: {joints: [a], ratio: 2}").find("must name 2 joints"), std::string::npos);
  EXPECT_NE(first_fault("generic: {between: [left, right], at: [0, 0, 0], free: [q]}").find("unknown freedom 'q'"),
            std::string::npos);
  EXPECT_NE(first_fault("generic: {between: [left, right], at: [0, 0, 0], free: {rx: {friction: 1}, ry: {}, rz: {}}}")
                .find("no coordinate 'rx'"),
            std::string::npos);
  EXPECT_NE(first_fault("rolling: {between: [left, right], radius: 0}").find("radius must be"), std::string::npos);
  EXPECT_NE(first_fault("rope: {between: [left, right], length: 0.5}").find("more than its length 0.5"),
            std::string::npos);
}

}  // namespace
}  // namespace slipstick
