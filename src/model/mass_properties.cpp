#include "model/mass_properties.h"

#include <slipstick/surface.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace slipstick {
namespace {

// Inertias come from files with a few digits: symmetry and triangle inequality are asked for to this relative accuracy.
constexpr double kInertiaTolerance = 1e-9;

MassProperties make_centred(double mass, const Vec3& diagonal) {
  return {mass, Vec3::Zero(), Mat3(diagonal.asDiagonal())};
}

/// Straight part plus two half balls; a half ball's centroid lies 3/8 r beyond the straight part's end.
MassProperties calc_capsule(double radius, double length) {
  const double r2 = radius * radius;
  const double straight = std::numbers::pi * r2 * length, balls = 4.0 / 3.0 * std::numbers::pi * r2 * radius;
  const double axial = straight * r2 / 2 + balls * 0.4 * r2;
  const double across = straight * (r2 / 4 + length * length / 12) +
                        balls * (0.4 * r2 + length * length / 4 + 3.0 / 8.0 * radius * length);
  return make_centred(straight + balls, {across, across, axial});
}

/// A lamina of unit depth: x-x and y-y are those of the thin plate, so that the matrix is a physical one; only z-z
/// acts.
MassProperties calc_lamina(double area, const Vec3& second) {
  MassProperties lamina = make_centred(area, {second.x(), second.y(), second.x() + second.y()});
  lamina.inertia(0, 1) = lamina.inertia(1, 0) = -second.z();
  return lamina;
}

MassProperties calc_polygon(std::span<const Vec2> points) {
  PolygonMoments moments = calc_polygon_moments(points);
  if (moments.area < 0) {
    moments.area = -moments.area;
    moments.second = -moments.second;
  }
  MassProperties lamina = calc_lamina(moments.area, moments.second);
  lamina.center << moments.center, 0;
  return lamina;
}

/// Tetrahedra from an inner point to the triangles of each face. With the integrals over a tetrahedron (0, a, b, c) of
/// volume V, int x x^T = V / 20 (s s^T + a a^T + b b^T + c c^T), s = a + b + c.
MassProperties calc_hull(const Hull& hull) {
  MassProperties matter;
  if (hull.vertices.empty()) return matter;
  Vec3 origin = Vec3::Zero();
  for (const Vec3& p : hull.vertices) origin += p / static_cast<double>(hull.vertices.size());
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  for (const HullFace& face : hull.faces) {
    const auto corner = [&](int k) { return Vec3(hull.vertices[hull.loops[face.first + k]] - origin); };
    const Vec3 a = corner(0);
    for (int k = 1; k + 1 < face.count; ++k) {
      const Vec3 b = corner(k), c = corner(k + 1), sum = a + b + c;
      const double volume = a.dot(b.cross(c)) / 6;
      matter.mass += volume;
      first += volume / 4 * sum;
      second += volume / 20 * (sum * sum.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose());
    }
  }
  if (!(matter.mass > 0)) return {};
  const Vec3 center = first / matter.mass;
  second -= matter.mass * center * center.transpose();
  matter.center = origin + center;
  matter.inertia = second.trace() * Mat3::Identity() - second;
  return matter;
}

/// Principal moments positive, and none larger than the other two together.
bool is_physical(const Mat3& inertia) {
  const double scale = inertia.cwiseAbs().maxCoeff();
  if ((inertia - inertia.transpose()).cwiseAbs().maxCoeff() > kInertiaTolerance * scale) return false;
  const Vec3 moment = Eigen::SelfAdjointEigenSolver<Mat3>(inertia, Eigen::EigenvaluesOnly).eigenvalues();  // ascending
  return moment[0] > 0 && moment[2] <= (moment[0] + moment[1]) * (1 + kInertiaTolerance);
}

/// The inertia that the description gives, checked. In a plane only z-z acts; the rest is filled where it is missing.
std::optional<Mat3> find_given_inertia(const Mat3& given, bool planar, ItemCheck* check) {
  if (!given.allFinite()) {
    check->fail("inertia", "inertia must be finite numbers");
    return std::nullopt;
  }
  if (planar) {
    if (!check->positive("inertia", given(2, 2), "inertia about z")) return std::nullopt;
    if (Mat3(given.diagonal().asDiagonal()) == given && given(0, 0) > 0 && given(1, 1) > 0) return given;
    return Mat3(Vec3(given(2, 2) / 2, given(2, 2) / 2, given(2, 2)).asDiagonal());
  }
  if (!is_physical(given)) {
    check->fail(
        "inertia",
        "inertia is not that of any body: it must be symmetric and positive definite, and no principal moment may "
        "exceed the sum of the other two");
    return std::nullopt;
  }
  return Mat3((given + given.transpose()) / 2);
}

std::string name_shape(const BodyDescription& body, std::size_t i) {
  return "shape " + std::to_string(i + 1) + " (" + std::string(name_of(body.shapes[i].kind)) + ")";
}

bool has_matter(const ShapeDescription& shape) {
  return !shape.visual_only && shape.kind != ShapeKind::Plane && shape.kind != ShapeKind::Heightfield;
}

std::nullopt_t fail_without_mass(const BodyDescription& body, ItemCheck* check) {
  if (body.density) {
    check->fail("density", "has a density but no shape to fill; give it a mass, or a shape that is not visual_only");
  } else {
    check->fail("", "a dynamic body needs a mass or a density; give one, or make the body fixed");
  }
  return std::nullopt;
}

/// The shapes together, by their own densities or the body's; of density one if none is given and the mass is.
std::optional<MassProperties> calc_shapes(const BodyDescription& body, bool planar, ItemCheck* check) {
  MassProperties all;
  std::size_t dense = 0, solid = 0, first_bare = 0;
  for (std::size_t i = 0; i < body.shapes.size(); ++i) {
    const ShapeDescription& shape = body.shapes[i];
    if (!has_matter(shape)) continue;
    ++solid;
    const std::optional<double> density = shape.density ? shape.density : body.density;
    if (density) {
      ++dense;
    } else if (solid - dense == 1) {
      first_bare = i;
    }
    MassProperties part = calc_unit_density(shape, planar);
    part.mass *= density.value_or(1);
    part.inertia *= density.value_or(1);
    all = join_matter(all, move_matter(part, shape.pose));
  }
  if (dense == 0 && !body.mass) return fail_without_mass(body, check);
  if (dense != 0 && dense != solid) {
    check->fail("shapes", name_shape(body, first_bare) +
                              " has no density while others of the body have one; give it one, or give the body one");
    return std::nullopt;
  }
  if (!(all.mass > 0) || !std::isfinite(all.mass) || !all.inertia.allFinite() || !(all.inertia(2, 2) > 0)) {
    check->fail("shapes", "its shapes are too small or too large for mass and inertia to be numbers; check the sizes");
    return std::nullopt;
  }
  const bool meshes = std::any_of(body.shapes.begin(), body.shapes.end(),
                                  [](const ShapeDescription& s) { return s.kind == ShapeKind::Mesh; });
  if (meshes && !is_physical(all.inertia)) {
    check->fail("shapes", "the inertia of its mesh is not that of any body; does the mesh intersect itself?");
    return std::nullopt;
  }
  return all;
}

/// A body without matter of its own to derive anything from.
std::optional<MassProperties> calc_bare(const BodyDescription& body, const std::array<bool, 6>& lock,
                                        ItemCheck* check) {
  if (!body.mass) return fail_without_mass(body, check);
  if (!body.inertia && !(lock[3] && lock[4] && lock[5])) {
    check->fail("mass", "has a mass but no shape and no inertia; give inertia, add a shape, or lock its rotation");
    return std::nullopt;
  }
  return MassProperties{*body.mass, Vec3::Zero(), Mat3::Zero()};
}

}  // namespace

