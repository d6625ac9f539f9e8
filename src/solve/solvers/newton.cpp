// newton: the workhorse. Active-set Newton from the last answer: in a scene at rest one factorization does it all.
// Where that does not settle, interior paths (interior.h) bring the iterate near from anywhere and the active set
// finishes; where a path ends at a fold, proximal rounds go on; at last a path is followed through its folds. Where all
// that would cost more than the work allows, the damped path and sweeps settle for less.
#include <algorithm>
#include <cmath>
#include <memory>

#include "solve/natural_map.h"
#include "solve/solvers/newton_iteration.h"
#include "solve/solvers/pair_sweeps.h"
#include "solve/solvers/pgs_sweeps.h"
#include "solve/solvers/solvers.h"
#include "solve/solvers/time_limit.h"

namespace slipstick {

namespace {

constexpr int kWarmLimit = 12, kWarmPatience = 4;  // factorizations for the first try, idle steps before it is given up
// A pile of round bodies of so many columns, with a guess: above this residual it is swept first, so many times between
// two looks, until it is as near as this or for so many sweeps. Then the active set, which is left at such a rise; then
// steps to edges (newton_edges.cpp), in rounds, each from sweeps that have come nearer. The judge is asked from this
// share of the tolerance on.
constexpr int kPileColumns = 11, kPileSweeps = 30, kMostPileSweeps = 180, kPilePatience = 2, kPileRounds = 2;
constexpr double kPileFar = 0.02, kPileNear = 1e-4, kPileNearer = 0.1, kPileRise = 100, kPileShare = 0.1;
constexpr int kEdgeLimit = 40, kEdgePatience = 12;
constexpr int kLinearTries = 3;                                       // where there are equations alone
constexpr int kProximalTry = 60, kProximalTries = 5, kMoreTries = 8;  // factorizations between tries to finish
constexpr double kInteriorNear = 1e-3;  // and interior paths, then again for each digit they gain
// What a phase may spend on the law (law_parts.h) after the map is below the tolerance: steps of a path, proximal
// tries.
constexpr int kLawSteps = 12, kLawTries = 2;
constexpr int kFastSteps = 60, kAlongSteps = 200;  // of an interior path
// The damped path: steps, sweeps of a crossover, steps between two of them, and how near (over `settle`) the first one
// is.
constexpr int kDampedSteps = 45, kCrossoverSweeps = 15, kCrossoverEvery = 4;
constexpr double kCrossoverNear = 8;
// It has come to its end after so many short steps, or so many that did not take a part of the residual away.
constexpr int kShortSteps = 3, kIdleSteps = 12;
constexpr double kShortStep = 0.05, kIdleFall = 0.7;
// A path that ends as quickly as this is worth its last digits, and from there the active set may finish.
constexpr double kQuickStep = 0.9, kQuickFall = 0.4, kActiveNear = 1e-5;
// Where work is limited: what of it the whole ladder may take before a problem settles for less, as work (about 12 ms)
// and as a part of what is left, and the factorizations that this must allow to be begun at all. Most machines, stacks
// and small heaps take a tenth of it. Without friction sweeps are as good, and much quicker.
constexpr double kPatience = 1e6, kLessPatience = 3e5, kPatientShare = 0.6, kLeastTries = 60;
// Sweeps over pairs that come before any path: the first, those between two looks at the residual, and the most of
// them; it is over after so many of which the best residual has not fallen to a part. They become bolder while they
// lead downhill, and less so where they do not.
constexpr int kFirstSweeps = 60, kMoreSweeps = 120, kMostSweeps = 4000, kIdleSweeps = 1800;
// After so many they begin again with more care. What may be swept in single precision: much, and not to many digits;
// and the rounding, over the residual, from which that does not suffice.
constexpr int kStalledSweeps = 360;
constexpr double kSingleSettle = 1e-5, kRounded = 0.1;
constexpr int kManySweptRows = 600;
constexpr double kSweepsFall = 0.8;
constexpr double kRadii[] = {0.8, PairSweeps::kSafeRadius, 0.97, 0.98};
constexpr int kUsual = 1, kBoldest = 3;
constexpr double kDownhill = 0.9, kUphill = 1.3, kFarOff = 3;
constexpr int kEvenings = 2;
// Work of a factorization from which a loose heap (PairSweeps::is_loose) in motion is swept so often and no more: some
// fifty spheres.
constexpr double kLooseWork = 1e4;
// From so many sweeps on a damped path is tried, once, where as many of its steps would cost less than the sweeps that
// are still to come if the residual falls with their number and no faster; with this part of the work.
constexpr int kPathAfter = 180, kPathSteps = 15;
constexpr double kPathShare = 0.5;
// Of the work: what the active set may take, and the path of a first step.
constexpr double kActiveShare = 0.5, kFirstShare = 0.9;
constexpr int kHurriedPatience = 2, kFirstSteps = 25;  // of the active set there; of a path without a guess
// Row operations of a row before the first sweep, and of a look at the residual.
constexpr double kSweepStart = 10, kLook = 4;
// Weights of friction on the path: 1 is quickest where it gets through; heavier ones have fewer folds.
constexpr double kPlain = 1, kRound = 30, kAlong = 10;

class Newton : public PolishingSolver {
 public:
  explicit Newton(const SolverOptions& options) : time_(options), settle_option_(options.settle) {
    pairs_.set_team(options.team);
  }

