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
  /// Row operations of a row before the first sweep.
  static constexpr double kStartWork = 10;
  explicit PgsSweeps(const SolverOptions& options);

  /// Prepares the problem, which must outlive the sweeps, and begins at lambda = 0 (or the nearest admissible
  /// impulses).
  void start(const Problem& problem);
  /// The same for island after island of a problem in local form: what a row block needs is made when it is first
  /// swept. For the functions on lists of row blocks alone.
  void start_islands(const Problem& problem);
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
  /// Some row blocks alone, in this order.
  void sweep(std::span<const int> blocks);

  /// Relative residual of the iterate by the judge's formula. v is computed anew, so that rounding does not add up.
  double calc_residual();
  /// The same of the blocks that are not held alone.
  double calc_swept_residual();
  /// After start_islands: the same of an island by itself, by its own scale; w of its rows follows.
  double calc_island_residual(std::span<const int> blocks);
  double scale() const { return scale_; }
  const VecX& impulses() const { return lambda_; }
  /// The impulses of some row blocks, from and to a vector of all.
  void copy_impulses(std::span<const int> blocks, VecX* to) const;
  void set_impulses(std::span<const int> blocks, const VecX& from);
  /// Row blocks whose state the last sweep changed (counted if the history is recorded).
  int changes() const;
  /// v and w of the iterate as of the last calc_residual.
  void finish(Solution* answer) const;

 private:
  void resize_blocks();
  void update_delassus(int i);
  void make_ready(int i);
  LocalRows local_rows(int i) const;
  bool is_held(const RowBlock& block) const { return hold_direct_ && block.mode == SolveMode::Direct; }
  void visit(int i);
  bool is_unloaded(const RowBlock& block) const;
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
  std::vector<char> changed_, ready_;  ///< ready_: of each block, that update_delassus was called; empty: of all
  VecX lambda_, v_, w_;
};

}  // namespace slipstick
