// Motors, limits, joint friction, couplings and rows that cannot be integrated, against closed forms.
#include <cmath>
#include <numbers>

#include "support/simulate.h"

namespace slipstick::test {
namespace {

constexpr double kActuationPi = std::numbers::pi;

/// A rotor of inertia 2 on a hinge; `keys` are the hinge's.
Scene rotor(const std::string& keys, const std::string& body = "") {
  return scene_of(R"yaml(
gravity: [0, 0, 0]
bodies: [{name: rotor, mass: 1, inertia: [1, 1, 2])yaml" +
                  body + R"yaml(}]
joints: [{hinge: {name: axle, between: [world, rotor], at: [0, 0, 0], axis: [0, 0, 1])yaml" +
                  keys + "}}]\n");
}

double spin_of(const Simulation& simulation) { return motion_of(simulation, "rotor").angular_velocity.z(); }

const std::vector<std::string> kAllSchemes{"stabilized", "euler", "trapezoid", "alpha-gamma"};

TEST(Actuation, MotorReachesItsSpeedAtItsTorqueAndPaysForIt) {
  // 8 N m on 2 kg m^2: 4 rad/s^2 until 6 rad/s at t = 1.5; the work is the kinetic energy 36 J.
  for (const std::string& scheme : kAllSchemes) {
    Scene scene = rotor(", motor: {speed: 6, max: 8}");
    scene.options.scheme = scheme;
    Simulation simulation = simulation_of(scene, 0.01);
    double work = 0, numerical = 0;
    double at_one = 0;
    for (int k = 0; k < 300; ++k) {
      const StepReport& report = simulation.step();
      ASSERT_TRUE(report.certified) << scheme;
      work += report.certificate.ledger.motor;
      numerical = std::max(numerical, std::abs(report.certificate.ledger.numerical));
      if (k == 99) at_one = spin_of(simulation);
    }
    EXPECT_NEAR(at_one, 4, 1e-9) << scheme;
    EXPECT_NEAR(spin_of(simulation), 6, 1e-9) << scheme;
    EXPECT_NEAR(work, 36, 1e-6) << scheme;
    EXPECT_LT(numerical, 1e-9) << scheme;
    EXPECT_NEAR(simulation.state().axis[0], 0.5 * 4 * 1.5 * 1.5 + 6 * 1.5, scheme == "trapezoid" ? 1e-3 : 0.1);
  }
}

TEST(Actuation, FrictionStopsARotorAtTheRightTimeForGood) {
  // 3 N m on 2 kg m^2 from 6 rad/s: stops at t = 4 after 12 rad.
  for (const std::string& scheme : kAllSchemes) {
    Scene scene = rotor(", friction: 3", ", angular_velocity: [0, 0, 6]");
    scene.options.scheme = scheme;
    Simulation simulation = simulation_of(scene, 0.01);
    double friction = 0;
    for (int k = 0; k < 500; ++k) {
      const StepReport& report = simulation.step();
      ASSERT_TRUE(report.certified);
      friction += report.certificate.ledger.friction;
      if (k < 398) {
        EXPECT_NEAR(spin_of(simulation), 6 - 1.5 * 0.01 * (k + 1), 1e-9) << scheme;
      }
    }
    EXPECT_EQ(std::abs(spin_of(simulation)) < 1e-12, true) << scheme;
    EXPECT_NEAR(friction, -36, 1e-6) << scheme;
    EXPECT_NEAR(simulation.state().axis[0], 12, scheme == "trapezoid" || scheme == "alpha-gamma" ? 1e-3 : 0.05);
  }
}

TEST(Actuation, MotorWithTooLittleTorqueHoldsNothing) {
  // A beam of 1 kg, its centre 0.5 m out, needs 4.905 N m at the horizontal.
  for (const double max : {4.0, 6.0}) {
    const Scene scene = scene_of("let: {torque: " + std::to_string(max) + R"yaml(}
bodies: [{name: beam, density: 1000, position: [0.5, 0, 0], shapes: [{box: {size: [1, 0.1, 0.01]}}]}]
joints: [{hinge: {between: [world, beam], at: [0, 0, 0], axis: [0, 1, 0], motor: {speed: 0, max: torque}}}]
)yaml");
    Simulation simulation = simulation_of(scene, 0.01);
    run_until(0.2, &simulation);
    const double drop = -motion_of(simulation, "beam").pose.position.z();
    if (max > 4.905) {
      EXPECT_NEAR(drop, 0, 1e-12);
    } else {
      EXPECT_GT(drop, 0.01);
    }
  }
}

TEST(Actuation, PositionMotorArrivesWithAndWithoutStiffness) {
  for (const std::string& scheme : kAllSchemes) {
    for (const char* more : {"", ", time: 0.2, max_speed: 3", ", stiffness: 200, damping: 40"}) {
      Scene scene = rotor(std::string(", motor: {position: 7, max: 3000") + more + "}");
      scene.options.scheme = scheme;
      Simulation simulation = simulation_of(scene, 0.01);
      run_until(6, &simulation);
      EXPECT_NEAR(simulation.state().axis[0], 7, 1e-3) << scheme << more;  // more than a turn away
    }
  }
}

TEST(Actuation, MotorsBoundFollowsTheTime) {
  // A torque of at most 4 t on 2 kg m^2: the speed is t^2. A bound of 1 - t is gone after a second, at 1/4 rad/s.
  for (const std::string& scheme : kAllSchemes) {
    const bool second_order = scheme == "trapezoid" || scheme == "alpha-gamma";
    for (const auto& [bound, speed] : {std::pair("4*t", 4.0), std::pair("1 - t", 0.25)}) {
      Scene scene = rotor(std::string(", motor: {speed: 1000, max: ") + bound + "}");
      scene.options.scheme = scheme;
      Simulation simulation = simulation_of(scene, 0.01);
      while (simulation.state().time < 2 - 1e-9) ASSERT_TRUE(simulation.step().certified) << scheme;
      EXPECT_NEAR(spin_of(simulation), speed, second_order ? 1e-9 : 0.05) << scheme << " " << bound;
    }
  }
}

TEST(Actuation, MotorsThatFollowTheTimeHaveTheOrderOfTheirScheme) {
  // Of 2 kg m^2 on a hinge or 2 kg on a slider. x' = k (sin w t - x) from 0: the speed of a motor with damping, k =
  // d/2, and the coordinate of one to a position, k = 1/time.
  const auto lagging = [](double k, double w, double t) {
    return k / (k * k + w * w) * (k * std::sin(w * t) - w * std::cos(w * t) + w * std::exp(-k * t));
  };
  struct Case {
    std::string motor;
    bool speed;  // is asked for, not the coordinate
    double want;
  };
  const std::vector<Case> cases{
      {"torque: 8*cos(3*t)", true, 4.0 / 3 * std::sin(3.0)},
      {"torque: 8*cos(3*t)", false, 4.0 / 9 * (1 - std::cos(3.0))},
      {"torque: 20*t, max: 8", true, 3.2},
      {"speed: sin(2*t), damping: 4", true, lagging(2, 2, 1)},
      {"position: sin(2*t), time: 0.2, max: 1e6", false, lagging(5, 2, 1)},
      {"speed: sin(2*t), max: 1e6", false, 0.5 * (1 - std::cos(2.0))},
  };
  for (const std::string scheme : {"stabilized", "euler", "trapezoid", "alpha-gamma", "spook"})
    for (const std::string kind : {"hinge", "slider"})
      for (const Case& each : cases) {
        Scene scene =
            scene_of("gravity: [0, 0, 0]\nbodies: [{name: a, mass: 2, inertia: [1, 1, 2]}]\njoints: [{" + kind +
                     ": {between: [world, a], axis: [0, 0, 1], at: [0, 0, 0], motor: {" + each.motor + "}}}]\n");
        scene.options.scheme = scheme;
        Simulation simulation = simulation_of(scene, 0.01);
        run_until(1, &simulation);
        const WorldMotion a = motion_of(simulation, "a");
        const double speed = kind == "hinge" ? a.angular_velocity.z() : a.velocity.z();
        const bool second = scheme == "trapezoid" || scheme == "alpha-gamma";
        EXPECT_NEAR(each.speed ? speed : simulation.state().axis[0], each.want, second ? 2e-4 : 0.05)
            << scheme << ", " << kind << ", " << each.motor;
      }
}

TEST(Actuation, TorsionSpringIsWoundByWholeTurns) {
  // 8 N m/rad on 2 kg m^2 swing at 2 rad/s; from rest at 0 about 10 rad: 10 (1 - cos 2t), three turns out, and back.
  for (const std::string scheme : {"stabilized", "euler", "trapezoid", "alpha-gamma", "spook"}) {
    Scene scene = rotor(", stiffness: 8, rest: 10");
    scene.options.scheme = scheme;
    Simulation simulation = simulation_of(scene, 1e-3);
    EXPECT_NEAR(simulation.energy().potential, 400, 1e-12) << scheme;
    const bool first_order = scheme == "stabilized" || scheme == "euler" || scheme == "spook";
    double numerical = 0;
    for (const double t : {kActuationPi / 4, kActuationPi / 2, kActuationPi}) {
      while (simulation.state().time < t - 5e-4) {
        const StepReport& report = simulation.step();
        ASSERT_TRUE(report.certified) << scheme;
        numerical = std::max(numerical, std::abs(report.certificate.ledger.numerical));
      }
      const double now = simulation.state().time;
      EXPECT_NEAR(simulation.state().axis[0], 10 * (1 - std::cos(2 * now)), first_order ? 0.1 : 1e-3)
          << scheme << " " << t;
    }
    EXPECT_LT(numerical, 2) << scheme;  // a turn lost would be some 400 J in one step
    const EnergySplit energy = simulation.energy();
    EXPECT_NEAR(energy.kinetic + energy.potential, 400, first_order ? 6 : 1e-3) << scheme;
  }
}

TEST(Actuation, LimitIsLocatedAndBouncesByItsRestitution) {
  // 2 rad/s from 0, stop at 1 rad: t = 0.5, back at 1 rad/s, at the other stop (-1) at t = 2.5.
  for (const char* scheme : {"trapezoid", "euler", "alpha-gamma"}) {
    Scene scene = rotor(", limits_rad: [-1, 1], restitution: 0.5", ", angular_velocity: [0, 0, 2]");
    scene.options.scheme = scheme;
    Simulation simulation = simulation_of(scene, 0.07);
    std::vector<Event> events;
    while (simulation.state().time < 3) {
      ASSERT_TRUE(simulation.step().certified);
      events.insert(events.end(), simulation.events().begin(), simulation.events().end());
    }
    ASSERT_EQ(events.size(), 2u) << scheme;
    EXPECT_NEAR(events[0].time, 0.5, 1e-10) << scheme;
    EXPECT_NEAR(events[0].normal_speed_before, -2, 1e-10);
    EXPECT_NEAR(events[0].normal_speed_after, 1, 1e-10);
    EXPECT_NEAR(events[1].time, 2.5, 1e-10);
    EXPECT_NEAR(spin_of(simulation), 0.5, 1e-10);
    EXPECT_TRUE(simulation.contacts().empty() && simulation.contact_forces().empty());
  }
}

TEST(Actuation, LimitOfTheFixedStepSchemeIsNeverOvershotAndRebounds) {
  Scene scene = rotor(", limits_deg: [-90, 60], restitution: 0.5", ", angular_velocity: [0, 0, 2]");
  Simulation simulation = simulation_of(scene, 0.01);
  double dissipated = 0;
  while (simulation.state().time < 1) {
    const StepReport& report = simulation.step();
    ASSERT_TRUE(report.certified);
    EXPECT_LT(report.certificate.joint_error, 1e-12);
    EXPECT_LE(simulation.state().axis[0], kActuationPi / 3 + 1e-12);
    dissipated -= report.certificate.ledger.impact;
  }
  EXPECT_NEAR(spin_of(simulation), -1, 1e-9);
  EXPECT_NEAR(dissipated, 0.5 * 2 * (4 - 1), 1e-9);
}

TEST(Actuation, PendulumRestsAgainstItsStopAndTakesOffWhenPulled) {
  // Falls onto a stop 30 degrees below the horizontal, rests; a load lifts it from t = 2 on.
  const Scene scene = scene_of(R"yaml(
bodies: [{name: bob, mass: 1, position: [1, 0, 0], inertia: [0.01, 0.01, 0.01]}]
joints: [{hinge: {name: pin, between: [world, bob], at: [0, 0, 0], axis: [0, 1, 0], limits_deg: [none, 30]}}]
forces: [{load: {body: bob, force: [0, 0, "10*max(0, t - 1)"]}}]
simulation: {scheme: trapezoid}
)yaml");
  Simulation simulation = simulation_of(scene, 0.01);
  std::vector<Event> events;
  while (simulation.state().time < 2.1) {
    ASSERT_TRUE(simulation.step().certified);
    if (simulation.state().time > 1.0 && simulation.state().time < 1.9) {
      EXPECT_NEAR(simulation.state().axis[0], kActuationPi / 6, 1e-9);
    }
    events.insert(events.end(), simulation.events().begin(), simulation.events().end());
  }
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, EventKind::Impact);
  EXPECT_EQ(events[1].kind, EventKind::Takeoff);
  EXPECT_NEAR(events[1].time, 1.981, 2e-3);  // 10 (t - 1) = m g
}

TEST(Actuation, LockHoldsAndGearRackScrewAndDifferentialKeepTheirRatios) {
  const Scene scene = scene_of(R"yaml(
gravity: [0, 0, 0]
defaults: {wheel: {mass: 1, inertia: [1, 1, 1]}}
bodies:
  - {like: wheel, name: a}
  - {like: wheel, name: b, position: [2, 0, 0]}
  - {like: wheel, name: c, position: [0, 2, 0]}
  - {like: wheel, name: left, position: [5, 0, 0]}
  - {like: wheel, name: right, position: [7, 0, 0]}
  - {like: wheel, name: nut, position: [0, 0, 5]}
  - {like: wheel, name: held, position: [9, 0, 0]}
joints:
  - hinge: {name: ja, between: [world, a], at: [0, 0, 0], axis: [0, 0, 1], motor: {speed: 5, max: 20}}
  - hinge: {name: jb, between: [world, b], at: [2, 0, 0], axis: [0, 0, 1]}
  - slider: {name: jc, between: [world, c], axis: [1, 0, 0]}
  - hinge: {name: jl, between: [world, left], at: [5, 0, 0], axis: [1, 0, 0], friction: 1}
  - hinge: {name: jr, between: [world, right], at: [7, 0, 0], axis: [1, 0, 0]}
  - screw: {name: js, between: [world, nut], at: [0, 0, 5], axis: [0, 0, 1], pitch: 0.01, motor: {speed: 30, max: 50}}
  - hinge: {name: jh, between: [world, held], at: [9, 0, 0], axis: [0, 0, 1], lock: true}
  - gear: {name: g, joints: [jb, ja], ratio: -3}
  - rack: {joints: [ja, jc], radius: 0.2}
  - differential: {joints: [ja, jl, jr], ratio: 4}
forces: [{load: {body: held, torque: [0, 0, 3]}}]
)yaml");
  for (const char* scheme : {"stabilized", "trapezoid"}) {
    SimulationOptions options = scene.options;
    options.scheme = scheme;
    options.step = 0.01;
    Simulation simulation(scene.model, scene.initial, options);
    for (int k = 0; k < 300; ++k) {
      const StepReport& report = simulation.step();
      ASSERT_TRUE(report.certified) << scheme << ": " << report.note;
      EXPECT_LT(report.certificate.joint_error, 1e-9) << scheme;
    }
    const auto turn = [&](const char* body) { return motion_of(simulation, body).angular_velocity; };
    EXPECT_NEAR(turn("a").z(), 5, 1e-6);
    EXPECT_NEAR(turn("b").z(), -15, 1e-6);
    EXPECT_NEAR(motion_of(simulation, "c").velocity.x(), 1, 1e-6);
    EXPECT_NEAR(turn("left").x() + turn("right").x(), 2.5, 1e-6);
    EXPECT_GT(turn("right").x(), turn("left").x() + 0.1) << "friction holds one side back";
    EXPECT_NEAR(motion_of(simulation, "nut").velocity.z(), 30 * 0.01 / (2 * kActuationPi), 1e-9);
    EXPECT_NEAR(turn("held").norm(), 0, 1e-12);
  }
}

TEST(Actuation, RopeIsSlackThenTautAndBouncesByItsRestitution) {
  // Drops 1 m from rest on a rope of 1 m: t = sqrt(2/g), then e = 0.5.
  const Scene scene = scene_of(R"yaml(
bodies: [{name: bob, mass: 1, inertia: [1, 1, 1], position: [0, 0, -0.0001]}]
joints: [{rope: {between: [world, bob], at: [[0, 0, 0], [0, 0, -0.0001]], length: 1, restitution: 0.5}}]
simulation: {scheme: trapezoid}
)yaml");
  Simulation simulation = simulation_of(scene, 0.01);
  std::vector<Event> events;
  while (simulation.state().time < 5) {
    const StepReport& report = simulation.step();
    ASSERT_TRUE(report.certified);
    EXPECT_LT(report.certificate.joint_error, 1e-9);
    events.insert(events.end(), simulation.events().begin(), simulation.events().end());
  }
  ASSERT_GE(events.size(), 2u);
  EXPECT_NEAR(events[0].time, std::sqrt(2 * 0.9999 / 9.81), 1e-9);
  EXPECT_NEAR(events[0].normal_speed_after, 0.5 * std::sqrt(2 * 9.81 * 0.9999), 1e-8);
  EXPECT_NEAR(motion_of(simulation, "bob").pose.position.z(), -1, 1e-9) << "at rest on the taut rope";
}

TEST(Actuation, SkateOnASlopeDrawsACycloid) {
  // A blade with spin w on a slope of acceleration a along x: x = a/(2 w^2) sin^2(w t), y = a/(2 w^2) (w t - sin(2 w
  // t)/2).
  const double w = 2, a = 3;
  const Scene scene = scene_of(R"yaml(
gravity: [3, 0, 0]
bodies: [{name: skate, mass: 1, inertia: [1, 1, 1], angular_velocity: [0, 0, 2]}]
joints:
  - planar: {between: [world, skate], normal: [0, 0, 1]}
  - knife_edge: {between: [world, skate], at: [0, 0, 0], axis: [0, 1, 0]}
)yaml");
  double last = 0;
  for (const char* scheme : {"stabilized", "trapezoid"}) {
    for (const double h : {0.01, 0.005}) {
      SimulationOptions options = scene.options;
      options.scheme = scheme;
      options.step = h;
      Simulation simulation(scene.model, scene.initial, options);
      run_until(3, &simulation);
      const Vec3 at = motion_of(simulation, "skate").pose.position;
      const double x = a / (2 * w * w) * std::pow(std::sin(3 * w), 2);
      const double y = a / (2 * w * w) * (3 * w - std::sin(6 * w) / 2);
      const double error = std::hypot(at.x() - x, at.y() - y);
      if (h == 0.005) {
        EXPECT_GT(last / error, scheme == std::string("trapezoid") ? 3.5 : 1.8) << scheme;
      }
      if (scheme == std::string("trapezoid")) {
        EXPECT_LT(error, 1e-3);
      }
      last = error;
    }
  }
}

TEST(Actuation, UprightCoinRollsStraightAndLeaningCoinRollsInACircle) {
  // A disk of radius r leaning by the angle L rolls steadily in a circle; here the symmetric case: upright, no slip.
  const Scene scene = scene_of(R"yaml(
bodies:
  - {name: coin, mass: 1, inertia: [0.005, 0.01, 0.005], position: [0, 0, 0.2], velocity: [1, 0, 0],
     angular_velocity: [0, 5, 0]}
  - {name: ball, mass: 2, inertia: [0.032, 0.032, 0.032], position: [0, 3, 0.2], velocity: [0.7, 0, 0],
     angular_velocity: [0, 3.5, 0]}
joints:
  - rolling: {between: [world, coin], at: [0, 0, 0.2], radius: 0.2, axle: [0, 1, 0]}
  - rolling: {between: [world, ball], at: [0, 3, 0.2], radius: 0.2}
forces: [{load: {body: ball, force: [1, 0, 0]}}]
)yaml");
  Simulation simulation = simulation_of(scene, 0.01);
  run_until(2, &simulation);
  EXPECT_NEAR(motion_of(simulation, "coin").pose.position.x(), 2, 1e-9);
  EXPECT_NEAR(motion_of(simulation, "coin").pose.position.z(), 0.2, 1e-9);
  // F = (m + I/r^2) a: 1 / (2 + 0.8)
  EXPECT_NEAR(motion_of(simulation, "ball").velocity.x(), 0.7 + 2 / 2.8, 1e-9);
  EXPECT_NEAR(motion_of(simulation, "ball").angular_velocity.y(), (0.7 + 2 / 2.8) / 0.2, 1e-9);
}

TEST(Actuation, WheelSpringsToItsRestAndUniversalJointIsCardans) {
  // 10 kg on 4000 N/m: 10 * 9.81 / 4000 deep; the chassis hangs on a fixed wheel's suspension.
  const Scene scene = scene_of(R"yaml(
let: {bend: 30*deg}
bodies:
  - {name: chassis, mass: 10, inertia: [1, 1, 1], position: [0, 0, 1], lock: [rotation, x, y]}
  - {name: wheel, mass: 1, inertia: [0.1, 0.1, 0.1], lock: [translation, rx, rz]}
  - {name: shaft_in, mass: 1, inertia: [0.1, 0.1, 0.1], position: [5, 0, 0]}
  - {name: shaft_out, mass: 1, inertia: [0.001, 0.001, 0.001], position: [5, 0, 0], orientation: {axis: [0, 1, 0], angle_deg: 30}}
joints:
  - wheel: {between: [chassis, wheel], at: [0, 0, 0], axis: [0, 1, 0], suspension: {stiffness: 4000, damping: 400}, motor: {speed: 9, max: 5}}
  - hinge: {between: [world, shaft_in], at: [5, 0, 0], axis: [0, 0, 1], motor: {speed: 1, max: 1000}}
  - universal: {between: [shaft_in, shaft_out], at: [5, 0, 0], axis: [1, 0, 0], axis_b: [0, 1, 0]}
  - hinge: {between: [world, shaft_out], at: [5, 0, 0], axis: [sin(bend), 0, cos(bend)]}
)yaml");
  Simulation simulation = simulation_of(scene, 0.002);
  double fastest = 0, slowest = 9;
  while (simulation.state().time < 7) {
    ASSERT_TRUE(simulation.step().certified);
    if (simulation.state().time < 0.5) continue;
    const double out = motion_of(simulation, "shaft_out").angular_velocity.norm();
    fastest = std::max(fastest, out);
    slowest = std::min(slowest, out);
  }
  EXPECT_NEAR(motion_of(simulation, "chassis").pose.position.z(), 1 - 98.1 / 4000, 1e-6);
  EXPECT_NEAR(motion_of(simulation, "wheel").angular_velocity.y(), 9, 1e-9);
  EXPECT_NEAR(fastest, 1 / std::cos(kActuationPi / 6), 2e-3);  // Cardan: between cos and 1/cos of the bend
  EXPECT_NEAR(slowest, std::cos(kActuationPi / 6), 2e-3);
}

TEST(Actuation, VelocityMotorAndActuatorAndEverySolverAgree) {
  const std::string text = R"yaml(
gravity: [0, 0, 0]
bodies:
  - {name: cart, mass: 2, inertia: [1, 1, 1]}
  - {name: boom, mass: 1, inertia: [1, 1, 1], position: [0, 3, 1]}
joints:
  - velocity_motor: {between: [world, cart], axis: [1, 0, 0], speed: 3, max: 4}
  - hinge: {between: [world, boom], at: [0, 3, 0], axis: [1, 0, 0], friction: 0.2}
  - rod: {between: [world, boom], at: [[0, 4, 0], [0, 3, 1]], motor: {speed: 0.5, max: 100}, limits: [1, 1.8]}
)yaml";
  for (const char* solver : {"auto", "lemke", "block-pivot", "keller", "pgs", "split", "admm", "apgd"}) {
    Scene scene = scene_of(text);
    scene.options.solver = solver;
    Simulation simulation = simulation_of(scene, 0.01);
    double at_one = 0;
    while (simulation.state().time < 3 - 1e-9) {
      const StepReport& report = simulation.step();
      ASSERT_LT(report.certificate.residual.relative, 1e-5) << solver << " " << report.note;
      if (std::abs(simulation.state().time - 1) < 1e-9) at_one = motion_of(simulation, "cart").velocity.x();
    }
    EXPECT_NEAR(at_one, 2, 1e-4) << solver;  // 4 N on 2 kg
    EXPECT_NEAR(motion_of(simulation, "cart").velocity.x(), 3, 1e-4) << solver;
    const Vec3 end = motion_of(simulation, "boom").pose.position;
    EXPECT_NEAR((end - Vec3(0, 4, 0)).norm(), 1.8, 1e-3) << solver << ": at the end of its stroke";
  }
}

/// A robot in free fall: nothing is left in its rows but the last digits of places over the step, and beside a limit at
/// its end dry friction is an active set in these.
TEST(Actuation, FrictionOfJointsThatFallTogetherIsAskedForNoMoreDigitsThanThereAre) {
  const auto falls = [](const std::string& friction, double* work) {
    Simulation simulation = simulation_of(scene_of(R"yaml(
let: {n: 8}
bodies:
  - name: link_{i}
    repeat: {i: n}
    mass: 5*0.6^i
    position: [0.7 + 0.31*i, 0.4 + 0.07*i*i, 1.1 - 0.05*i]
    orientation: {axis: [1, 0.3*i, 0.2], angle_deg: 30 + 17*i}
    shapes: [{capsule: {radius: 0.04, length: 0.2}}]
    group: arm
joints:
  - slider:
      repeat: {i: n-1}
      name: joint_{i}
      between: ["link_{i}", "link_{i+1}"]
      at: [0.85 + 0.31*i, 0.4 + 0.06*i*i, 1.07]
      axis: [i % 2, 0.3, 1 - i % 2]
      limits: [0, 0.045]
      damping: 80
)yaml" + friction + "simulation: {duration: 0.2, step: 1/500}\n"));
    for (int k = 0; k < 100; ++k) {
      const StepReport& report = simulation.step();
      EXPECT_EQ(report.grade(), Grade::Exact) << k << ": " << report.note;
      *work += report.work;
    }
  };
  double without = 0, with = 0;
  falls("", &without);
  falls("      friction: 1\n", &with);
  EXPECT_LE(with, 1.3 * without);
}

}  // namespace
}  // namespace slipstick::test
