// A plane against everything. The plane is the first shape: the contact normal is the plane's own.
#include "collision/convex_core.h"
#include "collision/narrow_phase.h"
#include "collision/tolerances.h"

#include <cmath>
#include <numbers>

namespace slipstick {
namespace {

double height(const PlacedShape& plane, const Vec3& p) { return plane.axis.dot(p - plane.center); }

void add_ball(const PlacedShape& plane, const Vec3& center, double radius, std::uint32_t feature, ContactSink* sink) {
  const double gap = height(plane, center) - radius;
  sink->add_from(false, center - radius * plane.axis, plane.axis, gap, feature);
}

void add_point(const PlacedShape& plane, const Vec3& p, std::uint32_t feature, ContactSink* sink) {
  sink->add_from(false, p, plane.axis, height(plane, p), feature);
}

/// The lowest point of a rim at z, where it has one, and where it lies within 10 degrees of flat the points that stand
/// for the whole of it.
void add_rim(const PlacedShape& plane, const PlacedShape& s, int cap, ContactSink* sink) {
  const Vec3 down = -(s.frame.transpose() * plane.axis);
  const double z = cap ? s.half_length : -s.half_length;
  const double tilt = std::hypot(down.x(), down.y());
  const bool facing = (cap ? down.z() : -down.z()) >= kNearFace;
  const double angle = std::atan2(down.y(), down.x());
  const auto add_at = [&](double x, double y, std::uint32_t name) {
    add_point(plane, s.center + s.frame * Vec3(s.radius * x, s.radius * y, z), name, sink);
  };
  const double step = 2 * std::numbers::pi / kRimPoints;
  const double nearest = std::abs(angle / step - std::round(angle / step));
  const bool is_fixed_point = facing && nearest < kSamePoint;  // the lowest point is one of those below
  if (tilt > kSameGap && !is_fixed_point) add_at(down.x() / tilt, down.y() / tilt, kLowestName + cap);
  if (!facing) return;
  for (int k = 0; k < kRimPoints; ++k) add_at(std::cos(k * step), std::sin(k * step), cap * kRimPoints + k);
}

}  // namespace

void find_plane_cylinder(const PlacedShape& plane, const PlacedShape& cylinder, ContactSink* sink) {
  add_rim(plane, cylinder, 0, sink);
  add_rim(plane, cylinder, 1, sink);
}

void find_plane_cone(const PlacedShape& plane, const PlacedShape& cone, ContactSink* sink) {
  add_rim(plane, cone, 0, sink);
  add_point(plane, cone.center + cone.half_length * cone.frame.col(2), kTipName, sink);
}

void find_plane_ellipsoid(const PlacedShape& plane, const PlacedShape& ellipsoid, ContactSink* sink) {
  const Vec3 stretched = ellipsoid.half_size.cwiseProduct(ellipsoid.frame.transpose() * plane.axis);
  const Vec3 lowest = -(ellipsoid.half_size.cwiseProduct(stretched) / stretched.norm());
  add_point(plane, ellipsoid.center + ellipsoid.frame * lowest, 0, sink);
}

void find_plane_hull(const PlacedShape& plane, const PlacedShape& hull, ContactSink* sink) {
  const Vec3 up = hull.frame.transpose() * plane.axis;
  const double middle = height(plane, hull.center);
  const std::vector<Vec3>& vertices = hull.hull->vertices;
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    const double gap = middle + up.dot(vertices[v]);
    if (gap > sink->reach()) continue;
    sink->add_from(false, hull.center + hull.frame * vertices[v], plane.axis, gap, static_cast<std::uint32_t>(v));
  }
}

void find_plane_sphere(const PlacedShape& plane, const PlacedShape& sphere, ContactSink* sink) {
  add_ball(plane, sphere.center, sphere.radius, 0, sink);
}

void find_plane_capsule(const PlacedShape& plane, const PlacedShape& capsule, ContactSink* sink) {
  add_ball(plane, capsule.center - capsule.axis, capsule.radius, 0, sink);
  add_ball(plane, capsule.center + capsule.axis, capsule.radius, 1, sink);
}

void find_plane_box(const PlacedShape& plane, const PlacedShape& box, ContactSink* sink) {
  // Heights of the corners: that of the centre plus or minus three terms.
  const Vec3 along = (box.frame.transpose() * plane.axis).cwiseProduct(box.half_size);
  const double middle = height(plane, box.center);
  if (middle - along.cwiseAbs().sum() > sink->reach()) return;
  for (int v = 0; v < 8; ++v) {
    const Vec3 sign(v & 1 ? 1 : -1, v & 2 ? 1 : -1, v & 4 ? 1 : -1);
    const double gap = middle + sign.dot(along);
    if (gap > sink->reach()) continue;
    sink->add_from(false, box.center + box.frame * sign.cwiseProduct(box.half_size), plane.axis, gap, v);
  }
}

void find_plane_polygon(const PlacedShape& plane, const PlacedShape& polygon, ContactSink* sink) {
  for (int v = 0; v < polygon.point_count; ++v) {
    // A corner of a part belongs to the piece that has its next side; one that bends inwards touches no plane.
    if (polygon.corners && (polygon.corners[v].inner || polygon.corners[v].hollow)) continue;
    const Vec3 p(polygon.points[v].x(), polygon.points[v].y(), 0);
    sink->add_from(false, p, plane.axis, height(plane, p), v);
  }
}

}  // namespace slipstick
