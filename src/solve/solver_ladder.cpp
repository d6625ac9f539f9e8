#include "solve/solver_ladder_impl.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "solve/solvers/time_limit.h"

namespace slipstick {

namespace {

/// Row blocks of an island that is solved by itself, with all threads: its sweeps can be shared.
constexpr std::size_t kLargeIsland = 1000;

using Clock = std::chrono::steady_clock;

constexpr int kUnlimited = std::numeric_limits<int>::max(), kHeapsOnly = -1;
/// Lemke's dense factors: past this many complementary pairs a step would take minutes; the best certified residual is
/// reported instead.
constexpr int kLemkePairs = 1000;
/// And where the work is limited: some 10 ms.
constexpr int kHurriedPairs = 400;
/// Rows of an island from which a limit of work means that it is swept.
constexpr int kManyRows = 3000;
/// The last resort: so many sweeps from the best answer, then the first rung from where they end. Where an active set
/// turns in a circle the sweeps, slow as they are, lead elsewhere.
constexpr int kRescueSweeps = 200;

/// Of the work that a step may take: what is left for each problem when others have taken it all.
constexpr double kLeastShare = 0.2;

/// Complementary pairs of the problem's polyhedral form ([AnitescuPotra97]): normal, directions, slip speed.
int calc_pairs(const Problem& problem) {
  int pairs = 0;
  for (const RowBlock& block : problem.blocks) {
    if (block.law == LawKind::Equality) continue;
    pairs += block.law != LawKind::Friction ? block.size : block.size == 2 ? 4 : block.facets + 2;
  }
  return pairs;
}

}  // namespace

/// Sweeps from `from` into the slot's trial.
SolverReport sweep(const SolverOptions& budget, const Problem& problem, double tolerance, const Solution& from,
                   std::unique_ptr<Solver>* sweeper, LadderSlot* slot) {
  LadderScratch& own = *slot->scratch;
  if (!*sweeper) {
    SolverOptions metered = budget;
    metered.work = &own.work;
    *sweeper = make_solver("pgs", metered);
  }
  own.trial.v = from.v;
  own.trial.lambda = from.lambda;
  return (*sweeper)->solve(problem, tolerance, &own.trial);
}

/// What sweeps alone reached: the slot's result, judged by `tolerance`.
void take_swept(const SolverReport& report, double tolerance, LadderSlot* slot) {
  LadderResult& result = slot->result;
  result.residual = report.residual;
  result.tolerance = tolerance;
  result.certified = result.residual.within(tolerance);
  result.iterations = report.iterations;
  result.note = report.note;
  result.solver = "pgs";
  result.unsupported = false;
}

std::vector<std::string_view> solver_choices() {
  std::vector<std::string_view> names = solver_names();
  names.insert(names.begin(), "auto");
  return names;
}

/// solve_part with its work counted. Islands share what the whole may take by their rows: a share depends on the sizes
/// of the others alone, never on how they fared, and on no order.
void SolverLadder::Impl::solve_metered(const Problem& problem, Solution* solution, LadderSlot* slot) const {
  LadderScratch& own = *slot->scratch;
  own.work.limit = std::max(work_per_row * problem.rows(), calc_least_work());
  own.work.spent = slot->swept;
  own.work.looseness = 1;
  if (options.unique_forces) {
    own.first = solution->lambda;
    own.known = solution->uniqueness;
    slot->followed = false;
  }
  solve_part(problem, solution, slot);
  if (options.unique_forces && !slot->followed) choose_forces(problem, solution, slot);
  slot->result.work = own.work.spent;
}

void SolverLadder::Impl::solve_part(const Problem& problem, Solution* solution, LadderSlot* slot) const {
  reset(slot);
  if (options.hold_resting && hold(problem, solution, slot)) return;
  if (options.prototype && ask_prototype(problem, solution, slot)) return;
  if (options.heap_tolerance > options.tolerance && is_dear(problem, slot) && solve_heap(problem, solution, slot))
    return;
  if (options.unique_forces && follow_choice(problem, solution, slot)) return;
  if (starts_cold && slot->swept == 0 && start_cold(problem, solution, slot)) return;
  if (rungs.size() > 1 && !is_swept_whole(problem, *slot) &&
      slot->scratch->open.find(problem, *solution, &slot->scratch->masses) &&
      solve_without_open(problem, solution, slot))
    return;
  climb(problem, solution, slot);
}

/// Whether the work is limited to so little for so large an island that it will be swept. Contacts that stay open cost
/// sweeps next to nothing, and to take them back would cost the work of another solve.
bool SolverLadder::Impl::is_swept_whole(const Problem& problem, const LadderSlot& slot) const {
  return hurries(slot) && problem.rows() > kManyRows && PairSweeps::takes(problem);
}

void SolverLadder::Impl::reset(LadderSlot* slot) const {
  LadderResult& result = slot->result;
  result = {};
  result.unsupported = true;
  result.residual.worst.relative = std::numeric_limits<double>::infinity();  // worse than any answer
  slot->counts.assign(rungs.size(), {});
  slot->prototype_count = {};
  result.tolerance = options.tolerance;
}

/// Climbs the rungs until the judge is content with `solution`, which keeps the best answer by the judge.
void SolverLadder::Impl::climb(const Problem& problem, Solution* solution, LadderSlot* slot) const {
  LadderScratch& own = *slot->scratch;
  LadderResult& result = slot->result;
  own.solvers.resize(rungs.size());
  own.guess.v = solution->v;
  own.guess.lambda = solution->lambda;
  for (std::size_t k = 0; k < rungs.size() && !result.certified; ++k) {
    const int pairs = k > 0 && hurries(*slot) ? std::min(rungs[k].max_pairs, kHurriedPairs) : rungs[k].max_pairs;
    if (k > 0 && calc_pairs(problem) > pairs) continue;  // kHeapsOnly: always
    if (is_late()) {
      result.unsupported = false;
      result.note = is_stopped() ? "stopped" : "time limit";
      break;
    }
    if (!own.solvers[k]) {
      SolverOptions metered = solver_options;
      metered.work = &own.work;
      if (rungs.size() > 1) metered.settle = options.settle;
      own.solvers[k] = make_solver(rungs[k].solver, metered);
    }
    if (k > 0) ++result.escalations;
    own.trial.v = own.guess.v;
    own.trial.lambda = own.guess.lambda;
    const SolverReport report = own.solvers[k]->solve(problem, options.tolerance, &own.trial);
    result.iterations += report.iterations;
    if (result.unsupported) result.note = report.note;
    if (report.status == SolveStatus::Unsupported) continue;  // `trial` need not hold an answer
    result.unsupported = false;
    const Residuals& residual = report.residual;
    SolverStatistics count;
    count.solves = 1;
    count.certified = residual.within(options.tolerance);
    count.warm_hits = report.warm_hit;
    count.iterations += report.iterations;
    count.couplings = report.couplings;
    count.direct_residual_sum = count.direct_residual_max = report.direct_residual;
    count.iterative_residual_sum = count.iterative_residual_max = report.iterative_residual;
    add_statistics(count, &slot->counts[k]);
    if (!(residual.verdict() < result.residual.verdict())) continue;
    std::swap(*solution, own.trial);
    result.residual = residual;
    result.solver = rungs[k].solver;
    result.note = report.note;
    result.certified = residual.within(options.tolerance);
    result.settled = report.settled && !result.certified;
    // What a cheaper phase of newton was refused the dearer rungs cannot have either.
    result.exhausted = !result.certified && !result.settled && (report.hurried || report.note == kWorkBudget);
    if (result.settled || (k == 0 && result.exhausted)) return;
  }
  if (result.certified || result.unsupported || rungs.size() == 1) return;
  result.settled = hurries(*slot) && result.residual.relative <= own.work.looseness * options.settle;
  if (!result.settled) rescue(problem, solution, slot);
}

void SolverLadder::Impl::rescue(const Problem& problem, Solution* solution, LadderSlot* slot) const {
  LadderScratch& own = *slot->scratch;
  if (is_late()) return;
  SolverOptions budget;
  budget.max_iterations = kRescueSweeps;
  budget.stop = solver_options.stop;
  if (sweep(budget, problem, options.tolerance, *solution, &own.rescuer, slot).status == SolveStatus::Unsupported)
    return;
  LadderResult& result = slot->result;
  ++result.escalations;
  const SolverReport report = own.solvers[0]->solve(problem, options.tolerance, &own.trial);
  const Residuals& residual = report.residual;
  result.iterations += report.iterations;
  SolverStatistics& count = slot->counts[0];
  count.iterations += report.iterations;
  count.solves = 1;  // the same island, asked for the second time
  if (residual.within(options.tolerance)) count.certified = 1;
  if (!(residual.verdict() < result.residual.verdict())) return;
  std::swap(*solution, own.trial);
  result.residual = residual;
  result.solver = rungs[0].solver;
  result.note = report.note;
  result.certified = residual.within(options.tolerance);
}

/// At rest, under the impulses of the guess, if the judge agrees. The velocities are zero, not those that the impulses
/// leave over: these would add up from step to step.
bool SolverLadder::Impl::hold(const Problem& problem, Solution* solution, LadderSlot* slot) const {
  LadderScratch& own = *slot->scratch;
  if (problem.unknowns() == 0 || !(solution->v.cwiseAbs().maxCoeff() <= kRestSpeed)) return false;
  own.trial.v.setZero(problem.unknowns());
  own.trial.lambda = solution->lambda;
  const Residuals residual = own.judge.certify(problem, own.trial);
  if (!residual.within(options.tolerance)) return false;
  update_row_velocity(problem, own.trial.v, own.trial.lambda, &own.trial.w);
  std::swap(*solution, own.trial);
  LadderResult& result = slot->result;
  result.residual = residual;
  result.certified = true;
  result.unsupported = false;
  result.held = 1;
  result.solver = "held";
  return true;
}

/// The impulses of the solver that somebody tries out. False: the judge is not content, and `solution` is as it was.
bool SolverLadder::Impl::ask_prototype(const Problem& problem, Solution* solution, LadderSlot* slot) const {
  LadderScratch& own = *slot->scratch;
  LadderResult& result = slot->result;
  Solution& trial = own.trial;
  trial.lambda = solution->lambda;
  slot->prototype_count.solves = 1;
  if (options.prototype->solve(problem, options.tolerance, &trial.lambda) && trial.lambda.size() == problem.rows()) {
    own.masses.update(problem);
    update_velocity(problem, own.masses, trial.lambda, &trial.v);
    update_row_velocity(problem, trial.v, trial.lambda, &trial.w);
    const Residuals residual = own.judge.certify(problem, trial);
    if (residual.within(options.tolerance)) {
      std::swap(*solution, trial);
      result.residual = residual;
      result.certified = true;
      result.unsupported = false;
      result.solver = options.prototype->name();
      slot->prototype_count.certified = 1;
      return true;
    }
  }
  ++result.escalations;
  return false;
}

void SolverLadder::Impl::solve_islands(const Problem& problem, Solution* solution) {
  islands.solve_free_columns(problem, solution);
  const auto solve = [&](int island) {
    LadderSlot& slot = *slots[island];
    if (slot.is_heap || slot.is_still || slot.is_solved) return;
    pool.lend(&slot);
    islands.extract(problem, island, &slot.scratch->problem);
    islands.gather(problem, island, *solution, &slot.scratch->solution);
    solve_metered(slot.scratch->problem, &slot.scratch->solution, &slot);
    islands.scatter(problem, island, slot.scratch->solution, solution);  // islands have nothing in common
    slot.is_solved = true;
    if (islands.columns(island).size() <= kSmallIsland) pool.take_back(&slot);
  };
  // Large ones one after the other, with all hands; the others at the same time.
  const auto is_large = [&](int island) { return islands.blocks(island).size() >= kLargeIsland; };
  for (int island = 0; island < islands.count(); ++island)
    if (is_large(island)) solve(island);
  for_portions(team, islands.count(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t island = first; island < last; ++island)
      if (!is_large(static_cast<int>(island))) solve(static_cast<int>(island));
  });
}