  SolverTraits traits() const override {
    return {.name = "newton",
            .cone = true,
            .pyramid = true,
            .box_friction = true,
            .nonsymmetric = true,
            .local_form = true,
            .citation = "Alart and Curnier 1991; Acary, Armand, Nguyen and Shpakovych 2022"};
  }

  SolverReport solve(const Problem& problem, double tolerance, Solution* answer) override {
    SolverReport report;
    if (!problem.coupling.empty() && problem.columns() > 0) {
      report.status = SolveStatus::Unsupported;
      report.note = "columns and a coupling in one problem";
      return report;
    }
    start(problem, *answer);
    iteration_.set_fine(calc_fine(problem.columns(), tolerance));
    if (bring_to_rest(tolerance)) return finish(tolerance, answer);
    has_guess_ = answer->lambda.size() == problem.rows() && !answer->lambda.isZero(0);
    iterate(tolerance, std::min(iteration_.lacks_digits() ? kLastDigit : kGoal, tolerance));
    return finish(tolerance, answer);
  }

  void set_judge(Judge* judge) override { judge_ = judge; }

  const Residuals* verdict(const Solution& answer) const override {
    return judged_at_ == iteration_.best_residual() && judged_.lambda == answer.lambda ? &verdict_ : nullptr;
  }

  SolverReport polish(const Problem& problem, double goal, Solution* answer) override {
    start(problem, *answer);
    iteration_.set_fine(kFine);
    iteration_.run_active(std::min(kGoal, goal), kWarmLimit, kWarmPatience);
    return finish(goal, answer);
  }

 private:
  /// What rests has the right active set already: one factor, if any, takes away what is left. True: that was all.
  bool bring_to_rest(double tolerance) {
    const double residual = iteration_.residual(), still = calc_still(problem_->columns(), tolerance);
    if (residual > tolerance) return false;
    if (iteration_.stop_creep(still)) return true;
    if (residual > iteration_.fine() || !is_at_rest(residual, iteration_.calc_creep(), still))
      iteration_.bring_to_rest(still);
    return false;
  }

  void start(const Problem& problem, const Solution& guess) {
    problem_ = &problem;
    judged_.lambda.resize(problem.rows());
    judged_.v.resize(problem.unknowns());
    judged_.w.resize(problem.rows());
    time_.start();
    settle_ = settle_option_ * (time_.work() != nullptr ? time_.work()->looseness : 1);
    iteration_.start(problem, find_system(problem), &time_, guess.lambda);
    settled_ = swept_ = hurries_ = loose_ = pile_ = false;
    judged_at_ = kInfinity;
  }

  template <class T>
  static NewtonSystem* make_once(std::unique_ptr<T>* system) {
    if (!*system) *system = std::make_unique<T>();
    return system->get();
  }

  NewtonSystem* find_system(const Problem& problem) {
    if (SmallSystem::takes(problem)) return make_once(&small_);
    return problem.coupling.empty() ? make_once(&primal_) : make_once(&dual_);
  }

  SolverReport finish(double tolerance, Solution* answer) {
    SolverReport report;
    iteration_.finish(answer);
    report.iterations = iteration_.factorizations();
    const bool solved = iteration_.best_residual() <= tolerance;
    report.status = solved ? SolveStatus::Solved : SolveStatus::NotConverged;
    report.settled = settled_;
    report.hurried = hurries_;
    if (!solved)
      report.note = settled_ ? kSettled : time_.is_over() ? time_.note() : hurries_ ? kNotSettled : "iteration limit";
    return report;
  }

