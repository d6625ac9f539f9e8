// The one judge: natural map (natural_map.h), parts of the law (law_parts.h) and momentum of a problem and the impulses
// somebody claims to be its solution; each island, row block and column against its own scale.
#include <slipstick/solver.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "solve/law_parts.h"
#include "solve/laws.h"
#include "solve/mass_blocks.h"
#include "solve/natural_map.h"
#include "solve/presolve.h"

namespace slipstick {

namespace {

/// Speeds below this (m/s, rad/s) are no scale: they are what rounding leaves of gaps over steps where nothing drives
/// the bodies. At a tolerance of 1e-8 an error of 1e-17 m/s passes.
constexpr double kStillSquare = 1e-18;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// x^T A x.
double calc_square(const ConstBlockMap& a, const double* x) {
  double sum = 0;
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    double image = 0;
    for (Eigen::Index k = 0; k < a.cols(); ++k) image += a(i, k) * x[k];
    sum += x[i] * image;
  }
  return sum;
}

}  // namespace

/// The speeds of a column in the metric of its mass, so that metres and radians need no conversion: with D = J A^-1 J^T
/// a row's share of them is at most sqrt(D x^T A x), in every frame the same.
struct ColumnSpeeds {
  double change = 0;    ///< (v - v_free)^T A (v - v_free): what the impulses did
  double impulses = 0;  ///< the sum of the same for each impulse by itself: what the changes are the small rest of
  double terms = 0;     ///< v_free^T A v_free: what rounding is a part of
};

struct Judge::Scratch {
  void judge_island(const Problem& problem, const Solution& solution, int island, std::span<const int> blocks,
                    Residuals* result);
  void judge_column(const Problem& problem, const Solution& solution, int island, int column, Residuals* result);
  void update_diagonals(const Problem& problem, const Solution& solution, const RowBlock& block);
  void update_row_scales(const Problem& problem, const RowBlock& block);

  MassBlocks masses;
  Islands islands;
  VecX v, w, q, free;
  std::vector<ColumnSpeeds> columns;
  std::vector<RowScale> rows;
  std::vector<double> terms;      ///< of each row, squared
  std::vector<double> diagonals;  ///< of each Jacobian block, six numbers
};

Judge::Judge() : scratch_(std::make_unique<Scratch>()) {}
Judge::~Judge() = default;
Judge::Judge(Judge&&) noexcept = default;
Judge& Judge::operator=(Judge&&) noexcept = default;

void raise_to(double value, double* worst) {
  if (value > *worst || std::isnan(value)) *worst = value;
}

void raise_to(const WorstPart& value, WorstPart* worst) {
  if (value.relative > worst->relative || std::isnan(value.relative)) *worst = value;
}

void raise_to(const Residuals& value, Residuals* worst) {
  raise_to(value.natural, &worst->natural);
  raise_to(value.relative, &worst->relative);
  raise_to(value.law, &worst->law);
  raise_to(value.momentum, &worst->momentum);
  raise_to(value.dynamics, &worst->dynamics);
  raise_to(value.cone, &worst->cone);
  raise_to(value.dissipation, &worst->dissipation);
  raise_to(value.scale, &worst->scale);
  raise_to(value.speed, &worst->speed);
  raise_to(value.worst, &worst->worst);
}

/// v must be what the impulses produce, to a part of the column's own speeds.
void Judge::Scratch::judge_column(const Problem& problem, const Solution& solution, int island, int column,
                                  Residuals* result) {
  const int n = problem.column_size(column), first = problem.column_start[column];
  const ConstBlockMap mass = problem.mass_block(column);
  double change[6], error[6], largest = 0;
  for (int i = 0; i < n; ++i) {
    change[i] = v[first + i] - free[first + i];
    error[i] = v[first + i] - solution.v[first + i];
    largest = std::max(largest, std::abs(error[i]));
    result->speed = std::max(result->speed, std::abs(solution.v[first + i]));
  }
  ColumnSpeeds& speeds = columns[column];
  speeds.change = calc_square(mass, change);
  speeds.terms = speeds.impulses = 0;
  for (int i = 0; i < n; ++i) speeds.terms += free[first + i] * problem.b[first + i];
  if (largest == 0) return;
  result->dynamics = std::max(result->dynamics, largest);
  const double square = speeds.change + speeds.terms + kStillSquare * mass.trace();
  const double relative = calc_share(std::sqrt(calc_square(mass, error)), square);
  result->momentum = std::max(result->momentum, relative);
  raise_to(WorstPart{LawPart::Momentum, island, -1, column, -1, largest, relative}, &result->worst);
}

/// The Delassus diagonal, part by part for each column, and what each impulse by itself carries into its columns.
void Judge::Scratch::update_diagonals(const Problem& problem, const Solution& solution, const RowBlock& block) {
  const double* lambda = solution.lambda.data() + block.row;
  for (int k = 0; k < block.size; ++k) rows[block.row + k].diagonal = problem.compliance[block.row + k];
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    double* diagonal = diagonals.data() + 6 * static_cast<std::size_t>(e);
    update_diagonal(problem, masses, block, problem.entries[e], diagonal);
    double& impulses = columns[problem.entries[e].column].impulses;
    for (int k = 0; k < block.size; ++k) {
      rows[block.row + k].diagonal += diagonal[k];
      impulses += diagonal[k] * lambda[k] * lambda[k];
    }
  }
  if (problem.coupling.empty()) return;
  for (int r = block.row; r < block.row + block.size; ++r)
    for (int i = problem.coupling.start[r]; i < problem.coupling.start[r + 1]; ++i)
      if (problem.coupling.column[i] == r) rows[r].diagonal += problem.coupling.value[i];
}

