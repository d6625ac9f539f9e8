// The one judge: natural map (natural_map.h), parts of the law (law_parts.h) and momentum of a problem and the impulses
// somebody claims to be its solution; each island, row block and column against its own scale.
#include <slipstick/solver.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/thread_team.h"
#include "solve/coupling_rows.h"
#include "solve/law_parts.h"
#include "solve/laws.h"
#include "solve/mass_blocks.h"
#include "solve/natural_map.h"
#include "solve/presolve.h"
#include "solve/row_kernels.h"

namespace slipstick {

namespace {

/// Speeds below this (m/s, rad/s) are no scale: they are what rounding leaves of gaps over steps where nothing drives
/// the bodies. At a tolerance of 1e-8 an error of 1e-17 m/s passes.
constexpr double kStillSquare = 1e-18;
constexpr double kUnitRound = 4 * std::numeric_limits<double>::epsilon();
/// Of the change of a column's speed: where the last bits of its impulses are more than this, its momentum is summed
/// with twice the digits.
constexpr double kDoubt = 1e-11;
/// Of the offsets of all rows between which impulses pass: the last bits of impulses excuse no error above this. A
/// light body under a heavy one is not certified because nobody could compute it.
constexpr double kMostRound = 1e-9;
/// The part of the law is named, not the map, if it is at least this share of the map's error.
constexpr double kNamed = 0.1;
/// Row blocks and columns that a thread takes at a time.
constexpr std::size_t kJudgedBlocks = 512, kJudgedColumns = 256;
constexpr std::size_t kMostRows = 6;  // of a block

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

/// A sum with twice the digits of a double ([OgitaRumpOishi05]'s products and sums).
struct LongSum {
  double high = 0, low = 0;
  void add(double x, double y) {
    const double product = x * y, rest = std::fma(x, y, -product);
    const double sum = high + product, part = sum - high;
    low += (high - (sum - part)) + (product - part) + rest;
    high = sum;
  }
};

/// The speeds of a column in the metric of its mass, so that metres and radians need no conversion: with D = J A^-1 J^T
/// a row's share of them is at most sqrt(D x^T A x), in every frame the same.
struct ColumnSpeeds {
  double change = 0;      ///< (v - v_free)^T A (v - v_free): what the impulses did
  double impulses = 0;    ///< the sum of the same for each impulse by itself: what the change is the small rest of
  double terms = 0;       ///< v_free^T A v_free
  double place = 0;       ///< Problem::place
  double most_round = 0;  ///< m/s: what the last bits of impulses excuse at most
};

/// A contact without impulses that does not close: its law holds to the last bit, whatever the friction.
bool is_open(const RowBlock& block, const double* lambda, const double* w) {
  if (block.law != LawKind::Friction || !(block.mu >= 0) || !(w[0] >= 0)) return false;
  return std::all_of(lambda, lambda + block.size, [](double impulse) { return impulse == 0; });
}

bool is_doubtful(const ColumnSpeeds& column) {
  constexpr double kMost = 4 * kDoubt / kUnitRound;
  return column.impulses > kMost * kMost * column.change;
}

}  // namespace

struct Judge::Scratch {
  /// What a portion of the columns or row blocks of an island shows.
  struct Findings {
    Residuals worst;
    WorstPart part;                          ///< of the law, or momentum
    WorstPart map_block;                     ///< the largest natural map
    double offsets = 0, terms = 0, map = 0;  ///< squares of q, of the terms it is the sum of, and of the natural map
    void operator+=(const Findings& later);
  };

