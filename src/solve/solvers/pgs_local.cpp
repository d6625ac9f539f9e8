#include "solve/solvers/pgs_local.h"

#include <algorithm>
#include <cmath>

#include "solve/laws.h"
#include "solve/solvers/newton_laws.h"

namespace slipstick {

namespace {

constexpr double kAtLimit = 1e-10;  // relative distance to the limit that still counts as sliding

void clip(const LocalRows& rows, double* x) {
  clip_impulse({.block = rows.block, .lower = rows.lower, .upper = rows.upper, .compliance = nullptr}, x);
}

/// Each row by itself, one after another, within its bounds; the limit of a friction block's tangents is that of the
/// normal impulse just found: +-mu n each for box friction, otherwise the pair is brought back [LacoursiereLinde11,
/// 98].
void solve_rows(double relaxation, const LocalRows& rows, const double* w, const double* old, double* x) {
  const RowBlock& block = *rows.block;
  const int m = block.size;
  for (int k = 0; k < m; ++k) {
    const double diagonal = rows.delassus[k * m + k];
    double velocity = w[k];
    for (int j = 0; j < k; ++j) velocity += rows.delassus[k * m + j] * (x[j] - old[j]);
    x[k] = diagonal > 0 ? old[k] - relaxation * velocity / diagonal : old[k];
    if (block.law == LawKind::Friction && k > 0) {
      if (block.friction != FrictionModel::Box) continue;
      x[k] = std::clamp(x[k], -block.mu * x[0], block.mu * x[0]);
    } else if (block.law == LawKind::Nonnegative || block.law == LawKind::Friction) {
      x[k] = std::max(x[k], 0.0);
    } else if (block.law == LawKind::Box) {
      x[k] = std::clamp(x[k], rows.lower[k], rows.upper[k]);
    }
  }
  if (block.law == LawKind::Friction) clip(rows, x);
}

void solve_equality(double relaxation, const LocalRows& rows, const double* w, const double* old, double* x) {
  const int m = rows.block->size;
  for (int k = 0; k < m; ++k) {
    double step = 0;
    for (int j = 0; j < m; ++j) step += rows.inverse[k * m + j] * w[j];
    x[k] = old[k] - relaxation * step;
  }
}

/// Sticking if that is within the limit, else at the limit where it is nearest to sticking (for the disk: in the same
/// direction), with the normal impulse that makes w_n = 0 there.
Vec3 solve_block_projection(const RowBlock& block, const ContactMatrix& matrix, const Vec3& q) {
  if (q[0] >= 0 || !(matrix.normal > 0)) return Vec3::Zero();
  if (block.mu == 0) return {-q[0] / matrix.normal, 0, 0};
  const SlipProblem p = make_slip_problem(matrix, q);
  Vec3 x = solve_stick(p);
  if (x[0] >= 0 && cone_violation(block, x.data()) == 0) return x;
  Vec3 limit(1, x[1], x[2]);  // of a unit normal impulse
  limit.tail<2>() /= x[0] > 0 ? x[0] : p.a;
  clip_impulse({.block = &block, .lower = nullptr, .upper = nullptr, .compliance = nullptr}, limit.data());
  const double denominator = 1 - p.b.dot(limit.tail<2>());
  return limit * (denominator > 0 ? p.a / denominator : p.a);
}

/// The normal with the tangents held, then the tangents with the normal held: exact in each.
Vec3 solve_block_tangents(const RowBlock& block, const LocalRows& rows, const Vec3& w, const Vec3& old) {
  const ContactMatrix& matrix = *rows.contact;
  if (!(matrix.normal > 0)) return Vec3::Zero();
  const double n = std::max(0.0, old[0] - w[0] / matrix.normal);
  if (n == 0 || block.mu == 0) return {n, 0, 0};
  SlipProblem p;
  p.matrix = matrix.tangent;
  p.a = n;
  p.floor = matrix.floor;
  p.offset = w.tail<2>() + matrix.column * (n - old[0]) - matrix.tangent * old.tail<2>();
  return solve_slip(block, p);
}

}  // namespace

void solve_local(LocalSolver local, double relaxation, const LocalRows& rows, const double* w, const double* old,
                 double* x) {
  const RowBlock& block = *rows.block;
  const int m = block.size;
  if (local == LocalSolver::Separate) return solve_rows(relaxation, rows, w, old, x);
  if (block.law == LawKind::Equality) return solve_equality(relaxation, rows, w, old, x);
  if (block.law != LawKind::Friction) return solve_rows(relaxation, rows, w, old, x);
  Vec3 velocity = Vec3::Zero(), before = Vec3::Zero(), after;
  for (int k = 0; k < m; ++k) {
    velocity[k] = w[k];
    before[k] = old[k];
  }
  if (local == LocalSolver::BlockTangents) {
    after = solve_block_tangents(block, rows, velocity, before);
  } else {
    Vec3 q = velocity;
    for (int k = 0; k < m; ++k)
      for (int j = 0; j < m; ++j) q[k] -= rows.delassus[k * m + j] * old[j];
    after = local == LocalSolver::Cone ? solve_one_contact(block, *rows.contact, q)
                                       : solve_block_projection(block, *rows.contact, q);
  }
  for (int k = 0; k < m; ++k) x[k] = relaxation == 1 ? after[k] : old[k] + relaxation * (after[k] - old[k]);
  if (relaxation > 1) clip(rows, x);
}

int calc_local_state(const LocalRows& rows, const double* x) {
  const RowBlock& block = *rows.block;
  if (block.law == LawKind::Equality) return 0;
  if (block.law == LawKind::Friction) {
    if (x[0] <= 0) return 0;
    const double shrunk[3] = {x[0] * (1 - kAtLimit), x[1], block.size > 2 ? x[2] : 0};
    return cone_violation(block, shrunk) > 0 ? 2 : 1;
  }
  int code = 0;
  for (int k = 0; k < block.size; ++k) {
    const bool box = block.law == LawKind::Box;
    const int at = x[k] <= (box ? rows.lower[k] : 0.0) ? 1 : box && x[k] >= rows.upper[k] ? 2 : 0;
    code = 3 * code + at;
  }
  return code;
}

}  // namespace slipstick
