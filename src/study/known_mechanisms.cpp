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

/// An arm about the vertical, and a rod that swings about the arm.
constexpr const char* kFuruta = R"yaml(
slipstick: 1
bodies:
  - {name: arm, mass: 1, inertia: [1e-3, 1/12, 1/12], center_of_mass: [0, 0, 0], position: [0.5, 0, 0], velocity: [0, 1, 0],
     angular_velocity: [0, 0, 2]}
  - {name: rod, mass: 0.5, inertia: [0.08/3, 1e-3, 0.08/3], center_of_mass: [0, 0, 0], position: [1, 0.4, 0], velocity: [-0.8, 2, 0],
     angular_velocity: [0, 0, 2]}
joints:
  - hinge: {between: [world, arm], at: [0, 0, 0], axis: [0, 0, 1]}
  - hinge: {between: [arm, rod], at: [1, 0, 0], axis: [1, 0, 0]}
simulation: {scheme: trapezoid}
)yaml";

/// A crank across the way of a slider that is 17 times as heavy.
constexpr const char* kSpaceCrank = R"yaml(
slipstick: 1
let: {s: sqrt(0.09 - 0.01 - 0.04), w: 6, vy: -0.08*w, vs: 0.1*0.08*w/s}
bodies:
  - {name: crank, mass: 0.12, inertia: [6.4e-5, 6.4e-5, 1e-6], center_of_mass: [0, 0, 0], position: [0, 0.1, 0.16],
     velocity: [0, vy/2, 0], angular_velocity: [w, 0, 0]}
  - {name: rod, mass: 0.5, inertia: [0.00375, 0.00375, 1e-5], center_of_mass: [0, 0, 0], position: [s/2, 0.05, 0.1],
     orientation: {axis: [-0.1, -s, 0], angle_deg: acos(0.2/0.3)/deg}, velocity: [vs/2, vy/2, 0],
     angular_velocity: [-0.2*vy/0.09, -0.2*vs/0.09, (0.1*vs - s*vy)/0.09]}
  - {name: slider, mass: 2, inertia: [1e-3, 1e-3, 1e-3], center_of_mass: [0, 0, 0], position: [s, 0, 0], velocity: [vs, 0, 0]}
joints:
  - hinge: {between: [world, crank], at: [0, 0.1, 0.12], axis: [1, 0, 0]}
  - ball: {between: [crank, rod], at: [0, 0.1, 0.2]}
  - ball: {between: [rod, slider], at: [s, 0, 0]}
  - slider: {between: [world, slider], at: [s, 0, 0], axis: [1, 0, 0]}
simulation: {scheme: trapezoid}
)yaml";

/// Two arms with balls, two links and a sleeve on a spring, all on a spindle: two planar loops in space, each with
/// three rows too many.
constexpr const char* kGovernor = R"yaml(
slipstick: 1
let: {c: cos(30*deg), w: 12}
defaults:
  arm: {mass: 2.5, inertia: [0.425/12, 0.425/12, 1e-4], center_of_mass: [0, 0, 0], angular_velocity: [0, 0, w]}
  link: {mass: 0.25, inertia: [0.0625/12, 0.0625/12, 1e-4], center_of_mass: [0, 0, 0], angular_velocity: [0, 0, w]}
bodies:
  - {name: spindle, mass: 1, inertia: [0.1, 0.1, 0.1], center_of_mass: [0, 0, 0], angular_velocity: [0, 0, w]}
  - {name: sleeve, mass: 1, inertia: [0.02, 0.02, 0.02], center_of_mass: [0, 0, 0], position: [0, 0, -c], angular_velocity: [0, 0, w]}
  - {like: arm, name: "arm_{i}", repeat: {i: 2}, position: [0.225*(1 - 2*i), 0, -0.45*c], velocity: [0, 0.225*w*(1 - 2*i), 0],
     orientation: {axis: [0, 1, 0], angle_deg: -30*(1 - 2*i)}}
  - {like: link, name: "link_{i}", repeat: {i: 2}, position: [0.125*(1 - 2*i), 0, -0.75*c], velocity: [0, 0.125*w*(1 - 2*i), 0],
     orientation: {axis: [0, 1, 0], angle_deg: 30*(1 - 2*i)}}
