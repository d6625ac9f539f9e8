// Mechanisms without contact. Sources: elliptic functions, or integration to 12 digits in minimal coordinates.
#include <cmath>

#include "study/known_problems.h"

namespace slipstick {
namespace {

constexpr const char* kPointPendulum = R"yaml(
slipstick: 1
planar: true
bodies: [{name: bob, mass: 1, position: [-1, 0], lock: [rotation]}]
joints: [{rod: {between: [world, bob], at: [[0, 0], [-1, 0]]}}]
simulation: {scheme: trapezoid}
)yaml";

/// Rigid joints lose their rank in the flat pose.
constexpr const char* kFourBars = R"yaml(
slipstick: 1
planar: true
let: {n: 2}
defaults:
  link: {mass: 1, inertia: [1, 1, 1/12], center_of_mass: [0, 0]}
bodies:
  - {like: link, repeat: {i: n + 1}, name: "post_{i}", position: [i, 0.5], velocity: [0.5, 0], angular_velocity: -1}
  - {like: link, repeat: {i: n}, name: "bar_{i}", position: [i + 0.5, 1], velocity: [1, 0]}
joints:
  - ball: {repeat: {i: n + 1}, between: [world, "post_{i}"], at: [i, 0]}
  - ball: {repeat: {i: n}, between: ["post_{i}", "bar_{i}"], at: [i, 1]}
  - ball: {repeat: {i: n}, between: ["bar_{i}", "post_{i+1}"], at: [i + 1, 1]}
simulation: {scheme: trapezoid}
)yaml";

/// One row too many in every pose.
constexpr const char* kBricard = R"yaml(
slipstick: 1
gravity: [0, -9.81, 0]
let: {along: 0.01/6, across: 1.01/12}
defaults: {bar: {mass: 1, center_of_mass: [0, 0, 0]}}
bodies:
  - {like: bar, name: b12, position: [0.5, 0, 0], inertia: [along, across, across]}
  - {like: bar, name: b23, position: [1, -0.5, 0], inertia: [across, along, across]}
  - {like: bar, name: b34, position: [1, -1, 0.5], inertia: [across, across, along]}
  - {like: bar, name: b45, position: [0.5, -1, 1], inertia: [along, across, across]}
  - {like: bar, name: b56, position: [0, -0.5, 1], inertia: [across, along, across]}
joints:
  - hinge: {between: [world, b12], at: [0, 0, 0], axis: [0, 1, 0]}
  - hinge: {between: [b12, b23], at: [1, 0, 0], axis: [0, 0, 1]}
  - hinge: {between: [b23, b34], at: [1, -1, 0], axis: [1, 0, 0]}
  - hinge: {between: [b34, b45], at: [1, -1, 1], axis: [0, 1, 0]}
  - hinge: {between: [b45, b56], at: [0, -1, 1], axis: [0, 0, 1]}
  - hinge: {between: [b56, world], at: [0, 0, 1], axis: [1, 0, 0]}
simulation: {scheme: trapezoid}
)yaml";

constexpr const char* kHeavyTop = R"yaml(
slipstick: 1
let: {spin: 150, lean: -4.61538}
bodies:
  - {name: top, mass: 15, inertia: [0.234375, 0.46875, 0.234375], center_of_mass: [0, 0, 0], position: [0, 1, 0],
     velocity: [-lean, 0, 0], angular_velocity: [0, spin, lean]}
joints: [{ball: {between: [world, top], at: [0, 0, 0]}}]
simulation: {scheme: trapezoid}
)yaml";

constexpr const char* kFreeBody = R"yaml(
slipstick: 1
gravity: [0, 0, 0]
bodies: [{name: body, mass: 1, inertia: [1, 2, 3], center_of_mass: [0, 0, 0], angular_velocity: [0.01, 5, 0.01]}]
simulation: {scheme: trapezoid}
)yaml";

