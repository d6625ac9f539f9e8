#include "collision/convex_patch.h"

#include "collision/tolerances.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace slipstick {
namespace {

/// The octagon of a rim, counter-clockwise seen from outside; `lowest` (an angle) is put in where it belongs.
void add_rim(const ConvexCore& core, int cap, const double* lowest, Patch* patch) {
  const PlacedShape& s = core.shape();
  const double z = cap ? s.half_length : -s.half_length;
  const double turn = 2 * std::numbers::pi, step = turn / kRimPoints;
  const auto at = [&](double angle) {
    return core.as_pair({s.radius * std::cos(angle), s.radius * std::sin(angle), z});
  };
  const double place = lowest ? (*lowest < 0 ? *lowest + turn : *lowest) / step : -1;
  for (int i = 0; i < kRimPoints; ++i) {
    const int k = cap ? i : kRimPoints - 1 - i;                    // from below the angle runs the other way round
    const int side = cap ? k : (k + kRimPoints - 1) % kRimPoints;  // the arc that follows: from `side` to side + 1
    const std::uint32_t edge = kEdgeName + cap * 2 * kRimPoints + side;
    patch->add(at(k * step), cap * kRimPoints + k, edge);
    const double part = place - side;
    if (lowest && part > 1e-5 && part < 1 - 1e-5) patch->add(at(*lowest), kLowestName + cap, edge + kRimPoints);
  }
}

void add_line(const SupportLine& line, Patch* patch) {
  patch->add(line.from, line.from_name, line.name);
  if (line.is_line) patch->add(line.to, line.to_name, line.name);
}

/// A corner of the polygon that is being clipped: its name, and whose edge leads on from it.
struct ClipPoint {
  Vec3 p;              ///< (u, v, height)
  std::uint32_t name;  ///< complete
  int rank;            ///< 0 corner of A, 1 of B, 2 crossing
  bool on_reference;   ///< the edge that leads on is one of the reference's
  int edge;            ///< its index
};

class PatchClipper {
 public:
  PatchClipper(const Patch& reference, const Vec3& up, const Patch& facing, bool reference_is_a)
      : reference_(reference), facing_(facing), is_a_(reference_is_a), up_(up) {
    origin_ = reference.points[0].position;
    u_ = up.unitOrthogonal();
    v_ = up.cross(u_);
    for (int k = 0; k < facing.count; ++k) {
      polygon_[k] = {as_face(facing.points[k].position), corner_name(false, facing.points[k].name), is_a_ ? 1 : 0,
                     false, k};
      facing_corner_[k] = polygon_[k].p.head<2>();
      size_ = std::max(size_, facing_corner_[k].cwiseAbs().maxCoeff());
    }
    count_ = facing.count;
    for (int k = 0; k < reference.count; ++k) {
      corner_[k] = as_face(reference.points[k].position).head<2>();
      size_ = std::max(size_, corner_[k].cwiseAbs().maxCoeff());
    }
  }

  void clip() {
    for (int j = 0; j < reference_.count && count_ > 0; ++j) cut(j);
  }

  void list(double same_point, Overlap* overlap) const {
    overlap->count = 0;
    std::array<Vec3, 2 * Patch::kMaxPatch> kept;
    std::array<ClipPoint, 2 * Patch::kMaxPatch> named;
    for (int k = 0; k < count_; ++k) named[k] = as_named(polygon_[k], same_point);
    for (int rank = 0; rank < 3; ++rank) {
      for (int k = 0; k < count_; ++k) {
        if (named[k].rank != rank) continue;
        const ClipPoint& c = named[k];
        int same = -1;
        for (int i = 0; i < overlap->count && same < 0; ++i) {
          const bool near = (kept[i] - c.p).head<2>().lpNorm<Eigen::Infinity>() <= same_point;
          if (near || overlap->points[i].feature == c.name) same = i;
        }
        const OverlapPoint point{origin_ + c.p.x() * u_ + c.p.y() * v_, c.p.z(), c.name};
        if (same < 0) {
          kept[overlap->count] = c.p;
          overlap->points[overlap->count++] = point;
        } else if (point.height < overlap->points[same].height) {
          overlap->points[same].foot = point.foot;
          overlap->points[same].height = point.height;
        }
      }
    }
  }

 private:
  Vec3 as_face(const Vec3& p) const { return {u_.dot(p - origin_), v_.dot(p - origin_), up_.dot(p - origin_)}; }

  std::uint32_t corner_name(bool of_reference, std::uint32_t name) const {
    return of_reference == is_a_ ? convex_feature(name, kAnywhere) : convex_feature(kAnywhere, name);
  }

