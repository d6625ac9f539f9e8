#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "unit/scene/scene_texts.h"

namespace slipstick {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

Lines body_names(const Result<Scene>& result) {
  if (!result.ok()) return lines_of(result);
  Lines names;
  for (const auto& body : result->description.bodies) names.push_back(body.name);
  return names;
}

TEST(SceneRepeat, LaterIndicesMayDependOnEarlierOnes) {
  const auto result = parse_scene(R"(slipstick: 1
bodies:
  - {repeat: {i: 3, j: i}, name: "p_{i}_{j+1}", fixed: true, position: [i, j, 10*i + j]}
)",
                                  "s.yaml");
  EXPECT_EQ(body_names(result), (Lines{"p_1_1", "p_2_1", "p_2_2"}));
  EXPECT_EQ(result->description.bodies[2].pose.position, Vec3(2, 1, 21));
}

TEST(SceneRepeat, WorksOnJointsForcesShapesAndPairs) {
  const auto result = parse_scene(R"(slipstick: 1
let: {n: 4}
defaults:
  bead: {mass: 1, shapes: [{repeat: {k: 2}, sphere: {radius: 0.1}, position: [0, k, 0]}]}
bodies:
  - {like: bead, repeat: {i: n}, name: "b{i}", position: [i, 0, 0]}
joints:
  - repeat: {i: n - 1}
    ball: {between: ["b{i}", "b{i+1}"], at: [i + 0.5, 0, 0]}
forces:
  - spring: {repeat: {i: n}, between: ["b{i}", world], at: [[i, 0, 0], [i, 0, 1]], stiffness: 1}
pairs_without_contact:
  - {repeat: {i: n, j: i}, between: ["b{i}", "b{j}"]}
)",
                                  "s.yaml");
  ASSERT_EQ(body_names(result), (Lines{"b0", "b1", "b2", "b3"}));
  EXPECT_EQ(result->description.joints.size(), 3u);
  EXPECT_EQ(result->description.joints[2].b, "b3");
  EXPECT_EQ(result->description.springs.size(), 4u);
  EXPECT_EQ(result->description.bodies[0].shapes.size(), 2u);
  EXPECT_EQ(result->description.pairs_without_contact.size(), 6u);
}

TEST(SceneRepeat, RandDependsOnSeedOnly) {
  const std::string text =
      "slipstick: 1\nlet: {k: 1}\nseed: k\nbodies:\n  - {name: a, fixed: true, position: [rand(1), 0, 0]}\n";
  SceneLoadOptions other;
  other.set = {{"k", "2"}};
  const auto x = [&](const SceneLoadOptions& options) {
    return parse_scene(text, "s.yaml", options)->description.bodies[0].pose.position.x();
  };
  EXPECT_EQ(x({}), x({}));
  EXPECT_NE(x({}), x(other));
}

TEST(SceneRepeat, IsBoundedBeforeItIsWrittenOut) {
  SceneLoadOptions options;
  options.max_bodies = 100;
  const auto faults = [&](const std::string& repeat) {
    return faults_of("slipstick: 1\nbodies:\n  - {repeat: " + repeat + ", name: \"a{i}\", fixed: true}\n", options);
  };
  const Lines too_many{"s.yaml:3:14: more than 100 bodies; raise --max-bodies if that is meant"};
  EXPECT_EQ(faults("{i: 101}"), too_many);
  EXPECT_EQ(faults("{i: 1e9, j: 1e9, k: 1e9}"), too_many);
  EXPECT_EQ(faults("{i: 1e9, j: 0}"), too_many);
  EXPECT_EQ(faults("{i: 100}"), Lines{"ok"});
  EXPECT_EQ(
      faults_of("slipstick: 1\nbodies:\n  - {name: a, mass: 1, shapes: [{repeat: {i: 1e6}, sphere: {radius: 1}}]}\n",
                options),
      Lines{"s.yaml:3:42: more than 800 shapes; raise --max-bodies if that is meant"});
}

