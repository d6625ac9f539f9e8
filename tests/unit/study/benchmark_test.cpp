// Scenes for other engines, their answers, and the judge.
#include <slipstick/app/benchmark.h>

#include <gtest/gtest.h>

#include <string>

namespace slipstick {
namespace {

Scene make_benchmark_scene(const std::string& text) {
  Result<Scene> scene = parse_scene("slipstick: 1\n" + text, "test.yaml");
  EXPECT_TRUE(scene);
  return std::move(scene).value();
}

constexpr const char* kTwoLinks = R"yaml(
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: -3}}]}
  - {name: one, mass: 2, position: [0.5, 0, 0], shapes: [{box: {size: [1, 0.2, 0.2]}}]}
  - {name: two, mass: 1, position: [1.5, 0, 0], shapes: [{sphere: {radius: 0.1}}]}
joints:
  - ball: {between: [world, one], at: [0, 0, 0]}
  - ball: {between: [one, two], at: [1, 0, 0]}
forces:
  - load: {body: two, force: [0, 0, "10*max(0, min(1, 1e9*(0.05 - t)))"]
}
simulation: {duration: 0.1, step: 1/100}
)yaml";

TEST(Benchmark, EveryOneIsAShippedScene) {
  for (const Benchmark& benchmark : benchmarks()) {
    const Result<Scene> scene = load_benchmark(benchmark, std::string(SLIPSTICK_SOURCE_DIR) + "/scenes");
    ASSERT_TRUE(scene) << benchmark.name;
    EXPECT_TRUE(find_option_faults(scene->options).empty());
  }
}

TEST(Benchmark, ASceneInPlainLines) {
  const Result<std::string> text = make_peer_text(make_benchmark_scene(kTwoLinks));
  ASSERT_TRUE(text);
  for (const char* line :
       {"slipstick-peer 1\nsteps 10 1 0.01\ngravity 0 0 -9.81", "\nbody 0 ", "\nbody 2 ", "\nbody 1 ",
        "\nshape plane 0 0.5 0 ", "\nshape box 1 ", " 0.5 0.1", "\nball -1 1 0 0 0 -0.5 0 0\n",
        "\nball 1 2 0.5 0 0 -0.5 0 0\n", "\napart 1 2\n", "\nforce 2 0 5 0 0 10\nend\n"})
    EXPECT_NE(text->find(line), std::string::npos) << line << "\nin\n" << *text;
}

TEST(Benchmark, WhatOthersCannotDoIsNamed) {
  const auto obstacle = [](const std::string& more) {
    const Result<std::string> text = make_peer_text(make_benchmark_scene(more));
    return text ? std::string("none") : text.faults()[0].message;
  };
  EXPECT_EQ(obstacle(kTwoLinks), "none");
  EXPECT_EQ(obstacle("planar: true\nbodies: [{name: a, mass: 1, shapes: [{disk: {radius: 1}}]}]\n"),
            "not comparable: a planar scene");
  EXPECT_EQ(obstacle("bodies: [{name: a, mass: 1, lock: [x], shapes: [{sphere: {radius: 1}}]}]\n"),
            "not comparable: locked directions");
  EXPECT_EQ(obstacle("bodies: [{name: a, mass: 1, shapes: [{cone: {radius: 1, length: 1}}]}]\n"),
            "not comparable: shapes of kind cone");
}

/// Two samples: the second link has fallen off by 0.25 m, and into the floor by 0.1 m.
TEST(Benchmark, AnswersAreReadAndJudged) {
  const Scene scene = make_benchmark_scene(kTwoLinks);
  const std::string floor = "0 0 0 1 0 0 0 0 0 0 0 0 0\n", one = "0.5 0 0 1 0 0 0 0 0 0 0 0 0\n";
  const std::string answer = "engine Other 1.0, quick\nsample\n" + floor + one +
                             "1.75 0 0 1 0 0 0 0 0 2 0 0 0\nsample\n" + floor + one +
                             "1.5 0 -3 1 0 0 0 0 0 0 0 0 0\nseconds 0.002\nseconds 0.004\nend\n";
  const BenchmarkRun run = read_peer_answer(scene, answer);
  EXPECT_EQ(run.engine, "Other 1.0, quick");
  EXPECT_EQ(run.failure, "");
  const BenchmarkFigures figures = judge(scene, run);
  EXPECT_EQ(figures.steps, 2);
  EXPECT_EQ(figures.uncertified, -1);
  EXPECT_NEAR(figures.ms_median, 3, 1e-12);
  EXPECT_NEAR(figures.joint_error_max, 3, 1e-12);
  EXPECT_NEAR(figures.penetration_final, 0.1, 1e-12);
  EXPECT_NEAR(figures.displacement, 3, 1e-12);
  EXPECT_NEAR(figures.energy_rise, 2, 1e-9) << "1 kg at 2 m/s";

  const BenchmarkRun cut = read_peer_answer(scene, "engine X\ncut\nseconds 1\nfailure lost its way\nend\n");
  EXPECT_TRUE(cut.cut);
  EXPECT_EQ(cut.failure, "lost its way");
  EXPECT_NEAR(judge(scene, cut).cut_at, 0.01, 1e-12) << "one step";

  EXPECT_EQ(read_peer_answer(scene, "").failure, "no answer");
  EXPECT_EQ(read_peer_answer(scene, "engine X\nsample\nnan 0 0").failure, "its states are not numbers");
}

