// The manifold of one face of a box against another box: the part of the other box's facing side that lies over it.
#pragma once

#include "collision/box_features.h"

namespace slipstick {

// Features of a pair of boxes: corners of A, corners of B, an edge of each.
inline std::uint32_t corner_feature(bool of_a, int v) { return (of_a ? 0 : 8) + v; }
inline std::uint32_t edges_feature(int edge_a, int edge_b) { return 16 + 12 * edge_a + edge_b; }

/// The incident box as its partner sees it.
struct IncidentBox {
  Mat3 axes;    ///< columns, in the reference box's frame
  Vec3 center;  ///< in the reference box's frame
  Vec3 half_size;
};

/// Vertices of the polygon that the incident box's most opposed face and `face` have in common, seen along the face's
/// normal, each with its height over the face. All of them, however high. Points nearer to each other than
/// `same_point` share a name, and a corner of A names a point before a corner of B, and that before a crossing of
/// edges: the names do not depend on which of the boxes is the reference.
void update_face_manifold(const BoxFace& face, const Vec3& half_size, const IncidentBox& incident, bool reference_is_a,
                          double same_point, FaceManifold* manifold);

}  // namespace slipstick
