// The iterate of projected Gauss-Seidel and its sweeps, matrix-free [LacoursiereLinde11, algorithm 21.1]: with
// v = A^-1 (b + J^T lambda) kept up to date, a visit of block i costs its own Jacobian blocks twice,
//
//   w_i = J_i v + C_i lambda_i + (W lambda)_i + c_i,   lambda_i <- local solution,   v += A^-1 J_i^T (change of
//   lambda_i)
#pragma once

#include <slipstick/solver.h>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/thread_team.h"
#include "solve/mass_blocks.h"
#include "solve/solvers/pgs_local.h"
#include "solve/solvers/sweep_schedule.h"

namespace slipstick {

/// What makes a problem one that no Gauss-Seidel can begin with; empty when there is nothing.
std::string_view find_problem_fault(const Problem& problem);

class PgsSweeps {
 public:
  explicit PgsSweeps(const SolverOptions& options);

  /// Prepares the problem, which must outlive the sweeps, and begins at lambda = 0 (or the nearest admissible
  /// impulses).
  void start(const Problem& problem);
  /// Goes to other impulses, made admissible; v follows.
  void set_impulses(const VecX& lambda);
  /// Goes to other impulses as they are, admissible or not.
  void hold_impulses(const VecX& lambda) { lambda_ = lambda; }
  /// The impulses times the root of their block's mean Delassus diagonal, and back (which writes over the argument).
  void update_scaled_impulses(VecX* scaled) const;
  void set_scaled_impulses(VecX* scaled);
  /// Whether the next sweeps leave row blocks with the mode Direct as they are.
  void hold_direct(bool hold) { hold_direct_ = hold; }
  void sweep(bool backward);

  /// Relative residual of the iterate by the judge's formula. v is computed anew, so that rounding does not add up.
  double calc_residual();
  /// The same of the blocks that are not held alone.
  double calc_swept_residual();
  double scale() const { return scale_; }
  const VecX& impulses() const { return lambda_; }
  /// Row blocks whose state the last sweep changed (counted if the history is recorded).
  int changes() const;
  /// v and w of the iterate as of the last calc_residual.
  void finish(Solution* answer) const;

 private:
  void update_blocks();
  void update_delassus(int i);
  LocalRows local_rows(int i) const;
  bool is_held(const RowBlock& block) const { return hold_direct_ && block.mode == SolveMode::Direct; }
  void visit(int i);
  bool stays_open(const RowBlock& block) const;
  void visit_stage(std::span<const int> blocks);

  const SolverOptions options_;
  const Problem* problem_ = nullptr;
  MassBlocks masses_;
  SweepSchedule schedule_;
  std::unique_ptr<ThreadTeam> own_team_;  ///< where it is given none and may have threads
  const ThreadTeam* team_;                ///< null: nobody helps
  bool hold_direct_ = false;
  double scale_ = 0;                        ///< the judge's, m/s
  std::vector<double> image_;               ///< A^-1 J^T, transposed, at the places of `jacobian`
  std::vector<double> delassus_, inverse_;  ///< block i's at delassus_start_[i]
  std::vector<int> delassus_start_;
  std::vector<ContactMatrix> contacts_;  ///< one per row block; used for friction
  std::vector<double> rho_;              ///< natural-map scale of each block
  std::vector<int> state_;
  std::vector<char> changed_;
  VecX lambda_, v_, w_;
};

}  // namespace slipstick
