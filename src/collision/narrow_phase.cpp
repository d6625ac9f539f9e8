#include "collision/narrow_phase.h"

#include <algorithm>

namespace slipstick {
namespace {

/// Pairs are looked up with the lower rank first. A disk is a sphere that stays in the plane.
enum Rank { kPlane, kSphere, kCapsule, kBox, kPolygon, kSurface, kRanks };

constexpr Rank rank_of(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::Plane:
      return kPlane;
    case ShapeKind::Sphere:
    case ShapeKind::Disk:
      return kSphere;
    case ShapeKind::Capsule:
      return kCapsule;
    case ShapeKind::Box:
      return kBox;
    case ShapeKind::Polygon:
      return kPolygon;
    case ShapeKind::Mesh:
    case ShapeKind::Heightfield:
      return kSurface;
  }
  return kPlane;
}

using PairFunction = void (*)(const PlacedShape&, const PlacedShape&, ContactSink*);

constexpr PairFunction kPairs[kRanks][kRanks] = {
    {nullptr, find_plane_sphere, find_plane_capsule, find_plane_box, find_plane_polygon, find_plane_surface},
    {nullptr, find_sphere_sphere, find_sphere_capsule, find_sphere_box, find_disk_polygon, find_sphere_surface},
    {nullptr, nullptr, find_capsule_capsule, find_capsule_box, nullptr, find_capsule_surface},
    {nullptr, nullptr, nullptr, find_box_box, nullptr, find_box_surface},
    {nullptr, nullptr, nullptr, nullptr, find_polygon_polygon, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr, find_surface_surface}};

}  // namespace

bool can_touch(ShapeKind a, ShapeKind b) {
  const Rank rank_a = rank_of(a);
  const Rank rank_b = rank_of(b);
  return kPairs[std::min(rank_a, rank_b)][std::max(rank_a, rank_b)] != nullptr;
}

void find_pair(const PlacedShape& a, const PlacedShape& b, const Contact& names, double reach,
               std::vector<Contact>* contacts) {
  const Rank rank_a = rank_of(a.kind);
  const Rank rank_b = rank_of(b.kind);
  const bool swapped = rank_a > rank_b;
  const PairFunction find = swapped ? kPairs[rank_b][rank_a] : kPairs[rank_a][rank_b];
  if (!find) return;
  ContactSink sink(names, reach, swapped, contacts);
  if (swapped) {
    find(b, a, &sink);
  } else {
    find(a, b, &sink);
  }
  sink.sort();
}

}  // namespace slipstick
