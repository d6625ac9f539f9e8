// The finder as a whole: the broad phase misses nothing, filters, history, allocation.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "base/thread_team.h"
#include "collision/broad_phase.h"
#include "unit/collision/collision_support.h"

namespace {
std::atomic<long> allocations{0};

void* allocate(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size ? size : 1)) return p;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace slipstick::test {
namespace {

/// Bodies of all kinds in a cube (planar: a square), with two walls, some kinematic and fixed ones among them.
World make_crowd(Random* random, bool planar, int bodies, double size, double reach) {
  World world;
  const ShapeKind space[] = {ShapeKind::Sphere, ShapeKind::Box, ShapeKind::Capsule};
  const ShapeKind plane[] = {ShapeKind::Disk, ShapeKind::Polygon};
  for (int k = 0; k < bodies; ++k) {
    const BodyKind kind = k % 11 == 0 ? BodyKind::Fixed : k % 13 == 0 ? BodyKind::Kinematic : BodyKind::Dynamic;
    Pose pose = random->pose(ShapeKind::Box, planar, 0);
    pose.position = Vec3(random->uniform(0, size), random->uniform(0, size), planar ? 0 : random->uniform(0, size));
    const int body = world.add_body(kind, pose, random->uniform(0, reach));
    for (int s = 0; s < 1 + k % 2; ++s) {  // every other body is a compound
      Solid solid = random->solid(planar ? plane[random->index(2)] : space[random->index(3)]);
      solid.shape.pose = random->pose(ShapeKind::Box, planar, 0.5);
      world.add_shape(body, solid.shape, solid.points);
    }
    if (k % 40 == 20) {
      const int wall = world.add_body(BodyKind::Fixed, random->pose(ShapeKind::Plane, planar, 1), 0);
      world.add_shape(wall, make_plane().shape);
    }
  }
  world.model.planar = planar;
  return world;
}

bool same_bits(const std::vector<Contact>& x, const std::vector<Contact>& y) {
  if (x.size() != y.size()) return false;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const bool same = x[k].key == y[k].key && x[k].body_a == y[k].body_a && x[k].body_b == y[k].body_b &&
                      x[k].point_a == y[k].point_a && x[k].point_b == y[k].point_b && x[k].normal == y[k].normal &&
                      x[k].gap == y[k].gap;
    if (!same) return false;
  }
  return true;
}

/// One finder for each pair of shapes.
std::vector<Contact> find_by_brute_force(const World& world) {
  std::vector<Contact> all;
  const int count = static_cast<int>(world.model.shapes.size());
  for (int i = 0; i < count; ++i) {
    for (int j = i + 1; j < count; ++j) {
      const Shape &a = world.model.shapes[i], &b = world.model.shapes[j];
      const auto kind = [&](const Shape& s) { return world.model.bodies[s.body].kind; };
      if (a.body == b.body || (kind(a) != BodyKind::Dynamic && kind(b) != BodyKind::Dynamic)) continue;
      World pair;
      for (const Shape* s : {&a, &b}) {
        const int body = pair.add_body(kind(*s), world.state.pose[s->body], world.reach[s->body]);
        const auto first = world.model.points.begin() + s->first_point;
        pair.add_shape(body, *s, {first, first + s->point_count});
      }
      pair.model.planar = world.model.planar;
      for (Contact c : find_contacts(pair)) {
        c.key.shape_a = i;
        c.key.shape_b = j;
        c.body_a = a.body;
        c.body_b = b.body;
        all.push_back(c);
      }
    }
  }
  return all;
}

TEST(Finder, SomeBodiesHaveTheContactsThatTheyHaveAmongAll) {
  Random random(11);
  const World world = make_crowd(&random, false, 120, 6, 0.2);
  ContactFinder finder(world.model);
  ContactSet all, some;
  finder.find(world.state, world.reach, &all);
  std::vector<char> bodies(world.model.bodies.size(), 0);
  for (std::size_t k = 0; k < bodies.size(); k += 7) bodies[k] = 1;
  finder.find(world.state, world.reach, bodies, &some);
  std::erase_if(all.contacts, [&](const Contact& c) { return !bodies[c.body_a] && !bodies[c.body_b]; });
  EXPECT_GT(some.contacts.size(), 10u);
  EXPECT_TRUE(same_bits(some.contacts, all.contacts));
}

TEST(Finder, EqualsBruteForce) {
  Random random(11);
  for (int scene = 0; scene < 24; ++scene) {
    const bool planar = scene % 2;
    const int bodies = scene < 20 ? 40 : 260;  // the large ones go into grids
    const World world = make_crowd(&random, planar, bodies, scene < 20 ? 4 : 14, 0.3);
    const std::vector<Contact> found = find_contacts(world);
    EXPECT_GT(found.size(), 20u);
    EXPECT_TRUE(same_bits(found, find_by_brute_force(world))) << scene;
  }
}

TEST(Finder, TheAnswerDoesNotDependOnWhatWasAskedBefore) {
  Random random(12);
  for (const int bodies : {50, 300}) {
    World world = make_crowd(&random, false, bodies, 6, 0.2);
    ContactFinder used(world.model);
    ContactSet set;
    for (int k = 0; k < 20; ++k) {
      // Small motions, and now and then a shuffle or a stretch that changes the axis of the sweep.
      for (std::size_t b = 0; b < world.state.pose.size(); ++b) {
        Pose& pose = world.state.pose[b];
        pose.position += 0.05 * random.direction();
        if (k % 7 == 6) pose.position = Vec3(pose.position.y(), 2 * pose.position.z(), pose.position.x());
      }
      used.find(world.state, world.reach, &set);
      EXPECT_TRUE(same_bits(set.contacts, find_contacts(world)));
    }
  }
}

/// Pairs of balls serve again where bodies were moved by less than they have to spare, and nowhere else.
TEST(Finder, PairsThatServeAgainHideNothing) {
  Random random(31);
  World world = make_crowd(&random, false, 120, 4, 0.1);
  const std::size_t crowd = world.state.pose.size();
  for (int k = 0; k < 300; ++k) {
    const Vec3 place(random.uniform(0, 4), random.uniform(0, 4), random.uniform(0, 4));
    const int body = world.add_body(BodyKind::Dynamic, {place, Quat::Identity()}, random.uniform(0, 0.1));
    Solid ball = make_sphere(random.uniform(0.1, 0.3));
    if (k % 3 == 0) ball.shape.pose.position = 0.1 * random.direction();  // off the centre
    world.add_shape(body, ball.shape);
  }
  const int wall = world.add_body(BodyKind::Kinematic, {Vec3::Zero(), Quat::Identity()}, 0.02);
  world.add_shape(wall, make_plane().shape);
  ContactFinder used(world.model);
  ContactSet set, others;
  std::vector<char> some(world.model.bodies.size());
  for (int k = 0; k < 120; ++k) {
    const double far = std::array{0.0, 1e-4, 5e-4, 1e-3, 3e-3, 3e-5, 1e-5}[k % 7];
    for (std::size_t b = k % 3 == 0 ? 0 : crowd; b < world.state.pose.size(); ++b)  // mostly balls alone
      if (k % 4 != 3 || random.index(10) == 0) world.state.pose[b].position += far * random.direction();
    if (k % 9 == 0) world.state.pose[wall].position.z() += 0.01;
    if (k % 11 == 0) world.reach[random.index(static_cast<int>(world.reach.size()))] += 0.02;
    if (k % 13 == 0) {
      for (char& one : some) one = random.index(2) == 0 ? 1 : 0;
      used.find(world.state, world.reach, some, &others);
    }
    used.find(world.state, world.reach, &set);
    ASSERT_TRUE(same_bits(set.contacts, find_contacts(world))) << k;
  }
}

TEST(Finder, SortedAndUnique) {
  Random random(13);
  const std::vector<Contact> found = find_contacts(make_crowd(&random, false, 200, 5, 0.3));
  ASSERT_GT(found.size(), 100u);
  for (std::size_t k = 1; k < found.size(); ++k) EXPECT_LT(found[k - 1].key, found[k].key);
}

TEST(Finder, WhoMayTouch) {
  const auto count = [](BodyKind a, BodyKind b, bool excluded) {
    World world;
    world.add_shape(world.add_body(a, {}, 0), make_sphere(1).shape);
    world.add_shape(world.add_body(b, {Vec3(1, 0, 0), Quat::Identity()}, 0), make_sphere(1).shape);
    if (excluded) world.model.pairs_without_contact = {{0, 1}};
    return find_contacts(world).size();
  };
  using enum BodyKind;
  EXPECT_EQ(count(Dynamic, Dynamic, false), 1u);
  EXPECT_EQ(count(Dynamic, Fixed, false), 1u);
  EXPECT_EQ(count(Kinematic, Dynamic, false), 1u);
  EXPECT_EQ(count(Kinematic, Fixed, false), 0u);
  EXPECT_EQ(count(Fixed, Fixed, false), 0u);
  EXPECT_EQ(count(Kinematic, Kinematic, false), 0u);
  EXPECT_EQ(count(Dynamic, Dynamic, true), 0u);
}

TEST(Finder, ShapesOfOneBodyAndOfTheWorld) {
  World world;
  const int body = world.add_body(BodyKind::Dynamic, {Vec3(0, 0, 0.9), Quat::Identity()}, 0);
  world.add_shape(body, make_sphere(1).shape);
  world.add_shape(body, make_sphere(0.5).shape);
  world.add_shape(kWorld, make_plane().shape);
  world.model.shapes[0].material = 3;
  const std::vector<Contact> found = find_contacts(world);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].body_a, body);
  EXPECT_EQ(found[0].body_b, kWorld);
  EXPECT_EQ(found[0].material_a, 3);
  EXPECT_EQ(found[0].material_b, 0);
  EXPECT_NEAR(found[0].gap, -0.1, 1e-15);
}

