// Lemke's method as the solver of last resort: complementary pivoting with a proof for every frictional problem with
// A positive definite, mu >= 0 and offsets c_n >= 0 [AnitescuPotra97, theorems 2.1 and 2.2]. The pivots find the states
// (lemke_pivots.h), linear solves with the problem's own data make the answer exact (lemke_polish.h), the judge
// decides.
//
// The true cone is reached through polygons inscribed in it, turned so that each contact has a vertex on its present
// friction direction, with ever finer vertices around it; each polygon's answer starts Newton's method on the cone.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "solve/as_lcp.h"
#include "solve/solvers/lemke_pivots.h"
#include "solve/solvers/lemke_polish.h"
#include "solve/solvers/solvers.h"

namespace slipstick {

namespace {

constexpr double kRounding = 1e-12;  // relative residual that needs no further work
constexpr int kWarmRounds = 10, kPolishRounds = 6, kConeNewtonRounds = 30, kConeAlignments = 16;
constexpr double kBasic = 1e-10;  // a variable of the guess above this part of the largest is in the basis
constexpr int kSlideRounds = 8, kTrustedSteps = 4;
constexpr double kLeastProximal = 1e-11, kFirstProximal = 1e-3, kLargestProximal = 1;  // of the scaled diagonal
constexpr double kDenseShare = 72;  // row operations of eliminating v: rows^3 over this
constexpr double kFirstSpread = 0.08, kSpreadFactor = 0.5;

//                     seed, pivot, slack, rebuild, shift: from the usual to the patient to the perturbed
constexpr LemkeSettings kLadder[] = {
    {1, 1e-10, 1e-12, 50, 0, 0},     {2, 1e-9, 1e-12, 20, 0, 0},     {3, 1e-11, 1e-13, 10, 0, 0},
    {4, 1e-8, 1e-11, 10, 0, 0},      {5, 1e-10, 1e-10, 5, 0, 0},     {6, 1e-12, 1e-12, 1, 0, 0},
    {7, 1e-10, 1e-12, 10, 1e-11, 0}, {8, 1e-10, 1e-12, 10, 1e-9, 0}, {9, 1e-9, 1e-11, 10, 1e-7, 0},
};

class Lemke final : public Solver {
 public:
  explicit Lemke(const SolverOptions& options) : time_(options) {}

  SolverTraits traits() const override {
    return {.name = "lemke",
            .cone = true,
            .pyramid = true,
            .box_friction = true,
            .nonsymmetric = true,
            .local_form = true,
            .citation = "Lemke 1965; Anitescu and Potra 1997"};
  }
  SolverReport solve(const Problem& problem, double tolerance, Solution* answer) override;

 private:
  bool done() const { return best_relative_ <= std::min(kRounding, tolerance_); }
  bool acceptable() const { return best_relative_ <= tolerance_; }
  bool begin(const Problem& problem, const Solution& guess);
  double judge(const Problem& problem);
  void turn_slides(const Problem& problem);
  void iterate_states(const Problem& problem, int rounds);
  bool attempt(const Problem& problem, const LemkeSettings& settings, bool from_present);
  bool run_pivots(const Problem& problem, const LemkeSettings& settings, const std::vector<char>* start);
  void climb(const Problem& problem);
  void follow_cone(const Problem& problem);
  void align(const Problem& problem);
  void save_start();
  void make_start();
  bool attempt_from_guess(const Problem& problem);

  struct SavedState {
    bool first = false, price = false;
    int directions = 0;
    Vec2 along = Vec2::Zero();
  };

