// auto, before anything is solved: islands whose guess is the answer already. What rests has the impulses of the last
// step, or what it slides on steadily; the judge is asked about the whole problem in any case, and where it finds no
// more than a solver would leave, nobody else is.
#include <algorithm>
#include <cmath>

#include "solve/natural_map.h"
#include "solve/row_kernels.h"
#include "solve/solver_ladder_impl.h"
#include "solve/solvers/solvers.h"

namespace slipstick {

namespace {

int calc_rows(const Problem& problem, const ProblemPart& part) {
  int rows = 0;
  for (const int i : part.blocks) rows += problem.blocks[i].size;
  return rows;
}

/// Speeds of the rows that push, or hold, squared and summed: what is left of them, what the bodies themselves do of
/// it, and did in the step before, and what forces alone would do.
struct RowSpeeds {
  double left = 0, creep = 0, creep_before = 0, forces = 0;
  double most_left = 0;  ///< of rows that only must not close: how fast the worst does
};

/// Velocities: of the guess' impulses, of the step before, and of forces alone.
struct Velocities {
  const VecX &now, &before, &free;
};

/// Row k of J times each of them.
struct RowImages {
  double now = 0, before = 0, free = 0;
};

RowImages calc_row_images(const Problem& problem, const RowBlock& block, int k, const Velocities& v) {
  RowImages images;
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    const int column = problem.entries[e].column, n = problem.column_size(column);
    const double* j = problem.jacobian.data() + problem.entries[e].offset + k * n;
    const int at = problem.column_start[column];
    rows::dispatch(1, n, [&]<int M, int N>() {
      rows::add_image<M, N>(1, n, j, v.now.data() + at, &images.now);
      rows::add_image<M, N>(1, n, j, v.before.data() + at, &images.before);
      rows::add_image<M, N>(1, n, j, v.free.data() + at, &images.free);
    });
  }
  return images;
}

/// Motors are a matter for the judge, and so are tangents.
void add_speeds(const Problem& problem, const RowBlock& block, const Velocities& v, const VecX& lambda,
                RowSpeeds* speeds) {
  if (block.law == LawKind::Box) return;
  const int rows = block.law == LawKind::Friction ? 1 : block.size;
  for (int k = 0; k < rows; ++k) {
    const int r = block.row + k;
    const RowImages images = calc_row_images(problem, block, k, v);
    const double w = images.now + problem.c[r] + problem.compliance[r] * lambda[r];
    if (block.law != LawKind::Equality && !(lambda[r] > 0)) {
      raise_to(-w, &speeds->most_left);
      continue;
    }
    const double alone = images.free + problem.c[r];
    speeds->left += w * w;
    speeds->creep += images.now * images.now;
    speeds->creep_before += images.before * images.before;
    speeds->forces += alone * alone;
  }
}

/// Whether the judge may find the impulses of the guess good enough, and that for some steps to come.
bool is_hardly_moving(const RowSpeeds& speeds, double still) {
  const double forces = std::sqrt(speeds.forces), left = std::sqrt(speeds.left);
  return speeds.most_left <= still * forces &&
         is_at_rest(calc_relative(left, forces), calc_relative(std::sqrt(speeds.creep), forces), still);
}

/// Whether newton is asked about an island, and can stop it (NewtonIteration::stop_creep).
bool newton_stops(const Problem& problem, const ProblemPart& part, const Solution& guess) {
  bool chosen = !guess.uniqueness.empty() && UniqueForces::takes(problem, calc_rows(problem, part)), any = false;
  for (const int i : part.blocks) {
    if (!is_contact(problem.blocks[i])) return false;
    if (!chosen || guess.lambda[problem.blocks[i].row] == 0) continue;
    any = any || guess.uniqueness[i] == Uniqueness::Chosen;
    chosen = guess.uniqueness[i] == Uniqueness::Chosen || guess.uniqueness[i] == Uniqueness::Unique;
  }
  return !(chosen && any);  // a choice is followed (follow_choice)
}

/// Whether it is time to stop what rests. Under constant impulses its speeds grow by less than kGrowth from step to
/// step; what stood and has a speed now was stopped in the last step by an impulse that is in the guess, and would set
/// it going again.
bool begins_to_move(const RowSpeeds& speeds, double still) {
  constexpr double kGrowth = 2.5;
  const double forces = std::sqrt(speeds.forces), creep = std::sqrt(speeds.creep);
  return creep > kRestsShare * still * forces || (creep > kGrowth * std::sqrt(speeds.creep_before) &&
                                                  creep > 2 * kNoCreep * forces);  // newton has another scale
}

bool is_slow(const Problem& problem, const ProblemPart& part, const Solution& guess) {
  return std::all_of(part.columns.begin(), part.columns.end(), [&](int k) {
    return guess.v.segment(problem.column_start[k], problem.column_size(k)).cwiseAbs().maxCoeff() <= kRestSpeed;
  });
}

void set_velocity(const Problem& problem, const ProblemPart& part, const VecX& v, Solution* solution) {
  for (const int k : part.columns)
    for (int i = problem.column_start[k]; i < problem.column_start[k + 1]; ++i) solution->v[i] = v[i];
}

}  // namespace

