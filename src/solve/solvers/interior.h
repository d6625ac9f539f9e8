// The interior phase of the Newton solver: a primal-dual path through the interior of the laws, with Nesterov and
// Todd's scaling on the friction disks and Mehrotra's predictor and corrector, one factorization per step. Redundant
// contacts do not trouble it: of all impulses that give the motion it follows the central ones.
//
// Coulomb's law is taken apart, so that nothing in it has a kink: the normal row is the pair x_n y = mu', y = w_n, and
// the tangents minimise w_t . x_t over the disk whose radius mu x_n follows the normal impulse,
//     s = (mu x_n, x_t),  z = (z_0, w_t),  s o z = weight mu' e   on the Lorentz cone (Jordan's product, z_0
//     eliminated).
// Polygons do the same with half-spaces a_k . x + b_k = s_k >= 0, s_k z_k = weight mu', and bounds and one-sided rows
// with s_k z_k = mu'. The path mu' -> 0 may have folds, for Coulomb's law is no minimum of anything: step() is fast and
// stops there, advance() goes on by arc length, whichever way mu' turns, as Lemke's method does with its path.
#pragma once

#include <slipstick/problem.h>

#include <vector>

#include "solve/solvers/newton_system.h"

namespace slipstick {

class InteriorPath {
 public:
  /// Starts inside the laws, with the impulses and slacks that `speed` (m/s) makes typical. rho: natural-map scale of
  /// each block. friction_weight: how much rounder friction is than the normal law; each weight is another path.
  void start(const Problem& problem, NewtonSystem* system, const std::vector<double>& rho, double speed,
             double friction_weight);
  /// One predictor-corrector step with one factorization. False: a number was not finite.
  bool step();
  /// The same while it goes well, else a step along the path by its length.
  bool advance();

  const VecX& impulses() const { return x_; }
  /// Length of the last step, 1 = to the end of the Newton direction.
  double last_step() const { return alpha_; }

 private:
  enum class Kind : char { Equality, Cone, Faces };
  /// A half-space and its multiplier.
  struct Face {
    double a[6];    // of the block's rows
    double weight;  // of the target
    double s, z, ds, dz, correction;
    bool side;  // of a friction polygon: its radius follows the normal impulse
  };
  /// A friction disk in the scaled variables of the header comment, and the normal row (that of a block's first disk
  /// counts): a block with several limits has as many disks.
  struct Cone {
    int first, n;  // first tangent row in the block; 1 + number of tangents
    double s[3], z[3], ds[3], dz[3];
    double y, dy;                             // slack of the normal row
    double w[3], eta, lambda[3];              // Nesterov and Todd's W = eta V(w); lambda = W^-1 s = W z
    double correction[3], normal_correction;  // second-order terms of the predictor
    double rest[3];                           // W (lambda \ r): what d s is without d z
    double follow[2];                         // d x_t = ... + mu follow d x_n
  };
  struct Part {
    Kind kind;
    int first = 0, count = 0;  // into cones_ or faces_
  };

  void add_cone(const RowBlock& block, double impulse, double speed);
  void add_faces(const RowBlock& block, double impulse, double speed);
  void add_polygon(const RowBlock& block, double speed);
  void add_bounds(const RowBlock& block, double impulse, double speed);
  void add_face(const RowBlock& block, const double* a, double b, double speed, bool side);
  void refresh();

  bool update_scalings();
  void update_maps(double target);
  void update_cone_map(int block, double target, double* d, double* g);
  void update_disk_map(const RowBlock& rows, double target, Cone* cone, double* d, double* g) const;
  void update_face_map(int block, double target, double* d, double* g) const;
  void solve(double target);
  void update_disk_steps(const RowBlock& rows, Cone* cone) const;
  void keep_corrections();
  double calc_longest_step() const;
  double calc_gap(double step) const;
  bool is_central(double step) const;
  void limit_and_move();
  void move(double step);

  // Along the path (interior_along.cpp).
  bool step_along();
  void store_steps(std::vector<double>* out) const;
  void as_local(const std::vector<double>& steps, std::vector<double>* out) const;
  double choose_target();

  const Problem* problem_ = nullptr;
  NewtonSystem* system_ = nullptr;
  const std::vector<double>* rho_ = nullptr;
  NewtonMaps maps_;
  std::vector<Part> parts_;
  std::vector<Cone> cones_;
  std::vector<Face> faces_;
  int degree_ = 0;  // number of pairs
  double friction_weight_ = 1;
  double gap_ = 0, alpha_ = 0;  // mean complementarity, N m; last step
  VecX x_, v_, u_, w_, dx_, du_, dw_;
  // Along the path.
  bool along_ = false;
  int short_ = 0, smooth_ = 0;  // short steps in a row; easy steps along the path in a row
  double entered_ = 0;          // gap at which the arc-length steps began
  double radius_ = 0, ahead_ = 0, bend_ = 0;
  std::vector<double> steps_, to_zero_, to_gap_, previous_, previous_local_;
};

}  // namespace slipstick
