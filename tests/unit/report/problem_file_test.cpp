#include <gtest/gtest.h>
#include <slipstick/app/problem_file.h>
#include <slipstick/app/solve_report.h>
#include <slipstick/scene.h>
#include <slipstick/simulation.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "support/random_problem.h"
#include "support/scene_problems.h"

namespace slipstick {
namespace {

namespace fs = std::filesystem;

class ProblemFiles : public ::testing::Test {
 protected:
  ProblemFiles() : folder_(fs::temp_directory_path() / ("problem_file_test." + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~ProblemFiles() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  ProblemFile round_trip(const Problem& problem, const Solution* guess = nullptr) const {
    for (const Fault& fault : save_problem(path("p.hdf5"), problem, "a test", guess)) ADD_FAILURE() << fault.text();
    Result<ProblemFile> file = load_problem(path("p.hdf5"));
    if (file) return std::move(file).value();
    for (const Fault& fault : file.faults()) ADD_FAILURE() << fault.text();
    return {};
  }

  fs::path folder_;
};

void expect_same(const Problem& a, const Problem& b) {
  EXPECT_EQ(a.column_start, b.column_start);
  EXPECT_EQ(a.mass, b.mass);
  EXPECT_EQ(a.b, b.b);
  EXPECT_EQ(a.c, b.c);
  EXPECT_EQ(a.compliance, b.compliance);
  EXPECT_EQ(a.jacobian, b.jacobian);
  EXPECT_EQ(a.coupling.start, b.coupling.start);
  EXPECT_EQ(a.coupling.column, b.coupling.column);
  EXPECT_EQ(a.coupling.value, b.coupling.value);
  ASSERT_EQ(a.blocks.size(), b.blocks.size());
  for (std::size_t k = 0; k < a.blocks.size(); ++k) {
    const RowBlock &x = a.blocks[k], &y = b.blocks[k];
    EXPECT_EQ(x.row, y.row);
    EXPECT_EQ(x.size, y.size);
    EXPECT_EQ(x.law, y.law);
    EXPECT_EQ(x.entries, y.entries);
    EXPECT_EQ(x.mode, y.mode);
    if (x.law == LawKind::Friction) {
      EXPECT_EQ(x.mu, y.mu);
      EXPECT_EQ(x.friction, y.friction);
      if (x.friction == FrictionModel::Pyramid) {
        EXPECT_EQ(x.facets, y.facets);
      }
    }
    for (int r = x.row; r < x.row + x.size && x.law == LawKind::Box; ++r) {
      EXPECT_EQ(a.lower[r], b.lower[r]);
      EXPECT_EQ(a.upper[r], b.upper[r]);
    }
  }
}

/// Entries of each block in the order of their columns, as a file gives them back.
Problem with_sorted_entries(const Problem& from) {
  Problem to = from;
  to.entries.clear();
  to.jacobian.clear();
  for (RowBlock& block : to.blocks) {
    std::vector<JacobianEntry> own(from.entries.begin() + block.entry,
                                   from.entries.begin() + block.entry + block.entries);
    std::sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.column < b.column; });
    block.entry = static_cast<int>(to.entries.size());
    for (const JacobianEntry& e : own) {
      const int size = block.size * from.column_size(e.column);
      to.entries.push_back({e.column, static_cast<int>(to.jacobian.size())});
      to.jacobian.insert(to.jacobian.end(), from.jacobian.begin() + e.offset, from.jacobian.begin() + e.offset + size);
    }
  }
  return to;
}

TEST_F(ProblemFiles, GlobalFormComesBackBitForBit) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    test::RandomProblemOptions options = test::make_varied_options(seed);
    options.contacts = std::min(options.contacts, 15);
    Problem problem = with_sorted_entries(test::make_random_problem(seed, options));
    test::Random random(seed);
    for (RowBlock& block : problem.blocks)
      if (seed % 2 == 0) block.mode = static_cast<SolveMode>(random.below(3));
    const ProblemFile file = round_trip(problem);
    expect_same(problem, file.problem);
    EXPECT_EQ(file.form, ProblemForm::Global);
    EXPECT_EQ(
        file.problem.symmetric, problem.symmetric || [&] {
          for (int k = 0; k < problem.columns(); ++k)
            if (problem.mass_block(k) != problem.mass_block(k).transpose()) return false;
          return true;
        }());
    EXPECT_FALSE(file.condensed);
  }
}

TEST_F(ProblemFiles, ConesWithoutExtrasAreWhatFclibKnows) {
  const ProblemFile file = round_trip(test_support::stack(3));
  EXPECT_EQ(file.contacts, 12);
  EXPECT_EQ(file.dimension, 3);
  EXPECT_EQ(file.rows.size(), 36u);
  EXPECT_TRUE(file.equalities.empty());
}