PolygonMoments calc_polygon_moments(std::span<const Vec2> points) {
  PolygonMoments moments;
  if (points.size() < 3) return moments;
  // Triangles about the first point: small numbers even for a polygon far from the origin.
  const Vec2 origin = points[0];
  Vec2 first = Vec2::Zero();
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const Vec2 a = points[i] - origin, b = points[i + 1] - origin;
    const double twice = a.x() * b.y() - a.y() * b.x();
    moments.area += twice / 2;
    first += twice / 6 * (a + b);
    xx += twice / 12 * (a.x() * a.x() + a.x() * b.x() + b.x() * b.x());
    yy += twice / 12 * (a.y() * a.y() + a.y() * b.y() + b.y() * b.y());
    xy += twice / 24 * (2 * a.x() * a.y() + a.x() * b.y() + a.y() * b.x() + 2 * b.x() * b.y());
  }
  if (moments.area == 0) return moments;
  const Vec2 c = first / moments.area;
  moments.center = origin + c;
  moments.second << yy - moments.area * c.y() * c.y(), xx - moments.area * c.x() * c.x(),
      xy - moments.area * c.x() * c.y();
  return moments;
}

MassProperties move_matter(const MassProperties& part, const Pose& pose) {
  const Mat3 turn = pose.orientation.normalized().toRotationMatrix();
  return {part.mass, pose.position + turn * part.center, turn * part.inertia * turn.transpose()};
}

