#include <slipstick/app/recording.h>
#include <slipstick/app/report.h>
#include <slipstick/app/scene_check.h>

#include "report/json_text.h"
#include "report/report_statistics.h"
#include "unit/record/record_files.h"

#include <nlohmann/json.hpp>

#include <limits>
#include <set>

namespace slipstick {
namespace {

using nlohmann::json;
using test_files::TemporaryFolder;

/// A ball of radius 0.5 and mass 2 on the ground, and one that falls beside it, whose frame is not at its centre.
Scene make_scene() {
  Scene scene;
  scene.path = "balls.yaml";
  scene.name = "two balls";
  scene.text = "slipstick: 1\n";
  ModelDescription& d = scene.description;
  d.name = scene.name;
  BodyDescription ground;
  ground.name = "ground";
  ground.kind = BodyKind::Fixed;
  ShapeDescription plane;
  plane.kind = ShapeKind::Plane;
  plane.normal = Vec3(0, 0, 2);
  plane.offset = -2;  // z = -1
  ground.shapes.push_back(plane);
  ShapeDescription sphere;
  sphere.kind = ShapeKind::Sphere;
  sphere.radius = 0.5;
  sphere.color = "#cc3333";
  BodyDescription resting;
  resting.name = "resting";
  resting.mass = 2;
  resting.pose.position = Vec3(0, 0, -0.5);
  resting.shapes.push_back(sphere);
  BodyDescription falling;
  falling.name = "falling";
  falling.mass = 1;
  falling.pose.position = Vec3(5, 0, 10);
  falling.velocity = Vec3(1, 0, 0);
  falling.center_of_mass = Vec3(0.25, 0, 0);
  sphere.pose.position = Vec3(0.25, 0, 0);
  falling.shapes.push_back(sphere);
  d.bodies = {ground, resting, falling};
  CompiledModel compiled = compile(d, &scene.initial);
  EXPECT_TRUE(compiled.faults.empty());
  scene.model = std::move(compiled.model);
  scene.options.step = 0.01;
  scene.options.duration = 0.2;
  return scene;
}

struct ShortRun {
  Scene scene = make_scene();
  Simulation simulation{scene.model, scene.initial, scene.options};
  RunStatistics statistics{scene, simulation};
  void take(int steps) {
    for (int k = 0; k < steps; ++k) statistics.add(simulation, simulation.step(), 1e-3 * (k + 1), 0);
  }
};

std::string make_summary(const std::string& text) {
  const Result<Scene> scene = parse_scene("slipstick: 1\n" + text, "s.yaml");
  EXPECT_TRUE(scene) << scene.faults()[0].text();
  const Scene& given = scene.value();
  Simulation simulation(given.model, given.initial, given.options);
  RunStatistics statistics(given, simulation);
  for (int k = 0; k < 100; ++k) statistics.add(simulation, simulation.step(), 1e-3, 0);
  return statistics.summary(simulation, 1.0, false);
}

TEST(Report, SummaryKeepsMotorsAndPrescribedMotionApart) {
  // A lift takes 2 kg up by a metre: 19.62 J. A motor brings 2 kg m^2 to 3 rad/s: 9 J.
  const std::string lift = make_summary(R"yaml(
bodies:
  - {name: lift, kinematic: {velocity: [0, 0, 1]}, shapes: [{box: {size: [1, 1, 0.2]}}]}
  - {name: crate, mass: 2, position: [0, 0, 0.2], velocity: [0, 0, 1], shapes: [{box: {size: [0.2, 0.2, 0.2]}}]}
)yaml");
  EXPECT_NE(lift.find("motors +0, prescribed motion +19.6, "), std::string::npos) << lift;
  const std::string rotor = make_summary(R"yaml(
gravity: [0, 0, 0]
bodies: [{name: rotor, mass: 1, inertia: [1, 1, 2]}]
joints: [{hinge: {between: [world, rotor], at: [0, 0, 0], axis: [0, 0, 1], motor: {speed: 3, max: 100}}}]
)yaml");
  EXPECT_NE(rotor.find("motors +9, prescribed motion +0, "), std::string::npos) << rotor;
}

TEST(Report, HasEveryFieldOfItsContract) {
  ShortRun run;
  run.take(20);
  const json report = json::parse(run.statistics.json(run.simulation, 2.0));
  for (const char* key :
       {"version", "scene", "name", "scheme", "solver", "step", "steps", "time", "bodies", "dof", "joints", "wall_s",
        "realtime_factor", "threads", "interrupted", "reach_repeats", "events", "contact_forces_final", "state_hash"})
    EXPECT_TRUE(report.contains(key)) << key;
  const std::pair<const char*, std::vector<const char*>> nested[] = {
      {"ms_per_step", {"mean", "median", "p99", "max"}},
      {"phase_ms", {"collision", "broad_phase", "narrow_phase", "assemble", "solve", "certify", "advance", "record"}},
      {"contacts", {"mean", "max", "found", "warm"}},
      {"islands", {"mean", "held"}},
      {"problem", {"rows_mean", "rows_max"}},
      {"certificate",
       {"residual_max", "residual_mean", "uncertified_steps", "certified_to", "settled_steps", "worst", "escalations",
        "heap_steps", "penetration_max", "penetration_final", "joint_error_max", "joint_error_final",
        "cone_violation_max", "friction_dissipation_violation_max"}},
      {"work", {"effort", "budget", "spent_mean", "spent_max", "exhausted_steps"}},
      {"energy",
       {"initial", "final", "kinetic_final", "potential_final", "ledger_remainder_max", "increase_max",
        "increase_steps", "ledger"}}};
  for (const auto& [object, keys] : nested)
    for (const char* key : keys) EXPECT_TRUE(report.at(object).contains(key)) << object << "." << key;
  EXPECT_EQ(report["name"], "two balls");
  EXPECT_EQ(report["steps"], 20);
  EXPECT_NEAR(report["time"].get<double>(), 0.2, 1e-12);
  EXPECT_NEAR(report["realtime_factor"].get<double>(), 0.1, 1e-12);
  EXPECT_GT(report["memory_mb"].get<double>(), 1);  // Linux says it
  EXPECT_LT(report["memory_mb"].get<double>(), 1e6);
  EXPECT_EQ(report["state_hash"].get<std::string>().size(), 16u);
  EXPECT_NEAR(report["ms_per_step"]["median"].get<double>(), 10.5, 1e-12);
  EXPECT_FALSE(report["interrupted"].get<bool>());
  run.statistics.set_end(RunEnd::Interrupted);
  EXPECT_TRUE(json::parse(run.statistics.json(run.simulation, 2.0))["interrupted"].get<bool>());
}

TEST(Report, BodiesAndForcesAreThoseOfTheBodysOwnFrame) {
  ShortRun run;
  run.take(20);
  const json report = json::parse(run.statistics.json(run.simulation, 1.0));
  const json& bodies = report["final"]["bodies"];
  EXPECT_EQ(bodies.size(), 3u);
  EXPECT_NEAR(bodies["falling"]["position"][0].get<double>(), 5.2, 1e-9);
  EXPECT_NEAR(bodies["falling"]["velocity"][0].get<double>(), 1, 1e-9);
  EXPECT_EQ(bodies["ground"]["orientation"], json({1.0, 0.0, 0.0, 0.0}));
  ASSERT_EQ(report["contact_forces_final"].size(), 1u);
  const json& force = report["contact_forces_final"][0];
  const double sign = force["b"] == "resting" ? 1 : -1;
  EXPECT_EQ((std::set<std::string>{force["a"], force["b"]}), (std::set<std::string>{"ground", "resting"}));
  EXPECT_NEAR(force["force_on_b"][2].get<double>(), sign * 2 * 9.81, 1e-6);
  EXPECT_NEAR(force["normal"][2].get<double>(), sign, 1e-9);
  EXPECT_NEAR(force["point"][2].get<double>(), -1, 1e-6);
}

TEST(Report, EnergyBalances) {
  ShortRun run;
  run.take(20);
  const json energy = json::parse(run.statistics.json(run.simulation, 1.0))["energy"];
  EXPECT_NEAR(energy["final"].get<double>() - energy["initial"].get<double>(), energy["ledger"]["change"].get<double>(),
              1e-9);
  EXPECT_NEAR(energy["kinetic_final"].get<double>() + energy["potential_final"].get<double>(),
              energy["final"].get<double>(), 1e-9);
  double sum = 0;
  for (const char* term : {"load", "kinematic", "motor", "damping", "friction", "impact", "numerical"})
    sum += energy["ledger"][term].get<double>();
  EXPECT_NEAR(sum, energy["ledger"]["change"].get<double>(), 1e-9);
}

// Made-up step reports: what is counted, and that a NaN shows as null instead of hiding behind a maximum.
TEST(Report, CountsWhatStepsSay) {
  ShortRun run;
  StepReport step;
  step.certified = true;
  step.certificate.ledger = {3, 1, 0.5, 0, 0, 0, 0, 1.5};
  step.certificate.residual.natural = 1e-10;
  step.escalations = 2;
  step.reach_repeats = 1;
  step.contacts = 4;
  run.statistics.add(run.simulation, step, 0.001, 0);
  step.certified = false;
  step.note = "too hard";
  step.contacts = 8;
  step.certificate.ledger = {-1, 0, 0, 0, -1, 0, 0, 0};
  run.statistics.add(run.simulation, step, 0.001, 0);
  json report = json::parse(run.statistics.json(run.simulation, 1.0));
  EXPECT_EQ(report["energy"]["increase_max"], 1.5);
  EXPECT_EQ(report["energy"]["increase_steps"], 1);
  EXPECT_EQ(report["energy"]["ledger"]["damping"], -1.0);
  EXPECT_EQ(report["certificate"]["uncertified_steps"], 1);
  EXPECT_EQ(report["certificate"]["first_uncertified"]["note"], "too hard");
  EXPECT_EQ(report["certificate"]["escalations"], 4);
  EXPECT_EQ(report["reach_repeats"], 2);
  EXPECT_EQ(report["contacts"]["mean"], 6.0);
  EXPECT_EQ(run.statistics.uncertified_steps(), 1);
  EXPECT_NE(run.statistics.summary(run.simulation, 1.0, false).find("1 of 2 steps NOT certified"), std::string::npos);

  step.certificate.residual.natural = std::numeric_limits<double>::quiet_NaN();
  run.statistics.add(run.simulation, step, 0.001, 0);
  step.certificate.residual.natural = 1;
  run.statistics.add(run.simulation, step, 0.001, 0);
  report = json::parse(run.statistics.json(run.simulation, 1.0));
  EXPECT_TRUE(report["certificate"]["residual_max"].is_null());
}

TEST(Report, SummaryIsShortAndItsColoursOptional) {
  ShortRun run;
  run.take(3);
  const std::string plain = run.statistics.summary(run.simulation, 1.0, false);
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_NE(run.statistics.summary(run.simulation, 1.0, true).find('\x1b'), std::string::npos);
  EXPECT_NE(plain.find("two balls"), std::string::npos);
  EXPECT_NE(plain.find("all steps certified"), std::string::npos) << plain;
  EXPECT_LE(std::count(plain.begin(), plain.end(), '\n'), 14);
}

TEST(Report, PercentilesByNearestRank) {
  std::vector<double> times;
  for (int i = 200; i > 0; --i) times.push_back(i);
  const TimeFigures figures = calc_time_figures(times);
  EXPECT_EQ(figures.mean, 100.5);
  EXPECT_EQ(figures.median, 100.5);
  EXPECT_EQ(figures.p99, 198);
  EXPECT_EQ(figures.max, 200);
  EXPECT_EQ(calc_time_figures({}).p99, 0);
  EXPECT_EQ(calc_time_figures({7}).p99, 7);
}

TEST(JsonText, TextsAndNumbersAreReadBackExactly) {
  JsonText text;
  text.begin_object();
  text.field("quote \" back \\ line \n tab \t bell \x07", "grüße");
  text.field("broken", std::string_view("a\xff"
                                        "b\xc3"));
  text.field("tiny", 4.9406564584124654e-324);
  text.field("third", 1.0 / 3);
  text.field("infinite", std::numeric_limits<double>::infinity());
  text.key("empty");
  text.begin_array();
  text.end_array();
  text.end_object();
  const json parsed = json::parse(text.text());
  EXPECT_EQ(parsed["quote \" back \\ line \n tab \t bell \x07"], "grüße");
  EXPECT_EQ(parsed["broken"],
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_EQ(parsed["tiny"].get<double>(), 4.9406564584124654e-324);
  EXPECT_EQ(parsed["third"].get<double>(), 1.0 / 3);
  EXPECT_TRUE(parsed["infinite"].is_null());
  EXPECT_TRUE(parsed["empty"].empty());
}

// ---------------------------------------------------------------- the public recorder on a real simulation

TEST(Recorder, WritesWeightedVelocitiesAndEventsOfSchemesThatHaveThem) {
  const TemporaryFolder folder;
  Result<Scene> result = parse_scene(R"yaml(slipstick: 1
materials: {default: {friction: 0, restitution: 0.5}}
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}
  - {name: ball, mass: 1, position: [0, 0, 0.2], shapes: [{sphere: {radius: 0.1}}]}
simulation: {step: 0.01, scheme: trapezoid}
)yaml",
                                     "ball.yaml");
  ASSERT_TRUE(result);
  Scene scene = std::move(result).value();
  const auto record = [&](const std::string& path) {
    Simulation simulation(scene.model, scene.initial, scene.options);
    auto recorder = Recorder::create(path, scene, "slipstick run ball.yaml");
    ASSERT_TRUE(recorder);
    ASSERT_TRUE(recorder->append(simulation, nullptr));
    for (int k = 0; k < 20; ++k) {
      const StepReport& report = simulation.step();
      ASSERT_TRUE(recorder->append(simulation, &report));
    }
  };
  record(folder.file("trapezoid.h5"));
  const auto file = Hdf5Reader::open(folder.file("trapezoid.h5"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->shape("/velocity_weighted"), (std::vector<std::size_t>{21, 2, 6}));
  const auto v = *file->read_numbers("/velocity"), u = *file->read_numbers("/velocity_weighted");
  EXPECT_NEAR(u[2 * 12 + 8], (v[12 + 8] + v[2 * 12 + 8]) / 2, 1e-14) << "the mean of both ends, in free fall";
  const auto times = *file->read_numbers("/events/time");
  ASSERT_EQ(times.size(), 1u);
  EXPECT_NEAR(times[0], std::sqrt(2 * 0.1 / 9.81), 1e-12);
  EXPECT_EQ((*file->read_integers("/events/kind"))[0], 0);
  EXPECT_NEAR((*file->read_numbers("/events/after"))[0], std::sqrt(2 * 0.1 * 9.81) / 2, 1e-11);

  scene.options.scheme = "stabilized";
  record(folder.file("stabilized.h5"));
  EXPECT_FALSE(Hdf5Reader::open(folder.file("stabilized.h5"))->read_numbers("/velocity_weighted"));
}

TEST(Recorder, WritesWhatTheSimulationSays) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
  ShortRun run;
  run.scene.record.every = 4;
  double dissipated = 0;
  {
    auto recorder = Recorder::create(path, run.scene, "slipstick run balls.yaml");
    ASSERT_TRUE(recorder) << recorder.faults()[0].text();
    ASSERT_TRUE(recorder->append(run.simulation, nullptr));
    for (int k = 0; k < 20; ++k) {
      const StepReport& report = run.simulation.step();
      const EnergyLedger& l = report.certificate.ledger;
      dissipated -= l.damping + l.friction + l.impact + l.numerical;
      ASSERT_TRUE(recorder->append(run.simulation, &report));
    }
  }  // closed by its destructor
  const auto file = Hdf5Reader::open(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->shape("/pose"), (std::vector<std::size_t>{6, 3, 7}));
  EXPECT_EQ(file->read_texts("/names/bodies"), (std::vector<std::string>{"ground", "resting", "falling"}));
  EXPECT_NEAR(file->read_numbers("/time")->back(), 0.2, 1e-12);
  const auto pose = *file->read_numbers("/pose");
  EXPECT_NEAR(pose[5 * 21 + 14], 5.2, 1e-9) << "x of the falling ball's own frame";
  EXPECT_EQ(pose[5 * 21 + 17], 1) << "w";
  const auto energy = *file->read_numbers("/energy");
  const EnergySplit split = run.simulation.energy();
  EXPECT_EQ(energy[15], split.kinetic);
  EXPECT_EQ(energy[16], split.potential);
  EXPECT_NEAR(energy[17], dissipated, 1e-12) << "steps between two frames count";
  const auto offset = *file->read_integers("/contacts/offset");
  EXPECT_EQ(offset, (std::vector<std::int64_t>{0, 0, 1, 2, 3, 4, 5}));
  EXPECT_NEAR(std::abs(file->read_numbers("/contacts/impulse")->back()), 2 * 9.81 * 0.01, 1e-8);
  const auto shape = *file->read_numbers("/shapes/pose");
  EXPECT_NEAR(shape[2], -1, 1e-12) << "the plane lies at z = -1 although its normal is no unit vector";
  EXPECT_EQ(file->read_texts("/shapes/color")->at(1), "#cc3333");
}

// ---------------------------------------------------------------- check

TEST(SceneCheck, FindsMassesOverlapsAndRedundantJoints) {
  Scene scene = make_scene();
  SceneCheck check = check_scene(scene);
  EXPECT_EQ(check.bodies, 3);
  EXPECT_EQ(check.fixed, 1);
  EXPECT_EQ(check.dof, 12);
  EXPECT_EQ(check.mass_ratio, 2);
  EXPECT_EQ(check.heaviest, "resting");
  EXPECT_TRUE(check.overlaps.empty()) << "touching is not overlapping";
  EXPECT_TRUE(check.remarks.empty()) << check.remarks[0];

  scene.description.bodies[1].pose.position.z() = -0.75;
  JointDescription hinge;
  hinge.kind = JointKind::Hinge;
  hinge.a = "world";
  hinge.b = "falling";
  for (const char* name : {"one", "two"}) {  // the second says what the first says
    hinge.name = name;
    scene.description.joints.push_back(hinge);
  }
  CompiledModel compiled = compile(scene.description, &scene.initial);
  ASSERT_TRUE(compiled.faults.empty());
  scene.model = std::move(compiled.model);
  check = check_scene(scene);
  ASSERT_EQ(check.overlaps.size(), 1u);
  EXPECT_NEAR(check.overlaps[0].depth, 0.25, 1e-9);
  EXPECT_EQ(check.joint_rows, 10);
  EXPECT_EQ(check.redundant_rows, 5);
  EXPECT_EQ(check.remarks.size(), 2u);
  EXPECT_LT(check.joint_error, 1e-6);
  const json parsed = json::parse(make_json(check));
  EXPECT_EQ(parsed["redundant_rows"], 5);
  EXPECT_FALSE(parsed["ok"].get<bool>());
  EXPECT_NE(make_text(check, false).find("overlap"), std::string::npos);
}

TEST(SceneCheck, SeesJointsThatDoNotHoldAtTheStart) {
  Scene scene = make_scene();
  JointDescription rod;
  rod.kind = JointKind::Rod;
  rod.name = "rod";
  rod.a = "world";
  rod.b = "falling";
  rod.at = Vec3(5.25, 0, 12);
  rod.at_b = Vec3(5.25, 0, 10);
  rod.length = 1.9;
  scene.description.joints.push_back(rod);
  CompiledModel compiled = compile(scene.description, &scene.initial);
  ASSERT_TRUE(compiled.faults.empty()) << compiled.faults[0].message;
  scene.model = std::move(compiled.model);
  EXPECT_NEAR(check_scene(scene).joint_error, 0.1, 1e-6);
}

}  // namespace
}  // namespace slipstick