  void iterate(double tolerance, double goal) {
    if (settle_ <= tolerance || !is_limited()) return run_ladder(tolerance, goal);
    // Where patience is enough, the answer is that of unlimited work, with the same bits.
    const double patience = std::min(has_friction() ? kPatience : kLessPatience, kPatientShare * time_.calc_left());
    loose_ = iteration_.step_work() >= kLooseWork && iteration_.residual() > settle_ && is_loose();
    const bool tries = !loose_ && kLeastTries * iteration_.step_work() <= patience;
    if (tries) {
      time_.restrict_to(patience);
      run_ladder(tolerance, goal);
      const bool came_to_its_end = !time_.is_over();
      time_.lift();
      // A ladder that ends without an answer says what unlimited work would: there may be none.
      if (came_to_its_end || !goes_on(tolerance)) return;
    }
    settle(tries, tolerance, goal);
  }

  void run_ladder(double tolerance, double goal) {
    NewtonIteration& it = iteration_;
    pile_ = it.residual() > tolerance && is_pile();  // what rests is brought to rest as ever
    if (pile_) {
      run_pile(tolerance, goal);
      // What only the law lacks now, the judge's own sweeps and steps find or nobody does.
      if (!goes_on(tolerance)) return;
    } else {
      it.run_active(goal, kWarmLimit, kWarmPatience);
    }
    if (is_linear()) return refine_linear(tolerance, goal);
    // The law's last digit is worth the first two of these; more of them cost twice the time and
    // certified one step more of a struck wall.
    if (goes_on(tolerance) || !meets_law(tolerance)) run_path(kPlain, kFastSteps, tolerance, goal);
    if (goes_on(tolerance) || !meets_law(tolerance)) run_proximal(kProximalTries, tolerance, goal);
    run_rest(tolerance, goal);
    if (it.best_residual() <= std::max(goal, it.fine()) || it.stays_as_it_is() || time_.is_over()) return;
    it.restore_best();
    it.run_active(goal, 4, 1);
  }

  /// Whether sweeps find nearly all of the active set. Without a guess they would share the load unevenly among
  /// redundant contacts, and that is the guess of all steps to come. Where nobody is in a hurry it goes the old way:
  /// piles have many answers, and published runs are followed with these.
  bool is_pile() const {
    return is_limited() && has_guess_ && problem_->columns() >= kPileColumns && is_planar() && is_loose();
  }

  /// Contacts in space turn where they slide: no edge is met for good.
  bool is_planar() const {
    return std::all_of(problem_->blocks.begin(), problem_->blocks.end(),
                       [](const RowBlock& block) { return block.law != LawKind::Friction || block.size == 2; });
  }

  void run_pile(double tolerance, double goal) {
    NewtonIteration& it = iteration_;
    bool swept = it.residual() > kPileFar && sweep_pile(false, kPileNear);
    it.run_active(goal, kWarmLimit, swept ? kPilePatience : kWarmPatience, kPileRise);
    double near = kPileNear;
    for (int round = 0; round < kPileRounds && (goes_on(tolerance) || (round == 0 && !meets_law(tolerance))); ++round) {
      it.restore_best();
      if (round > 0 || !swept) swept = sweep_pile(swept, near) || swept;
      near *= kPileNearer;
      run_edges(tolerance, goal);
    }
  }

  /// Sweeps from the iterate, or on from where they ended, until they are near. False: not allowed.
  bool sweep_pile(bool goes_on, double near) {
    if (!start_sweeps()) return false;
    if (!goes_on) pairs_.set_guess(iteration_.impulses());
    for (int done = 0; done < kMostPileSweeps && (done == 0 || iteration_.residual() > near); done += kPileSweeps)
      if (!sweep_pairs(kPileSweeps, PairSweeps::kSafeRadius)) return done > 0;
    return true;
  }

  /// Steps to edges, to a share of the tolerance and, where the law asks for more digits, further down.
  void run_edges(double tolerance, double goal) {
    NewtonIteration& it = iteration_;
    const int last = it.factorizations() + kEdgeLimit;
    for (double enough = kPileShare * tolerance; it.factorizations() < last; enough = 0.1 * it.best_residual()) {
      it.run_edges(std::max(goal, enough), last - it.factorizations(), kEdgePatience);
      if (it.residual() > enough || it.residual() <= it.fine() || meets_law(tolerance)) return;
    }
  }

