#include "run_program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace slipstick {
namespace {

using nlohmann::json;

int count_lines(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Run, JsonIsAloneOnStandardOutput) {
  Workplace place;
  place.write("ball.yaml", make_scene_text());
  const Outcome run = place.run("run ball.yaml --json --report r.json");
  ASSERT_EQ(run.code, 0) << run.err;
  const json report = json::parse(run.out);
  EXPECT_EQ(report["name"], "falling ball");
  EXPECT_EQ(report["steps"], 50);
  EXPECT_EQ(report, json::parse(place.read("r.json")));
  EXPECT_NEAR(report["final"]["bodies"]["ball"]["velocity"][2].get<double>(), -9.81 * 0.5, 1e-9);
  EXPECT_EQ(run.err, "") << "no progress bar without a terminal";
}

TEST(Run, OptionsWinOverTheScene) {
  Workplace place;
  place.write("ball.yaml", make_scene_text());
  const Outcome run = place.run("run ball.yaml --json --set height=3+1 --step 1/50 --duration 2*0.1 --tolerance 1e-7");
  ASSERT_EQ(run.code, 0) << run.err;
  const json report = json::parse(run.out);
  EXPECT_EQ(report["step"], 0.02);
  EXPECT_EQ(report["steps"], 10);
  EXPECT_EQ(report["certificate"]["tolerance"], 1e-7);
  EXPECT_GT(report["final"]["bodies"]["ball"]["position"][2].get<double>(), 3.7);
}

TEST(Run, SummaryWithoutColoursAndARecording) {
  Workplace place;
  place.write("ball.yaml", make_scene_text());
  const Outcome run = place.run("run ball.yaml -o run.h5");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.out, "falling ball"));
  EXPECT_TRUE(has(run.out, "all steps certified"));
  EXPECT_FALSE(has(run.out, "\x1b"));
  EXPECT_TRUE(has(place.read("run.h5"), "slipstick run ball.yaml -o run.h5")) << "the command is kept";
  EXPECT_EQ(place.run("run ball.yaml --quiet").out, "");
}

TEST(Run, WithABadSceneNothingIsWritten) {
  Workplace place;
  place.write("bad.yaml", make_scene_text("gravitie: [0, 0, 0]\n"));
  const Outcome run = place.run("run bad.yaml -o run.h5 --report r.json");
  EXPECT_EQ(run.code, 2);
  EXPECT_TRUE(has(run.err, "bad.yaml:9:1:")) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_FALSE(place.has("run.h5"));
  EXPECT_FALSE(place.has("r.json"));
}

TEST(Run, WrongUsageIsOneLineAndExitCodeTwo) {
  Workplace place;
  place.write("ball.yaml", make_scene_text());
  const std::pair<const char*, const char*> cases[] = {
      {"run", "SCENE is required"},
      {"rnu ball.yaml", "did you mean 'run'?"},
      {"run absent.yaml", "absent.yaml"},
      {"run ball.yaml --bogus", "--bogus"},
      {"run ball.yaml --threads two", "--threads"},
      {"run ball.yaml --step 1/x", "unknown name 'x'"},
      {"run ball.yaml --step -1", "step"},
      {"run ball.yaml --set height", "name=value"},
      {"run ball.yaml --set hight=2", "hight"},
      {"run ball.yaml --friction kone", "cone, pyramid or box"},
      {"run ball.yaml --solver nothing", "nothing"},
      {"run ball.yaml -o absent/run.h5", "does not exist; create it first"},
      {"run ball.yaml --report absent/r.json", "does not exist; create it first"},
      {"run ball.yaml -o ball.yaml", "is the scene itself"},
      {"run ball.yaml -o same --report same", "same file"},
      {"examples nothing_like_this", "no scene"}};
  for (const auto& [arguments, expected] : cases) {
    const Outcome run = place.run(arguments);
    EXPECT_EQ(run.code, 2) << arguments;
    EXPECT_TRUE(has(run.err, expected)) << arguments << ": " << run.err;
    EXPECT_EQ(count_lines(run.err), 1) << run.err;
    EXPECT_EQ(run.out, "") << arguments;
  }
  EXPECT_EQ(place.read("ball.yaml"), make_scene_text());
  EXPECT_EQ(place.run("").code, 2);
}

TEST(Run, HelpShowsAnExample) {
  const Workplace place;
  for (const char* command : {"", "run", "check", "examples", "info"}) {
    const Outcome help = place.run(std::string(command) + " --help");
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_TRUE(has(help.out, "slipstick examples") || has(help.out, "Example")) << help.out;
  }
  EXPECT_TRUE(has(place.run("--version").out, "slipstick "));
}

