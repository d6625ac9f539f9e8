// The path for cold, redundant, struck problems, where a residual of 1e-4 in a bounded number of factorizations is
// worth more than 1e-8 in ten times as many. Coulomb's law in De Saxce's form is a cone complementarity,
//
//     K  _|_  z = w + s n  in K*,      s = mu |w_t|,
//
// and the path follows x~ o z~ = gap e with x~ = (mu x_n, x_t), z~ = (z_n / mu, z_t) in Nesterov and Todd's scaling,
// with z a slack. Three things keep it from stalling where interior.h does: s is renewed in the correctors, so that
// only a part of its gradient need be in the matrix; a little compliance that adapts to the steps (it acts on the step
// and leaves no trace in the answer, for w(x) is exact); and no pair is asked to be central.
#pragma once

#include <slipstick/problem.h>

#include <vector>

#include "solve/solvers/newton_system.h"

namespace slipstick {

class DampedPath {
 public:
  /// Friction cones without further limits, one-sided rows and equalities.
  static bool takes(const Problem& problem);

  /// Begins at the impulses `from`, of relative residual `residual`, or inside the laws where that is no guess. rho:
  /// natural-map scale of each block; q: row velocities without impulses; scale: the judge's, m/s.
  void start(const Problem& problem, NewtonSystem* system, const std::vector<double>& rho, const VecX& q, double scale,
             const VecX& from, double residual);
  /// One factorization. False: the scaling or a number failed.
  bool step();

  const VecX& impulses() const { return x_; }
  bool had_guess() const { return had_guess_; }  ///< it began at the impulses that it was given
  double last_step() const { return step_; }     ///< 1: to the end of the direction

 private:
  /// A row block with a law of its own; n = 1 where friction has no part in it.
  struct Cone {
    int block, row, size, n;
    double mu, rho;
    double s[3], z[3];            // x~ and z~
    double w[3], eta, lambda[3];  // Nesterov and Todd's W = eta V(w); lambda = W^-1 x~ = W z~
    double saxce, gradient[2];    // s and what of its gradient the matrix has
    double d0[9], inverse[9];     // T^-1 W^2 T^-1; (I + D0 R)^-1
    double correction[3];         // second-order terms of the predictor
  };

  void refresh();
  bool update_scalings();
  void update_matrices();
  void update_scaling_block(Cone* cone) const;
  void solve(double target);
  void renew_saxce();
  void keep_corrections();
  double calc_longest_step() const;
  double calc_gap(double step) const;
  double compliance(const Cone& cone, int k) const;

  const Problem* problem_ = nullptr;
  NewtonSystem* system_ = nullptr;
  NewtonMaps maps_;
  std::vector<Cone> cones_;
  bool had_guess_ = false;
  double damping_ = 0, gap_ = 0, step_ = 0;
  VecX x_, z_, v_, u_, w_, dx_, du_, dz_, other_dx_, other_dz_;
};

}  // namespace slipstick
