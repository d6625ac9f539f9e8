#include "step/drivers/hermite.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/se3.h"

namespace slipstick {
namespace {

Cubic make_cubic(const auto& f, const auto& d) { return {f(0.0), d(0.0), f(1.0), d(1.0)}; }

TEST(Cubic, GoesThroughItsData) {
  const auto f = [](double s) { return 1 + s * (2 + s * (-7 + 3 * s)); };
  const auto d = [](double s) { return 2 - 14 * s + 9 * s * s; };
  const Cubic cubic = make_cubic(f, d);
  for (const double s : {0.0, 0.2, 0.5, 0.9, 1.0}) {
    EXPECT_NEAR(cubic.at(s), f(s), 1e-14);
    EXPECT_NEAR(cubic.slope(s), d(s), 1e-13);
  }
}

TEST(Cubic, FindsTheFirstWayDown) {
  // (s - 0.2)(s - 0.5)(s - 0.8), down at 0.2 when its sign is turned, and then again at 0.8.
  const auto f = [](double s) { return -(s - 0.2) * (s - 0.5) * (s - 0.8); };
  const auto d = [](double s) { return -(3 * s * s - 3 * s + 0.66); };
  const Cubic cubic = make_cubic(f, d);
  ASSERT_TRUE(cubic.find_crossing(0));
  EXPECT_NEAR(*cubic.find_crossing(0), 0.2, 1e-13);
  EXPECT_NEAR(*cubic.find_crossing(0.3), 0.8, 1e-13);
  EXPECT_FALSE(cubic.find_crossing(0.85));
}

TEST(Cubic, SkipsTheRootAtItsStart) {
  // A flight: s (0.6 - s) starts at zero, upwards.
  const Cubic flight{0, 0.6, -0.4, -1.4};
  ASSERT_TRUE(flight.find_crossing(1e-6));
  EXPECT_NEAR(*flight.find_crossing(1e-6), 0.6, 1e-13);
}

TEST(Cubic, FindsADip) {
  const Cubic dip{0.2, -1, 0.2, 1};  // 0.2 - s + s^2
  ASSERT_TRUE(dip.find_dip());
  EXPECT_NEAR(*dip.find_dip(), 0.5, 1e-13);
  EXPECT_LT(dip.at(0.5), 0);
  EXPECT_FALSE((Cubic{1, 1, 2, 1}.find_dip()));
}

TEST(Hermite, FollowsASmoothMotionToThirdOrder) {
  // x = (sin t, cos t, t^2), turning about a fixed axis with a changing speed: phi = 0.7 t + 0.4 t^2.
  const Vec3 axis = Vec3(1, 2, -1).normalized();
  const auto state_at = [&](double t) {
    State state;
    state.time = t;
    state.pose = {{Vec3(std::sin(t), std::cos(t), t * t), exp_rotation((0.7 * t + 0.4 * t * t) * axis)}};
    state.velocity = {{Vec3(std::cos(t), -std::sin(t), 2 * t), (0.7 + 0.8 * t) * axis}};
    return state;
  };
  double previous = 0;
  for (const double h : {0.4, 0.2, 0.1}) {
    const State start = state_at(0.3), end = state_at(0.3 + h), exact = state_at(0.3 + 0.35 * h);
    State middle = start;
    update_hermite(start, end, h, 0.35, &middle);
    EXPECT_NEAR(middle.time, exact.time, 1e-15);
    EXPECT_LT(middle.pose[0].orientation.angularDistance(exact.pose[0].orientation), 1e-12) << "a cubic itself";
    EXPECT_LT((middle.velocity[0].angular - exact.velocity[0].angular).norm(), 1e-12);
    const double error = (middle.velocity[0].linear - exact.velocity[0].linear).norm();
    if (previous > 0) {
      EXPECT_NEAR(previous / error, 8, 1.5);
    }
    previous = error;
  }
}

TEST(Hermite, TumblingIsOfThirdOrderAlike) {
  // Two half steps of a body that turns about changing axes: the interpolant agrees with the motion to O(h^3).
  double previous = 0;
  for (const double h : {0.2, 0.1, 0.05}) {
    const auto omega = [](double t) { return Vec3(std::cos(2 * t), std::sin(3 * t), 1 + t); };
    Quat q = Quat::Identity();
    const int n = 2000;
    std::array<State, 3> at;
    for (int i = 0; i <= n; ++i) {
      if (i % (n / 2) == 0) {
        State& state = at[i / (n / 2)];
        state.pose = {{Vec3::Zero(), q}};
        state.velocity = {{Vec3::Zero(), omega(h * i / n)}};
      }
      q = (q * exp_rotation(h / n * omega(h * (i + 0.5) / n))).normalized();
    }
    State middle = at[0];
    update_hermite(at[0], at[2], h, 0.5, &middle);
    const double error = middle.pose[0].orientation.angularDistance(at[1].pose[0].orientation) +
                         h * (middle.velocity[0].angular - at[1].velocity[0].angular).norm();
    if (previous > 0) {
      EXPECT_GT(previous / error, 7);
    }
    previous = error;
  }
}

}  // namespace
}  // namespace slipstick