/// A corner of a body at the end of the run.
Vec3 end_of(const KnownCourse& c, const char* body, const Vec3& point) {
  const Pose pose = c.motion(body).pose;
  return pose.position + pose.orientation * point;
}
Vec3 top_of_post(const KnownCourse& c) { return end_of(c, "post_0", Vec3(0, 0.5, 0)); }
Vec3 bricard_corner(const KnownCourse& c) { return end_of(c, "b23", Vec3(0, -0.5, 0)); }
Vec3 body_spin(const KnownCourse& c) { return c.simulation->state().velocity[0].angular; }

}  // namespace

std::vector<KnownProblem> make_known_mechanisms() {
  using C = const KnownCourse&;
  return {
      {"pendulum",
       "a point on a rod, from horizontal; t = 5 s",
       kPointPendulum,
       {},
       1e-3,
       5,
       2,
       {{"x, m", -0.942305435044, 2e-5, [](C c) { return c.motion("bob").pose.position.x(); }},
        {"y, m", -0.334754338414, 2e-5, [](C c) { return c.motion("bob").pose.position.y(); }},
        {"vx, m/s", 0.857904256886, 1e-4, [](C c) { return c.motion("bob").velocity.x(); }},
        {"vy, m/s", -2.41492865437, 5e-5, [](C c) { return c.motion("bob").velocity.y(); }}}},
      {"four-bars",
       "two windows of links that pass through their singular pose; t = 10 s",
       kFourBars,
       {},
       1e-3,
       10,
       2,
       {{"x of B0, m", 0.328458111534, 2e-4, [](C c) { return top_of_post(c).x(); }},
        {"y of B0, m", 0.944518538181, 2e-4, [](C c) { return top_of_post(c).y(); }}}},
      {"four-bars-10",
       "ten windows; t = 10 s",
       kFourBars,
       {{"n", "10"}},
       1e-3,
       10,
       2,
       {{"x of B0, m", 0.204353560984, 2e-4, [](C c) { return top_of_post(c).x(); }},
        {"y of B0, m", 0.97889714583, 2e-4, [](C c) { return top_of_post(c).y(); }}}},
      {"bricard",
       "an overconstrained loop of five bars and six hinges; t = 1 s",
       kBricard,
       {},
       1e-3,
       1,
       2,
       {{"x of P3, m", 0.2744813193, 1e-5, [](C c) { return bricard_corner(c).x(); }},
        {"y of P3, m", -0.8867079387, 1e-5, [](C c) { return bricard_corner(c).y(); }},
        {"z of P3, m", -0.4623300027, 1e-5, [](C c) { return bricard_corner(c).z(); }}}},
      {"bricard-10",
       "the same, through several swings; t = 10 s",
       kBricard,
       {},
       2e-3,
       10,
       0,
       {{"x of P3, m", 0.9997309873, 1e-3, [](C c) { return bricard_corner(c).x(); }},
        {"y of P3, m", -0.9999999638, 1e-3, [](C c) { return bricard_corner(c).y(); }},
        {"z of P3, m", -0.0002689765, 1e-3, [](C c) { return bricard_corner(c).z(); }}}},
      {"heavy-top",
       "a fast top on a ball joint; t = 1 s",
       kHeavyTop,
       {},
       1e-4,
       1,
       2,
       {{"x, m", 0.173343964098, 1e-4, [](C c) { return c.motion("top").pose.position.x(); }},
        {"y, m", 0.64008859207, 1e-4, [](C c) { return c.motion("top").pose.position.y(); }},
        {"z, m", -0.748490791134, 1e-4, [](C c) { return c.motion("top").pose.position.z(); }}}},
      {"free-body",
       "turning about its middle axis it flips twice; t = 10 s",
       kFreeBody,
       {},
       1e-3,
       10,
       2,
       {{"omega_x, rad/s", 0.0127148706268, 2e-4, [](C c) { return body_spin(c).x(); }},
        {"omega_y, rad/s", 4.9999938332, 1e-4, [](C c) { return body_spin(c).y(); }},
        {"omega_z, rad/s", 0.0109797986488, 1e-4, [](C c) { return body_spin(c).z(); }},
        {"kinetic energy, J", 25.0002, 1e-10, [](C c) { return c.simulation->energy().kinetic; }}}},
  };
}

}  // namespace slipstick
