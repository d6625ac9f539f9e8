// Any two convex shapes. One direction (convex_direction.h) gives the signed distance; the manifold is then
//   on a face:    what the facing side of the other shape has over it, all with the face's normal;
//   otherwise:    the closest pair, and besides it the points over a face that looks nearly the same way, or the ends
//   of
//                 two nearly parallel lines (log on log), each with its own distance from the other shape.
#include "collision/convex_direction.h"
#include "collision/convex_patch.h"
#include "collision/narrow_phase.h"
#include "collision/point_distance.h"
#include "collision/segments.h"
#include "collision/tolerances.h"

#include <algorithm>
#include <cmath>

namespace slipstick {
namespace {

/// A line supports a direction that is perpendicular to it to this angle: what is left by rounding.
constexpr double kOnLine = 1e-7;
/// Supporting points that are this far from being over each other (part of the size) are not the closest points.
constexpr double kAside = 1e-8;
/// Lines at less than 10 degrees hold each other at both ends, as faces do.
const double kNearLine = std::sqrt(1 - kNearFace * kNearFace);

class ConvexPair {
 public:
  ConvexPair(const PlacedShape& a, const PlacedShape& b, ContactSink* sink)
      : origin_(a.center),
        a_(a, origin_),
        b_(b, origin_),
        sink_(*sink),
        radius_(a_.radius() + b_.radius()),
        scale_(std::min(a.bound, b.bound)) {}

  void find() {
    const CoreDirection direction = find_core_direction(a_, b_, scale_, sink_.reach() + radius_);
    if (!direction.within_reach) return;
    normal_ = direction.normal;
    gap_ = direction.separation - radius_;
    const bool has_face = find_reference();
    if (has_face) {
      update_face_overlap();
      const double slack = kSameGap * scale_;
      const bool on_face = calc_core_separation(a_, b_, reference_is_a_ ? up_ : Vec3(-up_)) - radius_ >= gap_ - slack;
      if (on_face && overlap_.least_height() - radius_ <= gap_ + slack) return add_overlap();
    }
    normal_ = direction.exact_normal;
    gap_ = calc_core_separation(a_, b_, normal_) - radius_;
    add_closest();
    if (has_face) {
      add_overlap();
    } else {
      add_line_ends();
    }
  }

 private:
  static constexpr int kMaxKnown = 8;

  /// The face that looks most along the normal, of A if they are equal.
  bool find_reference() {
    Vec3 of_a, of_b;
    int face_a = 0, face_b = 0;
    const double along_a = a_.find_face(normal_, &of_a, &face_a), along_b = b_.find_face(-normal_, &of_b, &face_b);
    if (std::max(along_a, along_b) < kNearFace) return false;
    reference_is_a_ = along_a >= along_b - kSameGap;
    up_ = reference_is_a_ ? of_a : of_b;
    face_ = reference_is_a_ ? face_a : face_b;
    return true;
  }

  void update_face_overlap() {
    Patch reference, facing;
    update_face_patch(reference_is_a_ ? a_ : b_, face_, &reference);
    update_facing_patch(reference_is_a_ ? b_ : a_, -up_, scale_, &facing);
    update_overlap(reference, up_, facing, reference_is_a_, kSamePoint * scale_, &overlap_);
  }

  bool is_known(const Vec3& p, std::uint32_t feature) const {
    for (int k = 0; k < known_count_; ++k) {
      if (known_[k].feature == feature) return true;
      if ((known_[k].on_a - p).lpNorm<Eigen::Infinity>() <= kSamePoint * scale_) return true;
      if ((known_[k].on_b - p).lpNorm<Eigen::Infinity>() <= kSamePoint * scale_) return true;
    }
    return false;
  }

  void add(const Vec3& on_a, const Vec3& on_b, const Vec3& normal, double gap, std::uint32_t feature) {
    if (known_count_ < kMaxKnown) known_[known_count_++] = {on_a, on_b, feature};
    sink_.add(origin_ + on_a, origin_ + on_b, normal, gap, feature);
  }

  /// Points beside a closest pair are not deeper than it: what they say is that no more depth is there.
  void add_overlap() {
    const Vec3 normal = reference_is_a_ ? up_ : Vec3(-up_);
    const double own_radius = reference_is_a_ ? a_.radius() : b_.radius();
    for (int k = 0; k < overlap_.count; ++k) {
      const OverlapPoint& p = overlap_.points[k];
      if (known_count_ > 0 && is_known(p.foot, p.feature)) continue;
      const double gap = known_count_ > 0 ? std::max(p.height - radius_, gap_ + 1e-12 * scale_) : p.height - radius_;
      sink_.add_from(reference_is_a_, origin_ + p.foot + own_radius * up_, normal, gap, p.feature);
    }
  }

