// Boxes that slide, tip or push each other, flush with each other's sides, move alike whether they are given as box,
// hull or mesh, and the judge of overlaps finds nothing that was missed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "audit/world_audit.h"
#include "collision/contact_finder.h"
#include "flush/flush_forms.h"
#include "support/simulate.h"

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

std::string write_body(const char* name, const char* how, const Pose& pose, const Vec3& half) {
  return std::string("  - {name: ") + name + ", " + how + ", position: " + write(pose.position) +
         ", orientation: " + write(pose.orientation) + ", shapes: [{box: {size: " + write(2 * half) + "}}]}\n";
}

/// Bodies, friction, and gravity against `up`.
Scene make_scene(const std::string& bodies, const Vec3& up) {
  std::ostringstream text;
  text << "materials: {default: {friction: " << kFriction << "}}\nbodies:\n"
       << bodies << "simulation: {duration: 1, step: 1/100}\ngravity: " << write(-kWeight * up) << "\n";
  return scene_of(text.str());
}

Scene make_scene(const FlushPlacement& placed) {
  return make_scene(
      write_body("a", "fixed: true", placed.a, placed.half_a) + write_body("b", "mass: 1", placed.b, placed.half_b),
      placed.up);
}

struct FlushSum {
  int count = 0, differ = 0;
  int at_edges = 0;              ///< of these, parted in a step in which a corner passes an edge
  long steps = 0, passages = 0;  ///< of the boxes; of these, in which a corner passes an edge
  double worst = 0;              ///< difference of the motions, of the size
  WorldVerdict verdict;
};

double calc_difference(const State& e, const State& f, std::size_t bodies, double size) {
  double off = 0;
  for (std::size_t k = 0; k < bodies; ++k) {
    const Pose &p = e.pose[k], &q = f.pose[k];
    off = std::max(off, (p.position - q.position).norm() / size + p.orientation.angularDistance(q.orientation));
  }
  return off;
}

/// How near a corner of one box comes to an edge of the other between two states, as a multiple of its own way in that
/// time: below one it may pass the edge in that step. From the boxes alone, without the contact finder.
double calc_passage(const Model& model, const State& from, const State& to, double size) {
  double least = kInfinity;
  const auto place = [&](const State& state, const Shape& corner_of, const Vec3& corner, const Shape& edge_of) {
    const Pose &own = state.pose[corner_of.body], &other = state.pose[edge_of.body];
    return Vec3(other.orientation.conjugate() * (own.position + own.orientation * corner - other.position));
  };
  for (const Shape& one : model.shapes) {
    for (const Shape& other : model.shapes) {
      if (one.body == other.body) continue;
      for (int k = 0; k < 8; ++k) {
        const Vec3 corner = Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1).cwiseProduct(one.half_size);
        const Vec3 before = place(from, one, corner, other), after = place(to, one, corner, other);
        const double way = (after - before).norm() + 1e-9 * size;
        for (const Vec3& p : {before, after}) {
          const Vec3 out = p.cwiseAbs() - other.half_size;
          for (int axis = 0; axis < 3; ++axis) {  // the edges along it
            const double u = out[(axis + 1) % 3], v = out[(axis + 2) % 3], beyond = std::max(out[axis], 0.0);
            least = std::min(least, std::sqrt(u * u + v * v + beyond * beyond) / way);
          }
        }
      }
    }
  }
  return least;
}

/// Runs the boxes and the same in other forms for a second.
void compare(const Scene& boxes, const std::vector<Form>& kinds, double size, const std::string& name, Random* random,
             FlushSum* sum) {
  constexpr double kAlike = 1e-6, kParted = 1e-7;
  Scene forms = boxes;
  std::string what = name;
  for (std::size_t body = 0; body < kinds.size(); ++body) {
    set_form(kinds[body], static_cast<int>(body), random, &forms);
    what += std::string(", ") + name_of(kinds[body]);
  }
  Simulation expected = simulation_of(boxes), found = simulation_of(forms);
  ContactFinder finder(forms.model);
  WorldAudit audit(forms.model);
  const std::vector<double> reach(forms.model.bodies.size(), 0.0);
  ContactSet contacts;
  double off = 0;
  bool passes = false;
  std::ostringstream parted;
  State before = expected.state();
  for (int step = 1; step <= 100; ++step) {
    run_until(0.01 * step, &expected);
    run_until(0.01 * step, &found);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << what;
    if (step % 10 == 0) {
      finder.find(found.state(), reach, &contacts);
      sum->verdict.add(audit.check_all(found.state(), contacts.contacts));
    }
    const double last = off, passage = calc_passage(boxes.model, before, expected.state(), size);
    ++sum->steps;
    sum->passages += passage < 1;
    off = calc_difference(expected.state(), found.state(), kinds.size(), size);
    if (off > kParted && parted.str().empty()) {
      passes = passage < 1;
      parted << "parted in step " << step << " (" << last << " to " << off << "), corner at " << passage
             << " of its way from an edge";
    }
    before = expected.state();
  }
  if (off < kAlike) {
    sum->worst = std::max(sum->worst, off);
  } else {
    ++sum->differ;
    sum->at_edges += passes;
    std::cout << what << ": differs by " << off << " of the size, " << parted.str() << "\n";
  }
  ++sum->count;
}

