// auto, islands that are too dear to factor: swept, to a tolerance of their own, over pairs of columns (pair_sweeps.h)
// where they stand in the problem, and judged with it: copies, and a judge for each, would cost as much as fifty
// sweeps. Machines and tall stacks among them are solved in turn with that (solver_ladder_cores.cpp).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "solve/solver_ladder_impl.h"
#include "solve/solvers/time_limit.h"

namespace slipstick {

namespace {

using Clock = std::chrono::steady_clock;

/// Multiplications of a factorization from which an island is a heap (about 8 ms): sweeps, mixed, to a looser
/// tolerance, at most so many. Their residual falls with the root of their number: ten times as many would not help
/// much.
constexpr double kDearFactor = 2e7;
constexpr int kHeapSweeps = 60, kHeapMixing = 5;
constexpr double kHeapRelaxation = 0.8;
constexpr int kPairSweeps = 200;  // of pairs of columns, which cost a tenth
// Where their number is given: so many times more where the rows are few enough for so much work. Not without
// friction: positions are corrected again in the next step.
constexpr int kSmallHeapSweeps = 8;
constexpr double kSmallHeap = 1.5e6, kLooseHeap = 0.8e6;
constexpr int kFirstPairSweeps = 20;  // at rest they are all that is needed
constexpr int kCoreSweeps = 10;       // before cores are solved for the first time, then twice as many, and so on
constexpr double kPairStart = 10;     // row operations of a row before the first of them and after the last
/// The change of a visit above which the sweeps of a heap that has few of them are made again, and how often at most.
/// Where faces meet, what is left over turns bodies into each other.
constexpr double kHeapFarOff = 1e-2, kLooseFarOff = 2e-2;
constexpr int kMostPortions = 8;
/// Of the largest speed: rounding from which a heap is swept again in double precision.
constexpr double kMostDrift = 1e-3;
/// Over the tolerance: the change of a visit below which the judge is asked whether the first sweeps were enough.
constexpr double kNearEnough = 2;
/// Columns from which a problem without friction is swept unseen where sweeps are counted: an elimination order for
/// each correction of positions would cost more than its sweeps. Of loose heaps (PairSweeps::is_loose) so many.
constexpr int kSmoothColumns = 300, kLooseSmoothColumns = 80;

bool has_friction(const Problem& problem, const ProblemPart& part) {
  return std::any_of(part.blocks.begin(), part.blocks.end(), [&](int i) { return problem.blocks[i].size > 1; });
}

}  // namespace

bool SolverLadder::Impl::is_dear(const Problem& problem, LadderSlot* slot) const {
  return slot->scratch->cost.calc(problem) > kDearFactor;
}

/// Marks them. Where islands are held or somebody else is asked first, they go the way of all islands.
void SolverLadder::Impl::find_heaps(const Problem& problem) {
  heaps.clear();
  const bool looks = options.heap_tolerance > options.tolerance && !options.hold_resting && !options.prototype;
  for (int island = 0; island < islands.count(); ++island) {
    LadderSlot& slot = *slots[island];
    const bool was_heap = std::exchange(slot.is_heap, false);
    const ProblemPart part = islands.part(island);
    if (!looks || part.columns.size() > part.blocks.size()) continue;
    int ordered = options.ordered_columns;
    if (options.heap_sweeps > 0 && !has_friction(problem, part))
      ordered = std::min(ordered, PairSweeps::is_loose(problem, part.blocks) ? kLooseSmoothColumns : kSmoothColumns);
    FactorCost& cost = slot.own ? slot.own->cost : island_cost;
    if (cost.calc(problem, part, ordered) <= kDearFactor || !PairSweeps::takes_columns(problem)) continue;
    slot.take_own();
    if (!slot.scratch->cores.update(problem, part)) continue;
    if (!was_heap) {  // what newton had for it is of no use, and large
      HeapCores cores = std::move(slot.scratch->cores);
      slot.own.reset();
      slot.take_own();
      slot.scratch->cores = std::move(cores);
    }
    slot.is_heap = true;
    int rows = 0;
    for (const int i : part.blocks) rows += problem.blocks[i].size;
    heaps.push_back({part, &slot, island, rows});
  }
}

/// How many sweeps it is to have, and where they begin.
void SolverLadder::Impl::begin_heap(const Problem& problem, const Solution& solution, LadderHeap* heap) const {
  LadderSlot* slot = heap->slot;
  LadderScratch& own = *slot->scratch;
  if (options.heap_sweeps == 0) heap->precision = SweepPrecision::Double;  // nobody is in a hurry
  heap->part = {own.cores.swept(), heap->whole.columns, heap->whole.local_column};
  own.pairs.set_team(team);
  own.pairs.start(problem, heap->part, heap->precision);
  hold_machines(problem, solution, slot);
  if (solution.lambda.allFinite()) own.pairs.set_guess(solution.lambda);
  slot->sweeps = options.heap_sweeps > 0 ? options.heap_sweeps : kPairSweeps;
  heap->loose = PairSweeps::is_loose(problem, heap->part.blocks);
  if (options.heap_sweeps > 0 && own.pairs.has_friction() && !options.few_sweeps) {
    const int most = heap->loose ? PairSweeps::kLooseSweeps : kSmallHeapSweeps * options.heap_sweeps;
    const double rows = heap->loose ? kLooseHeap : kSmallHeap;
    slot->sweeps = std::max(slot->sweeps, std::min(most, static_cast<int>(rows / heap->rows)));
  }
  const double a_row = (own.work.limit - own.work.spent) / heap->rows;
  const double affordable =
      (a_row - kPairStart) / PairSweeps::calc_work(1, own.pairs.precision()) - calc_even_sweeps(*slot);
  if (affordable < slot->sweeps) {
    slot->sweeps = std::max(1, static_cast<int>(affordable));
    slot->result.note = kWorkBudget;
  }
  own.work.spent += kPairStart * heap->rows;
}

void SolverLadder::Impl::sweep_heap(const Problem& problem, int sweeps, Solution* solution, LadderHeap* heap) const {
  LadderSlot* slot = heap->slot;
  LadderScratch& own = *slot->scratch;
  const int last = heap->done + sweeps;
  while (heap->done < last) {
    int portion = last - heap->done;
    if (own.cores.count() > 0) {
      portion = std::min(portion, std::max(kCoreSweeps, heap->done));
      if (heap->done > 0) {
        own.pairs.update_impulses(&solution->lambda);
        solve_cores(problem, solution, heap);
      }
    }
    own.pairs.run(portion, PairSweeps::kSafeRadius, solver_options.stop);
    own.work.spent += PairSweeps::calc_work(portion, own.pairs.precision()) * heap->rows;
    heap->done += portion;
  }
  heap->ended = heap->done >= slot->sweeps;
  heap->read = false;
}

/// What the sweeps have found goes into the solution, unless it is there.
void SolverLadder::Impl::read_heap(const Problem& problem, LadderHeap* heap, Solution* solution) const {
  if (std::exchange(heap->read, true)) return;
  LadderScratch& own = *heap->slot->scratch;
  own.pairs.update_impulses(&solution->lambda);
  own.pairs.update_velocity(&solution->v);
  if (own.cores.count() > 0) end_cores(problem, solution, heap);
  update_row_velocity(problem, heap->whole, solution->v, solution->lambda, &solution->w, team);
}

/// Where few sweeps were asked for and the island was hit so hard that they were too few: as many again, several times.
bool SolverLadder::Impl::is_far_off(const LadderHeap& heap) const {
  if (!options.few_sweeps || heap.done + heap.slot->sweeps > kMostPortions * heap.slot->sweeps) return false;
  const double next = PairSweeps::calc_work(heap.slot->sweeps, heap.slot->scratch->pairs.precision()) * heap.rows;
  return heap.slot->scratch->work.spent + next <= heap.slot->scratch->work.limit &&
         heap.slot->scratch->pairs.calc_change() > (heap.loose ? kLooseFarOff : kHeapFarOff);
}

/// The sweeps that it has yet to have.
void SolverLadder::Impl::sweep_on(const Problem& problem, Solution* solution, LadderHeap* heap) const {
  while ((!heap->ended || is_far_off(*heap)) && !is_stopped())
    sweep_heap(problem, heap->ended ? heap->slot->sweeps : heap->slot->sweeps - heap->done, solution, heap);
}

/// After read_heap: single precision was not enough, as where a load of many tonnes rests on grams.
bool SolverLadder::Impl::is_rounded(const LadderHeap& heap) const {
  return heap.precision == SweepPrecision::Single && !(heap.slot->scratch->pairs.calc_drift() <= kMostDrift);
}

/// A few sweeps of each, and the rest for those that the judge is not content with. Null: nobody judges, and what a
/// visit would change decides.
void SolverLadder::Impl::sweep_in_turn(const Problem& problem, std::span<LadderHeap> all, const HeapJudge& judge_of,
                                       Solution* solution, LadderJudged* judged) const {
  bool near = false, known = false;
  const auto judge_whole = [&] {
    for (LadderHeap& heap : all) read_heap(problem, &heap, solution);
    const Clock::time_point start = Clock::now();
    judged->residual = judge_of.judge->certify(problem, *solution, *judge_of.islands, *judge_of.masses);
    judged->seconds += std::chrono::duration<double>(Clock::now() - start).count();
    known = true;
  };
  for (LadderHeap& heap : all) {
    begin_heap(problem, *solution, &heap);
    const bool looks = options.heap_sweeps > 0 && heap.slot->sweeps > 2 * kFirstPairSweeps;
    sweep_heap(problem, looks ? kFirstPairSweeps : heap.slot->sweeps, solution, &heap);
    if (is_stopped()) return;  // nobody waits for an answer, or for the judge
    if (!looks) continue;
    const double change = heap.slot->scratch->pairs.calc_change();
    heap.ended = judge_of.judge == nullptr && change <= options.heap_tolerance;
    heap.near = judge_of.judge != nullptr && change <= kNearEnough * options.heap_tolerance;
    near = near || heap.near;
  }
  if (near) judge_whole();
  for (LadderHeap& heap : all) {
    // Of others, that happen to be judged with it, a heap must not depend.
    if (heap.near && judge_of.judge->islands()[heap.island].within(options.heap_tolerance)) heap.ended = true;
    if (!heap.ended || is_far_off(heap)) known = false;
    sweep_on(problem, solution, &heap);
    read_heap(problem, &heap, solution);
    if (is_rounded(heap) && !is_stopped()) {
      known = false;
      heap.precision = SweepPrecision::Double;
      heap.done = 0;
      begin_heap(problem, *solution, &heap);
      heap.ended = false;
      sweep_on(problem, solution, &heap);
      read_heap(problem, &heap, solution);
    }
    if (is_stopped()) return;
  }
  if (!known && judge_of.judge != nullptr) judge_whole();
}

/// All heaps of the problem. The certificate of the whole, whose other islands are solved; infinite without a judge.
LadderJudged SolverLadder::Impl::sweep_heaps(const Problem& problem, bool judges, Solution* solution) {
  LadderJudged judged;
  Residuals& residual = judged.residual;
  residual.natural = residual.relative = residual.worst.relative = std::numeric_limits<double>::infinity();
  for (LadderHeap& heap : heaps) {
    reset(heap.slot);
    heap.slot->scratch->work.limit = std::max(work_per_row * heap.rows, calc_least_work());
    heap.slot->scratch->work.spent = 0;
  }
  const HeapJudge judge_of = judges ? HeapJudge{&judge, &islands, &find_masses(problem)} : HeapJudge{};
  sweep_in_turn(problem, heaps, judge_of, solution, &judged);
  if (is_stopped()) return judged;
  for (LadderHeap& heap : heaps) {
    SolverReport report;
    report.iterations = heap.done;
    report.residual = judges ? judge.islands()[heap.island] : residual;
    report.note = heap.slot->result.note;
    take_heap(report, heap.slot);
    heap.slot->result.work = heap.slot->scratch->work.spent;
    if (!options.unique_forces) continue;
    heap.slot->result.unchosen = 1;
    for (const int i : heap.whole.blocks) solution->uniqueness[i] = Uniqueness::Unknown;
  }
  return judged;
}

/// An island that is too dear to factor, by itself: what the sweeps reach, by the heaps' own tolerance. False: they
/// cannot take it.
bool SolverLadder::Impl::solve_heap(const Problem& problem, Solution* solution, LadderSlot* slot) const {
  slot->scratch->parts.update(problem);
  if (PairSweeps::takes_columns(problem) && slot->scratch->cores.update(problem, slot->scratch->parts.part(0))) {
    LadderHeap heap{slot->scratch->parts.part(0), slot, 0, problem.rows()};
    LadderJudged judged;
    slot->scratch->masses.update(problem);
    const HeapJudge judge_of{&slot->scratch->judge, &slot->scratch->parts, &slot->scratch->masses};
    sweep_in_turn(problem, {&heap, 1}, judge_of, solution, &judged);
    SolverReport report;
    report.residual = judged.residual;
    report.iterations = heap.done;
    report.note = slot->result.note;
    take_heap(report, slot);
    return true;
  }
  SolverOptions budget;
  budget.max_iterations = options.heap_sweeps > 0 ? options.heap_sweeps : kHeapSweeps;
  budget.stop = solver_options.stop;
  budget.mixing = kHeapMixing;
  budget.relaxation = kHeapRelaxation;
  budget.team = team;
  const SolverReport report = sweep(budget, problem, options.heap_tolerance, *solution, &slot->scratch->heaper, slot);
  if (report.status == SolveStatus::Unsupported) return false;
  if (is_stopped()) return true;
  std::swap(*solution, slot->scratch->trial);
  take_heap(report, slot);
  return true;
}

void SolverLadder::Impl::take_heap(const SolverReport& report, LadderSlot* slot) const {
  take_swept(report, options.heap_tolerance, slot);
  if (!slot->result.certified && slot->result.note.empty()) slot->result.note = "iteration limit";
  SolverStatistics& count = slot->counts.back();
  count.solves = 1;
  count.certified = slot->result.certified;
  count.iterations = report.iterations;
}

}  // namespace slipstick
