// Contact, friction and impacts. Sources: closed forms; the double pendulum and the ladder by integration from event to
// event.
#include <cmath>

#include "study/known_problems.h"

namespace slipstick {
namespace {

constexpr const char* kSlope = R"yaml(
slipstick: 1
planar: true
let: {mu: 0.5, slope: 30}
gravity: [9.81*sin(slope*deg), -9.81*cos(slope*deg)]
materials: {default: {friction: mu}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 1], offset: 0}}]}
  - {name: block, mass: 1, position: [0, 0.05], lock: [rotation], shapes: [{box: {size: [0.2, 0.1]}}]}
simulation: {scheme: trapezoid}
)yaml";

constexpr const char* kOscillator = R"yaml(
slipstick: 1
planar: true
materials: {default: {friction: 1/9.81}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 1], offset: 0}}]}
  - {name: block, mass: 1, position: [12, 0.05], velocity: [6, 0], lock: [rotation], shapes: [{box: {size: [0.2, 0.1]}}]}
forces: [{spring: {between: [world, block], at: [[-100, 0.05], [12, 0.05]], stiffness: 1, rest_length: 100}}]
simulation: {scheme: trapezoid}
)yaml";

constexpr const char* kSpinningBall = R"yaml(
slipstick: 1
gravity: [0, 0, 0]
materials: {default: {friction: 0.3, restitution: 0.6}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 0.2, position: [0, 0, 0.35], velocity: [2, 0, -3], angular_velocity: [0, -40, 0],
     shapes: [{sphere: {radius: 0.05}}]}
simulation: {scheme: trapezoid}
)yaml";

constexpr const char* kBouncingBall = R"yaml(
slipstick: 1
materials: {default: {friction: 0.5, restitution: 0.5}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 1, position: [0, 0, 1.1], shapes: [{sphere: {radius: 0.1}}]}
simulation: {scheme: trapezoid}
)yaml";

constexpr const char* kRollingPlate = R"yaml(
slipstick: 1
materials: {default: {friction: 0.8}, ground: {friction: 0.4}}
material_pairs: [{between: [default, ground], friction: 0.4, restitution: 0}]
bodies:
  - {name: floor, fixed: true, material: ground, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: plate, mass: 10, position: [0, 0, 0.5], shapes: [{box: {size: [20, 20, 1]}}]}
  - {name: "ball_{i}_{j}", repeat: {i: 5, j: 5}, mass: 1, position: [4*(i - 2), 4*(j - 2), 1.5],
     shapes: [{sphere: {radius: 0.5}}]}
forces: [{load: {body: plate, force: [75, 75*sqrt(3), 0]}}]
simulation: {scheme: stabilized}
)yaml";

/// Housner's block rocks from corner to corner; each impact is plastic and leaves (1 - 3/2 sin^2 alpha)^2 of the
/// energy.
constexpr const char* kRockingBlock = R"yaml(
slipstick: 1
planar: true
let: {tilt: 0.1, b: 0.15, c: 0.5}
materials: {default: {friction: 3}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 1], offset: 0}}]}
  - {name: block, mass: 1, position: [c*sin(tilt) - b*cos(tilt), b*sin(tilt) + c*cos(tilt)], orientation: -tilt/deg,
     shapes: [{box: {size: [2*b, 2*c]}}]}
simulation: {scheme: trapezoid}
)yaml";

double rocking_energy(const KnownCourse& c) {
  return c.simulation->energy().kinetic + c.simulation->energy().potential - 9.81 * 0.5;
}

double along_push(const Vec3& v) { return 0.5 * v.x() + 0.5 * std::sqrt(3.0) * v.y(); }

KnownProblem make_slope(const char* name, const char* about, const char* mu, const char* slope, double way) {
  return {name,
          about,
          kSlope,
          {{"mu", mu}, {"slope", slope}},
          0.01,
          1,
          0,
          {{"way after 1 s, m", way, 1e-9, [](const KnownCourse& c) { return c.motion("block").pose.position.x(); }}}};
}

}  // namespace