  void update_speeds(const Problem& problem, const Solution& solution);
  void refine_velocity(const Problem& problem, const Solution& solution);
  void update_change(const Problem& problem, int column);
  template <int M>
  void update_rows(const Problem& problem, const Solution& solution, const RowBlock& block);
  void add_coupling(const Problem& problem, const Solution& solution, const RowBlock& block);
  void add_impulses(const Problem& problem);
  void update_most_round(const Problem& problem, const Solution& solution);
  void update_floors(const Problem& problem, const RowBlock& block);
  void judge_island(const Problem& problem, const Solution& solution, int island, Residuals* result);
  Findings judge_blocks(const Problem& problem, const Solution& solution, int island, double largest);
  void judge_block(const Problem& problem, const Solution& solution, int island, int index, Findings* found);
  Findings judge_columns(const Problem& problem, const Solution& solution, int island, std::span<const int> list) const;
  void judge_column(const Problem& problem, const Solution& solution, int island, int column, Findings* found) const;
  template <class F>
  void for_blocks(const Problem& problem, const F& f) const {
    for_portions(team, problem.blocks.size(), kJudgedBlocks, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) f(problem.blocks[i]);
    });
  }

  const ThreadTeam* team = nullptr;
  MassBlocks own_masses;
  const MassBlocks* masses = nullptr;  ///< of the problem, whoever made them
  Islands own_islands, groups;
  const Islands* islands = nullptr;  ///< of the problem, whoever found them
  VecX v, w, q, free;
  VecX map_w;  ///< w in plain double, as the solvers have it, for the natural map; empty: the same as w
  std::vector<ColumnSpeeds> columns;
  std::vector<RowScale> rows;
  std::vector<LongSum> momentum;
  std::vector<double> terms;           ///< of each row, squared
  std::vector<double> most_round;      ///< of each row, as of the columns; empty: zero
  std::vector<double> diagonals;       ///< of each Jacobian block, kMostRows apart
  std::vector<double> entry_impulses;  ///< of each Jacobian block: what its impulses carry into the column
  std::vector<Residuals> by_island;
  WorstPart map, part;  ///< the worst natural map of an island; the worst part of the law, or momentum
};

void Judge::Scratch::Findings::operator+=(const Findings& later) {
  raise_to(later.worst, &worst);
  raise_to(later.part, &part);
  if (later.map_block.value > map_block.value) map_block = later.map_block;
  offsets += later.offsets;
  terms += later.terms;
  map += later.map;
}

Judge::Scratch& Judge::scratch() {
  if (!scratch_) scratch_ = std::make_unique<Scratch>();
  return *scratch_;
}

void Judge::set_team(const ThreadTeam* team) { scratch().team = team; }
Judge::Judge() = default;
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

/// All that one pass over J gives for a block: q and w, the Delassus diagonal part by part for each column, and the
/// speeds that matter to a row: what it would have without impulses, what the impulses did to its columns, and
/// kCancelled of the terms of which the former are the sums.
template <int M>
void Judge::Scratch::update_rows(const Problem& problem, const Solution& solution, const RowBlock& block) {
  const int m = M == slipstick::rows::kAny ? block.size : M;
  const double* lambda = solution.lambda.data() + block.row;
  const double *c = problem.c.data() + block.row, *compliance = problem.compliance.data() + block.row;
  double row_q[kMostRows], row_w[kMostRows], term[kMostRows];
  RowScale scale[kMostRows];
  for (int k = 0; k < m; ++k) {
    row_q[k] = row_w[k] = c[k];
    term[k] = c[k] * c[k];
    scale[k].diagonal = compliance[k];
  }
  for (int e = block.entry; e < block.entry + block.entries; ++e) {
    const JacobianEntry& entry = problem.entries[e];
    const int first = problem.column_start[entry.column];
    double* diagonal = diagonals.data() + kMostRows * static_cast<std::size_t>(e);
    add_images(problem, block, entry, free.data() + first, v.data() + first, row_q, row_w);
    update_diagonal(problem, *masses, block, entry, diagonal);
    const ColumnSpeeds& column = columns[entry.column];
    double impulses = 0;
    for (int k = 0; k < m; ++k) {
      scale[k].diagonal += diagonal[k];
      scale[k].square += diagonal[k] * column.change;
      term[k] += diagonal[k] * (column.terms + column.place);
      impulses += diagonal[k] * lambda[k] * lambda[k];
    }
    entry_impulses[e] = impulses;
  }
  for (int k = 0; k < m; ++k) {
    const int r = block.row + k;
    q[r] = row_q[k];
    w[r] = row_w[k] + compliance[k] * lambda[k];
    terms[r] = term[k];
    scale[k].square += row_q[k] * row_q[k] + kCancelled * kCancelled * term[k] + kStillSquare;
    rows[r] = scale[k];
  }
  if (!problem.coupling.empty()) add_coupling(problem, solution, block);
}

void Judge::Scratch::add_coupling(const Problem& problem, const Solution& solution, const RowBlock& block) {
  add_coupled(problem.coupling, block.row, block.size, solution.lambda.data(), w.data() + block.row);
}

