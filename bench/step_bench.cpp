// A step and its stages on the benchmark scenes.
#include <benchmark/benchmark.h>
#include <slipstick/scene.h>
#include <slipstick/simulation.h>
#include <slipstick/solver.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "collision/contact_finder.h"
#include "mechanics/equations.h"

namespace slipstick {
namespace {

struct BenchScene {
  const char* label;
  const char* file;
  const char* set;  ///< "name=value" or empty
};

const std::vector<BenchScene>& bench_scenes() {
  static const std::vector<BenchScene> scenes{
      {"stack10", "stack.yaml", ""},     {"stack40", "stack.yaml", "n=40"},
      {"heavy", "heavy_stack.yaml", ""}, {"cannonball", "cannonball.yaml", "e=0"},
      {"arch", "arch.yaml", ""},         {"pendulum", "pendulum.yaml", ""}};
  return scenes;
}

/// The simulation after a second of its scene, or an end with its faults.
Simulation make_settled(const BenchScene& which) {
  SceneLoadOptions options;
  const std::string set = which.set;
  if (!set.empty()) options.set.push_back({set.substr(0, set.find('=')), set.substr(set.find('=') + 1)});
  const Result<Scene> scene = load_scene(std::string(SLIPSTICK_SOURCE_DIR) + "/scenes/" + which.file, options);
  if (!scene) {
    for (const Fault& fault : scene.faults()) std::cerr << fault.text() << '\n';
    std::exit(2);
  }
  Simulation simulation(scene->model, scene->initial, scene->options);
  while (simulation.state().time < 1) simulation.step();
  return simulation;
}

void bench_step(benchmark::State& state, const BenchScene& which) {
  Simulation simulation = make_settled(which);
  for (auto _ : state) benchmark::DoNotOptimize(simulation.step());
}

/// A chain of state.range(0) links: time per step must grow as the links do.
void bench_chain(benchmark::State& state) {
  SceneLoadOptions options;
  options.set.push_back({"n", std::to_string(state.range(0))});
  options.max_bodies = 20000;
  const Result<Scene> scene = load_scene(std::string(SLIPSTICK_SOURCE_DIR) + "/scenes/chain.yaml", options);
  if (!scene) return state.SkipWithError(scene.faults()[0].text().c_str());
  Simulation simulation(scene->model, scene->initial, scene->options);
  for (int k = 0; k < 5; ++k) simulation.step();
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulation.step());
    if (simulation.state().step < 30) continue;
    state.PauseTiming();  // before the end whips about
    simulation = Simulation(scene->model, scene->initial, scene->options);
    for (int k = 0; k < 5; ++k) simulation.step();
    state.ResumeTiming();
  }
  state.SetComplexityN(state.range(0));
  state.counters["us_per_link"] =
      benchmark::Counter(static_cast<double>(state.range(0)) * 1e-6,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(bench_chain)->RangeMultiplier(10)->Range(10, 10000)->Complexity(benchmark::oN)->Unit(benchmark::kMillisecond);

void bench_collision(benchmark::State& state, const BenchScene& which) {
  const Simulation simulation = make_settled(which);
  ContactFinder finder(simulation.model());
  const std::vector<double> reach(simulation.model().bodies.size(), 1e-3);
  ContactSet contacts;
  for (auto _ : state) finder.find(simulation.state(), reach, &contacts);
  state.counters["contacts"] = static_cast<double>(contacts.contacts.size());
}

void bench_equations(benchmark::State& state, const BenchScene& which) {
  const Simulation simulation = make_settled(which);
  ContactSet contacts;
  contacts.contacts.assign(simulation.contacts().begin(), simulation.contacts().end());
  Equations equations;
  for (auto _ : state) update_equations(simulation.model(), simulation.state(), contacts, &equations);
}

void bench_solve(benchmark::State& state, const BenchScene& which, bool warm) {
  const Simulation simulation = make_settled(which);
  const Problem& problem = simulation.problem();
  const auto solver = make_solver("newton");
  Solution known, answer;
  solver->solve(problem, 1e-8, &known);
  for (auto _ : state) {
    answer.v = known.v;
    answer.lambda = known.lambda;
    if (!warm) answer.lambda.setZero();
    benchmark::DoNotOptimize(solver->solve(problem, 1e-8, &answer));
  }
  state.counters["rows"] = problem.rows();
}

void bench_certify(benchmark::State& state, const BenchScene& which) {
  const Simulation simulation = make_settled(which);
  Solution answer;
  make_solver("newton")->solve(simulation.problem(), 1e-8, &answer);
  Judge judge;
  for (auto _ : state) benchmark::DoNotOptimize(judge.certify(simulation.problem(), answer));
}

[[maybe_unused]] const bool registered = [] {
  for (const BenchScene& scene : bench_scenes()) {
    const std::string name = scene.label;
    const auto add = [&](const std::string& stage, auto function) {
      benchmark::RegisterBenchmark((name + "/" + stage).c_str(), function)->Unit(benchmark::kMicrosecond);
    };
    add("step", [&scene](benchmark::State& s) { bench_step(s, scene); });
    add("collision", [&scene](benchmark::State& s) { bench_collision(s, scene); });
    add("equations", [&scene](benchmark::State& s) { bench_equations(s, scene); });
    add("solve_cold", [&scene](benchmark::State& s) { bench_solve(s, scene, false); });
    add("solve_warm", [&scene](benchmark::State& s) { bench_solve(s, scene, true); });
    add("certify", [&scene](benchmark::State& s) { bench_certify(s, scene); });
  }
  return true;
}();

}  // namespace
}  // namespace slipstick