TEST(Finder, ReachOfBothBodiesCounts) {
  World world = make_pair_world(make_sphere(1), {}, make_sphere(1), {Vec3(2.5, 0, 0), Quat::Identity()}, 0);
  world.reach = {0.2, 0.2};
  EXPECT_EQ(find_contacts(world).size(), 0u);
  world.reach = {0.2, 0.31};
  EXPECT_EQ(find_contacts(world).size(), 1u);
  world.reach = {0.5, 0};  // exactly at the limit
  EXPECT_EQ(find_contacts(world).size(), 1u);
}

TEST(Finder, TheSameBitsForAnyNumberOfThreads) {
  Random random(17);
  World world = make_crowd(&random, false, 700, 7, 0.3);
  ContactFinder one(world.model), two(world.model), four(world.model);
  const ThreadTeam team_of_two(2), team_of_four(4);
  two.set_team(&team_of_two);
  four.set_team(&team_of_four);
  for (int k = 0; k < 5; ++k) {
    ContactSet a, b, c;
    one.find(world.state, world.reach, &a);
    two.find(world.state, world.reach, &b);
    four.find(world.state, world.reach, &c);
    ASSERT_GT(a.contacts.size(), 1000u);
    EXPECT_TRUE(same_bits(a.contacts, b.contacts));
    EXPECT_TRUE(same_bits(a.contacts, c.contacts));
    for (Pose& pose : world.state.pose) pose.position += 0.1 * random.direction();
  }
}

