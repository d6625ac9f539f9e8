// One friction block when all others are held, solved exactly: what `pgs` does in each visit.
//
// The block's rows are w = D x + q, x = (n, t). With the normal eliminated by w_n = 0,
//
//   n = a + b . t,   w_t = S t + s,      a = -q_n / D_nn,  b = -D_nt / D_nn,  S = D_tt - D_tn D_nt / D_nn,  s = q_t +
//   D_tn a
//
// Coulomb's law is left as: t in mu n P and w_t in -N(t), the outward normals of mu n P at t (P: disk, polygon). It has
// a solution whenever D is positive definite and a > 0; q_n >= 0 is an open contact. With b = 0, S = D_tt, a = n it is
// the tangent pair under a given normal impulse. D may be non-symmetric, and singular: see `floor`.
#pragma once

#include <slipstick/problem.h>

namespace slipstick {

using Mat2 = Eigen::Matrix2d;

/// What of a block depends on D only. Planar blocks have their one tangent in the first place and the rest zero.
struct ContactMatrix {
  double normal = 0;                             ///< D_nn; not positive: no impulse can act on the normal
  Vec2 b = Vec2::Zero(), column = Vec2::Zero();  ///< column: D_tn
  Mat2 schur = Mat2::Zero(), tangent = Mat2::Zero();
  double floor = 0;  ///< rounding of S: a mobility below it is none (S + floor is what sticking solves)
};

/// d: row-major, size x size.
ContactMatrix make_contact_matrix(int size, const double* d);

/// The tangents' problem of the header comment.
struct SlipProblem {
  Mat2 matrix = Mat2::Zero();  ///< S
  Vec2 offset = Vec2::Zero();  ///< s
  double a = 0;                ///< > 0
  Vec2 b = Vec2::Zero();
  double floor = 0;
};

/// Solves it for the law of `block` (size 2 or 3, any friction model, mu > 0). Returns (n, t1, t2), inside its limits
/// to the last bit or two.
Vec3 solve_slip(const RowBlock& block, const SlipProblem& problem);
/// Sticking, whether within the limit or not.
Vec3 solve_stick(const SlipProblem& problem);

/// The exact solution of the block: x = (n, t1[, t2]) with (x, D x + q) in its law.
Vec3 solve_one_contact(const RowBlock& block, const ContactMatrix& matrix, const Vec3& q);

/// S, s, a, b of a block whose normal is eliminated.
SlipProblem make_slip_problem(const ContactMatrix& matrix, const Vec3& q);

}  // namespace slipstick
