// RawProblem -> Problem, and answers back into the order of the file.
#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

#include "record/problem_raw.h"
#include "solve/condense.h"
#include "solve/mass_blocks.h"

namespace slipstick {

struct ProblemFile::Condensed {
  SparseMass mass;
  SparseMatrix jacobian;  ///< its columns are the rows of the file
  VecX load;
};

namespace {

constexpr int kLargestColumn = 6, kLargestBlock = 6;
constexpr double kDenseEnough = 2;  // blocks of J may have this many times the entries that are stored

/// A block of consecutive file rows under one law.
struct FileBlock {
  int first = 0, size = 0;
  LawKind law = LawKind::Equality;
  int contact = -1;
};

/// The unknowns of M by column: contiguous groups of one size where M and J allow, else M's connected parts.
struct Columns {
  std::vector<int> column_of, place;  ///< of each unknown
  std::vector<int> size;
  bool fits = true;  ///< no column is larger than a Problem allows
};

class Builder {
 public:
  Builder(RawProblem raw, const ProblemLimits& limits, ProblemFile* file)
      : raw_(std::move(raw)), limits_(limits), file_(*file) {}

  std::string build();

 private:
  void list_blocks();
  void list_default_blocks();
  bool set_order();
  Columns find_columns() const;
  bool suits(const std::vector<int>& part_of, int size) const;
  void group_equalities(const Columns& columns);
  void add_block(const FileBlock& block);
  bool add_columns(const Columns& columns);
  void add_entries(const Columns& columns);
  void add_coupling(std::vector<Eigen::Triplet<double>>* entries);
  std::string condense();
  void map_rows();
  void set_guess();

