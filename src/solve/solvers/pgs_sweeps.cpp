#include "solve/solvers/pgs_sweeps.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/coupling_rows.h"
#include "solve/laws.h"
#include "solve/natural_map.h"
#include "solve/row_kernels.h"
#include "solve/solvers/newton_laws.h"
#include "solve/solvers/solvers.h"

namespace slipstick {

namespace {

constexpr int kParallelBlocks = 64;  // fewer in a stage are not worth a thread
constexpr int kGrain = 16;

using Block6 = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 6, 6>;

/// D^+ of a joint's own rows: they may be redundant among themselves.
void update_pseudo_inverse(int m, const double* d, double* inverse) {
  const ConstBlockMap block(d, m, m);
  BlockMap out(inverse, m, m);
  if (m == 1) {
    out(0, 0) = d[0] > 0 ? 1 / d[0] : 0;
    return;
  }
  Eigen::CompleteOrthogonalDecomposition<Block6> factor(m, m);
  factor.setThreshold(1e-12);
  factor.compute(block);
  out = factor.pseudoInverse();
}

}  // namespace

std::string_view find_problem_fault(const Problem& problem) {
  if (has_further_limits(problem)) return kNoFurtherLimits;
  for (const RowBlock& block : problem.blocks) {
    if (block.law == LawKind::Friction && !(block.mu >= 0 && block.mu < kInfinity))
      return "a friction coefficient is negative or not a number";
    for (int r = block.row; block.law == LawKind::Box && r < block.row + block.size; ++r) {
      if (!(problem.lower[r] <= problem.upper[r]) || problem.lower[r] == kInfinity || problem.upper[r] == -kInfinity)
        return "a box row has no admissible impulse";
    }
  }
  return {};
}

PgsSweeps::PgsSweeps(const SolverOptions& options) : options_(options), team_(options.team) {
  if (team_ != nullptr || options.threads <= 1) return;
  own_team_ = std::make_unique<ThreadTeam>(options.threads);
  team_ = own_team_.get();
}

LocalRows PgsSweeps::local_rows(int i) const {
  const RowBlock& block = problem_->blocks[i];
  return {.block = &block,
          .lower = problem_->lower.data() + block.row,
          .upper = problem_->upper.data() + block.row,
          .delassus = delassus_.data() + delassus_start_[i],
          .inverse = inverse_.data() + delassus_start_[i],
          .contact = &contacts_[i]};
}

void PgsSweeps::update_delassus(int i) {
  const Problem& p = *problem_;
  const RowBlock& block = p.blocks[i];
  const int m = block.size;
  double* d = delassus_.data() + delassus_start_[i];
  std::fill(d, d + m * m, 0.0);
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    const JacobianEntry& entry = p.entries[e];
    const auto j = p.jacobian_block(block, entry);
    BlockMap image(image_.data() + entry.offset, m, j.cols());
    image.noalias() = j * masses_.inverse(entry.column).transpose();
    BlockMap(d, m, m).noalias() += j * image.transpose();
  }
  for (int k = 0; k < m; ++k) {
    const int r = block.row + k;
    d[k * m + k] += p.compliance[r];
    if (p.coupling.empty()) continue;
    for (int a = find_coupled(p.coupling, r, block.row); a < p.coupling.start[r + 1]; ++a) {
      const int column = p.coupling.column[a] - block.row;
      if (column >= m) break;
      d[k * m + column] += p.coupling.value[a];
    }
  }
  double trace = 0;
  for (int k = 0; k < m; ++k) trace += d[k * m + k];
  rho_[i] = trace > 0 ? m / trace : 1;
  if (block.law == LawKind::Friction) contacts_[i] = make_contact_matrix(m, d);
  if (block.law == LawKind::Equality) update_pseudo_inverse(m, d, inverse_.data() + delassus_start_[i]);
}

void PgsSweeps::resize_blocks() {
  const Problem& p = *problem_;
  const std::size_t count = p.blocks.size();
  image_.resize(p.jacobian.size());
  delassus_start_.resize(count + 1);
  delassus_start_[0] = 0;
  for (std::size_t i = 0; i < count; ++i)
    delassus_start_[i + 1] = delassus_start_[i] + p.blocks[i].size * p.blocks[i].size;
  delassus_.resize(delassus_start_[count]);
  inverse_.resize(delassus_start_[count]);
  contacts_.resize(count);
  rho_.resize(count);
  state_.assign(count, 0);
  changed_.assign(count, 0);
}

