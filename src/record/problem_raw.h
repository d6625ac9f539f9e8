// A problem file as it stands: matrices and vectors, checked one by one, before they become a Problem.
#pragma once

#include <slipstick/app/problem_file.h>

#include <Eigen/SparseCore>
#include <cstdint>
#include <string>
#include <vector>

#include "record/hdf5_reader.h"

namespace slipstick {

using SparseMatrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

/// Codes of /slipstick/law.
enum class RowLaw : int { Equality = 0, Nonnegative = 1, Box = 2, Normal = 3, Tangent = 4 };

/// Rows are counted as in ProblemFile: contacts, equalities, extra rows.
struct RawProblem {
  ProblemForm form = ProblemForm::Local;
  int dimension = 0, contacts = 0;
  SparseMatrix matrix;         ///< W, M of the global form, or M of a plain problem
  SparseMatrix jacobian;       ///< global: the columns of H, G and /slipstick/H side by side
  std::vector<double> load;    ///< global: f
  std::vector<double> offset;  ///< q, or w; then s or b; then /slipstick/w
  int equalities = 0, extras = 0;
  std::vector<double> mu;

  std::vector<RowLaw> law;  ///< of the extra rows, or of all rows of a plain problem
  std::vector<double> lower, upper;
  std::vector<double> compliance;     ///< of all rows; empty: zero
  std::vector<int> friction, facets;  ///< of the contacts; empty: cone
  std::vector<int> mode;              ///< of all rows; empty: the usual ones
  std::vector<int> columns;           ///< sizes of M's blocks; empty: to be found
  std::vector<double> place;          ///< of M's blocks (Problem::place); empty: not known
  std::vector<int> order;             ///< first file row of each row block; empty: as they stand
  std::vector<int> order_size;
  std::vector<double> guess_reaction;  ///< contact rows; empty: none
  bool symmetric = true;               ///< M

  int contact_rows() const { return contacts * dimension; }
  int rows() const { return static_cast<int>(offset.size()); }
};

/// Reads and checks sizes, indices and values.
Result<RawProblem> read_raw_problem(const std::string& path, const ProblemLimits& limits);

/// Global form -> problem with one column a block of M, or condensed.
Result<ProblemFile> build_problem(const std::string& path, RawProblem raw, const ProblemLimits& limits);

}  // namespace slipstick
