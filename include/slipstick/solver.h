// Room: solve. The face of a solver, the one judge of all solvers, and the registry of both.
#pragma once

#include <slipstick/problem.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

/// What the judge says about (problem, solution); docs/certificate.md has the formulas.
struct Residuals {
  double natural = 0;      ///< max_i |F_i|_inf, the natural map in m/s (rad/s for angular rows)
  double relative = 0;     ///< ||F||_2 / ||q||_2, q = J A^-1 b + c (0/0 = 0; certify.cpp: q lost to cancellation)
  double dynamics = 0;     ///< max |v - A^-1 (b + J^T lambda)|: a solution must satisfy (P1) too
  double cone = 0;         ///< max(0, |lambda_t| - mu lambda_n), N s: outside the friction limit
  double dissipation = 0;  ///< max(0, lambda_t . w_t) over friction blocks, J: friction that drives
  double scale = 0;        ///< ||q||_2, m/s
  double speed = 0;        ///< max |v|

  /// (P1) and (P2) with (P3) hold to the relative tolerance.
  bool within(double tolerance) const { return relative <= tolerance && dynamics <= tolerance * (scale + speed); }
};

/// One judge for all: computed from the problem and lambda alone; v is recomputed and compared, w never read.
/// A non-finite solution has infinite residuals.
class Judge {
 public:
  Judge();
  ~Judge();
  Judge(Judge&&) noexcept;
  Judge& operator=(Judge&&) noexcept;
  Residuals certify(const Problem& problem, const Solution& solution);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};
Residuals certify(const Problem& problem, const Solution& solution);

enum class SolveStatus { Solved, NotConverged, Unsupported };
std::string_view name_of(SolveStatus status);

struct SolverReport {
  SolveStatus status = SolveStatus::NotConverged;
  int iterations = 0;     ///< pivots, sweeps or Newton steps
  bool warm_hit = false;  ///< the guess' own basis or active set was still right (solvers that pivot)
  std::string_view note;  ///< static text: why it was not solved
};

struct SolverTraits {
  std::string_view name;
  bool cone = false;  ///< solves the true friction cone
  bool pyramid = false;
  bool box_friction = false;
  bool nonsymmetric = false;  ///< A may be non-symmetric
  bool local_form = false;    ///< Problem::coupling may be present
  std::string_view citation;
};

class Solver {
 public:
  virtual ~Solver() = default;
  virtual SolverTraits traits() const = 0;
  /// `answer` is a guess on entry (sizes right) or ignored (sizes wrong); v, lambda, w on return.
  /// Status is the solver's own opinion; `certify` has the last word.
  virtual SolverReport solve(const Problem& problem, double tolerance, Solution* answer) = 0;
};

/// Names that make_solver knows, in the order in which they are shown.
std::vector<std::string_view> solver_names();
/// A new solver with its own scratch, or null for an unknown name.
std::unique_ptr<Solver> make_solver(std::string_view name);

}  // namespace slipstick