  /// The point with the name of the corner at this place, if there is one, of A before of B: a corner that is a hair
  /// outside of the other face has its two crossings there, under the same name.
  ClipPoint as_named(const ClipPoint& c, double same_point) const {
    ClipPoint named = c;
    const auto take = [&](bool of_reference, const Vec2& at, std::uint32_t name) {
      const int rank = of_reference == is_a_ ? 0 : 1;
      if (rank >= named.rank || (at - c.p.head<2>()).lpNorm<Eigen::Infinity>() > same_point) return;
      named.rank = rank;
      named.name = corner_name(of_reference, name);
    };
    for (int k = 0; k < reference_.count; ++k) take(true, corner_[k], reference_.points[k].name);
    for (int k = 0; k < facing_.count; ++k) take(false, facing_corner_[k], facing_.points[k].name);
    return named;
  }

  /// Where the edge that leads on from `from` meets the reference's side j.
  ClipPoint make_crossing(const ClipPoint& from, const Vec3& p, int j) const {
    ClipPoint c{p, 0, 2, from.on_reference, from.edge};
    if (from.on_reference) {
      const int n = reference_.count;
      const int corner = (from.edge + 1) % n == j ? j : (j + 1) % n == from.edge ? from.edge : j;
      c.name = corner_name(true, reference_.points[corner].name);
      c.rank = is_a_ ? 0 : 1;
    } else {
      const std::uint32_t own = reference_.points[j].edge, other = facing_.points[from.edge].edge;
      c.name = is_a_ ? convex_feature(own, other) : convex_feature(other, own);
    }
    return c;
  }

  /// Sutherland and Hodgman: what is left of side j goes.
  void cut(int j) {
    const Vec2 start = corner_[j], side = corner_[(j + 1) % reference_.count] - start;
    const double length = side.norm();
    if (!(length > 0)) return;
    const Vec2 inward(-side.y() / length, side.x() / length);
    const double slack = 1e-9 * size_;  // edges that lie over each other cross somewhere, or nowhere
    std::array<ClipPoint, 2 * Patch::kMaxPatch> next;
    int count = 0;
    const auto put = [&](const ClipPoint& c) {
      if (count < static_cast<int>(next.size())) next[count++] = c;
    };
    for (int k = 0; k < count_; ++k) {
      const ClipPoint &p = polygon_[k], &q = polygon_[(k + 1) % count_];
      const double dp = inward.dot(p.p.head<2>() - start), dq = inward.dot(q.p.head<2>() - start);
      const bool p_in = dp >= -slack, q_in = dq >= -slack;
      if (p_in) put(p);
      if (p_in == q_in) continue;
      const double t = std::clamp(dp / (dp - dq), 0.0, 1.0);
      ClipPoint c = make_crossing(p, p.p + t * (q.p - p.p), j);
      if (p_in) {
        c.on_reference = true;
        c.edge = j;
      }
      put(c);
    }
    std::copy(next.begin(), next.begin() + count, polygon_.begin());
    count_ = count;
  }

  const Patch &reference_, &facing_;
  bool is_a_;
  Vec3 up_, origin_, u_, v_;
  double size_ = 0;
  std::array<Vec2, Patch::kMaxPatch> corner_, facing_corner_;
  std::array<ClipPoint, 2 * Patch::kMaxPatch> polygon_;
  int count_ = 0;
};

}  // namespace

void update_face_patch(const ConvexCore& core, int face, Patch* patch) {
  patch->count = 0;
  if (core.kind() != ConvexCore::Kind::Polyhedron) return add_rim(core, face, nullptr, patch);
  const Hull& hull = *core.shape().hull;
  const HullFace& f = hull.faces[face];
  const int stride = (f.count + Patch::kMaxPatch - 1) / Patch::kMaxPatch;
  for (int k = f.first; k < f.first + f.count; k += stride) {
    patch->add(core.as_pair(hull.vertices[hull.loops[k]]), hull.loops[k], kEdgeName + hull.loop_edges[k]);
  }
}

void update_facing_patch(const ConvexCore& core, const Vec3& m, double scale, Patch* patch) {
  patch->count = 0;
  Vec3 normal;
  int face = 0;
  if (core.kind() == ConvexCore::Kind::Polyhedron) {
    core.find_face(m, &normal, &face);
    return update_face_patch(core, face, patch);
  }
  const bool flat = core.find_face(m, &normal, &face) >= kNearFace;
  if (!flat) return add_line(core.find_support_line(m, 2), patch);
  const Vec3 local = core.as_local_direction(m);
  const double angle = std::atan2(local.y(), local.x());
  const bool tilted = core.shape().radius * std::hypot(local.x(), local.y()) > kSameGap * scale;
  add_rim(core, face, tilted ? &angle : nullptr, patch);
}

double Overlap::least_height() const {
  double least = kInfinity;
  for (int k = 0; k < count; ++k) least = std::min(least, points[k].height);
  return least;
}

void update_overlap(const Patch& reference, const Vec3& up, const Patch& facing, bool reference_is_a, double same_point,
                    Overlap* overlap) {
  PatchClipper clipper(reference, up, facing, reference_is_a);
  clipper.clip();
  clipper.list(same_point, overlap);
}

}  // namespace slipstick
