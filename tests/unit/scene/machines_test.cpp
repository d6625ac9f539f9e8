// Machines of scenes/ against what theory says of them (docs/machines.md). The long runs are behind a variable each:
// ./test --all.
#include <gtest/gtest.h>
#include <slipstick/scene.h>
#include <slipstick/simulation.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

#include "support/simulate.h"

namespace slipstick {
namespace {

using test::shipped_scene;

double read_variable(const char* name, double otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::atof(text) : otherwise;
}

// ---------------------------------------------------------------- planetary gearbox

constexpr double kModule = 2e-3, kSun = 25, kRing = 65, kSunRadius = kModule * kSun / 2;
/// What the sun may be ahead of its ratio: the play in both meshes, half of each at the start.
constexpr double kPlay = 2 * 0.05 * kModule / kSunRadius;

struct GearboxRun {
  double least = 10, most = 0;  ///< what the sun is ahead in its direction, in plays, once the flanks carry
  double turns = 0;             ///< of the sun
};

/// Turns of the sun in one direction, every step certified and the sun's angle held against the carrier's.
GearboxRun run_gearbox(double turns, double speed, const std::string& tolerance) {
  SceneLoadOptions load;
  load.set = {{"turns", "1e4"}, {"speed", std::to_string(speed)}, {"tolerance", tolerance}};
  Simulation sim(shipped_scene("gearbox.yaml", load));
  GearboxRun run;
  const double sign = speed > 0 ? 1 : -1;
  const double chords = 0.2;  // of the play: flanks of 0.01 mm, two in each of two meshes
  while (run.turns < turns && !testing::Test::HasFailure()) {
    const StepReport& report = sim.step();
    EXPECT_TRUE(report.certified) << "t = " << sim.state().time << ": " << report.note;
    const double sun = sim.sensor("sun_angle").values[0], carrier = sim.sensor("carrier_angle").values[0];
    const double ahead = sign * (sun - (1 + kRing / kSun) * carrier) / kPlay;
    run.turns = sign * sun / (2 * std::numbers::pi);
    // A tooth that is missed is 2 pi/25 rad, 31 plays.
    EXPECT_LT(ahead, 1 + chords) << run.turns;
    EXPECT_GT(ahead, -1 - chords) << run.turns;  // flanks may part for a moment, where chords meet
    if (run.turns > 0.05) run.least = std::min(run.least, ahead), run.most = std::max(run.most, ahead);
  }
  return run;
}

TEST(Gearbox, MissesNoTooth) {
  const double turns = read_variable("SLIPSTICK_TURNS", 0.5);
  for (const double speed : {8 * std::numbers::pi, -8 * std::numbers::pi}) {
    const GearboxRun run = run_gearbox(turns, speed, "0.01e-3");
    std::printf("%s: %.1f turns, ahead by %.4f to %.4f of the play\n", speed > 0 ? "forwards" : "backwards", run.turns,
                run.least, run.most);
    EXPECT_GE(run.turns, turns);
  }
}

TEST(Gearbox, IsAheadByItsPlayAsFarAsChordsAreFlanks) {
  for (const double tolerance : {1e-5, 2.5e-6}) {
    const GearboxRun run = run_gearbox(0.15, 2 * std::numbers::pi, std::to_string(1e6 * tolerance) + "e-6");
    // Both flanks of both meshes may be that far off.
    EXPECT_NEAR(run.least, 1, 4 * tolerance / kSunRadius / kPlay) << tolerance;
    EXPECT_NEAR(run.most, 1, 4 * tolerance / kSunRadius / kPlay) << tolerance;
  }
}

// ---------------------------------------------------------------- clock

constexpr double kGravity = 9.81, kBob = 1, kRod = 0.248, kInertia = 3e-4;
constexpr double kDegree = std::numbers::pi / 180;

/// What a clock shows in a stretch of time.
struct Rate {
  double period = 0, amplitude = 0;
};

class ClockRun {
 public:
  ClockRun() : sim_(shipped_scene("clock.yaml")) {}

  /// Until so many whole periods have passed since the first zero of this call.
  Rate run_periods(int count) {
    double first = 0, last = 0, largest = 0, sum = 0;
    for (int passed = -1; passed < count && !testing::Test::HasFailure();) {
      const double before = angle_;
      const StepReport& report = sim_.step();
      EXPECT_TRUE(report.certified) << "t = " << sim_.state().time << ": " << report.note;
      angle_ = sim_.sensor("angle").values[0];
      if ((before < 0) != (angle_ < 0)) ++beats_;
      largest = std::max(largest, std::abs(angle_));
      if (!(before < 0 && angle_ >= 0)) continue;
      last = sim_.state().time - sim_.options().step * angle_ / (angle_ - before);
      if (++passed == 0) first = last;
      if (passed > 0) sum += largest;
      largest = 0;
    }
    return {(last - first) / count, sum / count};
  }
  const Simulation& simulation() const { return sim_; }
  int beats() const { return beats_; }
  double wheel() const { return sim_.sensor("turned").values[0]; }

