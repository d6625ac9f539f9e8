// HDF5 -> RawProblem. Every size is checked before memory is asked for, every index before it is used, every number
// before it is believed; the first thing that is wrong ends the reading with one line.
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "base/as_quoted.h"
#include "base/friction_bound.h"
#include "record/problem_raw.h"

namespace slipstick {

namespace {

enum class Values { Finite, Bounds };  // bounds may be infinite

std::string as_quoted_item(const std::string& path, std::size_t index) {
  return as_quoted(path + "[" + std::to_string(index) + "]");
}

std::string size_text(std::int64_t rows, std::int64_t columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

class RawReader {
 public:
  RawReader(const Hdf5Reader& file, const ProblemLimits& limits) : file_(file), limits_(limits) {}

  bool read(RawProblem* raw);
  const std::string& fault() const { return fault_; }

 private:
  bool fail(const std::string& message) {
    if (fault_.empty()) fault_ = message;
    return false;
  }
  bool has(const std::string& path) const { return file_.has(path); }
  std::optional<std::size_t> count(const std::string& path, std::int64_t limit);
  bool read_integers(const std::string& path, std::int64_t limit, std::vector<std::int64_t>* values);
  bool read_small(const std::string& path, std::size_t size, int lowest, int highest, std::vector<int>* values);
  bool read_scalar(const std::string& path, std::int64_t lowest, std::int64_t highest, std::int64_t* value);
  bool read_vector(const std::string& path, std::size_t size, Values kind, std::vector<double>* values);
  bool read_any_vector(const std::string& path, Values kind, std::vector<double>* values);
  bool read_matrix(const std::string& path, SparseMatrix* matrix);
  bool read_dense(const std::string& path, SparseMatrix* matrix);
  bool read_sparse(const std::string& path, SparseMatrix* matrix);
  bool check_compressed(const std::string& path, const std::vector<std::int64_t>& start, std::int64_t slices,
                        std::int64_t entries);

  bool read_local(RawProblem* raw);
  bool read_global(RawProblem* raw);
  bool read_plain(RawProblem* raw);
  bool check_friction(const std::string& path, const std::vector<double>& mu);
  bool read_contacts(const std::string& group, std::int64_t rows, RawProblem* raw);
  bool read_extra_rows(RawProblem* raw);
  bool read_laws(std::size_t rows, RowLaw highest, RawProblem* raw);
  bool read_models(RawProblem* raw);
  bool read_guess(RawProblem* raw);

  const Hdf5Reader& file_;
  const ProblemLimits& limits_;
  std::string fault_;
};

std::optional<std::size_t> RawReader::count(const std::string& path, std::int64_t limit) {
  const auto shape = file_.shape(path);
  if (!shape) {
    fail(as_quoted(path) + " is missing, is not a dataset, or claims more than the file can hold");
    return std::nullopt;
  }
  double product = 1;
  for (const std::size_t n : *shape) product *= static_cast<double>(n);
  if (product > static_cast<double>(limit)) {
    fail(as_quoted(path) + " has more than " + std::to_string(limit) + " values");
    return std::nullopt;
  }
  return static_cast<std::size_t>(product);
}

bool RawReader::read_integers(const std::string& path, std::int64_t limit, std::vector<std::int64_t>* values) {
  if (!count(path, limit)) return false;
  auto read = file_.read_integers(path);
  if (!read) return fail(as_quoted(path) + " cannot be read as whole numbers");
  *values = std::move(*read);
  return true;
}

bool RawReader::read_scalar(const std::string& path, std::int64_t lowest, std::int64_t highest, std::int64_t* value) {
  std::vector<std::int64_t> values;
  if (!read_integers(path, 1, &values)) return false;
  if (values.empty()) return fail(as_quoted(path) + " is empty");
  *value = values[0];
  if (*value >= lowest && *value <= highest) return true;
  return fail(as_quoted(path) + " is " + std::to_string(*value) + "; must be from " + std::to_string(lowest) + " to " +
              std::to_string(highest));
}

/// `size` whole numbers within bounds.
bool RawReader::read_small(const std::string& path, std::size_t size, int lowest, int highest,
                           std::vector<int>* values) {
  std::vector<std::int64_t> read;
  if (!read_integers(path, limits_.max_rows, &read)) return false;
  if (read.size() != size)
    return fail(as_quoted(path) + " has " + std::to_string(read.size()) + " values; must have " + std::to_string(size));
  for (std::size_t k = 0; k < size; ++k)
    if (read[k] < lowest || read[k] > highest)
      return fail(as_quoted_item(path, k) + " is " + std::to_string(read[k]) + "; must be from " +
                  std::to_string(lowest) + " to " + std::to_string(highest));
  values->assign(read.begin(), read.end());
  return true;
}

bool RawReader::read_any_vector(const std::string& path, Values kind, std::vector<double>* values) {
  if (!count(path, limits_.max_nonzeros)) return false;
  auto read = file_.read_numbers(path);
  if (!read) return fail(as_quoted(path) + " cannot be read as numbers");
  *values = std::move(*read);
  for (std::size_t k = 0; k < values->size(); ++k) {
    const double x = (*values)[k];
    if (std::isfinite(x) || (kind == Values::Bounds && !std::isnan(x))) continue;
    return fail(as_quoted_item(path, k) + " is not a finite number");
  }
  return true;
}

bool RawReader::read_vector(const std::string& path, std::size_t size, Values kind, std::vector<double>* values) {
  if (!read_any_vector(path, kind, values)) return false;
  if (values->size() == size) return true;
  return fail(as_quoted(path) + " has " + std::to_string(values->size()) + " values; must have " +
              std::to_string(size));
}

/// A group {m, n, nz, nzmax, p, i, x}, or a dense table.
bool RawReader::read_matrix(const std::string& path, SparseMatrix* matrix) {
  if (!has(path)) return fail(as_quoted(path) + " is missing");
  return file_.shape(path) ? read_dense(path, matrix) : read_sparse(path, matrix);
}

bool RawReader::read_dense(const std::string& path, SparseMatrix* matrix) {
  const auto shape = file_.shape(path);
  if (shape->size() != 2) return fail(as_quoted(path) + " must be a group or a table with two directions");
  std::vector<double> values;
  if (!read_any_vector(path, Values::Finite, &values)) return false;
  if (static_cast<std::int64_t>(std::max((*shape)[0], (*shape)[1])) > limits_.max_rows)
    return fail(as_quoted(path) + " has more than " + std::to_string(limits_.max_rows) + " rows or columns");
  const int rows = static_cast<int>((*shape)[0]), columns = static_cast<int>((*shape)[1]);
  std::vector<Eigen::Triplet<double>> entries;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      if (const double x = values[static_cast<std::size_t>(r) * columns + c]; x != 0) entries.emplace_back(r, c, x);
  matrix->resize(rows, columns);
  matrix->setFromTriplets(entries.begin(), entries.end());
  return true;
}

bool RawReader::check_compressed(const std::string& path, const std::vector<std::int64_t>& start, std::int64_t slices,
                                 std::int64_t entries) {
  if (static_cast<std::int64_t>(start.size()) < slices + 1)
    return fail(as_quoted(path + "/p") + " has " + std::to_string(start.size()) + " values; must have " +
                std::to_string(slices + 1));
  bool good = start[0] == 0 && start[slices] <= entries;
  for (std::int64_t k = 0; good && k < slices; ++k) good = start[k] <= start[k + 1];
  return good || fail(as_quoted(path + "/p") + " must grow from 0 to at most the number of values in x");
}

bool RawReader::read_sparse(const std::string& path, SparseMatrix* matrix) {
  std::int64_t rows = 0, columns = 0, kind = 0;
  if (!read_scalar(path + "/m", 0, limits_.max_rows, &rows) ||
      !read_scalar(path + "/n", 0, limits_.max_rows, &columns) ||
      !read_scalar(path + "/nz", -2, limits_.max_nonzeros, &kind))
    return false;
  std::vector<std::int64_t> start, index;
  std::vector<double> values;
  if (!read_integers(path + "/p", limits_.max_nonzeros, &start) ||
      !read_integers(path + "/i", limits_.max_nonzeros, &index) ||
      !read_any_vector(path + "/x", Values::Finite, &values))
    return false;
  if (index.size() != values.size())
    return fail(as_quoted(path + "/i") + " and " + as_quoted(path + "/x") + " differ in length");
  const std::int64_t entries = static_cast<std::int64_t>(values.size());
  std::vector<Eigen::Triplet<double>> list;
  const auto add = [&](std::int64_t r, std::int64_t c, std::int64_t k) {
    if (r < 0 || r >= rows || c < 0 || c >= columns)
      return fail(as_quoted(path) + ": entry " + std::to_string(k) + " lies at (" + std::to_string(r) + ", " +
                  std::to_string(c) + "), outside of " + size_text(rows, columns));
    list.emplace_back(static_cast<int>(r), static_cast<int>(c), values[k]);
    return true;
  };
  if (kind >= 0) {
    if (kind > entries || static_cast<std::int64_t>(start.size()) < kind)
      return fail(as_quoted(path) + " has fewer entries than its nz = " + std::to_string(kind));
    for (std::int64_t k = 0; k < kind; ++k)
      if (!add(index[k], start[k], k)) return false;
  } else {
    const std::int64_t slices = kind == -2 ? rows : columns;
    if (!check_compressed(path, start, slices, entries)) return false;
    for (std::int64_t s = 0; s < slices; ++s)
      for (std::int64_t k = start[s]; k < start[s + 1]; ++k)
        if (!(kind == -2 ? add(s, index[k], k) : add(index[k], s, k))) return false;
  }
  matrix->resize(static_cast<int>(rows), static_cast<int>(columns));
  matrix->setFromTriplets(list.begin(), list.end());
  return true;
}

bool RawReader::check_friction(const std::string& path, const std::vector<double>& mu) {
  for (std::size_t k = 0; k < mu.size(); ++k) {
    if (mu[k] < 0) return fail(as_quoted_item(path, k) + " is negative");
    if (mu[k] > kMaxFriction)
      return fail(as_quoted_item(path, k) + " is above " + std::to_string(static_cast<int>(kMaxFriction)) +
                  ", the largest coefficient that is taken");
  }
  return true;
}

/// spacedim and mu of `rows` contact rows.
bool RawReader::read_contacts(const std::string& group, std::int64_t rows, RawProblem* raw) {
  std::int64_t dimension = 0;
  if (!read_scalar(group + "/spacedim", 2, 3, &dimension)) return false;
  raw->dimension = static_cast<int>(dimension);
  if (rows % dimension != 0)
    return fail(as_quoted(group) + " has " + std::to_string(rows) +
                " contact rows, no multiple of spacedim = " + std::to_string(dimension));
  raw->contacts = static_cast<int>(rows / dimension);
  if (!read_vector(group + "/vectors/mu", raw->contacts, Values::Finite, &raw->mu)) return false;
  return check_friction(group + "/vectors/mu", raw->mu);
}

bool RawReader::read_local(RawProblem* raw) {
  const std::string group = "/fclib_local";
  raw->form = ProblemForm::Local;
  SparseMatrix w;
  if (!read_matrix(group + "/W", &w)) return false;
  if (w.rows() != w.cols())
    return fail(as_quoted(group + "/W") + " is " + size_text(w.rows(), w.cols()) + "; must be square");
  if (!read_contacts(group, w.rows(), raw)) return false;
  if (!read_vector(group + "/vectors/q", w.rows(), Values::Finite, &raw->offset)) return false;
  raw->matrix.swap(w);
  if (!has(group + "/V") && !has(group + "/R")) return true;

  // [u; 0] = [W V; V^T R] [r; l] + [q; s]
  SparseMatrix v, r;
  std::vector<double> s;
  if (!read_matrix(group + "/V", &v)) return false;
  const int n = static_cast<int>(raw->matrix.rows()), m = static_cast<int>(v.cols());
  r.resize(m, m);
  if (has(group + "/R") && !read_matrix(group + "/R", &r)) return false;
  if (v.rows() != n || r.rows() != m || r.cols() != m) return fail(as_quoted(group + "/V") + " and R do not fit W");
  if (!read_vector(group + "/vectors/s", m, Values::Finite, &s)) return false;
  raw->equalities = m;
  raw->offset.insert(raw->offset.end(), s.begin(), s.end());
  std::vector<Eigen::Triplet<double>> entries;
  const auto add = [&entries](const SparseMatrix& part, int row, int column, bool transposed) {
    for (int c = 0; c < part.outerSize(); ++c)
      for (SparseMatrix::InnerIterator it(part, c); it; ++it)
        entries.emplace_back(row + static_cast<int>(transposed ? it.col() : it.row()),
                             column + static_cast<int>(transposed ? it.row() : it.col()), it.value());
  };
  add(raw->matrix, 0, 0, false);
  add(v, 0, n, false);
  add(v, n, 0, true);
  add(r, n, n, false);
  raw->matrix.resize(n + m, n + m);
  raw->matrix.setFromTriplets(entries.begin(), entries.end());
  return true;
}

/// [a b]
SparseMatrix beside(const SparseMatrix& a, const SparseMatrix& b) {
  SparseMatrix both(a.rows(), a.cols() + b.cols());
  both.reserve(a.nonZeros() + b.nonZeros());
  for (const SparseMatrix* part : {&a, &b}) {
    const int first = part == &a ? 0 : static_cast<int>(a.cols());
    for (int c = 0; c < part->outerSize(); ++c) {
      both.startVec(first + c);
      for (SparseMatrix::InnerIterator it(*part, c); it; ++it)
        both.insertBack(static_cast<int>(it.row()), first + c) = it.value();
    }
  }
  both.finalize();
  return both;
}

bool RawReader::read_global(RawProblem* raw) {
  const std::string group = "/fclib_global";
  raw->form = ProblemForm::Global;
  if (!read_matrix(group + "/M", &raw->matrix) || !read_matrix(group + "/H", &raw->jacobian)) return false;
  const int n = static_cast<int>(raw->matrix.rows());
  if (raw->matrix.cols() != n)
    return fail(as_quoted(group + "/M") + " is " + size_text(n, raw->matrix.cols()) + "; must be square");
  if (raw->jacobian.rows() != n)
    return fail(as_quoted(group + "/H") + " has " + std::to_string(raw->jacobian.rows()) + " rows; M has " +
                std::to_string(n));
  if (!read_contacts(group, raw->jacobian.cols(), raw)) return false;
  if (!read_vector(group + "/vectors/f", n, Values::Finite, &raw->load)) return false;
  if (!read_vector(group + "/vectors/w", raw->jacobian.cols(), Values::Finite, &raw->offset)) return false;
  if (has(group + "/G")) {
    SparseMatrix g;
    std::vector<double> b;
    if (!read_matrix(group + "/G", &g)) return false;
    if (g.rows() != n)
      return fail(as_quoted(group + "/G") + " has " + std::to_string(g.rows()) + " rows; M has " + std::to_string(n));
    if (!read_vector(group + "/vectors/b", g.cols(), Values::Finite, &b)) return false;
    raw->equalities = static_cast<int>(g.cols());
    raw->jacobian = beside(raw->jacobian, g);
    raw->offset.insert(raw->offset.end(), b.begin(), b.end());
  }
  const SparseMatrix skew = raw->matrix - SparseMatrix(raw->matrix.transpose());
  raw->symmetric = skew.norm() <= 1e-14 * raw->matrix.norm();
  return read_extra_rows(raw);
}

/// Rows under laws that FCLib does not know.
bool RawReader::read_extra_rows(RawProblem* raw) {
  if (has("/slipstick/H")) {
    SparseMatrix h;
    std::vector<double> w;
    if (!read_matrix("/slipstick/H", &h)) return false;
    if (h.rows() != raw->matrix.rows()) return fail("'/slipstick/H' must have as many rows as M");
    if (!read_vector("/slipstick/w", h.cols(), Values::Finite, &w)) return false;
    raw->extras = static_cast<int>(h.cols());
    raw->jacobian = beside(raw->jacobian, h);
    raw->offset.insert(raw->offset.end(), w.begin(), w.end());
    if (!read_laws(raw->extras, RowLaw::Box, raw)) return false;
  }
  const int n = static_cast<int>(raw->matrix.rows());
  if (has("/slipstick/columns")) {
    std::vector<std::int64_t> sizes;
    if (!read_integers("/slipstick/columns", limits_.max_rows, &sizes)) return false;
    std::int64_t sum = 0;
    for (const std::int64_t size : sizes) {
      if (size < 1 || size > 6) return fail("'/slipstick/columns': a block has 1 to 6 unknowns");
      sum += size;
    }
    if (sum != n) return fail("'/slipstick/columns' must add up to the " + std::to_string(n) + " unknowns of M");
    raw->columns.assign(sizes.begin(), sizes.end());
    if (has("/slipstick/place")) {
      if (!read_vector("/slipstick/place", sizes.size(), Values::Finite, &raw->place)) return false;
      for (std::size_t k = 0; k < raw->place.size(); ++k)
        if (raw->place[k] < 0) return fail(as_quoted_item("/slipstick/place", k) + " is negative");
    }
  }
  if (!has("/slipstick/order")) return true;
  std::vector<std::int64_t> order;
  if (!read_integers("/slipstick/order", 2 * limits_.max_rows, &order)) return false;
  std::vector<char> seen(raw->rows(), 0);
  for (std::size_t k = 0; k + 1 < order.size(); k += 2) {
    const std::int64_t first = order[k], size = order[k + 1];
    if (first < 0 || size < 1 || size > 6 || first + size > raw->rows()) return fail("'/slipstick/order' is wrong");
    for (std::int64_t r = first; r < first + size; ++r) seen[r]++;
    raw->order.push_back(static_cast<int>(first));
    raw->order_size.push_back(static_cast<int>(size));
  }
  for (const char times : seen)
    if (times != 1) return fail("'/slipstick/order' must name every row once");
  return true;
}

/// law, lower and upper of `rows` rows; what is not there follows from the rest, and at last is z >= 0.
bool RawReader::read_laws(std::size_t rows, RowLaw highest, RawProblem* raw) {
  const std::string group = "/slipstick/";
  const bool bounded = has(group + "lower") || has(group + "upper");
  raw->lower.assign(rows, 0);
  raw->upper.assign(rows, kInfinity);
  if (has(group + "lower") && !read_vector(group + "lower", rows, Values::Bounds, &raw->lower)) return false;
  if (has(group + "upper") && !read_vector(group + "upper", rows, Values::Bounds, &raw->upper)) return false;
  std::vector<int> codes;
  if (has(group + "law")) {
    if (!read_small(group + "law", rows, 0, static_cast<int>(highest), &codes)) return false;
  } else {
    for (std::size_t k = 0; k < rows; ++k) {
      const bool free = raw->lower[k] == -kInfinity && raw->upper[k] == kInfinity;
      const bool positive = raw->lower[k] == 0 && raw->upper[k] == kInfinity;
      codes.push_back(static_cast<int>(free ? RowLaw::Equality : positive ? RowLaw::Nonnegative : RowLaw::Box));
    }
  }
  for (std::size_t k = 0; k < rows; ++k) {
    raw->law.push_back(static_cast<RowLaw>(codes[k]));
    if (raw->law[k] != RowLaw::Box) continue;
    if (!bounded) return fail(as_quoted_item("/slipstick/law", k) + " asks for bounds: add lower and upper");
    if (!(raw->lower[k] <= raw->upper[k]) || raw->lower[k] == kInfinity || raw->upper[k] == -kInfinity)
      return fail(as_quoted_item("/slipstick/lower", k) + " is above upper");
  }
  return true;
}

bool RawReader::read_plain(RawProblem* raw) {
  raw->form = ProblemForm::Plain;
  if (!read_matrix("/slipstick/M", &raw->matrix)) return false;
  const int n = static_cast<int>(raw->matrix.rows());
  if (raw->matrix.cols() != n)
    return fail("'/slipstick/M' is " + size_text(n, raw->matrix.cols()) + "; must be square");
  if (!read_vector("/slipstick/q", n, Values::Finite, &raw->offset)) return false;
  if (!read_laws(n, RowLaw::Tangent, raw)) return false;
  int tangents = 2;
  for (int r = 0; r < n; ++r) {
    if (raw->law[r] == RowLaw::Normal) {
      if (tangents == 0) return fail("'/slipstick/law': a normal row (3) needs one or two tangent rows (4) after it");
      ++raw->contacts;
      tangents = 0;
    } else if (raw->law[r] == RowLaw::Tangent) {
      if (r == 0 || raw->law[r - 1] < RowLaw::Normal || ++tangents > 2)
        return fail(as_quoted_item("/slipstick/law", r) + ": a tangent row (4) must follow its normal row (3)");
      raw->dimension = std::max(raw->dimension, 1 + tangents);
    } else if (tangents == 0) {
      return fail("'/slipstick/law': a normal row (3) needs one or two tangent rows (4) after it");
    }
  }
  if (tangents == 0) return fail("'/slipstick/law': a normal row (3) needs one or two tangent rows (4) after it");
  if (raw->contacts == 0) return true;
  if (!read_vector("/slipstick/mu", raw->contacts, Values::Finite, &raw->mu)) return false;
  if (!check_friction("/slipstick/mu", raw->mu)) return false;
  return true;
}

/// Friction models of the contacts, modes and compliance of all rows.
bool RawReader::read_models(RawProblem* raw) {
  if (has("/slipstick/friction") && !read_small("/slipstick/friction", raw->contacts, 0, 2, &raw->friction))
    return false;
  if (has("/slipstick/facets")) {
    if (!read_small("/slipstick/facets", raw->contacts, 4, 1000, &raw->facets)) return false;
    for (const int facets : raw->facets)
      if (facets % 2 != 0) return fail("'/slipstick/facets' must be even");
  }
  if (has("/slipstick/mode") && !read_small("/slipstick/mode", raw->rows(), 0, 2, &raw->mode)) return false;
  if (!has("/slipstick/compliance")) return true;
  if (!read_vector("/slipstick/compliance", raw->rows(), Values::Finite, &raw->compliance)) return false;
  for (std::size_t k = 0; k < raw->compliance.size(); ++k)
    if (raw->compliance[k] < 0) return fail(as_quoted_item("/slipstick/compliance", k) + " is negative");
  return true;
}

/// A guess that does not fit is no fault: it is no part of the problem.
bool RawReader::read_guess(RawProblem* raw) {
  const std::size_t rows = raw->form == ProblemForm::Plain ? raw->rows() : raw->contact_rows();
  for (const char* path : {"/guesses/1/r", "/solution/r"}) {
    const auto shape = file_.shape(path);
    if (!shape || shape->size() != 1 || (*shape)[0] != rows) continue;
    auto values = file_.read_numbers(path);
    bool good = values.has_value();
    for (std::size_t k = 0; good && k < rows; ++k) good = std::isfinite((*values)[k]);
    if (!good) continue;
    raw->guess_reaction = std::move(*values);
    return true;
  }
  return true;
}

bool RawReader::read(RawProblem* raw) {
  const bool local = has("/fclib_local"), global = has("/fclib_global");
  if (local && global) return fail("holds both /fclib_local and /fclib_global; keep one");
  if (!local && !global && !has("/slipstick/M"))
    return fail("holds no problem: neither /fclib_local nor /fclib_global nor /slipstick/M");
  const bool good = local ? read_local(raw) : global ? read_global(raw) : read_plain(raw);
  return good && read_models(raw) && read_guess(raw);
}

}  // namespace

Result<RawProblem> read_raw_problem(const std::string& path, const ProblemLimits& limits) {
  Result<Hdf5Reader> file = Hdf5Reader::open(path);
  if (!file) return file.faults();
  RawProblem raw;
  RawReader reader(file.value(), limits);
  if (!reader.read(&raw)) return Fault{{path, 0, 0}, reader.fault()};
  return raw;
}

Result<ProblemFile> load_problem(const std::string& path, const ProblemLimits& limits) {
  Result<RawProblem> raw = read_raw_problem(path, limits);
  if (!raw) return raw.faults();
  return build_problem(path, std::move(raw).value(), limits);
}

}  // namespace slipstick