joints:
  - hinge: {between: [world, spindle], at: [0, 0, 0], axis: [0, 0, 1]}
  - slider: {between: [spindle, sleeve], at: [0, 0, -c], axis: [0, 0, 1]}
  - hinge: {repeat: {i: 2}, between: [spindle, "arm_{i}"], at: [0, 0, 0], axis: [0, 1, 0]}
  - hinge: {repeat: {i: 2}, between: ["arm_{i}", "link_{i}"], at: [0.25*(1 - 2*i), 0, -0.5*c], axis: [0, 1, 0]}
  - hinge: {repeat: {i: 2}, between: ["link_{i}", sleeve], at: [0, 0, -c], axis: [0, 1, 0]}
forces:
  - spring: {between: [spindle, sleeve], at: [[0, 0, 0], [0, 0, -c]], stiffness: 200, rest_length: 0.8}
simulation: {scheme: trapezoid}
)yaml";

/// Andrews' squeezing mechanism, by the angles of its description: seven bodies in three loops, driven by a torque.
constexpr const char* kAndrews = R"yaml(
slipstick: 1
planar: true
gravity: [0, 0]
let:
  {xa: -0.06934, ya: -0.00227, xb: -0.03635, yb: 0.03273, xc: 0.014, yc: 0.072, rr: 0.007, ra: 0.00092, d: 0.028, da: 0.0115,
   e: 0.02, ea: 0.01421, zf: 0.02, fa: 0.01421, ss: 0.035, sa: 0.01874, sb: 0.01043, sc: 0.018, sd: 0.02, ta: 0.02308, tb: 0.00916,
   zt: 0.04, u: 0.04, ua: 0.01228, ub: 0.00449,
   b: -0.0617138900142764496, g: 0.455279819163070380, p: 0.222668390165885885, de: 0.487364979543842550, o: -0.222668390165885885,
   ep: 1.23054744454982119, px: rr*cos(b) - d*cos(b), py: rr*sin(b) - d*sin(b)}
bodies:
  - {name: k1, mass: 0.04325, inertia: [1, 1, 2.194e-6], center_of_mass: [0, 0], position: [ra*cos(b), ra*sin(b)]}
  - {name: k2, mass: 0.00365, inertia: [1, 1, 4.410e-7], center_of_mass: [0, 0], position: [rr*cos(b) - da*cos(b), rr*sin(b) - da*sin(b)]}
  - {name: k3, mass: 0.02373, inertia: [1, 1, 5.255e-6], center_of_mass: [0, 0], position: [xb + sa*sin(g) + sb*cos(g), yb - sa*cos(g) + sb*sin(g)]}
  - {name: k4, mass: 0.00706, inertia: [1, 1, 5.667e-7], center_of_mass: [0, 0], position: [xa + zt*cos(de) + (e - ea)*sin(p + de), ya + zt*sin(de) - (e - ea)*cos(p + de)]}
  - {name: k5, mass: 0.07050, inertia: [1, 1, 1.169e-5], center_of_mass: [0, 0], position: [xa + ta*sin(de) + tb*cos(de), ya - ta*cos(de) + tb*sin(de)]}
  - {name: k6, mass: 0.00706, inertia: [1, 1, 5.667e-7], center_of_mass: [0, 0], position: [xa + u*sin(ep) + (zf - fa)*cos(o + ep), ya - u*cos(ep) + (zf - fa)*sin(o + ep)]}
  - {name: k7, mass: 0.05498, inertia: [1, 1, 1.912e-5], center_of_mass: [0, 0], position: [xa + ua*sin(ep) - ub*cos(ep), ya - ua*cos(ep) - ub*sin(ep)]}
joints:
  - hinge: {between: [world, k1], at: [0, 0]}
  - hinge: {between: [k1, k2], at: [rr*cos(b), rr*sin(b)]}
  - hinge: {between: [world, k3], at: [xb, yb]}
  - hinge: {between: [k2, k3], at: [px, py]}
  - hinge: {between: [world, k5], at: [xa, ya]}
  - hinge: {between: [k5, k4], at: [xa + zt*cos(de), ya + zt*sin(de)]}
  - hinge: {between: [k4, k2], at: [px, py]}
  - hinge: {between: [world, k7], at: [xa, ya]}
  - hinge: {between: [k7, k6], at: [xa + u*sin(ep), ya - u*cos(ep)]}
  - hinge: {between: [k6, k2], at: [px, py]}