  RawProblem raw_;
  const ProblemLimits& limits_;
  ProblemFile& file_;
  std::vector<FileBlock> blocks_;
  std::vector<int> row_of_;  ///< file row -> problem row
};

void Builder::list_default_blocks() {
  if (raw_.form == ProblemForm::Plain) {
    int contact = 0;
    for (int r = 0; r < raw_.rows();) {
      int size = 1;
      const bool friction = raw_.law[r] == RowLaw::Normal;
      while (friction && r + size < raw_.rows() && raw_.law[r + size] == RowLaw::Tangent) ++size;
      blocks_.push_back(
          {r, size, friction ? LawKind::Friction : static_cast<LawKind>(raw_.law[r]), friction ? contact++ : -1});
      r += size;
    }
    return;
  }
  for (int k = 0; k < raw_.contacts; ++k) blocks_.push_back({k * raw_.dimension, raw_.dimension, LawKind::Friction, k});
  const int first = raw_.contact_rows();
  for (int k = 0; k < raw_.equalities; ++k) blocks_.push_back({first + k, 1, LawKind::Equality, -1});
  for (int k = 0; k < raw_.extras; ++k)
    blocks_.push_back({first + raw_.equalities + k, 1, static_cast<LawKind>(raw_.law[k]), -1});
}

/// The order in which a dump had its blocks: the same problem, bit for bit. False if it cuts through a contact.
bool Builder::set_order() {
  if (raw_.order.empty()) return true;
  std::vector<int> block_at(raw_.rows(), -1);
  for (std::size_t k = 0; k < blocks_.size(); ++k) block_at[blocks_[k].first] = static_cast<int>(k);
  std::vector<FileBlock> ordered;
  for (std::size_t k = 0; k < raw_.order.size(); ++k) {
    const int first = block_at[raw_.order[k]], size = raw_.order_size[k];
    if (first < 0) return false;
    FileBlock block = blocks_[first];
    if (block.law == LawKind::Friction && block.size != size) return false;
    for (int r = block.first; r < block.first + size; ++r) {
      const bool same = block.law == LawKind::Friction || (block_at[r] >= 0 && blocks_[block_at[r]].law == block.law);
      if (!same) return false;
    }
    block.size = size;
    ordered.push_back(block);
  }
  blocks_ = std::move(ordered);
  return true;
}

/// Can columns be groups of `size` consecutive unknowns without tearing M apart or filling J with zeros?
bool Builder::suits(const std::vector<int>& part_of, int size) const {
  const int n = static_cast<int>(raw_.matrix.rows());
  if (n % size != 0) return false;
  std::vector<int> group_of_part(n, -1);
  for (int i = 0; i < n; ++i) {
    int& group = group_of_part[part_of[i]];
    if (group >= 0 && group != i / size) return false;
    group = i / size;
  }
  std::int64_t filled = 0;
  std::vector<int> groups;
  for (int c = 0; c < raw_.jacobian.outerSize(); ++c) {
    groups.clear();
    for (SparseMatrix::InnerIterator it(raw_.jacobian, c); it; ++it)
      groups.push_back(static_cast<int>(it.row()) / size);
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());  // rows are sorted
    filled += static_cast<std::int64_t>(groups.size()) * size;
  }
  return static_cast<double>(filled) <= kDenseEnough * static_cast<double>(raw_.jacobian.nonZeros());
}

Columns Builder::find_columns() const {
  const int n = static_cast<int>(raw_.matrix.rows());
  Columns columns;
  int count = 0;
  const std::vector<int> part_of = find_parts(raw_.matrix, &count);
  std::vector<int> column_of = part_of;
  if (!raw_.columns.empty()) {
    int i = 0;
    for (std::size_t k = 0; k < raw_.columns.size(); ++k)
      for (int j = 0; j < raw_.columns[k]; ++j) column_of[i++] = static_cast<int>(k);
  } else {
    for (const int size : {6, 3, 2}) {
      if (!suits(part_of, size)) continue;
      for (int i = 0; i < n; ++i) column_of[i] = i / size;
      break;
    }
  }
  std::vector<int> column_of_part(count, -1);
  for (int i = 0; i < n; ++i) {  // M must not reach from one column to another
    int& column = column_of_part[part_of[i]];
    if (column >= 0 && column != column_of[i]) columns.fits = false;
    column = column_of[i];
  }
  columns.column_of = column_of;
  for (int i = 0; i < n; ++i) {
    const int k = column_of[i];
    if (k >= static_cast<int>(columns.size.size())) columns.size.resize(k + 1, 0);
    columns.place.push_back(columns.size[k]++);
  }
  for (const int size : columns.size) columns.fits = columns.fits && size <= kLargestColumn;
  return columns;
}

/// Equality rows in a row that touch the same columns share a block.
void Builder::group_equalities(const Columns& columns) {
  if (!raw_.order.empty()) return;
  const auto touched = [&](int row) {
    std::vector<int> list;
    for (SparseMatrix::InnerIterator it(raw_.jacobian, row); it; ++it) list.push_back(columns.column_of[it.row()]);
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  };
  std::vector<FileBlock> grouped;
  std::vector<int> last;
  for (const FileBlock& block : blocks_) {
    if (block.law != LawKind::Equality) {
      grouped.push_back(block);
      last.clear();
      continue;
    }
    std::vector<int> here = touched(block.first);
    const bool joins = !last.empty() && here == last && grouped.back().law == LawKind::Equality &&
                       grouped.back().size < kLargestBlock && grouped.back().first + grouped.back().size == block.first;
    if (joins) {
      ++grouped.back().size;
    } else {
      grouped.push_back(block);
    }
    last = std::move(here);
  }
  blocks_ = std::move(grouped);
}

void Builder::add_block(const FileBlock& from) {
  Problem& problem = file_.problem;
  RowBlock& block = problem.add_block(from.law, from.size);
  if (from.contact >= 0) {
    block.mu = raw_.mu[from.contact];
    if (!raw_.friction.empty()) block.friction = static_cast<FrictionModel>(raw_.friction[from.contact]);
    if (!raw_.facets.empty()) block.facets = raw_.facets[from.contact];
  }
  if (!raw_.mode.empty()) block.mode = static_cast<SolveMode>(raw_.mode[from.first]);
  const int laws_from = raw_.form == ProblemForm::Plain ? 0 : raw_.contact_rows() + raw_.equalities;
  for (int k = 0; k < from.size; ++k) {
    const int row = block.row + k, file_row = from.first + k;
    row_of_[file_row] = row;
    problem.c[row] = raw_.offset[file_row];
    if (!raw_.compliance.empty()) problem.compliance[row] = raw_.compliance[file_row];
    if (from.law != LawKind::Box) continue;
    problem.lower[row] = raw_.lower[file_row - laws_from];
    problem.upper[row] = raw_.upper[file_row - laws_from];
  }
}

bool Builder::add_columns(const Columns& columns) {
  Problem& problem = file_.problem;
  for (const int size : columns.size) problem.add_column(size);
  problem.symmetric = raw_.symmetric;
  problem.place = raw_.place;
  const int n = static_cast<int>(raw_.matrix.rows());
  file_.unknowns.resize(n);
  for (int i = 0; i < n; ++i) {
    const int k = columns.column_of[i];
    file_.unknowns[i] = problem.column_start[k] + columns.place[i];
    problem.b[file_.unknowns[i]] = raw_.load[i];
  }
  for (int c = 0; c < n; ++c)
    for (SparseMatrix::InnerIterator it(raw_.matrix, c); it; ++it) {
      if (it.value() == 0) continue;
      const int k = columns.column_of[c], size = columns.size[k];
      problem.mass[problem.mass_start[k] + columns.place[it.row()] * size + columns.place[c]] = it.value();
    }
  for (int k = 0; k < problem.columns(); ++k) {
    const MatX block = problem.mass_block(k);
    if (!(Eigen::FullPivLU<MatX>(block).isInvertible())) return false;
  }
  return true;
}

void Builder::add_entries(const Columns& columns) {
  Problem& problem = file_.problem;
  std::vector<int> touched;
  for (const FileBlock& block : blocks_) {
    add_block(block);
    touched.clear();
    for (int k = 0; k < block.size; ++k)
      for (SparseMatrix::InnerIterator it(raw_.jacobian, block.first + k); it; ++it)
        touched.push_back(columns.column_of[it.row()]);
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const int column : touched) {
      BlockMap j = problem.add_entry(column);
      for (int k = 0; k < block.size; ++k)
        for (SparseMatrix::InnerIterator it(raw_.jacobian, block.first + k); it; ++it)
          if (columns.column_of[it.row()] == column) j(k, columns.place[it.row()]) = it.value();
    }
  }
}

