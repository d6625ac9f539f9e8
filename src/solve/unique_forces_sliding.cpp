// Who slides and who gives way, for the choice among impulses: known from speeds, not from what springs carry.
#include <algorithm>
#include <cmath>

#include "solve/laws.h"
#include "solve/spring_law.h"
#include "solve/unique_forces.h"

namespace slipstick {

namespace {

constexpr double kOnCone = 0.999;  // of mu x_n: friction that is all there may be
// Of the judge's scale: what a joint or motor that carries all it may moves at least, or it is held.
constexpr double kGivesShare = 1e-12;
constexpr double kAtBound = 1e-12;  // of the bound: rounding of what a motor was remembered to carry
// While the choice is under way, over R x_n, what a sliding contact at least and a still one at most has.
constexpr double kSlidesShare = 30, kStillShare = 1;

/// -1, 1: the row of a joint or motor carries the least or the most that it may; 0: something between.
int find_bound(const LawRows& rows, int k, double x) {
  if (rows.block->law == LawKind::Equality) return 0;
  const bool box = rows.block->law == LawKind::Box;
  if (x <= (box ? rows.lower[k] + kAtBound * std::abs(rows.lower[k]) : 0)) return -1;
  return box && x >= rows.upper[k] - kAtBound * std::abs(rows.upper[k]) ? 1 : 0;
}

/// Whether one of the limits of a friction block is met.
bool is_on_cone(const RowBlock& block, const double* x) {
  if (has_polygon(block)) return tangent_length(block, x) >= kOnCone * block.mu * x[0] * std::sqrt(0.5);
  FrictionLimit limit[kMostLimits];
  const int count = friction_limits(block, limit);
  for (int i = 0; i < count; ++i)
    if (limit_length(limit[i], x) >= kOnCone * block.mu * x[0]) return true;
  return false;
}

}  // namespace

void UniqueForces::classify(bool known) {
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[i];
    if (!is_contact(block)) {
      const LawRows rows = law_rows(*problem_, block);
      for (int k = 0; k < block.size; ++k) {
        const int row = block.row + k;
        gives_[row] =
            static_cast<signed char>(find_bound(rows, k, known ? x_[row] : x_[row] - w_[row] / row_scale_[row]));
      }
      continue;
    }
    if (block.law != LawKind::Friction || block.mu == 0) continue;
    const double* x = x_.data() + block.row;
    const double* w = w_.data() + block.row;
    const double speed = tangent_length(block, w);
    slides_[i] = speed > slip_ && (!(x[0] > 0) || is_on_cone(block, x));
    if (!slides_[i] || !has_polygon(block)) continue;
    // The vertex that dissipates most, or where on an edge the solver has found it.
    const double n = x[0] > 0 ? x[0] : 1;
    for (int k = 1; k < 3; ++k) follow_[block.row + k] = x[0] > 0 ? x[k] / n : -block.mu * w[k] / speed;
  }
}

/// Rows of a joint or motor that give way but were thought held, or the other way. True: there are some.
bool UniqueForces::update_giving() {
  bool flips = false;
  for (const RowBlock& block : problem_->blocks) {
    const LawRows rows = law_rows(*problem_, block);
    for (int k = 0; k < block.size && !is_contact(block); ++k) {
      const int row = block.row + k, side = gives_[row] != 0 ? gives_[row] : find_bound(rows, k, x_[row]);
      const double speed = -side * w_[row];
      const bool gives = gives_[row] != 0 ? !(speed < -kGivesShare * scale_) : speed > kGivesShare * scale_;
      flips = flips || gives != (gives_[row] != 0);
      gives_[row] = static_cast<signed char>(gives ? side : 0);
    }
  }
  return flips;
}

/// What the first derivative of a held row is taken at: at a bound it is the sign of its speed that counts.
double UniqueForces::calc_held(const RowBlock& block, int k) const {
  const int row = block.row + k;
  const bool inside = find_bound(law_rows(*problem_, block), k, x_[row]) == 0;
  return inside ? x_[row] : x_[row] - w_[row] / row_scale_[row];
}

/// y, with what gives way beyond its bound, whatever the others' springs would make of its speed.
const double* UniqueForces::put_beyond(const RowBlock& block, const double* y, double* moved) const {
  const LawRows rows = law_rows(*problem_, block);
  for (int k = 0; k < block.size; ++k) {
    const int side = gives_[block.row + k];
    const double bound = side > 0 ? rows.upper[k] : block.law == LawKind::Box ? rows.lower[k] : 0;
    moved[k] = side == 0 ? y[k] : bound + side * (1 + std::abs(bound));
  }
  return moved;
}

/// Contacts that slide but were thought still, or the other way. True: there are some.
bool UniqueForces::reclassify() {
  const double r = eta_ * mobility_;
  bool flips = false;
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[i];
    if (!is_contact(block) || block.law != LawKind::Friction || block.mu == 0 || has_polygon(block)) continue;
    const double* x = x_.data() + block.row;
    const double speed = tangent_length(block, w_.data() + block.row);
    const bool slides = slides_[i] ? !(speed < std::max(slip_, kStillShare * r * x[0]))
                                   : is_on_cone(block, x) && speed > std::max(slip_, kSlidesShare * r * x[0]);
    flips = flips || slides != static_cast<bool>(slides_[i]);
    slides_[i] = slides;
  }
  return flips;
}

/// What carried goes on to carry, and what stuck goes on to stick: of the guess it is the impulses that are known, and
/// its speeds are anything where springs, of which nothing is remembered, act in the same island.
void UniqueForces::keep_carrying() {
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[i];
    if (!is_contact(block) || slides_[i]) continue;
    const bool cone = block.law == LawKind::Friction && block.mu > 0;
    const auto carries = [&](const double* x) { return x[0] > 0 && !(cone && is_on_cone(block, x)); };
    if (carries(x_.data() + block.row) && !carries(y_.data() + block.row))
      y_.segment(block.row, block.size) = x_.segment(block.row, block.size);
  }
}

}  // namespace slipstick
