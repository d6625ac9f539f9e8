// A plane against everything. The plane is the first shape: the contact normal is the plane's own.
#include "collision/narrow_phase.h"

namespace slipstick {
namespace {

double height(const PlacedShape& plane, const Vec3& p) { return plane.axis.dot(p - plane.center); }

void add_ball(const PlacedShape& plane, const Vec3& center, double radius, std::uint32_t feature, ContactSink* sink) {
  const double gap = height(plane, center) - radius;
  sink->add_from(false, center - radius * plane.axis, plane.axis, gap, feature);
}

}  // namespace

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
    const Vec3 p(polygon.points[v].x(), polygon.points[v].y(), 0);
    sink->add_from(false, p, plane.axis, height(plane, p), v);
  }
}

}  // namespace slipstick