 private:
  Simulation sim_;
  double angle_ = 1;
  int beats_ = 0;
};

/// The physical pendulum with its circular error, and what the escapement adds to first order (Airy): a torque M delays
/// by the integral of M cos(phase) over a period, divided by 2 pi k A. Impulses are from 0.75 degrees before the middle
/// to 1.25 after it; the wheel's 4.5 degrees lift the pendulum by 2 along a face on which it rubs, elsewhere it rubs on
/// an arc. The wheel has no mass here.
double calc_period(double amplitude) {
  const double stiffness = kBob * kGravity * kRod, mu = 0.1;
  const double torque = 0.06 * kGravity * 4e-3 - 3e-4;  // weight less the arbor's friction
  const double face = std::atan(2 / 4.5), push = torque / std::tan(face + std::atan(mu)), rub = mu * torque;
  const auto sine = [&](double degrees) { return std::sqrt(1 - std::pow(degrees * kDegree / amplitude, 2)); };
  const double delay = 2 * (push + rub) * (sine(0.75) - sine(1.25)) / (2 * std::numbers::pi * stiffness * amplitude);
  return 2 * std::numbers::pi * std::sqrt((kInertia + kBob * kRod * kRod) / stiffness) *
         (1 + amplitude * amplitude / 16) * (1 + delay);
}

TEST(Clock, KeepsTime) {
  const int minutes = static_cast<int>(read_variable("SLIPSTICK_CLOCK_MINUTES", 0));
  const int stretches = minutes > 0 ? minutes : 3, periods = minutes > 0 ? 59 : 5;
  ClockRun clock;
  clock.run_periods(2);  // while it is wound
  EXPECT_NEAR(clock.simulation().sensor("wound").values[0], 2 * std::numbers::pi, 0.4);
  const int before = clock.beats();
  const double wheel = clock.wheel();
  double least = 1e9, most = 0;
  for (int k = 0; k < stretches; ++k) {
    const Rate rate = clock.run_periods(periods);
    std::printf("period %.7f s, amplitude %.4f degrees, off theory by %.2e\n", rate.period, rate.amplitude / kDegree,
                rate.period / calc_period(rate.amplitude) - 1);
    EXPECT_NEAR(rate.period / calc_period(rate.amplitude), 1, 1.5e-4);
    least = std::min(least, rate.period), most = std::max(most, rate.period);
  }
  EXPECT_LT(most / least - 1, 1e-4);
  // Half a tooth a beat, none missed and none let through, whatever part of a beat has passed at both ends.
  EXPECT_NEAR((wheel - clock.wheel()) / (6 * kDegree), clock.beats() - before, 0.2);
}

// ---------------------------------------------------------------- vibrating track

/// A part on a track that climbs by `slope` and vibrates by `throw_length` along a line at `angle` to the track.
struct Track {
  double throw_length, frequency = 50, angle = 25 * kDegree, slope = 4 * kDegree, friction = 0.4;

