// URDF and MJCF to scenes, against what their formats say; and scenes to text and back, to the last bit.
#include <slipstick/simulation.h>

#include <cmath>
#include <numbers>

#include "unit/import/import_support.h"

namespace slipstick::test {
namespace {

const Axis* axis_named(const Scene& scene, const std::string& joint) {
  for (const Axis& axis : scene.model.axes)
    if (scene.model.joints[axis.joint].name == joint) return &axis;
  ADD_FAILURE() << "no axis of " << joint;
  return nullptr;
}

TEST(Urdf, LinksJointsAndMimicBecomeBodiesHingesAndGears) {
  ImportReport report;
  const Scene scene = model_of(kUrdf, {}, &report);
  EXPECT_EQ(report.format, "URDF");
  EXPECT_EQ(scene.name, "arm");
  ASSERT_EQ(scene.model.bodies.size(), 3u) << "tool is one body with upper";
  EXPECT_EQ(body_named(scene, "base").kind, BodyKind::Fixed);
  const Body& upper = body_named(scene, "upper");
  EXPECT_NEAR(upper.mass, 2.5, 1e-15);
  EXPECT_NEAR(upper.center_of_mass.z(), (2 * 0.5 + 0.5 * 1) / 2.5, 1e-14);
  const double apart = 2 * 0.5 / 2.5 * 0.25;  // reduced mass times distance squared
  EXPECT_NEAR(upper.inertia(0, 0), 0.2 + 0.01 + apart, 1e-14);
  EXPECT_NEAR(upper.inertia(2, 2), 0.02, 1e-14);
  const Axis* shoulder = axis_named(scene, "shoulder");
  ASSERT_NE(shoulder, nullptr);
  EXPECT_EQ(shoulder->damping, 0.4);
  EXPECT_EQ(shoulder->friction, 0.1);
  EXPECT_EQ(shoulder->start, 0.2) << "zero is not in its range";
  ASSERT_TRUE(shoulder->motor);
  EXPECT_EQ(shoulder->motor->max.constant(), 30);
  ASSERT_EQ(scene.model.couplings.size(), 1u);
  Simulation simulation(scene.model, scene.initial, scene.options);
  for (int k = 0; k < 50; ++k) ASSERT_TRUE(simulation.step().certified);
  EXPECT_NEAR(simulation.joint("rail").position, 0.1 + 0.5 * simulation.joint("shoulder").position, 1e-6);
}

TEST(Mjcf, DefaultsMassesAxesActuatorsAndKeysAreThoseOfTheFile) {
  const Scene scene = model_of(kMjcf);
  EXPECT_EQ(scene.options.step, 0.004);
  EXPECT_EQ(scene.model.gravity.z(), -10);
  EXPECT_NEAR(body_named(scene, "hip").mass, 500 * 0.2 * 0.4 * 0.6, 1e-12);
  const double r = 0.04;
  EXPECT_NEAR(body_named(scene, "thigh").mass, 500 * std::numbers::pi * (r * r * 0.5 + 4.0 / 3.0 * r * r * r), 1e-12);
  EXPECT_EQ(body_named(scene, "foot").gravity_scale, 0.5);
  const Axis* lift = axis_named(scene, "lift");
  ASSERT_NE(lift, nullptr);
  EXPECT_EQ(lift->armature, 0.02);
  EXPECT_EQ(lift->stiffness, 12);
  EXPECT_NEAR(lift->rest, std::numbers::pi / 6, 1e-15);
  ASSERT_TRUE(lift->motor);
  EXPECT_EQ(lift->motor->stiffness, 40);
  EXPECT_EQ(lift->motor->damping, 2);
  EXPECT_EQ(lift->motor->max.constant(), 9);
  ImportOptions up;
  up.key = "up";
  const Scene raised = model_of(kMjcf, up);
  EXPECT_NEAR(raised.initial.pose[*raised.model.find_body("hip")].position.z(), 3, 1e-12);
  EXPECT_NEAR(axis_named(raised, "lift")->motor->target.constant(), 0.5, 1e-15);
  EXPECT_EQ(axis_named(raised, "lift")->start, 0.2);
  up.key = "down";
  EXPECT_NE(model_faults(kMjcf, up).at(0).find("no such keyframe (known: up)"), std::string::npos);
}

TEST(Import, WhatIsNotModelledIsListedWithItsLine) {
  ImportReport report;
  model_of(kMjcf, {}, &report);
  bool light = false;
  for (const ImportItem& item : report.ignored) light |= item.what == "element light" && item.place.line == 11;
  EXPECT_TRUE(light);
  model_of(kUrdf, {}, &report);
  int speeds = 0;
  for (const ImportItem& item : report.ignored) speeds += item.what == "attribute 'velocity' of limit" ? 1 : 0;
  EXPECT_EQ(speeds, 2);
}

TEST(Import, TheWrittenSceneIsTheSameModelAndMovesInTheSameBits) {
  ImportOptions floor;
  floor.floor = true;
  for (const std::string& text : {kUrdf, kMjcf}) {
    ImportReport report;
    const Scene direct = model_of(text, floor, &report);
    const SceneText written = write_scene_text(direct, report, "files");
    const Result<Scene> again = parse_scene(written.text, "written.yaml");
    ASSERT_TRUE(again) << again.faults()[0].text() << "\n" << written.text;
    EXPECT_EQ(hash(direct.model), hash(again->model));
    EXPECT_EQ(hash(direct.initial), hash(again->initial));
    Simulation one(direct.model, direct.initial, direct.options), two(again->model, again->initial, again->options);
    for (int k = 0; k < 100; ++k) {
      one.step();
      two.step();
    }
    EXPECT_EQ(hash(one.state()), hash(two.state()));
  }
}

TEST(Import, FaultsHaveLineColumnAndSuggestion) {
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  EXPECT_EQ(model_faults(with(kUrdf, "<parent link=\"base\"/>", "<parent link=\"bas\"/>")).at(0),
            "model.xml:15:36: unknown link 'bas' in joint 'shoulder'; did you mean 'base'?");
  EXPECT_NE(
      model_faults(with(kMjcf, "<joint name=\"lift\"", "<joitn name=\"lift\"")).at(0).find("did you mean 'joint'?"),
      std::string::npos);
  EXPECT_NE(
      model_faults(with(kMjcf, "class=\"stiff\" range", "class=\"stif\" range")).at(0).find("did you mean 'stiff'?"),
      std::string::npos);
  EXPECT_NE(model_faults(with(kMjcf, "size=\"0.1 0.2 0.3\"", "size=\"0.1 x 0.3\"")).at(0).find("numbers for 'size'"),
            std::string::npos);
  EXPECT_NE(model_faults("<!DOCTYPE a [<!ENTITY x \"y\">]><robot name=\"&x;\"/>").at(0).find("refused"),
            std::string::npos);
  std::string deep;
  for (int k = 0; k < 200; ++k) deep += "<body>";
  EXPECT_NE(model_faults("<mujoco><worldbody>" + deep).at(0).find("nested more than"), std::string::npos);
  EXPECT_NE(model_faults("<mujoco model=\"" + std::string(2 << 20, 'x') + "\"/>").at(0).find("more than the limit"),
            std::string::npos);
  const std::string escape = "<mujoco><include file=\"../../../../etc/passwd\"/></mujoco>";
  EXPECT_NE(model_faults(escape).at(0).find("lies outside the model's folder"), std::string::npos);
}

/// Every cut and many single changes of two good files: a scene, or faults; never a crash, never an empty list.
TEST(Import, BrokenFilesHaveOneClearLineEach) {
  int broken = 0;
  for (const std::string& text : {kUrdf, kMjcf}) {
    for (int k = 1; k <= 60; ++k) {
      const std::size_t at = text.size() * static_cast<std::size_t>(k) / 61;
      for (const std::string& made : {text.substr(0, at), text.substr(0, at) + "<\"" + text.substr(at)}) {
        const Result<Scene> scene = parse_model(made, "model.xml");
        if (scene) continue;
        ++broken;
        ASSERT_FALSE(scene.faults().empty());
        for (const Fault& fault : scene.faults()) {
          EXPECT_FALSE(fault.message.empty());
          EXPECT_EQ(fault.text().find('\n'), std::string::npos);
        }
      }
    }
  }
  EXPECT_GT(broken, 100);
}

}  // namespace
}  // namespace slipstick::test