MassProperties join_matter(const MassProperties& a, const MassProperties& b) {
  MassProperties sum;
  sum.mass = a.mass + b.mass;
  if (!(sum.mass > 0)) return sum;
  sum.center = (a.mass * a.center + b.mass * b.center) / sum.mass;
  sum.inertia = a.inertia + b.inertia;
  // Two points about their common centre: the reduced mass at their distance.
  const Vec3 d = b.center - a.center;
  sum.inertia += a.mass * (b.mass / sum.mass) * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
  sum.inertia = ((sum.inertia + sum.inertia.transpose()) / 2).eval();
  return sum;
}

MassProperties calc_unit_density(const ShapeDescription& shape, bool planar) {
  switch (shape.kind) {
    case ShapeKind::Sphere: {
      const double mass = 4.0 / 3.0 * std::numbers::pi * shape.radius * shape.radius * shape.radius;
      return make_centred(mass, Vec3::Constant(0.4 * mass * shape.radius * shape.radius));
    }
    case ShapeKind::Box: {
      const Vec3 square = shape.size.cwiseAbs2() / 12;
      if (planar) {
        const double area = shape.size.x() * shape.size.y();
        return calc_lamina(area, area * Vec3(square.y(), square.x(), 0));
      }
      const double mass = shape.size.prod();
      return make_centred(mass, mass * Vec3(square.y() + square.z(), square.x() + square.z(), square.x() + square.y()));
    }
    case ShapeKind::Capsule:
      return calc_capsule(shape.radius, shape.length);
    case ShapeKind::Disk: {
      const double area = std::numbers::pi * shape.radius * shape.radius;
      return calc_lamina(area, area * shape.radius * shape.radius / 4 * Vec3(1, 1, 0));
    }
    case ShapeKind::Polygon:
      return calc_polygon(shape.points);
    case ShapeKind::Cylinder: {
      const double r2 = shape.radius * shape.radius, mass = std::numbers::pi * r2 * shape.length;
      const double across = mass * (r2 / 4 + shape.length * shape.length / 12);
      return make_centred(mass, {across, across, mass * r2 / 2});
    }
    case ShapeKind::Cone: {  // the centroid is a quarter of the length above the base
      const double r2 = shape.radius * shape.radius, mass = std::numbers::pi / 3 * r2 * shape.length;
      const double across = mass * (3 * r2 / 20 + 3 * shape.length * shape.length / 80);
      MassProperties cone = make_centred(mass, {across, across, 0.3 * mass * r2});
      cone.center.z() = -shape.length / 4;
      return cone;
    }
    case ShapeKind::Ellipsoid: {
      const double mass = std::numbers::pi / 6 * shape.size.prod();
      const Vec3 square = shape.size.cwiseAbs2() / 20;
      return make_centred(mass, mass * Vec3(square.y() + square.z(), square.x() + square.z(), square.x() + square.y()));
    }
    case ShapeKind::Hull:
      return calc_hull(make_hull(shape.vertices).hull);
    case ShapeKind::Mesh:
      return calc_surface_mass(*shape.surface);
    case ShapeKind::Heightfield:
    case ShapeKind::Plane:
      break;
  }
  return {};
}

std::optional<MassProperties> calc_body_mass(const BodyDescription& body, const std::array<bool, 6>& lock, bool planar,
                                             ItemCheck* check) {
  bool good = true;
  if (body.mass) good &= check->positive("mass", *body.mass);
  if (body.density) good &= check->positive("density", *body.density);
  if (body.mass && body.density) {
    check->fail("mass", "has both a mass and a density; give only one of them");
    good = false;
  }
  if (body.center_of_mass) good &= check->finite("center_of_mass", *body.center_of_mass);
  if (body.center_of_mass && planar) good &= check->in_plane("center_of_mass", *body.center_of_mass);
  std::optional<Mat3> inertia;
  if (body.inertia) {
    inertia = find_given_inertia(*body.inertia, planar, check);
    good &= inertia.has_value();
  }
  if (!good) return std::nullopt;

  bool bare = true;
  for (const ShapeDescription& shape : body.shapes) bare &= !has_matter(shape);
  bare |= body.mass && inertia && body.center_of_mass;  // nothing is left for the shapes to say
  std::optional<MassProperties> matter = bare ? calc_bare(body, lock, check) : calc_shapes(body, planar, check);
  if (!matter) return std::nullopt;
  if (body.mass) {
    matter->inertia *= *body.mass / matter->mass;
    matter->mass = *body.mass;
  }
  // A stated centre moves the matter as a whole: the inertia about the centre stays that of the shapes.
  if (body.center_of_mass) matter->center = *body.center_of_mass;
  if (inertia) matter->inertia = *inertia;
  return matter;
}

}  // namespace slipstick
