// Parts whose outline is not convex: mass, pieces, drawings, and what slides over the seams between pieces.
#include <gtest/gtest.h>
#include <slipstick/scene.h>
#include <slipstick/simulation.h>

#include <cmath>
#include <numbers>
#include <random>

#include "model/outline.h"
#include "scene/outline_file.h"
#include "support/simulate.h"

namespace slipstick {
namespace {

using test::motion_of;
using test::scene_of;

constexpr double kPi = std::numbers::pi;

/// Green's theorem on the rings themselves: area, and second moments about the origin.
struct Moments {
  double area = 0, x = 0, y = 0, polar = 0;
};
Moments calc_moments(const Outline& outline) {
  Moments m;
  for (const auto& ring : outline.rings)
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const Vec2 &p = ring[i], &q = ring[(i + 1) % ring.size()];
      const double c = p.x() * q.y() - p.y() * q.x();
      m.area += c / 2;
      m.x += c * (p.x() + q.x()) / 6;
      m.y += c * (p.y() + q.y()) / 6;
      m.polar += c * (p.dot(p) + p.dot(q) + q.dot(q)) / 12;
    }
  return m;
}

/// A star with so many random corners about a point, and a hole of the same kind.
Outline make_star(std::mt19937* random, int corners, bool hole) {
  std::uniform_real_distribution<double> share(0, 1);
  Outline outline;
  const auto ring = [&](double low, double high) {
    std::vector<Vec2> points;
    for (int k = 0; k < corners; ++k) {
      const double angle = 2 * kPi * (k + 0.6 * share(*random)) / corners, r = low + (high - low) * share(*random);
      points.emplace_back(0.3 + r * std::cos(angle), -0.2 + r * std::sin(angle));
    }
    return points;
  };
  outline.rings.push_back(ring(0.5, 1));
  if (hole) outline.rings.push_back(ring(0.1, 0.3));
  return outline;
}

TEST(Outlines, PiecesAreConvexAndMakeUpThePart) {
  std::mt19937 random(7);
  for (int k = 0; k < 400; ++k) {
    Outline outline = make_star(&random, 5 + k % 40, k % 2 == 0);
    ASSERT_FALSE(normalize(&outline)) << k;
    const Moments whole = calc_moments(outline);
    Moments sum;
    int outline_edges = 0;
    for (const OutlinePiece& piece : cut_outline(outline)) {
      const std::size_t n = piece.points.size();
      for (std::size_t i = 0; i < n; ++i) {
        const Vec2 a = piece.points[(i + 1) % n] - piece.points[i], b = piece.points[(i + 2) % n] - piece.points[i];
        ASSERT_GE(a.x() * b.y() - a.y() * b.x(), 0) << k;
        outline_edges += piece.corners[i].inner ? 0 : 1;
      }
      Outline single;
      single.rings = {piece.points};
      const Moments part = calc_moments(single);
      sum.area += part.area, sum.x += part.x, sum.y += part.y, sum.polar += part.polar;
    }
    std::size_t corners = 0;
    for (const auto& ring : outline.rings) corners += ring.size();
    EXPECT_EQ(outline_edges, static_cast<int>(corners)) << k;
    EXPECT_NEAR(sum.area, whole.area, 1e-12) << k;
    EXPECT_NEAR(sum.x, whole.x, 1e-12) << k;
    EXPECT_NEAR(sum.polar, whole.polar, 1e-12) << k;
  }
}

TEST(Outlines, MassIsExact) {
  // An L of two rectangles with a square hole, about its own centre; density 2 kg/m^2.
  const Scene scene = scene_of(R"yaml(
planar: true
bodies:
  - {name: l, density: 2, shapes: [{polygon: {points: [[0, 0], [3, 0], [3, 1], [1, 1], [1, 4], [0, 4]], holes: [[[0.25, 0.25], [0.75, 0.25], [0.75, 0.75], [0.25, 0.75]]]}}]}
)yaml");
  struct Box {
    double sign, w, h, x, y;
  };
  double mass = 0, x = 0, y = 0, inertia = 0;
  const std::array<Box, 3> boxes{Box{1, 3, 1, 1.5, 0.5}, Box{1, 1, 3, 0.5, 2.5}, Box{-1, 0.5, 0.5, 0.5, 0.5}};
  for (const Box& b : boxes) {
    const double m = b.sign * 2 * b.w * b.h;
    mass += m, x += m * b.x, y += m * b.y;
    inertia += m * ((b.w * b.w + b.h * b.h) / 12 + b.x * b.x + b.y * b.y);
  }
  inertia -= (x * x + y * y) / mass;
  const Body& body = scene.model.bodies[0];
  EXPECT_NEAR(body.mass, mass, 1e-12);
  EXPECT_NEAR(body.center_of_mass.x(), x / mass, 1e-12);
  EXPECT_NEAR(body.center_of_mass.y(), y / mass, 1e-12);
  EXPECT_NEAR(body.inertia(2, 2), inertia, 1e-11);
}

TEST(Outlines, ExtrusionsAndBodiesOfRevolutionHaveTheirMass) {
  const Scene scene = scene_of(R"yaml(
bodies:
  - {name: channel, density: 3, shapes: [{extrude: {points: [[0, 0], [3, 0], [3, 2], [2, 2], [2, 1], [1, 1], [1, 2], [0, 2]], length: 0.5}}]}
  - {name: wedge, density: 3, position: [9, 0, 0], shapes: [{extrude: {points: [[0, 0], [1, 0], [0, 1]], length: 2}}]}
  - {name: tube, density: 1, position: [0, 9, 0], shapes: [{revolve: {points: [[1, 0], [2, 0], [2, 3], [1, 3]], segments: 64}}]}
  - {name: cone, density: 1, position: [0, 19, 0], shapes: [{revolve: {points: [[0, 0], [1, 0], [0, 3]], segments: 64}}]}
)yaml");
  const auto& bodies = scene.model.bodies;
  EXPECT_NEAR(bodies[0].mass, 3 * 0.5 * 5, 1e-12);
  EXPECT_NEAR(bodies[0].center_of_mass.y(), (3 * 0.5 + 2 * 1.5) / 5, 1e-12);
  EXPECT_NEAR(bodies[1].mass, 3, 1e-12);
  EXPECT_EQ(scene.model.shapes[bodies[1].first_shape].kind, ShapeKind::Hull);
  const double polygon = 32 * std::sin(2 * kPi / 64);  // area of a regular polygon of 64 corners, radius 1
  EXPECT_NEAR(bodies[2].mass, polygon * 3 * (4 - 1), 1e-10);
  EXPECT_NEAR(bodies[3].mass, polygon * 1, 1e-10);
  EXPECT_NEAR(bodies[3].center_of_mass.z(), 0.75, 1e-10);
  // A regular polygon of n corners on the radius R has the polar moment n/12 sin(s) (2 + cos(s)) R^4, s = 2 pi/n.
  const double s = 2 * kPi / 64, polar = 64.0 / 12 * std::sin(s) * (2 + std::cos(s));
  EXPECT_NEAR(bodies[2].inertia(2, 2), polar * 3 * (16 - 1), 1e-8);
}

TEST(Outlines, RoundedCornersKeepTheirTolerance) {
  const std::vector<Vec2> square{{0, 0}, {2, 0}, {2, 2}, {0, 2}};
  for (const double tolerance : {1e-2, 1e-4}) {
    Outline outline;
    outline.rings = {round_corners(square, 0.5, tolerance)};
    const double missing = 4 - kPi;  // of a square of side 2r by its circle, r = 1
    const double exact = 4 - missing * 0.25;
    EXPECT_NEAR(calc_moments(outline).area, exact, 2 * kPi * 0.5 * tolerance);
    EXPECT_LT(calc_moments(outline).area, exact);
  }
}

TEST(Outlines, FaultsSayWhere) {
  const auto only = [](const std::string& points) {
    const Result<Scene> scene = parse_scene(
        "slipstick: 1\nplanar: true\nbodies:\n  - {name: a, mass: 1, shapes: [{polygon: {points: " + points + "}}]}\n",
        "s.yaml");
    return !scene && scene.faults().size() == 1 ? scene.faults()[0].text() : "no single fault";
  };
  EXPECT_EQ(only("[[0, 0], [1, 1], [1, 0], [0, 2]]"),
            "s.yaml:4:52: polygon of body 'a': sides of the outline cross or touch each other here, at [1, 0]");
  EXPECT_EQ(
      only("[[0, 0], [1, 1], [2, 2]]"),
      "s.yaml:4:52: polygon of body 'a': its points enclose no area; check their order and that they are not on one "
      "line, at [0, 0]");
}

/// Ground whose surface has a corner every 0.1 m, as good as straight; its pieces have seams at nearly all of them.
std::string make_seamy_ground(std::mt19937* random, double roughness) {
  std::uniform_real_distribution<double> off(-roughness, roughness);
  std::string points;
  for (int k = 100; k >= -20; --k) {
    char text[64];
    std::snprintf(text, sizeof text, "[%.17g, %.17g], ", 0.1 * k, off(*random));
    points += text;
  }
  return points + "[-2, -0.5], [4, -0.7], [10, -0.5]";
}

class Seams : public ::testing::TestWithParam<const char*> {};

TEST_P(Seams, AreNotFelt) {
  std::mt19937 random(3);
  for (const char* rider : {"box: {size: [0.35, 0.2]}", "disk: {radius: 0.1}",
                            "polygon: {points: [[-0.2, -0.1], [0.2, -0.1], [0.2, 0.1], [0, -0.02], [-0.2, 0.1]]}"}) {
    const Scene scene = scene_of(
        "planar: true\nmaterials: {default: {friction: 0}}\nbodies:\n  - {name: ground, fixed: true, shapes: "
        "[{polygon: {points: [" +
        make_seamy_ground(&random, 1e-9) +
        "]}}]}\n  - {name: rider, mass: 1, position: [0, 0.1000001], velocity: [3, 0], shapes: [{" + rider +
        "}]}\nsimulation: {step: 1/240, scheme: " + GetParam() + "}\n");
    ASSERT_GT(scene.model.bodies[0].shape_count, 20);
    Simulation sim(scene);
    const double height = sim.state().pose[1].position.y();
    for (int k = 0; k < 500; ++k) {
      const StepReport& report = sim.step();
      ASSERT_TRUE(report.certified) << rider << " " << report.note;
      ASSERT_NEAR(motion_of(sim, "rider").velocity.x(), 3, 1e-6) << rider << " at t = " << sim.state().time;
      ASSERT_NEAR(sim.state().pose[1].position.y(), height, 1e-6) << rider << " at t = " << sim.state().time;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, Seams, ::testing::Values("stabilized", "trapezoid", "spook"));

TEST(Outlines, APegStandsInANotch) {
  // A square peg in a slot that is 1 mm wider, pushed sideways: both walls and the bottom carry it, nothing else does.
  const Scene scene = scene_of(R"yaml(
planar: true
materials: {default: {friction: 0}}
bodies:
  - {name: block, fixed: true, shapes: [{polygon: {points: [[-1, -1], [1, -1], [1, 0], [0.1005, 0], [0.1005, -0.3], [-0.1005, -0.3], [-0.1005, 0], [-1, 0]]}}]}
  - {name: peg, mass: 1, position: [0, -0.1], shapes: [{box: {size: [0.2, 0.4]}}]}
forces: [{load: {body: peg, force: [5, 0]}}]
sensors: [{contact: {name: carried, between: [block, peg]}}]
simulation: {step: 1/200}
)yaml");
  Simulation sim(scene);
  for (int k = 0; k < 400; ++k) ASSERT_TRUE(sim.step().certified);
  EXPECT_NEAR(motion_of(sim, "peg").pose.position.x(), 0.0005, 1e-6);
  EXPECT_NEAR(motion_of(sim, "peg").pose.position.y(), -0.1, 1e-6);
  EXPECT_NEAR(sim.sensor("carried").values[0], -5, 1e-6);
  EXPECT_NEAR(sim.sensor("carried").values[1], 9.81, 1e-6);
}

TEST(Outlines, ScaledScenesMoveAlike) {
  // The same machine in metres and seconds, and in millimetres and milliseconds: lengths 1e-3, times 1e-3, g 1e3.
  const std::string text = R"yaml(
planar: true
let: {l: 1, s: 1}
gravity: [0, -9.81*l/s^2]
materials: {default: {friction: 0.3}}
bodies:
  - {name: slope, fixed: true, shapes: [{polygon: {points: [[-2*l, 1*l], [0, 0], [2*l, 0], [2*l, 0.8*l], [2.2*l, 0.8*l], [2.2*l, -1*l], [-2*l, -1*l]]}}]}
  - {name: block, mass: 1, position: [-1.2*l, 0.95*l], orientation: 10, velocity: [0.5*l/s, 0], angular_velocity: 1/s, shapes: [{polygon: {points: [[-0.2*l, -0.1*l], [0.2*l, -0.1*l], [0.2*l, 0.1*l], [0, 0.02*l], [-0.2*l, 0.1*l]]}}]}
joints: []
simulation: {duration: 2*s, step: s/500}
)yaml";
  std::array<State, 2> ends;
  for (const bool tiny : {false, true}) {
    SceneLoadOptions options;
    if (tiny) options.set = {{"l", "1e-3"}, {"s", "1e-3"}};
    const Scene scene = scene_of(text, options);
    Simulation sim(scene);
    for (int k = 0; k < 1000; ++k) ASSERT_TRUE(sim.step().certified) << tiny << " step " << k;
    ends[tiny] = sim.state();
  }
  EXPECT_NEAR(ends[1].pose[1].position.x() * 1e3, ends[0].pose[1].position.x(), 1e-9);
  EXPECT_NEAR(ends[1].pose[1].position.y() * 1e3, ends[0].pose[1].position.y(), 1e-9);
  EXPECT_NEAR(ends[1].pose[1].orientation.z(), ends[0].pose[1].orientation.z(), 1e-9);
}

// ---------------------------------------------------------------- drawings

double area_of(const OutlineFile& file) {
  double area = 0;
  for (Outline part : group_rings(file.rings)) {
    EXPECT_FALSE(normalize(&part));
    area += calc_moments(part).area;
  }
  return area;
}

TEST(Drawings, SvgPathsAndShapes) {
  const auto svg = [](const std::string& inside, double tolerance = 1e-6) {
    return parse_svg("<svg xmlns='http://www.w3.org/2000/svg'>\n" + inside + "\n</svg>", tolerance);
  };
  EXPECT_NEAR(area_of(svg("<path d='M0 0 h10 v5 h-10 z m2 1 v3 h3 v-3 z'/>")), 50 - 9, 1e-9);
  EXPECT_NEAR(area_of(svg("<path d=\"M-2,0A2,2 0 1 1 2 0A2 2 0 11-2 0Z\"/>")), 4 * kPi, 1e-4);
  EXPECT_NEAR(area_of(svg("<circle cx='5' cy='1' r='2'/>")), 4 * kPi, 1e-4);
  EXPECT_NEAR(area_of(svg("<ellipse rx='3' ry='1'/><rect x='9' width='2' height='3'/>")), 3 * kPi + 6, 1e-4);
  // A parabola has two thirds of its box.
  EXPECT_NEAR(area_of(svg("<path d='M0 0 Q1 2 2 0 Z'/>")), 4.0 / 3, 1e-5);
  EXPECT_NEAR(area_of(svg("<path d='M0 0 C0 1 2 1 2 0 Z'/>")), 1.2, 1e-5);
  EXPECT_NEAR(area_of(svg("<polygon points='0,0 4,0 4,3'/>")), 6, 1e-12);
  EXPECT_EQ(svg("<path d='M0 0 L1 1 L x 3'/>").problem, "2:21: expected two numbers of a point");
  EXPECT_EQ(svg("<path d='M0 0 L1 1 K3'/>").problem, "2:20: unknown command 'K' of a path");
  EXPECT_EQ(svg("<g transform='scale(2)'><path d='M0 0 L1 1 L1 0z'/></g>").problem,
            "2:15: transforms are not read; apply them in the drawing program");
  EXPECT_EQ(svg("<text>no part</text>").problem, "1:1: has no closed line of a part");
}

TEST(Drawings, DxfEntities) {
  const auto dxf = [](const std::string& entities) {
    return parse_dxf("0\nSECTION\n2\nENTITIES\n" + entities + "0\nENDSEC\n0\nEOF\n", 1e-6);
  };
  const auto line = [](double x, double y, double u, double v) {
    return "0\nLINE\n8\n0\n10\n" + std::to_string(x) + "\n20\n" + std::to_string(y) + "\n11\n" + std::to_string(u) +
           "\n21\n" + std::to_string(v) + "\n";
  };
  // A half disk of a line and an arc; a slot as a polyline with bulges; a washer of two circles.
  EXPECT_NEAR(area_of(dxf(line(2, 0, -2, 0) + "0\nARC\n10\n0\n20\n0\n40\n2\n50\n0\n51\n180\n")), 2 * kPi, 1e-4);
  EXPECT_NEAR(
      area_of(
          dxf("0\nLWPOLYLINE\n90\n4\n70\n1\n10\n0\n20\n0\n10\n4\n20\n0\n42\n1\n10\n4\n20\n2\n10\n0\n20\n2\n42\n1\n")),
      8 + kPi, 1e-4);
  EXPECT_NEAR(area_of(dxf("0\nCIRCLE\n10\n0\n20\n0\n40\n2\n0\nCIRCLE\n10\n0\n20\n0\n40\n1\n")), 3 * kPi, 1e-4);
  EXPECT_EQ(dxf("0\nSPLINE\n8\n0\n").problem,
            "6:1: entity 'SPLINE' is not read; draw with lines, arcs, circles and polylines");
  EXPECT_EQ(dxf("0\nCIRCLE\n10\nzero\n").problem, "8:1: 'zero' is not a number");
  EXPECT_NE(dxf(line(0, 0, 1, 0) + line(1, 0, 1, 1)).problem.find("parts have closed lines"), std::string::npos);
}

}  // namespace
}  // namespace slipstick