std::vector<KnownProblem> make_known_contacts() {
  using C = const KnownCourse&;
  constexpr EventKind kImpact = EventKind::Impact, kStick = EventKind::Stick, kSlip = EventKind::Slip;
  return {
      make_slope("incline-slides", "a block on 30 degrees, mu = 0.5", "0.5", "30", 0.657145394437 / 2),
      make_slope("incline-sticks", "16.69 degrees, mu = 0.3: just below the limit", "0.3", "16.69", 0),
      make_slope("incline-starts", "16.71 degrees, mu = 0.3: just above the limit", "0.3", "16.71", 0.00192265325 / 2),
      {"stick-slip",
       "a block pushed with 8 cos t newtons; t = 10 s",
       "stick_slip_block.yaml",
       {},
       0.005,
       10,
       2,
       {{"x, m", 2.991302833115, 2e-6, [](C c) { return c.motion("block").pose.position.x(); }},
        {"first stick, s", 0.338608184672, 2e-5, [](C c) { return c.time_of(kStick, 0); }},
        {"first slip, s", 2.946346791224, 1e-4, [](C c) { return c.time_of(kSlip, 0); }, false},
        {"last stick, s", 9.816019916067, 5e-5, [](C c) { return c.time_of(kStick, 3); }}}},
      {"sliding-sphere",
       "slides, then rolls",
       "sliding_sphere.yaml",
       {},
       0.01,
       1.2,
       0,
       {{"rolls from, s", 1.01936799185, 1e-9, [](C c) { return c.time_of(kStick, 0); }},
        {"speed then, m/s", 5, 1e-9, [](C c) { return c.motion("ball").velocity.x(); }},
        {"way, m", 6.11620795107 + 5 * (1.2 - 1.01936799185), 1e-9,
         [](C c) { return c.motion("ball").pose.position.x(); }}}},
      {"friction-oscillator",
       "mass, spring and friction: comes to rest off its equilibrium",
       kOscillator,
       {},
       0.01,
       25,
       0,
       {{"rests at, m", 0.682178936724, 1e-9, [](C c) { return c.motion("block").pose.position.x(); }}}},
      {"spinning-ball",
       "impact with friction and spin",
       kSpinningBall,
       {},
       0.01,
       0.2,
       0,
       {{"vx, m/s", 0.857142857143, 1e-9, [](C c) { return c.motion("ball").velocity.x(); }},
        {"vz, m/s", 1.8, 1e-9, [](C c) { return c.motion("ball").velocity.z(); }},
        {"omega_y, rad/s", 17.1428571429, 1e-9, [](C c) { return c.motion("ball").angular_velocity.y(); }}}},
      {"bouncing-ball",
       "falls 1 m, e = 0.5, comes to rest",
       kBouncingBall,
       {},
       0.001,
       1.5,
       0,
       {{"impact 1, s", 0.451523640986, 1e-9, [](C c) { return c.time_of(kImpact, 0); }},
        {"impact 2, s", 0.903047281971, 1e-9, [](C c) { return c.time_of(kImpact, 1); }},
        {"impact 3, s", 1.12880910246, 1e-9, [](C c) { return c.time_of(kImpact, 2); }},
        {"height at the end, m", 0.1, 1e-9, [](C c) { return c.motion("ball").pose.position.z(); }}}},
      {"double-pendulum",
       "five impacts at a wall, g = 9.81",
       "double_pendulum.yaml",
       {{"g", "9.81"}},
       std::ldexp(1.0, -10),
       2.5,
       2,
       {{"impact 1, s", 0.545229943827, 1e-6, [](C c) { return c.time_of(kImpact, 0); }},
        {"impact 2, s", 0.707571786029, 1e-6, [](C c) { return c.time_of(kImpact, 1); }},
        {"impact 3, s", 1.284071674388, 8e-6, [](C c) { return c.time_of(kImpact, 2); }},
        {"impact 4, s", 2.096669998041, 8e-6, [](C c) { return c.time_of(kImpact, 3); }},
        {"impact 5, s", 2.130553544348, 8e-6, [](C c) { return c.time_of(kImpact, 4); }}}},
      {"ladder",
       "slides down between wall and floor and leaves the wall; t = 0.8 s",
       "ladder.yaml",
       {},
       0.00125,
       0.8,
       2,
       {{"x, m", 1.0517676651853, 5e-6, [](C c) { return c.motion("ladder").pose.position.x(); }},
        {"y, m", 0.1299525751392, 5e-6, [](C c) { return c.motion("ladder").pose.position.y(); }},
        {"leaves the wall, s", 0.5975278060712, 1e-3, [](C c) { return c.time_of(EventKind::Takeoff, 0); }, false}}},
      {"rocking-block",
       "Housner's block, eight impacts; t = 2.2 s",
       kRockingBlock,
       {},
       1e-3,
       2.2,
       2,
       {{"impact 1, s", 0.262559340831, 2e-6, [](C c) { return c.time_of(kImpact, 0); }},
        {"impact 4, s", 1.341546480289, 2e-5, [](C c) { return c.time_of(kImpact, 3); }, false},
        {"impact 8, s", 2.174897953865, 5e-5, [](C c) { return c.time_of(kImpact, 7); }, false},
        {"energy then, J", 0.0147574891367, 1e-6, [](C c) { return rocking_energy(c); }, false}}},
      {"rolling-plate",
       "25 balls on a plate that is pushed; after 1 s",
       kRollingPlate,
       {},
       0.01,
       1,
       0,
       {{"speed of the plate, m/s", 12.66 * 7 / 120, 1e-6, [](C c) { return along_push(c.motion("plate").velocity); }},
        {"speed of a ball, m/s", 12.66 * 2 / 120, 1e-6,
         [](C c) { return along_push(c.motion("ball_0_0").velocity); }}}},
  };
}

}  // namespace slipstick
