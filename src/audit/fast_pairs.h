// Who could have gone through whom? Pairs of shapes that move against each other by more than a part of what is solid
// of them, whatever contacts they have: from bounds over the whole way, of this room alone.
#pragma once

#include <slipstick/state.h>

#include "audit/box_strips.h"
#include "audit/interior_ball.h"
#include "audit/world_audit.h"

namespace slipstick {

/// How a body goes from one pose to another: straight, and turning about one axis.
struct BodyPath {
  Pose from;
  Vec3 move = Vec3::Zero();
  Vec3 turn = Vec3::Zero();  ///< body axes, rad; whole turns count
  /// After the part t of it.
  Pose at(double t) const;
};
/// `about`: the turn as the velocities have it, which says how many whole turns there are.
BodyPath make_path(const Pose& from, const Pose& to, const Vec3& about);

/// The point that stands for a shape, in the frame of its body's centre of mass: that centre itself where it is well
/// inside, for it moves straight however the body turns.
struct Core {
  Vec3 center = Vec3::Zero();
  double radius = 0;  ///< of a ball about it inside the shape
};

/// A core that goes far in the frame of another shape.
struct FastPair {
  int mover = 0, partner = 0;  ///< shapes
  int core = 0;
};

/// A shape whose corners may have gone through the closed surface of another. Between convex shapes the contacts of
/// one that is deep in a thin one still push it back; those of a surface are of single features and do not.
struct SweptPair {
  int mover = 0, partner = 0;  ///< shapes
};

class FastPairs {
 public:
  FastPairs(const Model& model, WorldAudit* audit);  ///< keeps references

  /// Of the way from one state to the other in the time h; `gamma`: the share of the last velocities in the turning;
  /// `part`: of the step that this is, for what goes through in many small parts goes through. What is deep in each
  /// other by `contacts`, which are of `from`, is asked about however slow it is.
  void find(const State& from, const State& to, double h, double gamma, double part, std::span<const Contact> contacts);

  std::span<const FastPair> pairs() const { return pairs_; }
  std::span<const SweptPair> swept() const { return swept_; }
  /// In the frame of the body's centre of mass.
  std::span<const Vec3> corners(int shape) const {
    return std::span<const Vec3>(corners_).subspan(first_corner_[shape],
                                                   first_corner_[shape + 1] - first_corner_[shape]);
  }
  const Core& core(const FastPair& pair) const { return cores_[pair.core]; }
  /// Of the largest ball inside; 0 of planes and heightfields, which are partners only.
  double radius(int shape) const { return radius_[shape]; }
  /// The shape in the frame of its body's centre of mass.
  const Solid& solid(int shape) const { return solids_[shape]; }
  /// Of the last `find`; the world stands still.
  const BodyPath& path(int body);

 private:
  void add_core(int shape);
  void find_fast();
  void update_box(int shape);
  void try_pair(int s, int t);
  void try_cores(int mover, int partner, bool deep);
  void try_corners(int mover, int partner);
  void find_deep(std::span<const Contact> contacts);
  bool goes_far(const Core& core, int mover, int partner);

  const Model& model_;
  WorldAudit& audit_;
  std::vector<Solid> solids_;
  std::vector<Core> cores_;
  std::vector<int> first_core_;  ///< per shape, and the end
  std::vector<Vec3> corners_;
  std::vector<int> first_corner_;  ///< per shape, and the end; empty: there is no closed surface to go through
  std::vector<double> radius_;
  double thinnest_ = kInfinity;  ///< closed surface: the radius of its ball
  std::vector<double> least_;    ///< per body: travel up to which none of its shapes is fast

  const State *from_ = nullptr, *to_ = nullptr;
  double h_ = 0, gamma_ = 1, part_ = 1;
  long calls_ = 0;
  std::vector<BodyPath> paths_;
  std::vector<long> path_call_;  ///< in which the path was made
  BodyPath still_;
  std::vector<int> fast_;
  std::vector<std::uint8_t> is_fast_;
  std::vector<Box3> boxes_;
  BoxStrips strips_;
  std::vector<FastPair> pairs_;
  std::vector<SweptPair> swept_;
};

}  // namespace slipstick