  /// Where on the two supporting points or lines: the place at which they are over each other.
  void add_closest() {
    const SupportLine la = a_.find_support_line(normal_, kOnLine), lb = b_.find_support_line(-normal_, kOnLine);
    Vec3 on_a = la.from, on_b = lb.from;
    std::uint32_t name_a = la.from_name, name_b = lb.from_name;
    if (la.is_line && lb.is_line) {
      find_crossing(la, lb, &on_a, &on_b);
      name_a = la.name;
      name_b = lb.name;
    } else if (la.is_line) {
      on_a = find_on_line(la, on_b, &name_a);
      if (name_a == la.name) name_a = kAnywhere;
    } else if (lb.is_line) {
      on_b = find_on_line(lb, on_a, &name_b);
      if (name_b == lb.name) name_b = kAnywhere;
    }
    on_a += a_.radius() * normal_;
    on_b -= b_.radius() * normal_;
    const Vec3 aside = on_b - on_a - normal_.dot(on_b - on_a) * normal_;
    if (aside.norm() >
        kAside * scale_) {  // more than a line of one of them looks along the normal: a face, to rounding
      const OverlapPoint* const lowest = find_lowest();
      if (lowest && lowest->height - radius_ <= gap_ + kAside * scale_) {
        known_[known_count_++] = {lowest->foot, lowest->foot, lowest->feature};
        sink_.add_from(reference_is_a_, origin_ + lowest->foot + (reference_is_a_ ? a_ : b_).radius() * up_, normal_,
                       gap_, lowest->feature);
        return;
      }
      const bool on_face = up_along() > 1 - 1e-9;
      if (on_face && add_foot_on_face(reference_is_a_ ? lb : la)) return;
      find_by_projections(&on_a, &on_b);
      if (on_face) (reference_is_a_ ? name_a : name_b) = kAnywhere;
    }
    const Vec3 middle = (on_a + on_b) / 2;  // rounding has moved the points off the normal
    add(middle - gap_ / 2 * normal_, middle + gap_ / 2 * normal_, normal_, gap_, convex_feature(name_a, name_b));
  }

  /// Where two lines are over each other: at their crossing, or in the middle of what they share if they are parallel.
  static void find_crossing(const SupportLine& la, const SupportLine& lb, Vec3* on_a, Vec3* on_b) {
    const Vec3 ca = (la.from + la.to) / 2, ha = (la.to - la.from) / 2;
    const Vec3 cb = (lb.from + lb.to) / 2, hb = (lb.to - lb.from) / 2;
    double s = 0, t = 0;
    const bool parallel = ha.cross(hb).squaredNorm() <= kOnLine * kOnLine * ha.squaredNorm() * hb.squaredNorm();
    if (parallel || !closest_on_lines(ca, ha, cb, hb, &s, &t)) {
      const double from = closest_on_line(lb.from, ca, ha), to = closest_on_line(lb.to, ca, ha);
      s = (std::clamp(std::min(from, to), -1.0, 1.0) + std::clamp(std::max(from, to), -1.0, 1.0)) / 2;
    }
    *on_a = ca + std::clamp(s, -1.0, 1.0) * ha;
    *on_b = cb + closest_on_segment(*on_a, cb, hb) * hb;
    *on_a = ca + closest_on_segment(*on_b, ca, ha) * ha;
  }

  /// The supporting point of the other side over the face that looks along the normal, at the distance that is known.
  /// (Rims are clipped as polygons: what is over the rest of the disk is not among the points of the overlap.)
  bool add_foot_on_face(const SupportLine& line) {
    const ConvexCore &own = reference_is_a_ ? b_ : a_, &face = reference_is_a_ ? a_ : b_;
    for (const bool at_end : {false, true}) {
      const Vec3& p = at_end ? line.to : line.from;
      const PointDistance d = calc_point_distance(face.shape(), origin_ + p);
      const double along = reference_is_a_ ? d.normal.dot(normal_) : -d.normal.dot(normal_);
      if (std::abs(d.gap - own.radius() - gap_) > kAside * scale_ || along < 1 - kAside) continue;
      const Vec3 middle = (d.on_surface - origin_ + p - own.radius() * d.normal) / 2;
      const std::uint32_t name = at_end ? line.to_name : line.from_name;
      add(middle - gap_ / 2 * normal_, middle + gap_ / 2 * normal_, normal_, gap_,
          reference_is_a_ ? convex_feature(kAnywhere, name) : convex_feature(name, kAnywhere));
      return true;
    }
    return false;
  }

