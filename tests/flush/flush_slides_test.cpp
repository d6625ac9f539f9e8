// Boxes that slide, flush with each other's sides, move alike whether they are given as box, hull or mesh.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "support/simulate.h"
#include "unit/collision/flush_support.h"

namespace slipstick::test {
namespace {

constexpr double kFriction = 0.3, kWeight = 9.81, kTravel = 0.1;

/// How far the middle of B is inside of what carries it.
double calc_margin(const FlushPlacement& placed) {
  double margin = kInfinity;
  for (std::size_t k = 0; k < placed.outline.size(); ++k) {
    const Vec3 side = placed.outline[(k + 1) % placed.outline.size()] - placed.outline[k];
    if (side.norm() < 1e-9 * placed.size) continue;
    margin = std::min(margin, placed.up.cross(side.normalized()).dot(placed.b.position - placed.outline[k]));
  }
  return margin;
}

/// One from which B slides for kTravel of its size without falling over or off.
FlushPlacement make_slide(double offset, Random* random) {
  for (;;) {
    const FlushPlacement placed = make_flush_placement(offset, random);
    const double height = placed.up.dot(placed.b.position - placed.corners[0]);
    if (calc_margin(placed) > 1.2 * kFriction * height + 1.5 * kTravel * placed.size) return placed;
  }
}

std::string write(const Vec3& v) {
  std::ostringstream text;
  text.precision(17);
  text << "[" << v.x() << ", " << v.y() << ", " << v.z() << "]";
  return text.str();
}

std::string write(const Quat& q) {
  std::ostringstream text;
  text.precision(17);
  text << "[" << q.w() << ", " << q.x() << ", " << q.y() << ", " << q.z() << "]";
  return text.str();
}

Scene make_scene(const FlushPlacement& placed, const Vec3& velocity) {
  std::ostringstream text;
  text << "materials: {default: {friction: " << kFriction << "}}\n"
       << "bodies:\n"
       << "  - {name: a, fixed: true, position: " << write(placed.a.position)
       << ", orientation: " << write(placed.a.orientation) << ", shapes: [{box: {size: " << write(2 * placed.half_a)
       << "}}]}\n"
       << "  - {name: b, mass: 1, position: " << write(placed.b.position)
       << ", orientation: " << write(placed.b.orientation) << ", velocity: " << write(velocity)
       << ", shapes: [{box: {size: " << write(2 * placed.half_b) << "}}]}\n"
       << "simulation: {duration: 1, step: 1/100}\ngravity: " << write(-kWeight * placed.up) << "\n";
  return scene_of(text.str());
}

/// The same scene with the box of body `index` in another form.
void set_form(Form form, int index, Random* random, Scene* scene) {
  Model& model = scene->model;
  for (Shape& shape : model.shapes) {
    if (shape.body != index || form == Form::Box) continue;
    const Solid solid = make_form(form, shape.half_size, random);
    shape.kind = solid.shape.kind;
    if (solid.surface) {
      shape.surface = static_cast<int>(model.surfaces.size());
      model.surfaces.push_back(solid.surface);
    } else {
      shape.hull = static_cast<int>(model.hulls.size());
      model.hulls.push_back(solid.hull);
    }
  }
}

TEST(FlushSlides, MoveAlikeWhateverTheyAreMadeOf) {
  const char* const asked = std::getenv("SLIPSTICK_FLUSH");
  const int count = asked ? std::atoi(asked) : 75;
  constexpr std::array<double, 4> kOffsets{0, 1e-12, 1e-9, 1e-6};
  double worst = 0;
  for (int k = 0; k < count; ++k) {
    Random random(500 + k);
    const FlushPlacement placed = make_slide(kOffsets[k % kOffsets.size()], &random);
    const double speed = std::sqrt(2 * kFriction * kWeight * kTravel * placed.size) * random.uniform(0.2, 1);
    const Vec3 along = random.index(2) ? Vec3(placed.a.orientation * Vec3::Unit(random.index(2)))
                                       : Vec3(placed.up.cross(random.direction()).normalized());
    const Scene boxes = make_scene(placed, speed * along);
    Scene forms = boxes;
    const Form form_a = kForms[random.index(kForms.size())], form_b = kForms[1 + random.index(kForms.size() - 1)];
    set_form(form_a, 0, &random, &forms);
    set_form(form_b, 1, &random, &forms);
    Simulation expected = simulation_of(boxes), found = simulation_of(forms);
    run_until(1, &expected);
    run_until(1, &found);
    if (HasFatalFailure()) FAIL() << k;
    const Pose &e = expected.state().pose[1], &f = found.state().pose[1];
    const double off = (e.position - f.position).norm() / placed.size + e.orientation.angularDistance(f.orientation);
    worst = std::max(worst, off);
    EXPECT_LT(off, 1e-6) << k << ": " << name_of(form_b) << " on " << name_of(form_a);
    EXPECT_GT((f.position - placed.b.position).norm(), 1e-3 * placed.size) << k;
  }
  std::cout << count << " slides, worst difference " << worst << " of the size\n";
}

}  // namespace
}  // namespace slipstick::test
