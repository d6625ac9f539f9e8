// Room: study. Benchmark scenes, and one judge for whoever ran them: this engine or another one (docs/benchmarks.md).
#pragma once

#include <slipstick/app/study.h>
#include <slipstick/scene.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipstick {

/// What is wrong with an answer, m: overlap, open joints, or how far from its start something is that should stay.
enum class BenchmarkError : std::uint8_t { Depth, Joints, Drift };
std::string_view name_of(BenchmarkError error);

/// A shipped scene with the values that make it a benchmark.
struct Benchmark {
  std::string_view name, about, file;
  std::vector<std::pair<std::string, std::string>> set;       ///< as SceneLoadOptions::set
  std::vector<BenchmarkError> errors{BenchmarkError::Depth};  ///< by which answers are compared; the first counts most
  bool in_all = true;                                         ///< of those that `all` means
};
std::vector<Benchmark> benchmarks();
/// `scenes`: the folder of the shipped scenes.
Result<Scene> load_benchmark(const Benchmark& benchmark, const std::string& scenes);

/// What one engine did with a scene: the time of each step, and the states at some instants, the last one included.
struct BenchmarkRun {
  std::string engine;
  std::string failure;          ///< empty: it came to the end
  std::vector<double> seconds;  ///< CPU time of all threads, one per step
  std::vector<State> samples;
  long uncertified = -1;  ///< steps; -1: the engine certifies nothing
  bool cut = false;       ///< it ended before the end, because its time was over
};
/// Steps from one sample to the next.
long calc_sample_interval(const Scene& scene);
/// With the scene's own settings. An end that the monitor asked for is a failure; `limit`: s of wall time for the
/// steps.
BenchmarkRun run_benchmark(const Scene& scene, const StudyMonitor& monitor = {},
                           double limit = std::numeric_limits<double>::infinity());

/// The scene in the plain lines that the programs of bench/peers read (docs/benchmarks.md), or why it cannot be said in
/// them. `limit`: s of wall time for the steps, after which the engine stops; 0: none.
Result<std::string> make_peer_text(const Scene& scene, double limit = 0);
/// What such a program answers; `failure` says if that makes no sense.
BenchmarkRun read_peer_answer(const Scene& scene, const std::string& text);

/// CPU times of one run; accuracy at its samples, from the geometry and the masses alone.
struct BenchmarkFigures {
  std::string engine, failure;
  long steps = 0, uncertified = -1;
  double cut_at = 0;  ///< s, where its time was over before the end; 0: it was not
  double ms_mean = 0, ms_median = 0, ms_p99 = 0, ms_max = 0;
  double penetration_max = 0, penetration_final = 0;  ///< m
  double joint_error_max = 0;                         ///< m; distance of the anchors of ball joints
  double energy_rise = 0;                             ///< J: the largest rise above what a sample before it had
  double displacement = 0;                            ///< m: the farthest that a body is from its start at the end
};
BenchmarkFigures judge(const Scene& scene, const BenchmarkRun& run);
/// Several runs of one engine: the times of the run with the least median, the worst of everything else.
BenchmarkFigures combine(const BenchmarkFigures& one, const BenchmarkFigures& other);
double error_of(const BenchmarkFigures& figures, BenchmarkError error);

/// One scene; the first row is ours.
struct BenchmarkTable {
  std::string name, about;
  std::string remark;  ///< e.g. why there are no peers here
  double duration = 0;
  std::vector<BenchmarkError> errors;
  std::vector<BenchmarkFigures> rows;
};
/// Rows of those that came to an end (or were cut short) and that nobody beats in both, time and error. Errors below a
/// nanometre count as one.
std::vector<std::size_t> find_front(const BenchmarkTable& table, BenchmarkError error);
inline constexpr double kLeastError = 1e-9;  ///< m

/// All figures; then, where there are peers, a line for each scene.
std::string make_benchmark_text(const std::vector<BenchmarkTable>& tables);
std::string make_benchmark_json(const std::vector<BenchmarkTable>& tables);
/// bench.html, with time against error for each scene, and its pictures. Empty when good.
Faults save_benchmarks(const std::string& folder, const std::vector<BenchmarkTable>& tables);

}  // namespace slipstick