  /// Closest points of A and of B moved away along the normal, by alternating projections. From the points given, and
  /// if that is slow from B's centre: the thin lens that two disks share is found at once from there.
  void find_by_projections(Vec3* on_a, Vec3* on_b) const {
    const double off = project_in_turn(on_a, on_b);
    if (off <= kAside * scale_) return;
    Vec3 other_a = *on_a, other_b = b_.center();
    if (project_in_turn(&other_a, &other_b) >= off) return;
    *on_a = other_a;
    *on_b = other_b;
  }

  /// From `on_b`; by how much the points are not `gap_` apart along the normal.
  double project_in_turn(Vec3* on_a, Vec3* on_b) const {
    const Vec3 shift = (scale_ - gap_) * normal_;
    for (int k = 0; k < 60; ++k) {
      *on_a = calc_point_distance(a_.shape(), origin_ + *on_b + shift).on_surface - origin_;
      const Vec3 before = *on_b;
      *on_b = calc_point_distance(b_.shape(), origin_ + *on_a - shift).on_surface - origin_;
      if ((*on_b - before).norm() <= kSameGap * scale_) break;
    }
    return (*on_b - *on_a - gap_ * normal_).norm();
  }

  double up_along() const { return reference_is_a_ ? up_.dot(normal_) : -up_.dot(normal_); }

  const OverlapPoint* find_lowest() const {
    const OverlapPoint* lowest = nullptr;
    for (int k = 0; k < overlap_.count; ++k) {
      if (!lowest || overlap_.points[k].height < lowest->height) lowest = &overlap_.points[k];
    }
    return lowest;
  }

  static Vec3 find_on_line(const SupportLine& line, const Vec3& p, std::uint32_t* name) {
    const Vec3 center = (line.from + line.to) / 2, half = (line.to - line.from) / 2;
    const double s = closest_on_line(p, center, half);
    *name = s <= -1 ? line.from_name : s >= 1 ? line.to_name : line.name;
    return center + std::clamp(s, -1.0, 1.0) * half;
  }

  /// Ends of nearly parallel lines that are over the other line, each with its distance from the other shape.
  void add_line_ends() {
    const SupportLine la = a_.find_support_line(normal_, kNearLine), lb = b_.find_support_line(-normal_, kNearLine);
    if (!la.is_line || !lb.is_line) return;
    const Vec3 da = la.to - la.from, db = lb.to - lb.from;
    if (da.cross(db).norm() > kNearLine * da.norm() * db.norm()) return;
    for (int end = 0; end < 4; ++end) {
      const bool of_a = end < 2;
      const SupportLine &own = of_a ? la : lb, &other = of_a ? lb : la;
      const Vec3& p = end & 1 ? own.to : own.from;
      const double s = closest_on_line(p, (other.from + other.to) / 2, (other.to - other.from) / 2);
      if (std::abs(s) <= 1 + kSamePoint) add_end(of_a, p, end & 1 ? own.to_name : own.from_name);
    }
  }

  void add_end(bool of_a, const Vec3& p, std::uint32_t name) {
    const std::uint32_t feature = of_a ? convex_feature(name, kAnywhere) : convex_feature(kAnywhere, name);
    const ConvexCore &own = of_a ? a_ : b_, &other = of_a ? b_ : a_;
    const PointDistance d = calc_point_distance(other.shape(), origin_ + p);
    const double gap = d.gap - own.radius();
    // Not deeper than the pair itself: through a thin partner the other side may be nearer.
    const Vec3 normal = of_a ? Vec3(-d.normal) : d.normal;
    if (gap < gap_ - kSameGap * scale_ || normal.dot(normal_) < kNearFace) return;
    const Vec3 surface = p - own.radius() * d.normal, on_other = d.on_surface - origin_;
    if (is_known(surface, feature) || is_known(on_other, feature)) return;
    add(of_a ? surface : on_other, of_a ? on_other : surface, normal, gap, feature);
  }

  struct Known {
    Vec3 on_a, on_b;
    std::uint32_t feature;
  };

  Vec3 origin_;
  ConvexCore a_, b_;
  ContactSink& sink_;
  double radius_, scale_;
  Vec3 normal_ = Vec3::UnitZ();
  double gap_ = 0;
  bool reference_is_a_ = true;
  Vec3 up_ = Vec3::Zero();  ///< the reference face's normal
  int face_ = 0;
  Overlap overlap_;
  std::array<Known, kMaxKnown> known_;
  int known_count_ = 0;
};

}  // namespace

void find_sphere_convex(const PlacedShape& sphere, const PlacedShape& convex, ContactSink* sink) {
  const PointDistance d = calc_point_distance(convex, sphere.center);
  sink->add_from(false, d.on_surface, -d.normal, d.gap - sphere.radius, 0);
}

void find_convex_pair(const PlacedShape& a, const PlacedShape& b, ContactSink* sink) { ConvexPair(a, b, sink).find(); }

}  // namespace slipstick
