#include "solve/solvers/newton_system.h"

#include <algorithm>
#include <cstring>

#include "solve/linalg/panel_kernels.h"
#include "solve/row_kernels.h"

namespace slipstick {

void NewtonMaps::resize(const Problem& problem) {
  const int count = static_cast<int>(problem.blocks.size());
  start.resize(count);
  zero.assign(count, 0);
  int total = 0;
  for (int i = 0; i < count; ++i) {
    start[i] = total;
    total += problem.blocks[i].size * problem.blocks[i].size;
  }
  d.resize(total);
  g.resize(problem.rows());
  weight.resize(problem.rows());
}

double NewtonSystem::calc_step_work(double multiplications, const Problem& problem) {
  constexpr double kMultiplications = 24;  // of a row operation
  constexpr double kRowShare = 12;         // row operations of a row: condensing, two to four solves, residuals
  return multiplications / kMultiplications + kRowShare * problem.rows();
}

void NewtonSystem::update_joint_diagonals(const Problem& problem, const MassBlocks& masses) {
  joint_diagonal_.resize(problem.rows());
  for (const RowBlock& block : problem.blocks)
    if (block.law == LawKind::Equality)
      update_joint_diagonal(problem, masses, block, joint_diagonal_.data() + block.row);
}

namespace {

template <class T>
bool has_same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace

/// Whether the matrices of the problem, all equations, are those of the last one, bit by bit; they are kept for the
/// next question. So it is with a second pass of a scheme, which changes c and nothing else.
bool PrimalSystem::is_same_linear(const Problem& problem) {
  const auto linear = [](const RowBlock& block) { return block.law == LawKind::Equality; };
  if (!std::all_of(problem.blocks.begin(), problem.blocks.end(), linear)) return has_kept_ = false;
  const auto same_block = [](const RowBlock& a, const RowBlock& b) {
    return a.size == b.size && a.entry == b.entry && a.entries == b.entries;
  };
  Problem& kept = kept_;
  const bool same =
      has_kept_ && kept.symmetric == problem.symmetric && has_same_bits(kept.column_start, problem.column_start) &&
      std::equal(kept.blocks.begin(), kept.blocks.end(), problem.blocks.begin(), problem.blocks.end(), same_block) &&
      has_same_bits(kept.entries, problem.entries) && has_same_bits(kept.jacobian, problem.jacobian) &&
      has_same_bits(kept.mass, problem.mass) && has_same_bits(kept.compliance, problem.compliance);
  if (same) return true;
  kept.symmetric = problem.symmetric;
  kept.column_start = problem.column_start;
  kept.blocks = problem.blocks;
  kept.entries = problem.entries;
  kept.jacobian = problem.jacobian;
  kept.mass = problem.mass;
  kept.compliance = problem.compliance;
  has_kept_ = true;
  return false;
}

void PrimalSystem::prepare(const Problem& problem) {
  problem_ = &problem;
  if (is_same_linear(problem)) return;
  has_factor_ = false;
  masses_.update(problem);
  update_joint_diagonals(problem, masses_);
  const int columns = problem.columns(), blocks = static_cast<int>(problem.blocks.size());
  node_size_.resize(columns);
  late_.assign(columns, 0);
  for (int k = 0; k < columns; ++k) node_size_[k] = problem.column_size(k);
  equality_node_.assign(blocks, -1);
  equality_start_.assign(blocks, -1);
  mean_diagonal_.resize(blocks);
  int unknowns = problem.unknowns();
  for (int i = 0; i < blocks; ++i) {
    mean_diagonal_[i] = calc_mean_diagonal(problem, masses_, problem.blocks[i]);
    if (problem.blocks[i].law != LawKind::Equality) continue;
    equality_node_[i] = static_cast<int>(node_size_.size());
    equality_start_[i] = unknowns;
    node_size_.push_back(problem.blocks[i].size);
    late_.push_back(1);
    unknowns += problem.blocks[i].size;
  }
  unknowns_.resize(unknowns);
  // The pattern is kept while the graph is the very same one: another order of elimination would be as right but round
  // differently, and the answer must not depend on what was solved before.
  const bool same_nodes = node_size_ == analyzed_size_ && late_ == analyzed_late_;
  if (same_nodes && find_slots() && uses_every_edge()) return;
  analyze();
  find_slots();
  edge_used_.assign(pattern_.blocks(), 0);
  for (const int slot : slot_) edge_used_[slot] = 1;
  analyzed_edges_ = static_cast<int>(std::count(edge_used_.begin(), edge_used_.end(), 1));
}

/// Whether the slots found are all the edges the pattern was made for, and nothing but them (a new edge may fall on
/// fill).
bool PrimalSystem::uses_every_edge() {
  ++stamp_;
  int count = 0;
  for (const int slot : slot_) {
    if (edge_used_[slot] == 0) return false;
    if (edge_used_[slot] == stamp_) continue;
    edge_used_[slot] = stamp_;
    ++count;
  }
  return count == analyzed_edges_;
}

bool PrimalSystem::find_slots() {
  const Problem& p = *problem_;
  const int blocks = static_cast<int>(p.blocks.size());
  slot_start_.resize(blocks);
  slot_.clear();
  for (int i = 0; i < blocks; ++i) {
    const RowBlock& block = p.blocks[i];
    slot_start_[i] = static_cast<int>(slot_.size());
    const int own = equality_node_[i] >= 0 ? pattern_.place(equality_node_[i]) : -1;
    for (int e = 0; e < block.entries; ++e) {
      const int a = pattern_.place(p.entries[block.entry + e].column);
      for (int f = own >= 0 ? e : 0; f < (own >= 0 ? e + 1 : e); ++f) {
        const int b = own >= 0 ? own : pattern_.place(p.entries[block.entry + f].column);
        slot_.push_back(pattern_.find_block(std::max(a, b), std::min(a, b)));
        if (slot_.back() < 0) return false;
      }
    }
  }
  return true;
}

void PrimalSystem::analyze() {
  const Problem& p = *problem_;
  edges_.clear();
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    for (int e = block.entry; e < block.entry + block.entries; ++e) {
      if (equality_node_[i] >= 0) {
        edges_.push_back({equality_node_[i], p.entries[e].column});
      } else {
        for (int f = block.entry; f < e; ++f) edges_.push_back({p.entries[e].column, p.entries[f].column});
      }
    }
  }
  pattern_.analyze(node_size_, late_, edges_);
  analyzed_size_ = node_size_;
  analyzed_late_ = late_;
  stamp_ = 1;
}

void PrimalSystem::update_state(const VecX& x, VecX* v, VecX* u) {
  update_velocity(*problem_, masses_, x, v);
  update_row_image(*problem_, *v, u);
}

bool PrimalSystem::factor(const NewtonMaps& maps) {
  // Of the very same matrix there is a factor already.
  if (has_factor_ && factored_weight_ == maps.weight) return true;
  has_factor_ = false;
  factor_.reset(pattern_, maps.symmetric && problem_->symmetric);
  assemble_masses();
  assemble_laws(maps);
  assemble_equalities(maps);
  if (!factor_.factor()) return false;
  if (has_kept_) factored_weight_ = maps.weight;
  has_factor_ = has_kept_;
  return true;
}

void PrimalSystem::assemble_masses() {
  const Problem& p = *problem_;
  for (int k = 0; k < p.columns(); ++k) {
    const int n = p.column_size(k);
    const double* a = p.mass.data() + p.mass_start[k];
    double* out = factor_.diagonal(pattern_.place(k));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) out[j * n + i] = a[i * n + j];
  }
}

