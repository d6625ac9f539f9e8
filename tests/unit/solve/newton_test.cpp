#include <gtest/gtest.h>
#include <slipstick/solver.h>

#include <cmath>
#include <limits>
#include <string>

#include "solve/mass_blocks.h"
#include "solve/solvers/solvers.h"
#include "support/scene_problems.h"

namespace slipstick {
namespace {

using namespace test_support;

/// Solves cold to `bound`, certifies, and returns the number of factorizations.
int expect_solved(Solver* solver, const Problem& problem, double bound, const std::string& what) {
  Solution answer;
  const SolverReport report = solver->solve(problem, bound, &answer);
  const Residuals r = certify(problem, answer);
  EXPECT_EQ(report.status, SolveStatus::Solved) << what;
  EXPECT_LE(r.relative, bound) << what;
  EXPECT_LE(r.dynamics, 1e-9) << what;
  return report.iterations;
}

TEST(NewtonTest, EndsAtItsTimeLimitWithItsBestAnswer) {
  SolverOptions options;
  options.time_limit = 1e-9;
  for (const std::string_view name : {"newton", "lemke"}) {
    const Problem problem = pile(3);
    Solution answer;
    const SolverReport report = make_solver(name, options)->solve(problem, 1e-15, &answer);
    EXPECT_EQ(report.status, SolveStatus::NotConverged) << name;
    EXPECT_EQ(report.note, "time limit") << name;
    EXPECT_TRUE(std::isfinite(certify(problem, answer).relative)) << name;
  }
}

TEST(NewtonTest, Scenes) {
  const auto solver = make_newton();
  for (const int n : {1, 2, 3, 10, 40}) expect_solved(solver.get(), stack(n), 1e-12, "stack " + std::to_string(n));
  // Great loads on light cubes: the velocity is a small difference of great impulses, and rounding is what remains.
  for (const double ratio : {10.0, 30.0, 100.0}) expect_solved(solver.get(), heavy(ratio), 1e-9, "heavy");
  expect_solved(solver.get(), heavy(1e6, 2), 1e-9, "two cubes, mass ratio 1e6");
  for (const int n : {1, 10, 300}) expect_solved(solver.get(), chain(n), 1e-12, "chain " + std::to_string(n));
  expect_solved(solver.get(), wall(4, 5), 1e-12, "wall");
  expect_solved(solver.get(), pile(3), 1e-12, "pile");
  expect_solved(solver.get(), disks(6), 1e-10, "disks");
}

/// A brick wall whose middle bricks are struck sideways: redundant contacts, many of them sliding, from a cold start.
TEST(NewtonTest, StruckWallsOfEveryFrictionModel) {
  const auto solver = make_newton();
  for (const FrictionModel model : {FrictionModel::Cone, FrictionModel::Pyramid, FrictionModel::Box}) {
    for (const double speed : {0.5, 3.0, 10.0}) {
      Problem problem = wall(4, 4);
      for (RowBlock& block : problem.blocks) block.friction = model;
      for (const int brick : {5, 9}) problem.b[problem.column_start[brick] + 1] += 25 * speed;
      const int factorizations = expect_solved(solver.get(), problem, 1e-8, "wall struck at " + std::to_string(speed));
      EXPECT_LE(factorizations, 250) << "speed " << speed;
    }
  }
}

TEST(NewtonTest, CubeOnASlopeSticksBelowAndSlidesAboveTheFrictionAngle) {
  const auto solver = make_newton();
  for (const double push : {0.49, 0.51, 1.0}) {  // sideways pull over weight; mu = 0.5
    const Problem problem = cube_column({1.0}, 0.5, push);
    Solution answer;
    solver->solve(problem, 1e-8, &answer);
    EXPECT_NEAR(answer.v[0], std::max(0.0, push - 0.5) * kGravity * kStep, 1e-14);
  }
}

TEST(NewtonTest, WarmStartOfARestingStackNeedsOneFactorization) {
  const auto solver = make_newton();
  Problem problem = stack(40);
  Solution answer;
  solver->solve(problem, 1e-8, &answer);
  for (std::size_t i = 0; i < problem.b.size(); ++i) problem.b[i] *= 1 + 1e-3 * std::sin(static_cast<double>(i));
  const SolverReport report = solver->solve(problem, 1e-8, &answer);
  EXPECT_LE(report.iterations, 2);
  EXPECT_LE(certify(problem, answer).relative, 1e-12);
  EXPECT_EQ(solver->solve(problem, 1e-8, &answer).iterations, 0) << "the answer itself needs no work";
}

struct RandomClass {
  const char* name;
  RandomOptions options;
};

class NewtonRandom : public testing::TestWithParam<RandomClass> {};

TEST_P(NewtonRandom, Certified) {
  const auto solver = make_newton();
  for (unsigned seed = 1; seed <= 20; ++seed)
    expect_solved(solver.get(), random_problem(seed, GetParam().options), 1e-8,
                  std::string(GetParam().name) + " seed " + std::to_string(seed));
}

INSTANTIATE_TEST_SUITE_P(
    Classes, NewtonRandom,
    testing::Values(RandomClass{"one", {.bodies = 1, .contacts = 1}},
                    RandomClass{"small", {.bodies = 2, .contacts = 4}}, RandomClass{"ten", {}},
                    RandomClass{"hyperstatic", {.bodies = 3, .contacts = 20}},
                    RandomClass{"planar", {.bodies = 6, .contacts = 15, .planar = true}},
                    RandomClass{"pyramid", {.friction = FrictionModel::Pyramid}},
                    RandomClass{"pyramid4", {.contacts = 15, .friction = FrictionModel::Pyramid, .facets = 4}},
                    RandomClass{"box", {.friction = FrictionModel::Box}},
                    RandomClass{"laws", {.contacts = 20, .joints = 2, .all_laws = true}},
                    RandomClass{"compliant", {.contacts = 20, .compliance = 0.1}},
                    RandomClass{"ratio", {.contacts = 15, .mass_ratio = 1e3}},
                    RandomClass{"penetrating", {.bodies = 10, .contacts = 20, .penetrating = true}}),
    [](const testing::TestParamInfo<RandomClass>& info) { return std::string(info.param.name); });

/// Adds rows to every contact: spinning about the normal and rolling about the tangents, scaled by the arms.
Problem with_further_limits(const Problem& from, double spin_arm, double roll_arm) {
  Problem to;
  for (int k = 0; k < from.columns(); ++k) {
    to.add_column(from.column_size(k)) = from.mass_block(k);
    for (int i = 0; i < from.column_size(k); ++i) to.b[to.column_start[k] + i] = from.b[from.column_start[k] + i];
  }
  for (const RowBlock& old : from.blocks) {
    const bool contact = old.law == LawKind::Friction && old.size == 3;
    const int spin = contact && spin_arm > 0 ? 1 : 0, roll = contact && roll_arm > 0 ? 2 : 0;
    RowBlock& block = to.add_block(old.law, old.size + spin + roll);
    block.mu = old.mu;
    for (int k = 0; k < old.size; ++k) to.c[block.row + k] = from.c[old.row + k];
    for (int e = old.entry; e < old.entry + old.entries; ++e) {
      const auto j = from.jacobian_block(old, from.entries[e]);
      auto out = to.add_entry(from.entries[e].column);
      out.setZero();
      out.topRows(old.size) = j;
      for (int r = 0; r < spin + roll; ++r) {  // angular velocity along n, t1, t2: the linear part of those rows
        const int axis = spin == 1 ? r : r + 1;
        out.row(old.size + r).tail(3) = (axis == 0 ? spin_arm : roll_arm) / old.mu * j.row(axis).head(3);
      }
    }
  }
  return to;
}

TEST(NewtonTest, SpinningAndRollingFriction) {
  const auto solver = make_newton();
  for (const auto& [spin_arm, roll_arm] : {std::pair{0.02, 0.0}, {0.0, 0.01}, {0.02, 0.01}}) {
    SceneProblem scene;
    const double r = 0.1, mass = 4, inertia = 0.4 * mass * r * r, load = mass * kGravity * kStep;
    const Vec3 spin(0, 5, 3), velocity(0.5, 0, 0);  // rolls along x without sliding and spins
    const int ball = scene.add_body(Vec3(0, 0, r), mass, Vec3::Constant(inertia), velocity, spin);
    scene.add_contact(ball, -1, Vec3::Zero(), Vec3::UnitZ(), 0.5);
    const Problem problem = with_further_limits(scene.problem(), spin_arm, roll_arm);
    Solution answer;
    EXPECT_EQ(solver->solve(problem, 1e-8, &answer).status, SolveStatus::Solved);
    EXPECT_LE(certify(problem, answer).relative, 1e-10);
    // The spin loses (arm N) h / I; rolling loses arm N h / (7/5 m r^2): the sliding row keeps the contact rolling.
    EXPECT_NEAR(answer.v[5], 3 - spin_arm * load / inertia, 1e-12);
    EXPECT_NEAR(answer.v[4], 5 - roll_arm * load / (1.4 * mass * r * r), 1e-12);
    EXPECT_NEAR(answer.v[0], r * answer.v[4], 1e-12);
  }
}

TEST(NewtonTest, HeapsWithFurtherLimits) {
  const auto solver = make_newton();
  for (const Problem& plain : {pile(3), wall(3, 3), stack(5)}) {
    Problem problem = with_further_limits(plain, 0.01, 0.005);
    expect_solved(solver.get(), problem, 1e-8, "at rest");
    for (std::size_t i = 0; i < problem.b.size(); ++i) problem.b[i] += 3 * std::sin(7.0 * static_cast<double>(i));
    expect_solved(solver.get(), problem, 1e-8, "pushed about");
  }
}

TEST(NewtonTest, RedundantJointsAreExact) {
  SceneProblem scene;
  const int a = scene.add_box(Vec3(0.5, 0, 0), 1, Vec3(1, 0.1, 0.1)),
            b = scene.add_box(Vec3(1.5, 0, 0), 2, Vec3(1, 0.1, 0.1));
  for (int k = 0; k < 3; ++k) {
    scene.add_ball(a, -1, Vec3::Zero());
    scene.add_ball(b, a, Vec3(1, 0, 0));
  }
  const auto solver = make_newton();
  Solution answer;
  EXPECT_EQ(solver->solve(scene.problem(), 1e-8, &answer).status, SolveStatus::Solved);
  EXPECT_LE(certify(scene.problem(), answer).relative, 1e-13);
  // Equal copies share the load equally: the proximal term picks the least multipliers.
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(answer.lambda[k], answer.lambda[6 + k], 1e-9);
}

TEST(NewtonTest, NonsymmetricMassIsCertifiedAgainstTheTrueMatrix) {
  const auto solver = make_newton();
  for (unsigned seed = 1; seed <= 10; ++seed) {
    RandomOptions options;
    options.joints = 1;
    Problem problem = random_problem(seed, options);
    problem.symmetric = false;
    for (int k = 0; k < problem.columns(); ++k) {
      BlockMap a(problem.mass.data() + problem.mass_start[k], 6, 6);
      const double g = 0.1 * a(3, 3);
      a(3, 4) += g, a(4, 3) -= g, a(4, 5) += 2 * g, a(5, 4) -= 2 * g;
    }
    expect_solved(solver.get(), problem, 1e-8, "seed " + std::to_string(seed));
  }
}

/// The same problem in local form: W = J A^-1 J^T, c = q.
Problem as_local(const Problem& problem) {
  MassBlocks masses;
  masses.update(problem);
  Problem local;
  const int rows = problem.rows();
  VecX v, w, q, unit = VecX::Zero(rows);
  update_velocity(problem, masses, unit, &v);
  update_row_velocity(problem, v, unit, &q);
  MatX delassus(rows, rows);
  for (int r = 0; r < rows; ++r) {
    unit.setZero();
    unit[r] = 1;
    update_velocity(problem, masses, unit, &v);
    update_row_velocity(problem, v, unit, &w);
    delassus.col(r) = w - q;
  }
  for (const RowBlock& block : problem.blocks) {
    RowBlock& copy = local.add_block(block.law, block.size);
    copy.mu = block.mu;
    copy.friction = block.friction;
    copy.facets = block.facets;
  }
  std::copy(q.data(), q.data() + rows, local.c.begin());
  local.lower = problem.lower;
  local.upper = problem.upper;
  local.coupling.start.push_back(0);
  for (int r = 0; r < rows; ++r) {
    for (int k = 0; k < rows; ++k) {
      if (delassus(r, k) == 0) continue;
      local.coupling.column.push_back(k);
      local.coupling.value.push_back(delassus(r, k));
    }
    local.coupling.start.push_back(static_cast<int>(local.coupling.value.size()));
  }
  return local;
}

TEST(NewtonTest, LocalFormGivesTheSameMotion) {
  const auto solver = make_newton();
  for (const Problem& problem : {stack(4), pile(2), disks(3)}) {
    const Problem local = as_local(problem);
    expect_solved(solver.get(), local, 1e-12, "local form");
    Solution global_answer, local_answer;
    solver->solve(problem, 1e-8, &global_answer);
    solver->solve(local, 1e-8, &local_answer);
    // Reactions of redundant contacts are not unique; the row velocities of these scenes are.
    EXPECT_LT((global_answer.w - local_answer.w).cwiseAbs().maxCoeff(), 1e-10);
  }
  for (unsigned seed = 1; seed <= 10; ++seed) {
    RandomOptions options;
    options.all_laws = true;
    options.joints = 1;
    expect_solved(solver.get(), as_local(random_problem(seed, options)), 1e-8, "seed " + std::to_string(seed));
  }
}

TEST(NewtonTest, MixedFormIsRefused) {
  Problem problem = stack(1);
  problem.coupling.start.assign(problem.rows() + 1, 0);
  Solution answer;
  EXPECT_EQ(make_newton()->solve(problem, 1e-8, &answer).status, SolveStatus::Unsupported);
}

TEST(NewtonTest, TrivialProblems) {
  const auto solver = make_newton();
  Solution answer;
  EXPECT_EQ(solver->solve(Problem(), 1e-8, &answer).status, SolveStatus::Solved);
  EXPECT_EQ(answer.lambda.size(), 0);
  SceneProblem free_body;  // no rows
  free_body.add_sphere(Vec3::Zero(), 2, 0.1);
  EXPECT_EQ(solver->solve(free_body.problem(), 1e-8, &answer).status, SolveStatus::Solved);
  EXPECT_NEAR(answer.v[2], -kGravity * kStep, 1e-15);
  SceneProblem leaving;  // an opening contact
  leaving.add_sphere(Vec3(0, 0, 0.1), 2, 0.1, Vec3(0, 0, 1));
  leaving.add_contact(0, -1, Vec3::Zero(), Vec3::UnitZ(), 0.5);
  answer.lambda = VecX::Constant(3, std::numeric_limits<double>::quiet_NaN());  // a bad guess is no harm
  EXPECT_EQ(solver->solve(leaving.problem(), 1e-8, &answer).status, SolveStatus::Solved);
  EXPECT_EQ(answer.lambda.norm(), 0);
}

TEST(NewtonTest, SameBitsWhateverWasSolvedBefore) {
  const Problem problem = pile(3);
  Solution fresh, used;
  make_newton()->solve(problem, 1e-8, &fresh);
  const auto solver = make_newton();
  Solution other;
  solver->solve(wall(3, 3), 1e-8, &other);
  solver->solve(problem, 1e-8, &used);
  EXPECT_EQ(fresh.lambda, used.lambda);
  EXPECT_EQ(fresh.v, used.v);
  // Nor may a contact more or less in between leave a trace, though the columns stay the same.
  Problem less = problem, more = problem;
  less.blocks.pop_back();
  less.c.resize(less.c.size() - 3);
  less.compliance.resize(less.c.size());
  more.add_block(LawKind::Nonnegative, 1);
  more.add_entry(0).setConstant(0.1);
  more.add_entry(problem.columns() - 1).setConstant(-0.1);
  for (const Problem& between : {less, more}) {
    other = {};
    solver->solve(between, 1e-8, &other);
    used = {};
    solver->solve(problem, 1e-8, &used);
    EXPECT_EQ(fresh.lambda, used.lambda);
  }
}

/// The factor of equations is kept for others with the very same matrices; not for those that differ in one number.
TEST(NewtonTest, EquationsWithTheSameMatricesHaveTheBitsOfANewSolver) {
  const Problem first = chain(12);
  std::vector<Problem> next(6, first);
  for (double& c : next[1].c) c += 0.01;
  next[2].jacobian[7] += 1e-6;
  next[3].compliance[4] = 1e-6;
  next[4].mass[0] *= 1.5;
  next[5].b[2] -= 1;
  const std::unique_ptr<Solver> used = make_solver("newton");
  for (const Problem& problem : next) {
    Solution again, alone;
    const std::unique_ptr<Solver> fresh = make_solver("newton");
    EXPECT_EQ(used->solve(problem, 1e-8, &again).status, SolveStatus::Solved);
    EXPECT_EQ(fresh->solve(problem, 1e-8, &alone).status, SolveStatus::Solved);
    EXPECT_EQ(again.lambda, alone.lambda);
    EXPECT_EQ(again.v, alone.v);
    EXPECT_LE(certify(problem, again).verdict(), 1e-9);
  }
}

TEST(NewtonTest, ImpossibleProblemIsReported) {
  // One body between two fixed walls that both push it out by more than there is room for.
  SceneProblem scene;
  scene.add_box(Vec3::Zero(), 1, Vec3::Ones());
  scene.add_contact(0, -1, Vec3(-0.5, 0, 0), Vec3::UnitX(), 0, -0.1);
  scene.add_contact(0, -1, Vec3(0.5, 0, 0), -Vec3::UnitX(), 0, -0.1);
  Solution answer;
  const SolverReport report = make_newton()->solve(scene.problem(), 1e-8, &answer);
  EXPECT_EQ(report.status, SolveStatus::NotConverged);
  EXPECT_FALSE(report.note.empty());
  EXPECT_TRUE(answer.lambda.allFinite());
}

}  // namespace
}  // namespace slipstick
