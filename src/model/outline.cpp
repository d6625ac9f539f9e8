#include "model/outline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

namespace slipstick {
namespace {

/// Of the part's size: a corner that is off a straight line by less is in the middle of a side.
constexpr double kStraight = 1e-12;

double cross(const Vec2& a, const Vec2& b) { return a.x() * b.y() - a.y() * b.x(); }
/// Twice the area of the triangle, positive if it goes round counter-clockwise.
double turn(const Vec2& a, const Vec2& b, const Vec2& c) { return cross(b - a, c - a); }

double calc_area(const std::vector<Vec2>& ring) {
  double sum = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) sum += cross(ring[i] - ring[0], ring[(i + 1) % ring.size()] - ring[0]);
  return sum / 2;
}

double calc_size(const std::vector<Vec2>& ring) {
  double size = 0;
  for (const Vec2& p : ring) size = std::max(size, (p - ring[0]).cwiseAbs().maxCoeff());
  return size;
}

/// Whether two sides have a point in common.
bool meet(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d) {
  const double abc = turn(a, b, c), abd = turn(a, b, d), cda = turn(c, d, a), cdb = turn(c, d, b);
  if (((abc > 0) != (abd > 0)) && ((cda > 0) != (cdb > 0)) && abc != 0 && abd != 0 && cda != 0 && cdb != 0) return true;
  const auto within = [](const Vec2& from, const Vec2& to, const Vec2& p) {
    return std::min(from.x(), to.x()) <= p.x() && p.x() <= std::max(from.x(), to.x()) &&
           std::min(from.y(), to.y()) <= p.y() && p.y() <= std::max(from.y(), to.y());
  };
  return (abc == 0 && within(a, b, c)) || (abd == 0 && within(a, b, d)) || (cda == 0 && within(c, d, a)) ||
         (cdb == 0 && within(c, d, b));
}

std::vector<Vec2> drop_idle_points(const std::vector<Vec2>& ring, double size) {
  std::vector<Vec2> kept;
  for (const Vec2& p : ring)
    if (kept.empty() || (p - kept.back()).norm() > kStraight * size) kept.push_back(p);
  while (kept.size() > 1 && (kept.front() - kept.back()).norm() <= kStraight * size) kept.pop_back();
  for (std::size_t i = 0; i < kept.size() && kept.size() > 3;) {
    const Vec2 &a = kept[(i + kept.size() - 1) % kept.size()], &b = kept[i], &c = kept[(i + 1) % kept.size()];
    const bool straight = std::abs(turn(a, b, c)) <= kStraight * size * (c - a).norm() && (b - a).dot(c - b) > 0;
    if (straight) {
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return kept;
}

struct Side {
  Vec2 from, to;
  int ring, point, count;
};

std::optional<OutlineFault> find_crossing(const Outline& outline) {
  std::vector<Side> sides;
  for (std::size_t r = 0; r < outline.rings.size(); ++r) {
    const auto& ring = outline.rings[r];
    for (std::size_t i = 0; i < ring.size(); ++i)
      sides.push_back({ring[i], ring[(i + 1) % ring.size()], static_cast<int>(r), static_cast<int>(i),
                       static_cast<int>(ring.size())});
  }
  // Sorted by their left ends, so that most pairs are never looked at.
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::min(a.from.x(), a.to.x()) < std::min(b.from.x(), b.to.x());
  });
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const Side& a = sides[i];
    const double right = std::max(a.from.x(), a.to.x());
    for (std::size_t j = i + 1; j < sides.size() && std::min(sides[j].from.x(), sides[j].to.x()) <= right; ++j) {
      const Side& b = sides[j];
      const int apart = std::abs(a.point - b.point);
      const bool follow = a.ring == b.ring && (apart == 1 || apart == a.count - 1);
      if (follow) {  // they share a corner; folded back they share more
        const Vec2 d = a.to - a.from, e = b.to - b.from;
        if (std::abs(cross(d, e)) > 0 || d.dot(e) > 0) continue;
      } else if (!meet(a.from, a.to, b.from, b.to)) {
        continue;
      }
      const Side& later = std::make_pair(a.ring, a.point) < std::make_pair(b.ring, b.point) ? b : a;
      return OutlineFault{"sides of the outline cross or touch each other here", later.ring, later.point};
    }
  }
  return std::nullopt;
}

