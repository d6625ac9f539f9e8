// Which points of a manifold stay.
#include "collision/reduce_contacts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace slipstick {
namespace {

/// Two shapes of radius 1.
Model make_two_shapes() {
  Model model;
  model.shapes.resize(2);
  for (Shape& shape : model.shapes) shape.bound = 1;
  return model;
}

Contact make_point(std::uint32_t feature, double x, double y, double gap = 0) {
  Contact contact;
  contact.key = {0, 1, feature};
  contact.point_a = Vec3(x, y, 0);
  contact.point_b = Vec3(x, y, gap);
  contact.gap = gap;
  return contact;
}

std::vector<std::uint32_t> reduce(std::vector<Contact> contacts, const std::vector<ContactMemory>& memory = {}) {
  ContactSet set{std::move(contacts)};
  ContactReducer().reduce(make_two_shapes(), memory, &set);
  std::vector<std::uint32_t> features;
  for (const Contact& contact : set.contacts) features.push_back(contact.key.feature);
  return features;
}

std::vector<Contact> make_ring(int count, double turn = 0) {
  std::vector<Contact> ring;
  for (int i = 0; i < count; ++i) {
    const double angle = turn + 2 * std::numbers::pi * i / count;
    ring.push_back(make_point(static_cast<std::uint32_t>(i), 0.5 * std::cos(angle), 0.5 * std::sin(angle)));
  }
  return ring;
}

using Features = std::vector<std::uint32_t>;

TEST(ReduceContacts, FourCornersStay) { EXPECT_EQ(reduce(make_ring(4)), (Features{0, 1, 2, 3})); }

TEST(ReduceContacts, ARingBecomesASquare) { EXPECT_EQ(reduce(make_ring(8)), (Features{0, 2, 4, 6})); }

TEST(ReduceContacts, WhatCarriedLoadStays) {
  std::vector<ContactMemory> memory;
  for (const std::uint32_t feature : {1u, 3u, 5u, 7u}) {
    ContactMemory entry;
    entry.key = {0, 1, feature};
    entry.loaded = true;
    memory.push_back(entry);
  }
  EXPECT_EQ(reduce(make_ring(8), memory), (Features{1, 3, 5, 7}));
  // Rounding does not change the names of a body at rest.
  std::vector<Contact> ring = make_ring(8, 1e-9);
  for (std::size_t i = 0; i < ring.size(); ++i) ring[i].gap = 1e-12 * std::sin(3.0 * static_cast<double>(i));
  EXPECT_EQ(reduce(ring, memory), (Features{1, 3, 5, 7}));
}

TEST(ReduceContacts, TheDeepestStays) {
  std::vector<Contact> ring = make_ring(8);
  ring[3].gap = -1e-5;
  const Features kept = reduce(ring);
  EXPECT_EQ(kept.size(), 4u);
  EXPECT_TRUE(std::find(kept.begin(), kept.end(), 3u) != kept.end());
}

TEST(ReduceContacts, ATiltedFaceKeepsAllOfItsPoints) {
  std::vector<Contact> ring = make_ring(8);
  for (Contact& contact : ring) contact.gap = 0.01 * (contact.point_a.x() + 0.5);
  EXPECT_EQ(reduce(ring).size(), 8u);
}

TEST(ReduceContacts, OfALineTheEndsStay) {
  std::vector<Contact> line;
  for (std::uint32_t i = 0; i < 6; ++i) line.push_back(make_point(i, 0.1 * i, 0));
  EXPECT_EQ(reduce(line), (Features{0, 5}));
}

TEST(ReduceContacts, InnerPointsGo) {
  std::vector<Contact> triangle = {make_point(0, 0, 0), make_point(1, 0.2, 0.1), make_point(2, 1, 0),
                                   make_point(3, 0.3, 0.2), make_point(4, 0, 1)};
  EXPECT_EQ(reduce(triangle), (Features{0, 2, 4}));
}

TEST(ReduceContacts, NearPointsAreOne) {
  EXPECT_EQ(reduce({make_point(0, 0, 0), make_point(1, 1e-4, 0, -1e-7), make_point(2, 0.5, 0)}), (Features{1, 2}));
  EXPECT_EQ(reduce({make_point(0, 0, 0), make_point(1, 1e-4, 0), make_point(2, 0.5, 0)}), (Features{0, 2}));
}

TEST(ReduceContacts, EachNormalIsAManifoldOfItsOwn) {
  std::vector<Contact> both = make_ring(8);
  for (const Contact& contact : make_ring(8)) {
    both.push_back(contact);
    both.back().key.feature += 8;
    both.back().normal = Vec3(0, 0.01, 1).normalized();
  }
  EXPECT_EQ(reduce(both).size(), 8u);
}

}  // namespace
}  // namespace slipstick
