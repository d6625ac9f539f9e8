// Signed distances of all pairs of kinds against the slow second opinion. SLIPSTICK_POSES=100000 runs as many poses a
// pair.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "unit/collision/collision_support.h"
#include "unit/collision/slow_convex.h"

namespace slipstick::test {
namespace {

struct KindPair {
  ShapeKind a, b;
  bool planar;
};

constexpr ShapeKind kSphere = ShapeKind::Sphere, kBox = ShapeKind::Box, kCapsule = ShapeKind::Capsule,
                    kPlane = ShapeKind::Plane, kDisk = ShapeKind::Disk, kPolygon = ShapeKind::Polygon;

const KindPair kKindPairs[] = {
    {kSphere, kSphere, false},  {kSphere, kBox, false},   {kSphere, kCapsule, false}, {kSphere, kPlane, false},
    {kBox, kBox, false},        {kBox, kCapsule, false},  {kBox, kPlane, false},      {kCapsule, kCapsule, false},
    {kCapsule, kPlane, false},  {kDisk, kDisk, true},     {kDisk, kPolygon, true},    {kDisk, kPlane, true},
    {kPolygon, kPolygon, true}, {kPolygon, kPlane, true}, {kPlane, kBox, false},      {kCapsule, kSphere, false},
    {kPolygon, kDisk, true},    {kBox, kSphere, false},   {kCapsule, kBox, false},
};

std::string name(const testing::TestParamInfo<KindPair>& info) {
  const char* const names[] = {"Sphere", "Box", "Capsule", "Plane", "Disk", "Polygon"};
  return std::string(names[static_cast<int>(info.param.a)]) + names[static_cast<int>(info.param.b)];
}

class Pairs : public testing::TestWithParam<KindPair> {
 protected:
  struct Sample {
    Convex a, b;
    World world;
    std::vector<Contact> contacts;
  };

  Sample make_sample(double distance, double reach) {
    const KindPair& k = GetParam();
    Sample s{{random_.solid(k.a), random_.pose(k.a, k.planar, distance)},
             {random_.solid(k.b), random_.pose(k.b, k.planar, distance)},
             {},
             {}};
    s.world = make_pair_world(s.a.solid, s.a.pose, s.b.solid, s.b.pose, reach);
    s.contacts = find_contacts(s.world);
    return s;
  }

