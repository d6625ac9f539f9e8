#include "collision/narrow_phase.h"

#include <algorithm>

namespace slipstick {
namespace {

/// Pairs are looked up with the lower rank first. A disk is a sphere that stays in the plane.
enum Rank { kPlane, kSphere, kCapsule, kBox, kPolygon, kCylinder, kCone, kEllipsoid, kHull, kSurface, kRanks };

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
    case ShapeKind::Cylinder:
      return kCylinder;
    case ShapeKind::Cone:
      return kCone;
    case ShapeKind::Ellipsoid:
      return kEllipsoid;
    case ShapeKind::Hull:
      return kHull;
    case ShapeKind::Mesh:
    case ShapeKind::Heightfield:
      return kSurface;
  }
  return kPlane;
}

using PairFunction = void (*)(const PlacedShape&, const PlacedShape&, ContactSink*);

// clang-format off
constexpr PairFunction kGeneral = find_convex_pair, kCentre = find_sphere_convex, kCurved = find_curved_surface;
constexpr PairFunction kPairs[kRanks][kRanks] = {
    {nullptr, find_plane_sphere, find_plane_capsule, find_plane_box, find_plane_polygon,
     find_plane_cylinder, find_plane_cone, find_plane_ellipsoid, find_plane_hull, find_plane_surface},
    {nullptr, find_sphere_sphere, find_sphere_capsule, find_sphere_box, find_disk_polygon,
     kCentre, kCentre, kCentre, kCentre, find_sphere_surface},
    {nullptr, nullptr, find_capsule_capsule, find_capsule_box, nullptr, kGeneral, kGeneral, kGeneral, kGeneral,
     find_capsule_surface},
    {nullptr, nullptr, nullptr, find_box_box, nullptr, kGeneral, kGeneral, kGeneral, kGeneral, find_box_surface},
    {nullptr, nullptr, nullptr, nullptr, find_polygon_polygon, nullptr, nullptr, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr, kGeneral, kGeneral, kGeneral, kGeneral, kCurved},
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, kGeneral, kGeneral, kGeneral, kCurved},
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, kGeneral, kGeneral, kCurved},
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, kGeneral, find_hull_surface},
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, find_surface_surface}};
// clang-format on

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
