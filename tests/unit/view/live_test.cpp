#include "view/live.h"

#include "support/simulate.h"
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
    "simulation: {duration: 1, step: 1/100}\n";

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

}  // namespace
}  // namespace slipstick
