// Boxes that lie flush on each other, whatever they are made of: manifolds are complete, normals are those of the
// faces, and no name comes or goes when the last digits change.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "unit/collision/flush_support.h"

namespace slipstick::test {
namespace {

/// Placements per pair of forms: SLIPSTICK_FLUSH / 25 if it is set.
int calc_placements(int usual) {
  const char* const asked = std::getenv("SLIPSTICK_FLUSH");
  return asked ? std::max(1, std::atoi(asked) / static_cast<int>(kForms.size() * kForms.size())) : usual;
}

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

TEST(Flush, WhateverTheyAreMadeOf) {
  const int count = calc_placements(24);
  for (const Form a : kForms) {
    for (const Form b : kForms) {
      const FlushCount sum = count_flush_faults(a, b, count, kOffsets, 1000);
      const std::string pair = std::string(name_of(a)) + " on " + name_of(b);
      std::cout << sum.tried << " x " << pair << ": " << sum.faulty << " faulty, " << sum.flickering << " flicker\n";
      EXPECT_EQ(sum.faulty, 0) << pair << ", " << sum.first;
      EXPECT_EQ(sum.flickering, 0) << pair << ", " << sum.first;
    }
  }
}

/// Round and curved solids as they stand or lie.
constexpr std::array<const char*, 6> kRound{"sphere",         "lying capsule", "cylinder",
                                            "lying cylinder", "cone",          "ellipsoid"};
std::pair<Solid, Quat> make_standing(int kind) {
  const Quat upright = Quat::Identity(), lying(Eigen::AngleAxisd(std::acos(0.0), Vec3::UnitY()));
  if (kind == 0) return {make_sphere(0.1), upright};
  if (kind == 1) return {make_capsule(0.1, 0.2), lying};
  if (kind == 2) return {make_cylinder(0.2, 0.1), upright};
  if (kind == 3) return {make_cylinder(0.1, 0.2), lying};
  if (kind == 4) return {make_cone(0.2, 0.1), upright};
  return {make_ellipsoid({0.2, 0.3, 0.1}), upright};
}

constexpr double kRoundSize = 0.1;
const Vec3 kTable(0.4, 0.5, 0.1);

/// Over the middle, an edge, a corner, a diagonal, a line of the grid, or flush with a side from inside.
Pose make_round_pose(const Quat& stand, double offset, const Pose& frame, Random* random) {
  constexpr std::array<double, 5> kPlaces{0, 1, 0.5, 1.0 / 3, -1};
  Vec3 at(kPlaces[random->index(5)] * kTable.x(), kPlaces[random->index(5)] * kTable.y(),
          kTable.z() + kRoundSize * (1 + offset * (random->index(3) - 1)));
  if (random->index(3) == 0) at.x() = kTable.x() - 0.2;
  if (random->index(3) == 0) at.y() = random->uniform(-0.5, 0.5);
  const double yaw = random->index(2) ? 0 : random->index(2) ? std::acos(0.0) : random->uniform(0, 6);
  return {frame.position + frame.orientation * at,
          frame.orientation * Quat(Eigen::AngleAxisd(yaw, Vec3::UnitZ())) * stand};
}

/// Some contact of `others` pushes the same way by the same gap, and is at the same place if that is asked.
bool has_like(const Contact& c, const std::vector<Contact>& others, bool same_place) {
  return std::any_of(others.begin(), others.end(), [&](const Contact& d) {
    return (!same_place || (c.point_a - d.point_a).norm() <= 1e-4 * kRoundSize) &&
           (c.normal - d.normal).norm() <= 1e-5 && std::abs(c.gap - d.gap) <= 1e-9 * kRoundSize;
  });
}

/// All that a box gives is there. What else touches pushes the same way: points inside of a straight line, or ends a
/// hair beyond an edge, with the normal of that edge.
bool is_like(const std::vector<Contact>& expected, const std::vector<Contact>& found) {
  return std::all_of(expected.begin(), expected.end(), [&](const Contact& c) { return has_like(c, found, true); }) &&
         std::all_of(found.begin(), found.end(), [&](const Contact& c) {
           const Contact& nearest = least(expected);
           const bool beyond = c.gap > nearest.gap && c.normal.dot(nearest.normal) > 0.98;
           return c.gap > 1e-5 * kRoundSize || beyond || has_like(c, expected, false);
         });
}

TEST(Flush, RoundAndCurvedSolidsMeetAMeshLikeABox) {
  const int count = calc_placements(60);
  for (int kind = 0; kind < static_cast<int>(kRound.size()); ++kind) {
    int unlike = 0, flickering = 0, first = -1;
    for (int k = 0; k < count; ++k) {
      Random random(7000 + k);
      const auto [solid, stand] = make_standing(kind);
      Pose frame;
      if (random.index(2)) frame = {random.direction(), random.rotation()};
      const Pose pose = make_round_pose(stand, kOffsets[k % kOffsets.size()], frame, &random);
      const Solid mesh = make_form(kForms[2 + random.index(3)], kTable, &random);
      const auto expected = find_contacts(make_pair_world(make_box(kTable), frame, solid, pose, 0.002));
      World world = make_pair_world(mesh, frame, solid, pose, 0.002);
      const auto found = find_contacts(world);
      const bool like = is_like(expected, found);
      if (!like && first < 0) first = k;
      unlike += !like;
      bool flickers = false;
      for (int move = 0; move < 5; ++move) {
        const double by = std::pow(10.0, -12 - move);
        world.state.pose[1].position = pose.position + by * kRoundSize * random.direction();
        world.state.pose[1].orientation =
            (Quat(Eigen::AngleAxisd(by, random.direction())) * pose.orientation).normalized();
        flickers = flickers || names_of(find_contacts(world)) != names_of(found);
      }
      flickering += flickers;
    }
    std::cout << count << " x " << kRound[kind] << ": " << unlike << " unlike, " << flickering << " flicker\n";
    EXPECT_EQ(unlike, 0) << kRound[kind] << ", first " << first;
    // Clipped rims and mantles meet each triangle by itself: a few names change where they end exactly on a vertex.
    const bool clipped = kind == 2 || kind == 3 || kind == 4;
    EXPECT_LE(flickering, clipped ? count / 25 : 0) << kRound[kind];
  }
}

}  // namespace
}  // namespace slipstick::test
