#include "solve/linalg/block_ldlt.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <numeric>
#include <random>

namespace slipstick {
namespace {

struct Case {
  std::vector<int> sizes, starts;
  std::vector<char> late;
  std::vector<BlockEdge> edges;
  Eigen::MatrixXd dense;
};

/// A random block matrix: quasi-definite (late nodes negative) when symmetric, else with a dominant positive diagonal.
Case make_case(int nodes, double density, bool symmetric, unsigned seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Case c;
  int n = 0;
  for (int i = 0; i < nodes; ++i) {
    c.sizes.push_back(i % 5 == 3 ? 1 + static_cast<int>(rng() % 6) : (i % 2 ? 3 : 6));
    c.late.push_back(symmetric && i % 4 == 3);
    c.starts.push_back(n);
    n += c.sizes.back();
  }
  c.dense = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j <= i; ++j) {
      if (i != j && std::abs(uniform(rng)) > density) continue;
      if (i != j && c.late[i] && c.late[j]) continue;
      if (i != j) c.edges.push_back(rng() % 2 ? BlockEdge{i, j} : BlockEdge{j, i});
      Eigen::MatrixXd block(c.sizes[i], c.sizes[j]), other(c.sizes[j], c.sizes[i]);
      for (int k = 0; k < block.size(); ++k) block.data()[k] = uniform(rng), other.data()[k] = uniform(rng);
      if (i == j) {
        block = (block * block.transpose()).eval() + 20 * Eigen::MatrixXd::Identity(c.sizes[i], c.sizes[i]);
        if (c.late[i]) block = -Eigen::MatrixXd::Identity(c.sizes[i], c.sizes[i]) * 1e-3;
      }
      if (symmetric) other = block.transpose();
      c.dense.block(c.starts[i], c.starts[j], c.sizes[i], c.sizes[j]) = block;
      c.dense.block(c.starts[j], c.starts[i], c.sizes[j], c.sizes[i]) = i == j ? block : other;
    }
  }
  if (symmetric) {  // make the positive part dominant where many blocks meet
    for (int i = 0; i < nodes; ++i)
      if (!c.late[i]) c.dense.diagonal().segment(c.starts[i], c.sizes[i]).array() += 6.0 * nodes;
  } else {
    c.dense.diagonal().array() += 6.0 * nodes;
  }
  return c;
}

void load(const Case& c, const BlockPattern& pattern, bool symmetric, BlockLdlt* factor) {
  factor->reset(pattern, symmetric);
  const int nodes = static_cast<int>(c.sizes.size());
  for (int i = 0; i < nodes; ++i) {
    const int k = pattern.place(i);
    Eigen::Map<Eigen::MatrixXd>(factor->diagonal(k), c.sizes[i], c.sizes[i]) =
        c.dense.block(c.starts[i], c.starts[i], c.sizes[i], c.sizes[i]);
  }
  for (const BlockEdge& e : c.edges) {
    const bool a_first = pattern.place(e.a) < pattern.place(e.b);
    const int row = a_first ? e.b : e.a, column = a_first ? e.a : e.b;
    const int block = pattern.find_block(pattern.place(row), pattern.place(column));
    ASSERT_GE(block, 0);
    const int m = c.sizes[row], n = c.sizes[column];
    Eigen::Map<Eigen::MatrixXd>(factor->lower(block), m, n) = c.dense.block(c.starts[row], c.starts[column], m, n);
    if (!symmetric)
      Eigen::Map<Eigen::MatrixXd>(factor->upper(block), m, n) =
          c.dense.block(c.starts[column], c.starts[row], n, m).transpose();
  }
}

class BlockLdltCases : public testing::TestWithParam<std::tuple<int, double, bool>> {};

TEST_P(BlockLdltCases, SolvesLikeADenseSolver) {
  const auto [nodes, density, symmetric] = GetParam();
  for (unsigned seed = 0; seed < 8; ++seed) {
    const Case c = make_case(nodes, density, symmetric, seed);
    BlockPattern pattern;
    pattern.analyze(c.sizes, c.late, c.edges);
    BlockLdlt factor;
    load(c, pattern, symmetric, &factor);
    ASSERT_TRUE(factor.factor());
    if (symmetric) {
      int dual = 0;
      for (int i = 0; i < nodes; ++i) dual += c.late[i] ? c.sizes[i] : 0;
      EXPECT_EQ(factor.negative_pivots(), dual);
    }
    const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(c.dense.rows(), -1, 2);
    Eigen::VectorXd x = b;
    factor.solve(x.data());
    EXPECT_LT((c.dense * x - b).norm(), 1e-10 * b.norm()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, BlockLdltCases,
                         testing::Combine(testing::Values(1, 2, 7, 40, 90), testing::Values(0.0, 0.1, 0.5, 1.0),
                                          testing::Bool()));

TEST(BlockLdltTest, ZeroPivotIsReported) {
  BlockPattern pattern;
  const std::vector<int> sizes{2};
  const std::vector<char> late{0};
  pattern.analyze(sizes, late, {});
  BlockLdlt factor;
  factor.reset(pattern, true);
  EXPECT_FALSE(factor.factor());
  factor.reset(pattern, false);
  EXPECT_FALSE(factor.factor());
}

TEST(BlockPatternTest, ChainFillsLinearly) {
  const int n = 2001;  // bodies and joints alternate
  std::vector<int> sizes(n);
  std::vector<char> late(n);
  std::vector<BlockEdge> edges;
  for (int i = 0; i < n; ++i) {
    sizes[i] = i % 2 ? 3 : 6;
    late[i] = i % 2;
    if (i > 0) edges.push_back({i, i - 1});
  }
  BlockPattern pattern;
  pattern.analyze(sizes, late, edges);
  EXPECT_LE(pattern.blocks(), 2 * n);
}

TEST(BlockPatternTest, HubsComeLast) {
  const int n = 60;  // a star whose hub is named first, and a chain through its leaves
  const std::vector<int> sizes(n, 6);
  const std::vector<char> late(n, 0);
  std::vector<BlockEdge> edges;
  for (int i = 1; i < n; ++i) edges.push_back({0, i});
  for (int i = 2; i < n; ++i) edges.push_back({i, i - 1});
  BlockPattern pattern;
  pattern.analyze(sizes, late, edges);
  EXPECT_LE(pattern.blocks(), static_cast<int>(edges.size())) << "no fill is needed";
}

TEST(BlockPatternTest, LateNodesFollowANeighbour) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Case c = make_case(30, 0.1, true, seed);
    BlockPattern pattern;
    pattern.analyze(c.sizes, c.late, c.edges);
    for (int i = 0; i < 30; ++i) {
      if (!c.late[i]) continue;
      bool has = false, earlier = false;
      for (const BlockEdge& e : c.edges) {
        if (e.a != i && e.b != i) continue;
        has = true;
        earlier |= pattern.place(e.a == i ? e.b : e.a) < pattern.place(i);
      }
      EXPECT_TRUE(!has || earlier);
    }
  }
}

TEST(BlockPatternTest, OrderOfEdgesDoesNotMatter) {
  Case c = make_case(25, 0.2, true, 3);
  BlockPattern a, b;
  a.analyze(c.sizes, c.late, c.edges);
  std::reverse(c.edges.begin(), c.edges.end());
  c.edges.push_back(c.edges.front());
  b.analyze(c.sizes, c.late, c.edges);
  for (int i = 0; i < 25; ++i) EXPECT_EQ(a.place(i), b.place(i));
  EXPECT_EQ(a.blocks(), b.blocks());
}

}  // namespace
}  // namespace slipstick
