// The largest ball between walls: maximize r subject to n_i . q + s_i r <= b_i, a linear program in four unknowns, by
// the dual simplex method. Walls may be added after a solve; the next one goes on from there.
#pragma once

#include <slipstick/types.h>

#include <array>
#include <vector>

namespace slipstick {

using Vec4 = Eigen::Matrix<double, 4, 1>;

/// Who a wall belongs to.
enum class WallOwner : std::uint8_t { A, B, Frame };

struct Wall {
  Vec3 normal = Vec3::UnitZ();
  double offset = 0;
  double share = 1;  ///< of the radius: 1 keeps the ball behind the wall, 0 only its centre
  WallOwner owner = WallOwner::Frame;
};

class BallProgram {
 public:
  /// Forgets all walls. Centres farther than `extent` from the origin and balls larger than that are of no interest.
  /// A wall is violated beyond `tolerance` times that.
  void start(double extent, double tolerance = 1e-14);
  void add(const Wall& wall);

  /// Stops as soon as the largest radius is known to be at most `floor`. False: the method gave up (counted by whoever
  /// asks); `bound` is right all the same.
  bool solve(double floor);

  double radius() const { return radius_; }  ///< the answer, after a solve that ended above `floor`
  double bound() const { return bound_; }    ///< no ball between the walls is larger, rounding or not
  const Vec3& center() const { return center_; }
  /// Sum of the normals of the owner's walls that hold the ball, by their multipliers: where the owner pushes from.
  Vec3 calc_push(WallOwner owner) const;
  /// The least distance of a point to the walls that bound the ball.
  double calc_room(const Vec3& q) const;
  long work() const { return work_; }  ///< since the program was made: walls looked at, and pivots at their price
  int wall_count() const { return static_cast<int>(rows_.size()); }

 private:
  struct Row {
    Vec4 a;
    double b, tolerance;
    WallOwner owner;
  };
  void update_vertex();
  void update_bound();
  int find_entering(double widened) const;
  int find_leaving(const Vec4& alpha) const;

  std::vector<Row> rows_;
  std::array<int, 4> basis_{};
  Eigen::Matrix4d inverse_ = Eigen::Matrix4d::Identity();  ///< of the rows of the basis
  Vec4 multiplier_ = Vec4::Zero();
  Vec3 center_ = Vec3::Zero();
  double radius_ = 0, bound_ = kInfinity, extent_ = 1, tolerance_ = 1e-14;
  long work_ = 0;
};

}  // namespace slipstick
