// The one judge: the natural map (natural_map.h) of a problem and the impulses somebody claims to be its solution.
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
  VecX v, w, q;
};

Judge::Judge() : scratch_(std::make_unique<Scratch>()) {}
Judge::~Judge() = default;
Judge::Judge(Judge&&) noexcept = default;
Judge& Judge::operator=(Judge&&) noexcept = default;

void raise_to(double value, double* worst) {
  if (value > *worst || std::isnan(value)) *worst = value;
}

void raise_to(const Residuals& value, Residuals* worst) {
  raise_to(value.natural, &worst->natural);
  raise_to(value.relative, &worst->relative);
  raise_to(value.dynamics, &worst->dynamics);
  raise_to(value.cone, &worst->cone);
  raise_to(value.dissipation, &worst->dissipation);
  raise_to(value.scale, &worst->scale);
  raise_to(value.speed, &worst->speed);
}

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
  update_free_velocity(problem, s.masses, &s.v);
  update_row_image(problem, s.v, &s.q);
  result.scale = s.q.norm();
  const double scale = calc_residual_scale(problem, s.v, s.q);
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
    const double saxce = block.law == LawKind::Friction ? de_saxce_term(block, w) : 0;
    update_natural_map(problem, block, rho, saxce, lambda, w, f);
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
