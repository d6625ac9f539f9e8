// What `check` says about contacts that can jam and joints that are tied.
#include <gtest/gtest.h>
#include <slipstick/app/scene_check.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

/// A disk in a groove of half angle 20 degrees; `lock` makes it a point.
SceneCheck check_groove(const std::string& mu, const std::string& lock = "") {
  return check_scene(scene_of(R"yaml(
planar: true
let: {a: 20*deg}
materials: {default: {friction: )yaml" +
                              mu + R"yaml(}}
bodies:
  - {name: left, fixed: true, shapes: [{plane: {normal: [cos(a), sin(a)], offset: -1}}]}
  - {name: right, fixed: true, shapes: [{plane: {normal: [-cos(a), sin(a)], offset: -1}}]}
  - {name: wedge, mass: 1, )yaml" +
                              lock + R"yaml(shapes: [{disk: {radius: 1}}]}
)yaml"));
}

bool says(const SceneCheck& check, const std::string& part) {
  for (const std::string& remark : check.remarks)
    if (remark.find(part) != std::string::npos) return true;
  return false;
}

TEST(FrictionConeCheck, GrooveJamsAboveTheTangentOfItsAngle) {
  const SceneCheck loose = check_groove("0.99*tan(20*deg)"), tight = check_groove("1.01*tan(20*deg)");
  EXPECT_EQ(loose.touching, 2);
  EXPECT_EQ(loose.can_jam, std::optional(false));
  EXPECT_TRUE(loose.cone_strength.has_value());
  EXPECT_FALSE(says(loose, "jam"));
  EXPECT_EQ(tight.can_jam, std::optional(true));
  EXPECT_FALSE(tight.cone_strength.has_value());
  ASSERT_EQ(tight.jams.size(), 2u);
  EXPECT_TRUE(says(tight, "'left' on 'wedge', 'right' on 'wedge'") || says(tight, "'wedge' on 'left'"))
      << tight.remarks[0];
}

TEST(FrictionConeCheck, StrengthOfTheGroove) {
  const double a = 20 * std::numbers::pi / 180;
  for (const double share : {0.0, 0.5, 0.9}) {
    const SceneCheck check = check_groove(std::to_string(share) + "*tan(20*deg)", "lock: [rotation], ");
    ASSERT_TRUE(check.cone_strength.has_value());
    EXPECT_NEAR(*check.cone_strength * (std::sin(a) - share * std::tan(a) * std::cos(a)), 1, 1e-6);
  }
  EXPECT_TRUE(says(check_groove("0.9999*tan(20*deg)", "lock: [rotation], "), "all but jam"));
}

TEST(FrictionConeCheck, OnlyTheContactsThatTakePartAreNamed) {
  // A box pressed between two walls, and another that only stands on the floor.
  const SceneCheck check = check_scene(scene_of(R"yaml(
materials: {default: {friction: 0}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: west, fixed: true, shapes: [{plane: {normal: [1, 0, 0], offset: -0.5}}]}
  - {name: east, fixed: true, shapes: [{plane: {normal: [-1, 0, 0], offset: -0.5}}]}
  - {name: pressed, mass: 1, position: [0, 0, 0.5], shapes: [{box: {size: [1, 1, 1]}}]}
  - {name: on_top, mass: 1, position: [0, 0, 1.25], shapes: [{box: {size: [0.5, 0.5, 0.5]}}]}
)yaml"));
  EXPECT_EQ(check.can_jam, std::optional(true));
  ASSERT_EQ(check.jams.size(), 2u);
  for (const Jam& jam : check.jams) {
    EXPECT_EQ(jam.contacts, 4);
    EXPECT_NE(jam.a + jam.b, "flooron_top");
    EXPECT_TRUE(jam.a == "pressed" || jam.b == "pressed");
    EXPECT_TRUE(jam.a != "floor" && jam.b != "floor");
  }
}

TEST(FrictionConeCheck, HeapsOnAFloorCannotJam) {
  for (const char* name : {"stack.yaml", "incline.yaml", "dominoes.yaml", "arch.yaml", "cannonball.yaml"}) {
    const SceneCheck check = check_scene(shipped_scene(name));
    EXPECT_GT(check.touching, 0) << name;
    EXPECT_EQ(check.can_jam, std::optional(false)) << name;
    EXPECT_GT(check.cone_strength.value_or(0), 1) << name;
  }
}

TEST(FrictionConeCheck, AContactAgainstAJointJams) {
  // The slider holds the block against the floor: what the floor presses, the slider takes.
  const SceneCheck check = check_scene(scene_of(R"yaml(
planar: true
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 1], offset: 0}}]}
  - {name: block, mass: 1, position: [0, 0.5], shapes: [{box: {size: [1, 1]}}]}
joints: [{slider: {name: rail, between: [world, block], at: [0, 0.5], axis: [1, 0]}}]
)yaml"));
  EXPECT_EQ(check.can_jam, std::optional(true));
  EXPECT_EQ(check.redundant_rows, std::optional(0));
}

TEST(JointCheck, TiedJointsAreNamed) {
  const SceneCheck check = check_scene(scene_of(R"yaml(
bodies:
  - {name: door, mass: 1, position: [0.5, 0, 0], shapes: [{box: {size: [1, 0.1, 2]}}]}
  - {name: other, mass: 1, position: [3, 0, 0], shapes: [{box: {size: [1, 0.1, 2]}}]}
joints:
  - hinge: {name: upper, between: [world, door], at: [0, 0, 1], axis: [0, 0, 1]}
  - hinge: {name: lower, between: [world, door], at: [0, 0, -1], axis: [0, 0, 1]}
  - hinge: {name: free, between: [world, other], at: [2.5, 0, 0], axis: [0, 0, 1]}
)yaml"));
  EXPECT_EQ(check.joint_rows, 15);
  EXPECT_EQ(check.redundant_rows, std::optional(5));
  EXPECT_EQ(check.tied_joints, (std::vector<std::string>{"upper", "lower"}));
  EXPECT_TRUE(says(check, "'upper', 'lower'"));
}

TEST(MeshCheck, TrianglesLeftOutAreCounted) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "mesh_check";
  std::filesystem::create_directories(folder);
  // A tetrahedron; one face twice, one triangle without area.
  std::ofstream(folder / "t.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 2 0 0\n"
                                     "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nf 3 4 2\nf 1 2 2\n";
  std::ofstream(folder / "s.yaml")
      << "slipstick: 1\nbodies:\n"
         "  - {name: a, density: 1, shapes: [{mesh: {file: t.obj}}]}\n"
         "  - {name: b, density: 1, position: [9, 0, 0], shapes: [{mesh: {file: t.obj}}]}\n";
  const Result<Scene> scene = load_scene((folder / "s.yaml").string());
  ASSERT_TRUE(scene.ok());
  const SceneCheck check = check_scene(*scene);
  EXPECT_TRUE(says(check, "2 of the 6 triangles of the mesh of 'a' were left out"));
  EXPECT_FALSE(says(check, "mesh of 'b'")) << "one mesh, told once";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace slipstick::test
