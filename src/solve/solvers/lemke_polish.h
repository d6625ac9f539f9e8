// From a complementary basis, or from any near guess, to impulses that satisfy the laws to rounding: each row or
// contact is in a state (open, sticking, sliding along d, ...), the states together are a linear system on the reduced
// rows, and its solution is refined against the problem's own data. States by projection make one round a semismooth
// Newton step: exact for polygons, quadratic for the true cone, whose curvature enters through `share`.
#pragma once

#include <vector>

#include "solve/as_lcp.h"
#include "solve/linalg/dense_lu.h"

namespace slipstick {

class LemkePolish {
 public:
  /// States as a basis of the LCP has them.
  void set_states(const LcpForm& lcp, const std::vector<char>& basis);
  /// States by projecting x - (w + s n) onto each law's set: s the De Saxce term, true laws of the problem
  /// (solve/laws.h). x, w scaled reduced rows.
  void set_states(const Problem& problem, const LcpForm& lcp, const VecX& x, const VecX& w);
  /// Turns the sliding states of true cones to the present directions and leaves all else as it is.
  void turn_slides(const Problem& problem, const LcpForm& lcp, const VecX& x, const VecX& w);
  /// Solves the system of the states near x and projects the result onto the laws' sets. `proximal` > 0 is added to the
  /// scaled diagonal and taken out again by refinement: small where the states are trusted, larger to stay near x where
  /// redundant rows would let the step run away. False when a number is not finite.
  bool solve(const Problem& problem, const LcpForm& lcp, double proximal, DualForm* dual, VecX* x, Solution* solution);

 private:
  enum class Kind { AtBase, AtUpper, Active, Normal, Along, Stick, Slide };
  struct State {
    Kind kind = Kind::AtBase;
    Vec2 along = Vec2::UnitX(), across = Vec2::UnitY();
    double limit = 0;  ///< Slide: along . x_t = limit x_n
    double share = 0;  ///< Slide: (1 - share) across . x_t + share across . w_t = 0; 0: a vertex, 1: an edge
  };
  /// x += u * (column on rows row ..); equation: sum test * w(row ..) + diagonal * u = 0.
  struct Unknown {
    int row = 0;
    Vec3 column = Vec3::Zero(), test = Vec3::Zero();
    int count = 1;  ///< rows
    double diagonal = 0;
  };

  static State make_slide(const Vec2& along, double limit, double share);
  static State make_contact_state(const LcpForm& lcp, const LcpGroup& g, const std::vector<char>& basis);
  static State find_contact_state(const RowBlock& block, const LcpGroup& g, const VecX& x, const VecX& w, double noise);
  void add_unknowns(const LcpGroup& g, const State& state);
  void assemble(const DualForm& dual, double proximal);
  void update_impulse(const LcpForm& lcp, VecX* x) const;
  void project(const Problem& problem, const LcpForm& lcp, VecX* x) const;

  std::vector<State> states_;
  std::vector<Unknown> unknowns_;
  VecX value_, residual_, step_, velocity_;
  DenseX matrix_;
  DenseLu lu_;
};

/// Scaled velocities of the reduced rows.
void update_scaled_velocity(const DualForm& dual, const VecX& w, VecX* scaled);
void update_scaled_impulse(const DualForm& dual, const VecX& lambda, VecX* scaled);

}  // namespace slipstick