/// All motions are alike but those that part in a step in which a corner passes an edge, where `at_edges` is allowed.
void expect_alike(const char* what, bool at_edges, const FlushSum& sum) {
  std::cout << sum.count << " " << what << ", " << sum.differ << " differ, the others by at most " << sum.worst
            << " of the size, " << sum.verdict.missed << " missed contacts in " << sum.verdict.pairs
            << " pairs, a corner at an edge in " << sum.passages << " of " << sum.steps << " steps\n";
  EXPECT_EQ(sum.differ, at_edges ? sum.at_edges : 0);
  EXPECT_EQ(sum.verdict.missed, 0);
  EXPECT_GE(sum.verdict.pairs, sum.count);
}

/// The first of them, to look at one alone.
int calc_first() {
  const char* const asked = std::getenv("SLIPSTICK_FLUSH_FROM");
  return asked ? std::atoi(asked) : 0;
}

int calc_count(int usual) {
  const char* const asked = std::getenv("SLIPSTICK_FLUSH");
  return asked ? std::atoi(asked) : usual;
}

constexpr std::array<double, 4> kOffsets{0, 1e-12, 1e-9, 1e-6};

Form choose_form(Random* random) { return kForms[random->index(kForms.size())]; }
Form choose_other_form(Random* random) { return kForms[1 + random->index(kForms.size() - 1)]; }

TEST(FlushSlides, MoveAlikeWhateverTheyAreMadeOf) {
  FlushSum sum;
  const int count = calc_count(75);
  for (int k = 0; k < count; ++k) {
    Random random(500 + k);
    const FlushPlacement placed = make_slide(kOffsets[k % kOffsets.size()], &random);
    const double speed = std::sqrt(2 * kFriction * kWeight * kTravel * placed.size) * random.uniform(0.2, 1);
    const Vec3 along = random.index(2) ? Vec3(placed.a.orientation * Vec3::Unit(random.index(2)))
                                       : Vec3(placed.up.cross(random.direction()).normalized());
    Scene boxes = make_scene(placed);
    boxes.initial.velocity[1].linear = speed * along;
    const Form below = choose_form(&random), above = choose_other_form(&random);
    compare(boxes, {below, above}, placed.size, "slide " + std::to_string(k), &random, &sum);
    if (HasFatalFailure()) return;
  }
  expect_alike("slides", false, sum);
}

/// Anywhere: what is not carried tips over the edge, over a corner or falls off. Not where it stands on the edge as a
/// needle on its point: there rounding decides, of boxes too. A few of the others differ by right: where a corner
/// passes an edge within one step, a row with the normal of either side of it is a legal one for that step, and which
/// is taken decides where the body goes. That is asked of the boxes' geometry: they move alike to the last digits until
/// such a step, or the test fails.
TEST(FlushReleases, TipAlikeWhateverTheyAreMadeOf) {
  FlushSum sum;
  const int count = calc_count(75);
  const int first = calc_first();
  for (int k = first; k < first + count; ++k) {
    Random random(30000 + k);
    FlushPlacement placed;
    do {
      placed = make_flush_placement(kOffsets[k % kOffsets.size()], &random);
    } while (std::abs(calc_margin(placed)) < 0.02 * placed.size);
    const Form below = choose_form(&random), above = choose_other_form(&random);
    compare(make_scene(placed), {below, above}, placed.size, "release " + std::to_string(k), &random, &sum);
    if (HasFatalFailure()) return;
  }
  expect_alike("releases", true, sum);
}

/// Two plates of one thickness lie on a third; one slides at the other with their sides in line, takes it along, and
/// both come to rest. Normals along the thickness would lift or stop them.
TEST(FlushPushes, GoTogetherWhateverTheyAreMadeOf) {
  FlushSum sum;
  const int count = calc_count(50);
  for (int k = 0; k < count; ++k) {
    Random random(60000 + k);
    Pose frame;
    if (random.index(2)) frame = {3 * random.direction(), random.rotation()};
    const Vec3 half(random.uniform(0.1, 0.3), 0.2, random.index(2) ? 0.01 : 0.1), floor(1, 0.2, 0.1);
    const double size = 0.2, offset = kOffsets[k % kOffsets.size()] * size;
    const auto aside = [&] { return offset * (random.index(3) - 1); };
    const auto place = [&](double x, double y, double z) {
      return Pose{frame.position + frame.orientation * Vec3(x, y, z), frame.orientation};
    };
    const double apart = random.index(2) ? 0 : 0.01, top = floor.z() + half.z();
    const Vec3 up = frame.orientation * Vec3::UnitZ();
    Scene boxes = make_scene(write_body("floor", "fixed: true", frame, floor) +
                                 write_body("a", "mass: 1", place(-0.5, aside(), top + aside()), half) +
                                 write_body("b", "mass: 1", place(-0.5 + 2 * half.x() + apart, aside(), top), half),
                             up);
    constexpr double kSpeed = 1;
    boxes.initial.velocity[1].linear = kSpeed * (frame.orientation * Vec3::UnitX());
    const std::vector<Form> kinds{choose_form(&random), choose_form(&random), choose_other_form(&random)};
    compare(boxes, kinds, size, "push " + std::to_string(k), &random, &sum);
    if (HasFatalFailure()) return;
  }
  expect_alike("pushes", false, sum);
}

}  // namespace
}  // namespace slipstick::test
