#include "solve/unique_forces.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/laws.h"
#include "solve/natural_map.h"
#include "solve/solvers/solvers.h"
#include "solve/spring_law.h"

namespace slipstick {

namespace {

constexpr int kMostChoiceRows = 500, kMostFactorizations = 15, kFollowed = 3, kMostRounds = 20, kMostSteps = 30;
// Where work is limited: factorizations for a large island in which something slides. One in twenty of them has a
// choice that is found at all, and that one with two; the others, rocks in a bucket, took all fifteen for nothing.
constexpr int kManyChoiceRows = 150, kHurriedFactorizations = 4;
// R over the mobility E of the contacts: soft enough for Newton's method, and for the rounding of u / R; hard enough
// for few rounds.
constexpr double kFirstSoftness = 1e-4, kLessSoft = 1e-2, kLeastSoftness = 1e-11;
constexpr double kJointSoftness = 1e-9;  // of the mobility of a row of a joint or motor
constexpr double kSlipShare = 1e-6;      // of the largest offset: slower contacts do not slide
// Of R |x|: how well the first round and later ones are solved; and from where on rounding may be what is left.
constexpr double kCoarseRound = 1e-8, kFineRound = 1e-11, kRoundingLeft = 1e-6;
constexpr double kRoundingSpeed = 1e-16;  // of the judge's scale: what rounding leaves of speeds
constexpr double kChoiceChordFall = 0.1;  // of the gap: a step with an old factor that leaves more was not worth it
constexpr double kRoundFall = 0.3;  // of the residual: a round that leaves more shows the wrong contacts sliding, or R
// Relative residuals: nothing better is tried for; and nothing better where that would ask for another factor.
constexpr double kEnough = 1e-12, kGoodEnough = 1e-10;
// What rests keeps these impulses for as many steps as what is left of them takes to add up: a hundred times less is
// ten times as many, and costs a step with the factor at hand.
constexpr double kEnoughAtRest = 1e-14;
// And a choice that solves the next problem as well as this is its choice: so much, or that share of the tolerance,
// which is where newton makes no new factor either. Positions of large coordinates are rounded by more than 1e-11 of a
// step.
constexpr double kStillChosen = 1e-11, kStillShareOfTolerance = 0.01;
constexpr double kJudgeShare = 0.1;  // of the tolerance: what the judge must find
constexpr double kNoWorse = 2;       // times the verdict on what a choice replaces, where that is more
constexpr double kIdleSpeed = 1e-9;  // m/s: what carries nothing and parts faster than this is open
// The part of a random stress that redundant contacts keep; others keep (R / mobility)^kProjections of it.
constexpr double kAffected = 1e-3;
constexpr int kProjections = 3;

/// A number of size 1/2 to 3/2 and either sign, the same for a row on every machine.
double hash_number(std::uint64_t row) {
  std::uint64_t z = (row + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  const double size = 0.5 + static_cast<double>(z >> 12) / static_cast<double>(std::uint64_t{1} << 52);
  return (z & 1) != 0 ? size : -size;
}

}  // namespace

bool UniqueForces::takes(const Problem& problem, int rows) {
  return problem.coupling.empty() && problem.columns() > 0 && rows <= kMostChoiceRows;
}

bool UniqueForces::find_redundancy(const Problem& problem, const Solution& solution) {
  masses_.update(problem);
  idle_.assign(problem.blocks.size(), 0);
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    if (block.law != LawKind::Friction && block.law != LawKind::Nonnegative) continue;
    idle_[i] = solution.lambda.segment(block.row, block.size).isZero(0) && solution.w[block.row] > kIdleSpeed;
  }
  return redundancy_.find(problem, masses_, idle_, &determined_);
}

void UniqueForces::start(const Solution& solution) {
  const Problem& p = *problem_;
  system_.prepare(p);
  maps_.resize(p);
  const int blocks = static_cast<int>(p.blocks.size());
  rho_.resize(blocks);
  code_.assign(blocks, -1);
  factored_code_.assign(blocks, -2);
  slides_.assign(blocks, 0);
  gives_.assign(p.rows(), 0);
  row_scale_.setZero(p.rows());
  follow_.setZero(p.rows());
  mobility_ = std::numeric_limits<double>::infinity();
  for (int i = 0; i < blocks; ++i) {
    const RowBlock& block = p.blocks[i];
    const double diagonal = system_.mean_diagonal(i);
    rho_[i] = diagonal > 0 ? 1 / diagonal : 1;
    if (is_contact(block)) {
      if (diagonal > 0) mobility_ = std::min(mobility_, diagonal);
      continue;
    }
    // Row by row: the mean over a joint would mix metres and radians.
    for (int e = block.entry; e < block.entry + block.entries; ++e) {
      double own[6];
      update_diagonal(p, masses_, block, p.entries[e], own);
      for (int k = 0; k < block.size; ++k) row_scale_[block.row + k] += own[k];
    }
    for (int k = 0; k < block.size; ++k)
      if (!(row_scale_[block.row + k] > 0)) row_scale_[block.row + k] = 1;
  }
  factorizations_ = 0;
  eta_ = 0;
  x_.setZero(p.rows());
  system_.update_state(x_, &v_, &u_);
  scale_ = calc_residual_scale(p, v_, u_);
  slip_ = kSlipShare * u_.cwiseAbs().maxCoeff();
  go_to(solution.lambda);
  centre_.setZero(p.rows());
  y_.resize(p.rows());
  best_residual_ = std::numeric_limits<double>::infinity();
}

void UniqueForces::go_to(const VecX& impulses) {
  x_ = impulses;
  system_.update_state(x_, &v_, &u_);
  w_ = u_ + Eigen::Map<const VecX>(problem_->compliance.data(), problem_->rows()).cwiseProduct(x_);
}

/// R = eta E for contacts; joints and motors keep a compliance that does not matter, anchored at their impulses.
void UniqueForces::set_softness(double eta) {
  if (eta == eta_) return;  // the factor stays
  const Problem& p = *problem_;
  eta_ = eta;
  proximal_.resize(p.rows());
  weight_.resize(p.rows());
  for (const RowBlock& block : p.blocks) {
    const LawRows rows = law_rows(p, block);
    double* weight = weight_.data() + block.row;
    if (is_contact(block)) {
      update_resolvent_weights(rows, eta * mobility_, weight);
    } else {
      for (int k = 0; k < block.size; ++k) weight[k] = rows.compliance[k] + kJointSoftness * row_scale_[block.row + k];
    }
    for (int k = 0; k < block.size; ++k) proximal_[block.row + k] = weight[k] - rows.compliance[k];
  }
  std::fill(factored_code_.begin(), factored_code_.end(), -2);
}

/// y = (R c - u) / (R + C): what the springs alone would carry.
void UniqueForces::update_springs(const VecX& u, VecX* y) const {
  *y = (proximal_.cwiseProduct(centre_) - u).cwiseQuotient(weight_);
}

/// L(y), the pieces it lies on and, for `maps`, its derivative.
void UniqueForces::update_laws(const VecX& y, bool maps) {
  const Problem& p = *problem_;
  resolved_.resize(p.rows());
  if (maps) maps_.symmetric = true;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    if (block.law == LawKind::Equality) continue;
    double beyond[6];
    const double* y_i = is_contact(block) ? y.data() + block.row : put_beyond(block, y.data() + block.row, beyond);
    double* x_i = resolved_.data() + block.row;
    bool symmetric = true;
    update_spring_law(law_rows(p, block), slides_[i], follow_.data() + block.row, weight_.data() + block.row, y_i, x_i,
                      maps ? maps_.d.data() + maps_.start[i] : nullptr, &symmetric);
    code_[i] = find_spring_code(block, slides_[i], y_i, x_i);
    if (!maps) continue;
    maps_.symmetric = maps_.symmetric && symmetric;
    maps_.zero[i] = code_[i] == 0;
  }
}