// ---------------------------------------------------------------- triangles

/// Points of all rings in one list, and the walk around the matter as one ring: holes are joined to it by bridges that
/// are walked in both directions.
class EarClipper {
 public:
  explicit EarClipper(const Outline& outline) {
    std::vector<std::vector<int>> holes;
    for (std::size_t r = 0; r < outline.rings.size(); ++r) {
      std::vector<int> ring;
      for (const Vec2& p : outline.rings[r]) {
        ring.push_back(static_cast<int>(points_.size()));
        points_.push_back(p);
      }
      if (r == 0) {
        walk_ = std::move(ring);
      } else {
        holes.push_back(std::move(ring));
      }
    }
    const auto right_end = [&](const std::vector<int>& ring) {
      return *std::max_element(ring.begin(), ring.end(), [&](int a, int b) { return points_[a].x() < points_[b].x(); });
    };
    std::sort(holes.begin(), holes.end(),
              [&](const auto& a, const auto& b) { return points_[right_end(a)].x() > points_[right_end(b)].x(); });
    for (const auto& hole : holes) join(hole, right_end(hole));
  }

  std::vector<std::array<int, 3>> clip() {
    std::vector<std::array<int, 3>> triangles;
    std::size_t at = 0, misses = 0;
    while (walk_.size() > 3) {
      const std::size_t n = walk_.size();
      at %= n;
      if (is_ear(at) || misses > 2 * n) {  // rounding may leave no clean ear: then any corner that is not hollow
        triangles.push_back({walk_[(at + n - 1) % n], walk_[at], walk_[(at + 1) % n]});
        walk_.erase(walk_.begin() + static_cast<std::ptrdiff_t>(at));
        misses = 0;
        ++at;  // the next but one: triangles are less thin than in a fan
      } else {
        ++at;
        ++misses;
      }
    }
    triangles.push_back({walk_[0], walk_[1], walk_[2]});
    return triangles;
  }

 private:
  const Vec2& at(std::size_t i) const { return points_[walk_[i % walk_.size()]]; }

  bool is_ear(std::size_t i) const {
    const std::size_t n = walk_.size();
    const Vec2 &a = at(i + n - 1), &b = at(i), &c = at(i + 1);
    if (!(turn(a, b, c) > 0)) return false;
    for (std::size_t k = 0; k < n; ++k) {
      const Vec2& p = at(k);
      if (p == a || p == b || p == c) continue;
      if (turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0) return false;
    }
    // A bridge's corner stands twice in the walk: the diagonal must leave into the matter at both of its ends.
    return is_in_corner(i + n - 1, c) && is_in_corner(i + 1, a);
  }

  /// Whether p lies on the matter's side of the walk's corner i.
  bool is_in_corner(std::size_t i, const Vec2& p) const {
    const Vec2 &before = at(i + walk_.size() - 1), &here = at(i), &after = at(i + 1);
    if (turn(before, here, after) >= 0) return turn(before, here, p) >= 0 && turn(here, after, p) >= 0;
    return !(turn(before, here, p) < 0 && turn(here, after, p) < 0);
  }

