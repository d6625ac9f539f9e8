// Two placed shapes -> their contacts. One function a pair of kinds; `find_pair` chooses it.
//
// All distances are exact signed distances of the shapes themselves: no skins, no margins. Features (the last part of
// a contact's key) are names of vertices and edges, never of the path by which the point was found, so that a contact
// keeps its name while the two features that make it stay the same.
#pragma once

#include "collision/contact_sink.h"
#include "collision/placed_shape.h"

namespace slipstick {

/// True if the pair of kinds has contacts: {sphere, box, capsule, cylinder, cone, ellipsoid, hull, plane} in space,
/// {disk, polygon, plane} in the plane, a sphere counting as a disk and the other way round; never two planes.
bool can_touch(ShapeKind a, ShapeKind b);

/// Appends the contacts of `a` and `b` with gap <= reach, sorted by feature. `a` is the contact's shape A.
void find_pair(const PlacedShape& a, const PlacedShape& b, const Contact& names, double reach,
               std::vector<Contact>* contacts);

// Planes: every corner or end that is within reach.
void find_plane_sphere(const PlacedShape& plane, const PlacedShape& sphere, ContactSink* sink);
void find_plane_capsule(const PlacedShape& plane, const PlacedShape& capsule, ContactSink* sink);
void find_plane_box(const PlacedShape& plane, const PlacedShape& box, ContactSink* sink);
void find_plane_polygon(const PlacedShape& plane, const PlacedShape& polygon, ContactSink* sink);
void find_plane_cylinder(const PlacedShape& plane, const PlacedShape& cylinder, ContactSink* sink);
void find_plane_cone(const PlacedShape& plane, const PlacedShape& cone, ContactSink* sink);
void find_plane_ellipsoid(const PlacedShape& plane, const PlacedShape& ellipsoid, ContactSink* sink);
void find_plane_hull(const PlacedShape& plane, const PlacedShape& hull, ContactSink* sink);

// Round shapes: closest points of their cores, less the radii.
/// The same as find_sphere_sphere, for callers that have no more than this.
void find_ball_ball(const Vec3& center_a, double radius_a, const Vec3& center_b, double radius_b, ContactSink* sink);
void find_sphere_sphere(const PlacedShape& a, const PlacedShape& b, ContactSink* sink);
void find_sphere_capsule(const PlacedShape& sphere, const PlacedShape& capsule, ContactSink* sink);
void find_sphere_box(const PlacedShape& sphere, const PlacedShape& box, ContactSink* sink);
void find_capsule_capsule(const PlacedShape& a, const PlacedShape& b, ContactSink* sink);
void find_capsule_box(const PlacedShape& capsule, const PlacedShape& box, ContactSink* sink);

void find_box_box(const PlacedShape& a, const PlacedShape& b, ContactSink* sink);

// General convex shapes: box, capsule, cylinder, cone, ellipsoid, hull, and spheres by their centre. A box must have
// its `hull` set. A triangle is a hull of 3 vertices and two sides (update_triangle_hull).
void find_sphere_convex(const PlacedShape& sphere, const PlacedShape& convex, ContactSink* sink);
void find_convex_pair(const PlacedShape& a, const PlacedShape& b, ContactSink* sink);

// Surfaces of triangles (surface_pairs.cpp).
void find_plane_surface(const PlacedShape& plane, const PlacedShape& surface, ContactSink* sink);
void find_sphere_surface(const PlacedShape& sphere, const PlacedShape& surface, ContactSink* sink);
void find_capsule_surface(const PlacedShape& capsule, const PlacedShape& surface, ContactSink* sink);
void find_box_surface(const PlacedShape& box, const PlacedShape& surface, ContactSink* sink);
void find_hull_surface(const PlacedShape& hull, const PlacedShape& surface, ContactSink* sink);
void find_curved_surface(const PlacedShape& curved, const PlacedShape& surface, ContactSink* sink);
void find_surface_surface(const PlacedShape& a, const PlacedShape& b, ContactSink* sink);

void find_disk_polygon(const PlacedShape& disk, const PlacedShape& polygon, ContactSink* sink);
void find_polygon_polygon(const PlacedShape& a, const PlacedShape& b, ContactSink* sink);

}  // namespace slipstick