/// What each impulse by itself carries into its columns.
void Judge::Scratch::add_impulses(const Problem& problem) {
  for (std::size_t e = 0; e < problem.entries.size(); ++e)
    columns[problem.entries[e].column].impulses += entry_impulses[e];
}

void Judge::Scratch::update_change(const Problem& problem, int column) {
  const int n = problem.column_size(column), first = problem.column_start[column];
  double change[6];
  for (int i = 0; i < n; ++i) change[i] = v[first + i] - free[first + i];
  columns[column].change = calc_square(problem.mass_block(column), change);
}

/// v of the columns whose impulses nearly cancel.
void Judge::Scratch::refine_velocity(const Problem& problem, const Solution& solution) {
  momentum.resize(problem.unknowns());
  for (int i = 0; i < problem.unknowns(); ++i) momentum[i] = {problem.b[i], 0};
  for (const RowBlock& block : problem.blocks) {
    for (int e = block.entry; e < block.entry + block.entries; ++e) {
      const int column = problem.entries[e].column, n = problem.column_size(column);
      if (!is_doubtful(columns[column])) continue;
      LongSum* sums = momentum.data() + problem.column_start[column];
      const double* j = problem.jacobian.data() + problem.entries[e].offset;
      for (int k = 0; k < block.size; ++k)
        for (int i = 0; i < n; ++i) sums[i].add(j[k * n + i], solution.lambda[block.row + k]);
    }
  }
  for (int column = 0; column < problem.columns(); ++column) {
    if (!is_doubtful(columns[column])) continue;
    const int n = problem.column_size(column), first = problem.column_start[column];
    const ConstBlockMap inverse = masses->inverse(column);
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += inverse(i, k) * (momentum[first + k].high + momentum[first + k].low);
      v[first + i] = sum;
    }
    update_change(problem, column);
  }
}

/// v and w of the impulses, and the scales of all columns.
void Judge::Scratch::update_speeds(const Problem& problem, const Solution& solution) {
  update_velocity(problem, *masses, solution.lambda, &v);
  for_portions(team, problem.columns(), kJudgedColumns, [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) {
      columns[k] = {};
      if (k < problem.place.size()) columns[k].place = problem.place[k];
      for (int i = problem.column_start[k]; i < problem.column_start[k + 1]; ++i)
        columns[k].terms += free[i] * problem.b[i];
      update_change(problem, static_cast<int>(k));
    }
  });
  diagonals.resize(kMostRows * problem.entries.size());
  entry_impulses.resize(problem.entries.size());
  const auto update_all_rows = [&] {
    for_blocks(problem, [&](const RowBlock& block) {
      if (block.size == 3) return update_rows<3>(problem, solution, block);
      if (block.size == 2) return update_rows<2>(problem, solution, block);
      update_rows<slipstick::rows::kAny>(problem, solution, block);
    });
  };
  update_all_rows();
  add_impulses(problem);
  map_w.resize(0);
  most_round.clear();
  if (std::none_of(columns.begin(), columns.end(), is_doubtful)) return;
  map_w = w;
  most_round.assign(problem.rows(), 0.0);
  update_most_round(problem, solution);
  refine_velocity(problem, solution);
  update_all_rows();
}

/// Not of the island: an open contact may tie a fast body to it that no impulse reaches.
void Judge::Scratch::update_most_round(const Problem& problem, const Solution& solution) {
  groups.update(problem, solution.lambda);
  for (int group = 0; group < groups.count(); ++group) {
    double largest = 0;
    for (const int i : groups.blocks(group)) {
      const RowBlock& block = problem.blocks[i];
      for (int r = block.row; r < block.row + block.size; ++r) largest = std::max(largest, std::abs(q[r]));
    }
    for (const int i : groups.blocks(group))
      std::fill_n(most_round.begin() + problem.blocks[i].row, problem.blocks[i].size, kMostRound * largest);
    for (const int column : groups.columns(group)) columns[column].most_round = kMostRound * largest;
  }
}