namespace {

/// Whether two blocks act on the same columns, as contacts of one pair of bodies do.
bool has_same_columns(const Problem& p, const RowBlock& a, const RowBlock& b) {
  if (a.entries != b.entries) return false;
  for (int e = 0; e < a.entries; ++e)
    if (p.entries[a.entry + e].column != p.entries[b.entry + e].column) return false;
  return true;
}

}  // namespace

/// Rows of neighbouring blocks on the same bodies, side by side: J of both, the one that is eliminated first in front,
/// and D J. A face that rests on another one is condensed by one product instead of twelve.
struct PrimalSystem::PairRows {
  static constexpr int kHalf = 6, kWidth = 2 * kHalf, kMost = 24;
  int count = 0;
  double j[kMost * kWidth], weighted[kMost * kWidth];

  void add(const Problem& p, const RowBlock& block, int early, const double* d) {
    double* own = j + count * kWidth;
    for (int e = 0; e < block.entries; ++e) {
      const double* from = p.jacobian.data() + p.entries[block.entry + e].offset;
      for (int r = 0; r < block.size; ++r)
        Six::load(from + r * kHalf).store(own + r * kWidth + (e == early ? 0 : kHalf));
    }
    for (int r = 0; r < block.size; ++r) {
      for (int k = 0; k < kWidth; k += panels::kLanes) {
        Six::Four sum = {};
        for (int s = 0; s < block.size; ++s) sum += panels::load(own + s * kWidth + k) * d[r * block.size + s];
        panels::store(sum, weighted + (count + r) * kWidth + k);
      }
    }
    count += block.size;
  }
};

