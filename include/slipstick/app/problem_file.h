// Room: record. Complementarity problems in HDF5 files: the FCLib layout (friction contact in local and global form,
// 2-D and 3-D), plain and mixed LCPs, and what FCLib cannot say (docs/problems.md).
#pragma once

#include <slipstick/problem.h>
#include <slipstick/result.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace slipstick {

/// What a file may hold at most: a wrong file must not ask for all memory.
struct ProblemLimits {
  std::int64_t max_rows = 2'000'000;        ///< rows, and unknowns of M
  std::int64_t max_nonzeros = 100'000'000;  ///< of any matrix, read or made by condensing
};

enum class ProblemForm {
  Local,   ///< /fclib_local: u = W r + q
  Global,  ///< /fclib_global: M v = H r + G l + f, u = H^T v + w
  Plain    ///< /slipstick alone: w = M z + q, any law a row
};

/// A problem with the way back to the rows of its file.
struct ProblemFile {
  std::string path;
  ProblemForm form = ProblemForm::Local;
  int dimension = 0;  ///< FCLib's spacedim; 0 for a plain problem without friction
  int contacts = 0;
  Problem problem;
  Solution guess;  ///< what the file offers as a start; empty if nothing

  // File row -> row of `problem`. `rows`: contacts (FCLib's r and u), then the rows of /slipstick/H; a plain problem's
  // rows. `equalities`: FCLib's multipliers l.
  std::vector<int> rows, equalities;
  std::vector<int> unknowns;  ///< global form, not condensed: file unknown -> unknown of `problem`

  // Global form whose M has larger connected parts than a Problem's columns: solved as u = (H^T M^-1 H) r + q.
  bool condensed = false;
  double condense_seconds = 0;  ///< wall time of that, part of the time of a solve
  struct Condensed;
  std::shared_ptr<const Condensed> mass;
};

Result<ProblemFile> load_problem(const std::string& path, const ProblemLimits& limits = {});

/// An answer in the file's own order.
struct ProblemAnswer {
  std::vector<double> reaction, velocity;  ///< r and u (z and w of a plain problem)
  std::vector<double> multipliers;         ///< l, if there are equalities
  std::vector<double> unknowns;            ///< v, global form only
};
ProblemAnswer make_answer(const ProblemFile& file, const Solution& solution);

/// Writes a problem: global form if it has columns, local or plain form if it has a coupling. Nothing is left behind if
/// it fails; the fault says why. `guess` may be null.
Faults save_problem(const std::string& path, const Problem& problem, const std::string& title, const Solution* guess);

/// How an answer came about, for its file.
struct AnswerNote {
  std::string problem, solver, status;
  double residual = 0;
};
/// Writes `/solution/{r, u, v, l}` as FCLib does.
Faults save_answer(const std::string& path, const ProblemAnswer& answer, const AnswerNote& note);

}  // namespace slipstick
