// Boxes that lie flush on each other, whatever they are made of: manifolds are complete, normals are those of the
// faces, and no name comes or goes when the last digits change.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "unit/collision/flush_support.h"

namespace slipstick::test {
namespace {

struct FlushCount {
  int tried = 0, faulty = 0, flickering = 0;
  std::string first;
};

std::vector<std::uint32_t> names_of(const std::vector<Contact>& contacts) {
  std::vector<std::uint32_t> names;
  for (const Contact& c : contacts) names.push_back(c.key.feature);
  return names;
}

FlushCount count_flush_faults(Form form_a, Form form_b, int count, const std::vector<double>& offsets, unsigned seed) {
  FlushCount sum;
  for (int k = 0; k < count; ++k) {
    Random random(seed + k);
    const double offset = offsets[k % offsets.size()];
    const FlushPlacement placed = make_flush_placement(offset, &random);
    World world = make_pair_world(make_form(form_a, placed.half_a, &random), placed.a,
                                  make_form(form_b, placed.half_b, &random), placed.b, 0.02 * placed.size);
    ContactFinder finder(world.model);
    ContactSet set;
    finder.find(world.state, world.reach, &set);
    const std::string fault = find_flush_fault(placed, set.contacts);
    const auto names = names_of(set.contacts);
    bool flickers = false;
    for (int move = 0; move < 5; ++move) {
      world.state.pose[1] = make_moved(placed, std::pow(10.0, -12 - move), &random).b;
      finder.find(world.state, world.reach, &set);
      flickers = flickers || names_of(set.contacts) != names;
    }
    ++sum.tried;
    sum.faulty += !fault.empty();
    sum.flickering += flickers;
    if (sum.first.empty() && (!fault.empty() || flickers)) {
      sum.first = std::to_string(k) + ": " + (fault.empty() ? "flickers" : fault);
    }
  }
  return sum;
}

const std::vector<double> kOffsets{0, 1e-12, 1e-9, 1e-6};

TEST(Flush, BoxesKeepTheirCorners) {
  const std::vector<double> offsets{0, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12};
  const FlushCount sum = count_flush_faults(Form::Box, Form::Box, 2000, offsets, 1);
  EXPECT_EQ(sum.faulty, 0) << sum.first;
  EXPECT_EQ(sum.flickering, 0) << sum.first;
}

}  // namespace
}  // namespace slipstick::test