TEST(Benchmark, OfSeveralRoundsTheQuickestCounts) {
  BenchmarkFigures slow, quick;
  slow.ms_median = 2;
  slow.penetration_max = 1e-6;
  quick.ms_median = 1;
  quick.penetration_max = 1e-5;
  quick.failure = "fell";
  const BenchmarkFigures both = combine(slow, quick);
  EXPECT_EQ(both.ms_median, 1);
  EXPECT_EQ(both.penetration_max, 1e-5);
  EXPECT_EQ(both.failure, "fell");
}

TEST(Benchmark, OurOwnRun) {
  const Scene scene = make_benchmark_scene(kTwoLinks);
  const BenchmarkFigures figures = judge(scene, run_benchmark(scene));
  EXPECT_EQ(figures.steps, 10);
  EXPECT_EQ(figures.uncertified, 0);
  EXPECT_GT(figures.displacement, 1e-3);
  const BenchmarkRun stopped = run_benchmark(scene, [](std::string_view, double part) { return part < 0.5; });
  EXPECT_EQ(stopped.failure, "interrupted");
  EXPECT_EQ(stopped.seconds.size(), 5u);
  const BenchmarkRun cut = run_benchmark(scene, {}, 0);
  EXPECT_TRUE(cut.cut);
  EXPECT_EQ(cut.seconds.size(), 1u);
  EXPECT_EQ(cut.samples.size(), 1u);
  EXPECT_EQ(cut.failure, "");
}

BenchmarkFigures make_row(const char* engine, double ms, double drift, const char* failure = "") {
  BenchmarkFigures row;
  row.engine = engine;
  row.failure = failure;
  row.steps = 10;
  row.ms_mean = ms;
  row.displacement = drift;
  return row;
}

/// Errors below a nanometre count as one, and who failed is nobody's rival.
TEST(Benchmark, WhomNobodyBeatsInBothIsOnTheFront) {
  BenchmarkTable table;
  table.errors = {BenchmarkError::Drift};
  table.rows = {make_row("slipstick", 2, 1e-13), make_row("A", 3, 1e-14),       make_row("B", 1, 1e-3),
                make_row("C", 1, 1e-2),          make_row("D", 0.1, 0, "fell"), make_row("E", 0.5, 1)};
  table.duration = 4;
  EXPECT_EQ(find_front(table, BenchmarkError::Drift), (std::vector<std::size_t>{0, 2, 5}));
  table.rows[2].cut_at = 1.9;  // before half of the time: C takes its place
  EXPECT_EQ(find_front(table, BenchmarkError::Drift), (std::vector<std::size_t>{0, 3, 5}));
  table.rows[2].cut_at = 2.1;
  EXPECT_EQ(find_front(table, BenchmarkError::Drift), (std::vector<std::size_t>{0, 2, 5}));
}

TEST(Benchmark, TheLastLinesSayWhereOursIs) {
  BenchmarkTable table;
  table.name = "scene";
  table.duration = 4;
  table.errors = {BenchmarkError::Drift};
  table.rows = {make_row("slipstick", 2, 1e-6), make_row("Quick, default", 1, 1e-3), make_row("Fine, stiff", 5, 1e-5)};
  table.rows[1].cut_at = 2.5;
  const std::string text = make_benchmark_text({table});
  EXPECT_NE(text.find("cut short at 2.5 of 4 s"), std::string::npos) << text;
  EXPECT_NE(text.find("   most accurate\n"), std::string::npos) << text;
  EXPECT_LT(text.rfind("Quick, default"), text.rfind("Fine, stiff"));
  const auto verdict = [&](double ms, double drift) {
    table.rows[0] = make_row("slipstick", ms, drift);
    const std::string all = make_benchmark_text({table});
    const std::size_t end = all.find("\n\nms/step"), begin = all.rfind("   ", end);
    return all.substr(begin + 3, end - begin - 3);
  };
  EXPECT_EQ(verdict(0.5, 1e-7), "quickest and most accurate");
  EXPECT_EQ(verdict(0.5, 1), "quickest");
  EXPECT_EQ(verdict(2, 1e-4), "on the front");
  EXPECT_EQ(verdict(6, 1e-4), "beaten in both");
}

}  // namespace
}  // namespace slipstick