/// Whether nobody need choose among many impulses: that was tried for all that carry something. Where it found none
/// the impulses were called arbitrary; with the same ones under the same load nobody would find more.
bool SolverLadder::Impl::keeps_choice(const Problem& problem, const Solution& guess, const ProblemPart& part) const {
  if (!options.unique_forces || !UniqueForces::takes(problem, calc_rows(problem, part))) return true;
  return std::all_of(part.blocks.begin(), part.blocks.end(), [&](int i) {
    const RowBlock& block = problem.blocks[i];
    return !is_contact(block) || guess.lambda[block.row] == 0 || guess.uniqueness[i] != Uniqueness::Unknown;
  });
}

/// Marks the islands that have their answer, velocities and all. False: there are none.
bool SolverLadder::Impl::find_kept(const Problem& problem) {
  if (answered.empty() || static_cast<int>(answered.size()) != problem.columns() || options.hold_resting ||
      options.prototype || !heaps.empty())
    return false;
  bool any = false;
  for (int island = 0; island < islands.count(); ++island) {
    const std::span<const int> columns = islands.part(island).columns;
    if (!std::all_of(columns.begin(), columns.end(), [&](int k) { return answered[k] != 0; })) continue;
    LadderSlot& slot = *slots[island];
    reset(&slot);
    slot.is_still = slot.is_kept = any = true;
  }
  return any;
}

/// Marks the islands that hardly move under the impulses of the guess, and gives them the velocities that follow.
/// False: there are none.
bool SolverLadder::Impl::find_still(const Problem& problem, Solution* solution) {
  if (rungs.size() == 1 || starts_cold || options.hold_resting || options.prototype || !heaps.empty()) return false;
  if (!problem.coupling.empty()) return false;
  bool any = false;
  for (int island = 0; island < islands.count(); ++island) {
    const ProblemPart part = islands.part(island);
    if (slots[island]->is_kept || !is_slow(problem, part, *solution) || !keeps_choice(problem, *solution, part))
      continue;
    if (!any) {
      guess_v = still_v = still_free = solution->v;
      any = true;
    }
    update_velocity(problem, find_masses(problem), part, solution->lambda, &still_v);
    update_free_velocity(problem, find_masses(problem), part, &still_free);
    RowSpeeds speeds;
    for (const int i : part.blocks)
      add_speeds(problem, problem.blocks[i], {still_v, guess_v, still_free}, solution->lambda, &speeds);
    const double still = calc_still(static_cast<int>(part.columns.size()), options.tolerance);
    if (!is_hardly_moving(speeds, still) || (begins_to_move(speeds, still) && newton_stops(problem, part, *solution)))
      continue;
    reset(slots[island].get());  // whoever stops the step counts it all the same
    slots[island]->is_still = true;
    set_velocity(problem, part, still_v, solution);
    update_row_velocity(problem, part, solution->v, solution->lambda, &solution->w);
  }
  return std::any_of(slots.begin(), slots.begin() + islands.count(), [](const auto& slot) { return slot->is_still; });
}

/// What the judge says of the whole problem about the islands that were not solved: as much as a solver would leave
/// without another factor is an answer. True: there are others, and they have their guess again.
bool SolverLadder::Impl::take_still(const Problem& problem, Solution* solution) {
  bool refused = false;
  for (int island = 0; island < islands.count(); ++island) {
    LadderSlot& slot = *slots[island];
    if (!slot.is_still) continue;
    const Residuals& residual = judge.islands()[island];
    const ProblemPart part = islands.part(island);
    const double enough =
        slot.is_kept ? options.tolerance : calc_still(static_cast<int>(part.columns.size()), options.tolerance);
    if (!(residual.verdict() <= enough)) {
      slot.is_still = false;
      if (!slot.is_kept) set_velocity(problem, part, guess_v, solution);
      refused = true;
      continue;
    }
    reset(&slot);
    slot.result.residual = residual;
    slot.result.certified = true;
    slot.result.unsupported = false;
    slot.result.solver = rungs[0].solver;
    if (!slot.is_kept) slot.counts[0].solves = slot.counts[0].certified = 1;
    if (options.unique_forces) name_still_forces(problem, part, &slot, solution);
  }
  return refused;
}

/// Which forces of an island that was not solved are unique: as in the step before, or nobody has ever asked.
void SolverLadder::Impl::name_still_forces(const Problem& problem, const ProblemPart& part, LadderSlot* slot,
                                           Solution* solution) const {
  const bool contacts =
      std::any_of(part.blocks.begin(), part.blocks.end(), [&](int i) { return is_contact(problem.blocks[i]); });
  if (contacts && UniqueForces::takes(problem, calc_rows(problem, part))) {
    const bool arbitrary = std::any_of(part.blocks.begin(), part.blocks.end(),
                                       [&](int i) { return solution->uniqueness[i] == Uniqueness::Arbitrary; });
    slot->result.unchosen = arbitrary ? 1 : 0;
    return;
  }
  for (const int i : part.blocks) solution->uniqueness[i] = contacts ? Uniqueness::Unknown : Uniqueness::Unique;
  slot->result.unchosen = contacts ? 1 : 0;
}

}  // namespace slipstick
