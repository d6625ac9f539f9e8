#include <cstdio>
#include <cstdlib>
// Phase one and last: Newton on the active set. [AlartCurnier91], with a proximal compliance epsilon on every held row
// that makes the matrix regular whatever the redundancy, and that leaves no trace because each step restarts from the
// true residual.
#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/solvers/newton_iteration.h"

namespace slipstick {

namespace {
constexpr double kCompliance = 1e-8, kLeastCompliance = 1e-17;
}  // namespace

bool NewtonIteration::update_active_maps() {
  const Problem& p = *problem_;
  bool same = factored_;
  maps_.symmetric = true;
  double mean=0; int cnt=0; for(const RowBlock&b:p.blocks) if(b.law==LawKind::Friction){mean+=x_[b.row];++cnt;} mean/=std::max(cnt,1); static const double FM=getenv("FM")?atof(getenv("FM")):1, FP=getenv("FP")?atof(getenv("FP")):2;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    double epsilon = epsilon_ / rho_[i]; if(block.law==LawKind::Friction) epsilon*=x_[block.row]>0?std::clamp(std::pow(mean/x_[block.row],FP),1/FM,FM):FM;
    if (block.law == LawKind::Equality) {
      for (int k = 0; k < block.size; ++k) {
        maps_.weight[block.row + k] = p.compliance[block.row + k] + epsilon;
        maps_.g[block.row + k] = -w_[block.row + k];
      }
      continue;
    }
    bool symmetric = true;
    const int code = update_active_map(law_rows(block), (getenv("RD")?atof(getenv("RD")):1)*rho_[i], epsilon, x_.data() + block.row, w_.data() + block.row,
                                       maps_.d.data() + maps_.start[i], maps_.g.data() + block.row, &symmetric);
    maps_.symmetric &= symmetric;
    maps_.zero[i] = block.law == LawKind::Friction ? code == 0 : 0;
    same &= code == code_[i];
    code_[i] = code;
  }
  return same;
}

/// What the proximal compliance alone left of the last step's held rows, m/s: w_i + dw_i = -epsilon_i dx_i.
double NewtonIteration::calc_softness() const {
  if (!factored_) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[i];
    if (block.law != LawKind::Equality && maps_.zero[i]) continue;
    sum += dx_.segment(block.row, block.size).squaredNorm() / (rho_[i] * rho_[i]);
  }
  return epsilon_ * std::sqrt(sum);
}

/// Moves along dx by the longest of a few halvings that lowers the residual, or all the way if none does: the equations
/// are nonsmooth, and a step uphill onto the right active set is worth more than none.
void NewtonIteration::advance(double previous) {
  start_ = x_;
  const auto move = [this](double step) {
    x_ = start_ + step * dx_;
    for (const RowBlock& block : problem_->blocks)
      if (block.law != LawKind::Equality) clip_impulse(law_rows(block), x_.data() + block.row);
    refresh();
    return residual_;
  };
  for (double step = 1; step > 0.1; step *= 0.5)
    if (move(step) < previous) return;
  move(1);
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
    const bool soft =
        residual_ > 0.1 * previous && calc_softness() > 0.3 * residual_ * q_norm_ && epsilon_ > kLeastCompliance;
    if (soft) {
      epsilon_ *= 1e-3;
      update_active_maps();
    }
    if (same && !soft && residual_ < 0.1 * previous) {
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
    int changed=0; static std::vector<int> old; if(old.size()==code_.size()) for(size_t i=0;i<old.size();++i) changed+=old[i]!=code_[i]; old=code_; int n[4]={0,0,0,0}; for(int c:code_) n[std::min(c,3)]++; 
    advance(previous); if(getenv("TR")) printf("  act %d prev %.2e res %.2e eps %.0e changed %d open %d stick %d slip %d\n",factorizations_,previous,residual_,epsilon_,changed,n[0],n[1],n[2]+n[3]);
    idle = residual_ < 0.5 * start_best ? 0 : idle + 1;
    start_best = std::min(start_best, best_residual_);
    if (idle > patience) return;
  }
}

}  // namespace slipstick
