// Problem -> FCLib's global form (or local, or plain) with what FCLib cannot say under /slipstick; answers too.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "record/hdf5_file.h"
#include "record/problem_raw.h"

namespace slipstick {

namespace {

void add_int(Hdf5File* file, const std::string& path, std::int32_t value) {
  file->add_table<std::int32_t>(path, {1}, std::span<const std::int32_t>(&value, 1));
}
void add_ints(Hdf5File* file, const std::string& path, const std::vector<std::int32_t>& values) {
  file->add_table<std::int32_t>(path, {values.size()}, values);
}
void add_numbers(Hdf5File* file, const std::string& path, const std::vector<double>& values) {
  file->add_table<double>(path, {values.size()}, values);
}

/// As compressed columns (nz = -1).
void add_matrix(Hdf5File* file, const std::string& path, SparseMatrix matrix) {
  matrix.makeCompressed();
  file->add_group(path);
  add_int(file, path + "/m", static_cast<std::int32_t>(matrix.rows()));
  add_int(file, path + "/n", static_cast<std::int32_t>(matrix.cols()));
  add_int(file, path + "/nz", -1);
  add_int(file, path + "/nzmax", static_cast<std::int32_t>(matrix.nonZeros()));
  add_ints(file, path + "/p", {matrix.outerIndexPtr(), matrix.outerIndexPtr() + matrix.cols() + 1});
  add_ints(file, path + "/i", {matrix.innerIndexPtr(), matrix.innerIndexPtr() + matrix.nonZeros()});
  add_numbers(file, path + "/x", {matrix.valuePtr(), matrix.valuePtr() + matrix.nonZeros()});
}

/// Which of FCLib's places a block's rows have. A contact of the file has `dimension` rows.
enum class Place { Contact, Equality, Extra };

class ProblemWriter {
 public:
  ProblemWriter(const Problem& problem, const std::string& title, Hdf5File* file)
      : problem_(problem), title_(title), file_(file) {
    for (const RowBlock& block : problem.blocks)
      if (block.law == LawKind::Friction) dimension_ = std::max(dimension_, block.size);
    if (dimension_ == 0) dimension_ = 3;
  }

  void write_global();
  void write_local();
  void write_plain();
  bool is_local() const;
  void write_guess(const Solution& guess);

 private:
  Place place_of(const RowBlock& block) const {
    if (block.law == LawKind::Friction) return Place::Contact;
    return block.law == LawKind::Equality ? Place::Equality : Place::Extra;
  }
  void sort_rows();
  void write_info(const std::string& group);
  void write_models();
  void write_modes();
  SparseMatrix jacobian_of(const std::vector<int>& blocks, int rows) const;
  SparseMatrix coupling() const;
  std::vector<double> pick(const std::vector<double>& values, Place place) const;