  bool is_linear() const {
    return std::all_of(problem_->blocks.begin(), problem_->blocks.end(),
                       [](const RowBlock& block) { return block.law == LawKind::Equality; });
  }

  /// Equations alone: there is no set to be found, and no path leads nearer than more steps with a better factor.
  void refine_linear(double tolerance, double goal) {
    NewtonIteration& it = iteration_;
    for (int k = 0; k < kLinearTries && (goes_on(tolerance) || !meets_law(tolerance)); ++k) {
      it.set_fine(kFine);
      it.restore_best();
      it.run_active(goal, kWarmLimit, kWarmPatience);
    }
  }

  void run_rest(double tolerance, double goal) {
    if (goes_on(tolerance)) run_path(kRound, kFastSteps, tolerance, goal);
    if (goes_on(tolerance)) run_proximal(kMoreTries, tolerance, goal);
    if (goes_on(tolerance)) run_path(kAlong, kAlongSteps, tolerance, goal);
    if (goes_on(tolerance)) run_proximal(kProximalTries, tolerance, goal);
  }

  /// The tolerance where one try reaches it, settle_ otherwise. By the natural map alone: the law asks each contact by
  /// its own scale, and the slowest ones of a struck island for digits that cost more than all others together.
  void settle(bool tried, double tolerance, double goal) {
    NewtonIteration& it = iteration_;
    hurries_ = true;
    const bool rubs = has_friction(), pairs = PairSweeps::takes(*problem_);
    if (!tried && !loose_ && (it.began_near() || !(rubs || pairs))) {
      time_.restrict_to(kActiveShare * time_.calc_left());
      it.run_active(goal, kWarmLimit, kHurriedPatience);
      time_.lift();
    }
    // The first step of what stands is all that it will ever need, and quick.
    if (!tried && !has_guess_ && rubs && kFirstSteps * it.step_work() <= kFirstShare * time_.calc_left())
      run_path(kPlain, kFirstSteps, tolerance, goal);
    if (pairs) {
      if (goes_on(settle_)) run_sweeps(tried || it.began_near() ? it.best_impulses() : it.impulses(), true);
      if (!loose_ && goes_on(settle_) && may_take_path()) {
        time_.restrict_to(kPathShare * time_.calc_left());
        run_damped(false, tolerance, goal);
        time_.lift();
      }
      if (!loose_ && goes_on(settle_)) run_sweeps(it.best_impulses(), false);
    } else if (DampedPath::takes(*problem_)) {
      const bool warm = goes_on(settle_) && run_damped(false, tolerance, goal);
      if (warm && goes_on(settle_)) run_damped(true, tolerance, goal);
    } else if (!tried) {
      if (goes_on(settle_)) run_path(kPlain, kFastSteps, settle_, goal);
      if (goes_on(settle_)) run_proximal(kProximalTries, settle_, goal);
      run_rest(settle_, goal);
    }
    if (rubs && !goes_on(settle_)) even_out();
    settled_ = it.best_residual() <= settle_;
  }

  bool may_take_path() const {
    return DampedPath::takes(*problem_) && kPathSteps * iteration_.step_work() <= kPathShare * time_.calc_left();
  }

  bool is_limited() const { return time_.work() != nullptr && !std::isinf(time_.work()->limit); }

  bool is_loose() const { return PairSweeps::takes(*problem_) && PairSweeps::is_loose(*problem_); }

  bool has_friction() const {
    return std::any_of(problem_->blocks.begin(), problem_->blocks.end(),
                       [](const RowBlock& block) { return block.law == LawKind::Friction && block.mu > 0; });
  }

  /// Sweeps even out what the map as a whole does not see: single contacts that are far from the law.
  void even_out() {
    for (int k = 0; k < kEvenings && !time_.is_over() && !meets_law(settle_); ++k)
      cross_over(iteration_.best_impulses(), kFirstSweeps);
  }

  /// Makes sweeps ready, over pairs where they can be. False: not allowed, or not possible.
  bool start_sweeps() {
    const bool single = settle_ >= kSingleSettle && problem_->rows() >= kManySweptRows;
    return swept_ || start_sweeps(single ? SweepPrecision::Single : SweepPrecision::Double);
  }

