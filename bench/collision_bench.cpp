// The contact finder on heaps of spheres that grow: time per contact must not.
#include <benchmark/benchmark.h>
#include <slipstick/model.h>
#include <slipstick/state.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "base/thread_team.h"
#include "collision/broad_phase.h"
#include "collision/contact_finder.h"

namespace slipstick {
namespace {

/// A repeatable number in [0, 1).
double make_noise(std::uint64_t i) {
  i = (i + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebull;
  return static_cast<double>((i ^ (i >> 31)) >> 11) * 0x1p-53;
}

struct Heap {
  Model model;
  State state;
  std::vector<double> reach;
};

constexpr int kCellSpheres = 1000;
/// Of the spheres of diameter 1 in a cell that fill it to 0.63: a loose random packing, about three contacts a sphere.
const double kCellSize = std::cbrt(kCellSpheres * std::numbers::pi / 6 / 0.63);

/// Spheres dropped anywhere into a periodic cell and pushed apart until they hardly overlap.
std::vector<Vec3> make_cell() {
  std::vector<Vec3> spheres;
  for (int i = 0; i < kCellSpheres; ++i) {
    const auto k = static_cast<std::uint64_t>(3 * i);
    spheres.push_back(kCellSize * Vec3(make_noise(k), make_noise(k + 1), make_noise(k + 2)));
  }
  for (int round = 0; round < 400; ++round) {
    for (int i = 0; i < kCellSpheres; ++i) {
      for (int j = 0; j < i; ++j) {
        Vec3 apart = spheres[i] - spheres[j];
        apart -= kCellSize * (apart / kCellSize).array().round().matrix();
        const double distance = apart.norm();
        if (!(distance < 1 && distance > 0)) continue;
        const Vec3 push = (0.5 * (1 - distance) / distance) * apart;
        spheres[i] += push;
        spheres[j] -= push;
      }
    }
  }
  for (Vec3& p : spheres) p -= kCellSize * (p / kCellSize).array().floor().matrix();
  return spheres;
}

/// A heap as it lies, cells beside and upon each other over a plane, about as high as wide.
Heap make_heap(int count) {
  static const std::vector<Vec3> kCell = make_cell();
  Heap heap;
  heap.model.materials.resize(1);
  heap.model.pair_laws.resize(1);
  const int cells = (count + kCellSpheres - 1) / kCellSpheres, side = static_cast<int>(std::ceil(std::cbrt(cells)));
  for (int i = 0; i <= count; ++i) {
    Body body;
    Shape shape;
    shape.body = i;
    Pose pose;
    if (i == count) {
      body.kind = BodyKind::Fixed;
      body.dof = 0;
      shape.kind = ShapeKind::Plane;
      shape.bound = kInfinity;
    } else {
      // Bodies are numbered at random, as those of a heap that has been poured are.
      const int k = static_cast<int>(static_cast<std::int64_t>(i) * 7919 % count), cell = k / kCellSpheres;
      shape.radius = shape.bound = 0.5;
      pose.position = kCell[k % kCellSpheres] + kCellSize * Vec3(cell % side, cell / side % side, cell / side / side) +
                      Vec3(0, 0, 0.5);
    }
    body.first_shape = i;
    body.shape_count = 1;
    heap.model.bodies.push_back(body);
    heap.model.shapes.push_back(shape);
    heap.state.pose.push_back(pose);
    heap.reach.push_back(i == count ? 0 : 0.005);
  }
  heap.state.velocity.resize(heap.state.pose.size());
  return heap;
}

void count_contacts(benchmark::State& state, std::size_t contacts) {
  state.counters["contacts"] = static_cast<double>(contacts);
  state.counters["s_per_contact"] = benchmark::Counter(
      static_cast<double>(contacts), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// Everything: placing, broad phase, filter, sort, narrow phase.
void bench_heap(benchmark::State& state) {
  Heap heap = make_heap(static_cast<int>(state.range(0)));
  ContactFinder finder(heap.model);
  const ThreadTeam team(static_cast<int>(state.range(1)));
  finder.set_team(&team);
  ContactSet contacts;
  finder.find(heap.state, heap.reach, &contacts);  // memory grows here, once
  int k = 0;
  for (auto _ : state) {
    for (Pose& pose : heap.state.pose) pose.position.x() += k % 2 ? 1e-3 : -1e-3;
    ++k;
    finder.find(heap.state, heap.reach, &contacts);
  }
  count_contacts(state, contacts.contacts.size());
}
BENCHMARK(bench_heap)->ArgsProduct({{1000, 10000, 100000}, {1, 2}})->Unit(benchmark::kMillisecond);

/// Pairs of boxes that overlap, alone.
void bench_broad_phase(benchmark::State& state) {
  const Heap heap = make_heap(static_cast<int>(state.range(0)));
  std::vector<Bounds> bounds;
  for (std::size_t i = 0; i + 1 < heap.model.shapes.size(); ++i) {
    const Vec3 half = Vec3::Constant(heap.model.shapes[i].radius + heap.reach[i]);
    bounds.push_back({heap.state.pose[i].position - half, heap.state.pose[i].position + half});
  }
  BroadPhase broad_phase;
  std::vector<IndexPair> pairs;
  broad_phase.find(bounds, &pairs);
  for (auto _ : state) {
    pairs.clear();
    broad_phase.find(bounds, &pairs);
  }
  count_contacts(state, pairs.size());
}
BENCHMARK(bench_broad_phase)->RangeMultiplier(10)->Range(1000, 100000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace slipstick