/// Adds J^T D J of the collected rows to the blocks of their two columns, or one.
void PrimalSystem::condense_pair(const RowBlock& block, int early, int slot, const PairRows& pair) {
  constexpr int kWidth = PairRows::kWidth, kHalf = PairRows::kHalf;
  double gram[kWidth * kWidth];
  const auto multiply = [&](int first_row, int first_column) {
    panels::multiply<panels::Into::Set>(kWidth - first_row, kHalf, pair.count, pair.j + first_row, kWidth,
                                        {pair.weighted + first_column, kWidth, 1},
                                        gram + first_row + first_column * kWidth, kWidth);
  };
  const auto add = [&](int row, int column, double* out) {
    for (int k = 0; k < kHalf; ++k) {
      Six sum = Six::load(out + k * kHalf);
      sum.add(Six::load(gram + row + (column + k) * kWidth), 1);
      sum.store(out + k * kHalf);
    }
  };
  const auto diagonal = [&](int e) {
    return factor_.diagonal(pattern_.place(problem_->entries[block.entry + e].column));
  };
  multiply(0, 0);
  add(0, 0, diagonal(early));
  if (block.entries == 1) return;
  // Of the upper half of a symmetric product nothing is asked.
  multiply(factor_.symmetric() ? panels::kLanes : 0, kHalf);
  add(kHalf, kHalf, diagonal(1 - early));
  add(kHalf, 0, factor_.lower(slot));
  if (factor_.symmetric()) return;
  double* upper = factor_.upper(slot);
  for (int k = 0; k < kHalf; ++k)
    for (int i = 0; i < kHalf; ++i) upper[k * kHalf + i] += gram[k + (kHalf + i) * kWidth];
}

/// The blocks from `first` on that act on the same two bodies (or one), up to as many rows as are condensed at once;
/// `first` itself if it is not of that kind.
int PrimalSystem::find_pair_end(int first) const {
  const Problem& p = *problem_;
  const RowBlock& block = p.blocks[first];
  if (block.entries == 0 || block.entries > 2) return first;
  for (int e = block.entry; e < block.entry + block.entries; ++e)
    if (p.column_size(p.entries[e].column) != PairRows::kHalf) return first;
  int end = first, rows = 0;
  while (end < static_cast<int>(p.blocks.size()) && equality_node_[end] < 0 &&
         (rows += p.blocks[end].size) <= PairRows::kMost && has_same_columns(p, block, p.blocks[end]))
    ++end;
  return end;
}

void PrimalSystem::assemble_laws(const NewtonMaps& maps) {
  constexpr int kWorthwhile = 3;  // blocks; fewer are quicker one by one
  const Problem& p = *problem_;
  const auto is_open = [&](int i) { return equality_node_[i] >= 0 || maps.zero[i] != 0; };
  PairRows pair;
  for (int i = 0; i < static_cast<int>(p.blocks.size());) {
    if (is_open(i)) {
      ++i;
      continue;
    }
    const int end = find_pair_end(i);
    if (end - i < kWorthwhile) {
      condense_block(i++, maps);
      continue;
    }
    const RowBlock& block = p.blocks[i];
    const auto place = [&](int e) { return pattern_.place(p.entries[block.entry + e].column); };
    const int early = block.entries == 2 && place(1) < place(0) ? 1 : 0;
    const int slot = block.entries == 2 ? slot_[slot_start_[i]] : -1;
    for (pair.count = 0; i < end; ++i)
      if (!is_open(i)) pair.add(p, p.blocks[i], early, maps.d.data() + maps.start[i]);
    condense_pair(block, early, slot, pair);
  }
}

