// The one judge. [METHODS 8]:  F_i = ( lambda_i - P_{K_i}( lambda_i - rho_i (w_i + s_i n) ) ) / rho_i,
// rho_i = 1 / mean(diag of the Delassus block), s_i the De Saxce term (solve/laws.h); equality rows: F_i = w_i.
//
// relative = ||F|| / max(||q||, kCancelledPart ||T||), T_r = |J_r| |A^-1 b| + |c_r|: where q is what rounding left of
// larger terms (bodies that fall or drift together) no impulse could make F smaller than the last bits of T.
#include <slipstick/solver.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/laws.h"
#include "solve/mass_blocks.h"
#include "solve/natural_map.h"

namespace slipstick {

struct Judge::Scratch {
  MassBlocks masses;
  VecX v, w, q, zero;
};

Judge::Judge() : scratch_(std::make_unique<Scratch>()) {}
Judge::~Judge() = default;
Judge::Judge(Judge&&) noexcept = default;
Judge& Judge::operator=(Judge&&) noexcept = default;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
}  // namespace

Residuals Judge::certify(const Problem& problem, const Solution& solution) {
  Residuals result;
  const int rows = problem.rows();
  const bool finite = solution.lambda.size() == rows && solution.v.size() == problem.unknowns() &&
                      solution.lambda.allFinite() && solution.v.allFinite();
  if (!finite) {
    result.natural = result.relative = result.dynamics = kInfinity;
    return result;
  }
  Scratch& s = *scratch_;
  s.masses.update(problem);
  s.zero.setZero(rows);
  update_velocity(problem, s.masses, s.zero, &s.v);
  update_row_velocity(problem, s.v, s.zero, &s.q);
  result.scale = s.q.norm();
  const double floor = kCancelledPart * calc_term_size(problem, s.v);
  update_velocity(problem, s.masses, solution.lambda, &s.v);
  update_row_velocity(problem, s.v, solution.lambda, &s.w);
  if (problem.unknowns() > 0) {
    result.dynamics = (s.v - solution.v).cwiseAbs().maxCoeff();
    result.speed = solution.v.cwiseAbs().maxCoeff();
  }

  double sum = 0;
  for (const RowBlock& block : problem.blocks) {
    const double diagonal = calc_mean_diagonal(problem, s.masses, block);
    const double rho = diagonal > 0 ? 1 / diagonal : 1;
    const double* lambda = solution.lambda.data() + block.row;
    const double* w = s.w.data() + block.row;
    double f[6];
    update_natural_map(problem, block, rho, lambda, w, f);
    for (int k = 0; k < block.size; ++k) {
      result.natural = std::max(result.natural, std::abs(f[k]));
      sum += f[k] * f[k];
    }
    if (block.law != LawKind::Friction) continue;
    result.cone = std::max(result.cone, cone_violation(block, lambda));
    double power = 0;
    for (int k = 1; k < block.size; ++k) power += lambda[k] * w[k];
    result.dissipation = std::max(result.dissipation, power);
  }
  const double scale = std::max(result.scale, floor);
  result.relative = sum == 0 ? 0 : (scale > 0 ? std::sqrt(sum) / scale : kInfinity);
  if (!std::isfinite(sum)) result.natural = result.relative = kInfinity;
  return result;
}

Residuals certify(const Problem& problem, const Solution& solution) { return Judge().certify(problem, solution); }

std::string_view name_of(SolveStatus status) {
  switch (status) {
    case SolveStatus::Solved:
      return "solved";
    case SolveStatus::NotConverged:
      return "not converged";
    case SolveStatus::Unsupported:
      return "unsupported";
  }
  return "?";
}

}  // namespace slipstick