/// The square matrix over file rows becomes the coupling; compliance goes onto its diagonal.
void Builder::add_coupling(std::vector<Eigen::Triplet<double>>* entries) {
  Problem& problem = file_.problem;
  for (Eigen::Triplet<double>& e : *entries) e = {row_of_[e.row()], row_of_[e.col()], e.value()};
  for (int r = 0; r < problem.rows(); ++r) {
    if (problem.compliance[r] != 0) entries->emplace_back(r, r, problem.compliance[r]);
    problem.compliance[r] = 0;
  }
  Eigen::SparseMatrix<double, Eigen::RowMajor, int> rows(problem.rows(), problem.rows());
  rows.setFromTriplets(entries->begin(), entries->end());
  problem.coupling.start.assign(rows.outerIndexPtr(), rows.outerIndexPtr() + problem.rows() + 1);
  problem.coupling.column.assign(rows.innerIndexPtr(), rows.innerIndexPtr() + rows.nonZeros());
  problem.coupling.value.assign(rows.valuePtr(), rows.valuePtr() + rows.nonZeros());
}

std::string Builder::condense() {
  const auto start = std::chrono::steady_clock::now();
  auto condensed = std::make_shared<ProblemFile::Condensed>();
  if (!condensed->mass.factor(raw_.matrix, raw_.symmetric)) return "'/fclib_global/M' is singular";
  condensed->load = Eigen::Map<const VecX>(raw_.load.data(), static_cast<Eigen::Index>(raw_.load.size()));
  const VecX free = raw_.jacobian.transpose() * condensed->mass.solve(condensed->load);
  for (int r = 0; r < raw_.rows(); ++r) raw_.offset[r] += free[r];
  std::vector<Eigen::Triplet<double>> entries;
  if (!condensed->mass.condense(raw_.jacobian, limits_.max_nonzeros, &entries))
    return "the condensed matrix H^T M^-1 H has more than " + std::to_string(limits_.max_nonzeros) + " entries";
  for (const FileBlock& block : blocks_) add_block(block);
  add_coupling(&entries);
  condensed->jacobian = std::move(raw_.jacobian);
  file_.mass = std::move(condensed);
  file_.condensed = true;
  file_.condense_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {};
}

