// Which of many. Where contacts are redundant many impulses solve a problem, and with friction not even its motion is
// unique. Chosen are those that equal springs of vanishing compliance E (m/N) at all contacts would give, joints and
// motors rigid: there is a virtual displacement d with
//
//   x = P_K(-J d / E)  where a contact is still,     x_n = max(0, -J_n d / E), x_t = -mu x_n w_t / |w_t|  where it
//   slides
//
// Without sliding that is the solution of least norm. The choice depends on no frame, order, history or solver, and is
// as symmetric as the problem. With a compliance R the springs' law is  x = L(c - u / R), c = 0; then c <- c - u / R
// until u vanishes where it must: c stays of the form -J d / R, and R leaves no trace. docs/certificate.md has it all.
#pragma once

#include <slipstick/problem.h>
#include <slipstick/solver.h>

#include <cstdint>
#include <vector>

#include "solve/mass_blocks.h"
#include "solve/redundancy.h"
#include "solve/solvers/newton_system.h"

namespace slipstick {

class UniqueForces {
 public:
  struct Outcome {
    bool chosen = false;  ///< `solution` holds the choice, within a tenth of the tolerance by the judge
    bool unique = false;  ///< nothing was to be chosen
    int factorizations = 0;
    Residuals residual;  ///< of the choice
  };

  /// Larger problems, and those in local form, are left as they are.
  static bool takes(const Problem& problem) { return takes(problem, problem.rows()); }
  /// The same of an island of so many rows.
  static bool takes(const Problem& problem, int rows);
  /// `solution` is certified to `tolerance` on entry; it is replaced by the choice or left as it is, with its
  /// `uniqueness`. No more is spent than `work` allows.
  Outcome choose(const Problem& problem, double tolerance, WorkMeter* work, Judge* judge, Solution* solution);
  /// The same from a guess that was the choice of a problem near this one: what rests or moves on as it did needs no
  /// other solver. `uniqueness` is that of the guess, and stays where the same contacts carry. Gives up after few
  /// factorizations, and where other contacts slide.
  Outcome follow(const Problem& problem, double tolerance, WorkMeter* work, Judge* judge, Solution* solution);

 private:
  Outcome finish(double tolerance, Judge* judge, Solution* solution);
  void find_uniqueness(bool chosen, bool tested, Solution* solution);
  bool find_redundancy(const Problem& problem, const Solution& solution);
  void start(const Solution& solution);
  void go_to(const VecX& impulses);
  void set_softness(double eta);
  void classify(bool known);
  bool reclassify();
  bool update_giving();
  double calc_held(const RowBlock& block, int k) const;
  const double* put_beyond(const RowBlock& block, const double* y, double* moved) const;
  void update_springs(const VecX& u, VecX* y) const;
  void update_laws(const VecX& y, bool maps);
  bool factor(int more = 0);
  double calc_gap(double step);
  void begin(bool chosen);
  void keep_carrying();
  void begin_round();
  bool solve_round(double accuracy);
  double judge_round();
  bool run_rounds(bool reclassifies, bool chosen);
  void update_test_maps();
  bool test();
  bool is_unaffected() const;
  void find_affected();

  const Problem* problem_ = nullptr;
  WorkMeter* work_ = nullptr;
  MassBlocks masses_;
  Redundancy redundancy_;
  std::vector<char> idle_, determined_, slides_, affected_;
  std::vector<signed char> gives_;  // per row of joints and motors: it moves, and carries its least (-1) or most (1)
  PrimalSystem system_;
  NewtonMaps maps_;
  std::vector<double> rho_;
  std::vector<int> code_, factored_code_, tested_code_;
  double mobility_ = 0, eta_ = 0, scale_ = 0, slip_ = 0;  // E, R / E, the judge's scale, m/s below which nothing slides
  int factorizations_ = 0, most_ = 0;                     // factorizations, and how many there may be
  VecX row_scale_;                                        // joints, motors: their own compliance
  VecX proximal_, weight_;                                // R, or that; and with the problem's compliance
  VecX centre_, follow_;                                  // c; x_t / x_n of polygons that slide
  VecX x_, v_, u_, w_, y_, resolved_, dx_, du_, trial_x_, trial_u_, trial_y_;
  VecX best_;
  double best_residual_ = 0;
  std::vector<double> kept_d_;
  Solution choice_;
};

}  // namespace slipstick