TEST(SceneLike, OwnKeysWinAndLikesChain) {
  const auto result = parse_scene(R"(slipstick: 1
defaults:
  base: {mass: 1, inertia: [1, 1, 1], position: [1, 1, 1]}
  heavy: {like: base, mass: 100}
  high: {position: [0, 0, 9]}
bodies:
  - {name: a, like: heavy}
  - {name: b, like: heavy, mass: 7}
  - {name: c, like: [heavy, high]}
)",
                                  "s.yaml");
  ASSERT_EQ(body_names(result), (Lines{"a", "b", "c"}));
  const auto& bodies = result->description.bodies;
  EXPECT_EQ(bodies[0].mass, 100);
  EXPECT_EQ(bodies[0].pose.position, Vec3(1, 1, 1));
  EXPECT_EQ(bodies[1].mass, 7);
  EXPECT_EQ(bodies[2].pose.position, Vec3(0, 0, 9));
}

TEST(SceneLike, DeepAndWideChainsAreCheap) {
  std::string text = "slipstick: 1\ndefaults:\n  d0: {fixed: true}\n";
  for (int i = 1; i < 60; ++i) {  // 2^60 paths, one answer
    const std::string before = std::string("d").append(std::to_string(i - 1));
    text += "  d" + std::to_string(i) + ": {like: [" + before + ", " + before + "]}\n";
  }
  EXPECT_EQ(body_names(parse_scene(text + "bodies:\n  - {name: a, like: d59}\n", "s.yaml")), Lines{"a"});
}

TEST(SceneLet, SetOverridesAndOrderIsFree) {
  const std::string text = "slipstick: 1\nlet: {a: 2*b, b: 3}\nbodies:\n  - {name: \"n{a}\", fixed: true}\n";
  EXPECT_EQ(body_names(parse_scene(text, "s.yaml")), Lines{"n6"});
  SceneLoadOptions options;
  options.set = {{"b", "2^3"}};
  EXPECT_EQ(body_names(parse_scene(text, "s.yaml", options)), Lines{"n16"});
  options.set = {{"a", "b + 1"}};
  EXPECT_EQ(body_names(parse_scene(text, "s.yaml", options)), Lines{"n4"});
  EXPECT_EQ(faults_of("slipstick: 1\nlet: {mass: 1}\n", {.set = {{"maas", "1"}}}),
            Lines{"--set maas: the scene has no such name under 'let'; did you mean 'mass'?"});
  options.set = {{"b", "1+"}};
  EXPECT_EQ(faults_of(text, options), Lines{"--set b=1+: unexpected end of the expression"});
}

TEST(SceneLet, LongChainsAndCirclesEnd) {
  std::string text = "slipstick: 1\nlet:\n";
  for (int i = 0; i < 5000; ++i) text += "  a" + std::to_string(i) + ": a" + std::to_string(i + 1) + "\n";
  EXPECT_NE(faults_of(text + "  a5000: 1\n"), Lines{"ok"});
  EXPECT_EQ(faults_of("slipstick: 1\nlet: {a: b, b: a + 1}\n"), Lines{"s.yaml:2:10: 'a' in let depends on itself"});
}

// ---------------------------------------------------------------- includes

class SceneInclude : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("scene_include_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "scene/parts");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Result<Scene> load(const std::string& name, const SceneLoadOptions& options = {}) {
    return load_scene(path(name), options);
  }
  fs::path folder_;
};