  const Problem& problem_;
  const std::string& title_;
  Hdf5File* file_;
  int dimension_ = 0;
  std::vector<int> blocks_[3];
  int rows_[3] = {0, 0, 0};
  std::vector<int> file_row_;  ///< of each block's first row
};

void ProblemWriter::sort_rows() {
  for (std::size_t i = 0; i < problem_.blocks.size(); ++i) {
    const int place = static_cast<int>(place_of(problem_.blocks[i]));
    blocks_[place].push_back(static_cast<int>(i));
    rows_[place] += problem_.blocks[i].size;
  }
  file_row_.resize(problem_.blocks.size());
  int row = 0;
  for (const auto& list : blocks_)
    for (const int i : list) {
      file_row_[i] = row;
      row += problem_.blocks[i].size;
    }
}

void ProblemWriter::write_info(const std::string& group) {
  file_->add_group(group);
  add_int(file_, group + "/spacedim", dimension_);
  file_->add_group(group + "/info");
  file_->add_attribute(group + "/info", "title", title_);
  file_->add_group(group + "/vectors");
}

std::vector<double> ProblemWriter::pick(const std::vector<double>& values, Place place) const {
  std::vector<double> picked;
  for (const int i : blocks_[static_cast<int>(place)]) {
    const RowBlock& block = problem_.blocks[i];
    picked.insert(picked.end(), values.begin() + block.row, values.begin() + block.row + block.size);
  }
  return picked;
}

/// Unknowns x rows. A block's own zeros are kept: a reader then finds the same columns.
SparseMatrix ProblemWriter::jacobian_of(const std::vector<int>& blocks, int rows) const {
  std::vector<Eigen::Triplet<double>> entries;
  int row = 0;
  for (const int i : blocks) {
    const RowBlock& block = problem_.blocks[i];
    for (int e = block.entry; e < block.entry + block.entries; ++e) {
      const JacobianEntry& entry = problem_.entries[e];
      const auto j = problem_.jacobian_block(block, entry);
      for (int r = 0; r < j.rows(); ++r)
        for (int c = 0; c < j.cols(); ++c)
          entries.emplace_back(problem_.column_start[entry.column] + c, row + r, j(r, c));
    }
    row += block.size;
  }
  SparseMatrix matrix(problem_.unknowns(), rows);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

SparseMatrix ProblemWriter::coupling() const {
  std::vector<Eigen::Triplet<double>> entries;
  const SparseRows& w = problem_.coupling;
  for (int r = 0; r < problem_.rows(); ++r) {
    for (int k = w.start[r]; k < w.start[r + 1]; ++k) entries.emplace_back(r, w.column[k], w.value[k]);
    if (problem_.compliance[r] != 0) entries.emplace_back(r, r, problem_.compliance[r]);
  }
  SparseMatrix matrix(problem_.rows(), problem_.rows());
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

/// What `split` does with each row, unless all have the mode that they have without it.
void ProblemWriter::write_modes() {
  std::vector<std::int32_t> mode(problem_.rows());
  bool usual = true;
  for (std::size_t i = 0; i < problem_.blocks.size(); ++i) {
    const RowBlock& block = problem_.blocks[i];
    const int first = file_row_.empty() ? block.row : file_row_[i];
    std::fill_n(mode.begin() + first, block.size, static_cast<std::int32_t>(block.mode));
    usual = usual && block.mode == (block.law == LawKind::Equality ? SolveMode::Direct : SolveMode::Split);
  }
  if (!usual) add_ints(file_, "/slipstick/mode", mode);
}

/// Friction models, in the order of the contacts; nothing if all are cones.
void ProblemWriter::write_models() {
  write_modes();
  std::vector<std::int32_t> friction, facets;
  bool cones = true;
  for (const RowBlock& block : problem_.blocks) {
    if (block.law != LawKind::Friction) continue;
    friction.push_back(static_cast<std::int32_t>(block.friction));
    facets.push_back(block.facets);
    cones = cones && block.friction == FrictionModel::Cone;
  }
  if (cones) return;
  add_ints(file_, "/slipstick/friction", friction);
  add_ints(file_, "/slipstick/facets", facets);
}

void ProblemWriter::write_global() {
  sort_rows();
  const std::string group = "/fclib_global";
  write_info(group);
  std::vector<Eigen::Triplet<double>> mass;
  for (int k = 0; k < problem_.columns(); ++k) {
    const auto a = problem_.mass_block(k);
    for (int r = 0; r < a.rows(); ++r)
      for (int c = 0; c < a.cols(); ++c)
        if (a(r, c) != 0) mass.emplace_back(problem_.column_start[k] + r, problem_.column_start[k] + c, a(r, c));
  }
  SparseMatrix m(problem_.unknowns(), problem_.unknowns());
  m.setFromTriplets(mass.begin(), mass.end());
  add_matrix(file_, group + "/M", std::move(m));
  add_matrix(file_, group + "/H", jacobian_of(blocks_[0], rows_[0]));
  add_numbers(file_, group + "/vectors/f", problem_.b);
  add_numbers(file_, group + "/vectors/w", pick(problem_.c, Place::Contact));
  std::vector<double> mu;
  for (const int i : blocks_[0]) mu.push_back(problem_.blocks[i].mu);
  add_numbers(file_, group + "/vectors/mu", mu);
  if (rows_[1] > 0) {
    add_matrix(file_, group + "/G", jacobian_of(blocks_[1], rows_[1]));
    add_numbers(file_, group + "/vectors/b", pick(problem_.c, Place::Equality));
  }

  file_->add_group("/slipstick");
  if (rows_[2] > 0) {
    add_matrix(file_, "/slipstick/H", jacobian_of(blocks_[2], rows_[2]));
    add_numbers(file_, "/slipstick/w", pick(problem_.c, Place::Extra));
    std::vector<std::int32_t> law;
    for (const int i : blocks_[2])
      law.insert(law.end(), problem_.blocks[i].size, static_cast<std::int32_t>(problem_.blocks[i].law));
    add_ints(file_, "/slipstick/law", law);
    add_numbers(file_, "/slipstick/lower", pick(problem_.lower, Place::Extra));
    add_numbers(file_, "/slipstick/upper", pick(problem_.upper, Place::Extra));
  }
  std::vector<double> compliance;
  for (const Place place : {Place::Contact, Place::Equality, Place::Extra})
    for (const double x : pick(problem_.compliance, place)) compliance.push_back(x);
  add_numbers(file_, "/slipstick/compliance", compliance);
  std::vector<std::int32_t> columns, order;
  for (int k = 0; k < problem_.columns(); ++k) columns.push_back(problem_.column_size(k));
  for (std::size_t i = 0; i < problem_.blocks.size(); ++i) {
    order.push_back(file_row_[i]);
    order.push_back(problem_.blocks[i].size);
  }
  add_ints(file_, "/slipstick/columns", columns);
  if (!problem_.place.empty()) add_numbers(file_, "/slipstick/place", problem_.place);
  file_->add_table<std::int32_t>("/slipstick/order", {problem_.blocks.size(), 2}, order);
  write_models();
}

/// Only contacts, all of one size.
bool ProblemWriter::is_local() const {
  for (const RowBlock& block : problem_.blocks)
    if (block.law != LawKind::Friction || block.size != dimension_) return false;
  return !problem_.blocks.empty();
}

void ProblemWriter::write_local() {
  sort_rows();
  const std::string group = "/fclib_local";
  write_info(group);
  add_matrix(file_, group + "/W", coupling());
  add_numbers(file_, group + "/vectors/q", problem_.c);
  std::vector<double> mu;
  for (const RowBlock& block : problem_.blocks) mu.push_back(block.mu);
  add_numbers(file_, group + "/vectors/mu", mu);
  file_->add_group("/slipstick");
  write_models();
}

void ProblemWriter::write_plain() {
  file_->add_group("/slipstick");
  file_->add_attribute("/slipstick", "title", title_);
  add_matrix(file_, "/slipstick/M", coupling());
  add_numbers(file_, "/slipstick/q", problem_.c);
  std::vector<std::int32_t> law;
  std::vector<double> mu;
  for (const RowBlock& block : problem_.blocks) {
    for (int k = 0; k < block.size; ++k)
      law.push_back(static_cast<std::int32_t>(block.law != LawKind::Friction ? static_cast<RowLaw>(block.law)
                                              : k == 0                       ? RowLaw::Normal
                                                                             : RowLaw::Tangent));
    if (block.law == LawKind::Friction) mu.push_back(block.mu);
  }
  add_ints(file_, "/slipstick/law", law);
  add_numbers(file_, "/slipstick/lower", problem_.lower);
  add_numbers(file_, "/slipstick/upper", problem_.upper);
  if (!mu.empty()) add_numbers(file_, "/slipstick/mu", mu);
  write_models();
}

void ProblemWriter::write_guess(const Solution& guess) {
  if (guess.lambda.size() != problem_.rows()) return;
  const bool plain = problem_.columns() == 0 && !is_local();
  std::vector<double> r;
  for (const RowBlock& block : problem_.blocks)
    for (int k = 0; k < block.size && (plain || block.law == LawKind::Friction); ++k)
      r.push_back(guess.lambda[block.row + k]);
  file_->add_group("/guesses");
  add_int(file_, "/guesses/number_of_guesses", 1);
  file_->add_group("/guesses/1");
  add_numbers(file_, "/guesses/1/r", r);
  add_numbers(file_, "/guesses/1/u", std::vector<double>(r.size(), 0.0));
  if (problem_.columns() == 0 || guess.v.size() != problem_.unknowns()) return;
  add_numbers(file_, "/guesses/1/v", {guess.v.data(), guess.v.data() + guess.v.size()});
}

Faults finish(Hdf5File* file) {
  if (file->publish() && file->close()) return {};
  return {Fault{{}, file->error()}};
}

}  // namespace

Faults save_problem(const std::string& path, const Problem& problem, const std::string& title, const Solution* guess) {
  if (!problem.coupling.empty() && problem.columns() > 0)
    return {Fault{{path, 0, 0}, "a problem with columns and a coupling has no form in a file"}};
  int contact_size = 0;
  for (const RowBlock& block : problem.blocks) {
    if (block.law != LawKind::Friction) continue;
    if (contact_size != 0 && contact_size != block.size && problem.coupling.empty())
      return {Fault{{path, 0, 0}, "contacts of two and of three rows in one problem have no form in a file"}};
    contact_size = block.size;
  }
  Result<std::unique_ptr<Hdf5File>> file = Hdf5File::create(path);
  if (!file) return file.faults();
  ProblemWriter writer(problem, title, file.value().get());
  if (problem.coupling.empty()) {
    writer.write_global();
  } else if (writer.is_local()) {
    writer.write_local();
  } else {
    writer.write_plain();
  }
  if (guess) writer.write_guess(*guess);
  return finish(file.value().get());
}

Faults save_answer(const std::string& path, const ProblemAnswer& answer, const AnswerNote& note) {
  Result<std::unique_ptr<Hdf5File>> file = Hdf5File::create(path);
  if (!file) return file.faults();
  Hdf5File* f = file.value().get();
  f->add_group("/solution");
  add_numbers(f, "/solution/r", answer.reaction);
  add_numbers(f, "/solution/u", answer.velocity);
  if (!answer.unknowns.empty()) add_numbers(f, "/solution/v", answer.unknowns);
  if (!answer.multipliers.empty()) add_numbers(f, "/solution/l", answer.multipliers);
  f->add_attribute("/solution", "problem", note.problem);
  f->add_attribute("/solution", "solver", note.solver);
  f->add_attribute("/solution", "status", note.status);
  f->add_attribute("/solution", "residual", note.residual);
  return finish(f);
}

}  // namespace slipstick