  /// A hole, begun at its corner of greatest x, is put into the walk at a corner that sees it.
  void join(const std::vector<int>& hole, int start) {
    const Vec2& from = points_[start];
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < walk_.size(); ++i) {
      const double distance = (at(i) - from).squaredNorm();
      if (distance >= least || !is_in_corner(i, from) || is_crossed(from, at(i), hole)) continue;
      least = distance;
      best = i;
    }
    std::vector<int> around;
    const auto first = std::find(hole.begin(), hole.end(), start);
    around.insert(around.end(), first, hole.end());
    around.insert(around.end(), hole.begin(), first);
    around.push_back(start);
    around.push_back(walk_[best]);
    walk_.insert(walk_.begin() + static_cast<std::ptrdiff_t>(best) + 1, around.begin(), around.end());
  }

  bool is_crossed(const Vec2& from, const Vec2& to, const std::vector<int>& hole) const {
    const auto crosses = [&](const Vec2& a, const Vec2& b) {
      if (a == from || b == from || a == to || b == to) return false;
      return meet(from, to, a, b);
    };
    for (std::size_t i = 0; i < walk_.size(); ++i)
      if (crosses(at(i), at(i + 1))) return true;
    for (std::size_t i = 0; i < hole.size(); ++i)
      if (crosses(points_[hole[i]], points_[hole[(i + 1) % hole.size()]])) return true;
    return false;
  }

  std::vector<Vec2> points_;
  std::vector<int> walk_;
};

/// Turns diagonals until no corner is inside the circle through another triangle's corners (Delaunay): clipped ears are
/// splinters that reach across the whole part, and every shape whose bounds they cut would have to be looked at.
class DiagonalTurner {
 public:
  DiagonalTurner(const std::vector<Vec2>& points, std::vector<std::array<int, 3>> triangles)
      : points_(points), triangles_(std::move(triangles)) {
    for (std::size_t t = 0; t < triangles_.size(); ++t) own(t);
  }

  std::vector<std::array<int, 3>> turn_all() {
    std::vector<Edge> open;
    for (const auto& [edge, triangle] : owner_)
      if (edge.first < edge.second) open.push_back(edge);
    // Each turn makes the smallest angles larger; the limit is for rounding.
    for (std::size_t left = 100 * triangles_.size(); !open.empty() && left > 0;) {
      const Edge edge = open.back();
      open.pop_back();
      if (!turn_diagonal(edge, &open)) continue;
      --left;
    }
    return std::move(triangles_);
  }

 private:
  using Edge = std::pair<int, int>;
  static constexpr double kBetter = 1e-9;  ///< relative: what is only rounding is no reason to turn

  void own(std::size_t t) {
    for (int k = 0; k < 3; ++k) owner_[{triangles_[t][k], triangles_[t][(k + 1) % 3]}] = t;
  }

  int opposite(std::size_t t, const Edge& edge) const {
    for (const int corner : triangles_[t])
      if (corner != edge.first && corner != edge.second) return corner;
    return edge.first;
  }

  bool turn_diagonal(const Edge& edge, std::vector<Edge>* open) {
    const auto [a, b] = edge;
    const auto left = owner_.find({a, b}), right = owner_.find({b, a});
    if (left == owner_.end() || right == owner_.end()) return false;
    const std::size_t t = left->second, u = right->second;
    const int c = opposite(t, edge), d = opposite(u, edge);
    const Vec2 &pa = points_[a], &pb = points_[b], &pc = points_[c], &pd = points_[d];
    const double size = std::max({(pa - pd).squaredNorm(), (pb - pd).squaredNorm(), (pc - pd).squaredNorm()});
    if (turn(pa, pd, pc) <= kBetter * size || turn(pd, pb, pc) <= kBetter * size) return false;
    if (calc_inside(pa - pd, pb - pd, pc - pd) <= kBetter * size * size) return false;
    owner_.erase(left);
    owner_.erase(right);
    triangles_[t] = {a, d, c};
    triangles_[u] = {d, b, c};
    own(t);
    own(u);
    for (const Edge& side : {Edge{a, d}, Edge{d, b}, Edge{b, c}, Edge{c, a}}) open->push_back(side);
    return true;
  }

  /// Positive where the origin is inside the circle through three points (counter-clockwise).
  static double calc_inside(const Vec2& a, const Vec2& b, const Vec2& c) {
    return a.squaredNorm() * cross(b, c) + b.squaredNorm() * cross(c, a) + c.squaredNorm() * cross(a, b);
  }