  bool start_sweeps(SweepPrecision precision) {
    if (!find_problem_fault(*problem_).empty() || !time_.spend(kSweepStart * problem_->rows())) return false;
    if (PairSweeps::takes(*problem_)) {
      pairs_.start(*problem_, precision);
    } else {
      if (!sweeps_) sweeps_ = std::make_unique<PgsSweeps>(SolverOptions{});
      sweeps_->start(*problem_);
    }
    return swept_ = true;
  }

  /// So many sweeps from other impulses, in place of the iterate.
  void cross_over(const VecX& from, int sweeps) {
    if (!start_sweeps()) return;
    if (PairSweeps::takes(*problem_)) {
      pairs_.set_guess(from);
      sweep_pairs(sweeps, PairSweeps::kSafeRadius);
      return;
    }
    if (!time_.spend(sweeps * problem_->rows())) return;
    sweeps_->set_impulses(from);
    for (int k = 0; k < sweeps; ++k) sweeps_->sweep(false);
    iteration_.go_to(sweeps_->impulses());
  }

  /// Sweeps over pairs go on from where they are; the iterate follows. False: not allowed.
  bool sweep_pairs(int sweeps, double radius) {
    if (!time_.spend((PairSweeps::calc_work(sweeps, pairs_.precision()) + kLook) * problem_->rows())) return false;
    pairs_.run(sweeps, radius);
    pairs_.update_impulses(&crossed_);
    iteration_.go_to(crossed_);
    return true;
  }

  /// Sweeps over pairs alone, as long as they lead anywhere; where `gives_way`, until a path is cheaper.
  void run_sweeps(const VecX& from, bool gives_way) {
    const NewtonIteration& it = iteration_;
    if (!start_sweeps()) return;
    pairs_.set_guess(from);
    int level = kUsual, boldest = kBoldest, marked = 0, stalled = 0;
    double last = kInfinity, mark = kInfinity;
    const int most = loose_ ? PairSweeps::kLooseSweeps : kMostSweeps;
    for (int done = 0; done < most && goes_on(settle_) && done - marked < kIdleSweeps;) {
      const int count = done == 0 ? kFirstSweeps : kMoreSweeps;
      if (!sweep_pairs(count, kRadii[level])) return;
      done += count;
      double residual = it.residual();
      if (residual < kDownhill * last) {
        level = std::min(level + 1, boldest);
      } else if (residual > kUphill * last) {
        level = std::max(level - 1, 0);
        if (residual > kFarOff * it.best_residual()) {
          pairs_.set_impulses(it.best_impulses());
          residual = it.best_residual();
        }
      }
      last = residual;
      const double to_come =
          PairSweeps::calc_work(done, pairs_.precision()) * problem_->rows() * (it.best_residual() / settle_ - 1);
      if (gives_way && !loose_ && done >= kPathAfter && to_come > kPathSteps * it.step_work() && may_take_path())
        return;
      if (it.best_residual() <= kSweepsFall * mark) {
        mark = it.best_residual();
        marked = stalled = done;
      } else if (boldest > 0 && done - stalled >= kStalledSweeps) {
        if (!sweep_with_care(&boldest)) return;
        level = std::min(kUsual, boldest);
        last = kInfinity;
        stalled = done;
      }
    }
  }

  /// Sweeps that lead nowhere begin again at the best impulses, less boldly, and in double precision if it is rounding
  /// that holds them up. False: not allowed.
  bool sweep_with_care(int* boldest) {
    *boldest = std::max(*boldest - 1, 0);
    if (pairs_.precision() == SweepPrecision::Single) {
      crossed_v_.resize(problem_->unknowns());
      pairs_.update_velocity(&crossed_v_);
      if (!(pairs_.calc_drift() <= kRounded * iteration_.best_residual()) && !start_sweeps(SweepPrecision::Double))
        return false;
    }
    pairs_.set_impulses(iteration_.best_impulses());
    return true;
  }

