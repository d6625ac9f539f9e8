// Robots of others at work, where a folder of them lies beside the project.
#include <slipstick/simulation.h>

#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "unit/import/import_support.h"

namespace slipstick::test {
namespace {

namespace fs = std::filesystem;

class Demonstrations : public testing::Test {
 protected:
  /// The scene, or a reason to skip.
  bool load(const std::string& name, const std::string& key = "") {
    const fs::path path = fs::path(SLIPSTICK_SOURCE_DIR) / "../shared/data/models/mjcf/menagerie" / name;
    if (!fs::exists(path)) return false;
    ImportOptions options;
    options.key = key;
    Result<Scene> scene = load_any(path.string(), options);
    EXPECT_TRUE(scene) << scene.faults()[0].text();
    if (!scene) return false;
    scene_ = std::move(scene).value();
    return true;
  }
  Scene scene_;
};

/// Each joint of the arm lags behind its target by what its damper needs and sags by what gravity needs, over kp =
/// 2000.
TEST_F(Demonstrations, AKukaArmFollowsASineByItsPositionActuators) {
  if (!load("kuka_iiwa_14/scene.xml", "home")) GTEST_SKIP() << "no models beside the project";
  Simulation simulation(scene_);
  const double amplitude = 0.3, omega = 2 * std::numbers::pi / 2;
  const std::array<double, 7> middle{0, 0.785398, 0, -1.5708, 0, 0, 0};
  double worst = 0, farthest = 0;
  const auto joint = [](int k) { return "joint" + std::to_string(k + 1); };
  std::array<double, 7> start{};
  for (int k = 0; k < 7; ++k) start[k] = simulation.joint(joint(k)).position;
  for (int step = 0; step < 2000; ++step) {
    const double t = simulation.state().time;
    const double swing = amplitude * (1 - std::exp(-3 * t * t)) * std::sin(omega * t);
    Inputs in = simulation.inputs();
    for (int k = 0; k < 7; ++k) in.motor(joint(k)).target = middle[k] + swing;
    ASSERT_TRUE(simulation.step(in).certified);
    if (t < 1) continue;
    for (int k = 0; k < 7; ++k) {
      const double turned = simulation.joint(joint(k)).position - start[k];
      worst = std::max(worst, std::abs(turned - swing));
      farthest = std::max(farthest, std::abs(turned));
    }
  }
  RecordProperty("worst", std::to_string(worst));
  EXPECT_LT(worst, (200 * amplitude * omega + 70) / 2000);  // kv of the speed, and 70 N m at most for gravity
  EXPECT_GT(farthest, 0.9 * amplitude);
}

TEST_F(Demonstrations, AGripperClosesOnABoxAndHoldsItAgainstPulls) {
  if (!load("robotiq_2f85/scene.xml")) GTEST_SKIP() << "no models beside the project";
  Simulation simulation(scene_);
  const int box = *scene_.model.find_body("object");
  const auto run = [&](double seconds, double grip, const Vec3& pull) {
    double joint_error = 0;
    for (int k = 0; k < std::lround(seconds / scene_.options.step); ++k) {
      Inputs in = simulation.inputs();
      in.motor("right_driver_joint").target = grip;
      in.force(box, pull);
      const StepReport& report = simulation.step(in);
      EXPECT_FALSE(report.failed);
      joint_error = std::max(joint_error, report.certificate.joint_error);
    }
    EXPECT_LT(joint_error, 1e-4);
  };
  run(1, 0.8, Vec3::Zero());
  const Vec3 held = simulation.state().pose[box].position;
  for (const Vec3& pull : {Vec3(0, 0, -2), Vec3(0, 0, 2), Vec3(2, 0, 0), Vec3(0, 2, 0)}) {
    run(0.25, 0.8, pull);
    const double moved = (simulation.state().pose[box].position - held).norm();
    EXPECT_LT(moved, 2e-3) << pull.transpose();
  }
  run(1, 0, Vec3(0, 0, -2));  // open: it falls back on its rope
  EXPECT_GT((simulation.state().pose[box].position - held).norm(), 5e-3);
}

/// examples/hold_box.xml beside the gripper's own file: the tray sinks away, and the box stays where the fingers took
/// it; with the fingers open it goes down with the tray.
TEST_F(Demonstrations, AGripperTakesABoxFromATray) {
  const fs::path gripper = fs::path(SLIPSTICK_SOURCE_DIR) / "../shared/data/models/mjcf/menagerie/robotiq_2f85";
  if (!fs::exists(gripper)) GTEST_SKIP() << "no models beside the project";
  const fs::path folder = fs::path(testing::TempDir()) / ("slipstick_hold_" + std::to_string(getpid()));
  fs::copy(gripper, folder, fs::copy_options::recursive);
  fs::copy_file(fs::path(SLIPSTICK_SOURCE_DIR) / "examples/hold_box.xml", folder / "hold_box.xml");
  for (const char* key : {"grip", "open"}) {
    ImportOptions options;
    options.key = key;
    const Result<Scene> scene = load_any((folder / "hold_box.xml").string(), options);
    ASSERT_TRUE(scene) << scene.faults()[0].text();
    Simulation simulation(*scene);
    const int box = *scene->model.find_body("box"), tray = *scene->model.find_body("tray");
    const double box_start = simulation.state().pose[box].position.z(),
                 tray_start = simulation.state().pose[tray].position.z();
    int uncertified = 0;
    double joint_error = 0;
    for (int k = 0; k < 1000; ++k) {
      const StepReport& report = simulation.step();
      uncertified += report.certified ? 0 : 1;
      joint_error = std::max(joint_error, report.certificate.joint_error);
    }
    EXPECT_EQ(uncertified, 0) << key;
    EXPECT_LT(joint_error, 2e-6) << key;
    const double sunk = tray_start - simulation.state().pose[tray].position.z(),
                 fallen = box_start - simulation.state().pose[box].position.z();
    EXPECT_GT(sunk, 0.01) << key;  // onto the palm
    if (key == std::string("grip")) {
      EXPECT_LT(std::abs(fallen), 1e-3);
      EXPECT_LT(simulation.state().velocity[box].linear.norm(), 1e-6);
    } else {
      EXPECT_NEAR(fallen, sunk, 1e-4);
    }
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace slipstick::test