TEST(Run, AFullDiskIsAFailure) {
  Workplace place;
  place.write("ball.yaml", make_scene_text());
  Outcome run = place.run("run ball.yaml --report /dev/full");
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(has(run.err, "No space left on device")) << run.err;
  // A limit on the size of files (in blocks of 512 bytes) stands for a disk that fills up while the run goes on.
  run = place.run("run ball.yaml --duration 20 -o run.h5", "trap '' XFSZ; ulimit -f 200;");
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(has(run.err, "recording")) << run.err;
  EXPECT_EQ(count_lines(run.err), 1) << "said once: " << run.err;
  EXPECT_TRUE(has(run.out, "2000 steps")) << "the run itself goes on";
}

TEST(Run, StrictRefusesUncertifiedSteps) {
  const Workplace place;  // rounding alone is more than a tolerance of 1e-300 allows
  const std::string arguments =
      "run '" SLIPSTICK_SOURCE_DIR "/scenes/dominoes.yaml' --json --tolerance 1e-300 --solver newton --duration 0.004";
  const Outcome lenient = place.run(arguments);
  EXPECT_EQ(lenient.code, 0);
  EXPECT_GT(json::parse(lenient.out)["certificate"]["uncertified_steps"], 0);
  EXPECT_TRUE(has(lenient.err, "could not be certified")) << lenient.err;
  EXPECT_EQ(place.run(arguments + " --strict").code, 1);
}

TEST(Run, InterruptedItEndsInOrder) {
  Workplace place;
  place.write("ball.yaml", make_scene_text());
  Outcome run;
  for (const char* seconds : {"1", "5", "30"}) {  // a busy machine may not have started it before it is interrupted
    run = place.run("run ball.yaml --duration 1e7 --step 1/1000 -o run.h5 --report r.json --json",
                    std::string("timeout --signal=INT ") + seconds);
    if (!run.out.empty()) break;
  }
  // timeout itself reports 124; what the program did is in its outputs.
  EXPECT_EQ(run.code, 124);
  const json report = json::parse(run.out);
  EXPECT_TRUE(report["interrupted"].get<bool>());
  EXPECT_EQ(report["ended"], "interrupted");
  EXPECT_GT(report["steps"], 0);
  EXPECT_EQ(report, json::parse(place.read("r.json")));
  const Outcome code =
      place.run("run ball.yaml --duration 1e7 --step 1/1000 --quiet", "timeout --preserve-status --signal=INT 1");
  EXPECT_EQ(code.code, 130);
}

TEST(Check, DiagnosesWithoutWriting) {
  Workplace place;
  place.write("ball.yaml", make_scene_text());
  EXPECT_TRUE(has(place.run("check ball.yaml").out, "ready to run"));
  const json good = json::parse(place.run("check ball.yaml --json").out);
  EXPECT_TRUE(good["ok"].get<bool>());
  EXPECT_EQ(good["dof"], 6);
  const json sunk = json::parse(place.run("check ball.yaml --set height=0.25 --json").out);
  EXPECT_NEAR(sunk["overlaps"][0]["depth"].get<double>(), 0.25, 1e-9);
  EXPECT_EQ(place.run("check absent.yaml").code, 2);
}

TEST(Examples, ListShowCopyAndRun) {
  Workplace place;
  std::filesystem::create_directory(place.path("shipped"));
  place.write("shipped/ball.yaml", make_scene_text());
  const std::string folder = "SLIPSTICK_SCENES=shipped";
  EXPECT_EQ(place.run("examples", folder).out, "ball  A ball falls.\n");
  EXPECT_EQ(json::parse(place.run("examples --list --json", folder).out)[0]["name"], "ball");
  EXPECT_EQ(place.run("examples ball", folder).out, make_scene_text());
  EXPECT_TRUE(has(place.run("examples bal", folder).err, "did you mean 'ball'?"));
  EXPECT_EQ(place.run("examples --copy mine", folder).code, 0);
  EXPECT_EQ(place.read("mine/ball.yaml"), make_scene_text());
  EXPECT_EQ(place.run("examples --copy mine", folder).code, 1) << "nothing is overwritten";
  EXPECT_TRUE(has(place.run("examples ball --run", folder).out, "falling ball"));
  EXPECT_EQ(place.run("examples", "SLIPSTICK_SCENES=absent").code, 1);
}

TEST(Info, ListsWhatThereIs) {
  const Workplace place;
  const json info = json::parse(place.run("info --json").out);
  EXPECT_TRUE(info["dependencies"].contains("HDF5"));
  EXPECT_EQ(info["solvers"][0], "auto");
  EXPECT_FALSE(info["schemes"].empty());
  EXPECT_TRUE(has(place.run("info").out, "capsule"));
}

}  // namespace
}  // namespace slipstick
