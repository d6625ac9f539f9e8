// The inside of SolverLadder: what it keeps for each island, and its parts.
#pragma once

#include <slipstick/solver_ladder.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

#include "base/thread_team.h"
#include "solve/factor_cost.h"
#include "solve/heap_cores.h"
#include "solve/mass_blocks.h"
#include "solve/open_rows.h"
#include "solve/presolve.h"
#include "solve/solvers/pair_sweeps.h"
#include "solve/solvers/pgs_sweeps.h"
#include "solve/unique_forces.h"

namespace slipstick {

/// What an island may take however small it is (about 20 ms): in a machine among rocks it is the small islands that
/// need digits. Few of them come near it, and none of some hundred rows can.
inline constexpr double kLeastWork = 1.5e6;  // row operations

/// m/s, rad/s: what moves faster is not at rest, and the judge need not be asked.
inline constexpr double kRestSpeed = 1e-6;

/// Columns up to which an order is found again as soon as it is looked for in what was kept.
inline constexpr std::size_t kSmallIsland = 8;

struct LadderRung {
  std::string_view solver;
  int max_pairs;  ///< larger islands skip this rung
};

struct LadderSlot;

/// What it takes to solve an island, kept from call to call. What is in it when an island begins changes nothing but
/// the time that it takes.
struct LadderScratch {
  Problem problem;
  Solution solution, guess, trial;
  std::vector<std::unique_ptr<Solver>> solvers;      ///< one per rung
  std::unique_ptr<Solver> starter, rescuer, heaper;  ///< pgs with a budget each
  PairSweeps pairs;
  Judge judge;
  MassBlocks masses;
  FactorCost cost;
  WorkMeter work;
  // Of many impulses those that are meant.
  UniqueForces forces;
  VecX first;                     ///< the guess
  std::vector<Uniqueness> known;  ///< of the guess
  HeapCores cores;                ///< of a heap
  std::vector<double> forces_b;   ///< b with the impulses that its sweeps hold
  // The island without contacts that stay open, or the cores of a heap.
  OpenRows open;
  Islands parts;
  std::vector<std::unique_ptr<LadderSlot>> part_slots;
  Solution whole;
  LadderSlot& part_slot(int part);
};

/// What is known of an island.
struct LadderSlot {
  LadderScratch* scratch = nullptr;    ///< while it is solved
  std::unique_ptr<LadderScratch> own;  ///< kept by large islands: orders and factors of the step before serve again
  LadderResult result;
  std::vector<SolverStatistics> counts;  ///< of the last call, one per rung
  SolverStatistics prototype_count;
  bool is_heap = false;    ///< swept where it stands
  bool is_still = false;   ///< answered by its guess, if the judge agrees
  bool is_kept = false;    ///< because it is the answer of an earlier pass
  bool is_solved = false;  ///< in this call
  bool followed = false;   ///< the answer is a choice already
  int sweeps = 0;          ///< of a heap: that it is to have
  double swept = 0;        ///< work of sweeps where the island stands, before anybody is asked
  /// Has scratch of its own from now on.
  void take_own() {
    if (!own) own = std::make_unique<LadderScratch>();
    scratch = own.get();
  }
};

inline LadderSlot& LadderScratch::part_slot(int part) {
  while (static_cast<int>(part_slots.size()) <= part) part_slots.push_back(std::make_unique<LadderSlot>());
  return *part_slots[part];
}

/// Scratch that no island has: a falling heap has thousands of small ones, of which few are solved at the same time.
class LadderPool {
 public:
  void lend(LadderSlot* slot) {
    if (!slot->own) {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        slot->own = std::move(free_.back());
        free_.pop_back();
      }
    }
    slot->take_own();
  }
  void take_back(LadderSlot* slot) {
    slot->scratch = nullptr;
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(slot->own));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<LadderScratch>> free_;
};

/// An island that is too dear to factor: swept where it stands, nothing is copied but its cores.
struct LadderHeap {
  ProblemPart whole;
  LadderSlot* slot;
  int island;  ///< of the judge
  int rows;
  ProblemPart part{};  ///< what is swept of it
  int done = 0;        ///< sweeps
  bool loose = false;  ///< PairSweeps::is_loose
  bool near = false;   ///< worth a question to the judge after the first sweeps
  bool ended = false;
  SweepPrecision precision = SweepPrecision::Single;
  bool read = false;  ///< the solution has what the sweeps have found
};

/// Who judges heaps, with what is known of the problem that they are in. Null: nobody does.
struct HeapJudge {
  Judge* judge = nullptr;
  const Islands* islands = nullptr;
  const MassBlocks* masses = nullptr;
};

/// A certificate, and what it took.
struct LadderJudged {
  Residuals residual;
  double seconds = 0;
};

/// Sweeps of pgs from `from` into the slot's trial.
SolverReport sweep(const SolverOptions& budget, const Problem& problem, double tolerance, const Solution& from,
                   std::unique_ptr<Solver>* sweeper, LadderSlot* slot);
/// What sweeps alone reached: the slot's result, judged by `tolerance`.
void take_swept(const SolverReport& report, double tolerance, LadderSlot* slot);
/// Adds what a solver did for a part.
void add_statistics(const SolverStatistics& part, SolverStatistics* all);

