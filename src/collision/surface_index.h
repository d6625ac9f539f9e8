// What the narrow phase knows about a surface beyond its triangles: a tree, normals, edges with what they are, and flat
// regions. Everything in the surface's own frame. A contact with a surface belongs to a facet, an edge or a vertex that
// may carry it; edges inside flat regions and in valleys carry none, so that they cannot be felt ("ghost edges").
#pragma once

#include <slipstick/surface.h>

#include <array>
#include <cstdint>
#include <vector>

#include "collision/box_tree.h"

namespace slipstick {

enum class EdgeForm : std::uint8_t { Flat, Ridge, Valley, Rim };  ///< Rim: one triangle, or more than two

struct SurfaceEdge {
  std::int32_t a = 0, b = 0;                     ///< vertices
  std::array<std::int32_t, 2> triangle{-1, -1};  ///< the first one owns the edge
  EdgeForm form = EdgeForm::Rim;
  std::array<Vec3, 2> inward{Vec3::Zero(), Vec3::Zero()};  ///< unit, in each triangle, away from the edge
  Vec3 outward = Vec3::Zero();                             ///< unit: the mean of the normals
  /// The least edge of the straight line between the same two facets that this edge is part of: they are one feature.
  std::int32_t chain = 0;
  std::array<bool, 2> joint{false, false};  ///< the line goes on at a, at b, or meets a valley there
};

class SurfaceIndex {
 public:
  explicit SurfaceIndex(std::shared_ptr<const Surface> surface);

  const Surface& surface() const { return *surface_; }
  const BoxTree& tree() const { return tree_; }
  const Vec3& vertex(int v) const { return surface_->vertices[v]; }
  const Triangle& triangle(int t) const { return surface_->triangles[t]; }
  const Vec3& normal(int t) const { return normals_[t]; }
  /// The least triangle of the flat region that t is in.
  int facet(int t) const { return facets_[t]; }
  const SurfaceEdge& edge(int e) const { return edges_[e]; }
  int edge_count() const { return static_cast<int>(edges_.size()); }
  /// The edge from corner k to corner k + 1 of triangle t.
  int edge_of(int t, int k) const { return edges_of_[t][k]; }
  /// Edges of a vertex.
  std::span<const std::int32_t> ring(int v) const {
    return {ring_.data() + ring_start_[v], ring_.data() + ring_start_[v + 1]};
  }
  /// The least triangle at a vertex.
  int owner(int v) const { return owner_[v]; }
  /// The vertex is inside a facet or a straight line between two: it cannot touch anything that those do not touch.
  bool is_flat(int v) const { return flat_[v] != 0; }
  /// Mean normal at a vertex, weighted by angle: its side of a point whose nearest point is the vertex is the right one
  /// [Baerentzen05].
  const Vec3& outward(int v) const { return outward_[v]; }
  double size() const { return size_; }  ///< largest extent

  /// True if a direction from vertex v to the outside is one that the vertex can be pushed along: no neighbour lies
  /// further that way. `slack` is the sine of an angle.
  bool holds(int v, const Vec3& direction, double slack) const;
  /// From vertex v to its neighbours.
  void update_rays(int v, std::vector<Vec3>* rays) const;

 private:
  void make_edges();
  void make_facets();
  void make_rings();
  void make_chains();
  bool is_straight(int v, const SurfaceEdge& one, const SurfaceEdge& two) const;

  std::shared_ptr<const Surface> surface_;
  BoxTree tree_;
  std::vector<Vec3> normals_;
  std::vector<std::int32_t> facets_;
  std::vector<SurfaceEdge> edges_;
  std::vector<std::array<std::int32_t, 3>> edges_of_;
  std::vector<std::int32_t> ring_start_, ring_;
  std::vector<std::int32_t> owner_;
  std::vector<std::uint8_t> flat_;
  std::vector<Vec3> outward_;
  double size_ = 0;
};

/// The nearest point of a triangle, and the feature it is on.
struct TrianglePoint {
  Vec3 point = Vec3::Zero();
  double distance_sq = kInfinity;
  enum class On : std::uint8_t { Face, Edge, Vertex } on = On::Face;
  int corner = 0;  ///< Edge: from this corner to the next; Vertex: this corner
};
TrianglePoint find_nearest(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c);

}  // namespace slipstick
