// One factory a solver; the registry (registry.cpp) is the table of them.
#pragma once

#include <slipstick/solver.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace slipstick {

std::unique_ptr<Solver> make_lemke(const SolverOptions& options = {});
std::unique_ptr<Solver> make_newton(const SolverOptions& options = {});
std::unique_ptr<Solver> make_block_pivot();
std::unique_ptr<Solver> make_keller();
std::unique_ptr<Solver> make_pgs(const SolverOptions& options);
std::unique_ptr<Solver> make_split(const SolverOptions& options);
std::unique_ptr<Solver> make_admm(const SolverOptions& options = {});
std::unique_ptr<Solver> make_apgd(const SolverOptions& options = {});

/// A solver that can bring an answer that is nearly right closer without beginning anew.
class PolishingSolver : public Solver {
 public:
  /// A few steps from `answer`; better or the same by the solver's own measure.
  virtual SolverReport polish(const Problem& problem, double goal, Solution* answer) = 0;
  /// The judge of its answers, for those who ask before they stop; one for both, so that no step allocates a second.
  virtual void set_judge(Judge* judge) = 0;
  /// What the judge said of the answer that was just given; null: it was not asked.
  virtual const Residuals* verdict(const Solution& answer) const = 0;
};

/// The solver under the judge: see judged.cpp.
std::unique_ptr<Solver> make_judged(std::unique_ptr<Solver> solver, const SolverOptions& options);
/// The same solver for each island by itself: see by_islands.cpp.
std::unique_ptr<Solver> make_by_islands(std::unique_ptr<Solver> solver, const SolverOptions& options);

/// What a solver hands back with a problem that it does not take: a zero answer of the right sizes.
void set_zero(const Problem& problem, Solution* answer);

/// What a solver tries for when it gets there cheaply; `tolerance` is what is asked for.
inline constexpr double kGoal = 1e-13;
/// A residual that is not worth a factorization: with few columns, where digits are cheap and somebody may look at
/// each, and over the tolerance with more.
inline constexpr double kFine = 1e-12, kFineShare = 0.01;
inline constexpr int kFewColumns = 4;
inline double calc_fine(int columns, double tolerance) {
  return columns <= kFewColumns ? kFine : std::max(kFine, kFineShare * tolerance);
}
/// Of the tolerance: the residual up to which the impulses of the last step are those of this one too, for what rests.
inline constexpr double kRestShare = 0.01;
inline double calc_still(int columns, double tolerance) {
  return columns <= kFewColumns ? kFine : std::max(kFine, kRestShare * tolerance);
}
/// A residual of something at rest is the overlap that slow drift has added up, or it is speed: what the step before
/// did to undo such an overlap is still in the impulses. Speed is taken away at once, or it would come back for ever; a
/// small residual is as good as none.
inline constexpr double kSpeedShare = 0.5, kRestsShare = 0.05;
inline bool is_at_rest(double residual, double creep, double still) {
  return residual <= still && (creep <= kSpeedShare * residual || residual <= kRestsShare * still);
}
/// Relative speeds of what stands as well as can be.
inline constexpr double kNoCreep = 1e-13;
/// Of the tolerance: what a solver that sums in another order than the judge stops at.
inline constexpr double kBelow = 0.99;

/// Below this rounding decides: no solver is asked for less.
inline constexpr double kTightest = 1e-15;
/// A solver that stopped at SolverOptions::settle.
inline constexpr std::string_view kSettled = "finished short of the tolerance";
inline constexpr std::string_view kNotSettled = "the effort did not suffice";
inline constexpr std::string_view kLawNotMet = "the law is not met to the tolerance";

/// Whether a contact has further limits, on spinning or rolling (solve/laws.h), which few solvers take.
bool has_further_limits(const Problem& problem);
inline constexpr std::string_view kNoFurtherLimits = "rolling or spinning friction";

}  // namespace slipstick
