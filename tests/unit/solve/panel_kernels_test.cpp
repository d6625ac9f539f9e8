#include "solve/linalg/panel_kernels.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <limits>
#include <random>
#include <vector>

namespace slipstick::panels {
namespace {

using Matrix = Eigen::MatrixXd;

/// A column-major matrix with room for vectors of four rows; what lies beyond its own rows is `filler`.
class Padded {
 public:
  Padded(const Matrix& from, double filler) : rows_(static_cast<int>(from.rows())), side_(padded(rows_)) {
    values_.assign(static_cast<std::size_t>(side_) * from.cols() + kLanes, filler);
    for (int j = 0; j < from.cols(); ++j)
      for (int i = 0; i < rows_; ++i) values_[i + j * side_] = from(i, j);
  }
  double* at(int row = 0, int column = 0) { return values_.data() + row + column * side_; }
  int side() const { return side_; }
  Matrix own() const {
    const Eigen::Map<const Matrix> whole(values_.data(), side_, (static_cast<int>(values_.size()) - kLanes) / side_);
    return whole.topRows(rows_);
  }

 private:
  int rows_, side_;
  std::vector<double> values_;
};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class PanelKernels : public testing::Test {
 protected:
  Matrix make(int rows, int columns) {
    return Matrix::NullaryExpr(rows, columns, [&] { return uniform_(rng_); });
  }
  int draw(int most) { return 1 + static_cast<int>(rng_() % most); }

  std::mt19937 rng_{7};
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

TEST_F(PanelKernels, ProductsOfAllShapes) {
  for (int trial = 0; trial < 500; ++trial) {
    const int m = draw(40), n = draw(15), depth = draw(20) - 1;
    const Matrix a = make(m, depth), b = make(depth, n), c = make(m, n);
    // Rows beyond the last are computed with and never read back.
    Padded pa(a, kNan), set(c, kNan), less(c, kNan), less_transposed(c, kNan), pb(b, kNan), pbt(b.transpose(), kNan);
    multiply<Into::Set>(m, n, depth, pa.at(), pa.side(), {pb.at(), 1, pb.side()}, set.at(), set.side());
    multiply<Into::Subtract>(m, n, depth, pa.at(), pa.side(), {pb.at(), 1, pb.side()}, less.at(), less.side());
    multiply<Into::Subtract>(m, n, depth, pa.at(), pa.side(), {pbt.at(), pbt.side(), 1}, less_transposed.at(),
                             less_transposed.side());
    EXPECT_LT((set.own() - a * b).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_LT((less.own() - (c - a * b)).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_EQ(less.own(), less_transposed.own());
  }
}

/// Where a tile begins must not show: a factor is the same to the bit wherever its rows lie.
TEST_F(PanelKernels, ARowHasTheSameBitsInEveryTile) {
  const int m = 37, n = 11, depth = 19;
  const Matrix a = make(m, depth), b = make(depth, n);
  Padded whole(a, 0), pb(b, 0), all(Matrix::Zero(m, n), 0);
  multiply<Into::Set>(m, n, depth, whole.at(), whole.side(), {pb.at(), 1, pb.side()}, all.at(), all.side());
  for (int i = 0; i < m; ++i) {
    Padded row(a.row(i), 0), one(Matrix::Zero(1, n), 0);
    multiply<Into::Set>(1, n, depth, row.at(), row.side(), {pb.at(), 1, pb.side()}, one.at(), one.side());
    EXPECT_EQ(one.own().row(0), all.own().row(i)) << "row " << i;
  }
}

TEST_F(PanelKernels, DividesByTriangles) {
  for (int trial = 0; trial < 300; ++trial) {
    const int m = draw(40), n = draw(25);
    const Matrix upper = Matrix(make(n, n).triangularView<Eigen::StrictlyUpper>()) + 3 * Matrix::Identity(n, n);
    const Matrix lower = Matrix(make(n, n).triangularView<Eigen::StrictlyLower>()) / n + Matrix::Identity(n, n);
    const Matrix x = make(m, n);
    Padded px(x, kNan), pu(upper, kNan), pl(lower, kNan), py(x, kNan);
    const Eigen::VectorXd inverse = upper.diagonal().cwiseInverse();
    divide_upper(m, n, {pu.at(), 1, pu.side()}, inverse.data(), px.at(), px.side());
    EXPECT_LT((px.own() * upper - x).cwiseAbs().maxCoeff(), 1e-12);
    divide_unit_lower(m, n, {pl.at(), 1, pl.side()}, py.at(), py.side());
    EXPECT_LT((py.own() * lower - x).cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST_F(PanelKernels, FactorsOfSymmetricSquares) {
  for (int trial = 0; trial < 300; ++trial) {
    const int n = draw(45), positive = static_cast<int>(rng_() % (n + 1));
    Matrix a = make(n, n);  // quasi-definite: any order of elimination will do
    a = (a * a.transpose()).eval() / n + Matrix::Identity(n, n);
    a.bottomRightCorner(n - positive, n - positive) *= -1;
    Padded factor(a.triangularView<Eigen::Lower>(), 0);  // the upper half is not read
    std::vector<double> inverse(n);
    ASSERT_EQ(factor_ldlt(n, factor.at(), factor.side(), inverse.data()), n - positive);
    const Matrix own = factor.own();
    const Matrix l = own.triangularView<Eigen::UnitLower>();
    EXPECT_LT((l * own.diagonal().asDiagonal() * l.transpose() - a).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_LT((Matrix(own.triangularView<Eigen::Upper>()) - Matrix(own.diagonal().asDiagonal()) * l.transpose())
                  .cwiseAbs()
                  .maxCoeff(),
              1e-12);
    for (int j = 0; j < n; ++j) EXPECT_DOUBLE_EQ(inverse[j] * own(j, j), 1);

    Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(n + kLanes, -1, 2);
    const Eigen::VectorXd b = x.head(n);
    divide_unit_transposed(n, factor.at(), factor.side(), x.data());
    EXPECT_LT((l.transpose() * x.head(n) - b).norm(), 1e-11);
  }
}

TEST_F(PanelKernels, FactorsWithPivots) {
  for (int trial = 0; trial < 300; ++trial) {
    const int n = draw(45);
    Matrix a = make(n, n);
    for (int j = 0; j < n; ++j) a((j + 1) % n, j) += 2;  // no order without exchanges is any good
    if (n > 1) a.diagonal().setZero();
    Padded factor(a, 0);
    std::vector<double> inverse(n);
    std::vector<int> swap(n);
    ASSERT_TRUE(factor_lu(n, factor.at(), factor.side(), swap.data(), inverse.data()));
    const Matrix own = factor.own();
    Matrix exchanged = a;
    for (int j = 0; j < n; ++j) exchanged.row(j).swap(exchanged.row(swap[j]));
    const Matrix product = Matrix(own.triangularView<Eigen::UnitLower>()) * Matrix(own.triangularView<Eigen::Upper>());
    EXPECT_LT((product - exchanged).cwiseAbs().maxCoeff(), 1e-12);
    for (int j = 0; j < n; ++j) EXPECT_LE(own.col(j).tail(n - j - 1).cwiseAbs().sum(), n - j - 1 + 1e-12);
  }
}

TEST_F(PanelKernels, WhatIsSingularIsSaid) {
  for (int n = 1; n < 12; ++n) {
    Matrix a = make(n, n);
    a.col(n / 2).setZero();
    a.row(n / 2).setZero();
    std::vector<double> inverse(n);
    std::vector<int> swap(n);
    Padded lu(a, 0), symmetric(a + a.transpose(), 0), broken(a, 0);
    EXPECT_FALSE(factor_lu(n, lu.at(), lu.side(), swap.data(), inverse.data()));
    EXPECT_LT(factor_ldlt(n, symmetric.at(), symmetric.side(), inverse.data()), 0);
    *broken.at(n - 1, n - 1) = kNan;
    EXPECT_LT(factor_ldlt(n, broken.at(), broken.side(), inverse.data()), 0);
  }
}

TEST_F(PanelKernels, ImagesOfVectors) {
  for (int trial = 0; trial < 300; ++trial) {
    const int m = draw(70), n = draw(20);
    const Matrix a = make(m, n);
    const Eigen::VectorXd x = make(n, 1), y = make(m, 1);
    Padded pa(a, 1), image(Matrix::Zero(m, 1), 0), py(y, 0);
    set_image(m, n, pa.at(), pa.side(), x.data(), image.at());
    EXPECT_LT((image.own() - a * x).cwiseAbs().maxCoeff(), 1e-13);
    Eigen::VectorXd less = x;
    subtract_transposed_image(m, n, pa.at(), pa.side(), py.at(), less.data());
    EXPECT_LT((less - (x - a.transpose() * y)).cwiseAbs().maxCoeff(), 1e-13);
  }
}

}  // namespace
}  // namespace slipstick::panels
