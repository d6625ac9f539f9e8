#include "collision/convex_core.h"

#include <algorithm>
#include <cmath>

#include "collision/hull_lookup.h"

namespace slipstick {
namespace {

constexpr ConvexCore::Kind core_kind_of(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::Capsule:
      return ConvexCore::Kind::Segment;
    case ShapeKind::Box:
    case ShapeKind::Hull:
      return ConvexCore::Kind::Polyhedron;
    case ShapeKind::Cylinder:
      return ConvexCore::Kind::Cylinder;
    case ShapeKind::Cone:
      return ConvexCore::Kind::Cone;
    case ShapeKind::Ellipsoid:
      return ConvexCore::Kind::Ellipsoid;
    default:
      return ConvexCore::Kind::Point;
  }
}

/// The point of a rim that is farthest along `local`; its middle where that is straight up or down.
Vec3 calc_rim_point(const PlacedShape& s, const Vec3& local, double z) {
  const double across = std::hypot(local.x(), local.y());
  if (!(across > 1e-14 * std::abs(local.z()))) return {0, 0, z};
  return {s.radius * local.x() / across, s.radius * local.y() / across, z};
}

/// Axial part of a cone's mantle normal: with the full length 2 h it is r / sqrt(r^2 + 4 h^2).
double mantle_slope(const PlacedShape& s) { return s.radius / std::hypot(s.radius, 2 * s.half_length); }

}  // namespace

ConvexCore::ConvexCore(const PlacedShape& shape, const Vec3& origin)
    : shape_(&shape), center_(shape.center - origin), kind_(core_kind_of(shape.kind)) {
  if (kind_ <= Kind::Segment) radius_ = shape.radius;
}

int ConvexCore::find_support_vertex(const Vec3& local) const {
  return shape_->lookup ? shape_->lookup->vertices.find(local) : find_farthest(shape_->hull->vertices, local);
}

/// The face whose normal looks most along a direction.
int ConvexCore::find_farthest_face(const Vec3& local) const {
  if (shape_->lookup) return shape_->lookup->normals.find(local);
  const std::vector<HullFace>& faces = shape_->hull->faces;
  return static_cast<int>(std::max_element(faces.begin(), faces.end(),
                                           [&](const HullFace& a, const HullFace& b) {
                                             return a.normal.dot(local) < b.normal.dot(local);
                                           }) -
                          faces.begin());
}

template <class Visit>
void ConvexCore::visit_edges(int vertex, Visit&& visit) const {
  if (shape_->lookup) {
    for (const std::int32_t e : shape_->lookup->edges_of(vertex)) visit(e);
    return;
  }
  const auto& edges = shape_->hull->edges;
  for (int e = 0; e < static_cast<int>(edges.size()); ++e)
    if (edges[e][0] == vertex || edges[e][1] == vertex) visit(e);
}

Vec3 ConvexCore::calc_edge_direction(int e) const {
  if (shape_->lookup) return shape_->lookup->along[e];
  const auto& ends = shape_->hull->edges[e];
  return (shape_->hull->vertices[ends[1]] - shape_->hull->vertices[ends[0]]).normalized();
}

Vec3 ConvexCore::calc_support(const Vec3& m) const {
  const PlacedShape& s = *shape_;
  switch (kind_) {
    case Kind::Point:
      return center_;
    case Kind::Segment:
      return m.dot(s.axis) < 0 ? Vec3(center_ - s.axis) : Vec3(center_ + s.axis);
    case Kind::Polyhedron:
      return as_pair(s.hull->vertices[find_support_vertex(as_local_direction(m))]);
    case Kind::Cylinder: {
      const Vec3 local = as_local_direction(m);
      return as_pair(calc_rim_point(s, local, local.z() < 0 ? -s.half_length : s.half_length));
    }
    case Kind::Cone: {
      const Vec3 local = as_local_direction(m);
      const Vec3 rim = calc_rim_point(s, local, -s.half_length), tip(0, 0, s.half_length);
      return as_pair(local.dot(tip) > local.dot(rim) ? tip : rim);
    }
    case Kind::Ellipsoid: {
      const Vec3 stretched = s.half_size.cwiseProduct(as_local_direction(m));
      return as_pair(s.half_size.cwiseProduct(stretched.normalized()));
    }
  }
  return center_;
}

Mat3 ConvexCore::calc_curvature(const Vec3& m) const {
  const PlacedShape& s = *shape_;
  if (is_polyhedral()) return Mat3::Zero();
  const Vec3 local = as_local_direction(m);
  if (kind_ == Kind::Ellipsoid) {  // h = |S m|: S^2 / h - q q^T / h^3 with q = S^2 m
    const Vec3 square = s.half_size.cwiseAbs2(), q = square.cwiseProduct(local);
    const double h = s.half_size.cwiseProduct(local).norm();
    const Mat3 own = Mat3(square.asDiagonal()) / h - q * q.transpose() / (h * h * h);
    return s.frame * own * s.frame.transpose();
  }
  if (kind_ == Kind::Cone && calc_support(m) == as_pair(Vec3(0, 0, s.half_length))) return Mat3::Zero();
  const double across = std::hypot(local.x(), local.y());  // a rim: h = ... + r sqrt(x^2 + y^2)
  if (!(across > 0)) return Mat3::Zero();
  const Vec3 along = s.frame * Vec3(-local.y() / across, local.x() / across, 0);
  return s.radius / across * along * along.transpose();
}

