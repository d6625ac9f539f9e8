// The pipe: docs/step.md and Simulation::step say the same, and what a step leaves behind when it fails.
#include "step/pipe.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <regex>
#include <sstream>

#include "step/drivers/driver.h"

namespace slipstick {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(SLIPSTICK_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> matches(const std::string& text, const char* pattern, int number, int name) {
  std::vector<std::string> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it)
    found.push_back((*it)[number].str() + " " + (*it)[name].str());
  return found;
}

TEST(Pipe, IsTheListInTheDocs) {
  const std::vector<std::string> docs = matches(text_of("docs/step.md"), R"((?:^|\n)(\d+)\. \*\*(\w+)\*\*)", 1, 2);
  const std::string code = text_of("src/step/simulation.cpp");
  const std::size_t begin = code.find("Simulation::Impl::step() {");
  ASSERT_NE(begin, std::string::npos);
  const std::string step = code.substr(begin, code.find("\n}\n", begin) - begin);
  const std::vector<std::string> stages = matches(step, R"((\w+)\([^\n]*\)[^\n]*// (\d+)\n)", 2, 1);
  ASSERT_EQ(docs.size(), 12u);
  EXPECT_EQ(stages, docs);
}

/// A stick that turns fast beside a fixed cube: its corners come through where no row was.
struct Stick {
  explicit Stick(double away = 0.3, double turn = 40, double below = 0.2) {
    ModelDescription d;
    d.gravity = Vec3::Zero();
    BodyDescription stick;
    stick.name = "stick";
    stick.angular_velocity = {0, turn, 0};
    stick.density = 1000;
    ShapeDescription box;
    box.kind = ShapeKind::Box;
    box.size = {1, 0.05, 0.05};
    stick.shapes.push_back(box);
    d.bodies.push_back(stick);
    BodyDescription cube;
    cube.name = "cube";
    cube.kind = BodyKind::Fixed;
    cube.pose.position = {away, 0, -below};
    box.size = {0.1, 0.1, 0.1};
    cube.shapes.push_back(box);
    d.bodies.push_back(cube);
    CompiledModel compiled = compile(d, &state);
    EXPECT_TRUE(compiled.faults.empty());
    model = std::move(compiled.model);
  }
  Model model;
  State state;
};

void run_trial(Pipe* pipe, Driver* driver) {
  pipe->update_kinematics();
  pipe->find_contacts();
  driver->prepare();
  pipe->trial.update_equations(pipe->input, &pipe->report);
  pipe->trial.discretize(pipe->input, &pipe->report);
  pipe->trial.warm_start(pipe->input, &pipe->report);
  pipe->trial.solve(&pipe->report);
  pipe->trial.certify(&pipe->report);
  pipe->trial.advance(pipe->input, &pipe->end, &pipe->report);
}

/// Begins a step that fails after its end has shown late contacts; false if there are none.
bool fail_after_late_contacts(const Stick& stick) {
  SimulationOptions options;
  options.step = 0.02;
  const auto scheme = make_scheme("stabilized");
  Pipe pipe(stick.model, options, stick.state, scheme.get());
  const auto driver = make_fixed_driver(&pipe);
  const auto gaps = [](const ContactSet& set) {
    std::vector<double> list;
    for (const Contact& contact : set.contacts) list.push_back(contact.gap);
    return list;
  };
  const auto reach = [&] { return pipe.reach.lengths(options.step)[0]; };
  const std::vector<double> before = gaps(pipe.found);
  const double reach_before = reach();
  const std::uint64_t hash_before = hash(pipe.state);
  pipe.begin();
  driver->begin();
  run_trial(&pipe, driver.get());
  if (driver->accept() || pipe.report.late_repeats == 0) return false;
  run_trial(&pipe, driver.get());
  EXPECT_NE(gaps(*pipe.input.contacts), before);  // late contacts are another set
  EXPECT_EQ(gaps(pipe.found), before);
  pipe.end.velocity[0].linear.x() = 1e6;
  driver->accept();  // looks farther, whether anything there has closed or not
  EXPECT_GT(reach(), reach_before);
  EXPECT_TRUE(pipe.fail("no finite solution").failed);
  EXPECT_FALSE(pipe.report.certified);
  EXPECT_EQ(gaps(pipe.found), before);
  EXPECT_EQ(reach(), reach_before);
  EXPECT_EQ(hash(pipe.state), hash_before);
  return true;
}

TEST(Pipe, AFailedStepLeavesContactsAsTheyWere) {
  int late = 0;
  for (const double away : {0.34, 0.36, 0.38, 0.4, 0.42})
    for (const double below : {0.192, 0.196, 0.2, 0.204})  // with more than 15 rad/s the step is divided
      late += fail_after_late_contacts(Stick(away, 14, below));
  EXPECT_GT(late, 0);
}

/// Asking does not change the answer.
TEST(Pipe, ReachOnlyAnswers) {
  const Stick stick;
  Reach reach(stick.model, Effort::Exact);
  const std::vector<Twist> prescribed(stick.model.bodies.size());
  reach.assume(stick.state, prescribed, 0.01);
  State fast = stick.state;
  fast.velocity[0].linear = {100, 0, 0};
  EXPECT_TRUE(reach.covers(stick.state));
  EXPECT_FALSE(reach.covers(fast));
  EXPECT_FALSE(reach.covers(fast));
  reach.raise(fast);
  EXPECT_TRUE(reach.covers(fast));
}

TEST(Pipe, AnUnknownSchemeFailsEveryStep) {
  const Stick stick;
  SimulationOptions options;
  options.scheme = "verlet";
  ASSERT_EQ(find_option_faults(options).size(), 1u);
  EXPECT_EQ(calc_alpha(options), 1);
  Simulation simulation(stick.model, stick.state, options);
  const std::uint64_t before = hash(simulation.state());
  for (int k = 0; k < 2; ++k) {
    const StepReport& report = simulation.step();
    EXPECT_TRUE(report.failed);
    EXPECT_FALSE(report.certified);
    EXPECT_NE(report.note.find("unknown scheme"), std::string_view::npos);
  }
  EXPECT_EQ(hash(simulation.state()), before);
  EXPECT_TRUE(simulation.contact_forces().empty());
  EXPECT_TRUE(simulation.events().empty());
  EXPECT_EQ(simulation.weighted_velocity().size(), 2u);
}

}  // namespace
}  // namespace slipstick
