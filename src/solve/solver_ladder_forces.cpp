// auto, after an answer: which of many impulses are meant where there are several (unique_forces.h).
#include <algorithm>

#include "solve/solver_ladder_impl.h"

namespace slipstick {

namespace {

/// Whether the guess was a choice, or unique, wherever it is not zero. *chosen: not everywhere unique.
bool is_choice(const Problem& problem, const LadderSlot& slot, bool* chosen) {
  const LadderScratch& own = *slot.scratch;
  *chosen = false;
  if (own.known.size() != problem.blocks.size()) return false;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    if (!is_contact(block) || own.first[block.row] == 0) continue;
    if (own.known[i] != Uniqueness::Unique && own.known[i] != Uniqueness::Chosen) return false;
    *chosen = *chosen || own.known[i] == Uniqueness::Chosen;
  }
  return true;
}

}  // namespace

/// What moves on as it did: the choice of the last step leads to that of this one, and nobody else need be asked.
bool SolverLadder::Impl::follow_choice(const Problem& problem, Solution* solution, LadderSlot* slot) const {
  LadderScratch& own = *slot->scratch;
  bool chosen = false;
  if (rungs[0].solver != "newton" || !UniqueForces::takes(problem) || !is_choice(problem, *slot, &chosen) || !chosen)
    return false;
  LadderResult& result = slot->result;
  const UniqueForces::Outcome outcome = own.forces.follow(problem, options.tolerance, &own.work, &own.judge, solution);
  result.iterations = slot->counts[0].iterations = outcome.factorizations;
  slot->followed = outcome.chosen;
  if (!outcome.chosen) return false;
  slot->counts[0].solves = slot->counts[0].certified = 1;
  result.residual = outcome.residual;
  result.certified = true;
  result.unsupported = false;
  result.solver = rungs[0].solver;
  return true;
}

/// Whether the island rests on contacts whose forces are unique or were found to be arbitrary, and under the same load:
/// the guess solves the problem too. What was not found for it will not be found now.
bool SolverLadder::Impl::still_unfound(const Problem& problem, const Solution& solution, LadderSlot* slot) const {
  LadderScratch& own = *slot->scratch;
  if (own.known.size() != problem.blocks.size() || !(solution.v.cwiseAbs().maxCoeff() <= kRestSpeed)) return false;
  bool arbitrary = false;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    if (!is_contact(problem.blocks[i]) || solution.lambda[problem.blocks[i].row] == 0) continue;
    if (own.known[i] == Uniqueness::Unknown || own.known[i] == Uniqueness::Chosen) return false;
    arbitrary = arbitrary || own.known[i] == Uniqueness::Arbitrary;
  }
  if (!arbitrary) return false;
  own.trial.lambda = own.first;
  own.masses.update(problem);
  update_velocity(problem, own.masses, own.trial.lambda, &own.trial.v);
  return own.judge.certify(problem, own.trial).within(options.tolerance);
}

/// The impulses of an answer that the judge is content with, where there are others.
void SolverLadder::Impl::choose_forces(const Problem& problem, Solution* solution, LadderSlot* slot) const {
  LadderScratch& own = *slot->scratch;
  LadderResult& result = slot->result;
  const bool contacts = std::any_of(problem.blocks.begin(), problem.blocks.end(), is_contact);
  solution->uniqueness.assign(problem.blocks.size(), contacts ? Uniqueness::Unknown : Uniqueness::Unique);
  if (!contacts || is_stopped()) return;
  result.unchosen = 1;
  if (!result.certified || result.tolerance > options.tolerance || !UniqueForces::takes(problem)) return;
  // Where the guess was a choice, and solves the problem with no bit changed, it still is one: nothing has moved.
  bool chosen = false;
  if ((solution->lambda.array() == own.first.array()).all() && is_choice(problem, *slot, &chosen)) {
    solution->uniqueness = own.known;
    result.unchosen = 0;
    return;
  }
  if (still_unfound(problem, *solution, slot)) {
    solution->uniqueness = own.known;
    return;
  }
  const UniqueForces::Outcome outcome = own.forces.choose(problem, options.tolerance, &own.work, &own.judge, solution);
  result.choices = outcome.factorizations;
  if (outcome.chosen) result.residual = outcome.residual;
  result.unchosen = outcome.chosen || outcome.unique ? 0 : 1;
}

}  // namespace slipstick