void add_statistics(const SolverStatistics& part, SolverStatistics* all) {
  all->solves += part.solves;
  all->certified += part.certified;
  all->warm_hits += part.warm_hits;
  all->iterations += part.iterations;
  all->couplings += part.couplings;
  all->direct_residual_sum += part.direct_residual_sum;
  all->iterative_residual_sum += part.iterative_residual_sum;
  raise_to(part.direct_residual_max, &all->direct_residual_max);
  raise_to(part.iterative_residual_max, &all->iterative_residual_max);
}

void SolverLadder::Impl::add_counts(const LadderSlot& slot) {
  const std::size_t first = options.prototype ? 1 : 0;  // the prototype's own
  for (std::size_t k = 0; k < statistics.size(); ++k) {
    const SolverStatistics& part = k < first ? slot.prototype_count : slot.counts[k - first];
    add_statistics(part, &statistics[k]);
  }
}

/// What was finished short of the tolerance has the grade of a heap where its residual is that good.
void SolverLadder::Impl::grade(LadderSlot* slot) const {
  LadderResult& result = slot->result;
  if (result.certified || !(result.settled || result.exhausted) || !(options.heap_tolerance > options.tolerance) ||
      !result.residual.within(options.heap_tolerance))
    return;
  result.certified = true;
  result.tolerance = options.heap_tolerance;
}