bool UniqueForces::factor(int more) {
  const double step_work = system_.calc_step_work();
  if (factorizations_ >= most_ + more || work_->spent + step_work > work_->limit) return false;
  work_->spent += step_work;
  ++factorizations_;
  for (const RowBlock& block : problem_->blocks)
    if (block.law == LawKind::Equality)
      maps_.weight.segment(block.row, block.size) = weight_.segment(block.row, block.size);
  if (!system_.factor(maps_)) return false;
  kept_d_ = maps_.d;
  factored_code_ = code_;
  return true;
}

/// What is left of the springs' law after part of the step, m/s.
double UniqueForces::calc_gap(double step) {
  const Problem& p = *problem_;
  trial_x_ = x_ + step * dx_;
  trial_u_ = u_ + step * du_;
  update_springs(trial_u_, &trial_y_);
  update_laws(trial_y_, false);
  const double r = eta_ * mobility_;
  double sum = 0;
  for (const RowBlock& block : p.blocks) {
    for (int k = block.row; k < block.row + block.size; ++k) {
      const double left = block.law == LawKind::Equality
                              ? trial_u_[k] + weight_[k] * trial_x_[k] - proximal_[k] * centre_[k]
                              : r * (trial_x_[k] - resolved_[k]);
      sum += left * left;
    }
  }
  return std::sqrt(sum);
}