  /// The damped path, until it is below settle_ and no longer quick, or at its end. True: it had a guess to begin with.
  bool run_damped(bool cold, double tolerance, double goal) {
    NewtonIteration& it = iteration_;
    if (!cold) cross_over(it.best_impulses(), kCrossoverSweeps);
    if (!goes_on(settle_)) return true;
    it.start_damped_phase(cold);
    int near = 0, brief = 0, idle = 0;
    double last = kInfinity, least = kInfinity;
    for (int k = 1; k <= kDampedSteps; ++k) {
      const bool able = it.run_damped();
      const double residual = it.residual();
      const bool quick = able && it.last_damped_step() > kQuickStep && residual < kQuickFall * last;
      last = residual;
      brief = it.last_damped_step() < kShortStep ? brief + 1 : 0;
      idle = residual < kIdleFall * least ? 0 : idle + 1;
      if (idle == 0) least = residual;
      const bool ends = !able || brief >= kShortSteps || idle >= kIdleSteps || k == kDampedSteps;
      if (!ends && (residual > kCrossoverNear * settle_ || near++ % kCrossoverEvery != 0)) continue;
      cross_over(it.impulses(), kCrossoverSweeps);
      if (quick && it.best_residual() <= kActiveNear) {
        it.restore_best();
        it.run_active(goal, 6, 2);
      }
      if (ends || !goes_on(tolerance) || (it.best_residual() <= settle_ && !quick)) break;
    }
    return it.damped_had_guess();
  }

  bool goes_on(double tolerance) const { return iteration_.best_residual() > tolerance && !time_.is_over(); }

  bool meets_law(double tolerance) {
    if (judge_ == nullptr || iteration_.best_residual() <= kGoal) return true;  // no digits are left
    if (judged_at_ != iteration_.best_residual()) {
      iteration_.update_best(&judged_);
      verdict_ = judge_->certify(*problem_, judged_);
      judged_at_ = iteration_.best_residual();
    }
    return verdict_.within(tolerance);
  }

  void run_proximal(int tries, double tolerance, double goal) {
    NewtonIteration& it = iteration_;
    it.start_proximal_phase();
    int more = 0;
    for (int k = 0; k < tries && !time_.is_over(); ++k) {
      if (!goes_on(tolerance) && (more++ >= kLawTries || meets_law(tolerance))) return;
      // Of a pile below `fine` only where the law asks for it.
      const bool enough = pile_ && it.best_residual() > it.fine();
      it.run_proximal(enough ? std::max(goal, it.fine()) : goal, kProximalTry);
      if (it.best_residual() > goal) it.run_active(goal, 4, 1);
    }
  }

  /// Down an interior path, with a try to finish each time the residual has fallen by a digit.
  void run_path(double friction_weight, int limit, double tolerance, double goal) {
    NewtonIteration& it = iteration_;
    const bool through_folds = limit == kAlongSteps;
    it.start_interior_phase(friction_weight);
    double next = kInteriorNear;
    int more = 0;
    for (int k = 0; k < limit && !time_.is_over(); ++k) {
      const bool able = it.run_interior(through_folds);
      if (able && it.residual() >= next) continue;
      next = 0.1 * std::min(it.residual(), next);
      if (pile_ && it.residual() < kPileNear) {
        run_edges(tolerance, goal);
        if (!goes_on(tolerance)) return;
      } else {
        it.run_active(goal, 6, 2, pile_ ? kPileRise : kInfinity);
      }
      if (!able) return;
      if (it.best_residual() <= tolerance && (more++ >= kLawSteps || meets_law(tolerance))) return;
    }
  }

  TimeLimit time_;
  const double settle_option_;
  double settle_ = 0;  ///< of this problem
  bool settled_ = false, swept_ = false, hurries_ = false, has_guess_ = false;
  bool pile_ = false;                  ///< is_pile
  bool loose_ = false;                 ///< a loose heap in motion
  std::unique_ptr<PgsSweeps> sweeps_;  ///< made when they are first asked for, as are the systems
  PairSweeps pairs_;                   ///< in place of it where they can
  VecX crossed_, crossed_v_;
  std::unique_ptr<PrimalSystem> primal_;
  std::unique_ptr<DualSystem> dual_;
  std::unique_ptr<SmallSystem> small_;
  NewtonIteration iteration_;
  const Problem* problem_ = nullptr;
  Judge* judge_ = nullptr;  ///< null: the map decides
  Solution judged_;
  Residuals verdict_;             ///< of it
  double judged_at_ = kInfinity;  ///< its residual; the best iterate changes only where that falls
};

}  // namespace

std::unique_ptr<Solver> make_newton(const SolverOptions& options) { return std::make_unique<Newton>(options); }

}  // namespace slipstick
