#include "closest.h"
#include "commands.h"
#include "peers.h"
#include "scene_arguments.h"
#include "stop.h"
#include "terminal.h"

#include <slipstick/app/benchmark.h>

#include <algorithm>

namespace {

/// One scene in all engines.
struct Comparison {
  slipstick::Benchmark benchmark;
  slipstick::Scene scene;
  std::string peer_text;  ///< empty: no peers
  slipstick::BenchmarkTable table;
};

/// The benchmarks that a name means: itself, or all that begin with it.
std::vector<slipstick::Benchmark> select_benchmarks(const std::string& name) {
  std::vector<slipstick::Benchmark> chosen = slipstick::benchmarks();
  std::erase_if(chosen, [&](const slipstick::Benchmark& each) {
    return name != "all" && each.name != name && !each.name.starts_with(name + "-");
  });
  return chosen;
}

bool load_all(const std::vector<slipstick::Benchmark>& chosen, const std::string& scenes, bool peers,
              std::vector<Comparison>* all) {
  for (const slipstick::Benchmark& benchmark : chosen) {
    slipstick::Result<slipstick::Scene> scene = slipstick::load_benchmark(benchmark, scenes);
    if (!scene) {
      for (const slipstick::Fault& fault : scene.faults()) say("bench", fault.text());
      return false;
    }
    Comparison& one = all->emplace_back();
    one.benchmark = benchmark;
    one.scene = std::move(scene).value();
    one.table.name = benchmark.name;
    if (!peers) continue;
    const slipstick::Result<std::string> text = slipstick::make_peer_text(one.scene);
    if (text) {
      one.peer_text = *text;
    } else {
      one.table.remark = text.faults()[0].message;
    }
  }
  return true;
}

/// Row k of the table; the first round makes it.
void put(const slipstick::BenchmarkFigures& figures, std::size_t k, slipstick::BenchmarkTable* table) {
  if (k == table->rows.size()) {
    table->rows.push_back(figures);
  } else {
    table->rows[k] = slipstick::combine(table->rows[k], figures);
  }
}

/// Ours and each peer in turn; false: the user asked for an end.
bool run_round(const BenchArguments& arguments, const std::vector<Peer>& peers, const std::string& place,
               Comparison* one) {
  ProgressBar bar(true);
  const auto monitor = [&](std::string_view, double part) {
    bar.update(place + ", slipstick", part);
    return !stop_requested();
  };
  const slipstick::BenchmarkRun ours = slipstick::run_benchmark(one->scene, monitor);
  if (stop_requested()) return false;
  put(slipstick::judge(one->scene, ours), 0, &one->table);
  for (std::size_t k = 0; k < peers.size() && !one->peer_text.empty(); ++k) {
    // One that took too long is not asked again.
    if (k + 1 < one->table.rows.size() && one->table.rows[k + 1].steps == 0) continue;
    bar.update(place + ", " + peers[k].name + " " + peers[k].setting, 0);
    const PeerAnswer answer = ask_peer(peers[k], one->peer_text, arguments.limit);
    if (stop_requested()) return false;
    slipstick::BenchmarkRun theirs = slipstick::read_peer_answer(one->scene, answer.text);
    if (theirs.engine.empty()) theirs.engine = peers[k].name + " " + peers[k].setting;
    if (!answer.failure.empty()) theirs.failure = answer.failure;
    put(slipstick::judge(one->scene, theirs), k + 1, &one->table);
  }
  return true;
}

}  // namespace

int bench(const BenchArguments& arguments) {
  const std::vector<slipstick::Benchmark> chosen = select_benchmarks(arguments.name);
  if (chosen.empty()) {
    std::vector<std::string> names = {"all"};
    for (const slipstick::Benchmark& each : slipstick::benchmarks()) names.emplace_back(each.name);
    say("bench",
        "unknown scene '" + arguments.name + "'" + make_hint(arguments.name, names) + " (known: " + join(names) + ")");
    return kBadInput;
  }
  std::vector<Peer> peers;
  if (arguments.peers) {
    std::vector<std::string> missing;
    peers = find_peers(&missing);
    if (!missing.empty())
      say("bench", std::string(peers.empty() ? "no other engine was built" : "not all other engines were built") +
                       "; install " + join(missing) + " and run './slipstick bench --peers', which builds them");
    if (peers.empty()) return kBadInput;
  }
  const std::optional<std::string> scenes = find_shipped_scenes("bench");
  if (!scenes) return kBadInput;
  std::vector<Comparison> all;
  if (!load_all(chosen, *scenes, arguments.peers, &all)) return kBadInput;
  listen_for_stop();
  bool good = true;
  std::vector<slipstick::BenchmarkTable> tables;
  for (Comparison& one : all) {
    for (int round = 0; round < arguments.rounds; ++round) {
      const std::string place = std::to_string(tables.size() + 1) + " of " + std::to_string(all.size()) + ": " +
                                one.table.name + ", round " + std::to_string(round + 1);
      if (!run_round(arguments, peers, place, &one)) return kInterrupted;
    }
    good = good && one.table.rows[0].failure.empty();
    tables.push_back(std::move(one.table));
  }
  return write_out(arguments.json ? slipstick::make_benchmark_json(tables) : slipstick::make_benchmark_text(tables)) &&
                 good
             ? kDone
             : kFailed;
}
