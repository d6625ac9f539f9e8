// The path for cold, redundant, struck problems, where a residual of 1e-4 in a bounded number of factorizations is
// worth more than 1e-8 in ten times as many. Coulomb's law in De Saxce's form is a cone complementarity,
//
//     K  _|_  z = w + s n  in K*,      s = mu |w_t|,
//
// and the path follows x~ o z~ = gap e with x~ = (mu x_n, x_t), z~ = (z_n / mu, z_t) in Nesterov and Todd's scaling,
// with z a slack. Three things keep it from stalling where interior.h does: s is renewed in the correctors, so that
// only a part of its gradient need be in the matrix; a little compliance that adapts to the steps (it acts on the step
// and leaves no trace in the answer, for w(x) is exact); and no pair is asked to be central.
//
// Cones are kept four at a time (lorentz_lanes.h): what is done cone by cone would cost more than the factorization.
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
  static constexpr int kLanes = 4;
  using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));
  /// Four row blocks with a law of their own. A lane without friction has zeros in the tangents, one that nobody fills
  /// in everything but s and z.
  struct Cones {
    int block[kLanes], row[kLanes], size[kLanes], n[kLanes];  ///< n = 1: friction has no part in it; 0: nobody is here
    bool whole;                                               ///< all have three rows
    Lanes filled, rubs[2];                                    ///< 1 or 0: of the lane, of its tangents
    Lanes mu, rho;
    Lanes s[3], z[3], ds[3], dz[3], other_dz[3];  ///< x~ and z~ and their directions
    Lanes w[3], du[3], compliance[3];             ///< velocities of the rows and their change; R
    Lanes boost[3], eta, lambda[3];               ///< Nesterov and Todd's W = eta V(boost); lambda = W^-1 x~ = W z~
    Lanes saxce, gradient[2];                     ///< s and what of its gradient the matrix has
    Lanes d0[3][3], inverse[3][3];                ///< T^-1 W^2 T^-1; (I + D0 R)^-1
    Lanes correction[3];                          ///< second-order terms of the predictor
  };

  void make_cones(const std::vector<double>& rho);
  void go_inside(double room);
  void refresh();
  bool update_scalings();
  void update_matrices();
  void update_equalities();
  void update_right_side(double target);
  void solve(double target);
  void renew_saxce();
  void keep_corrections();
  double calc_longest_step() const;
  double calc_gap(double step) const;
  void gather(const Cones& cones, const Eigen::Ref<const VecX>& from, Lanes* to) const;

  const Problem* problem_ = nullptr;
  NewtonSystem* system_ = nullptr;
  NewtonMaps maps_;
  std::vector<Cones> cones_;
  int count_ = 0;  ///< of lanes that are filled
  bool had_guess_ = false;
  double damping_ = 0, gap_ = 0, step_ = 0;
  VecX x_, v_, u_, w_, dx_, du_, other_dx_;
};

}  // namespace slipstick