  double normal_at(double t) const { return throw_length * std::sin(angle) * std::sin(omega() * t); }
  double omega() const { return 2 * std::numbers::pi * frequency; }
};

/// How fast a point is conveyed: stick, slip and flight with a plastic landing, integrated by themselves in steps of 2
/// us.
double integrate_conveying(const Track& track, double from, double until) {
  const double dt = 5e-7, w = track.omega(), along = track.throw_length * std::cos(track.angle),
               across = track.throw_length * std::sin(track.angle);
  const double down = kGravity * std::sin(track.slope), weight = kGravity * std::cos(track.slope);
  double x = 0, v = 0, y = 0, rise = 0, start = 0;
  bool flies = false;
  const long first = std::lround(from / dt), count = std::lround(until / dt);
  for (long k = 0; k < count; ++k) {
    if (k == first) start = x;
    const double t = k * dt, s = std::sin(w * t), c = std::cos(w * t);
    const double pressure = weight - across * w * w * s, slip = v - along * w * c, pull = down - along * w * w * s;
    if (!flies && pressure < 0) flies = true, y = across * s, rise = across * w * c;
    if (flies) {
      v -= down * dt;
      y += rise * dt;
      rise -= weight * dt;
      if (y <= track.normal_at(t + dt)) {  // the impulse of the landing rubs too
        const double blow = across * w * std::cos(w * (t + dt)) - rise, rub = v - along * w * std::cos(w * (t + dt));
        v -= std::copysign(std::min(std::abs(rub), track.friction * std::max(0.0, blow)), rub);
        flies = false;
      }
    } else if (std::abs(slip) <= (std::abs(pull) + track.friction * pressure) * dt &&
               std::abs(pull) <= track.friction * pressure) {
      v = along * w * std::cos(w * (t + dt));
    } else {
      v -= (down + std::copysign(track.friction * pressure, slip)) * dt;
    }
    x += v * dt;
  }
  return (x - start) / (until - from);
}

/// The same by the engine: a block that does not turn.
double run_conveying(const Track& track, double step, const std::string& scheme, double from, double until) {
  const std::string a = std::to_string(1e3 * track.throw_length) + "e-3";
  const std::string text = R"yaml(
gravity: [-9.81*sin(4*deg), -9.81*cos(4*deg)]
planar: true
materials: {default: {friction: 0.4}}
bodies:
  - name: track
    kinematic: {position: ["A*cos(25*deg)*sin(100*pi*t)", "A*sin(25*deg)*sin(100*pi*t)"]}
    shapes: [{box: {size: [4, 0.02]}, position: [0, -0.01]}]
  - {name: part, mass: 0.01, lock: [rotation], position: [0, 0.005], shapes: [{box: {size: [0.02, 0.01]}}]}
)yaml";
  Simulation sim(test::scene_of("let: {A: " + a + "}" + text + "simulation: {duration: 2, step: " +
                                std::to_string(step) + ", scheme: " + scheme + "}\n"));
  test::run_until(from, &sim);
  const double start = test::motion_of(sim, "part").pose.position.x();
  test::run_until(until, &sim);
  return (test::motion_of(sim, "part").pose.position.x() - start) / (until - from);
}

TEST(Feeder, ConveysAsStickSlipAndFlightSay) {
  for (const double throw_length : {0.3e-3, 0.5e-3, 0.8e-3}) {  // 1.3, 2.1 and 3.4 times gravity
    const Track track{throw_length};
    const double theory = integrate_conveying(track, 0.4, 1.0);
    const double located = run_conveying(track, 1.0 / 8000, "trapezoid", 0.4, 1.0);
    const double coarse = run_conveying(track, 1.0 / 4000, "stabilized", 0.4, 1.0),
                 fine = run_conveying(track, 1.0 / 32000, "stabilized", 0.4, 1.0);
    std::printf("%.1f mm: theory %.5f m/s, trapezoid %.5f, stabilized %.5f and %.5f\n", 1e3 * throw_length, theory,
                located, coarse, fine);
    EXPECT_NEAR(located / theory, 1, 2e-3) << throw_length;
    // Steps that do not look for events are of first order, and not evenly so: landings fall anywhere in a step.
    EXPECT_LT(std::abs(fine - theory), 0.6 * std::abs(coarse - theory)) << throw_length;
    EXPECT_NEAR(fine, theory, 0.01 * 0.2) << throw_length;
  }
}

// ---------------------------------------------------------------- excavator and truck

TEST(Truck, WeighsWhatLiesInItsBed) {
  Simulation sim(shipped_scene("excavator_truck.yaml"));
  // In which bits the rocks fall is the instruction set's: without AVX2 one step of 4000 ends at 1.7e-8.
  int uncertified = 0;
  const auto run_to = [&](double time) {
    while (sim.state().time < time - 1e-9) uncertified += sim.step().certified ? 0 : 1;
  };
  run_to(2);  // the truck has settled, the bucket is still on its way
  EXPECT_NEAR(sim.sensor("load").values[0], 0, 0.1);
  run_to(10);
  EXPECT_LE(uncertified, 1);
  double rocks = 0, moment = 0, rear = 0, front = 0;
  int in_bed = 0;
  for (std::size_t i = 0; i < sim.model().bodies.size(); ++i) {
    const Body& body = sim.model().bodies[i];
    const Vec3& center = sim.state().pose[i].position;  // of mass
    const bool rock = body.name.starts_with("rock"), wheel = body.name.starts_with("wheel");
    if (rock || wheel || body.name == "truck") moment += body.mass * center.x();
    if (rock) rocks += body.mass;
    in_bed += rock && std::abs(center.x()) < 1.4 && std::abs(center.y() - 4.2) < 1 && center.z() > 1 ? 1 : 0;
    if (wheel) (body.name.starts_with("wheel_0") ? rear : front) = center.x();
  }
  EXPECT_EQ(in_bed, 30);
  const double load = sim.sensor("load").values[0];
  EXPECT_NEAR(load / rocks, 1, 1e-4);
  // The axle loads hold the moment of all that the wheels carry: that the rocks lie elsewhere by 5 mm would be seen.
  const double held = (sim.sensor("rear").values[0] * rear + sim.sensor("front").values[0] * front) / kGravity;
  std::printf("load %.6f kg, rocks %.6f kg, %.2e m apart\n", load, rocks, (held - moment) / rocks);
  EXPECT_NEAR((held - moment) / rocks, 0, 5e-3);
}

}  // namespace
}  // namespace slipstick
