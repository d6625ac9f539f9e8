#include "solve/solvers/pair_sweeps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace slipstick {

namespace {

/// Of its contacts: pairs of a loose heap.
constexpr double kLoosePairs = 0.9;

/// `block_at(k)`: the k-th of `count` row blocks.
template <class F>
bool meets_in_single_contacts(const Problem& problem, std::size_t count, const F& block_at) {
  std::size_t alone = 0;
  int last_a = -1, last_b = -1;
  for (std::size_t k = 0; k < count; ++k) {
    const RowBlock& block = block_at(k);
    const int a = problem.entries[block.entry].column;
    const int b = block.entries > 1 ? problem.entries[block.entry + 1].column : -1;
    alone += a != last_a || b != last_b;
    last_a = a, last_b = b;
  }
  return static_cast<double>(alone) >= kLoosePairs * static_cast<double>(count);
}

}  // namespace

bool PairSweeps::takes(const RowBlock& block) {
  if (block.entries < 1 || block.entries > 2) return false;
  if (block.law == LawKind::Nonnegative) return block.size == 1;
  return block.law == LawKind::Friction && block.size <= 3 && block.mu >= 0 && std::isfinite(block.mu) &&
         (block.size == 2 || block.friction == FrictionModel::Cone);
}

bool PairSweeps::takes_columns(const Problem& problem) {
  return problem.symmetric && problem.coupling.empty() && problem.columns() > 0;
}

bool PairSweeps::takes(const Problem& problem) {
  return takes_columns(problem) &&
         std::all_of(problem.blocks.begin(), problem.blocks.end(), [](const RowBlock& block) { return takes(block); });
}

bool PairSweeps::is_loose(const Problem& problem, std::span<const int> blocks) {
  return meets_in_single_contacts(problem, blocks.size(),
                                  [&](std::size_t k) -> const RowBlock& { return problem.blocks[blocks[k]]; });
}

bool PairSweeps::is_loose(const Problem& problem) {
  return meets_in_single_contacts(problem, problem.blocks.size(),
                                  [&](std::size_t k) -> const RowBlock& { return problem.blocks[k]; });
}

void PairSweeps::set_team(const ThreadTeam* team) {
  double_.set_team(team);
  single_.set_team(team);
}

void PairSweeps::start(const Problem& problem, SweepPrecision precision) {
  const auto count_to = [](std::size_t count, std::vector<int>* list) {
    const std::size_t before = list->size();
    list->resize(count);
    if (before < count) std::iota(list->begin() + before, list->end(), static_cast<int>(before));
  };
  count_to(problem.blocks.size(), &all_blocks_);
  count_to(problem.columns(), &all_columns_);
  start(problem, {all_blocks_, all_columns_, all_columns_}, precision);
}

void PairSweeps::start(const Problem& problem, const ProblemPart& part, SweepPrecision precision) {
  precision_ = precision;
  with([&](auto& pairs) { pairs.start(problem, part); });
}

bool PairSweeps::has_friction() const {
  return with([](const auto& pairs) { return pairs.has_friction(); });
}

void PairSweeps::set_forces(std::span<const double> b) {
  with([&](auto& pairs) { pairs.set_forces(b); });
}

void PairSweeps::set_impulses(const VecX& impulses) {
  with([&](auto& pairs) { pairs.set_impulses(impulses); });
}

void PairSweeps::set_guess(const VecX& impulses) {
  with([&](auto& pairs) { pairs.set_guess(impulses); });
}

void PairSweeps::run(int sweeps, double radius, const std::atomic<bool>* stop) {
  with([&](auto& pairs) { pairs.run(sweeps, radius, stop); });
}

void PairSweeps::update_impulses(VecX* impulses) const {
  with([&](const auto& pairs) { pairs.update_impulses(impulses); });
}

void PairSweeps::update_velocity(VecX* v) {
  with([&](auto& pairs) { pairs.update_velocity(v); });
}

double PairSweeps::calc_drift() const {
  return with([](const auto& pairs) { return pairs.calc_drift(); });
}

double PairSweeps::calc_change() const {
  return with([](const auto& pairs) { return pairs.calc_change(); });
}

}  // namespace slipstick