void ConvexCore::find_kinks(const Vec3& m, double angle, Kinks* kinks) const {
  const PlacedShape& s = *shape_;
  switch (kind_) {
    case Kind::Segment: {
      const double length = s.axis.norm();
      if (length > 0 && std::abs(m.dot(s.axis)) <= angle * length) kinks->add_line(s.axis / length, 0);
      break;
    }
    case Kind::Polyhedron: {
      const Vec3 local = as_local_direction(m);
      const auto is_near = [&](const HullFace& face) { return (face.normal - local).squaredNorm() <= angle * angle; };
      // Mostly not even the nearest one is near.
      if (is_near(s.hull->faces[find_farthest_face(local)])) {
        for (const HullFace& face : s.hull->faces)
          if (is_near(face)) kinks->add_face(s.frame * face.normal);
      }
      visit_edges(find_support_vertex(local), [&](int e) {
        const Vec3 edge = calc_edge_direction(e);
        if (std::abs(edge.dot(local)) <= angle) kinks->add_line(s.frame * edge, 0);
      });
      break;
    }
    case Kind::Cylinder: {
      const double z = m.dot(s.frame.col(2));
      if (std::abs(z) <= angle) kinks->add_line(s.frame.col(2), 0);
      if (1 - std::abs(z) <= angle * angle / 2) kinks->add_face(z < 0 ? Vec3(-s.frame.col(2)) : Vec3(s.frame.col(2)));
      break;
    }
    case Kind::Cone: {
      const double z = m.dot(s.frame.col(2)), slope = mantle_slope(s);
      if (std::abs(z - slope) <= angle) kinks->add_line(s.frame.col(2), slope);
      if (1 + z <= angle * angle / 2) kinks->add_face(-s.frame.col(2));
      break;
    }
    case Kind::Point:
    case Kind::Ellipsoid:
      break;
  }
}

SupportLine ConvexCore::find_support_line(const Vec3& m, double angle) const {
  const PlacedShape& s = *shape_;
  SupportLine line;
  const Vec3 local = as_local_direction(m);
  switch (kind_) {
    case Kind::Segment: {
      const bool back = m.dot(s.axis) < 0;
      line = {center_ - s.axis, center_ + s.axis, 0, 1, kSideName, true};
      line.is_line = s.axis.squaredNorm() > 0 && std::abs(m.dot(s.axis)) <= angle * s.axis.norm();
      if (!line.is_line && !back) line.from = line.to, line.from_name = 1;
      return line;
    }
    case Kind::Polyhedron: {
      const int vertex = find_support_vertex(local);
      const std::vector<Vec3>& v = s.hull->vertices;
      line.from = line.to = as_pair(v[vertex]);
      line.from_name = line.to_name = vertex;
      double flattest = angle;
      visit_edges(vertex, [&](int e) {
        const auto& ends = s.hull->edges[e];
        const double slope = std::abs(calc_edge_direction(e).dot(local));
        if (!(slope < flattest)) return;
        flattest = slope;
        line = {as_pair(v[ends[0]]),
                as_pair(v[ends[1]]),
                static_cast<std::uint32_t>(ends[0]),
                static_cast<std::uint32_t>(ends[1]),
                static_cast<std::uint32_t>(kEdgeName + e),
                true};
      });
      return line;
    }
    case Kind::Cylinder: {
      const Vec3 low = calc_rim_point(s, local, -s.half_length), high = calc_rim_point(s, local, s.half_length);
      line = {as_pair(low), as_pair(high), kLowestName, kLowestName + 1, kSideName, std::abs(local.z()) <= angle};
      if (!line.is_line && local.z() >= 0) line.from = line.to, line.from_name = line.to_name;
      return line;
    }
    case Kind::Cone: {
      const Vec3 rim = calc_rim_point(s, local, -s.half_length), tip(0, 0, s.half_length);
      line = {as_pair(rim), as_pair(tip), kLowestName, kTipName, kSideName, false};
      line.is_line = std::abs(local.z() - mantle_slope(s)) <= angle;
      if (!line.is_line && local.dot(tip) > local.dot(rim)) line.from = line.to, line.from_name = line.to_name;
      return line;
    }
    case Kind::Point:
    case Kind::Ellipsoid:
      line.from = line.to = calc_support(m);
      break;
  }
  return line;
}

double ConvexCore::find_face(const Vec3& m, Vec3* normal, int* face) const {
  const PlacedShape& s = *shape_;
  double best = -2;
  if (kind_ == Kind::Polyhedron) {
    const Vec3 local = as_local_direction(m);
    *face = find_farthest_face(local);
    best = s.hull->faces[*face].normal.dot(local);
    *normal = s.frame * s.hull->faces[*face].normal;
  } else if (kind_ == Kind::Cylinder || kind_ == Kind::Cone) {
    const double z = m.dot(s.frame.col(2));
    *face = kind_ == Kind::Cylinder && z > 0;
    *normal = *face ? Vec3(s.frame.col(2)) : Vec3(-s.frame.col(2));
    best = *face ? z : -z;
  }
  return best;
}

double calc_core_separation(const ConvexCore& a, const ConvexCore& b, const Vec3& n) {
  return n.dot(b.calc_support(-n) - a.calc_support(n));
}

}  // namespace slipstick