void PgsSweeps::start(const Problem& problem) {
  problem_ = &problem;
  hold_direct_ = false;
  masses_.update(problem);
  schedule_.update(problem, options_.order);
  resize_blocks();
  ready_.clear();
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) update_delassus(static_cast<int>(i));
  lambda_.setZero(problem.rows());
  update_velocity(problem, masses_, lambda_, &v_);
  update_row_velocity(problem, v_, lambda_, &w_);
  scale_ = calc_residual_scale(problem, v_, w_);
  set_impulses(lambda_);
}

void PgsSweeps::start_islands(const Problem& problem) {
  problem_ = &problem;
  hold_direct_ = false;
  resize_blocks();
  ready_.assign(problem.blocks.size(), 0);
  lambda_.setZero(problem.rows());
  v_.resize(0);
  w_.resize(problem.rows());
  for (const RowBlock& block : problem.blocks) {
    if (block.law != LawKind::Box) continue;  // others admit zero
    clip_impulse(law_rows(problem, block), lambda_.data() + block.row);
  }
}

void PgsSweeps::make_ready(int i) {
  if (ready_.empty() || ready_[i]) return;
  update_delassus(i);
  ready_[i] = 1;
}

void PgsSweeps::set_impulses(const VecX& lambda) {
  lambda_ = lambda;
  for (int i = 0; i < static_cast<int>(problem_->blocks.size()); ++i) {
    const LocalRows rows = local_rows(i);
    double* x = lambda_.data() + rows.block->row;
    clip_impulse({.block = rows.block, .lower = rows.lower, .upper = rows.upper, .compliance = nullptr}, x);
    if (options_.record_history) state_[i] = calc_local_state(rows, x);
  }
  update_velocity(*problem_, masses_, lambda_, &v_);
}

void PgsSweeps::copy_impulses(std::span<const int> blocks, VecX* to) const {
  for (const int i : blocks) {
    const RowBlock& block = problem_->blocks[i];
    std::copy_n(lambda_.data() + block.row, block.size, to->data() + block.row);
  }
}

void PgsSweeps::set_impulses(std::span<const int> blocks, const VecX& from) {
  for (const int i : blocks) {
    const RowBlock& block = problem_->blocks[i];
    std::copy_n(from.data() + block.row, block.size, lambda_.data() + block.row);
  }
}

void PgsSweeps::update_scaled_impulses(VecX* scaled) const {
  *scaled = lambda_;
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i)
    scaled->segment(problem_->blocks[i].row, problem_->blocks[i].size) /= std::sqrt(rho_[i]);
}

void PgsSweeps::set_scaled_impulses(VecX* scaled) {
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i)
    scaled->segment(problem_->blocks[i].row, problem_->blocks[i].size) *= std::sqrt(rho_[i]);
  set_impulses(*scaled);
}

bool PgsSweeps::is_unloaded(const RowBlock& block) const {
  const double* x = lambda_.data() + block.row;
  return std::all_of(x, x + block.size, [](double impulse) { return impulse == 0; });
}

/// A contact without impulse that does not close: half of those in a heap, seen by their normal row alone.
bool PgsSweeps::stays_open(const RowBlock& block) const {
  const Problem& p = *problem_;
  const bool unilateral = block.law == LawKind::Friction || (block.law == LawKind::Nonnegative && block.size == 1);
  if (!unilateral || !is_unloaded(block)) return false;
  double w = p.c[block.row];
  if (!p.coupling.empty()) add_coupled(p.coupling, block.row, 1, lambda_.data(), &w);
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    const int n = p.column_size(p.entries[e].column);
    const double* j = p.jacobian.data() + p.entries[e].offset;
    const double* v = v_.data() + p.column_start[p.entries[e].column];
    for (int k = 0; k < n; ++k) w += j[k] * v[k];
  }
  return w >= 0;
}

