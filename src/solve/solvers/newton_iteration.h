// The nonsmooth side of the Newton solver: the iterate, its certified residual and the phases that move it.
#pragma once

#include <slipstick/problem.h>

#include <limits>
#include <vector>

#include "solve/solvers/damped_path.h"
#include "solve/solvers/interior.h"
#include "solve/solvers/newton_laws.h"
#include "solve/solvers/newton_system.h"
#include "solve/solvers/time_limit.h"

namespace slipstick {

class NewtonIteration {
 public:
  /// Starts on `problem` from the impulses `guess`, or from zero if it has the wrong size or is not finite. No phase
  /// factors where `limit` does not let it.
  void start(const Problem& problem, NewtonSystem* system, TimeLimit* limit, const VecX& guess);
  /// A residual below which only steps with the factor at hand are worth their time.
  void set_fine(double residual) {
    fine_ = residual;
    creeps_ = stays_ = false;
  }
  /// Below this one one factor is worth it, and steps with it are as long as they lead anywhere.
  void bring_to_rest(double residual) {
    fine_ = residual;
    creeps_ = true;
  }
  /// Takes the velocities of what rests away and leaves the overlap: one factor and a few steps with it. False: it does
  /// not rest, or the overlap alone is more than half of `still`; the iterate is where it was.
  bool stop_creep(double still);
  double fine() const { return fine_; }
  /// All offsets are what rounding has left of larger terms (calc_residual_scale).
  bool lacks_digits() const { return q_norm_ > q_.norm(); }
  /// Whether what was to be brought to rest would not come nearer: the iterate is the best that there is.
  bool stays_as_it_is() const { return stays_; }

  /// Relative natural-map residual of the iterate, by the judge's formula.
  double residual() const { return residual_; }
  double best_residual() const { return best_residual_; }
  /// Whether the guess was much better than none.
  bool began_near() const { return began_near_; }
  /// Relative speeds of the rows that push, or hold, by the bodies' velocities alone.
  double calc_creep() const;
  int factorizations() const { return factorizations_; }
  /// Back to the best iterate so far.
  void restore_best();
  /// The best iterate; v(lambda) is computed anew.
  void finish(Solution* answer);
  /// v and lambda of the best so far; the iterate stays where it is. w is without compliance.
  void update_best(Solution* answer);

  /// Primal-dual active-set Newton on Alart and Curnier's equations: quadratic near a solution, no globalization. Stops
  /// at `goal`, after `limit` factorizations, after `patience` steps without a better residual, or where a step has led
  /// to `most_rise` times the best residual.
  void run_active(double goal, int limit, int patience, double most_rise = std::numeric_limits<double>::infinity());
  /// The same by steps to the edges of the laws (newton_edges.cpp), from an iterate that is near: where more rows are
  /// held than there are unknowns.
  void run_edges(double goal, int limit, int patience);
  /// One step along an interior path, begun by start_interior_phase(); false: it has come to its end, or to a fold that
  /// only `through_folds` passes.
  void start_interior_phase(double friction_weight);
  bool run_interior(bool through_folds);
  /// One step of the damped path (damped_path.h), from the best iterate or, cold, from inside the laws.
  void start_damped_phase(bool cold);
  bool run_damped();
  bool damped_had_guess() const { return damped_.had_guess(); }
  double last_damped_step() const { return damped_.last_step(); }
  /// Goes to other impulses, made admissible.
  void go_to(const VecX& impulses);
  const VecX& impulses() const { return x_; }
  const VecX& best_impulses() const { return best_; }
  double step_work() const { return step_work_; }  ///< row operations that go with a factorization
  /// Proximal rounds with the De Saxce term moving: each a nonsmooth Newton with a line search on its own residual, as
  /// stiff as it can be solved. Goes on where active sets and interior paths end, for `limit` factorizations; also with
  /// an iterate of its own, begun at the best one.
  void start_proximal_phase();
  void run_proximal(double goal, int limit);

 private:
  void clip();     // x_ to the nearest admissible impulses
  void refresh();  // state and residual at x_
  double calc_residual() const;
  void keep_best();

  // run_active
  bool update_active_maps();  // true: same active set as in the last factor
  double calc_typical_impulse() const;
  double calc_least_equality() const;
  double calc_softness() const;
  bool stands(double still) const;
  void update_held_maps();
  void update_held_goals();
  bool descend(double previous);
  bool descend_by_chord(double previous);
  // run_edges
  double calc_way_to_first_edge() const;
  int release(double step);
  bool find_edge_direction();
  bool release_at_edges();
  void move_from(const VecX& start, double step);
  void move_to_edge(double way);
  void run_to_edge();
  // run_proximal
  void update_prox(double stiffness);
  void update_round_maps();
  double find_step() const;
  double saxce_term(const RowBlock& block, const double* u, const double* x, double* gradient) const;
  double calc_merit(double step) const;
  bool solve_round(double accuracy);

  bool factor();  // counted; false: not allowed, or it failed

  const Problem* problem_ = nullptr;
  NewtonSystem* system_ = nullptr;
  TimeLimit* limit_ = nullptr;
  double step_work_ = 0;
  NewtonMaps maps_;
  std::vector<double> rho_;  // natural-map scale of each block
  double q_norm_ = 0;        // the judge's scale, m/s
  double residual_ = 0, best_residual_ = 0;
  bool began_near_ = false;
  int factorizations_ = 0;
  VecX x_, v_, u_, w_, dx_, du_, best_, q_;
  // Active phase.
  double fine_ = 0;
  bool creeps_ = false, stays_ = false;
  double epsilon_ = 1e-8;         // proximal compliance over the Delassus diagonal
  double least_equality_ = 1e-8;  // the same of equalities, at most
  std::vector<int> code_;
  bool factored_ = false;  // maps_.d is what the system has factored
  std::vector<double> kept_d_;
  VecX start_;
  VecX held_w_;  // run_edges: while w_ is another one
  // Interior phase.
  InteriorPath interior_;
  DampedPath damped_;
  // Proximal phase.
  double stiffness_ = 1;
  VecX round_x_, weight_, centre_, resolved_;
};

}  // namespace slipstick
