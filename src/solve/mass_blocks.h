// The inverse of the block-diagonal A of a Problem, block by block, without allocation after warm-up.
#pragma once

#include <slipstick/problem.h>

#include <span>
#include <vector>

#include "solve/presolve.h"

namespace slipstick {

class ThreadTeam;

// Null: nobody helps.

class MassBlocks {
 public:
  /// Inverts every block (A positive definite, at most 6x6; explicit inverses are accurate at this size). One that has
  /// the bits it had the last time has its inverse still: most bodies keep their mass from step to step, and all of
  /// them from question to question.
  void update(const Problem& problem, const ThreadTeam* team = nullptr);
  ConstBlockMap inverse(int column) const { return {inverse_.data() + start_[column], size_[column], size_[column]}; }
  /// The column is a rigid body: A^-1 = diag(c I_3, B).
  bool is_body(int column) const { return body_[column]; }

 private:
  void update_column(const Problem& problem, int column);

  std::vector<double> inverse_, mass_;  ///< mass_: what was inverted
  std::vector<int> start_, size_;
  std::vector<char> body_;
};

/// u = J v + c.
void update_row_image(const Problem& problem, const VecX& v, VecX* u, const ThreadTeam* team = nullptr);
/// w = J v + c + C lambda + W lambda.
void update_row_velocity(const Problem& problem, const VecX& v, const VecX& lambda, VecX* w,
                         const ThreadTeam* team = nullptr);
/// v = A^-1 (b + J^T lambda).
void update_velocity(const Problem& problem, const MassBlocks& masses, const VecX& lambda, VecX* v);
/// The same two for the columns and rows of a part.
void update_row_velocity(const Problem& problem, const ProblemPart& part, const VecX& v, const VecX& lambda, VecX* w,
                         const ThreadTeam* team = nullptr);
void update_velocity(const Problem& problem, const MassBlocks& masses, const ProblemPart& part, const VecX& lambda,
                     VecX* v);
/// v = A^-1 b, of all columns or those of a part.
void update_free_velocity(const Problem& problem, const MassBlocks& masses, VecX* v, const ThreadTeam* team = nullptr);
void update_free_velocity(const Problem& problem, const MassBlocks& masses, const ProblemPart& part, VecX* v);
/// u += J_e x and w += J_e y for one Jacobian block; x and y are of its column, u and w of its rows.
void add_images(const Problem& problem, const RowBlock& block, const JacobianEntry& entry, const double* x,
                const double* y, double* u, double* w);
/// The diagonal of J_e A^-1 J_e^T for one Jacobian block, one number per row.
void update_diagonal(const Problem& problem, const MassBlocks& masses, const RowBlock& block,
                     const JacobianEntry& entry, double* diagonal);
/// Mean of the diagonal of block i's own Delassus block J_i A^-1 J_i^T + C + W.
double calc_mean_diagonal(const Problem& problem, const MassBlocks& masses, const RowBlock& block);
/// The scale of each row of an equality block, by itself: the mean over a joint would mix metres and radians, and the
/// joints of millimetre parts would be a million times too soft along their metres. A row that nothing moves has the
/// mean of the block; 1 if that is zero too.
void update_joint_diagonal(const Problem& problem, const MassBlocks& masses, const RowBlock& block, double* diagonal);

}  // namespace slipstick
