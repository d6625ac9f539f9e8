#include "closest.h"
#include "commands.h"
#include "peers.h"
#include "scene_arguments.h"
#include "stop.h"
#include "terminal.h"

#include <slipstick/app/benchmark.h>

#include <algorithm>
#include <chrono>

namespace {

constexpr double kMinutesForAll = 14;
/// A run may take so many times what is left for each: most take less than a tenth of it. Ours more: it is what the
/// comparison is about.
constexpr double kPeerShare = 3, kOurShare = 9;
constexpr double kLeastTime = 0.2;  ///< s
/// What a peer may take beside its steps: to start, and to read the scene.
constexpr double kPeerStart = 10;

/// The time that is left, and for how many runs.
class Allowance {
 public:
  Allowance(double minutes, long runs)
      : end_(Clock::now() + std::chrono::duration<double>(60 * minutes)), runs_(runs), limited_(minutes > 0) {}
  /// Seconds for the next run; 0: none are left.
  double take(double limit, double share) {
    if (!limited_) return limit;
    const double left = std::chrono::duration<double>(end_ - Clock::now()).count();
    const double part = left * std::min(1.0, share / static_cast<double>(std::max(runs_, 1L)));
    --runs_;
    return left < kLeastTime ? 0 : std::clamp(part, kLeastTime, limit);
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::time_point<Clock, std::chrono::duration<double>> end_;
  long runs_;
  bool limited_;
};

/// One scene in all engines.
struct Comparison {
  slipstick::Benchmark benchmark;
  slipstick::Scene scene;
  bool has_peers = false;
  slipstick::BenchmarkTable table;
};

/// The benchmarks that a name means: itself, or all that begin with it.
std::vector<slipstick::Benchmark> select_benchmarks(const std::string& name) {
  std::vector<slipstick::Benchmark> chosen = slipstick::benchmarks();
  std::erase_if(chosen, [&](const slipstick::Benchmark& each) {
    return name == "all" ? !each.in_all : each.name != name && !each.name.starts_with(name + "-");
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
    one.table.about = benchmark.about;
    one.table.errors = benchmark.errors;
    one.table.duration = one.scene.options.duration;
    if (!peers) continue;
    const slipstick::Result<std::string> text = slipstick::make_peer_text(one.scene);
    one.has_peers = static_cast<bool>(text);
    if (!text) one.table.remark = text.faults()[0].message;
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

/// For which there was no time.
slipstick::BenchmarkFigures make_left_out(const std::string& engine) {
  slipstick::BenchmarkFigures figures;
  figures.engine = engine;
  figures.failure = "not run: the time was over";
  return figures;
}

slipstick::BenchmarkFigures run_peer(const Peer& peer, const slipstick::Scene& scene, double limit) {
  const PeerAnswer answer = ask_peer(peer, *slipstick::make_peer_text(scene, limit), limit + kPeerStart);
  slipstick::BenchmarkRun theirs = slipstick::read_peer_answer(scene, answer.text);
  if (theirs.engine.empty()) theirs.engine = peer.name + ", " + peer.setting;
  if (!answer.failure.empty()) theirs.failure = answer.failure;
  return slipstick::judge(scene, theirs);
}

/// Ours and each peer in turn; false: the user asked for an end.
bool run_round(double limit, const std::vector<Peer>& peers, const std::string& place, Allowance* allowance,
               Comparison* one) {
  ProgressBar bar(true);
  const auto monitor = [&](std::string_view, double part) {
    bar.update(place + ", slipstick", part);
    return !stop_requested();
  };
  double seconds = allowance->take(limit, kOurShare);
  put(seconds > 0 ? slipstick::judge(one->scene, slipstick::run_benchmark(one->scene, monitor, seconds))
                  : make_left_out("slipstick"),
      0, &one->table);
  for (std::size_t k = 0; k < peers.size() && one->has_peers && !stop_requested(); ++k) {
    seconds = allowance->take(limit, kPeerShare);
    // One that gave no answer is not asked again.
    if (k + 1 < one->table.rows.size() && one->table.rows[k + 1].steps == 0) continue;
    bar.update(place + ", " + peers[k].name + " " + peers[k].setting, 0);
    put(seconds > 0 ? run_peer(peers[k], one->scene, seconds) : make_left_out(peers[k].name + ", " + peers[k].setting),
        k + 1, &one->table);
  }
  return !stop_requested();
}

/// All scenes; false: the user asked for an end.
bool run_all(const BenchArguments& arguments, const std::vector<Peer>& peers, std::vector<Comparison>* all,
             std::vector<slipstick::BenchmarkTable>* tables) {
  long runs = 0;
  for (const Comparison& one : *all) runs += 1 + (one.has_peers ? static_cast<long>(peers.size()) : 0);
  const double minutes = arguments.minutes > 0 ? arguments.minutes : arguments.name == "all" ? kMinutesForAll : 0;
  Allowance allowance(minutes, runs * arguments.rounds);
  for (Comparison& one : *all) {
    for (int round = 0; round < arguments.rounds; ++round) {
      const std::string place = std::to_string(tables->size() + 1) + " of " + std::to_string(all->size()) + ": " +
                                one.table.name + ", round " + std::to_string(round + 1);
      if (!run_round(arguments.limit, peers, place, &allowance, &one)) return false;
    }
    tables->push_back(std::move(one.table));
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
  std::vector<slipstick::BenchmarkTable> tables;
  if (!run_all(arguments, peers, &all, &tables)) return kInterrupted;
  if (!arguments.folder.empty()) {
    const slipstick::Faults faults = slipstick::save_benchmarks(arguments.folder, tables);
    for (const slipstick::Fault& fault : faults) say("bench", fault.text());
    if (!faults.empty()) return kBadInput;
  }
  const bool good =
      std::all_of(tables.begin(), tables.end(), [](const auto& table) { return table.rows[0].failure.empty(); });
  return write_out(arguments.json ? slipstick::make_benchmark_json(tables) : slipstick::make_benchmark_text(tables)) &&
                 good
             ? kDone
             : kFailed;
}