  const std::vector<Vec2>& points_;
  std::vector<std::array<int, 3>> triangles_;
  std::map<Edge, std::size_t> owner_;
};

// ---------------------------------------------------------------- convex pieces

class PieceMerger {
 public:
  PieceMerger(const std::vector<Vec2>& points, const std::vector<std::array<int, 3>>& triangles) : points_(points) {
    for (const auto& triangle : triangles) pieces_.push_back({triangle.begin(), triangle.end()});
  }

  /// Takes away each diagonal that leaves a convex piece.
  std::vector<std::vector<int>> merge() {
    for (bool again = true; again;) {
      again = false;
      std::map<std::pair<int, int>, std::size_t> owner;
      for (std::size_t p = 0; p < pieces_.size(); ++p)
        for (std::size_t i = 0; i < pieces_[p].size(); ++i) owner[{at(p, i), at(p, i + 1)}] = p;
      std::vector<char> touched(pieces_.size(), 0);
      for (const auto& [edge, p] : owner) {
        if (edge.first > edge.second) continue;
        const auto other = owner.find({edge.second, edge.first});
        if (other == owner.end() || touched[p] || touched[other->second] || p == other->second) continue;
        std::vector<int> joined = join(pieces_[p], pieces_[other->second], edge.first, edge.second);
        if (!is_convex(joined)) continue;
        touched[p] = touched[other->second] = 1;
        pieces_[p] = std::move(joined);
        pieces_[other->second].clear();
        again = true;
      }
      std::erase_if(pieces_, [](const std::vector<int>& piece) { return piece.empty(); });
    }
    return std::move(pieces_);
  }

 private:
  int at(std::size_t piece, std::size_t i) const { return pieces_[piece][i % pieces_[piece].size()]; }

  /// `a` has the edge from -> to, `b` the same one the other way.
  static std::vector<int> join(const std::vector<int>& a, const std::vector<int>& b, int from, int to) {
    std::vector<int> joined;
    const auto add = [&](const std::vector<int>& ring, int first, int last) {
      auto i = static_cast<std::size_t>(std::find(ring.begin(), ring.end(), first) - ring.begin());
      for (; ring[i] != last; i = (i + 1) % ring.size()) joined.push_back(ring[i]);
    };
    add(a, to, from);
    add(b, from, to);
    return joined;
  }

  bool is_convex(const std::vector<int>& ring) const {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const Vec2 &a = points_[ring[i]], &b = points_[ring[(i + 1) % ring.size()]],
                 &c = points_[ring[(i + 2) % ring.size()]];
      if (turn(a, b, c) < 0) return false;
    }
    return true;
  }

  const std::vector<Vec2>& points_;
  std::vector<std::vector<int>> pieces_;
};

Vec2 calc_normal(const Vec2& from, const Vec2& to) {
  const Vec2 d = to - from;
  return Vec2(d.y(), -d.x()).normalized();
}

}  // namespace

bool is_inside(const std::vector<Vec2>& ring, const Vec2& p) {
  bool inside = false;
  for (std::size_t i = 0, j = ring.size() - 1; i < ring.size(); j = i++)
    if ((ring[i].y() > p.y()) != (ring[j].y() > p.y()) &&
        p.x() < (ring[j].x() - ring[i].x()) * (p.y() - ring[i].y()) / (ring[j].y() - ring[i].y()) + ring[i].x())
      inside = !inside;
  return inside;
}

