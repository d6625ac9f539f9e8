// pgs: projected Gauss-Seidel. Cheap sweeps, no factorization, any size; slow where masses differ much or contacts are
// redundant, and without a proof of convergence for friction [LacoursiereLinde11, 15].
#include <algorithm>
#include <cmath>

#include "solve/solvers/anderson.h"
#include "solve/solvers/pgs_sweeps.h"
#include "solve/solvers/solvers.h"
#include "solve/solvers/time_limit.h"

namespace slipstick {

namespace {

constexpr int kSweeps = 2000;
constexpr int kCheckShare = 8, kCheckLimit = 32;  // a residual costs half a sweep: not after every one
constexpr double kBadGuess = 1e3;                 // times the residual of no guess at all

class Pgs : public PolishingSolver {
 public:
  explicit Pgs(const SolverOptions& options) : options_(options), time_(options), sweeps_(options) {}

  SolverTraits traits() const override {
    return {.name = "pgs",
            .cone = true,
            .pyramid = true,
            .box_friction = true,
            .nonsymmetric = true,
            .local_form = true,
            .citation = "Lacoursiere and Linde 2011, algorithm 21.1; Jourdan, Alart and Jean 1998"};
  }

  SolverReport solve(const Problem& problem, double tolerance, Solution* answer) override {
    SolverReport report;
    judged_.resize(0);
    if (judge_ == nullptr) judge_ = (own_judge_ = std::make_unique<Judge>()).get();
    history_.residual.clear();
    history_.changes.clear();
    if (report.note = find_problem_fault(problem); !report.note.empty()) {
      report.status = SolveStatus::Unsupported;
      set_zero(problem, answer);
      return report;
    }
    time_.start();
    problem_rows_ = problem.rows();
    time_.spend(PgsSweeps::kStartWork * problem_rows_);
    begin(problem, answer->lambda);
    for (double goal = kBelow * tolerance;;) {
      report.note = iterate(goal, &report.iterations);
      if (time_.is_stopped()) break;
      sweeps_.set_impulses(best_);
      sweeps_.calc_residual();
      sweeps_.finish(answer);
      if (!report.note.empty()) break;
      // The map is small; the law may ask for more of it (law_parts.h).
      verdict_ = judge_->certify(problem, *answer);
      judged_ = answer->lambda;
      if (verdict_.within(tolerance)) {
        report.status = SolveStatus::Solved;
        break;
      }
      goal = 0.5 * std::min(goal, best_residual_) * tolerance / verdict_.verdict();
      if (!(goal > kTightest)) {
        report.note = kLawNotMet;
        break;
      }
    }
    return report;
  }

  void set_judge(Judge* judge) override { judge_ = judge; }
  const Residuals* verdict(const Solution& answer) const override {
    return judged_.size() > 0 && judged_ == answer.lambda ? &verdict_ : nullptr;
  }
  SolverReport polish(const Problem& problem, double goal, Solution* answer) override {
    return solve(problem, goal, answer);
  }

  const SolverHistory* history() const override { return options_.record_history ? &history_ : nullptr; }

 private:
  /// From zero, or from the guess if that is not absurdly worse.
  void begin(const Problem& problem, const VecX& guess) {
    sweeps_.start(problem);
    best_ = sweeps_.impulses();
    best_residual_ = sweeps_.calc_residual();
    if (options_.mixing > 0) anderson_.resize(problem.rows(), options_.mixing);
    if (guess.size() != problem.rows() || !guess.allFinite() || guess.isZero(0)) return;
    const double cold = best_residual_;
    sweeps_.set_impulses(guess);
    const double warm = sweeps_.calc_residual();
    if (warm > kBadGuess * cold) return sweeps_.set_impulses(best_);
    best_ = sweeps_.impulses();
    best_residual_ = warm;
  }

  void keep_best(double residual) {
    if (!(residual < best_residual_)) return;
    best_residual_ = residual;
    best_ = sweeps_.impulses();
  }

  /// A sweep, and the mixture of the last ones in place of its result [WalkerNi11]. Impulses count by the energy they
  /// carry: lambda_i sqrt(D_ii).
  void sweep(bool backward) {
    if (options_.mixing == 0) return sweeps_.sweep(backward);
    sweeps_.update_scaled_impulses(&point_);
    sweeps_.sweep(backward);
    sweeps_.update_scaled_impulses(&image_);
    if (anderson_.mix(point_, &image_)) sweeps_.set_scaled_impulses(&image_);
  }

  /// Sweeps until the residual is below the goal; says why if it never was.
  std::string_view iterate(double goal, int* iterations) {
    const int limit = options_.max_iterations > 0 ? options_.max_iterations : kSweeps;
    int check = 1;
    for (int k = *iterations + 1; k <= limit && best_residual_ > goal; ++k) {
      const bool late = !time_.spend(problem_rows_) || time_.is_over();
      if (!late) sweep(options_.symmetric && k % 2 == 0);
      *iterations = k;
      if (k < check && k < limit && !late && !options_.record_history) continue;
      check = k + std::min(1 + k / kCheckShare, kCheckLimit);
      const double residual = sweeps_.calc_residual();
      if (options_.record_history) {
        history_.residual.push_back(residual);
        history_.changes.push_back(sweeps_.changes());
      }
      keep_best(residual);
      if (std::isinf(residual)) return "the sweeps left the range of numbers";
      if (late) return best_residual_ > goal ? time_.note() : "";
    }
    return best_residual_ > goal ? "iteration limit" : "";
  }

  const SolverOptions options_;
  TimeLimit time_;
  PgsSweeps sweeps_;
  Anderson anderson_;
  Judge* judge_ = nullptr;            ///< whoever called set_judge has it ...
  std::unique_ptr<Judge> own_judge_;  ///< ... or nobody did
  VecX judged_;                       ///< impulses
  Residuals verdict_;                 ///< on them
  SolverHistory history_;
  double best_residual_ = 0, problem_rows_ = 0;
  VecX best_, point_, image_;
};

}  // namespace

std::unique_ptr<Solver> make_pgs(const SolverOptions& options) { return std::make_unique<Pgs>(options); }

}  // namespace slipstick
