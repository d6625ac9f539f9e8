// What slides straight on a slab of its own width brakes by mu g, whatever it and the slab are made of: the closed
// form.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "flush/flush_forms.h"
#include "support/simulate.h"

namespace slipstick::test {
namespace {

constexpr double kMu = 0.3, kGravity = 9.81;

std::string block_file() { return std::string(SLIPSTICK_SOURCE_DIR) + "/scenes/shapes/l_block.obj"; }

struct Slider {
  const char* name;
  std::string place, shapes;
};

/// All are as wide as the slab, or lie along its edge.
std::vector<Slider> make_sliders() {
  const std::string lying = ", orientation: {axis: [0, 1, 0], angle_deg: 90}";
  return {
      {"box", "[-1.5, 0, 0.1]", "{box: {size: [0.1, 0.2, 0.1]}}"},
      {"cylinder", "[-1.5, 0, 0.07]", "{cylinder: {radius: 0.1, length: 0.04}}"},
      {"cone", "[-1.5, 0, 0.07]", "{cone: {radius: 0.1, length: 0.04}}"},
      {"L as mesh", "[-1.5, -0.1, 0.05]", "{mesh: {file: " + block_file() + "}}"},
      {"L as boxes", "[-1.5, -0.1, 0.05]",
       "{box: {size: [0.3, 0.2, 0.1]}, position: [0.15, 0.1, 0.05]}, "
       "{box: {size: [0.1, 0.2, 0.2]}, position: [0.05, 0.1, 0.2]}"},
      {"lying cylinder", "[-1.5, 0, 0.1]" + lying, "{cylinder: {radius: 0.05, length: 0.4}}"},
      {"lying capsule", "[-1.5, 0, 0.1]" + lying, "{capsule: {radius: 0.05, length: 0.4}}"},
      {"capsule over the edge", "[-1.5, 0.1, 0.1]" + lying, "{capsule: {radius: 0.05, length: 0.4}}"},
  };
}

Scene make_sliding(const std::string& below, const Slider& slider, const std::string& velocity) {
  SceneLoadOptions options;
  options.allow_path = true;  // wherever the test is run from
  return scene_of("materials: {default: {friction: 0.3}}\nbodies:\n  - {name: below, fixed: true, shapes: [" + below +
                      "]}\n  - {name: slider, density: 500, position: " + slider.place + ", velocity: " + velocity +
                      ", shapes: [" + slider.shapes + "]}\nsimulation: {duration: 0.1, step: 1/500}\n",
                  options);
}

void expect_braked(const Scene& scene, const Vec3& before, const std::string& what) {
  constexpr double kTime = 0.1;
  ASSERT_FALSE(scene.model.bodies.empty()) << what;
  Simulation simulation = simulation_of(scene);
  run_until(kTime, &simulation);
  const WorldMotion motion = motion_of(simulation, "slider");
  const Vec3 expected = before - kMu * kGravity * kTime * before.normalized();
  EXPECT_LT((motion.velocity - expected).norm(), 1e-10) << what;
  EXPECT_LT(motion.angular_velocity.norm(), 1e-9) << what;
}

TEST(FlushFriction, IsTheClosedForm) {
  for (const Slider& slider : make_sliders()) {
    for (const Form form : kForms) {
      Scene scene = make_sliding("{box: {size: [4, 0.2, 0.1]}}", slider, "[1, 0, 0]");
      Random random(1);
      set_form(form, 0, &random, &scene);
      expect_braked(scene, Vec3::UnitX(), std::string(slider.name) + " on " + name_of(form));
    }
    const std::string field =
        "{heightfield: {data: [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]], size: [4, 0.2]}, "
        "position: [0, 0, 0.05]}";
    expect_braked(make_sliding(field, slider, "[1, 0, 0]"), Vec3::UnitX(), std::string(slider.name) + " on a field");
  }
}

/// An L in the notch of another, flush with it on three sides, slides out along the notch.
TEST(FlushFriction, AnLOnAnLSlidesAlongTheNotch) {
  const std::vector<Slider> sliders = make_sliders();
  for (int below : {3, 4}) {
    for (int above : {3, 4}) {
      const Slider slider{"", "[0.1, 0, 0.1]", sliders[above].shapes};
      expect_braked(make_sliding(sliders[below].shapes, slider, "[0, 0.5, 0]"), 0.5 * Vec3::UnitY(),
                    std::string(sliders[above].name) + " on " + sliders[below].name);
    }
  }
}

}  // namespace
}  // namespace slipstick::test
