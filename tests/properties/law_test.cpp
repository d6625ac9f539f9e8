// No wrong "solved": random small problems, each beside an unrelated fast island, through every solver and the ladder;
// what they call solved is held against the law's definition (support/law_judge.h). SLIPSTICK_LAW sets how many
// problems (label slow: 1,000,000), SLIPSTICK_LAW_FIRST with which to begin, so that a campaign may be run in pieces.
// `admm` and `apgd` would take nine tenths of the time, most of it for what they do not solve: they have 100 iterations
// for every problem, and their own number, with polishing, for one in twenty. Without SLIPSTICK_LAW the solvers that
// iterate have one problem in ten.
#include <gtest/gtest.h>
#include <slipstick/solver.h>
#include <slipstick/solver_ladder.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "support/law_judge.h"
#include "support/random_problem.h"

namespace slipstick::test {
namespace {

constexpr double kTolerance = 1e-8;
constexpr double kWrong = 1e-6;  // 100 times the tolerance, by another scale than the judge's
constexpr double kBound = 1e4;   // the largest coefficient that files may have

/// Bodies, laws, masses and coefficients of every kind; mu to the bound, mass ratios to 1e12. Most are small: what can
/// go wrong does with few contacts, and there are more of them in an hour.
Problem make_small_problem(std::uint64_t seed) {
  Random random(seed ^ 0x5eed);
  RandomProblemOptions options;
  const bool small = random.chance(0.8);
  options.bodies = 1 + random.below(small ? 4 : 6);
  options.contacts = small ? 1 + random.below(4) : 5 + random.below(4);
  options.planar = random.chance(0.3);
  options.symmetric = !random.chance(0.1);
  options.mass_ratio_exponent = std::array{0.0, 2.0, 6.0, 9.0, 12.0}[random.below(5)];
  options.mu_max = std::array{0.0, 1.0, 1.0, 10.0, 1e3, kBound}[random.below(6)];
  options.duplicate_chance = random.chance(0.5) ? 0.4 : 0;
  options.joint_chance = random.chance(0.5) ? 0.4 : 0;
  options.other_rows = random.chance(0.5) ? 0.3 : 0;
  options.compliance_chance = random.chance(0.3) ? 0.2 : 0;
  options.friction = static_cast<FrictionModel>(random.below(3));
  if (options.friction == FrictionModel::Cone && !options.planar && random.chance(0.2)) options.turning_chance = 0.5;
  return make_random_problem(seed, options);
}

/// A sphere that rolls far away, or slides, at `speed`: an island of its own.
void add_fast_island(double speed, Problem* p) {
  BlockMap a = p->add_column(6);
  for (int i = 0; i < 6; ++i) a(i, i) = i < 3 ? 1 : 0.1;
  double* b = p->b.data() + p->b.size() - 6;
  b[0] = speed;
  b[2] = -0.1;
  const int column = p->columns() - 1;
  RowBlock& block = p->add_block(LawKind::Friction, 3);
  block.mu = 0.5;
  p->add_entry(column) << 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, -0.5, 0, 0, 1, 0, 0.5, 0, 0;
}

struct Count {
  long solved = 0, unsupported = 0, not_converged = 0, wrong = 0;
  double worst = 0;  ///< of the solved, by the definition
};

void check(const std::string& name, std::uint64_t seed, const Problem& problem, bool solved, const Solution& answer,
           Count* count) {
  if (!solved) {
    ++count->not_converged;
    return;
  }
  ++count->solved;
  const LawFinding finding = find_law_error(problem, answer);
  count->worst = std::max(count->worst, finding.worst);
  if (finding.worst <= kWrong) return;
  if (++count->wrong > 20) return;
  ADD_FAILURE() << name << ", seed " << seed << ": solved, but block " << finding.block << " " << finding.part << " by "
                << finding.worst << " of its own speeds (judge: " << certify(problem, answer).verdict() << ")";
}

bool is_dear(std::string_view solver) { return solver == "admm" || solver == "apgd"; }
bool iterates(std::string_view solver) { return solver == "pgs" || solver == "split" || is_dear(solver); }

TEST(Law, NoSolverIsWronglySolved) {
  const char* wanted = std::getenv("SLIPSTICK_LAW");
  const char* first = std::getenv("SLIPSTICK_LAW_FIRST");
  const long count = wanted ? std::atol(wanted) : 2000, begin = first ? std::atol(first) : 0;
  SolverOptions options, brief;
  options.time_limit = brief.time_limit = 0.2;
  brief.max_iterations = 100;
  std::map<std::string, std::unique_ptr<Solver>> solvers, brief_ones;
  for (const std::string_view name : solver_names()) {
    solvers[std::string(name)] = make_solver(name, options);
    if (is_dear(name)) brief_ones[std::string(name)] = make_solver(name, brief);
  }
  std::map<std::string, Count> counts;
  SolverLadder ladder({});
  for (long seed = begin; seed < begin + count; ++seed) {
    Problem problem = make_small_problem(seed);
    const double speed = std::array{0.0, 1e3, 1e6, 1e10}[seed / 10 % 4];
    if (speed > 0) add_fast_island(speed, &problem);
    for (auto& [name, whole] : solvers) {
      if (!wanted && seed % 10 > 0 && iterates(name)) continue;
      Solver& solver = wanted && seed % 20 > 0 && is_dear(name) ? *brief_ones[name] : *whole;
      Solution answer;
      const SolverReport report = solver.solve(problem, kTolerance, &answer);
      if (report.status == SolveStatus::Unsupported)
        ++counts[name].unsupported;
      else
        check(name, seed, problem, report.status == SolveStatus::Solved, answer, &counts[name]);
    }
    Solution answer;
    const LadderResult result = ladder.solve(problem, &answer);
    EXPECT_EQ(result.certified, certify(problem, answer).within(kTolerance)) << seed;
    check("auto", seed, problem, result.certified, answer, &counts["auto"]);
  }
  for (const auto& [name, c] : counts) {
    std::printf("%-12s solved %ld, not converged %ld, unsupported %ld, wrong %ld, worst by the definition %.1e\n",
                name.c_str(), c.solved, c.not_converged, c.unsupported, c.wrong, c.worst);
    EXPECT_EQ(c.wrong, 0) << name;
    if (wanted) continue;
    EXPECT_GT(c.solved, count / (iterates(name) ? 200 : 20)) << name << " solves nothing: this test says nothing of it";
  }
}

/// The judge itself, without any solver: answers that are a little or very wrong at one place. What the definition
/// calls wrong must not pass, and what it calls right by far must.
TEST(Law, TheJudgeSeesWhatTheDefinitionSees) {
  SolverLadder ladder({});
  Judge judge;
  int wrong = 0, right = 0;
  for (int seed = 0; seed < 300; ++seed) {
    Problem problem = make_small_problem(seed);
    add_fast_island(std::array{1.0, 1e3, 1e10}[seed % 3], &problem);
    Solution answer;
    ladder.solve(problem, &answer);
    Random random(seed);
    for (int k = 0; k < 20; ++k) {
      Solution other = answer;
      const RowBlock& block = problem.blocks[random.below(static_cast<int>(problem.blocks.size()) - 1)];
      const double size = std::pow(10.0, random.uniform(-12, 1)) * answer.lambda.cwiseAbs().maxCoeff();
      for (int r = block.row; r < block.row + block.size; ++r)
        if (random.chance(0.5)) other.lambda[r] += size * random.normal();
      other.v = LawJudge(problem, other).velocity();
      const LawFinding finding = find_law_error(problem, other);
      const Residuals residuals = judge.certify(problem, other);
      wrong += finding.worst > kWrong;
      right += finding.worst < 1e-10;
      if (finding.worst > kWrong) {
        EXPECT_FALSE(residuals.within(kTolerance)) << seed << ": block " << finding.block << " " << finding.part
                                                   << " by " << finding.worst << ", judge " << residuals.verdict();
      }
      if (finding.worst < 1e-10) {
        EXPECT_LE(residuals.law, kTolerance)
            << seed << ": " << name_of(residuals.worst.part) << " " << residuals.worst.value;
      }
    }
  }
  EXPECT_GT(wrong, 1000);
  EXPECT_GT(right, 100);
}

/// Nor does `newton` by itself, from no guess: scales of the fastest island gave joints of others that say the same
/// twice impulses of 1e10 N s that cancel, with what rounding leaves of them.
TEST(Law, AnUnrelatedIslandChangesNoAnswerOfNewton) {
  const auto newton = make_solver("newton");
  for (int k = 0; k < 300; ++k) {
    const int seed = k == 0 ? 545759 : k == 1 ? 494955 : k;
    const Problem alone = make_small_problem(seed);
    Problem both = alone;
    add_fast_island(1e10, &both);
    Solution answer, beside;
    const SolverReport report = newton->solve(alone, kTolerance, &answer);
    const SolverReport again = newton->solve(both, kTolerance, &beside);
    EXPECT_EQ(report.status, again.status) << seed;
    EXPECT_EQ(answer.lambda, beside.lambda.head(alone.rows())) << seed;
    if (report.status == SolveStatus::Solved) {
      EXPECT_LT(find_law_error(both, beside).worst, kWrong) << seed;
    }
  }
}

/// The judge's verdict on an island, and the ladder's answer to it, do not depend on what else there is.
TEST(Law, AnUnrelatedIslandChangesNoVerdict) {
  SolverLadder ladder({});
  int refused = 0;
  for (int seed = 0; seed < 300; ++seed) {
    const Problem alone = make_small_problem(seed);
    Solution answer, beside;
    const LadderResult result = ladder.solve(alone, &answer);
    for (const double speed : {1.0, 1e3, 1e10}) {
      Problem both = alone;
      add_fast_island(speed, &both);
      beside = {};
      const LadderResult again = ladder.solve(both, &beside);
      EXPECT_EQ(result.certified, again.certified) << seed;
      EXPECT_EQ(answer.lambda, beside.lambda.head(alone.rows())) << seed;
    }
    // A wrong answer stays wrong: half of the impulses is no solution, however fast something else is.
    Solution half = answer;
    half.lambda *= 0.5;
    half.v = LawJudge(alone, half).velocity();
    if (certify(alone, half).within(kTolerance)) continue;
    ++refused;
    Problem both = alone;
    add_fast_island(1e10, &both);
    beside.lambda.head(alone.rows()) = half.lambda;
    beside.v.head(alone.unknowns()) = half.v;
    EXPECT_FALSE(certify(both, beside).within(kTolerance)) << seed;
  }
  EXPECT_GT(refused, 150);
}

}  // namespace
}  // namespace slipstick::test
