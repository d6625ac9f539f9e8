// Two boxes. The separating axes (3 + 3 face normals, 9 cross products of edges) give the depth when the boxes overlap
// and a lower bound of the distance when they are apart; a manifold or a pair of edges that attains the bound IS the
// closest one. Only when none does (corner to corner, corner to edge) are all corners and edge pairs tried.
#include "collision/box_clip.h"
#include "collision/narrow_phase.h"
#include "collision/tolerances.h"

#include <algorithm>
#include <cmath>

namespace slipstick {
namespace {

/// Edges at a smaller angle (1e-8) are parallel: rounding leaves nothing of their cross product's direction.
constexpr double kParallelSq = 1e-16;

/// Everything in A's frame. Symbols as in the separating axis test: axis l, s(l) = |l.t| - r_A(l) - r_B(l).
class BoxPair {
 public:
  BoxPair(const PlacedShape& a, const PlacedShape& b, ContactSink* sink)
      : a_(a),
        b_(b),
        sink_(*sink),
        r_(a.frame.transpose() * b.frame),
        t_(a.frame.transpose() * (b.center - a.center)),
        abs_r_(r_.cwiseAbs()),
        scale_(std::min(a.half_size.maxCoeff(), b.half_size.maxCoeff())) {}

  void find();

 private:
  struct EdgePair {
    Vec3 normal, on_a, on_b;  ///< A's frame; the normal is from A to B
    std::uint32_t feature = 0;
    bool inside = false;  ///< the closest points of the two lines are on the edges
  };

  double calc_separation(const Vec3& axis) const;
  bool separate_by_faces();
  bool separate_by_edges();
  EdgePair make_edge_pair(int i, int j) const;
  void find_closest(ClosestPairs* pairs) const;
  void add_edge_pair(const EdgePair& edges);
  void add_close_pairs(const ClosestPairs& pairs);
  void add_near_face(const Vec3& normal, const ClosestPairs& taken);
  void update_manifold(bool of_a, const BoxFace& face);
  void add_manifold(bool of_a, const BoxFace& face, const ClosestPairs* taken);
  void add_support();

  Vec3 as_world(const Vec3& p) const { return a_.center + a_.frame * p; }

  const PlacedShape &a_, &b_;
  ContactSink& sink_;
  Mat3 r_;  ///< B's axes
  Vec3 t_;  ///< B's centre
  Mat3 abs_r_;
  double scale_;