  Random random_{7};
};

/// What must hold for each contact, whatever the pair.
void check_contacts(const Convex& a, const Convex& b, const std::vector<Contact>& contacts, double reach) {
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const Contact& c = contacts[k];
    EXPECT_NEAR(c.normal.norm(), 1, 1e-14);
    EXPECT_LT((c.point_b - c.point_a - c.gap * c.normal).norm(), 1e-13);
    EXPECT_LE(c.gap, reach);
    EXPECT_LT(c.key.shape_a, c.key.shape_b);
    if (k > 0) {
      EXPECT_LT(contacts[k - 1].key, c.key);
    }
    // The points belong to the shapes.
    EXPECT_LT((a.project(c.point_a) - c.point_a).norm(), 1e-12);
    EXPECT_LT((b.project(c.point_b) - c.point_b).norm(), 1e-12);
    // No pair of points lies deeper along its normal than the shapes do.
    EXPECT_GE(c.gap, calc_separation(a, b, c.normal) - 1e-12);
  }
}

TEST_P(Pairs, DistanceOfSeparatedShapes) {
  int separated = 0, resolved = 0;
  const int poses = calc_poses(2000);
  while (separated < poses) {
    const Sample s = make_sample(2.5, 20);
    const Bracket bracket = calc_distance(s.a, s.b, 1e-10);
    if (bracket.high < 1e-6) continue;
    ++separated;
    ASSERT_FALSE(s.contacts.empty());
    check_contacts(s.a, s.b, s.contacts, 20);
    const Contact& c = least(s.contacts);
    EXPECT_GE(c.gap, bracket.low - 1e-10);
    EXPECT_LE(c.gap, bracket.high + 1e-10);
    resolved += bracket.high - bracket.low < 1e-9;
    // The same in one line: the witness points bound the distance from above, their normal from below.
    EXPECT_NEAR(c.gap, calc_separation(s.a, s.b, c.normal), 1e-9);
    if (HasFailure()) FAIL() << "sample " << separated;
  }
  EXPECT_GT(resolved, 0.9 * poses);  // alternating projections are slow, not wrong: a few brackets stay wide
}

TEST_P(Pairs, NothingBeyondReach) {
  int none = 0;
  for (int k = 0; k < 2000; ++k) {
    const Sample s = make_sample(2.5, 0.3);
    check_contacts(s.a, s.b, s.contacts, 0.3);
    World wide = s.world;
    wide.reach = {20, 20};
    const std::vector<Contact> all = find_contacts(wide);
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(s.contacts.empty(), least(all).gap > 0.3);
    // A narrower reach drops contacts and changes none of the rest.
    std::size_t kept = 0;
    for (const Contact& c : all) {
      if (c.gap > 0.3) continue;
      ASSERT_LT(kept, s.contacts.size());
      EXPECT_EQ(s.contacts[kept].key, c.key);
      EXPECT_EQ(s.contacts[kept].gap, c.gap);
      ++kept;
    }
    EXPECT_EQ(kept, s.contacts.size());
    none += s.contacts.empty();
    if (HasFailure()) FAIL() << "sample " << k;
  }
  EXPECT_GT(none, 20);
}

/// Pairs without a plane, which has one direction only and nothing degenerate about it.
class BoundedPairs : public Pairs {};

/// The signed distance of overlapping convex sets is the greatest separation over all directions. The normal of the
/// contact attains it; brute force finds nothing better.
TEST_P(BoundedPairs, DepthOfOverlappingShapes) {
  const KindPair& kinds = GetParam();
  int overlapping = 0;
  const int poses = calc_poses(2000);
  while (overlapping < poses) {
    const Sample s = make_sample(0.7, 0);
    if (s.contacts.empty()) continue;
    check_contacts(s.a, s.b, s.contacts, 0);
    // Two cores that meet have no unique direction: the depth is then the sum of the radii.
    const bool round = kinds.a != kBox && kinds.a != kPolygon && kinds.b != kBox && kinds.b != kPolygon;
    if (round && least(s.contacts).gap < 1e-3 - s.a.solid.shape.radius - s.b.solid.shape.radius) continue;
    ++overlapping;
    std::vector<Vec3> directions = list_box_directions(s.a, s.b);
    for (int k = 0; k < 100; ++k) directions.push_back(random_.direction(kinds.planar));
    for (const Contact& c : s.contacts) {
      for (int k = 0; k < 50; ++k) {
        const double size = std::pow(10.0, -random_.uniform(1, 6));
        directions.push_back((c.normal + size * random_.direction(kinds.planar)).normalized());
      }
    }
    double attained = -1e300, best = -1e300;
    for (const Contact& c : s.contacts) {
      const double separation = calc_separation(s.a, s.b, c.normal);
      if (std::abs(separation - c.gap) < 1e-9) attained = std::max(attained, separation);
    }
    for (const Vec3& n : directions) {
      if (n.norm() < 0.5 || (kinds.planar && std::abs(n.z()) > 1e-9)) continue;  // parallel edges have no cross product
      best = std::max(best, calc_separation(s.a, s.b, n));
    }
    EXPECT_GE(attained, best - 1e-9);
    if (kinds.a == kBox && kinds.b == kBox) {
      EXPECT_GE(least(s.contacts).gap, attained - 1e-9) << "nothing deeper than the depth";
    }
    if (HasFailure()) FAIL() << "sample " << overlapping;
  }
}

/// Parallel edges, flush faces, coincident corners, exactly or nearly so.
TEST_P(BoundedPairs, DegeneratePlacements) {
  const KindPair& kinds = GetParam();
  const int poses = calc_poses(4000);
  for (int k = 0; k < poses; ++k) {
    const Convex a{random_.lattice_solid(kinds.a), random_.lattice_pose(kinds.planar)};
    const Convex b{random_.lattice_solid(kinds.b), random_.lattice_pose(kinds.planar)};
    const std::vector<Contact> contacts = find_contacts(make_pair_world(a.solid, a.pose, b.solid, b.pose, 20));
    ASSERT_FALSE(contacts.empty());
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const Contact& c = contacts[i];
      EXPECT_NEAR(c.normal.norm(), 1, 1e-14);
      EXPECT_LT((c.point_b - c.point_a - c.gap * c.normal).norm(), 1e-12);
      EXPECT_LT((a.project(c.point_a) - c.point_a).norm(), 1e-7);
      EXPECT_LT((b.project(c.point_b) - c.point_b).norm(), 1e-7);
      if (i > 0) {
        EXPECT_LT(contacts[i - 1].key, c.key);
      }
    }
    const Contact& c = least(contacts);
    const double separation = calc_separation(a, b, c.normal);
    if (c.gap > 0 && std::abs(c.gap - separation) > 1e-9) {
      const Bracket bracket = calc_distance(a, b, 1e-10);
      EXPECT_GE(c.gap, bracket.low - 1e-8);
      EXPECT_LE(c.gap, bracket.high + 1e-8);
    }
    if (c.gap <= 0) {
      for (const Vec3& n : list_box_directions(a, b)) {
        if (n.norm() < 0.5 || (kinds.planar && std::abs(n.z()) > 1e-9)) continue;
        EXPECT_LE(calc_separation(a, b, n), 1e-8) << "apart but said to overlap";
      }
    }
    if (HasFailure()) FAIL() << "sample " << k;
  }
}