std::optional<OutlineFault> normalize(Outline* outline) {
  for (std::size_t r = 0; r < outline->rings.size(); ++r) {
    std::vector<Vec2>& ring = outline->rings[r];
    const double size = ring.empty() ? 0 : calc_size(ring);
    ring = drop_idle_points(ring, size);
    if (ring.size() < 3 || !(std::abs(calc_area(ring)) > kStraight * size * size))
      return OutlineFault{"its points enclose no area; check their order and that they are not on one line",
                          static_cast<int>(r), 0};
    if ((calc_area(ring) > 0) != (r == 0)) std::reverse(ring.begin(), ring.end());
  }
  if (auto crossing = find_crossing(*outline)) return crossing;
  for (std::size_t r = 1; r < outline->rings.size(); ++r) {
    if (!is_inside(outline->rings[0], outline->rings[r][0]))
      return OutlineFault{"the hole is not inside the outline", static_cast<int>(r), 0};
    for (std::size_t s = 1; s < outline->rings.size(); ++s)
      if (s != r && is_inside(outline->rings[s], outline->rings[r][0]))
        return OutlineFault{"the hole is inside another hole", static_cast<int>(r), 0};
  }
  return std::nullopt;
}

int count_arc_steps(double radius, double angle, double tolerance) {
  // A chord over the angle s is r (1 - cos(s/2)) away from its arc.
  const double most = tolerance < radius ? 2 * std::acos(1 - tolerance / radius) : std::numbers::pi / 2;
  const double steps = std::ceil(std::abs(angle) / std::min(most, std::numbers::pi / 2) - 1e-9);
  return static_cast<int>(std::clamp(steps, 1.0, 10000.0));
}

std::vector<Vec2> round_corners(const std::vector<Vec2>& ring, double radius, double tolerance) {
  std::vector<Vec2> rounded;
  const std::size_t n = ring.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2 &before = ring[(i + n - 1) % n], &here = ring[i], &after = ring[(i + 1) % n];
    const Vec2 in = (here - before).normalized(), out = (after - here).normalized();
    const double bend = std::atan2(cross(in, out), in.dot(out));
    const double half = std::tan(std::abs(bend) / 2);
    // The arc takes radius tan(bend/2) of both sides, and at most half of each.
    const double taken = std::min({radius * half, (here - before).norm() / 2, (after - here).norm() / 2});
    if (!(taken > 0) || std::abs(bend) < 1e-9) {
      rounded.push_back(here);
      continue;
    }
    const double r = taken / half, side = bend > 0 ? 1 : -1;
    const Vec2 start = here - taken * in, center = start + side * r * Vec2(-in.y(), in.x());
    const int steps = count_arc_steps(r, bend, tolerance);
    for (int k = 0; k <= steps; ++k)
      rounded.push_back(center + Eigen::Rotation2Dd(bend * k / steps) * (start - center));
  }
  return rounded;
}

std::vector<std::array<int, 3>> triangulate(const Outline& outline) {
  std::vector<Vec2> points;
  for (const auto& ring : outline.rings) points.insert(points.end(), ring.begin(), ring.end());
  return DiagonalTurner(points, EarClipper(outline).clip()).turn_all();
}

std::vector<OutlinePiece> cut_outline(const Outline& outline) {
  std::vector<Vec2> points;
  std::vector<int> next;
  std::vector<OutlineCorner> corner;
  for (const auto& ring : outline.rings) {
    const auto first = static_cast<int>(points.size());
    const std::size_t n = ring.size();
    for (std::size_t i = 0; i < n; ++i) {
      const Vec2 &before = ring[(i + n - 1) % n], &here = ring[i], &after = ring[(i + 1) % n];
      points.push_back(here);
      next.push_back(first + static_cast<int>((i + 1) % n));
      corner.push_back({false, turn(before, here, after) < 0, calc_normal(before, here), calc_normal(here, after)});
    }
  }
  std::vector<OutlinePiece> pieces;
  for (const std::vector<int>& ring : PieceMerger(points, triangulate(outline)).merge()) {
    OutlinePiece& piece = pieces.emplace_back();
    for (std::size_t i = 0; i < ring.size(); ++i) {
      piece.points.push_back(points[ring[i]]);
      piece.corners.push_back(corner[ring[i]]);
      piece.corners.back().inner = next[ring[i]] != ring[(i + 1) % ring.size()];
    }
  }
  return pieces;
}

}  // namespace slipstick