void SolverLadder::Impl::update_island_results(const Problem& problem) {
  island_of_row.resize(problem.rows());
  island_results.resize(islands.count());
  for (int island = 0; island < islands.count(); ++island) {
    const LadderResult& result = slots[island]->result;
    island_results[island] = {result.certified, result.residual.natural, result.residual.relative};
    for (const int i : islands.blocks(island))
      std::fill_n(island_of_row.begin() + problem.blocks[i].row, problem.blocks[i].size, island);
  }
}

/// All islands that are neither heaps nor answered yet.
void SolverLadder::Impl::solve_rest(const Problem& problem, Solution* solution) {
  if (!is_whole()) return solve_islands(problem, solution);
  if (slots[0]->is_still || slots[0]->is_solved) return;
  pool.lend(slots[0].get());
  solve_metered(problem, solution, slots[0].get());  // no need to copy anything
}

/// Inverted when somebody asks for them for the first time.
const MassBlocks& SolverLadder::Impl::find_masses(const Problem& problem) {
  if (!std::exchange(has_masses, true)) masses.update(problem, team);
  return masses;
}

void SolverLadder::Impl::judge_whole(const Problem& problem, const Solution& solution, LadderJudged* judged) {
  const Clock::time_point began = Clock::now();
  judged->residual = judge.certify(problem, solution, islands, find_masses(problem));
  judged->seconds += std::chrono::duration<double>(Clock::now() - began).count();
}

