// The phase for cold and hard starts: a primal-dual interior-point method on the same linear systems. It keeps every
// impulse and slack strictly inside its cone, so redundancy and degeneracy do not disturb it, and leaves the last digits
// to the active-set phase. Directions: Nesterov and Todd's with Mehrotra's predictor and corrector [Mehrotra92].
#include <algorithm>
#include <cmath>

#include "solve/solvers/newton_interior_laws.h"
#include "solve/solvers/newton_iteration.h"

namespace slipstick {

void NewtonIteration::start_interior_phase() {
  const Problem& p = *problem_;
  const int blocks = static_cast<int>(p.blocks.size());
  slack_start_.resize(blocks);
  int total = 0;
  products_ = 0;
  for (int i = 0; i < blocks; ++i) {
    slack_start_[i] = total;
    total += interior_size(p.blocks[i]);
    products_ += interior_products(law_rows(p.blocks[i]));
  }
  slack_.setZero(total);
  dslack_.setZero(total);
  predictor_slack_.setZero(total);
  predictor_.setZero(p.rows());
  const double speed = q_norm_ / std::sqrt(std::max(1, p.rows()));
  interior_x_.setZero(p.rows());
  for (int i = 0; i < blocks; ++i) {
    const RowBlock& block = p.blocks[i];
    if (block.law == LawKind::Equality) continue;
    start_interior(law_rows(block), rho_[i] * speed, speed, interior_x_.data() + block.row,
                   slack_.data() + slack_start_[i]);
  }
  barrier_ = speed * speed;
}

/// Mean complementarity product in (m/s)^2.
double NewtonIteration::calc_barrier() const {
  double sum = 0;
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[i];
    sum += calc_complementarity(law_rows(block), x_.data() + block.row, slack_.data() + slack_start_[i]) / rho_[i];
  }
  return products_ > 0 ? sum / products_ : 0;
}

/// Maps for the target `barrier`; with `correct` the predictor's second-order term is in them.
void NewtonIteration::update_interior_maps(double barrier, bool follow, bool correct) {
  const Problem& p = *problem_;
  maps_.symmetric = !follow;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    if (block.law == LawKind::Equality) {
      for (int r = block.row; r < block.row + block.size; ++r) {
        maps_.weight[r] = p.compliance[r] + 1e-9 / rho_[i];
        maps_.g[r] = -w_[r];
      }
      continue;
    }
    maps_.zero[i] = 0;
    const InteriorTarget target{barrier * rho_[i], smoothing_, follow, correct ? predictor_.data() + block.row : nullptr,
                                correct ? predictor_slack_.data() + slack_start_[i] : nullptr};
    update_interior_map(law_rows(block), target, x_.data() + block.row, slack_.data() + slack_start_[i],
                        w_.data() + block.row, maps_.d.data() + maps_.start[i], maps_.g.data() + block.row);
  }
}

/// Solves for dx and the slacks' step, and finds how far it may go.
double NewtonIteration::solve_interior(double barrier, bool follow, bool correct) {
  const Problem& p = *problem_;
  system_->solve(maps_, &dx_, &du_);
  double step = 1e10;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    if (block.law == LawKind::Equality) continue;
    const InteriorTarget target{barrier * rho_[i], smoothing_, follow, correct ? predictor_.data() + block.row : nullptr,
                                correct ? predictor_slack_.data() + slack_start_[i] : nullptr};
    const LawRows rows = law_rows(block);
    const double* x = x_.data() + block.row;
    const double* slack = slack_.data() + slack_start_[i];
    double* dslack = dslack_.data() + slack_start_[i];
    update_interior_slack(rows, target, x, slack, w_.data() + block.row, dx_.data() + block.row, du_.data() + block.row,
                          dslack);
    step = find_interior_step(rows, x, slack, dx_.data() + block.row, dslack, step);
  }
  return step;
}

bool NewtonIteration::run_interior(double goal, int limit, bool follow) {
  x_ = interior_x_;
  refresh();
  factored_ = false;
  for (int k = 0; k < limit && residual_ > goal; ++k) {
    smoothing_ = std::sqrt(barrier_);
    update_interior_maps(barrier_, follow, false);
    if (!system_->factor(maps_)) return false;
    ++factorizations_;
    double step = std::min(1.0, 0.99 * solve_interior(barrier_, follow, false));
    if (!dx_.allFinite() || !dslack_.allFinite() || !(step > 1e-10)) return false;
    x_ += step * dx_;
    slack_ += step * dslack_;
    refresh();
    if (trace_) trace_(k, residual_, barrier_, step, calc_barrier());
    if (step > 0.9) barrier_ *= 0.1;
    else if (step > 0.5) barrier_ *= 0.5;
  }
  interior_x_ = x_;
  return true;
}

}  // namespace slipstick
