#include "view/live.h"

#include "record/record_reader.h"
#include "support/simulate.h"
#include "unit/record/record_files.h"
#include "unit/view/read_packet.h"

namespace slipstick {
namespace {

using namespace std::chrono_literals;
using test::read_packet;
using test::ReadPacket;

const char kScene[] =
    "bodies:\n"
    "  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
    "  - {name: ball, mass: 1, position: [0, 0, 0.1], shapes: [{sphere: {radius: 0.1}}]}\n"
    "simulation: {duration: 1e5, step: 1/100}\n";

/// The next frame for which `good` holds; a failed test when none comes.
ReadPacket wait_for(LiveInbox* inbox, const std::function<bool(const ReadPacket&)>& good) {
  const auto end = std::chrono::steady_clock::now() + 300s;  // patience, not a bound: machines are loaded
  while (std::chrono::steady_clock::now() < end) {
    const LiveInbox::Message message = inbox->take(300s);
    if (!message) break;
    ReadPacket packet = read_packet(*message);
    if (packet.json["part"] == "frame" && good(packet)) return packet;
  }
  ADD_FAILURE() << "no such frame came";
  ReadPacket nothing;
  nothing.columns["series"].resize(12);
  nothing.columns["position"].resize(6);
  return nothing;
}

double time_of(const ReadPacket& packet) { return packet.columns.at("series")[0]; }

TEST(Live, ShortScenesAreShownSlowly) {
  EXPECT_EQ(calc_first_speed(10), 1);
  EXPECT_EQ(calc_first_speed(0.5), 1);
  EXPECT_NEAR(calc_first_speed(0.4), 0.1, 1e-15);    // 4 s
  EXPECT_NEAR(calc_first_speed(4e-3), 1e-3, 1e-17);  // 4 s
  EXPECT_NEAR(calc_first_speed(1e-6), 1e-7, 1e-21);  // 10 s
}

TEST(Live, RunsPausesStepsAndStartsAgain) {
  LiveSimulation live(test::scene_of(kScene));
  const auto inbox = live.watch();
  const auto first = read_packet(*inbox->take(300s));
  EXPECT_EQ(first.json["part"], "clip");
  EXPECT_EQ(first.json["bodies"].size(), 2u);
  wait_for(inbox.get(), [](const ReadPacket& p) { return time_of(p) > 0.05; });
  EXPECT_EQ(live.command(R"({"do": "pause"})"), "");
  EXPECT_EQ(live.command(R"({"do": "reset"})"), "");
  EXPECT_EQ(time_of(wait_for(inbox.get(), [](const ReadPacket& p) { return time_of(p) == 0; })), 0);
  EXPECT_EQ(live.command(R"({"do": "step"})"), "");
  const auto stepped = wait_for(inbox.get(), [](const ReadPacket& p) { return time_of(p) > 0; });
  EXPECT_NEAR(time_of(stepped), 0.01, 1e-12);
  EXPECT_TRUE(stepped.json["paused"].get<bool>());
}

TEST(Live, AHandLiftsABodyAndLetsGo) {
  LiveSimulation live(test::scene_of(kScene));
  const auto inbox = live.watch();
  EXPECT_EQ(live.command(R"({"do": "speed", "speed": 20})"), "");
  EXPECT_EQ(live.command(R"({"do": "pull", "body": 1, "point": [0, 0, 0], "target": [0.5, 0, 1], "strength": 5})"), "");
  const auto lifted = wait_for(inbox.get(), [](const ReadPacket& p) { return p.columns.at("position")[5] > 0.9; });
  EXPECT_GT(lifted.columns.at("position")[3], 0.3);
  EXPECT_EQ(live.command(R"({"do": "release"})"), "");
  wait_for(inbox.get(), [](const ReadPacket& p) { return p.columns.at("position")[5] < 0.1001; });
}

TEST(Live, AWatcherThatLeavesLetsGo) {
  LiveSimulation live(test::scene_of(kScene));
  const auto watching = live.watch(), pulling = live.watch();
  live.command(R"({"do": "speed", "speed": 20})");
  live.command(R"({"do": "pull", "body": 1, "point": [0, 0, 0], "target": [0, 0, 1], "strength": 5})");
  wait_for(watching.get(), [](const ReadPacket& p) { return p.columns.at("position")[5] > 0.8; });
  live.leave(pulling);
  wait_for(watching.get(), [](const ReadPacket& p) { return p.columns.at("position")[5] < 0.1001; });
}

TEST(Live, SchemeSolverAndStepChangeWhileItRuns) {
  LiveSimulation live(test::scene_of(kScene));
  const auto inbox = live.watch();
  EXPECT_EQ(live.command(R"({"do": "set", "solver": "lemke", "step": 0.002})"), "");
  const auto changed = wait_for(inbox.get(), [](const ReadPacket& p) { return p.json["solver"] == "lemke"; });
  EXPECT_EQ(changed.json["step"], 0.002);
  EXPECT_NE(live.command(R"({"do": "set", "solver": "oracle"})"), "");
  wait_for(inbox.get(), [&](const ReadPacket& p) { return time_of(p) > time_of(changed); });
}

class NoAnswer : public PrototypeSolver {
 public:
  std::string_view name() const override { return "mine"; }
  bool solve(const Problem&, double, VecX*) override {
    ++asked;
    return false;
  }
  std::atomic<int> asked = 0;
};

TEST(Live, APrototypeIsOneOfTheSolvers) {
  Scene scene = test::scene_of(kScene);
  const auto mine = std::make_shared<NoAnswer>();
  scene.options.prototype = mine;
  LiveSimulation live(scene);
  const auto inbox = live.watch();
  EXPECT_EQ(read_packet(*inbox->take(300s)).json["solvers"][0], "mine before auto");
  wait_for(inbox.get(), [&](const ReadPacket& p) { return p.json["solver"] == "mine before auto" && mine->asked > 3; });
  EXPECT_EQ(live.command(R"({"do": "set", "solver": "newton"})"), "");
  const auto other = wait_for(inbox.get(), [](const ReadPacket& p) { return p.json["solver"] == "newton"; });
  const int asked = mine->asked;
  wait_for(inbox.get(), [&](const ReadPacket& p) { return time_of(p) > time_of(other) + 0.1; });
  EXPECT_EQ(mine->asked, asked);
  EXPECT_EQ(live.command(R"({"do": "set", "solver": "mine before auto"})"), "");
  wait_for(inbox.get(),
           [&](const ReadPacket& p) { return p.json["solver"] == "mine before auto" && mine->asked > asked; });
}

TEST(Live, WrongCommandsChangeNothing) {
  LiveSimulation live(test::scene_of(kScene));
  for (const char* text : {"",
                           "x",
                           "[]",
                           "null",
                           "{",
                           R"({"do": 1})",
                           R"({"do": "format"})",
                           R"({"do": "speed"})",
                           R"({"do": "speed", "speed": 0})",
                           R"({"do": "speed", "speed": "fast"})",
                           R"({"do": "pull"})",
                           R"({"do": "pull", "body": 0, "point": [0,0,0], "target": [0,0,1]})",
                           R"({"do": "pull", "body": -1, "point": [0,0,0], "target": [0,0,1]})",
                           R"({"do": "pull", "body": 1.5, "point": [0,0,0], "target": [0,0,1]})",
                           R"({"do": "pull", "body": 99, "point": [0,0,0], "target": [0,0,1]})",
                           R"({"do": "pull", "body": 1, "point": [0,0], "target": [0,0,1]})",
                           R"({"do": "pull", "body": 1, "point": [0,0,1e300], "target": [0,0,1]})",
                           R"({"do": "pull", "body": 1, "point": [0,0,"x"], "target": [0,0,1]})",
                           R"({"do": "set", "step": -1})",
                           R"({"do": "set", "step": "x"})",
                           R"({"do": "set", "scheme": 3})",
                           "\xff\xfe{}"})
    EXPECT_NE(live.command(text), "") << text;
  EXPECT_NE(live.command(std::string(5000, ' ') + "{}"), "") << "too long";
  EXPECT_NE(live.command(std::string(4000, '[')), "") << "deep";
  const auto inbox = live.watch();
  const auto frame = wait_for(inbox.get(), [](const ReadPacket& p) { return time_of(p) > 0.02; });
  EXPECT_NEAR(frame.columns.at("position")[5], 0.1, 1e-6);
}

TEST(Live, ItWaitsForNobody) {
  LiveSimulation live(test::scene_of(kScene));
  live.command(R"({"do": "speed", "speed": 50})");
  const auto asleep = live.watch(), awake = live.watch();
  ASSERT_TRUE(asleep && awake);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(live.watch());
  EXPECT_FALSE(live.watch()) << "no more than four";
  // One never reads. The other sees far more frames than a queue holds.
  int frames = 0;
  for (double last = 0; frames < 150; ++frames) {
    const double time = time_of(wait_for(awake.get(), [&](const ReadPacket& p) { return time_of(p) > last; }));
    if (time <= last) break;
    last = time;
  }
  EXPECT_EQ(frames, 150);
  int queued = 0;
  while (asleep->take(0ms)) ++queued;
  EXPECT_LE(queued, 64);
}

TEST(Live, ItBeginsWithTheFirstWatcher) {
  LiveSimulation live(test::scene_of(kScene));
  std::this_thread::sleep_for(100ms);  // ten steps, if it did not wait
  const auto inbox = live.watch();
  EXPECT_EQ(read_packet(*inbox->take(300s)).json["part"], "clip");
  const auto first = read_packet(*inbox->take(300s));
  EXPECT_EQ(time_of(first), 0);
  EXPECT_FALSE(first.json["paused"].get<bool>());
}

TEST(Live, ItKeepsToTheScenesDurationUnlessAskedToGoOn) {
  Scene scene = test::scene_of(kScene);
  scene.options.duration = 0.2;
  LiveSimulation live(scene);
  const auto inbox = live.watch();
  const auto end = wait_for(inbox.get(), [](const ReadPacket& p) { return p.json["over"].get<bool>(); });
  EXPECT_NEAR(time_of(end), 0.2, 1e-9);
  EXPECT_TRUE(end.json["paused"].get<bool>());
  EXPECT_NE(end.json["note"].get<std::string>().find("0.2 s is over"), std::string::npos) << end.json["note"];
  live.command(R"({"do": "play"})");
  wait_for(inbox.get(), [](const ReadPacket& p) { return time_of(p) > 0.25; });
  live.command(R"({"do": "reset"})");
  const auto again = wait_for(inbox.get(), [](const ReadPacket& p) { return p.json["over"].get<bool>(); });
  EXPECT_NEAR(time_of(again), 0.2, 1e-9);
}

const char kMachine[] =
    "let: {speed: 2, twice: 2*speed, mass: 1}\n"
    "bodies:\n"
    "  - {name: fan, mass: mass, position: [0, 0, 0], shapes: [{box: {size: [1, 0.1, 0.1]}}]}\n"
    "  - {name: slide, mass: 1, position: [0, 1, 0], shapes: [{box: {size: [0.1, 0.1, 0.1]}}]}\n"
    "joints:\n"
    "  - hinge: {name: spindle, between: [world, fan], at: [0, 0, 0], axis: [0, 0, 1], motor: {speed: speed, max: "
    "50}}\n"
    "  - slider: {name: rail, between: [world, slide], axis: [1, 0, 0], limits: [-0.5, 0.7],\n"
    "             motor: {position: \"0.1*t\", max: 50}}\n"
    "simulation: {duration: 2, step: 1/100}\n";

TEST(Live, MotorsFollowTheirSlidersUntilTheyAreReleased) {
  LiveSimulation live(test::scene_of(kMachine));
  const auto inbox = live.watch();
  const Json motors = read_packet(*inbox->take(300s)).json["motors"];
  ASSERT_EQ(motors.size(), 2u);
  EXPECT_EQ(motors[0]["name"], "spindle");
  EXPECT_EQ(motors[0]["kind"], "speed");
  EXPECT_EQ(motors[0]["high"], 4.0);
  EXPECT_EQ(motors[1]["kind"], "position");
  EXPECT_EQ(motors[1]["low"], -0.5);
  EXPECT_EQ(motors[1]["high"], 0.7);
  const auto fan_speed = [](const ReadPacket& p) { return p.columns.at("joints")[1]; };
  wait_for(inbox.get(), [&](const ReadPacket& p) { return time_of(p) > 0 && std::abs(fan_speed(p) - 2) < 1e-6; });
  const std::string axis = motors[0]["axis"].dump();
  EXPECT_EQ(live.command(R"({"do": "motor", "axis": )" + axis + R"(, "target": -3})"), "");
  const auto held = wait_for(inbox.get(), [&](const ReadPacket& p) { return std::abs(fan_speed(p) + 3) < 1e-6; });
  EXPECT_EQ(held.columns.at("motors")[0], -3);
  EXPECT_EQ(held.json["held"], Json::array({motors[0]["axis"]}));
  EXPECT_EQ(live.command(R"({"do": "motor", "axis": )" + axis + "}"), "");
  wait_for(inbox.get(), [&](const ReadPacket& p) { return std::abs(fan_speed(p) - 2) < 1e-6; });
  for (const char* text :
       {R"({"do": "motor"})", R"({"do": "motor", "axis": 99, "target": 1})",
        R"({"do": "motor", "axis": -1, "target": 1})", R"({"do": "motor", "axis": 0.5, "target": 1})",
        R"({"do": "motor", "axis": 0, "target": "x"})", R"({"do": "let", "values": {"mass": 2}})"})
    EXPECT_NE(live.command(text), "") << text;
}

TEST(Live, AVariableBeginsTheSceneAgain) {
  ViewOptions options;
  options.reload = [](const std::vector<std::pair<std::string, double>>& variables) {
    SceneLoadOptions loading;
    for (const auto& [name, value] : variables) loading.set.emplace_back(name, std::to_string(value));
    return parse_scene(std::string("slipstick: 1\n") + kMachine, "machine.yaml", loading);
  };
  LiveSimulation live(*options.reload({}), options);
  const auto inbox = live.watch();
  EXPECT_EQ(read_packet(*inbox->take(300s)).json["variables"],
            (Json{{{"name", "speed"}, {"value", 2.0}}, {{"name", "mass"}, {"value", 1.0}}}));
  EXPECT_EQ(live.command(R"({"do": "let", "values": {"speed": 7}})"), "");
  wait_for(inbox.get(), [&](const ReadPacket& p) { return std::abs(p.columns.at("joints")[1] - 7) < 1e-6; });
  EXPECT_EQ(live.command(R"({"do": "let", "values": {"mass": 5}})"), "");
  Json variables;
  while (variables.is_null()) {
    const auto packet = read_packet(*inbox->take(300s));
    if (packet.json["part"] == "clip") variables = packet.json["variables"];
  }
  EXPECT_EQ(variables[0]["value"], 7.0) << "what was set before stays";
  EXPECT_EQ(variables[1]["value"], 5.0);
  EXPECT_EQ(live.command(R"({"do": "let", "values": {"mass": -1}})"), "");
  const auto refused = wait_for(inbox.get(), [](const ReadPacket& p) { return p.json["note"] != ""; });
  EXPECT_NE(refused.json["note"].get<std::string>().find("mass"), std::string::npos) << refused.json["note"];
  for (const char* text : {R"({"do": "let"})", R"({"do": "let", "values": {}})", R"({"do": "let", "values": {"x": 1}})",
                           R"({"do": "let", "values": {"mass": "rm"}})", R"({"do": "let", "values": [1]})"})
    EXPECT_NE(live.command(text), "") << text;
}

TEST(Live, ItRecordsEachStartIntoAFileOfItsOwn) {
  const test_files::TemporaryFolder folder;
  ViewOptions options;
  options.record = folder.file("live.h5");
  Scene scene = test::scene_of(kMachine);
  scene.options.duration = 0.1;
  {
    LiveSimulation live(scene, options);
    ASSERT_EQ(live.record_fault(), "");
    const auto inbox = live.watch();
    wait_for(inbox.get(), [](const ReadPacket& p) { return p.json["over"].get<bool>(); });
    live.command(R"({"do": "set", "step": 0.005})");
    wait_for(inbox.get(), [](const ReadPacket& p) { return p.json["step"] == 0.005; });
    live.command(R"({"do": "reset"})");
    wait_for(inbox.get(), [](const ReadPacket& p) { return time_of(p) == 0; });
    live.command(R"({"do": "play"})");
    wait_for(inbox.get(), [](const ReadPacket& p) { return time_of(p) > 0.01 && time_of(p) < 0.09; });
  }
  const auto whole = RecordReader::open(options.record), part = RecordReader::open(folder.file("live_2.h5"));
  ASSERT_TRUE(whole);
  ASSERT_TRUE(part);
  EXPECT_EQ(whole->ended(), "complete");
  EXPECT_EQ(whole->frames(), 11u);
  EXPECT_EQ(part->header().step, 0.005);
  EXPECT_GT(part->frames(), 2u);
  EXPECT_FALSE(RecordReader::open(folder.file("live_3.h5"))) << "a start without a step leaves no file";
  options.record = folder.file("none/live.h5");
  EXPECT_NE(LiveSimulation(scene, options).record_fault(), "");
}

}  // namespace
}  // namespace slipstick