/// v must be what the impulses produce, to a part of the column's own speeds.
void Judge::Scratch::judge_column(const Problem& problem, const Solution& solution, int island, int column,
                                  Findings* found) const {
  const int n = problem.column_size(column), first = problem.column_start[column];
  Residuals& result = found->worst;
  double error[6], largest = 0;
  for (int i = 0; i < n; ++i) {
    error[i] = v[first + i] - solution.v[first + i];
    largest = std::max(largest, std::abs(error[i]));
    result.speed = std::max(result.speed, std::abs(solution.v[first + i]));
  }
  if (largest == 0) return;
  result.dynamics = std::max(result.dynamics, largest);
  const ColumnSpeeds& speeds = columns[column];
  const ConstBlockMap mass = problem.mass_block(column);
  const double size = mass.trace();
  const double excess = std::sqrt(calc_square(mass, error)) -
                        std::min(kUnitRound * std::sqrt(speeds.impulses), speeds.most_round * std::sqrt(size));
  if (excess <= 0) return;
  const double relative = calc_share(excess, speeds.change + speeds.terms + kStillSquare * size);
  result.momentum = std::max(result.momentum, relative);
  raise_to(WorstPart{LawPart::Momentum, island, -1, column, -1, largest, relative}, &found->part);
}

Judge::Scratch::Findings Judge::Scratch::judge_columns(const Problem& problem, const Solution& solution, int island,
                                                       std::span<const int> list) const {
  return sum_portions<Findings>(team, list.size(), kJudgedColumns, [&](std::size_t first, std::size_t last) {
    Findings found;
    for (std::size_t i = first; i < last; ++i) judge_column(problem, solution, island, list[i], &found);
    return found;
  });
}

/// What no error of a row is below.
void Judge::Scratch::update_floors(const Problem& problem, const RowBlock& block) {
  for (int k = 0; k < block.size; ++k) {
    const int r = block.row + k;
    rows[r].floor = kUnitRound * std::sqrt(terms[r]);
    if (most_round.empty()) continue;
    double impulses = 0;
    for (int e = block.entry; e < block.entry + block.entries; ++e)
      impulses += diagonals[kMostRows * static_cast<std::size_t>(e) + k] * columns[problem.entries[e].column].impulses;
    rows[r].floor += std::min(kUnitRound * std::sqrt(impulses), most_round[r]);
  }
}

void Judge::Scratch::judge_block(const Problem& problem, const Solution& solution, int island, int index,
                                 Findings* found) {
  const RowBlock& block = problem.blocks[index];
  for (int k = 0; k < block.size; ++k) {
    found->offsets += q[block.row + k] * q[block.row + k];
    found->terms += terms[block.row + k];
  }
  const double* lambda = solution.lambda.data() + block.row;
  const double* row_w = w.data() + block.row;
  const double* plain_w = map_w.size() > 0 ? map_w.data() + block.row : row_w;
  if (is_open(block, lambda, row_w) && plain_w[0] >= 0) return;
  update_floors(problem, block);
  RowScale* scale = rows.data() + block.row;
  double mean = 0, f[6];
  for (int k = 0; k < block.size; ++k) {
    if (!problem.coupling.empty()) scale[k].diagonal += coupled_diagonal(problem.coupling, block.row + k);
    mean += scale[k].diagonal / block.size;
    if (!(scale[k].diagonal > 0)) scale[k].diagonal = 1;
  }
  const double rho = mean > 0 ? 1 / mean : 1;
  const double saxce = block.law == LawKind::Friction ? de_saxce_term(block, plain_w) : 0;
  update_natural_map(problem, block, rho, saxce, lambda, plain_w, f);
  for (int k = 0; k < block.size; ++k) {
    found->map += f[k] * f[k];
    if (std::abs(f[k]) <= found->map_block.value) continue;
    found->map_block.value = std::abs(f[k]);
    found->map_block.block = index;
  }
  WorstPart worst;
  worst.relative = found->part.relative;  // nothing less is looked at
  find_worst_part(problem, block, scale, lambda, row_w, &worst);
  Residuals& result = found->worst;
  if (worst.part != LawPart::None) {
    worst.island = island;
    worst.block = index;
    found->part = worst;
    result.law = worst.relative;
  }
  if (block.law != LawKind::Friction) return;
  result.cone = std::max(result.cone, cone_violation(block, lambda));
  double power = 0;
  for (int k = 1; k < block.size; ++k) power += lambda[k] * row_w[k];
  result.dissipation = std::max(result.dissipation, power);
}

