#include "base/closest_name.h"

#include <gtest/gtest.h>

namespace slipstick {
namespace {

const std::vector<std::string> kKnown{"mass", "ground", "friction", "restitution", "mu", "A"};

TEST(ClosestName, FindsSlipsOfTheHand) {
  EXPECT_EQ(closest_name("groud", kKnown), "ground");
  EXPECT_EQ(closest_name("mas", kKnown), "mass");
  EXPECT_EQ(closest_name("amss", kKnown), "mass");  // neighbours swapped: one edit
  EXPECT_EQ(closest_name("GROUND", kKnown), "ground");
  EXPECT_EQ(closest_name("mu2", kKnown), "mu");
  EXPECT_EQ(closest_name("resttituion", kKnown), "restitution");
  EXPECT_EQ(closest_name("a", kKnown), "A");
}

TEST(ClosestName, IsSilentWhereNothingIsNear) {
  EXPECT_FALSE(closest_name("velocity", kKnown));
  EXPECT_FALSE(closest_name("mx", kKnown));
  EXPECT_FALSE(closest_name("", kKnown));
  EXPECT_FALSE(closest_name("mass", {}));
  EXPECT_FALSE(closest_name(std::string(100, 'm'), kKnown));
  EXPECT_FALSE(closest_name("mass", {std::string(100, 'm'), ""}));
}

TEST(ClosestName, TakesTheFirstOfEquals) {
  EXPECT_EQ(closest_name("link_3", {"link_1", "link_2"}), "link_1");
  EXPECT_EQ(closest_name("link_2", {"link_1", "link_2"}), "link_2");
}

}  // namespace
}  // namespace slipstick
