// Closest points of points and segments.
#pragma once

#include <slipstick/types.h>

#include <algorithm>

namespace slipstick {

/// Parameter s of the point center + s * half of the line that is closest to p; 0 if half is.
inline double closest_on_line(const Vec3& p, const Vec3& center, const Vec3& half) {
  const double length_sq = half.squaredNorm();
  return length_sq > 0 ? half.dot(p - center) / length_sq : 0;
}

/// Parameter s in [-1, 1] of the point center + s * half that is closest to p.
inline double closest_on_segment(const Vec3& p, const Vec3& center, const Vec3& half) {
  return std::clamp(closest_on_line(p, center, half), -1.0, 1.0);
}

/// Parameters (s, t) of the closest points of the LINES c1 + s h1 and c2 + t h2; false if they are parallel to
/// working accuracy. With w = c2 - c1: h1.h1 s - h1.h2 t = h1.w and h1.h2 s - h2.h2 t = h2.w.
inline bool closest_on_lines(const Vec3& c1, const Vec3& h1, const Vec3& c2, const Vec3& h2, double* s, double* t) {
  const double a = h1.squaredNorm(), b = h2.squaredNorm(), c = h1.dot(h2);
  const double det = h1.cross(h2).squaredNorm();  // = a b - c^2 without its cancellation
  if (!(det > 1e-16 * a * b)) return false;
  const Vec3 w = c2 - c1;
  const double x = h1.dot(w), y = h2.dot(w);
  *s = (b * x - c * y) / det;
  *t = (c * x - a * y) / det;
  return true;
}

}  // namespace slipstick
