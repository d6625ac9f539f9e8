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

/// Whether no push, however large, moves the pawl once it is in its lead-in, and what becomes of it.
void expect_diagnosis_and_outcome_agree(const char* name, double wedge, double mu) {
  SceneLoadOptions load;
  load.set = {{"n", "2"}, {"wedge", std::to_string(wedge)}, {"mu", std::to_string(mu)}};
  Scene scene = shipped_scene(name, load);
  scene.options.step = 8e-6;
  const SceneCheck check = check_scene(scene, 1.25e-3);
  const std::string where = std::string(name) + ", wedge " + std::to_string(wedge) + ", mu " + std::to_string(mu);
  EXPECT_GT(check.touching, 0) << where;
  const bool jams = mu >= std::tan(wedge * std::numbers::pi / 180);
  ASSERT_EQ(check.held.size(), jams ? 1u : 0u) << where;
  EXPECT_EQ(says(check, "no load of its present direction moves 'pawl' at t = 0.001248 s"), jams) << where;
  if (jams) {
    EXPECT_EQ(check.held[0].by, std::vector<std::string>{"hole"});
  }
  Simulation simulation(scene);
  run_until(scene.options.duration, &simulation);
  EXPECT_EQ(simulation.sensor("outcome").value() == 2, jams) << where;
}

TEST(HeldLoads, PawlJamsWhereTheDiagnosisSaysSo) {
  for (const double wedge : {15.0, 25.0, 35.0, 42.0}) {
    const double border = std::tan(wedge * std::numbers::pi / 180);
    for (const double mu : {0.8 * border, border - 1e-3, border + 1e-3, 1.5 * border})
      expect_diagnosis_and_outcome_agree("pawl.yaml", wedge, mu);
  }
  const double border = std::tan(35 * std::numbers::pi / 180);
  for (const double mu : {border - 1e-3, border + 1e-3}) expect_diagnosis_and_outcome_agree("pawl_space.yaml", 35, mu);
}

/// A block on a slope of 20 degrees, pushed straight down, in units of `length` metres: held from mu = tan 20 on. A
/// load along the slope is held by the friction of its weight, which has a bound.
TEST(HeldLoads, OnASlope) {
  for (const std::string length : {"1", "1e-3", "1e-6"})
    for (const auto& [mu, force, held] :
         {std::tuple("0.36", "[0, 0, -5e3*u^3]", 0), std::tuple("0.37", "[0, 0, -5e3*u^3]", 1),
          std::tuple("0.9", "[cos(20*deg)*u^3, 0, -sin(20*deg)*u^3]", 0)}) {
      const SceneCheck check = check_scene(scene_of(std::string("let: {u: ") + length + R"yaml(}
materials: {default: {friction: )yaml" + mu + R"yaml(}}
bodies:
  - {name: slope, fixed: true, shapes: [{plane: {normal: [sin(20*deg), 0, cos(20*deg)], offset: 0}}]}
  - name: block
    density: 1000
    position: [0.5*u*sin(20*deg), 0, 0.5*u*cos(20*deg)]
    orientation: {axis: [0, 1, 0], angle_deg: 20}
    shapes: [{box: {size: [3*u, 2*u, u]}}]
forces: [{load: {body: block, force: )yaml" + force +
                                                    R"yaml(}}]
simulation: {step: 1e-4}
)yaml"),
                                           2e-4);
      EXPECT_EQ(check.touching, 4) << length << ", mu " << mu;
      EXPECT_EQ(static_cast<int>(check.held.size()), held) << length << ", mu " << mu << ", force " << force;
    }
}

/// 3 kg on beads of 0.1 g, 2 cm apart: a bead swings with up to 2 sqrt(T/(m l)). Where the bead is as heavy as what it
/// carries gravity alone says how long a step may be.
TEST(StepAdvice, OfLightBodiesBetweenLoadedRods) {
  const auto check = [](const std::string& mass, const std::string& kind) {
    return check_scene(scene_of("let: {m: " + mass + R"yaml(}
bodies:
  - {name: "bead_{i}", repeat: {i: 5}, mass: m, lock: [rotation], position: [0, 0, -0.02*(i+1)]}
  - {name: load, mass: 3, position: [0, 0, -0.12], lock: [rotation]}
joints:
  - {)yaml" + kind + R"yaml(: {name: first, between: [world, bead_0], at: [[0, 0, 0], [0, 0, -0.02]]}}
  - {)yaml" + kind + R"yaml(: {repeat: {i: 4}, name: "link_{i}", between: ["bead_{i}", "bead_{i+1}"]}}
  - {)yaml" + kind + R"yaml(: {name: last, between: [bead_4, load]}}
simulation: {step: 1/1000}
)yaml"));
  };
  for (const char* kind : {"rod", "rope"}) {
    const SceneCheck light = check("1e-4", kind), heavy = check("3", kind);
    ASSERT_TRUE(light.step_advised.has_value()) << kind;
    EXPECT_NEAR(*light.step_advised, 0.5 * std::sqrt(1e-4 * 0.02 / (3.0005 * 9.81)), 1e-6) << kind;
    EXPECT_TRUE(says(light, "may have to carry")) << kind;
    EXPECT_FALSE(says(heavy, "may have to carry")) << kind;
  }
}

}  // namespace
}  // namespace slipstick::test