Problem make_coupled(bool mixed) {
  Problem p;
  const double w[4][4] = {{2, 0.1, 0, 0}, {0.1, 2, 0, 0}, {0, 0, 1, 0.5}, {0, 0, 0.4, 1}};
  if (mixed) {
    p.add_block(LawKind::Friction, 2).mu = 0.3;
    p.add_block(LawKind::Box, 1);
    p.add_block(LawKind::Equality, 1);
    p.lower[2] = -std::numeric_limits<double>::infinity();
    p.upper[2] = 0.25;
  } else {
    for (int k = 0; k < 2; ++k) p.add_block(LawKind::Friction, 2).mu = 0.3 * k;
  }
  p.coupling.start = {0};
  for (int r = 0; r < 4; ++r) {
    p.c[r] = -1 + 0.3 * r;
    for (int c = 0; c < 4; ++c) {
      if (w[r][c] == 0) continue;
      p.coupling.column.push_back(c);
      p.coupling.value.push_back(w[r][c]);
    }
    p.coupling.start.push_back(static_cast<int>(p.coupling.column.size()));
  }
  return p;
}

TEST_F(ProblemFiles, LocalAndPlainFormsComeBackBitForBit) {
  const Problem local = make_coupled(false), plain = make_coupled(true);
  const ProblemFile a = round_trip(local), b = round_trip(plain);
  expect_same(local, a.problem);
  expect_same(plain, b.problem);
  EXPECT_EQ(a.form, ProblemForm::Local);
  EXPECT_EQ(a.dimension, 2);
  EXPECT_EQ(b.form, ProblemForm::Plain);
  EXPECT_EQ(b.contacts, 1);
  EXPECT_EQ(b.rows.size(), 4u);
}

TEST_F(ProblemFiles, ADumpedStepGivesTheSameMotion) {
  for (const char* name : {"arch", "dominoes", "double_pendulum", "wrecking_ball", "two_carts", "newtons_cradle"}) {
    SCOPED_TRACE(name);
    const Result<Scene> scene = load_scene(std::string(SLIPSTICK_SOURCE_DIR) + "/scenes/" + name + ".yaml");
    ASSERT_TRUE(scene);
    Simulation simulation(scene->model, scene->initial, scene->options);
    for (int k = 0; k < 10; ++k) simulation.step();
    Problem problem;
    Solution guess;
    const StepReport& report = simulation.step_and_keep(&problem, &guess);
    const ProblemFile file = round_trip(problem, &guess);
    expect_same(with_sorted_entries(problem), file.problem);
    const SolveRun run = solve_problem(file, {});
    EXPECT_EQ(run.solved(), report.certified);
    SolverLadder ladder({});
    Solution own = guess;
    ladder.solve(problem, &own);
    ASSERT_EQ(run.solution.v.size(), own.v.size());
    if (own.v.size() > 0) {
      EXPECT_LT((run.solution.v - own.v).cwiseAbs().maxCoeff(), 1e-6 * (1 + own.v.cwiseAbs().maxCoeff()));
    }
    const ProblemAnswer answer = make_answer(file, run.solution);
    EXPECT_EQ(answer.unknowns.size(), static_cast<std::size_t>(own.v.size()));
    EXPECT_EQ(answer.reaction.size() + answer.multipliers.size(), static_cast<std::size_t>(problem.rows()));
  }
}

TEST_F(ProblemFiles, AGuessIsKeptForTheContacts) {
  const Problem problem = test_support::stack(2);
  Solution guess;
  guess.v.setZero(problem.unknowns());
  guess.lambda = VecX::LinSpaced(problem.rows(), 1, 2);
  const ProblemFile file = round_trip(problem, &guess);
  EXPECT_EQ(file.guess.lambda, guess.lambda);
}

TEST_F(ProblemFiles, AnswersAreRecomputedFromTheReaction) {
  const ProblemFile file = round_trip(test_support::stack(2));
  Solution solution;
  solution.v.setConstant(file.problem.unknowns(), 7);  // a solver that lies about v and w
  solution.w.setConstant(file.problem.rows(), 7);
  solution.lambda.setZero(file.problem.rows());
  const ProblemAnswer answer = make_answer(file, solution);
  for (std::size_t r = 0; r < answer.velocity.size(); ++r)
    EXPECT_NEAR(answer.velocity[r], r < 12 && r % 3 == 0 ? -test_support::kGravity * test_support::kStep : 0, 1e-12);
}

TEST_F(ProblemFiles, FaultsNameTheFileAndLeaveNothing) {
  const Faults faults = save_problem(path("no/such/folder.hdf5"), test_support::stack(1), "t", nullptr);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_NE(faults[0].text().find("create it first"), std::string::npos) << faults[0].text();
  EXPECT_TRUE(fs::is_empty(folder_));
  const Result<ProblemFile> missing = load_problem(path("missing.hdf5"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.faults().size(), 1u);
}

TEST_F(ProblemFiles, LimitsHold) {
  ASSERT_TRUE(save_problem(path("p.hdf5"), test_support::stack(3), "t", nullptr).empty());
  ProblemLimits limits;
  limits.max_rows = 10;
  EXPECT_FALSE(load_problem(path("p.hdf5"), limits));
  limits = {};
  limits.max_nonzeros = 20;
  EXPECT_FALSE(load_problem(path("p.hdf5"), limits));
}

}  // namespace
}  // namespace slipstick