  double face_separation_ = -1e300;
  bool face_of_a_ = true;
  BoxFace face_;
  double edge_separation_ = -1e300;
  double least_ = -kInfinity;  ///< of two edges: points of a face beside them, along another normal, are not deeper
  int edge_i_ = 0, edge_j_ = 0;
  FaceManifold manifold_;
};

/// s(l) for any unit axis in A's frame: a lower bound of the signed distance, exact to rounding.
double BoxPair::calc_separation(const Vec3& l) const {
  return std::abs(l.dot(t_)) - l.cwiseAbs().dot(a_.half_size) - (r_.transpose() * l).cwiseAbs().dot(b_.half_size);
}

bool BoxPair::separate_by_faces() {
  const Vec3 of_a = t_.cwiseAbs() - a_.half_size - abs_r_ * b_.half_size;
  int i = 0, j = 0;
  const double best_a = of_a.maxCoeff(&i);
  if (best_a > sink_.reach()) return true;
  const Vec3 t_b = r_.transpose() * t_;
  const Vec3 of_b = t_b.cwiseAbs() - b_.half_size - abs_r_.transpose() * a_.half_size;
  const double best_b = of_b.maxCoeff(&j);
  if (best_b > sink_.reach()) return true;
  face_of_a_ = best_a >= best_b - kSameGap * scale_;
  face_ = face_of_a_ ? BoxFace{i, t_[i] < 0 ? -1.0 : 1.0} : BoxFace{j, t_b[j] < 0 ? 1.0 : -1.0};
  face_separation_ = std::max(best_a, best_b);
  return false;
}

/// l = e_i x R_j, of length sqrt(R_i1,j^2 + R_i2,j^2). Where it is short the radii's zero terms are not zero any more.
bool BoxPair::separate_by_edges() {
  for (int i = 0; i < 3; ++i) {
    const int i1 = kNext[i], i2 = kAfter[i];
    for (int j = 0; j < 3; ++j) {
      const double length_sq = r_(i1, j) * r_(i1, j) + r_(i2, j) * r_(i2, j);
      if (length_sq < kParallelSq) continue;
      const double shift = std::abs(t_[i2] * r_(i1, j) - t_[i1] * r_(i2, j));
      const double radius_a = a_.half_size[i1] * abs_r_(i2, j) + a_.half_size[i2] * abs_r_(i1, j);
      const double radius_b =
          b_.half_size[kNext[j]] * abs_r_(i, kAfter[j]) + b_.half_size[kAfter[j]] * abs_r_(i, kNext[j]);
      const double raw = shift - radius_a - radius_b;
      if (raw < 0 && face_separation_ > 0) continue;  // already apart: cannot be the best axis
      double s = raw / std::sqrt(length_sq);
      if (length_sq < 1e-8) s = calc_separation(Vec3::Unit(i).cross(r_.col(j)).normalized());
      if (s > sink_.reach()) return true;
      if (s > edge_separation_) {
        edge_separation_ = s;
        edge_i_ = i;
        edge_j_ = j;
      }
    }
  }
  return false;
}

/// The two edges that support the boxes along e_i x R_j, and where they come closest.
BoxPair::EdgePair BoxPair::make_edge_pair(int i, int j) const {
  EdgePair pair;
  const Vec3 l = Vec3::Unit(i).cross(r_.col(j));
  const double length_sq = l.squaredNorm();
  pair.normal = (l.dot(t_) < 0 ? -1.0 : 1.0) / std::sqrt(length_sq) * l;
  const int corner_a = support_corner(pair.normal);
  const int corner_b = support_corner(-(r_.transpose() * pair.normal));
  pair.feature = edges_feature(edge_at(i, corner_a), edge_at(j, corner_b));
  pair.on_a = corner_of(a_.half_size, corner_a);
  pair.on_a[i] = 0;
  Vec3 in_b = corner_of(b_.half_size, corner_b);
  in_b[j] = 0;
  pair.on_b = t_ + r_ * in_b;
  // |w + y R_j - x e_i| is least at x - c y = w.e_i, c x - y = w.R_j, with c = e_i.R_j and 1 - c^2 = |l|^2.
  const Vec3 w = pair.on_b - pair.on_a;
  const double c = r_(i, j), p = w[i], q = w.dot(r_.col(j));
  const double x = (p - c * q) / length_sq, y = (c * p - q) / length_sq;
  pair.inside = std::abs(x) <= a_.half_size[i] && std::abs(y) <= b_.half_size[j];
  // Where that is beyond an end: first the end, then the point closest to it, and back. So too where the edges are all
  // but parallel: x and y are then noise, but each has its closest point.
  const bool crossing = pair.inside && length_sq > 1e-8;
  const double on_a = std::clamp(x, -a_.half_size[i], a_.half_size[i]);
  const double on_b = std::clamp(c * on_a - q, -b_.half_size[j], b_.half_size[j]);
  pair.on_a[i] = crossing ? x : std::clamp(p + c * on_b, -a_.half_size[i], a_.half_size[i]);
  pair.on_b += (crossing ? y : on_b) * r_.col(j);
  return pair;
}

/// Boxes that are apart are closest at a corner of one of them, or at two edges whose common normal separates them.
void BoxPair::find_closest(ClosestPairs* pairs) const {
  for (int v = 0; v < 8; ++v) {
    const Vec3 p = t_ + r_ * corner_of(b_.half_size, v);
    pairs->add(p.cwiseMax(-a_.half_size).cwiseMin(a_.half_size), p, corner_feature(false, v));
  }
  for (int v = 0; v < 8; ++v) {
    const Vec3 p = corner_of(a_.half_size, v);
    const Vec3 in_b = r_.transpose() * (p - t_);
    pairs->add(p, t_ + r_ * in_b.cwiseMax(-b_.half_size).cwiseMin(b_.half_size), corner_feature(true, v));
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (Vec3::Unit(i).cross(r_.col(j)).squaredNorm() < kParallelSq) continue;
      const EdgePair pair = make_edge_pair(i, j);
      if (pair.inside && pair.normal.dot(pair.on_b - pair.on_a) > 0) pairs->add(pair.on_a, pair.on_b, pair.feature);
    }
  }
  pairs->select();
}

void BoxPair::update_manifold(bool of_a, const BoxFace& face) {
  const double same_point = kSamePoint * scale_;
  if (of_a) {
    update_face_manifold(face, a_.half_size, {r_, t_, b_.half_size}, true, same_point, &manifold_);
  } else {
    update_face_manifold(face, b_.half_size, {r_.transpose(), -(r_.transpose() * t_), a_.half_size}, false, same_point,
                         &manifold_);
  }
}

/// All points of the manifold but those that `taken` has already.
void BoxPair::add_manifold(bool of_a, const BoxFace& face, const ClosestPairs* taken) {
  const PlacedShape& own = of_a ? a_ : b_;
  const Vec3 up = face.side * own.frame.col(face.axis);
  const Vec3 normal = of_a ? up : Vec3(-up);
  for (const FacePoint& p : manifold_) {
    if (p.height > sink_.reach()) continue;
    const Vec3 on_face = own.center + own.half_size[face.axis] * up + p.u * own.frame.col(kNext[face.axis]) +
                         p.v * own.frame.col(kAfter[face.axis]);
    if (taken) {
      const Vec3 local = a_.frame.transpose() * (on_face - a_.center);
      const bool known =
          taken->contains(p.feature) || (of_a ? taken->is_near_first(local) : taken->is_near_second(local));
      if (known) continue;
    }
    sink_.add_from(of_a, on_face, normal, std::max(p.height, least_), p.feature);
  }
}

/// Two edges: the gap is measured along their common normal, through touching and beyond.
void BoxPair::add_edge_pair(const EdgePair& edges) {
  const double gap = edges.normal.dot(edges.on_b - edges.on_a);
  const Vec3 middle = 0.5 * (edges.on_a + edges.on_b);  // clamping may have moved the points off the normal
  sink_.add_from(true, as_world(middle - 0.5 * gap * edges.normal), a_.frame * edges.normal, gap, edges.feature);
  least_ = gap + 1e-12 * scale_;  // the edges stay the deepest
  ClosestPairs taken(scale_);
  taken.add(edges.on_a, edges.on_b, edges.feature);
  taken.select();
  add_near_face(edges.normal, taken);
}

/// Corner to corner or corner to edge: the direction is that of the closest points.
void BoxPair::add_close_pairs(const ClosestPairs& pairs) {
  for (int k = 0; k < pairs.size(); ++k) {
    const ClosePair& pair = pairs[k];
    const Vec3 n = (pair.second - pair.first) / pair.distance;
    sink_.add(as_world(pair.first), as_world(pair.second), a_.frame * n, pair.distance, pair.feature);
  }
  add_near_face((pairs[0].second - pairs[0].first) / pairs[0].distance, pairs);
}

/// The manifold of a face that looks nearly the same way as the closest points.
void BoxPair::add_near_face(const Vec3& normal, const ClosestPairs& taken) {
  const Vec3 in_b = r_.transpose() * normal;
  int i = 0, j = 0;
  const double along_a = normal.cwiseAbs().maxCoeff(&i);
  const double along_b = in_b.cwiseAbs().maxCoeff(&j);
  if (std::max(along_a, along_b) < kNearFace) return;
  const bool of_a = along_a >= along_b - kSameGap;
  const BoxFace face = of_a ? BoxFace{i, normal[i] < 0 ? -1.0 : 1.0} : BoxFace{j, in_b[j] < 0 ? 1.0 : -1.0};
  update_manifold(of_a, face);
  add_manifold(of_a, face, &taken);
}

/// The boxes overlap and rounding has kept the deepest corner out of the manifold: put it back.
void BoxPair::add_support() {
  const PlacedShape& own = face_of_a_ ? a_ : b_;
  const PlacedShape& other = face_of_a_ ? b_ : a_;
  const Vec3 up = face_.side * own.frame.col(face_.axis);
  const int v = support_corner(-(other.frame.transpose() * up));
  const Vec3 p = other.center + other.frame * corner_of(other.half_size, v);
  // Of corners that are equally deep to rounding the deepest may be one that is not over the face.
  const Vec3 beside = (own.frame.transpose() * (p - own.center)).cwiseAbs() - own.half_size;
  const bool over =
      beside[kNext[face_.axis]] <= kSamePoint * scale_ && beside[kAfter[face_.axis]] <= kSamePoint * scale_;
  if (!over && manifold_.least_height() <= face_separation_ + kTouchingParallel * scale_) {
    return add_manifold(face_of_a_, face_, nullptr);
  }
  const double gap = up.dot(p - own.center) - own.half_size[face_.axis];
  sink_.add_from(!face_of_a_, p, face_of_a_ ? up : Vec3(-up), gap, corner_feature(!face_of_a_, v));
  ClosestPairs taken(scale_);
  const Vec3 local = a_.frame.transpose() * (p - a_.center);
  taken.add(local, local, corner_feature(!face_of_a_, v));
  taken.select();
  add_manifold(face_of_a_, face_, &taken);
}

void BoxPair::find() {
  if (separate_by_faces() || separate_by_edges()) return;
  const double separation = std::max(face_separation_, edge_separation_);
  const double slack = kSameGap * scale_;
  const bool on_face = edge_separation_ <= face_separation_ + slack;
  if (on_face) {
    update_manifold(face_of_a_, face_);
    if (manifold_.least_height() <= separation + slack) return add_manifold(face_of_a_, face_, nullptr);
    if (separation <= 0) return add_support();
  }
  EdgePair edges;
  if (!on_face) {
    edges = make_edge_pair(edge_i_, edge_j_);
    if (edges.inside || separation <= 0) return add_edge_pair(edges);
  }
  ClosestPairs pairs(scale_);
  find_closest(&pairs);
  if (pairs[0].distance > sink_.reach()) return;
  const double distance = pairs[0].distance;
  const Vec3 direction = (pairs[0].second - pairs[0].first) / distance;
  const bool certain = distance > kTouchingParallel * scale_ ||
                       (distance > kTouching * scale_ && calc_separation(direction) > (1 - 1e-3) * distance);
  if (certain) return add_close_pairs(pairs);
  // They touch at a corner: where is certain, the direction is that of the best axis.
  const Vec3 face_normal =
      (face_of_a_ ? face_.side : -face_.side) * (face_of_a_ ? Vec3(Vec3::Unit(face_.axis)) : Vec3(r_.col(face_.axis)));
  const Vec3 normal = on_face ? face_normal : edges.normal;
  sink_.add_from(true, as_world(pairs[0].first), a_.frame * normal, separation, pairs[0].feature);
  add_near_face(normal, pairs);
}

}  // namespace

void find_box_box(const PlacedShape& a, const PlacedShape& b, ContactSink* sink) { BoxPair(a, b, sink).find(); }

}  // namespace slipstick
