// Phase one and last: Newton on the active set. [AlartCurnier91], with a proximal compliance epsilon on every held row
// that makes the matrix regular whatever the redundancy, and that leaves no trace because each step restarts from the
// true residual.
#include <algorithm>
#include <cmath>

#include "solve/solvers/newton_iteration.h"

namespace slipstick {

namespace {
constexpr double kCompliance = 1e-8, kLeastCompliance = 1e-17;
}  // namespace

bool NewtonIteration::update_active_maps() {
  const Problem& p = *problem_;
  bool same = factored_;
  maps_.symmetric = true;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    const double epsilon = epsilon_ / rho_[i];
    if (block.law == LawKind::Equality) {
      for (int k = 0; k < block.size; ++k) {
        maps_.weight[block.row + k] = p.compliance[block.row + k] + epsilon;
        maps_.g[block.row + k] = -w_[block.row + k];
      }
      continue;
    }
    bool symmetric = true;
    const int code =
        update_active_map(law_rows(block), rho_[i], epsilon, x_.data() + block.row, w_.data() + block.row,
                          maps_.d.data() + maps_.start[i], maps_.g.data() + block.row, &symmetric);
    maps_.symmetric &= symmetric;
    maps_.zero[i] = block.law == LawKind::Friction ? code == 0 : 0;
    same &= code == code_[i];
    code_[i] = code;
  }
  return same;
}

void NewtonIteration::run_active(double goal, int limit, int patience) {
  const int first = factorizations_;
  double previous = std::numeric_limits<double>::infinity();
  double start_best = best_residual_;
  int idle = 0;
  factored_ = false;
  epsilon_ = kCompliance;
  while (residual_ > goal) {
    const bool same = update_active_maps();
    // With the active set of the last factor, a step with the old factor is a chord step; while it converges fast it is
    // the cheap way to the last digits.
    // A held set that hardly converges is too soft for its load (great mass ratios): less proximal compliance.
    const bool soft = same && residual_ > 0.3 * previous;
    if (soft && epsilon_ > kLeastCompliance) {
      epsilon_ *= 1e-3;
      update_active_maps();
    }
    if (same && residual_ < 0.1 * previous) {
      maps_.d = kept_d_;
    } else {
      if (factorizations_ - first >= limit || !system_->factor(maps_)) return;
      ++factorizations_;
      kept_d_ = maps_.d;
      factored_ = true;
    }
    system_->solve(maps_, &dx_, &du_);
    if (!dx_.allFinite()) return;
    previous = residual_;
    x_ += dx_;
    for (const RowBlock& block : problem_->blocks)
      if (block.law != LawKind::Equality) clip_impulse(law_rows(block), x_.data() + block.row);
    refresh();
    idle = residual_ < 0.5 * start_best ? 0 : idle + 1;
    start_best = std::min(start_best, best_residual_);
    if (idle > patience) return;
  }
}

}  // namespace slipstick