TEST_F(SceneInclude, ContributesAndTheMainFileWins) {
  write("scene/main.yaml", R"(slipstick: 1
let: {n: 2}
include: [parts/arm.yaml, {file: parts/arm.yaml, prefix: left}, {file: parts/arm.yaml, prefix: r_}]
materials: {rubber: {friction: 0.9}}
bodies:
  - {name: base, fixed: true}
  - {like: pin, name: "last{extra}"}
joints:
  - ball: {between: [left/arm1, base], at: [0, 0, 0]}
)");
  write("scene/parts/arm.yaml", R"(slipstick: 1
let: {n: 7, extra: n + 3}
materials: {rubber: {friction: 0.1}, ice: {friction: 0}}
defaults: {pin: {mass: 1, inertia: [1, 1, 1]}}
bodies:
  - {like: pin, repeat: {i: n}, name: "arm{i}"}
joints:
  - ball: {name: elbow, between: [arm0, arm1], at: [0, 0, 0]}
  - fixed: {between: [arm0, world]}
forces:
  - load: {body: arm0, force: [1, 0, 0]}
material_pairs: [{between: [rubber, ice], friction: 0.2}]
pairs_without_contact: [[arm0, arm1]]
)");
  const auto result = load("scene/main.yaml");
  ASSERT_EQ(body_names(result), (Lines{"arm0", "arm1", "left/arm0", "left/arm1", "r_arm0", "r_arm1", "base", "last5"}));
  const ModelDescription& said = result->description;
  EXPECT_EQ(said.materials[0].friction, 0.9);
  EXPECT_EQ(said.materials[1].name, "ice");
  EXPECT_EQ(said.material_pairs.size(), 1u);  // once, however often the file is included
  EXPECT_EQ(said.joints[2].name, "left/elbow");
  EXPECT_EQ(said.joints[2].a, "left/arm0");
  EXPECT_EQ(said.joints[3].b, "world");
  EXPECT_EQ(said.loads[2].body, "r_arm0");
  EXPECT_EQ(said.pairs_without_contact[1], (std::array<std::string, 2>{"left/arm0", "left/arm1"}));
}

TEST_F(SceneInclude, MayBeRepeated) {
  write("scene/main.yaml", "slipstick: 1\ninclude:\n  - {file: car.yaml, prefix: \"car{i}\", repeat: {i: 2}}\n");
  write("scene/car.yaml", "slipstick: 1\nbodies:\n  - {name: hull, fixed: true, position: [5*i, 0, 0]}\n");
  const auto result = load("scene/main.yaml");
  ASSERT_EQ(body_names(result), (Lines{"car0/hull", "car1/hull"}));
  EXPECT_EQ(result->description.bodies[1].pose.position.x(), 5);
}

TEST_F(SceneInclude, FaultsPointAtTheFileThatHasThem) {
  write("scene/main.yaml",
        "slipstick: 1\ninclude: [parts/a.yaml]\nbodies:\n  - {name: m, fixd: true, mass: 1, inertia: [1, 1, 1]}\n");
  write("scene/parts/a.yaml", "slipstick: 1\nbodies:\n  - {name: a, mas: 1, fixed: true}\n");
  EXPECT_EQ(lines_of(load("scene/main.yaml")),
            (Lines{path("scene/main.yaml") + ":4:15: unknown key 'fixd' in body 'm'; did you mean 'fixed'?",
                   path("scene/parts/a.yaml") + ":3:15: unknown key 'mas' in body 'a'; did you mean 'mass'?"}));
}

TEST_F(SceneInclude, CyclesAreFaults) {
  write("scene/main.yaml", "slipstick: 1\ninclude: [a.yaml]\n");
  write("scene/a.yaml", "slipstick: 1\ninclude: [parts/b.yaml]\n");
  write("scene/parts/b.yaml", "slipstick: 1\ninclude: [../a.yaml]\n");
  EXPECT_EQ(lines_of(load("scene/main.yaml")),
            Lines{path("scene/parts/b.yaml") + ":2:11: include '../a.yaml': a cycle of includes: " +
                  path("scene/a.yaml") + " -> " + path("scene/parts/b.yaml") + " -> " + path("scene/a.yaml")});
  write("scene/main.yaml", "slipstick: 1\ninclude: main.yaml\n");
  EXPECT_EQ(lines_of(load("scene/main.yaml")).size(), 1u);
}