/// Speeds that matter to a row: what it would have without impulses, what the impulses did to its columns, and
/// kCancelled of the terms of which the former are the sums.
void Judge::Scratch::update_row_scales(const Problem& problem, const RowBlock& block) {
  for (int k = 0; k < block.size; ++k) {
    const int r = block.row + k;
    double change = 0, impulses = 0;
    double& term = terms[r] = problem.c[r] * problem.c[r];
    for (int e = block.entry; e < block.entry + block.entries; ++e) {
      const ColumnSpeeds& column = columns[problem.entries[e].column];
      const double diagonal = diagonals[6 * static_cast<std::size_t>(e) + k];
      change += diagonal * column.change;
      impulses += diagonal * column.impulses;
      term += diagonal * column.terms;
    }
    rows[r].square = q[r] * q[r] + change + kCancelled * kCancelled * term + kStillSquare;
    rows[r].floor = 4 * kEpsilon * std::sqrt(term);
    rows[r].rounding = kEpsilon * std::sqrt(impulses);
  }
}

void Judge::Scratch::judge_island(const Problem& problem, const Solution& solution, int island,
                                  std::span<const int> blocks, Residuals* result) {
  for (const int i : blocks) update_diagonals(problem, solution, problem.blocks[i]);
  double offsets = 0, term = 0, largest_offset = 0;
  for (const int i : blocks) {
    const RowBlock& block = problem.blocks[i];
    update_row_scales(problem, block);
    for (int r = block.row; r < block.row + block.size; ++r) {
      offsets += q[r] * q[r];
      term += terms[r];
      largest_offset = std::max(largest_offset, q[r] * q[r]);
    }
  }
  double sum = 0;
  WorstPart map;
  map.part = LawPart::NaturalMap;
  map.island = island;
  for (const int i : blocks) {
    const RowBlock& block = problem.blocks[i];
    RowScale* scale = rows.data() + block.row;
    double mean = 0;
    for (int k = 0; k < block.size; ++k) {
      mean += scale[k].diagonal / block.size;
      // In local form the bodies are not known: the island's largest offset stands for their speeds.
      if (!problem.coupling.empty()) scale[k].square += largest_offset;
      if (!(scale[k].diagonal > 0)) scale[k].diagonal = 1;
    }
    const double rho = mean > 0 ? 1 / mean : 1;
    const double* lambda = solution.lambda.data() + block.row;
    const double* row_w = w.data() + block.row;
    double f[6];
    const double saxce = block.law == LawKind::Friction ? de_saxce_term(block, row_w) : 0;
    update_natural_map(problem, block, rho, saxce, lambda, row_w, f);
    for (int k = 0; k < block.size; ++k) {
      sum += f[k] * f[k];
      if (std::abs(f[k]) <= map.value) continue;
      map.value = std::abs(f[k]);
      map.block = i;
    }
    WorstPart part;
    find_worst_part(problem, block, scale, lambda, row_w, &part);
    part.island = island;
    part.block = i;
    result->law = std::max(result->law, part.relative);
    raise_to(part, &result->worst);
    if (block.law != LawKind::Friction) continue;
    result->cone = std::max(result->cone, cone_violation(block, lambda));
    double power = 0;
    for (int k = 1; k < block.size; ++k) power += lambda[k] * row_w[k];
    result->dissipation = std::max(result->dissipation, power);
  }
  map.relative = calc_share(std::sqrt(sum), std::max({offsets, kCancelled * kCancelled * term, kStillSquare}));
  result->natural = std::max(result->natural, std::isfinite(sum) ? map.value : kInfinity);
  result->relative = std::max(result->relative, map.relative);
  raise_to(map, &result->worst);
}

Residuals Judge::certify(const Problem& problem, const Solution& solution) {
  Residuals result;
  const int row_count = problem.rows();
  const bool finite = solution.lambda.size() == row_count && solution.v.size() == problem.unknowns() &&
                      solution.lambda.allFinite() && solution.v.allFinite();
  if (!finite) {
    result.natural = result.relative = result.law = result.momentum = result.dynamics = kInfinity;
    result.worst.part = LawPart::NaturalMap;
    result.worst.value = result.worst.relative = kInfinity;
    return result;
  }
  Scratch& s = *scratch_;
  s.masses.update(problem);
  s.islands.update(problem);
  s.columns.resize(problem.columns());
  s.rows.resize(row_count);
  s.terms.resize(row_count);
  s.diagonals.resize(6 * problem.entries.size());
  update_free_velocity(problem, s.masses, &s.free);
  update_row_image(problem, s.free, &s.q);
  result.scale = s.q.norm();
  update_velocity(problem, s.masses, solution.lambda, &s.v);
  update_row_velocity(problem, s.v, solution.lambda, &s.w);
  for (int island = 0; island < s.islands.count(); ++island) {
    for (const int column : s.islands.columns(island)) s.judge_column(problem, solution, island, column, &result);
    s.judge_island(problem, solution, island, s.islands.blocks(island), &result);
  }
  for (const int column : s.islands.free_columns()) s.judge_column(problem, solution, -1, column, &result);
  if (result.worst.block < 0) return result;
  const RowBlock& block = problem.blocks[result.worst.block];
  if (block.entries > 0) result.worst.column = problem.entries[block.entry].column;
  if (block.entries > 1) result.worst.other = problem.entries[block.entry + block.entries - 1].column;
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