  TimeLimit time_;
  double tolerance_ = 0, best_relative_ = 0;
  bool cone_ = false, warm_ = false, ray_ = false;
  int pivots_ = 0, attempts_ = 0;
  Judge judge_;
  DualForm dual_;
  LcpForm lcp_;
  FrictionDirections directions_;
  ConeAlignment alignment_;
  LemkePivots pivoting_;
  LemkePolish polish_;
  Solution trial_, best_;
  VecX guess_x_, guess_w_, guess_z_;
  VecX x_, w_, present_x_, present_w_, polygon_x_, polygon_w_;
  std::vector<SavedState> saved_;
  std::vector<char> start_;
};

bool Lemke::begin(const Problem& problem, const Solution& guess) {
  pivots_ = attempts_ = 0;
  ray_ = cone_ = false;
  best_relative_ = kInfinity;
  saved_.clear();  // states of another problem's rows
  if (!dual_.update(problem)) return false;
  for (const RowBlock& block : problem.blocks)
    cone_ = cone_ || (block.law == LawKind::Friction && block.friction == FrictionModel::Cone && block.size == 3 &&
                      block.mu > 0);
  warm_ = guess.lambda.size() == problem.rows() && guess.lambda.allFinite() && !guess.lambda.isZero(0);
  x_.setZero(dual_.size());
  if (warm_) update_scaled_impulse(dual_, guess.lambda, &x_);
  dual_.complete(problem, x_, &trial_);
  alignment_.spread = 0;
  polygon_x_ = guess_x_ = x_;
  update_scaled_velocity(dual_, trial_.w, &polygon_w_);
  guess_w_ = polygon_w_;
  align(problem);
  return true;
}

/// Puts a vertex of each cone's polygon on the direction in which friction acts, or would.
void Lemke::align(const Problem& problem) {
  alignment_.phase.assign(problem.blocks.size(), 0.0);
  if (!cone_) return;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    const int row = block.size == 3 ? dual_.reduced_row(block.row + 1) : -1;
    if (block.law != LawKind::Friction || row < 0) continue;
    alignment_.phase[i] = std::atan2(polygon_x_[row + 1] - polygon_w_[row + 1], polygon_x_[row] - polygon_w_[row]);
  }
}

double Lemke::judge(const Problem& problem) {
  const double relative = judge_.certify(problem, trial_).verdict();
  if (!(relative < best_relative_)) return relative;
  best_relative_ = relative;
  best_.v = trial_.v;
  best_.lambda = trial_.lambda;
  best_.w = trial_.w;
  return relative;
}

/// Newton's method on the sliding directions alone: which contacts are open, stick and slide is the basis' choice, so
/// that the system is as regular as the basis, redundant contacts or not.
void Lemke::turn_slides(const Problem& problem) {
  judge(problem);
  for (int round = 0; round < kSlideRounds && !done(); ++round) {
    update_scaled_velocity(dual_, trial_.w, &w_);
    polish_.turn_slides(problem, lcp_, x_, w_);
    if (!polish_.solve(problem, lcp_, kLeastProximal, &dual_, &x_, &trial_)) break;
    judge(problem);
  }
}

/// Rounds of states by projection from x_: Newton's method, a few steps on trust; then from the best point so far,
/// regularized more where a step fails and less where it succeeds (Levenberg and Marquardt's rule).
void Lemke::iterate_states(const Problem& problem, int rounds) {
  dual_.complete(problem, x_, &trial_);
  double present = judge(problem), proximal = kLeastProximal;
  int trusted = kTrustedSteps;
  present_x_ = x_;
  update_scaled_velocity(dual_, trial_.w, &w_);
  present_w_ = w_;
  for (int round = 0; round < rounds && !done() && !time_.is_over(); ++round) {
    polish_.set_states(problem, lcp_, x_, w_);
    const bool finite = polish_.solve(problem, lcp_, proximal, &dual_, &x_, &trial_);
    const double relative = finite ? judge(problem) : kInfinity;
    update_scaled_velocity(dual_, trial_.w, &w_);
    if (relative < present) {
      present = relative;
      present_x_ = x_;
      present_w_ = w_;
      proximal = std::max(kLeastProximal, 0.1 * proximal);
    } else if (!finite || --trusted <= 0) {
      x_ = present_x_;
      w_ = present_w_;
      if (proximal >= kLargestProximal) return;
      proximal = std::max(100 * proximal, std::clamp(1e-2 * present, kLeastProximal, kFirstProximal));
    }
  }
}

/// Keeps of each row's or contact's state in the present basis what has a meaning for other directions too.
void Lemke::save_start() {
  const std::vector<char>& basis = pivoting_.basis();
  saved_.clear();
  for (const LcpGroup& g : lcp_.groups()) {
    SavedState& state = saved_.emplace_back();
    state.first = basis[g.first];
    if (g.kind == LcpGroup::Kind::Single) continue;
    state.price = basis[g.price()];
    for (int k = 0; k < g.directions; ++k) {
      if (!basis[g.first + 1 + k]) continue;
      ++state.directions;
      state.along += pivoting_.z()[g.first + 1 + k] * lcp_.direction(g, k);
      if (state.along.isZero()) state.along = lcp_.direction(g, k) * 1e-300;
    }
  }
}

/// The complementary basis of the saved states among the directions of today.
void Lemke::make_start() {
  start_.assign(lcp_.size(), 0);
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    const LcpGroup& g = lcp_.groups()[i];
    const SavedState& state = saved_[i];
    start_[g.first] = state.first;
    if (g.kind != LcpGroup::Kind::Single) start_[g.price()] = state.price;
    if (g.kind != LcpGroup::Kind::Contact || state.directions == 0) continue;
    int nearest = 0, second = -1;
    for (int k = 1; k < g.directions; ++k)
      if (lcp_.direction(g, k).dot(state.along) > lcp_.direction(g, nearest).dot(state.along)) nearest = k;
    start_[g.first + 1 + nearest] = 1;
    if (state.directions == 1 || state.price) {
      start_[g.price()] = state.price;
      continue;
    }
    const Vec2& a = lcp_.direction(g, nearest);
    const bool left = g.tangents == 1 || a.x() * state.along.y() >= a.y() * state.along.x();
    second = (nearest + (left ? 1 : g.directions - 1)) % g.directions;
    start_[g.first + 1 + second] = 1;
  }
}