/// Every island by what answers it. True: the judge has seen the whole as it is now.
bool SolverLadder::Impl::answer(const Problem& problem, bool judges, Solution* solution, LadderJudged* judged) {
  if (judges && start_coupled(problem, solution, judged)) return true;
  const bool kept = judges && find_kept(problem);
  const bool still = (judges && find_still(problem, solution)) || kept;
  solve_rest(problem, solution);
  if (!heaps.empty()) *judged = sweep_heaps(problem, judges, solution);
  if (!still || is_stopped()) return !heaps.empty();
  judge_whole(problem, *solution, judged);
  if (!take_still(problem, solution)) return true;
  solve_rest(problem, solution);
  return false;
}

LadderResult SolverLadder::Impl::solve(const Problem& problem, bool judges, Solution* solution) {
  start = Clock::now();
  if (solution->v.size() != problem.unknowns()) solution->v.setZero(problem.unknowns());
  if (solution->lambda.size() != problem.rows()) solution->lambda.setZero(problem.rows());
  if (solution->w.size() != problem.rows()) solution->w.setZero(problem.rows());
  if (!options.unique_forces) solution->uniqueness.clear();
  if (options.unique_forces && solution->uniqueness.size() != problem.blocks.size())
    solution->uniqueness.assign(problem.blocks.size(), Uniqueness::Unknown);
  islands.update(problem);
  has_masses = false;
  const int count = std::max(islands.count(), 1);
  while (static_cast<int>(slots.size()) < count) slots.push_back(std::make_unique<LadderSlot>());
  const double limit = std::max(options.work, options.sweeps * problem.rows());
  work_per_row = problem.rows() == 0 ? 0 : std::max(limit - spent, kLeastShare * limit) / problem.rows();
  if (std::isinf(limit)) work_per_row = limit;
  find_heaps(problem);
  for (const auto& slot : slots) {
    slot->is_still = slot->is_kept = slot->is_solved = false;
    slot->swept = 0;
  }
  LadderJudged judged;
  const bool known = answer(problem, judges, solution, &judged);
  LadderResult result;
  result.tolerance = options.tolerance;
  result.certified = true;
  double worst = -1;
  for (int island = 0; island < islands.count(); ++island) {
    grade(slots[island].get());
    const LadderResult& part = slots[island]->result;
    result.iterations += part.iterations;
    result.escalations += part.escalations;
    result.held += part.held;
    result.choices += part.choices;
    result.unchosen += part.unchosen;
    result.work += part.work;
    result.settled = result.settled || part.settled;
    result.exhausted = result.exhausted || part.exhausted;
    result.tolerance = std::max(result.tolerance, part.tolerance);
    result.certified = result.certified && part.certified;
    result.unsupported = result.unsupported || part.unsupported;
    add_counts(*slots[island]);
    if (part.residual.verdict() <= worst) continue;
    worst = part.residual.verdict();
    result.solver = part.solver;
    result.note = part.certified ? std::string_view() : part.note;
  }
  update_island_results(problem);
  if (result.solver.empty()) result.solver = rungs[0].solver;
  result.islands = islands.count();
  if (is_stopped()) {  // nobody waits for an answer, or for the judge
    result.certified = false;
    result.residual.relative = std::numeric_limits<double>::infinity();
    result.note = "stopped";
    return result;
  }
  // The judge is a pure function: the one island's certificate is the whole's. Of several islands each was certified by
  // its own tolerance (heaps have a looser one); what is reported is judged once more from the whole problem. Where
  // there are heaps, or islands that were answered by their guess, that has been done.
  if (!known && is_whole() && slots[0]->result.certified)
    judged.residual = slots[0]->result.residual;
  else if (!known)
    judge_whole(problem, *solution, &judged);
  result.residual = judged.residual;
  result.certified = result.certified && result.residual.within(result.tolerance);
  result.certify_seconds = judged.seconds;
  return result;
}

