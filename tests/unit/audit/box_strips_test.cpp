// Pairs of boxes against all pairs.
#include "audit/box_strips.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace slipstick {
namespace {

TEST(BoxStrips, FindsJustThePairsThatMeetAndHaveAMark) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  BoxStrips strips;
  int all = 0;
  for (int round = 0; round < 200; ++round) {
    const int count = 2 + static_cast<int>(120 * unit(random));
    const double far = std::pow(10, 3 * unit(random)), share = unit(random);
    std::vector<Box3> boxes(count);
    std::vector<std::uint8_t> marked(count);
    for (int i = 0; i < count; ++i) {
      const Vec3 low = far * (Vec3(unit(random), unit(random), unit(random)) - Vec3::Constant(0.3));
      const double size = unit(random) < 0.1 ? far * unit(random) : 5 * unit(random);  // some are large
      boxes[i] = {low, low + size * Vec3(unit(random), unit(random), unit(random))};
      if (unit(random) < 0.05) boxes[i] = {Vec3::Constant(kInfinity), Vec3::Constant(-kInfinity)};  // planes
      marked[i] = unit(random) < share;
    }
    std::set<std::pair<int, int>> expected, found;
    for (int i = 0; i < count; ++i)
      for (int j = i + 1; j < count; ++j)
        if ((marked[i] || marked[j]) && boxes[i].meets(boxes[j])) expected.insert({i, j});
    for (const BoxStrips::Pair& pair : strips.find(boxes, marked))
      EXPECT_TRUE(found.insert(std::minmax(pair.a, pair.b)).second) << "twice";
    EXPECT_EQ(found, expected);
    all += static_cast<int>(expected.size());
  }
  EXPECT_GT(all, 1000);
}

}  // namespace
}  // namespace slipstick