TEST(Finder, BodiesOfOneGroupDoNotTouch) {
  World world;
  for (int k = 0; k < 3; ++k) {
    world.add_shape(world.add_body(BodyKind::Dynamic, {Vec3(0.5 * k, 0, 0), Quat::Identity()}, 0),
                    make_sphere(1).shape);
  }
  EXPECT_EQ(find_contacts(world).size(), 3u);
  world.model.bodies[0].group = world.model.bodies[2].group = 4;
  const std::vector<Contact> found = find_contacts(world);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].body_b, 1);
  EXPECT_EQ(found[1].body_a, 1);
}

TEST(Finder, AFixedBodyThatIsMovedIsFoundWhereItIs) {
  World world;
  world.add_shape(world.add_body(BodyKind::Dynamic, {}, 0), make_sphere(1).shape);
  for (int k = 0; k < 20; ++k) {
    world.add_shape(world.add_body(BodyKind::Fixed, {Vec3(5.0 * k + 5, 0, 0), Quat::Identity()}, 0),
                    make_box({1, 1, 1}).shape);
  }
  ContactFinder finder(world.model);
  ContactSet set;
  finder.find(world.state, world.reach, &set);
  EXPECT_TRUE(set.contacts.empty());
  world.state.pose[7].position = Vec3(1.5, 0, 0);
  finder.find(world.state, world.reach, &set);
  ASSERT_EQ(set.contacts.size(), 1u);
  EXPECT_EQ(set.contacts[0].body_b, 7);
}

TEST(Finder, NothingToFind) {
  World world;
  EXPECT_TRUE(find_contacts(world).empty());
  world.add_body(BodyKind::Dynamic, {}, 0);
  EXPECT_TRUE(find_contacts(world).empty());
  world.add_shape(0, make_sphere(1).shape);
  EXPECT_TRUE(find_contacts(world).empty());
}

TEST(Finder, SurvivesANumberThatIsNone) {
  Random random(14);
  World world = make_crowd(&random, false, 300, 5, 0.3);
  for (int k = 0; k < 300; k += 7) world.state.pose[k].position[k % 3] = std::numeric_limits<double>::quiet_NaN();
  find_contacts(world);  // any answer, but an answer
}