SolverLadder::SolverLadder(const LadderOptions& options) : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
  if (options.team == nullptr) impl_->own_team = std::make_unique<ThreadTeam>(options.threads);
  impl_->team = options.team != nullptr ? options.team : impl_->own_team.get();
  impl_->judge.set_team(impl_->team);
  impl_->solver_options = options.solver_options;
  impl_->solver_options.team = impl_->team;
  if (std::isfinite(options.time_limit)) impl_->solver_options.time_limit = options.time_limit;
  impl_->rungs = {{"newton", kUnlimited}, {"lemke", kLemkePairs}};
  if (options.heap_tolerance > options.tolerance) impl_->rungs.push_back({"pgs", kHeapsOnly});
  impl_->starts_cold = options.solver == "auto" && options.cold_sweeps;
  for (const std::string_view name : solver_names())
    if (name == options.solver) impl_->rungs = {{name, kUnlimited}};
  if (options.prototype) impl_->statistics.emplace_back().solver = options.prototype->name();
  for (const LadderRung& rung : impl_->rungs) impl_->statistics.emplace_back().solver = rung.solver;
}

SolverLadder::~SolverLadder() = default;
SolverLadder::SolverLadder(SolverLadder&&) noexcept = default;
SolverLadder& SolverLadder::operator=(SolverLadder&&) noexcept = default;

void SolverLadder::set_spent(double work) { impl_->spent = work; }
std::span<const int> SolverLadder::island_of_row() const { return impl_->island_of_row; }
std::span<const IslandResult> SolverLadder::island_results() const { return impl_->island_results; }
std::span<const SolverStatistics> SolverLadder::statistics() const { return impl_->statistics; }

LadderResult SolverLadder::solve(const Problem& problem, Solution* solution) {
  return impl_->solve(problem, true, solution);
}
LadderResult SolverLadder::solve(const Problem& problem, std::span<const char> answered, Solution* solution) {
  impl_->answered = answered;
  const LadderResult result = impl_->solve(problem, true, solution);
  impl_->answered = {};
  return result;
}
LadderResult SolverLadder::solve_unjudged(const Problem& problem, Solution* solution) {
  return impl_->solve(problem, false, solution);
}

}  // namespace slipstick
