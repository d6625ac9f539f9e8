// Scenes of a few shapes made without the compiler of models, and random ones.
#pragma once

#include <slipstick/model.h>
#include <slipstick/state.h>
#include <slipstick/surface.h>

#include <array>
#include <memory>
#include <random>
#include <vector>

#include "collision/contact_finder.h"

namespace slipstick::test {

/// A model and where its bodies are. One shape a body unless said otherwise.
struct World {
  Model model;
  State state;
  std::vector<double> reach;

  int add_body(BodyKind kind, const Pose& pose, double body_reach);
  /// Polygon points are given by `points`, a hull by `hull`; the bound is computed.
  int add_shape(int body, Shape shape, const std::vector<Vec2>& points = {}, const Hull& hull = {});
  int add_surface(int body, const std::shared_ptr<const Surface>& surface, bool field);
};

struct Solid {
  Shape shape;
  std::vector<Vec2> points;
  Hull hull;
  std::shared_ptr<const Surface> surface;
};

Solid make_sphere(double radius);
Solid make_box(const Vec3& half_size);
Solid make_capsule(double radius, double half_length);
Solid make_plane();
Solid make_disk(double radius);
Solid make_polygon(const std::vector<Vec2>& points);
Solid make_cylinder(double radius, double half_length);
Solid make_cone(double radius, double half_length);
Solid make_ellipsoid(const Vec3& half_size);
Solid make_hull_solid(const std::vector<Vec3>& points);
Solid make_rectangle(double half_x, double half_y);

/// Two bodies of one shape each; planes are fixed.
World make_pair_world(const Solid& a, const Pose& pose_a, const Solid& b, const Pose& pose_b, double reach);

std::vector<Contact> find_contacts(const World& world);
const Contact& least(const std::vector<Contact>& contacts);

struct GapRate {
  double measured = 0;   ///< central difference of the least gap over 2 h; not a number where no contact is left
  double predicted = 0;  ///< n . (velocity of B's witness - velocity of A's), both points moving with their bodies
  bool same = true;      ///< the closest features are the same throughout
};
/// `linear` and `angular` are the velocities of the two bodies in world axes.
GapRate calc_gap_rate(const World& world, const Contact& c, const std::array<Vec3, 2>& linear,
                      const std::array<Vec3, 2>& angular, double h);

/// How many random poses to try: SLIPSTICK_POSES if it is set.
int calc_poses(int usual);

// ---------------------------------------------------------------- randomness

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  int index(int count) { return std::uniform_int_distribution<int>(0, count - 1)(engine_); }
  Vec3 direction(bool planar = false);
  Quat rotation(bool planar = false);
  Solid solid(ShapeKind kind);
  /// A pose within `distance` of the origin; planes keep their normal in the plane when planar.
  Pose pose(ShapeKind kind, bool planar, double distance);
  /// Right and half right angles and round numbers, with noise of any size from none to 1e-3: all that is degenerate.
  Solid lattice_solid(ShapeKind kind);
  Pose lattice_pose(bool planar);

 private:
  std::mt19937 engine_;
};

}  // namespace slipstick::test