void PrimalSystem::condense_block(int i, const NewtonMaps& maps) {
  const Problem& p = *problem_;
  const RowBlock& block = p.blocks[i];
  const bool symmetric = factor_.symmetric();
  const int m = block.size;
  const double* d = maps.d.data() + maps.start[i];
  int slot = slot_start_[i];
  double weighted[36];
  for (int e = 0; e < block.entries; ++e) {
    const int ce = p.entries[block.entry + e].column, ne = p.column_size(ce), place_e = pattern_.place(ce);
    const double* je = p.jacobian.data() + p.entries[block.entry + e].offset;
    rows::dispatch(m, ne, [&]<int M, int N>() {
      rows::set_weighted<M, N, false>(m, ne, d, je, weighted);
      rows::add_gram<M, N, N>(m, ne, ne, je, weighted, factor_.diagonal(place_e));
    });
    for (int f = 0; f < e; ++f, ++slot) {
      const int cf = p.entries[block.entry + f].column, nf = p.column_size(cf);
      const double* jf = p.jacobian.data() + p.entries[block.entry + f].offset;
      const bool e_later = place_e > pattern_.place(cf);
      const double *late = e_later ? je : jf, *early = e_later ? jf : je;
      const int nl = e_later ? ne : nf, nr = e_later ? nf : ne;
      const auto add = [&]<int M, int N>() {
        constexpr int kOther = N;  // both columns have the common size
        rows::set_weighted<M, N, false>(m, nr, d, early, weighted);
        rows::add_gram<M, kOther, N>(m, nl, nr, late, weighted, factor_.lower(slot_[slot]));
        if (symmetric) return;
        rows::set_weighted<M, N, true>(m, nr, d, early, weighted);
        rows::add_gram<M, kOther, N>(m, nl, nr, late, weighted, factor_.upper(slot_[slot]));
      };
      if (nl == nr)
        rows::dispatch(m, nr, add);
      else
        add.template operator()<rows::kAny, rows::kAny>();
    }
  }
}

void PrimalSystem::assemble_equalities(const NewtonMaps& maps) {
  const Problem& p = *problem_;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    if (equality_node_[i] < 0) continue;
    const RowBlock& block = p.blocks[i];
    const int m = block.size, own = pattern_.place(equality_node_[i]);
    double* diagonal = factor_.diagonal(own);
    for (int k = 0; k < m; ++k) diagonal[k * m + k] = -maps.weight[block.row + k];
    for (int e = 0; e < block.entries; ++e) {
      const int column = p.entries[block.entry + e].column, n = p.column_size(column);
      const double* j = p.jacobian.data() + p.entries[block.entry + e].offset;
      const int slot = slot_[slot_start_[i] + e];
      const bool row_later = own > pattern_.place(column);
      for (int half = 0; half < (factor_.symmetric() ? 1 : 2); ++half) {
        double* out = half == 0 ? factor_.lower(slot) : factor_.upper(slot);
        for (int r = 0; r < m; ++r)
          for (int k = 0; k < n; ++k) out[row_later ? k * m + r : r * n + k] = j[r * n + k];
      }
    }
  }
}

void PrimalSystem::solve(const NewtonMaps& maps, VecX* dx, VecX* du) {
  const Problem& p = *problem_;
  unknowns_.setZero();
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    if (equality_node_[i] >= 0) {
      for (int k = 0; k < block.size; ++k) unknowns_[equality_start_[i] + k] = maps.g[block.row + k];
      continue;
    }
    for (int e = block.entry; e < block.entry + block.entries; ++e) {
      const int column = p.entries[e].column, n = p.column_size(column);
      const double* j = p.jacobian.data() + p.entries[e].offset;
      rows::dispatch(block.size, n, [&]<int M, int N>() {
        rows::add_transposed<M, N>(block.size, n, j, maps.g.data() + block.row,
                                   unknowns_.data() + p.column_start[column]);
      });
    }
  }
  factor_.solve(unknowns_.data());
  if (du != nullptr) du->resize(p.rows());
  dx->resize(p.rows());
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    const bool equality = equality_node_[i] >= 0, held = !equality && !maps.zero[i];
    double* dx_i = dx->data() + block.row;
    for (int k = 0; k < block.size; ++k)
      dx_i[k] = equality ? -unknowns_[equality_start_[i] + k] : maps.g[block.row + k];
    if (!held && du == nullptr) continue;
    double own[6];
    double* du_i = du != nullptr ? du->data() + block.row : own;
    std::fill_n(du_i, block.size, 0.0);
    for (int e = block.entry; e < block.entry + block.entries; ++e) {
      const int column = p.entries[e].column, n = p.column_size(column);
      const double* j = p.jacobian.data() + p.entries[e].offset;
      rows::dispatch(block.size, n, [&]<int M, int N>() {
        rows::add_image<M, N>(block.size, n, j, unknowns_.data() + p.column_start[column], du_i);
      });
    }
    if (!held) continue;
    const double* d = maps.d.data() + maps.start[i];
    for (int r = 0; r < block.size; ++r)
      for (int k = 0; k < block.size; ++k) dx_i[r] -= d[r * block.size + k] * du_i[k];
  }
}

}  // namespace slipstick