forces:
  - spring: {between: [world, k3], at: [[xc, yc], [xb + sc*sin(g) + sd*cos(g), yb - sc*cos(g) + sd*sin(g)]], stiffness: 4530, rest_length: 0.07785}
  - load: {body: k1, torque: 0.033}
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
/// How far a planar body has turned, within half a turn.
double turn_of(const KnownCourse& c, const char* body) {
  const Quat q = c.motion(body).pose.orientation;
  return std::remainder(2 * std::atan2(q.z(), q.w()), 2 * 3.14159265358979323846);
}
Vec3 tip_of_rod(const KnownCourse& c) { return end_of(c, "rod", Vec3(0, 0.4, 0)); }
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
      {"four-bars-40",
       "forty windows; t = 20 s",
       kFourBars,
       {{"n", "40"}},
       4e-3,
       20,
       2,
       {{"x of B0, m", 0.41090115374, 1e-3, [](C c) { return top_of_post(c).x(); }},
        {"y of B0, m", 0.911679900982, 1e-3, [](C c) { return top_of_post(c).y(); }}}},
      {"furuta",
       "a rod that swings about an arm that turns about the vertical; t = 5 s",
       kFuruta,
       {},
       1e-3,
       5,
       2,
       {{"x of the tip, m", 0.05649777836739, 2e-5, [](C c) { return tip_of_rod(c).x(); }},
        {"y of the tip, m", -1.277255094694, 2e-5, [](C c) { return tip_of_rod(c).y(); }},
        {"z of the tip, m", -0.07367105345286, 5e-5, [](C c) { return tip_of_rod(c).z(); }}}},
      {"space-crank",
       "a slider-crank in space, nine turns; t = 5 s",
       kSpaceCrank,
       {},
       1e-3,
       5,
       2,
       {{"x of the slider, m", 0.2099430652553, 1e-4, [](C c) { return c.motion("slider").pose.position.x(); }},
        {"y of the crank, m", 0.1399598510823, 1e-4, [](C c) { return c.motion("crank").pose.position.y(); }}}},
      {"governor",
       "a flyball governor, its spring and its spindle free; t = 5 s",
       kGovernor,
       {},
       1e-3,
       5,
       2,
       {{"z of the sleeve, m", -0.5745503793453, 1e-5, [](C c) { return c.motion("sleeve").pose.position.z(); }},
        {"speed of the spindle, rad/s", 5.514784223073, 1e-4,
         [](C c) { return c.motion("spindle").angular_velocity.z(); }}}},
      {"bricard",
       "an overconstrained loop of five bars and six hinges; t = 1 s",
       kBricard,
       {},
       1e-3,
       1,
       2,
       {{"x of P3, m", 0.2744813193, 1e-6, [](C c) { return bricard_corner(c).x(); }},
        {"y of P3, m", -0.8867079387, 1e-6, [](C c) { return bricard_corner(c).y(); }},
        {"z of P3, m", -0.4623300027, 1e-6, [](C c) { return bricard_corner(c).z(); }}}},
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
      {"andrews",
       "Andrews' squeezing mechanism; t = 0.03 s",
       kAndrews,
       {},
       1e-5,
       0.03,
       2,
       {{"beta, rad", -2.977070835225442, 1e-4, [](C c) { return turn_of(c, "k1"); }},
        {"gamma, rad", 0.04082224013073101 - 0.455279819163070380, 1e-5, [](C c) { return turn_of(c, "k3"); }},
        {"delta, rad", 0.5244099658805304 - 0.487364979543842550, 1e-5, [](C c) { return turn_of(c, "k5"); }},
        {"epsilon, rad", 1.048080741042263 - 1.23054744454982119, 1e-5, [](C c) { return turn_of(c, "k7"); }}}},
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