TEST(Finder, DoesNotAllocateAfterWarmUp) {
  Random random(15);
  for (const int bodies : {30, 300}) {
    for (const bool planar : {false, true}) {
      World world = make_crowd(&random, planar, bodies, 5, 0.3);
      ContactFinder finder(world.model);
      ContactSet set;
      finder.find(world.state, world.reach, &set);
      const State rest = world.state;
      for (int warm = 0; warm < 2; ++warm) {
        const long before = allocations;
        for (int k = 0; k < 20; ++k) {
          for (std::size_t b = 0; b < rest.pose.size(); ++b) {
            world.state.pose[b].position = rest.pose[b].position + 0.01 * k * Vec3(b % 3, b % 5, planar ? 0 : b % 2);
          }
          finder.find(world.state, world.reach, &set);
        }
        if (warm) {
          EXPECT_EQ(allocations - before, 0);
        }
      }
    }
  }
}

void expect_every_overlap_once(const std::vector<Bounds>& bounds, int scene) {
  const int count = static_cast<int>(bounds.size());
  std::vector<IndexPair> pairs;
  BroadPhase broad_phase;
  broad_phase.find(bounds, &pairs);
  std::vector<std::vector<int>> seen(count, std::vector<int>(count, 0));
  for (const IndexPair& p : pairs) {
    ASSERT_LT(p.a, p.b);
    ++seen[p.a][p.b];
  }
  for (int i = 0; i < count; ++i) {
    for (int j = i + 1; j < count; ++j) {
      const bool overlap = (bounds[i].low.array() <= bounds[j].high.array()).all() &&
                           (bounds[j].low.array() <= bounds[i].high.array()).all();
      ASSERT_EQ(seen[i][j], overlap ? 1 : 0) << scene << ' ' << i << ' ' << j;
    }
  }
}

TEST(BroadPhase, FindsEveryOverlapOnce) {
  Random random(16);
  for (int scene = 0; scene < 40; ++scene) {
    const int count = scene % 2 ? 60 : 500;
    std::vector<Bounds> bounds(count);
    for (int k = 0; k < count; ++k) {
      // Flat, long and cubic worlds; a few very large boxes; coordinates on a lattice, so that many just touch.
      const Vec3 low(random.index(40), random.index(scene % 3 ? 40 : 1), random.index(scene % 5 ? 12 : 1));
      const double size = k % 97 == 3 ? 50 : 1 + random.index(2);
      bounds[k] = {low, low + size * Vec3::Ones()};
    }
    expect_every_overlap_once(bounds, scene);
  }
}

TEST(BroadPhase, SizesOfEveryOrder) {
  Random random(17);
  for (int scene = 0; scene < 30; ++scene) {
    std::vector<Bounds> bounds(400);
    for (std::size_t k = 0; k < bounds.size(); ++k) {
      // From dust to mountains, and rods and plates of them; scene by scene more of one size.
      const double size = scene % 3 == 0 ? 1 : std::pow(10, random.uniform(-6, 3) * (scene % 3 == 1 ? 0.3 : 1));
      Vec3 extent = size * Vec3(random.uniform(0.5, 1), random.uniform(0.5, 1), random.uniform(0.5, 1));
      if (scene % 5 == 3) extent[random.index(3)] *= 1e-4;
      if (scene % 5 == 4) extent[2] = 0;
      Vec3 low(random.uniform(-9, 9), random.uniform(-9, 9), random.uniform(-1, 1));
      if (scene % 7 == 6) low.setZero();
      if (scene % 4 == 2 && k % 100 == 0) low *= 1e15;  // some have left the world
      bounds[k] = {low, low + extent};
    }
    expect_every_overlap_once(bounds, scene);
  }
}

TEST(BroadPhase, PointsAndBoxesWithoutEnd) {
  std::vector<Bounds> bounds;
  for (int k = 0; k < 300; ++k) {
    const Vec3 low(k % 7, k % 5, k % 3);
    bounds.push_back({low, low});  // without size: many in the same place
  }
  for (int k = 0; k < 3; ++k) {
    Bounds slab{Vec3::Constant(-kInfinity), Vec3::Constant(kInfinity)};
    slab.low[k] = 1;
    slab.high[k] = 1.5;
    bounds.push_back(slab);
  }
  bounds.push_back({Vec3::Constant(-1e308), Vec3::Constant(1e308)});  // the extent overflows
  expect_every_overlap_once(bounds, 0);
}

}  // namespace
}  // namespace slipstick::test
