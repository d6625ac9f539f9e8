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

/// Speeds of the rows that push, or hold, squared and summed: what is left of them, what the bodies themselves do of
/// it, and what forces alone would do.
struct RowSpeeds {
  double left = 0, creep = 0, forces = 0;
  double most_left = 0;  ///< of rows that only must not close: how fast the worst does
};

/// Row k of J v and of J free.
struct RowImages {
  double v = 0, free = 0;
};

RowImages calc_row_images(const Problem& problem, const RowBlock& block, int k, const VecX& v, const VecX& free) {
  RowImages images;
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    const int column = problem.entries[e].column, n = problem.column_size(column);
    const double* j = problem.jacobian.data() + problem.entries[e].offset + k * n;
    const double *at = v.data() + problem.column_start[column], *free_at = free.data() + problem.column_start[column];
    rows::dispatch(1, n, [&]<int M, int N>() {
      rows::add_image<M, N>(1, n, j, at, &images.v);
      rows::add_image<M, N>(1, n, j, free_at, &images.free);
    });
  }
  return images;
}

/// Motors are a matter for the judge, and so are tangents.
void add_speeds(const Problem& problem, const RowBlock& block, const VecX& v, const VecX& free, const VecX& lambda,
                RowSpeeds* speeds) {
  if (block.law == LawKind::Box) return;
  const int rows = block.law == LawKind::Friction ? 1 : block.size;
  for (int k = 0; k < rows; ++k) {
    const int r = block.row + k;
    const RowImages images = calc_row_images(problem, block, k, v, free);
    const double w = images.v + problem.c[r] + problem.compliance[r] * lambda[r];
    if (block.law != LawKind::Equality && !(lambda[r] > 0)) {
      raise_to(-w, &speeds->most_left);
      continue;
    }
    const double alone = images.free + problem.c[r];
    speeds->left += w * w;
    speeds->creep += images.v * images.v;
    speeds->forces += alone * alone;
  }
}

/// Whether the judge may find the impulses of the guess good enough, and that for some steps to come.
bool is_hardly_moving(const RowSpeeds& speeds, double still) {
  const double forces = std::sqrt(speeds.forces), left = std::sqrt(speeds.left);
  return speeds.most_left <= still * forces &&
         is_at_rest(calc_relative(left, forces), calc_relative(std::sqrt(speeds.creep), forces), still);
}

}  // namespace

namespace {

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
  if (!options.unique_forces) return true;
  int rows = 0;
  for (const int i : part.blocks) rows += problem.blocks[i].size;
  if (!UniqueForces::takes(problem, rows)) return true;
  return std::all_of(part.blocks.begin(), part.blocks.end(), [&](int i) {
    const RowBlock& block = problem.blocks[i];
    return !is_contact(block) || guess.lambda[block.row] == 0 || guess.uniqueness[i] != Uniqueness::Unknown;
  });
}

/// Marks the islands that have their answer, velocities and all. False: there are none.
bool SolverLadder::Impl::find_kept(const Problem& problem) {
  if (static_cast<int>(answered.size()) != problem.columns() || options.hold_resting || options.prototype ||
      !heaps.empty())
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
      still_masses.update(problem);
      guess_v = still_v = still_free = solution->v;
      any = true;
    }
    update_velocity(problem, still_masses, part, solution->lambda, &still_v);
    update_free_velocity(problem, still_masses, part, &still_free);
    RowSpeeds speeds;
    for (const int i : part.blocks)
      add_speeds(problem, problem.blocks[i], still_v, still_free, solution->lambda, &speeds);
    if (!is_hardly_moving(speeds, calc_still(static_cast<int>(part.columns.size()), options.tolerance))) continue;
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
  int rows = 0;
  bool contacts = false;
  for (const int i : part.blocks) {
    rows += problem.blocks[i].size;
    contacts = contacts || is_contact(problem.blocks[i]);
  }
  if (contacts && UniqueForces::takes(problem, rows)) {
    const bool arbitrary = std::any_of(part.blocks.begin(), part.blocks.end(),
                                       [&](int i) { return solution->uniqueness[i] == Uniqueness::Arbitrary; });
    slot->result.unchosen = arbitrary ? 1 : 0;
    return;
  }
  for (const int i : part.blocks) solution->uniqueness[i] = contacts ? Uniqueness::Unknown : Uniqueness::Unique;
  slot->result.unchosen = contacts ? 1 : 0;
}

}  // namespace slipstick
