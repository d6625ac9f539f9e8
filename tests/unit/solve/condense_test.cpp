#include "solve/condense.h"

#include <gtest/gtest.h>

#include "support/random_problem.h"

namespace slipstick {
namespace {

using Matrix = SparseMass::Matrix;

/// Two parts that interleave: even unknowns a chain of springs, odd ones another; plus a last lone one.
Matrix make_mass(int n, double skew) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < n; ++i) entries.emplace_back(i, i, 3.0 + i % 5);
  for (int i = 0; i + 2 < n - 1; ++i) {
    entries.emplace_back(i, i + 2, -1 + skew);
    entries.emplace_back(i + 2, i, -1 - skew);
  }
  Matrix mass(n, n);
  mass.setFromTriplets(entries.begin(), entries.end());
  return mass;
}

TEST(SparseMass, FindsParts) {
  int count = 0;
  const std::vector<int> parts = find_parts(make_mass(9, 0), &count);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(parts, (std::vector<int>{0, 1, 0, 1, 0, 1, 0, 1, 2}));
}

TEST(SparseMass, AgreesWithDenseAlgebra) {
  for (const int n : {9, 121})  // dense and sparse factors
    for (const double skew : {0.0, 0.3}) {
      const Matrix mass = make_mass(n, skew);
      test::Random random(5);
      std::vector<Eigen::Triplet<double>> entries;
      for (int r = 0; r < 12; ++r)
        for (int k = 0; k < 3; ++k) entries.emplace_back(random.below(n), r, random.normal());
      Matrix jacobian(n, 12);
      jacobian.setFromTriplets(entries.begin(), entries.end());
      VecX b(n);
      for (int i = 0; i < n; ++i) b[i] = random.normal();

      SparseMass sparse;
      ASSERT_TRUE(sparse.factor(mass, skew == 0));
      const MatX inverse = MatX(mass).inverse();
      EXPECT_LT((sparse.solve(b) - inverse * b).norm(), 1e-12);
      std::vector<Eigen::Triplet<double>> made;
      ASSERT_TRUE(sparse.condense(jacobian, 1000, &made));
      Matrix w(12, 12);
      w.setFromTriplets(made.begin(), made.end());
      const MatX j(jacobian);
      EXPECT_LT((MatX(w) - j.transpose() * inverse * j).norm(), 1e-12);
      EXPECT_FALSE(sparse.condense(jacobian, 10, &made)) << "a limit is a limit";
    }
}

TEST(SparseMass, SingularIsSaid) {
  Matrix mass(3, 3);
  mass.insert(0, 0) = 1;
  mass.insert(1, 1) = 1;  // row 2 is empty
  EXPECT_FALSE(SparseMass().factor(mass, true));
}

}  // namespace
}  // namespace slipstick
