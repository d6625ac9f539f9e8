// Robots that others have written, where a folder of them lies beside the project; without it these tests say so and
// skip.
#include <slipstick/simulation.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "unit/import/import_support.h"

namespace slipstick::test {
namespace {

namespace fs = std::filesystem;

/// What is written is read again as the same numbers; the first part that differs says where to look.
void expect_same(const ModelDescription& a, const ModelDescription& b) {
  ASSERT_EQ(a.bodies.size(), b.bodies.size());
  ASSERT_EQ(a.joints.size(), b.joints.size());
  for (std::size_t k = 0; k < a.bodies.size(); ++k) {
    const BodyDescription &x = a.bodies[k], &y = b.bodies[k];
    EXPECT_EQ(x.pose.position, y.pose.position) << x.name;
    EXPECT_EQ(x.pose.orientation.coeffs(), y.pose.orientation.coeffs()) << x.name;
    EXPECT_EQ(x.velocity, y.velocity) << x.name;
    EXPECT_EQ(x.inertia, y.inertia) << x.name;
    EXPECT_EQ(x.center_of_mass, y.center_of_mass) << x.name;
    ASSERT_EQ(x.shapes.size(), y.shapes.size()) << x.name;
    for (std::size_t s = 0; s < x.shapes.size(); ++s) {
      EXPECT_EQ(x.shapes[s].pose.position, y.shapes[s].pose.position) << x.name << " shape " << s;
      EXPECT_EQ(x.shapes[s].pose.orientation.coeffs(), y.shapes[s].pose.orientation.coeffs())
          << x.name << " shape " << s;
    }
  }
  for (std::size_t k = 0; k < a.joints.size(); ++k) {
    const JointDescription &x = a.joints[k], &y = b.joints[k];
    EXPECT_EQ(x.at, y.at) << x.name;
    EXPECT_EQ(x.axis, y.axis) << x.name;
    EXPECT_EQ(x.second_axis, y.second_axis) << x.name;
    EXPECT_EQ(x.polynomial, y.polynomial) << x.name;
  }
}

class SharedModels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = fs::path(SLIPSTICK_SOURCE_DIR) / "../shared/data/models" / GetParam();
    if (!fs::exists(path_)) GTEST_SKIP() << "no models beside the project: " << path_;
  }
  fs::path path_;
};

TEST_P(SharedModels, TheWrittenSceneMovesInTheSameBits) {
  ImportOptions options;
  options.floor = path_.extension() == ".urdf";
  ImportReport report;
  const Result<Scene> direct = load_any(path_.string(), options, &report);
  ASSERT_TRUE(direct) << direct.faults()[0].text();
  const fs::path folder = fs::path(testing::TempDir()) / ("slipstick_models_" + std::to_string(getpid()));
  fs::create_directories(folder / "files");
  const SceneText written = write_scene_text(*direct, report, "files");
  for (const SceneText::File& file : written.files) std::ofstream(folder / file.name) << file.bytes;
  std::ofstream(folder / "scene.yaml") << written.text;
  const Result<Scene> again = load_scene((folder / "scene.yaml").string());
  fs::remove_all(folder);
  ASSERT_TRUE(again) << again.faults()[0].text();
  expect_same(direct->description, again->description);
  EXPECT_EQ(hash(direct->model), hash(again->model));
  EXPECT_EQ(hash(direct->initial), hash(again->initial));
  Simulation one(direct->model, direct->initial, direct->options), two(again->model, again->initial, again->options);
  for (int k = 0; k < 10; ++k) {
    one.step();
    two.step();
  }
  EXPECT_EQ(hash(one.state()), hash(two.state()));
}

const char* const kModels[] = {"mjcf/dm_control/acrobot.xml",
                               "mjcf/dm_control/ball_in_cup.xml",
                               "mjcf/dm_control/cartpole.xml",
                               "mjcf/dm_control/cheetah.xml",
                               "mjcf/dm_control/finger.xml",
                               "mjcf/dm_control/hopper.xml",
                               "mjcf/dm_control/humanoid.xml",
                               "mjcf/dm_control/pendulum.xml",
                               "mjcf/dm_control/walker.xml",
                               "mjcf/menagerie/agility_cassie/scene.xml",
                               "mjcf/menagerie/kuka_iiwa_14/scene.xml",
                               "mjcf/menagerie/pal_tiago/scene_position.xml",
                               "mjcf/menagerie/robotiq_2f85/scene.xml",
                               "mjcf/menagerie/skydio_x2/scene.xml",
                               "mjcf/menagerie/trossen_wx250s/scene.xml",
                               "mjcf/menagerie/wonik_allegro/scene_right.xml",
                               "urdf/abb_irb120_support/urdf/abbIrb120.urdf",
                               "urdf/bolt_description/robots/bolt.urdf",
                               "urdf/double_pendulum_description/urdf/double_pendulum.urdf",
                               "urdf/finger_edu_description/robots/finger_edu.urdf",
                               "urdf/iris_description/robots/iris.urdf",
                               "urdf/panda_description/urdf/panda.urdf",
                               "urdf/simple_humanoid_description/urdf/simple_humanoid.urdf"};
INSTANTIATE_TEST_SUITE_P(All, SharedModels, testing::ValuesIn(kModels), [](const auto& info) {
  std::string name =
      fs::path(info.param).parent_path().filename().string() + "_" + fs::path(info.param).stem().string();
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

}  // namespace
}  // namespace slipstick::test
