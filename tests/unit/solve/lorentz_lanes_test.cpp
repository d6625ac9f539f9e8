// Four Lorentz cones at a time against one at a time.
#include "solve/solvers/lorentz_lanes.h"

#include <gtest/gtest.h>

#include <random>

#include "solve/solvers/lorentz.h"

namespace slipstick {
namespace {

using lorentz::Lanes;

/// A cone of one to three dimensions in each lane, and two points inside and a direction of each.
struct LorentzCase {
  int n[4];
  double s[4][3] = {}, z[4][3] = {}, d[4][3] = {};
  Lanes all_s[3] = {}, all_z[3] = {}, all_d[3] = {};

  explicit LorentzCase(std::mt19937* random) {
    std::uniform_real_distribution<double> number(-1, 1);
    for (int l = 0; l < 4; ++l) {
      n[l] = 1 + static_cast<int>((*random)() % 3);
      for (int k = 0; k < n[l]; ++k) s[l][k] = number(*random), z[l][k] = number(*random), d[l][k] = number(*random);
      s[l][0] = std::hypot(s[l][1], s[l][2]) + 1e-3 + std::abs(s[l][0]);
      z[l][0] = std::hypot(z[l][1], z[l][2]) + 1e-3 + std::abs(z[l][0]);
      for (int k = 0; k < 3; ++k) all_s[k][l] = s[l][k], all_z[k][l] = z[l][k], all_d[k][l] = d[l][k];
    }
  }
};

void expect_lane(const Lanes* all, int lane, int n, const double* one) {
  for (int k = 0; k < n; ++k) EXPECT_NEAR(all[k][lane], one[k], 1e-9 * (1 + std::abs(one[k])));
  for (int k = n; k < 3; ++k) EXPECT_EQ(all[k][lane], 0);
}

TEST(LorentzLanes, AsOneAtATime) {
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    const LorentzCase c(&random);
    Lanes w[3], eta, lambda[3], product[3], quotient[3], boosted[3], back[3];
    ASSERT_TRUE(lorentz::update_scaling(c.all_s, c.all_z, w, &eta, lambda));
    lorentz::multiply(c.all_s, c.all_d, product);
    lorentz::divide(c.all_s, c.all_d, quotient);
    lorentz::scale<false>(eta, w, c.all_d, boosted);
    lorentz::scale<true>(eta, w, c.all_d, back);
    const Lanes longest = lorentz::longest_in_cone(c.all_s, c.all_d, Lanes{} + 1.5);
    for (int l = 0; l < 4; ++l) {
      const int n = c.n[l];
      double one_w[3] = {}, one_eta, one_lambda[3] = {}, out[3] = {};
      ASSERT_TRUE(lorentz::update_scaling(n, c.s[l], c.z[l], one_w, &one_eta, one_lambda));
      expect_lane(w, l, n, one_w);
      expect_lane(lambda, l, n, one_lambda);
      EXPECT_NEAR(eta[l], one_eta, 1e-12 * one_eta);
      lorentz::multiply(n, c.s[l], c.d[l], out);
      expect_lane(product, l, n, out);
      lorentz::divide(n, c.s[l], c.d[l], out);
      expect_lane(quotient, l, n, out);
      lorentz::scale(n, one_eta, one_w, false, c.d[l], out);
      expect_lane(boosted, l, n, out);
      lorentz::scale(n, one_eta, one_w, true, c.d[l], out);
      expect_lane(back, l, n, out);
      EXPECT_NEAR(longest[l], lorentz::longest_in_cone(n, c.s[l], c.d[l], 1.5), 1e-6);
    }
  }
}

TEST(LorentzLanes, APointOutsideIsSeenInAnyLane) {
  std::mt19937 random(2);
  for (int lane = 0; lane < 4; ++lane) {
    LorentzCase c(&random);
    Lanes w[3], eta, lambda[3];
    c.all_s[0][lane] = -1;
    EXPECT_FALSE(lorentz::update_scaling(c.all_s, c.all_z, w, &eta, lambda));
    c.all_s[0][lane] = std::nan("");
    EXPECT_FALSE(lorentz::update_scaling(c.all_s, c.all_z, w, &eta, lambda));
  }
}

}  // namespace
}  // namespace slipstick
