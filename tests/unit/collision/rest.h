// What tests of resting manifolds look at.
#pragma once

#include <gtest/gtest.h>

#include "unit/collision/collision_support.h"

namespace slipstick::test {

/// The contacts of b resting at a common plane on a: all gaps 0, normals up.
inline void expect_rest(const std::vector<Contact>& contacts, std::size_t count, const Vec3& up = Vec3::UnitZ(),
                        double tolerance = 1e-12) {
  ASSERT_EQ(contacts.size(), count);
  for (const Contact& c : contacts) {
    EXPECT_NEAR(c.gap, 0, tolerance);
    EXPECT_LT((c.normal - up).norm(), tolerance);
  }
}

/// Of the contact points: enough to see that they are the outermost ones.
inline Vec3 extent(const std::vector<Contact>& contacts) {
  Vec3 low = contacts[0].point_a, high = low;
  for (const Contact& c : contacts) {
    low = low.cwiseMin(c.point_a);
    high = high.cwiseMax(c.point_a);
  }
  return high - low;
}

}  // namespace slipstick::test