TEST_F(SceneInclude, StaysInTheFolderUnlessAllowed) {
  write("outside.yaml", "slipstick: 1\nbodies: [{name: o, fixed: true}]\n");
  write("scene/main.yaml", "slipstick: 1\ninclude: [../outside.yaml]\n");
  const Lines refused{path("scene/main.yaml") +
                      ":2:11: include '../outside.yaml': lies outside the scene's folder; allow it with --allow-path"};
  EXPECT_EQ(lines_of(load("scene/main.yaml")), refused);
  EXPECT_EQ(body_names(load("scene/main.yaml", {.set = {}, .allow_path = true})), Lines{"o"});
  fs::create_symlink(folder_ / "outside.yaml", folder_ / "scene/link.yaml");
  write("scene/main.yaml", "slipstick: 1\ninclude: [link.yaml]\n");
  EXPECT_FALSE(load("scene/main.yaml").ok());
  fs::create_directories(folder_ / "scene2");  // a folder whose name merely begins alike
  write("scene2/other.yaml", "slipstick: 1\n");
  write("scene/main.yaml", "slipstick: 1\ninclude: [../scene2/other.yaml]\n");
  EXPECT_FALSE(load("scene/main.yaml").ok());
}

TEST_F(SceneInclude, DisagreementBetweenIncludedFilesIsAFault) {
  write("scene/main.yaml", "slipstick: 1\ninclude: [a.yaml, b.yaml]\n");
  write("scene/a.yaml", "slipstick: 1\nmaterials: {ice: {friction: 0.1}}\n");
  write("scene/b.yaml", "slipstick: 1\nmaterials: {ice: {friction: 0.2}}\n");
  EXPECT_EQ(lines_of(load("scene/main.yaml")),
            Lines{path("scene/b.yaml") + ":2:13: 'ice' in materials differs from that in " + path("scene/a.yaml") +
                  "; define it in the file that includes both"});
  write("scene/b.yaml", "slipstick: 1\nmaterials:\n  ice:\n    friction: 0.1\n");
  EXPECT_EQ(lines_of(load("scene/main.yaml")), Lines{"ok"});
  write("scene/b.yaml", "slipstick: 1\nplanar: true\n");
  EXPECT_EQ(lines_of(load("scene/main.yaml")),
            Lines{path("scene/b.yaml") + ":2:9: the scene that includes this file is not planar"});
}

TEST_F(SceneInclude, FilesThatCannotBeRead) {
  EXPECT_EQ(lines_of(load("none.yaml")),
            Lines{path("none.yaml") + ": cannot open the file: No such file or directory"});
  EXPECT_EQ(lines_of(load("scene")), Lines{path("scene") + ": is a folder, not a scene file"});
  write("scene/main.yaml", "slipstick: 1\ninclude: [parts, gone.yaml]\n");
  EXPECT_EQ(
      lines_of(load("scene/main.yaml")),
      (Lines{path("scene/main.yaml") + ":2:11: include 'parts': is not a regular file",
             path("scene/main.yaml") + ":2:18: include 'gone.yaml': cannot open the file: No such file or directory"}));
  SceneLoadOptions small;
  small.max_file_bytes = 10;
  EXPECT_EQ(lines_of(load("scene/main.yaml", small)),
            Lines{path("scene/main.yaml") + ": larger than the limit of 10 bytes for the files of a scene"});
}

TEST_F(SceneInclude, ManyPathsToOneFileEnd) {
  for (int i = 0; i < 30; ++i) {  // 2^30 visits if nothing counted them
    const std::string next = std::string("f").append(std::to_string(i + 1)).append(".yaml");
    write("scene/f" + std::to_string(i) + ".yaml",
          "slipstick: 1\ninclude: [{file: " + next + ", prefix: a}, {file: " + next + ", prefix: b}]\n");
  }
  write("scene/f30.yaml", "slipstick: 1\n");
  EXPECT_FALSE(load("scene/f0.yaml").ok());
}

}  // namespace
}  // namespace slipstick
