// The contact finder on heaps of spheres that grow: time per contact must not.
#include <benchmark/benchmark.h>
#include <slipstick/model.h>
#include <slipstick/state.h>

#include <cmath>
#include <cstdint>
#include <vector>

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

/// Spheres of 0.42 to 0.5 m on a shaken lattice over a plane, a third as high as wide.
Heap make_heap(int count) {
  Heap heap;
  heap.model.materials.resize(1);
  heap.model.pair_laws.resize(1);
  const int side = static_cast<int>(std::ceil(std::cbrt(3.0 * count)));
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
      const std::uint64_t k = static_cast<std::uint64_t>(i) * 7919u % static_cast<std::uint64_t>(count);
      shape.radius = shape.bound = 0.42 + 0.08 * make_noise(4 * k);
      const auto x = static_cast<double>(k % side), y = static_cast<double>(k / side % side),
                 z = static_cast<double>(k / side / side);
      pose.position = Vec3(x + 0.2 * make_noise(4 * k + 1), y + 0.2 * make_noise(4 * k + 2),
                           0.45 + 0.9 * z + 0.1 * make_noise(4 * k + 3));
    }
    body.first_shape = i;
    body.shape_count = 1;
    heap.model.bodies.push_back(body);
    heap.model.shapes.push_back(shape);
    heap.state.pose.push_back(pose);
    heap.reach.push_back(i == count ? 0 : 0.01);
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
  finder.set_threads(static_cast<int>(state.range(1)));
  ContactSet contacts;
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
  for (auto _ : state) {
    pairs.clear();
    broad_phase.find(bounds, &pairs);
  }
  count_contacts(state, pairs.size());
}
BENCHMARK(bench_broad_phase)->RangeMultiplier(10)->Range(1000, 100000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace slipstick