void PgsSweeps::visit(int i) {
  const Problem& p = *problem_;
  const RowBlock& block = p.blocks[i];
  if (stays_open(block)) {
    changed_[i] = 0;
    return;
  }
  if (is_held(block)) return;
  make_ready(i);
  const int m = block.size;
  double* lambda = lambda_.data() + block.row;
  double w[6], x[6], change[6];
  for (int k = 0; k < m; ++k) w[k] = p.c[block.row + k] + p.compliance[block.row + k] * lambda[k];
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    const int n = p.column_size(p.entries[e].column);
    const double* j = p.jacobian.data() + p.entries[e].offset;
    const double* v = v_.data() + p.column_start[p.entries[e].column];
    rows::dispatch(m, n, [&]<int M, int N>() { rows::add_image<M, N>(m, n, j, v, w); });
  }
  if (!p.coupling.empty()) add_coupled(p.coupling, block.row, m, lambda_.data(), w);
  const LocalRows rows = local_rows(i);
  solve_local(options_.local, options_.relaxation, rows, w, lambda, x);
  for (int k = 0; k < m; ++k) {
    change[k] = x[k] - lambda[k];
    lambda[k] = x[k];
  }
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    const int n = p.column_size(p.entries[e].column);
    const double* image = image_.data() + p.entries[e].offset;
    double* v = v_.data() + p.column_start[p.entries[e].column];
    rows::dispatch(m, n, [&]<int M, int N>() { rows::add_transposed<M, N>(m, n, image, change, v); });
  }
  if (!options_.record_history) return;
  const int state = calc_local_state(rows, lambda);
  changed_[i] = state != state_[i];
  state_[i] = state;
}

void PgsSweeps::visit_stage(std::span<const int> blocks) {
  const ThreadTeam* team = blocks.size() < kParallelBlocks ? nullptr : team_;
  for_portions(team, blocks.size(), kGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) visit(blocks[k]);
  });
}

void PgsSweeps::sweep(bool backward) {
  const int count = schedule_.stages();
  for (int k = 0; k < count; ++k) visit_stage(schedule_.stage(backward ? count - 1 - k : k));
}

double PgsSweeps::calc_residual() {
  update_velocity(*problem_, masses_, lambda_, &v_);
  update_row_velocity(*problem_, v_, lambda_, &w_);
  return calc_relative(calc_natural_map_norm(*problem_, rho_, lambda_, w_), scale_);
}

void PgsSweeps::sweep(std::span<const int> blocks) {
  for (const int i : blocks) visit(i);
}

double PgsSweeps::calc_island_residual(std::span<const int> blocks) {
  const Problem& p = *problem_;
  const bool moved =
      std::any_of(blocks.begin(), blocks.end(), [&](int i) { return !is_unloaded(problem_->blocks[i]); });
  double sum = 0, scale = 0;
  for (const int i : blocks) {
    const RowBlock& block = p.blocks[i];
    const double *x = lambda_.data() + block.row, *c = p.c.data() + block.row;
    double* w = w_.data() + block.row;
    for (int k = 0; k < block.size; ++k) {
      w[k] = c[k] + p.compliance[block.row + k] * x[k];
      scale += c[k] * c[k];
    }
    if (moved) add_coupled(p.coupling, block.row, block.size, lambda_.data(), w);
    const bool friction = block.law == LawKind::Friction;
    if (friction && w[0] >= 0 && is_unloaded(block)) continue;
    make_ready(i);
    double f[6];
    update_natural_map(p, block, rho_[i], friction ? de_saxce_term(block, w) : 0, x, w, f);
    for (int k = 0; k < block.size; ++k) sum += f[k] * f[k];
  }
  return calc_relative(std::sqrt(sum), std::sqrt(scale));
}

double PgsSweeps::calc_swept_residual() {
  update_velocity(*problem_, masses_, lambda_, &v_);
  update_row_velocity(*problem_, v_, lambda_, &w_);
  double sum = 0;
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[i];
    if (is_held(block)) continue;
    const double* w = w_.data() + block.row;
    double f[6];
    const double s = block.law == LawKind::Friction ? de_saxce_term(block, w) : 0;
    update_natural_map(*problem_, block, rho_[i], s, lambda_.data() + block.row, w, f);
    for (int k = 0; k < block.size; ++k) sum += f[k] * f[k];
  }
  return calc_relative(std::sqrt(sum), scale_);
}

int PgsSweeps::changes() const { return static_cast<int>(std::count(changed_.begin(), changed_.end(), 1)); }

void PgsSweeps::finish(Solution* answer) const {
  answer->lambda = lambda_;
  answer->v = v_;
  answer->w = w_;
}

}  // namespace slipstick
