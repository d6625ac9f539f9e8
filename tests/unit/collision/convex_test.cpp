// Cylinders, cones, ellipsoids and hulls against everything. A distance is proved from both sides: the contact's points
// belong to the shapes (no less apart), its normal separates them by as much (no nearer). A depth is the greatest
// separation over all directions: a search over many of them finds no better one.
//
// SLIPSTICK_POSES=100000 runs as many poses a pair.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>

#include "unit/collision/collision_support.h"
#include "unit/collision/slow_convex.h"

namespace slipstick::test {
namespace {

struct ConvexKinds {
  ShapeKind a, b;
};

bool is_analytic(const ConvexKinds& k) {
  return k.a == ShapeKind::Plane || k.b == ShapeKind::Plane || k.a == ShapeKind::Sphere || k.b == ShapeKind::Sphere;
}

/// Of the size, which is about 1.
double calc_tolerance(const ConvexKinds& k) { return is_analytic(k) ? 1e-9 : 1e-6; }

class ConvexPairs : public testing::TestWithParam<ConvexKinds> {
 protected:
  struct Sample {
    Convex a, b;
    World world;
    std::vector<Contact> contacts;
  };
  Sample make_sample(double distance, double reach) {
    const ConvexKinds& k = GetParam();
    Sample s{{random_.solid(k.a), random_.pose(k.a, false, distance)},
             {random_.solid(k.b), random_.pose(k.b, false, distance)},
             {},
             {}};
    s.world = make_pair_world(s.a.solid, s.a.pose, s.b.solid, s.b.pose, reach);
    s.contacts = find_contacts(s.world);
    return s;
  }
  Random random_{11};
};

void check_convex_contacts(const Convex& a, const Convex& b, const std::vector<Contact>& contacts, double tolerance) {
  const double least_gap = least(contacts).gap;
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const Contact& c = contacts[k];
    EXPECT_NEAR(c.normal.norm(), 1, 1e-13);
    EXPECT_LT((c.point_b - c.point_a - c.gap * c.normal).norm(), 1e-12);
    if (k > 0) {
      EXPECT_LT(contacts[k - 1].key, c.key);
    }
    if (c.gap > 0) {  // beside a deep pair a point is said to be no deeper than that: it may be off its shape
      EXPECT_LT((a.project(c.point_a) - c.point_a).norm(), tolerance) << std::hex << c.key.feature << " gap " << c.gap;
      EXPECT_LT((b.project(c.point_b) - c.point_b).norm(), tolerance) << std::hex << c.key.feature << " gap " << c.gap;
    }
    EXPECT_GE(c.gap, least_gap);
  }
}

TEST_P(ConvexPairs, Distance) {
  const double tolerance = calc_tolerance(GetParam());
  double worst = 0, worst_point = 0;
  for (int k = 0, found = 0; found < calc_poses(200); ++k) {
    const Sample s = make_sample(2.5, 20);
    ASSERT_FALSE(s.contacts.empty());
    const Contact& c = least(s.contacts);
    if (c.gap <= 0) continue;
    ++found;
    check_convex_contacts(s.a, s.b, s.contacts, tolerance);
    worst = std::max(worst, std::abs(c.gap - calc_separation(s.a, s.b, c.normal)));
    worst_point = std::max(
        {worst_point, (s.a.project(c.point_a) - c.point_a).norm(), (s.b.project(c.point_b) - c.point_b).norm()});
    EXPECT_NEAR(c.gap, calc_separation(s.a, s.b, c.normal), tolerance);
    if (HasFailure()) FAIL() << "sample " << k;
  }
  RecordProperty("worst_gap", std::to_string(worst));
  if (std::getenv("SLIPSTICK_POSES")) std::printf("worst gap %.2e, off the surface %.2e\n", worst, worst_point);
}

/// From many directions up: random steps that shrink.
double search_separation(const Convex& a, const Convex& b, Random* random) {
  double best = -1e300;
  std::vector<std::pair<double, Vec3>> starts;
  for (int k = 0; k < 300; ++k) {
    const Vec3 n = random->direction();
    starts.emplace_back(calc_separation(a, b, n), n);
  }
  std::sort(starts.begin(), starts.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
  for (int start = 0; start < 3; ++start) {
    auto [value, n] = starts[start];
    for (double step = 0.1; step > 1e-8; step *= 0.7) {
      for (int k = 0; k < 12; ++k) {
        const Vec3 next = (n + step * random->direction()).normalized();
        const double there = calc_separation(a, b, next);
        if (there <= value) continue;
        value = there;
        n = next;
      }
    }
    best = std::max(best, value);
  }
  return best;
}

TEST_P(ConvexPairs, Depth) {
  const ConvexKinds& kinds = GetParam();
  if (kinds.a == ShapeKind::Plane || kinds.b == ShapeKind::Plane) return;  // one direction only
  double worst = 0;
  for (int k = 0, found = 0; found < calc_poses(2000) / 20; ++k) {
    const Sample s = make_sample(0.6, 0);
    if (s.contacts.empty()) continue;
    ++found;
    check_convex_contacts(s.a, s.b, s.contacts, calc_tolerance(kinds));
    double attained = -1e300;
    for (const Contact& c : s.contacts) {
      if (std::abs(calc_separation(s.a, s.b, c.normal) - c.gap) < 1e-9) attained = std::max(attained, c.gap);
    }
    const double best = search_separation(s.a, s.b, &random_);
    worst = std::max(worst, best - attained);
    EXPECT_GE(attained, best - 1e-6);
    if (HasFailure()) FAIL() << "sample " << k;
  }
  if (std::getenv("SLIPSTICK_POSES")) std::printf("worst depth %.2e\n", worst);
}

TEST_P(ConvexPairs, GapIsContinuousThroughTouching) {
  for (int k = 0; k < calc_poses(400) / 10; ++k) {
    Sample s = make_sample(2.5, 20);
    Contact c = least(s.contacts);
    if (c.gap < 0) continue;
    const int mover = GetParam().b == ShapeKind::Plane ? 0 : 1;
    double left = c.gap, last = c.gap;
    // Through touching in steps of all sizes. Down to it the gap falls as the shapes approach; beyond it by no more,
    // for another direction may be the shorter way out.
    for (const double next :
         {1e-2, 1e-4, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 0.0, -1e-12, -1e-11, -1e-10, -1e-9, -1e-8, -1e-6, -1e-4}) {
      if (next > left) continue;
      s.world.state.pose[mover].position += (mover ? next - left : left - next) * c.normal;
      const std::vector<Contact> there = find_contacts(s.world);
      ASSERT_FALSE(there.empty());
      const double gap = least(there).gap;
      EXPECT_LE(std::abs(gap - last), left - next + 2e-8) << "at gap " << next;
      if (next >= 0) {
        EXPECT_NEAR(gap, next, 2e-8);
      }
      left = next;
      last = gap;
    }
    if (HasFailure()) FAIL() << "sample " << k;
  }
}

TEST_P(ConvexPairs, RateOfTheGap) {
  int tested = 0;
  for (int k = 0; k < calc_poses(200); ++k) {
    const Sample s = make_sample(k % 3 ? 2.5 : 0.9, 20);
    const Contact& c = least(s.contacts);
    if (c.gap < 0.05 && c.gap > 0) continue;
    std::array<Vec3, 2> linear, angular;
    for (int body = 0; body < 2; ++body) {
      linear[body] = random_.direction();
      angular[body] = random_.direction();
    }
    const GapRate rate = calc_gap_rate(s.world, c, linear, angular, 1e-6);
    if (!rate.same) continue;
    ++tested;
    EXPECT_NEAR(rate.measured, rate.predicted, 2e-4);
    if (HasFailure()) FAIL() << "sample " << k;
  }
  EXPECT_GT(tested, calc_poses(200) / 3);
}

TEST_P(ConvexPairs, SwappedAndMoved) {
  for (int k = 0; k < calc_poses(200); ++k) {
    const Sample s = make_sample(2, 0.5);
    const std::vector<Contact> back = find_contacts(make_pair_world(s.b.solid, s.b.pose, s.a.solid, s.a.pose, 0.5));
    const Pose shift = random_.pose(ShapeKind::Box, false, 5);
    World moved = s.world;
    for (Pose& pose : moved.state.pose) {
      pose = {shift.position + shift.orientation * pose.position, (shift.orientation * pose.orientation).normalized()};
    }
    const std::vector<Contact> there = find_contacts(moved);
    ASSERT_EQ(back.empty(), s.contacts.empty());
    ASSERT_EQ(there.size(), s.contacts.size());
    if (s.contacts.empty()) continue;
    EXPECT_NEAR(least(back).gap, least(s.contacts).gap, 2e-7);
    EXPECT_NEAR(least(there).gap, least(s.contacts).gap, 2e-7);
    if (least(s.contacts).gap > 1e-3) {
      EXPECT_LT((least(back).normal + least(s.contacts).normal).norm(), 1e-5);
      for (std::size_t i = 0; i < there.size(); ++i) EXPECT_EQ(there[i].key, s.contacts[i].key);
    }
    if (HasFailure()) FAIL() << "sample " << k;
  }
}

/// Right angles, flush faces, coincident axes, exactly or nearly so.
TEST_P(ConvexPairs, DegeneratePlacements) {
  const ConvexKinds& kinds = GetParam();
  if (kinds.a == ShapeKind::Plane || kinds.b == ShapeKind::Plane) return;
  for (int k = 0; k < calc_poses(500); ++k) {
    const Convex a{random_.lattice_solid(kinds.a), random_.lattice_pose(false)};
    const Convex b{random_.lattice_solid(kinds.b), random_.lattice_pose(false)};
    const std::vector<Contact> contacts = find_contacts(make_pair_world(a.solid, a.pose, b.solid, b.pose, 20));
    ASSERT_FALSE(contacts.empty());
    const Contact& c = least(contacts);
    EXPECT_TRUE(c.normal.allFinite());
    EXPECT_NEAR(c.gap, calc_separation(a, b, c.normal), 1e-6);
    // Points to 2e-5 where features are all but parallel (the worst of 100,000 poses a pair), the gap to 1e-6 and
    // better.
    if (c.gap > 1e-9) check_convex_contacts(a, b, contacts, 2e-5);
    if (HasFailure()) FAIL() << "sample " << k;
  }
}

std::vector<ConvexKinds> list_convex_pairs() {
  std::vector<ConvexKinds> pairs;
  const ShapeKind fresh[] = {ShapeKind::Cylinder, ShapeKind::Cone, ShapeKind::Ellipsoid, ShapeKind::Hull},
                  old[] = {ShapeKind::Plane, ShapeKind::Sphere, ShapeKind::Capsule, ShapeKind::Box};
  for (const ShapeKind a : old)
    for (const ShapeKind b : fresh) pairs.push_back({a, b});
  for (int i = 0; i < 4; ++i)
    for (int j = i; j < 4; ++j) pairs.push_back({fresh[i], fresh[j]});
  return pairs;
}

std::string name_convex_pair(const testing::TestParamInfo<ConvexKinds>& info) {
  std::string name = std::string(name_of(info.param.a)) + "_" + std::string(name_of(info.param.b));
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ConvexPairs, testing::ValuesIn(list_convex_pairs()), name_convex_pair);

}  // namespace
}  // namespace slipstick::test
