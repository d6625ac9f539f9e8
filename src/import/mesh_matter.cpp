#include "import/mesh_matter.h"

#include <slipstick/surface.h>

#include <Eigen/Eigenvalues>
#include <array>
#include <cmath>

namespace slipstick {
namespace {

std::array<Vec3, 3> corners_of(const Surface& mesh, const Triangle& t, const Vec3& from) {
  return {mesh.vertices[t[0]] - from, mesh.vertices[t[1]] - from, mesh.vertices[t[2]] - from};
}

double calc_area(const std::array<Vec3, 3>& t) { return (t[1] - t[0]).cross(t[2] - t[0]).norm() / 2; }

/// Area, and the middle of it.
double calc_middle(const Surface& mesh, Vec3* middle) {
  double area = 0;
  *middle = Vec3::Zero();
  for (const Triangle& t : mesh.triangles) {
    const auto c = corners_of(mesh, t, Vec3::Zero());
    const double size = calc_area(c);
    area += size;
    *middle += size * (c[0] + c[1] + c[2]) / 3;
  }
  *middle /= area;
  return area;
}

/// From the second moments about the centre.
Mat3 as_inertia(const Mat3& second) { return second.trace() * Mat3::Identity() - second; }

MassProperties calc_shell(const Surface& mesh) {
  MassProperties made;
  made.mass = calc_middle(mesh, &made.center);
  Mat3 second = Mat3::Zero();
  for (const Triangle& t : mesh.triangles) {
    const auto [a, b, c] = corners_of(mesh, t, made.center);
    const Vec3 sum = a + b + c;
    second +=
        calc_area({a, b, c}) / 12 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose());
  }
  made.inertia = as_inertia(second);
  return made;
}

/// Tetrahedra over a point in the middle, then over the centre that they give.
MassProperties calc_solid(const Surface& mesh, bool positive, Mat3* second) {
  MassProperties made;
  Vec3 middle;
  if (!(calc_middle(mesh, &middle) > 0)) return made;
  const auto size_of = [&](const std::array<Vec3, 3>& t) {
    const double volume = t[0].dot(t[1].cross(t[2])) / 6;
    return positive ? std::abs(volume) : volume;
  };
  double volume = 0;
  Vec3 center = Vec3::Zero();
  for (const Triangle& t : mesh.triangles) {
    const auto c = corners_of(mesh, t, middle);
    volume += size_of(c);
    center += size_of(c) * (c[0] + c[1] + c[2]) / 4;
  }
  if (!(volume > 0)) return made;
  made.center = middle + center / volume;
  *second = Mat3::Zero();
  for (const Triangle& t : mesh.triangles) {
    const auto c = corners_of(mesh, t, made.center);
    const Vec3 sum = c[0] + c[1] + c[2];
    made.mass += size_of(c);
    *second += size_of(c) / 20 *
               (c[0] * c[0].transpose() + c[1] * c[1].transpose() + c[2] * c[2].transpose() + sum * sum.transpose());
  }
  made.inertia = as_inertia(*second);
  return made;
}

}  // namespace

MassProperties calc_mesh_matter(const Surface& mesh, MeshMatter way) {
  if (way == MeshMatter::Shell) return calc_shell(mesh);
  Mat3 second = Mat3::Zero();
  MassProperties made = calc_solid(mesh, way != MeshMatter::Exact, &second);
  if (way != MeshMatter::Box || !(made.mass > 0)) return made;
  // A box of half sides s has the second moments s^2/3 of its mass along its axes.
  const Vec3 moments = Eigen::SelfAdjointEigenSolver<Mat3>(second).eigenvalues() / made.mass;
  const double volume = 8 * std::sqrt((3 * moments).prod());
  made.inertia *= volume / made.mass;
  made.mass = volume;
  return made;
}

MeshBox calc_mesh_box(const Surface& mesh) {
  MeshBox box;
  Mat3 second = Mat3::Zero();
  const MassProperties made = calc_solid(mesh, true, &second);
  if (!(made.mass > 0)) return box;
  // Second moments from the least: the greatest, which is the way of least inertia, is z.
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(second);
  Mat3 axes = eigen.eigenvectors();
  if (axes.determinant() < 0) axes.col(0) = -axes.col(0);
  box.pose = {made.center, Quat(axes).normalized()};
  box.half = (3 * eigen.eigenvalues() / made.mass).cwiseMax(0).cwiseSqrt();
  return box;
}

}  // namespace slipstick