/// Where a choice begins: the impulses as they are, c = 0; or, where these are the choice of a problem that was the
/// same but for rounding, c = x: what is added then moves something, and the rest stays chosen.
void UniqueForces::begin(bool chosen) {
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[i];
    for (int k = block.row; k < block.row + block.size; ++k) {
      const bool slips = is_contact(block) && slides_[i] && k > block.row;
      centre_[k] = is_contact(block) && (!chosen || slips) ? 0 : x_[k];
      if (slips)
        y_[k] = -w_[k] / proximal_[k];
      else
        y_[k] = is_contact(block) ? x_[k] - w_[k] * rho_[i] : calc_held(block, k - block.row);
    }
  }
}

/// c <- c - w / R, and what slides forgets it. The next round takes its first derivative at c: w is to vanish.
void UniqueForces::begin_round() {
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[i];
    for (int k = block.row; k < block.row + block.size; ++k) {
      if (!is_contact(block)) {
        centre_[k] = x_[k];
        y_[k] = calc_held(block, k - block.row);
      } else if (slides_[i] && k > block.row) {
        centre_[k] = 0;
        y_[k] = -w_[k] / proximal_[k];
      } else {
        centre_[k] -= w_[k] / proximal_[k];
        y_[k] = centre_[k];
      }
    }
  }
}

/// Newton's method on x = L(c - u / R), the first step from the derivative at y_.
bool UniqueForces::solve_round(double accuracy) {
  const Problem& p = *problem_;
  double gap = std::numeric_limits<double>::infinity(), before = 0;
  const double r = eta_ * mobility_;
  for (int step = 0; step < kMostSteps; ++step) {
    const bool first = step == 0;
    if (first || !(gap < kChoiceChordFall * before)) {
      if (!first && gap <= kRoundingLeft * r * x_.norm()) return true;
      update_laws(y_, true);
      if (first && code_ == factored_code_) {
        maps_.d = kept_d_;
      } else if (!factor()) {
        return false;
      }
    }
    maps_.g = resolved_ - x_;
    for (std::size_t i = 0; i < p.blocks.size(); ++i) {
      const RowBlock& block = p.blocks[i];
      for (int k = 0; k < block.size; ++k) {
        const int row = block.row + k;
        if (block.law == LawKind::Equality) {
          maps_.g[row] = proximal_[row] * centre_[row] - u_[row] - weight_[row] * x_[row];
          continue;
        }
        if (!first || maps_.zero[i]) continue;
        const double* d = maps_.d.data() + maps_.start[i] + static_cast<std::ptrdiff_t>(k) * block.size;
        for (int l = 0; l < block.size; ++l) {
          const int other = block.row + l;
          maps_.g[row] += d[l] * (proximal_[other] * centre_[other] - u_[other] - weight_[other] * y_[other]);
        }
      }
    }
    system_.solve(maps_, &dx_, &du_);
    if (!dx_.allFinite() || !du_.allFinite()) return false;
    before = gap;
    double best = 1;
    gap = calc_gap(1);
    for (double t = 0.5; !first && t > 0.02 && !(gap < before); t *= 0.5) {
      const double less = calc_gap(t);
      if (less < gap) gap = less, best = t;
    }
    if (best != 1) calc_gap(best);
    std::swap(x_, trial_x_);
    std::swap(u_, trial_u_);
    std::swap(y_, trial_y_);
    if (gap <= std::max(accuracy * r * x_.norm(), kRoundingSpeed * scale_)) return true;
  }
  return false;
}

