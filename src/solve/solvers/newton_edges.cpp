// The active set of a pile of round bodies. Nearly all of its contacts carry something and most stick: more rows are
// held than there are unknowns, and with one contact too many they contradict each other by a little. A Newton step
// then throws the impulses along a stress that moves nothing, as far as the contradiction over the proximal compliance.
// That stress is the right direction: somewhere along it a contact meets the edge of its law and lets go, and the
// contradiction is gone. So the compliance is of the size of the residual, and a step ends where the first contact
// comes to its edge.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "solve/natural_map.h"
#include "solve/solvers/newton_iteration.h"

namespace slipstick {

namespace {

constexpr double kEdgeLeastSoftness = 1e-8, kEdgeMostSoftness = 1e-4;  // proximal compliance over the Delassus diagonal
constexpr int kEdgeChords = 4;                                         // steps with one factor
constexpr double kEdgeChordFall = 0.1;                                 // of the residual, or another factor is due
constexpr int kEdgeReleases = 3;     // factors in which contacts at their edge let go before a step
constexpr double kEdgeWidth = 1e-9;  // of the limit
constexpr double kEdgeLonger = 2;    // a step beyond the first edge, while that leads down
constexpr double kEdgeMostRise = 3, kEdgeBeyond = 1 + 1e-6;  // of the residual, and of the way, in a jump to an edge
constexpr double kEdgeOutside = 1.001;                       // of the limit: what slides for certain

bool has_edge(const RowBlock& block) { return block.law == LawKind::Friction && block.size <= 3 && block.mu > 0; }

double calc_edge_length(const double* x, int size) {
  double sum = 0;
  for (int k = 1; k < size; ++k) sum += x[k] * x[k];
  return std::sqrt(sum);
}

/// The share of dx after which a contact that is inside its law meets the edge: it opens, or it begins to slide.
double calc_way_to_edge(const RowBlock& block, const double* x, const double* dx) {
  double way = std::numeric_limits<double>::infinity();
  if (block.law != LawKind::Friction && block.law != LawKind::Nonnegative) return way;
  if (dx[0] < 0 && x[0] > 0) way = -x[0] / dx[0];
  if (!has_edge(block) || !(x[0] > 0)) return way;
  // |x_t + s dx_t|^2 = mu^2 (x_n + s dx_n)^2, or a s^2 + 2 b s + c = 0 with c < 0
  const double square = block.mu * block.mu;
  double a = -square * dx[0] * dx[0], b = -square * x[0] * dx[0], c = -square * x[0] * x[0];
  const double edge = kEdgeWidth * c;
  for (int k = 1; k < block.size; ++k) a += dx[k] * dx[k], b += x[k] * dx[k], c += x[k] * x[k];
  const double root = b * b - a * c;
  if (!(c < edge) || root < 0) return way;
  const double q = -(b + std::copysign(std::sqrt(root), b));
  for (const double share : {q / a, c / q})
    if (share > 0) way = std::min(way, share);
  return way;
}

}  // namespace

double NewtonIteration::calc_way_to_first_edge() const {
  double way = std::numeric_limits<double>::infinity();
  for (const RowBlock& block : problem_->blocks)
    way = std::min(way, calc_way_to_edge(block, x_.data() + block.row, dx_.data() + block.row));
  return way;
}

/// Contacts that stick at the edge of their law, and that a step of this length would take out of it, are to slide:
/// their w_t becomes one with which they do. How many there are.
int NewtonIteration::release(double step) {
  int count = 0;
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[i];
    if (!has_edge(block) || code_[i] != kStickCode) continue;
    const double* x = x_.data() + block.row;
    double after[3];
    for (int k = 0; k < block.size; ++k) after[k] = x[k] + step * dx_[block.row + k];
    const double limit = block.mu * x[0], length = calc_edge_length(after, block.size);
    if (calc_edge_length(x, block.size) < (1 - kEdgeWidth) * limit ||
        length <= (1 + kEdgeWidth) * block.mu * after[0] || !(length > 0))
      continue;
    ++count;
    double* w = w_.data() + block.row;
    const double outside = kEdgeOutside * (limit + block.mu * rho_[i] * std::abs(w[0])) / length;
    for (int k = 1; k < block.size; ++k) w[k] = (x[k] - outside * after[k]) / rho_[i];
  }
  return count;
}

/// The direction at x_ with a factor of its own. False: there is none.
bool NewtonIteration::find_edge_direction() {
  if (!factor()) return false;
  kept_d_ = maps_.d;
  factored_ = true;
  system_->solve(maps_, &dx_, nullptr);
  return dx_.allFinite();
}

/// Other directions, until no contact has to slide that the factor has as sticking.
bool NewtonIteration::release_at_edges() {
  for (int k = 0; k < kEdgeReleases; ++k) {
    held_w_ = w_;
    if (release(std::min(calc_way_to_first_edge(), 1.0)) == 0) return true;
    update_active_maps();
    w_ = held_w_;
    if (!find_edge_direction()) return false;
  }
  return true;
}

void NewtonIteration::move_from(const VecX& start, double step) {
  x_ = start + step * dx_;
  clip();
  refresh();
}

/// To the first edge, and beyond it while the residual falls; at most the whole step.
void NewtonIteration::move_to_edge(double way) {
  start_ = x_;
  double step = std::min(1.0, way);
  move_from(start_, step);
  while (step < 1) {
    const double before = residual_, shorter = std::exchange(step, std::min(1.0, kEdgeLonger * step));
    move_from(start_, step);
    if (residual_ < before) continue;
    move_from(start_, shorter);
    return;
  }
}

/// With one factor: the last direction, which moves nothing any more, is followed to the edge that lies on it.
void NewtonIteration::run_to_edge() {
  for (int k = 0; k < kEdgeChords; ++k) {
    if (k > 0) system_->solve(maps_, &dx_, nullptr);
    if (!dx_.allFinite()) return;
    const double before = residual_, way = calc_way_to_first_edge();
    move_to_edge(way);
    const bool same = update_active_maps();
    if (!same || residual_ <= fine_) return;
    maps_.d = kept_d_;
    if (residual_ < kEdgeChordFall * before) continue;
    if (way <= 1 || !std::isfinite(way)) return;
    const double here = residual_;
    start_ = x_;
    move_from(start_, (way - 1) * kEdgeBeyond);
    if (residual_ > kEdgeMostRise * here) move_from(start_, 0);
    return;
  }
}

void NewtonIteration::run_edges(double goal, int limit, int patience) {
  const int first = factorizations_;
  double start_best = best_residual_;
  int idle = 0;
  factored_ = false;
  least_equality_ = calc_least_equality();
  while (residual_ > std::max(goal, fine_) && factorizations_ - first < limit && idle <= patience) {
    epsilon_ = std::clamp(residual_, kEdgeLeastSoftness, kEdgeMostSoftness);
    update_active_maps();
    if (!find_edge_direction() || !release_at_edges()) return;
    run_to_edge();
    idle = best_residual_ < 0.5 * start_best ? 0 : idle + 1;
    if (idle == 0) start_best = best_residual_;
  }
}

}  // namespace slipstick
