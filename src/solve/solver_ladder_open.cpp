// auto, first without the contacts that stay open (open_rows.h): what is left falls into parts, each goes up the ladder
// by itself, and the judge certifies the whole island.
#include <algorithm>
#include <cmath>

#include "solve/solver_ladder_impl.h"

namespace slipstick {

namespace {

/// Times that contacts are taken back before the whole island is solved as it stands; mostly one answer is enough.
constexpr int kOpenRounds = 5;

/// However many parts it had, the island counts as one, and not yet if it must be solved whole (`taken`: it need not).
void count_once(bool taken, LadderSlot* slot) {
  for (SolverStatistics& count : slot->counts) {
    count.solves = std::min<decltype(count.solves)>(count.solves, taken ? 1 : 0);
    count.certified = std::min(count.certified, count.solves);
    count.warm_hits = std::min(count.warm_hits, count.solves);
  }
}

}  // namespace

/// One part of the island up the ladder, into the whole. Parts share the island's work by their rows, as islands do.
void SolverLadder::Impl::solve_closed(const Problem& problem, int index, LadderSlot* slot) const {
  LadderScratch& island = *slot->scratch;
  LadderSlot& part = island.part_slot(index);
  pool.lend(&part);
  LadderScratch& own = *part.scratch;
  island.parts.extract(problem, index, &own.problem);
  island.parts.gather(problem, index, island.whole, &own.solution);
  reset(&part);
  own.work.spent = 0;
  own.work.limit = island.work.limit;
  if (std::isfinite(island.work.limit)) {
    const double share = island.work.limit * own.problem.rows() / problem.rows();
    own.work.limit = std::min(std::max(share, calc_least_work()), island.work.limit - island.work.spent);
  }
  // Loose heaps have so many sweeps and no more, whatever they may be left at.
  const bool loose = PairSweeps::is_loose(problem, island.parts.blocks(index));
  own.work.looseness = loose ? 1 : island.open.calc_looseness(problem);
  climb(own.problem, &own.solution, &part);
  island.parts.scatter(problem, index, own.solution, &island.whole);
  island.work.spent += own.work.spent;
  if (island.parts.columns(index).size() <= kSmallIsland) pool.take_back(&part);
  LadderResult& result = slot->result;
  result.iterations += part.result.iterations;
  result.escalations += part.result.escalations;
  result.settled = result.settled || part.result.settled;
  result.exhausted = result.exhausted || part.result.exhausted;
  if (result.solver.empty() || !part.result.certified) {
    result.solver = part.result.solver;
    result.note = part.result.note;
  }
  for (std::size_t k = 0; k < rungs.size(); ++k) add_statistics(part.counts[k], &slot->counts[k]);
}

/// True: `solution` is the answer, certified or as far as the work goes. False: the island must be solved whole.
bool SolverLadder::Impl::solve_without_open(const Problem& problem, Solution* solution, LadderSlot* slot) const {
  LadderResult& result = slot->result;
  LadderScratch& island = *slot->scratch;
  Solution& whole = island.whole;
  whole.v = solution->v;
  whole.lambda = solution->lambda;
  whole.uniqueness.clear();  // a matter of the whole answer (solver_ladder_forces.cpp)
  whole.w.setZero(problem.rows());
  bool able = true, open = false;
  for (int round = 0; round < kOpenRounds && able && !open; ++round) {
    island.parts.update(problem, island.open.left_out());
    island.parts.solve_free_columns(problem, &whole);
    for (int k = 0; k < island.parts.count() && able; ++k) {
      const std::span<const int> blocks = island.parts.blocks(k);
      const auto is_new = [&](int i) { return round == 0 || island.open.taken_back(i); };
      if (std::none_of(blocks.begin(), blocks.end(), is_new)) continue;  // solved in an earlier round
      solve_closed(problem, k, slot);
      const LadderResult& part = island.part_slot(k).result;
      able = part.certified || part.settled || part.exhausted;
    }
    open = able && !island.open.take_back(problem, whole.v);
  }
  if (open) {
    update_row_velocity(problem, whole.v, whole.lambda, &whole.w);
    result.residual = island.judge.certify(problem, whole);
    result.certified = result.residual.within(options.tolerance);
    // Of the whole, whatever a part by itself has reached.
    if (hurries(*slot)) {
      result.settled = result.residual.relative <= options.settle;
      result.exhausted = result.exhausted && !result.settled;
    }
  }
  result.settled = open && result.settled && !result.certified;
  result.exhausted = open && result.exhausted && !result.certified;
  const bool taken = open && (result.certified || result.settled || result.exhausted);
  count_once(taken, slot);
  if (taken) {
    std::swap(solution->v, whole.v);
    std::swap(solution->lambda, whole.lambda);
    std::swap(solution->w, whole.w);
    result.unsupported = false;
    if (result.certified) result.note = {};
    return true;
  }
  result.residual.worst.relative = std::numeric_limits<double>::infinity();  // worse than any answer
  result.solver = result.note = {};
  return false;
}

}  // namespace slipstick