/// Through touching: the gap is continuous and falls at the rate at which the shapes approach.
TEST_P(Pairs, GapIsContinuousThroughTouching) {
  for (int k = 0; k < 300; ++k) {
    Sample s = make_sample(2.5, 20);
    Contact c = least(s.contacts);
    const int mover = GetParam().b == kPlane ? 0 : 1;
    for (int repeat = 0; repeat < 2; ++repeat) {  // to touching
      s.world.state.pose[mover].position += (mover ? -c.gap : c.gap) * c.normal;
      c = least(find_contacts(s.world));
    }
    if (std::abs(c.gap) > 1e-3) continue;  // overlapping from the start, by more than one direction
    double last = c.gap;
    for (int step = 0; step < 20; ++step) {
      s.world.state.pose[mover].position += (mover ? -1e-6 : 1e-6) * c.normal;
      const double gap = least(find_contacts(s.world)).gap;
      EXPECT_LE(std::abs(gap - last), 1e-6 * (1 + 1e-6) + 1e-9) << "at gap " << last;
      last = gap;
    }
    if (HasFailure()) FAIL() << "sample " << k;
  }
}

TEST_P(Pairs, RateOfTheGap) {
  const bool planar = GetParam().planar;
  int tested = 0;
  for (int k = 0; k < 600; ++k) {
    const Sample s = make_sample(k % 3 ? 2.5 : 0.9, 20);
    if (s.contacts.empty()) continue;
    const Contact& c = least(s.contacts);
    if (c.gap > 0 && c.gap < 0.05) continue;  // strongly curved near an edge
    std::array<Vec3, 2> linear, angular;
    for (int body = 0; body < 2; ++body) {
      linear[body] = random_.direction(planar);
      angular[body] = planar ? Vec3(random_.uniform(-1, 1) * Vec3::UnitZ()) : random_.direction();
    }
    const GapRate rate = calc_gap_rate(s.world, c, linear, angular, 1e-6);
    if (!rate.same) continue;
    ++tested;
    EXPECT_NEAR(rate.measured, rate.predicted, 2e-6);
    if (HasFailure()) FAIL() << "sample " << k;
  }
  EXPECT_GT(tested, 300);
}

TEST_P(Pairs, SwappingTheShapesTurnsTheContactRound) {
  for (int k = 0; k < 1000; ++k) {
    const Sample s = make_sample(2, 0.5);
    std::vector<Contact> back = find_contacts(make_pair_world(s.b.solid, s.b.pose, s.a.solid, s.a.pose, 0.5));
    ASSERT_EQ(back.size(), s.contacts.size());
    for (const Contact& c : s.contacts) {
      const bool found = std::any_of(back.begin(), back.end(), [&](const Contact& d) {
        return std::abs(d.gap - c.gap) < 1e-10 && (d.normal + c.normal).norm() < 1e-8 &&
               (d.point_a - c.point_b).norm() < 1e-8 && (d.point_b - c.point_a).norm() < 1e-8;
      });
      EXPECT_TRUE(found);
    }
    if (HasFailure()) FAIL() << "sample " << k;
  }
}

TEST_P(Pairs, MovingTheWorldMovesTheContacts) {
  const bool planar = GetParam().planar;
  for (int k = 0; k < 1000; ++k) {
    const Sample s = make_sample(2, 0.5);
    const Pose shift = random_.pose(kBox, planar, 5);
    World moved = s.world;
    for (Pose& pose : moved.state.pose) {
      pose = {shift.position + shift.orientation * pose.position, (shift.orientation * pose.orientation).normalized()};
    }
    const std::vector<Contact> there = find_contacts(moved);
    ASSERT_EQ(there.size(), s.contacts.size());
    for (std::size_t i = 0; i < there.size(); ++i) {
      EXPECT_EQ(there[i].key, s.contacts[i].key);
      EXPECT_NEAR(there[i].gap, s.contacts[i].gap, 1e-10);
      EXPECT_LT((there[i].normal - shift.orientation * s.contacts[i].normal).norm(), 1e-8);
      EXPECT_LT((there[i].point_a - shift.position - shift.orientation * s.contacts[i].point_a).norm(), 1e-8);
    }
    if (HasFailure()) FAIL() << "sample " << k;
  }
}

std::vector<KindPair> list_bounded_pairs() {
  std::vector<KindPair> pairs;
  for (const KindPair& kinds : kKindPairs)
    if (kinds.a != kPlane && kinds.b != kPlane) pairs.push_back(kinds);
  return pairs;
}

INSTANTIATE_TEST_SUITE_P(All, Pairs, testing::ValuesIn(kKindPairs), name);
INSTANTIATE_TEST_SUITE_P(All, BoundedPairs, testing::ValuesIn(list_bounded_pairs()), name);

}  // namespace
}  // namespace slipstick::test
