// auto, machines and tall stacks within a heap (heap_cores.h): each is solved by newton as a problem of its own, with
// the impulses of the heap around it as forces, before the sweeps go on from what it has found.
#include <algorithm>

#include "solve/row_kernels.h"
#include "solve/solver_ladder_impl.h"

namespace slipstick {

namespace {

/// Of the heap's tolerance: to what a core is solved while the sweeps around it go on.
constexpr double kCoreShare = 0.1;
/// Sweeps after a core was solved for the last time: they put right what it has moved in the heap around it.
constexpr int kEvenSweeps = 5;
/// How often that may be: where the judge is asked early, and at the end.
constexpr int kMostEvenings = 2;
/// Of the work that is left: what a core may take. The last ones must not go short.
constexpr double kCoreWork = 0.5;

/// forces += J^T lambda of a row block, where `at(column)` is not negative: there.
template <class F>
void add_force(const Problem& problem, int i, const VecX& lambda, const F& at, double* forces) {
  const RowBlock& block = problem.blocks[i];
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    const JacobianEntry& entry = problem.entries[e];
    const int to = at(entry.column), n = problem.column_size(entry.column);
    if (to < 0) continue;
    rows::dispatch(block.size, n, [&]<int M, int N>() {
      rows::add_transposed<M, N>(block.size, n, problem.jacobian.data() + entry.offset, lambda.data() + block.row,
                                 forces + to);
    });
  }
}

}  // namespace

/// The work that it took, of `limit` at most.
double SolverLadder::Impl::solve_core(const Problem& problem, const CorePart& core, double tolerance, double limit,
                                      Solution* solution, LadderSlot* slot) const {
  slot->take_own();
  LadderScratch* own = slot->scratch;
  extract_part(problem, core.part, &own->problem);
  const auto at = [&](int column) {
    const int k = core.part.local_column[column];
    return k < 0 ? -1 : own->problem.column_start[k];
  };
  for (const int i : core.border) add_force(problem, i, solution->lambda, at, own->problem.b.data());
  gather_part(problem, core.part, *solution, &own->solution);
  own->work.spent = 0;
  own->work.looseness = 1;
  own->work.limit = std::min(limit, std::max(work_per_row * own->problem.rows(), calc_least_work()));
  own->solvers.resize(1);
  if (!own->solvers[0]) {
    SolverOptions metered = solver_options;
    metered.work = &own->work;
    metered.settle = options.settle;
    own->solvers[0] = make_solver("newton", metered);
  }
  own->solvers[0]->solve(own->problem, tolerance, &own->solution);
  scatter_part(problem, core.part, own->solution, solution);
  return own->work.spent;
}

/// The impulses of rows that cannot be swept are forces to those that are.
void SolverLadder::Impl::hold_machines(const Problem& problem, const Solution& solution, LadderSlot* slot) const {
  LadderScratch& own = *slot->scratch;
  if (own.cores.held().empty()) return;
  own.forces_b = problem.b;
  const auto at = [&](int column) { return problem.column_start[column]; };
  for (const int i : own.cores.held()) add_force(problem, i, solution.lambda, at, own.forces_b.data());
  own.pairs.set_forces(own.forces_b);
}

/// That belong to the cores of a heap, beside its own.
int SolverLadder::Impl::calc_even_sweeps(const LadderSlot& slot) const {
  return slot.scratch->cores.count() > 0 ? kMostEvenings * kEvenSweeps : 0;
}

/// What a core may take of the work that is left when all sweeps are made.
double SolverLadder::Impl::calc_core_limit(const LadderHeap& heap) const {
  const LadderSlot& slot = *heap.slot;
  const LadderScratch& own = *slot.scratch;
  const int sweeps = std::max(slot.sweeps - heap.done, 0) + calc_even_sweeps(slot);
  const double kept = PairSweeps::calc_work(sweeps, own.pairs.precision()) * heap.rows;
  return kCoreWork * std::max(own.work.limit - own.work.spent - kept, 0.0);
}

/// All of them, in turn, from the impulses of the solution; the sweeps go on from there.
void SolverLadder::Impl::solve_cores(const Problem& problem, Solution* solution, LadderHeap* heap) const {
  LadderScratch& own = *heap->slot->scratch;
  const double tolerance = std::max(options.tolerance, kCoreShare * options.heap_tolerance);
  for (int core = 0; core < own.cores.count() && !is_late(); ++core)
    own.work.spent += solve_core(problem, own.cores.with_neighbours(core), tolerance, calc_core_limit(*heap), solution,
                                 &own.part_slot(core));
  hold_machines(problem, *solution, heap->slot);
  own.pairs.set_impulses(solution->lambda);
}

/// After the last portion of sweeps: cores, what they have moved in the heap, and joints to the last digit.
void SolverLadder::Impl::end_cores(const Problem& problem, Solution* solution, LadderHeap* heap) const {
  LadderScratch& own = *heap->slot->scratch;
  solve_cores(problem, solution, heap);
  own.pairs.run(kEvenSweeps, PairSweeps::kSafeRadius, solver_options.stop);
  own.work.spent += PairSweeps::calc_work(kEvenSweeps, own.pairs.precision()) * heap->rows;
  own.pairs.update_impulses(&solution->lambda);
  own.pairs.update_velocity(&solution->v);
  for (int core = 0; core < own.cores.count() && !is_late(); ++core) {
    if (!own.cores.is_machine(core)) continue;
    own.work.spent += solve_core(problem, own.cores.alone(core), options.tolerance, calc_core_limit(*heap), solution,
                                 &own.part_slot(core));
  }
}

}  // namespace slipstick
