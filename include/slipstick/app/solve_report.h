// Room: report. Solving a problem from a file, and what is said about it (docs/problems.md).
#pragma once

#include <slipstick/app/problem_file.h>
#include <slipstick/solver_ladder.h>

#include <limits>
#include <string>
#include <vector>

namespace slipstick {

struct SolveRequest {
  std::string solver = "auto";  ///< one of solver_choices()
  double tolerance = 1e-8;
  double time_limit = std::numeric_limits<double>::infinity();  ///< s
  int threads = 1;
  int repeat = 1;          ///< solve this often, each time from the start, and keep the shortest time; 0: three times
                           ///< if that takes no longer than a fifth of a second
  bool use_guess = false;  ///< start from the guess in the file
};

struct SolveRun {
  std::string solver;     ///< as asked for
  std::string solved_by;  ///< the rung that gave the answer
  std::string status;     ///< "solved" (certified by the judge), "not converged", "unsupported"
  std::string note;
  double residual = 0;  ///< relative, by the judge
  WorstPart worst;      ///< where the answer is furthest from the law
  int iterations = 0, escalations = 0;
  double ms = 0, cpu_ms = 0;  ///< wall and CPU time of the solve, reading excluded, condensing included
  Solution solution;
  bool solved() const { return status == "solved"; }
};

SolveRun solve_problem(const ProblemFile& file, const SolveRequest& request);
/// Every solver and "auto", in the order of solver_choices().
std::vector<SolveRun> solve_with_all(const ProblemFile& file, const SolveRequest& request);
/// The fastest that solved it, else the smallest residual. `runs` must not be empty.
std::size_t find_best(const std::vector<SolveRun>& runs);

/// One object for the best run; with several runs also `solvers`, a list of all.
std::string make_solve_json(const ProblemFile& file, const std::vector<SolveRun>& runs);
std::string make_solve_text(const ProblemFile& file, const std::vector<SolveRun>& runs, double tolerance);

}  // namespace slipstick