struct SolverLadder::Impl {
  void solve_part(const Problem& problem, Solution* solution, LadderSlot* slot) const;
  bool solve_heap(const Problem& problem, Solution* solution, LadderSlot* slot) const;
  bool is_dear(const Problem& problem, LadderSlot* slot) const;
  void find_heaps(const Problem& problem);
  LadderJudged sweep_heaps(const Problem& problem, bool judges, Solution* solution);
  void begin_heap(const Problem& problem, const Solution& solution, LadderHeap* heap) const;
  void sweep_heap(const Problem& problem, int sweeps, Solution* solution, LadderHeap* heap) const;
  void sweep_on(const Problem& problem, Solution* solution, LadderHeap* heap) const;
  double solve_core(const Problem& problem, const CorePart& core, double tolerance, double limit, Solution* solution,
                    LadderSlot* slot) const;
  void hold_machines(const Problem& problem, const Solution& solution, LadderSlot* slot) const;
  int calc_even_sweeps(const LadderSlot& slot) const;
  double calc_core_limit(const LadderHeap& heap) const;
  void solve_cores(const Problem& problem, Solution* solution, LadderHeap* heap) const;
  void end_cores(const Problem& problem, Solution* solution, LadderHeap* heap) const;
  bool is_rounded(const LadderHeap& heap) const;
  void read_heap(const Problem& problem, LadderHeap* heap, Solution* solution) const;
  bool is_far_off(const LadderHeap& heap) const;
  void sweep_in_turn(const Problem& problem, std::span<LadderHeap> heaps, const HeapJudge& judge_of, Solution* solution,
                     LadderJudged* judged) const;
  void take_heap(const SolverReport& report, LadderSlot* slot) const;
  bool is_swept_whole(const Problem& problem, const LadderSlot& slot) const;
  bool hurries(const LadderSlot& slot) const {
    return options.settle > options.tolerance && std::isfinite(slot.scratch->work.limit);
  }
  /// None where a number is given, or where nothing may be settled.
  double calc_least_work() const {
    return options.settle > options.tolerance ? std::min(kLeastWork, options.work) : 0.0;
  }
  bool hold(const Problem& problem, Solution* solution, LadderSlot* slot) const;
  bool ask_prototype(const Problem& problem, Solution* solution, LadderSlot* slot) const;
  bool start_cold(const Problem& problem, Solution* solution, LadderSlot* slot) const;
  bool start_coupled(const Problem& problem, Solution* solution, LadderJudged* judged);
  SolverReport sweep_coupled(std::span<const int> blocks);
  void reset(LadderSlot* slot) const;
  void climb(const Problem& problem, Solution* solution, LadderSlot* slot) const;
  void rescue(const Problem& problem, Solution* solution, LadderSlot* slot) const;
  bool solve_without_open(const Problem& problem, Solution* solution, LadderSlot* slot) const;
  void solve_closed(const Problem& problem, int index, LadderSlot* slot) const;
  bool is_stopped() const {
    return solver_options.stop != nullptr && solver_options.stop->load(std::memory_order_relaxed);
  }
  bool is_late() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return is_stopped() || passed.count() > options.time_limit;
  }
  void solve_metered(const Problem& problem, Solution* solution, LadderSlot* slot) const;
  bool follow_choice(const Problem& problem, Solution* solution, LadderSlot* slot) const;
  bool still_unfound(const Problem& problem, const Solution& solution, LadderSlot* slot) const;
  void choose_forces(const Problem& problem, Solution* solution, LadderSlot* slot) const;
  bool keeps_choice(const Problem& problem, const Solution& guess, const ProblemPart& part) const;
  bool find_still(const Problem& problem, Solution* solution);
  bool find_kept(const Problem& problem);
  bool take_still(const Problem& problem, Solution* solution);
  void name_still_forces(const Problem& problem, const ProblemPart& part, LadderSlot* slot, Solution* solution) const;
  void solve_islands(const Problem& problem, Solution* solution);
  bool is_whole() const { return islands.count() == 1 && islands.free_columns().empty() && heaps.empty(); }
  void solve_rest(const Problem& problem, Solution* solution);
  bool answer(const Problem& problem, bool judges, Solution* solution, LadderJudged* judged);
  const MassBlocks& find_masses(const Problem& problem);
  void judge_whole(const Problem& problem, const Solution& solution, LadderJudged* judged);
  void add_counts(const LadderSlot& slot);
  void grade(LadderSlot* slot) const;
  void update_island_results(const Problem& problem);
  LadderResult solve(const Problem& problem, bool judges, Solution* solution);

  LadderOptions options;
  std::unique_ptr<ThreadTeam> own_team;
  const ThreadTeam* team = nullptr;
  SolverOptions solver_options;
  std::vector<LadderRung> rungs;
  bool starts_cold = false;
  std::vector<SolverStatistics> statistics;
  std::chrono::steady_clock::time_point start;
  double spent = 0;  ///< before this problem
  double work_per_row = 0;
  Islands islands;
  std::vector<int> island_of_row;
  std::vector<IslandResult> island_results;
  std::vector<std::unique_ptr<LadderSlot>> slots;
  mutable LadderPool pool;
  FactorCost island_cost;  ///< of find_heaps
  std::vector<LadderHeap> heaps;
  std::span<const char> answered;  ///< columns that have their answer
  MassBlocks masses;               ///< of the problem, see find_masses
  bool has_masses = false;
  PgsSweeps cold{SolverOptions{}};  ///< of all islands of a problem in local form
  VecX cold_best;
  std::vector<SolverReport> reports;  ///< of its islands
  VecX guess_v, still_v, still_free;  ///< velocities as given, under the impulses of the guess, and under none
  Judge judge;
};

}  // namespace slipstick
