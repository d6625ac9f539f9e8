#include "solve/law_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/laws.h"

namespace slipstick {

namespace {

/// What a part is held against: the scale of a row, or of all rows of a contact.
struct PartScale {
  double square = 0, floor = 0;
};
PartScale scale_of(const RowScale& row) { return {row.square, row.floor}; }

/// `value` is in the part's unit, `speed` is what it amounts to in m/s.
void raise_part(LawPart part, double value, double speed, const PartScale& scale, WorstPart* worst) {
  const double excess = speed - scale.floor;
  if (excess <= 0 || excess * excess <= worst->relative * worst->relative * scale.square) return;
  const double relative = calc_share(excess, scale.square);
  if (relative <= worst->relative) return;
  worst->part = part;
  worst->value = value;
  worst->relative = relative;
}

/// 0 <= w _|_ lambda >= 0. `impulse_speed`: what the whole impulse of the contact, tangents too, does to its own speed;
/// where friction is strong a normal impulse that is next to nothing would otherwise allow any friction on an open
/// contact.
void find_normal_parts(const RowScale& row, double lambda, double w, double impulse_speed, WorstPart* worst) {
  if (w < 0) raise_part(LawPart::Approach, -w, -w, scale_of(row), worst);
  if (lambda < 0) raise_part(LawPart::NegativeImpulse, -lambda, -row.diagonal * lambda, scale_of(row), worst);
  if (w > 0) {
    const double both = std::min(w, impulse_speed);
    raise_part(LawPart::Complementarity, both, both, scale_of(row), worst);
  }
}

void find_bound_part(const RowScale& row, double lower, double upper, double lambda, double w, WorstPart* worst) {
  const double y = lambda - w / row.diagonal;
  const double speed = std::abs(w + row.diagonal * (y - std::clamp(y, lower, upper)));
  raise_part(LawPart::Bound, speed, speed, scale_of(row), worst);
}

/// Projects t onto the block's set of friction impulses for a normal impulse of radius / mu: the disk, interval or
/// polygon of that radius.
void project_friction(const RowBlock& block, int size, double radius, double* t) {
  if (size == 1) {
    t[0] = std::clamp(t[0], -radius, radius);
    return;
  }
  if (block.friction == FrictionModel::Cone || block.size > 3) {
    const double square = t[0] * t[0] + t[1] * t[1];
    if (square <= radius * radius) return;
    const double share = radius / std::sqrt(square);
    t[0] *= share;
    t[1] *= share;
    return;
  }
  // The polygon's mirror symmetry keeps the projection in the sector of t: one edge decides.
  const FrictionPolygon p = friction_polygon(block);
  const double step = 2 * std::numbers::pi / p.count, reach = radius * p.radius;
  const double mid = p.phase + (std::floor((std::atan2(t[1], t[0]) - p.phase) / step) + 0.5) * step;
  const double c = std::cos(mid), s = std::sin(mid), apothem = reach * std::cos(step / 2);
  if (t[0] * c + t[1] * s <= apothem) return;
  const double half = reach * std::sin(step / 2), along = std::clamp(t[1] * c - t[0] * s, -half, half);
  t[0] = apothem * c - along * s;
  t[1] = apothem * s + along * c;
}

/// |lambda_t| <= mu lambda_n, and the slip opposed: the natural map of the tangents alone, at the radius that the
/// normal impulse allows. No coefficient divides anything.
void find_slip_parts(const RowBlock& block, const FrictionLimit& limit, const RowScale* rows, const PartScale& scale,
                     const double* lambda, const double* w, WorstPart* worst) {
  double diagonal = 0;
  for (int k = limit.first; k < limit.first + limit.size; ++k) diagonal += rows[k].diagonal / limit.size;
  const double radius = block.mu * std::max(lambda[0], 0.0);
  double y[2], projected[2], outside = 0, defect = 0;  // both squared at first
  for (int k = 0; k < limit.size; ++k) projected[k] = lambda[limit.first + k];
  project_friction(block, limit.size, radius, projected);
  for (int k = 0; k < limit.size; ++k) {
    const double part = lambda[limit.first + k] - projected[k];
    outside += part * part;
  }
  outside = std::sqrt(outside);
  raise_part(LawPart::Cone, outside, diagonal * outside, scale, worst);
  for (int k = 0; k < limit.size; ++k) y[k] = projected[k] = lambda[limit.first + k] - w[limit.first + k] / diagonal;
  project_friction(block, limit.size, radius, projected);
  for (int k = 0; k < limit.size; ++k) {
    const double part = w[limit.first + k] + diagonal * (y[k] - projected[k]);
    defect += part * part;
  }
  defect = std::sqrt(defect);
  raise_part(LawPart::Slip, defect, defect, scale, worst);
}

void find_friction_parts(const RowBlock& block, const RowScale* rows, const double* lambda, const double* w,
                         WorstPart* worst) {
  FrictionLimit limits[kMostLimits];
  const int count = friction_limits(block, limits);
  PartScale scale;
  double impulse_speed = 0;
  for (int k = 0; k < block.size; ++k) {
    scale.square += rows[k].square;
    scale.floor = std::max(scale.floor, rows[k].floor);
    impulse_speed = std::max(impulse_speed, rows[k].diagonal * std::abs(lambda[k]));
  }
  find_normal_parts(rows[0], lambda[0], w[0], impulse_speed, worst);
  for (int i = 0; i < count; ++i) find_slip_parts(block, limits[i], rows, scale, lambda, w, worst);
}

}  // namespace

double calc_share(double value, double square) {
  if (value == 0) return 0;
  const double share = value / std::sqrt(square);
  return std::isfinite(share) ? share : std::numeric_limits<double>::infinity();
}

void find_worst_part(const Problem& problem, const RowBlock& block, const RowScale* rows, const double* lambda,
                     const double* w, WorstPart* worst) {
  if (block.law == LawKind::Friction) return find_friction_parts(block, rows, lambda, w, worst);
  for (int k = 0; k < block.size; ++k) {
    switch (block.law) {
      case LawKind::Equality:
        raise_part(LawPart::Joint, std::abs(w[k]), std::abs(w[k]), scale_of(rows[k]), worst);
        break;
      case LawKind::Nonnegative:
        find_normal_parts(rows[k], lambda[k], w[k], rows[k].diagonal * std::abs(lambda[k]), worst);
        break;
      case LawKind::Box:
        find_bound_part(rows[k], problem.lower[block.row + k], problem.upper[block.row + k], lambda[k], w[k], worst);
        break;
      case LawKind::Friction:
        break;
    }
  }
}

std::string_view name_of(LawPart part) {
  switch (part) {
    case LawPart::None:
      return "none";
    case LawPart::NaturalMap:
      return "natural map";
    case LawPart::Momentum:
      return "momentum";
    case LawPart::Approach:
      return "approach";
    case LawPart::NegativeImpulse:
      return "negative impulse";
    case LawPart::Complementarity:
      return "complementarity";
    case LawPart::Cone:
      return "outside the cone";
    case LawPart::Slip:
      return "slip not opposed";
    case LawPart::Joint:
      return "joint speed";
    case LawPart::Bound:
      return "bound";
  }
  return "?";
}

std::string_view unit_of(LawPart part) {
  if (part == LawPart::None) return "";
  return part == LawPart::NegativeImpulse || part == LawPart::Cone ? "N s" : "m/s";
}

}  // namespace slipstick
