// Masses, centres and inertias of shapes and of bodies made of them.
#pragma once

#include <slipstick/model.h>

#include <array>
#include <optional>
#include <span>

#include "model/fault_list.h"

namespace slipstick {

/// Area, centroid and second moments of a polygon's interior; signed: negative for clockwise points.
/// `second` holds (integral of y^2, integral of x^2, integral of x y) about the centroid.
struct PolygonMoments {
  double area = 0;
  Vec2 center = Vec2::Zero();
  Vec3 second = Vec3::Zero();
};
PolygonMoments calc_polygon_moments(std::span<const Vec2> points);

/// The same matter at another place: `pose` takes the frame of `part` to the new frame.
MassProperties move_matter(const MassProperties& part, const Pose& pose);
/// Both together, by the parallel axis theorem.
MassProperties join_matter(const MassProperties& a, const MassProperties& b);

/// Mass, centre (body frame) and inertia of a dynamic body by the rules of src/model/README.md. Nothing if a fault was
/// found; `lock` are the locks in force, planar ones included.
std::optional<MassProperties> calc_body_mass(const BodyDescription& body, const std::array<bool, 6>& lock, bool planar,
                                             ItemCheck* check);

}  // namespace slipstick