void Builder::map_rows() {
  const int contact_rows = raw_.form == ProblemForm::Plain ? raw_.rows() : raw_.contact_rows();
  for (int r = 0; r < raw_.rows(); ++r) {
    const bool equality = r >= contact_rows && r < contact_rows + raw_.equalities;
    (equality ? file_.equalities : file_.rows).push_back(row_of_[r]);
  }
}

void Builder::set_guess() {
  if (raw_.guess_reaction.empty()) return;
  file_.guess.lambda.setZero(file_.problem.rows());
  for (std::size_t r = 0; r < raw_.guess_reaction.size(); ++r) file_.guess.lambda[row_of_[r]] = raw_.guess_reaction[r];
}

std::string Builder::build() {
  file_.form = raw_.form;
  file_.dimension = raw_.dimension;
  file_.contacts = raw_.contacts;
  row_of_.assign(raw_.rows(), -1);
  list_default_blocks();
  if (!set_order()) return "'/slipstick/order' does not fit the laws of the rows";
  if (raw_.form == ProblemForm::Global) {
    const Columns columns = find_columns();
    if (columns.fits) {
      if (!add_columns(columns)) return "'/fclib_global/M' is singular";
      group_equalities(columns);
      add_entries(columns);
    } else if (std::string fault = condense(); !fault.empty()) {
      return fault;
    }
  } else {
    for (const FileBlock& block : blocks_) add_block(block);
    std::vector<Eigen::Triplet<double>> entries;
    for (int c = 0; c < raw_.matrix.outerSize(); ++c)
      for (SparseMatrix::InnerIterator it(raw_.matrix, c); it; ++it)
        entries.emplace_back(static_cast<int>(it.row()), c, it.value());
    add_coupling(&entries);
  }
  map_rows();
  set_guess();
  return {};
}

std::vector<double> pick(const VecX& values, const std::vector<int>& rows) {
  std::vector<double> picked;
  for (const int r : rows) picked.push_back(r < values.size() ? values[r] : 0.0);
  return picked;
}

}  // namespace

Result<ProblemFile> build_problem(const std::string& path, RawProblem raw, const ProblemLimits& limits) {
  ProblemFile file;
  file.path = path;
  const std::string fault = Builder(std::move(raw), limits, &file).build();
  if (!fault.empty()) return Fault{{path, 0, 0}, fault};
  return file;
}

ProblemAnswer make_answer(const ProblemFile& file, const Solution& solution) {
  ProblemAnswer answer;
  // u follows from r alone, as it does for the judge: what a solver says of it is not used.
  MassBlocks masses;
  masses.update(file.problem);
  VecX v, w;
  update_velocity(file.problem, masses, solution.lambda, &v);
  update_row_velocity(file.problem, v, solution.lambda, &w);
  answer.reaction = pick(solution.lambda, file.rows);
  answer.velocity = pick(w, file.rows);
  answer.multipliers = pick(solution.lambda, file.equalities);
  if (file.condensed) {
    VecX load = file.mass->load;
    VecX impulse(file.mass->jacobian.cols());
    const std::size_t contact_rows = static_cast<std::size_t>(file.contacts) * file.dimension;
    for (std::size_t r = 0; r < file.rows.size(); ++r)
      impulse[r < contact_rows ? r : r + file.equalities.size()] = answer.reaction[r];
    for (std::size_t r = 0; r < file.equalities.size(); ++r) impulse[contact_rows + r] = answer.multipliers[r];
    load += file.mass->jacobian * impulse;
    v = file.mass->mass.solve(load);
    answer.unknowns.assign(v.data(), v.data() + v.size());
  } else {
    answer.unknowns = pick(v, file.unknowns);
  }
  return answer;
}

}  // namespace slipstick