/// Pivots from the basis of the last answer, which the guess stands for: where few rows change their state, few pivots
/// lead from it to today's basis [AnitescuPotra97, section 6].
bool Lemke::attempt_from_guess(const Problem& problem) {
  if (lcp_.size() == 0) return run_pivots(problem, kLadder[0], nullptr);  // equalities alone
  lcp_.update_variables(guess_x_, guess_w_, &guess_z_);
  const double least = kBasic * std::max(guess_x_.cwiseAbs().maxCoeff(), guess_w_.cwiseAbs().maxCoeff());
  start_.resize(lcp_.size());
  for (int i = 0; i < lcp_.size(); ++i) start_[i] = guess_z_[i] > least;
  for (const LcpGroup& g : lcp_.groups()) {
    if (g.kind != LcpGroup::Kind::Contact || start_[g.first]) continue;
    for (int k = 0; k <= g.directions; ++k) start_[g.first + 1 + k] = 0;  // open: no friction, no slip speed
  }
  return run_pivots(problem, kLadder[0], &start_);
}

bool Lemke::attempt(const Problem& problem, const LemkeSettings& settings, bool from_present) {
  if (from_present) make_start();
  return run_pivots(problem, settings, from_present ? &start_ : nullptr);
}

bool Lemke::run_pivots(const Problem& problem, const LemkeSettings& settings, const std::vector<char>* start) {
  if (time_.is_over()) return false;
  ++attempts_;
  LemkeSettings timed = settings;
  timed.time = &time_;
  const LemkeOutcome outcome = pivoting_.run(&lcp_, timed, start);
  pivots_ += pivoting_.pivots();
  ray_ = ray_ || outcome == LemkeOutcome::Ray;
  if (outcome != LemkeOutcome::Complementary) return false;
  save_start();
  lcp_.update_impulse(pivoting_.z(), &x_);
  polish_.set_states(lcp_, pivoting_.basis());
  if (!polish_.solve(problem, lcp_, kLeastProximal, &dual_, &x_, &trial_)) {
    lcp_.update_impulse(pivoting_.z(), &x_);
    dual_.complete(problem, x_, &trial_);
  }
  polygon_x_ = x_;
  update_scaled_velocity(dual_, trial_.w, &polygon_w_);
  return true;
}

void Lemke::climb(const Problem& problem) {
  if (warm_ && attempt_from_guess(problem)) iterate_states(problem, kPolishRounds);
  if (acceptable()) return;
  for (const LemkeSettings& settings : kLadder) {
    if (attempt(problem, settings, false)) iterate_states(problem, kPolishRounds);
    if (acceptable()) return;
  }
}

void Lemke::follow_cone(const Problem& problem) {
  for (int k = 0; k < kConeAlignments && !time_.is_over(); ++k) {
    const bool solved = (k == 0 && warm_ && attempt_from_guess(problem)) ||
                        (k > 0 && attempt(problem, kLadder[0], true)) || attempt(problem, kLadder[0], false) ||
                        attempt(problem, kLadder[1], false) || attempt(problem, kLadder[5], false);
    if (solved) turn_slides(problem);
    x_ = polygon_x_;
    if (solved && !acceptable()) iterate_states(problem, kConeNewtonRounds);
    if (acceptable()) return;
    align(problem);
    alignment_.spread = k == 0 ? kFirstSpread : kSpreadFactor * alignment_.spread;
    update_directions(problem, alignment_, &directions_);
    lcp_.update(problem, dual_, directions_);
  }
}

SolverReport Lemke::solve(const Problem& problem, double tolerance, Solution* answer) {
  SolverReport report;
  tolerance_ = tolerance;
  time_.start();
  const bool further = has_further_limits(problem);
  const double rows = problem.rows();
  const bool affordable = time_.spend(rows * rows * rows / kDenseShare);
  if (further || !affordable || !begin(problem, *answer)) {
    if (further) report.status = SolveStatus::Unsupported;
    report.note = further ? kNoFurtherLimits : affordable ? dual_.fault() : time_.note();
    set_zero(problem, answer);
    return report;
  }
  update_directions(problem, alignment_, &directions_);
  lcp_.update(problem, dual_, directions_);
  if (warm_) iterate_states(problem, kWarmRounds);
  if (!acceptable()) cone_ ? follow_cone(problem) : climb(problem);
  if (best_relative_ == kInfinity) {
    x_.setZero(dual_.size());
    dual_.complete(problem, x_, &best_);
  }
  answer->v = best_.v;
  answer->lambda = best_.lambda;
  answer->w = best_.w;
  report.iterations = pivots_;
  report.warm_hit = warm_ && attempts_ == 0 && acceptable();
  report.status = acceptable() ? SolveStatus::Solved : SolveStatus::NotConverged;
  if (acceptable()) {
    if (attempts_ > 1) report.note = cone_ ? "solved after another alignment or a retry" : "solved after a retry";
  } else {
    report.note = time_.is_over() ? time_.note()
                  : ray_          ? "ended on a secondary ray: the offsets may admit no solution"
                                  : "the residual stayed above tolerance";
  }
  return report;
}

}  // namespace

std::unique_ptr<Solver> make_lemke(const SolverOptions& options) { return std::make_unique<Lemke>(options); }

}  // namespace slipstick