/// The round's impulses, made admissible, and their residual by the judge's formula.
double UniqueForces::judge_round() {
  const Problem& p = *problem_;
  go_to(x_);
  update_springs(u_, &y_);
  trial_x_ = x_;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    double* x = trial_x_.data() + block.row;
    if (block.law == LawKind::Equality) continue;
    if (!slides_[i]) {
      project_impulse(block, p.lower.data() + block.row, p.upper.data() + block.row, x);
      continue;
    }
    double y[6];
    bool symmetric = false;
    y[0] = x[0];
    for (int k = 1; k < block.size; ++k) y[k] = y_[block.row + k];
    update_spring_law(law_rows(p, block), true, follow_.data() + block.row, weight_.data() + block.row, y, x, nullptr,
                      &symmetric);
  }
  const bool admissible = (trial_x_.array() == x_.array()).all();
  if (admissible)
    trial_u_ = u_;
  else
    system_.update_state(trial_x_, &v_, &trial_u_);
  trial_u_ += Eigen::Map<const VecX>(p.compliance.data(), p.rows()).cwiseProduct(trial_x_);
  const double residual = calc_relative(calc_natural_map_norm(p, rho_, trial_x_, trial_u_), scale_);
  if (residual < best_residual_) {
    best_residual_ = residual;
    best_ = trial_x_;
  }
  return residual;
}

bool UniqueForces::run_rounds(bool reclassifies, bool chosen) {
  set_softness(kFirstSoftness);
  classify(!reclassifies);
  begin(chosen);
  if (!reclassifies) keep_carrying();
  double before = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kMostRounds; ++round) {
    if (!solve_round(round == 0 ? kCoarseRound : kFineRound)) break;
    const double residual = judge_round();
    if (residual <= (chosen ? kEnoughAtRest : kEnough)) break;
    if (residual <= kRoundFall * before) {
      before = residual;
      begin_round();
      continue;
    }
    // A motor that has come to its bound and has a speed left is not what it was taken for, however small the speed.
    const bool gives = reclassifies && update_giving();
    if (!gives && best_residual_ <= kGoodEnough) break;
    before = std::numeric_limits<double>::infinity();
    if (!reclassifies) return false;
    if (reclassify() || gives) {
      set_softness(kFirstSoftness);
      begin(false);
    } else {
      if (eta_ <= kLeastSoftness) break;
      begin_round();
      set_softness(kLessSoft * eta_);
    }
  }
  return std::isfinite(best_residual_);
}

/// The maps for find_affected at x_: all that touches carries, whatever it would have to be clear of its law's edge
/// for.
void UniqueForces::update_test_maps() {
  for (std::size_t i = 0; i < problem_->blocks.size(); ++i) {
    const RowBlock& block = problem_->blocks[i];
    const double* w = w_.data() + block.row;
    double* y = y_.data() + block.row;
    for (int k = 0; k < block.size && !is_contact(block); ++k) y[k] = calc_held(block, k);
    if (!is_contact(block)) continue;
    y[0] = x_[block.row] > 0 || w[0] <= slip_ ? 1 : -1;
    const double slip = slides_[i] ? tangent_length(block, w) : 0;
    for (int k = 1; k < block.size; ++k)
      y[k] = slides_[i] ? -w[k] / (slip * kSlipShare)
                        : (block.mu == 0 ? 1 : 0);  // far outside, inside, or not held at all
  }
  update_laws(y_, true);
}

/// Which contacts carry forces that are not unique, at x_. False: there is no factor to find out with.
bool UniqueForces::test() {
  update_test_maps();
  tested_code_ = code_;
  if (code_ != factored_code_) {
    if (!factor(1)) return false;
  } else {
    maps_.d = kept_d_;
  }
  find_affected();
  return true;
}

bool UniqueForces::is_unaffected() const { return std::count(affected_.begin(), affected_.end(), 1) == 0; }

/// A random stress, projected on those that move nothing; what is left of it shows where they are.
void UniqueForces::find_affected() {
  const Problem& p = *problem_;
  affected_.assign(p.blocks.size(), 0);
  maps_.g.setZero();
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    if (!is_contact(block) || maps_.zero[i]) continue;
    const double* d = maps_.d.data() + maps_.start[i];
    for (int k = 0; k < block.size; ++k)
      for (int l = 0; l < block.size; ++l)
        maps_.g[block.row + k] += d[k * block.size + l] * weight_[block.row + l] *
                                  hash_number(static_cast<std::uint64_t>(block.row) + static_cast<std::uint64_t>(l));
  }
  for (int round = 0; round < kProjections; ++round) {
    system_.solve(maps_, &dx_, &du_);
    maps_.g.setZero();
    for (const RowBlock& block : p.blocks)
      if (is_contact(block)) maps_.g.segment(block.row, block.size) = dx_.segment(block.row, block.size);
  }
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const RowBlock& block = p.blocks[i];
    affected_[i] = is_contact(block) && !(maps_.g.segment(block.row, block.size).cwiseAbs().maxCoeff() <= kAffected);
  }
}