/// `largest`: in local form the bodies are not known, and the island's largest offset stands for their speeds.
Judge::Scratch::Findings Judge::Scratch::judge_blocks(const Problem& problem, const Solution& solution, int island,
                                                      double largest) {
  const std::span<const int> list = islands->blocks(island);
  return sum_portions<Findings>(team, list.size(), kJudgedBlocks, [&](std::size_t first, std::size_t last) {
    Findings found;
    for (std::size_t i = first; i < last; ++i) {
      const RowBlock& block = problem.blocks[list[i]];
      for (int k = 0; k < block.size && !problem.coupling.empty(); ++k) rows[block.row + k].square += largest;
      judge_block(problem, solution, island, list[i], &found);
    }
    return found;
  });
}

namespace {

/// What is named of the worst natural map and the worst part of the law.
WorstPart find_worst(const Problem& problem, const WorstPart& map, const WorstPart& part) {
  WorstPart worst = part.relative >= kNamed * map.relative ? part : map;
  worst.relative = std::max(part.relative, map.relative);
  if (worst.block < 0) return worst;
  const RowBlock& block = problem.blocks[worst.block];
  if (block.entries > 0) worst.column = problem.entries[block.entry].column;
  if (block.entries > 1) worst.other = problem.entries[block.entry + block.entries - 1].column;
  return worst;
}

}  // namespace

void Judge::Scratch::judge_island(const Problem& problem, const Solution& solution, int island, Residuals* result) {
  double largest = 0;
  if (!problem.coupling.empty())
    for (const int i : islands->blocks(island))
      for (int r = problem.blocks[i].row; r < problem.blocks[i].row + problem.blocks[i].size; ++r)
        largest = std::max(largest, q[r] * q[r]);
  Findings found = judge_columns(problem, solution, island, islands->columns(island));
  found += judge_blocks(problem, solution, island, largest);
  raise_to(found.worst, result);
  part = found.part;
  WorstPart& map_block = found.map_block;
  map_block.part = LawPart::NaturalMap;
  map_block.island = island;
  map_block.relative =
      calc_share(std::sqrt(found.map), std::max({found.offsets, kCancelled * kCancelled * found.terms, kStillSquare}));
  result->natural = std::max(result->natural, std::isfinite(found.map) ? map_block.value : kInfinity);
  result->relative = std::max(result->relative, map_block.relative);
  raise_to(map_block, &map);
}

Residuals Judge::certify(const Problem& problem, const Solution& solution) {
  Islands& islands = scratch().own_islands;
  islands.update(problem);
  return certify(problem, solution, islands);
}

Residuals Judge::certify(const Problem& problem, const Solution& solution, const Islands& islands) {
  Scratch& own = scratch();
  own.own_masses.update(problem, own.team);
  return certify(problem, solution, islands, own.own_masses);
}

Residuals Judge::certify(const Problem& problem, const Solution& solution, const Islands& islands,
                         const MassBlocks& masses) {
  Residuals result;
  const int row_count = problem.rows();
  const bool finite = solution.lambda.size() == row_count && solution.v.size() == problem.unknowns() &&
                      solution.lambda.allFinite() && solution.v.allFinite();
  if (!finite) {
    scratch().by_island.clear();
    result.natural = result.relative = result.law = result.momentum = result.dynamics = kInfinity;
    result.worst.part = LawPart::NaturalMap;
    result.worst.value = result.worst.relative = kInfinity;
    return result;
  }
  Scratch& s = scratch();
  s.islands = &islands;
  s.masses = &masses;
  s.columns.resize(problem.columns());
  s.rows.resize(row_count);
  s.terms.resize(row_count);
  s.by_island.clear();
  s.q.resize(row_count);
  s.w.resize(row_count);
  update_free_velocity(problem, *s.masses, &s.free, s.team);
  s.update_speeds(problem, solution);
  result.scale = s.q.norm();
  WorstPart map, part;
  for (int island = 0; island < islands.count(); ++island) {
    Residuals& one = s.by_island.emplace_back();
    s.map = s.part = {};
    s.judge_island(problem, solution, island, &one);
    raise_to(one, &result);
    raise_to(s.map, &map);
    raise_to(s.part, &part);
    one.worst = find_worst(problem, s.map, s.part);
    one.scale = result.scale;
  }
  const Scratch::Findings alone = s.judge_columns(problem, solution, -1, islands.free_columns());
  raise_to(alone.worst, &result);
  raise_to(alone.part, &part);
  result.worst = find_worst(problem, map, part);
  return result;
}

const std::vector<Residuals>& Judge::islands() const {
  static const std::vector<Residuals> none;
  return scratch_ ? scratch_->by_island : none;
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