/// The best of the rounds, if the judge is content with it, or as content as with what it replaces.
UniqueForces::Outcome UniqueForces::finish(double tolerance, Judge* judge, Solution* solution) {
  Outcome outcome;
  go_to(best_);
  choice_.lambda = x_;
  choice_.v = v_;
  choice_.w = w_;
  outcome.residual = judge->certify(*problem_, choice_);
  outcome.chosen = outcome.residual.within(kJudgeShare * tolerance);
  // Where rows contradict each other in the last digits no answer is much better: it is a matter of who has the rest.
  if (!outcome.chosen && outcome.residual.within(tolerance))
    outcome.chosen = outcome.residual.verdict() <= kNoWorse * judge->certify(*problem_, *solution).verdict();
  if (!outcome.chosen) return outcome;
  std::swap(solution->lambda, choice_.lambda);
  std::swap(solution->v, choice_.v);
  std::swap(solution->w, choice_.w);
  return outcome;
}

void UniqueForces::find_uniqueness(bool chosen, bool tested, Solution* solution) {
  const Problem& p = *problem_;
  solution->uniqueness.assign(p.blocks.size(), Uniqueness::Unique);
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    if (determined_[i] || (tested && !affected_[i]) || !is_contact(p.blocks[i])) continue;
    solution->uniqueness[i] = chosen ? Uniqueness::Chosen : tested ? Uniqueness::Arbitrary : Uniqueness::Unknown;
  }
}

UniqueForces::Outcome UniqueForces::choose(const Problem& problem, double tolerance, WorkMeter* work, Judge* judge,
                                           Solution* solution) {
  Outcome outcome;
  problem_ = &problem;
  work_ = work;
  if (!find_redundancy(problem, *solution)) {
    outcome.unique = true;
    solution->uniqueness.assign(problem.blocks.size(), Uniqueness::Unique);
    return outcome;
  }
  start(*solution);
  most_ = kMostFactorizations;
  const bool movable = mobility_ > 0 && std::isfinite(mobility_);
  // The test first: most of what the graph of contacts does not decide is unique, and no round is due then.
  set_softness(kFirstSoftness);
  classify(false);
  bool tested = test();
  outcome.unique = tested && is_unaffected();
  if (std::isfinite(work->limit) && problem.rows() > kManyChoiceRows &&
      std::find(slides_.begin(), slides_.end(), 1) != slides_.end())
    most_ = kHurriedFactorizations;
  if (!outcome.unique && movable && run_rounds(true, false)) outcome = finish(tolerance, judge, solution);
  if (outcome.chosen) {
    // What touches, and what slides, may be other contacts now.
    update_test_maps();
    if (!tested || code_ != tested_code_) tested = test();
    outcome.unique = tested && is_unaffected();
  }
  find_uniqueness(outcome.chosen, tested, solution);
  outcome.factorizations = factorizations_;
  return outcome;
}

UniqueForces::Outcome UniqueForces::follow(const Problem& problem, double tolerance, WorkMeter* work, Judge* judge,
                                           Solution* solution) {
  Outcome outcome;
  problem_ = &problem;
  work_ = work;
  masses_.update(problem);
  start(*solution);
  most_ = kFollowed;
  if (!(mobility_ > 0) || !std::isfinite(mobility_)) return outcome;
  best_ = x_;
  const double left = calc_relative(calc_natural_map_norm(problem, rho_, x_, w_), scale_);
  const double fine = std::max(kStillChosen, kStillShareOfTolerance * tolerance);
  const double creep = calc_relative(calc_creep_norm(problem, x_, u_), scale_);
  const bool rests = left <= fine && is_at_rest(left, creep, calc_still(problem.columns(), tolerance));
  if (!rests && !run_rounds(false, left <= tolerance)) {
    outcome.factorizations = factorizations_;
    return outcome;
  }
  outcome = finish(tolerance, judge, solution);
  if (outcome.chosen) {
    bool known = true;
    for (std::size_t i = 0; i < problem.blocks.size(); ++i)
      known = known && (!is_contact(problem.blocks[i]) || solution->lambda[problem.blocks[i].row] == 0 ||
                        solution->uniqueness[i] == Uniqueness::Unique || solution->uniqueness[i] == Uniqueness::Chosen);
    if (!known) {
      determined_.assign(problem.blocks.size(), 0);
      const bool tested = test();
      find_uniqueness(true, tested, solution);
    }
  }
  outcome.factorizations = factorizations_;
  return outcome;
}

}  // namespace slipstick
