// The linear side of the Newton solver. The state is x, the impulses that act: v(x) = A^-1 (b + J^T x) always holds, so
// that only the laws are left to satisfy. A Newton step solves, for given local maps,
//
//     d x_i = g_i - D_i d u_i      (laws)          d u_i + R_i d x_i = g_i     (equality rows)
//     d u = J A^-1 J^T d x + W d x                                                          u = J v + W x + c
//
// in the primal unknowns when the problem has columns (laws condensed into (A + sum J_i^T D_i J_i), equality rows
// explicit in the quasi-definite matrix), and in the impulses themselves in local form.
#pragma once

#include <slipstick/problem.h>

#include <array>
#include <vector>

#include "solve/linalg/block_ldlt.h"
#include "solve/linalg/block_pattern.h"
#include "solve/mass_blocks.h"
#include "solve/solvers/coupled_classes.h"

namespace slipstick {

/// The local maps of all row blocks (newton_laws.h).
struct NewtonMaps {
  std::vector<int> start;  ///< of each block's D in d
  std::vector<double> d;   ///< row-major square blocks; unused for equality blocks
  std::vector<char> zero;  ///< the block's D is zero
  VecX g;
  VecX weight;            ///< R of equality rows
  bool symmetric = true;  ///< every D is

  void resize(const Problem& problem);
};

class NewtonSystem {
 public:
  virtual ~NewtonSystem() = default;
  /// Reads the problem, which must stay as it is until the next call.
  virtual void prepare(const Problem& problem) = 0;
  /// v(x) and u(x).
  virtual void update_state(const VecX& x, VecX* v, VecX* u) = 0;
  /// Mean of the diagonal of each block's Delassus block.
  virtual double mean_diagonal(int block) const = 0;
  /// Of each row of an equality block by itself (update_joint_diagonal); of other rows nothing.
  double joint_diagonal(int row) const { return joint_diagonal_[row]; }
  virtual bool factor(const NewtonMaps& maps) = 0;
  /// Newton step with the maps of the last factor() but maybe another g. `du` null: nobody asks for it.
  virtual void solve(const NewtonMaps& maps, VecX* dx, VecX* du) = 0;
  /// Row operations (WorkMeter) of one factorization and what goes with it: assembly, solves, residuals.
  virtual double calc_step_work() const = 0;

 protected:
  static double calc_step_work(double multiplications, const Problem& problem);
  void update_joint_diagonals(const Problem& problem, const MassBlocks& masses);

 private:
  std::vector<double> joint_diagonal_;
};

class PrimalSystem : public NewtonSystem {
 public:
  void prepare(const Problem& problem) override;
  void update_state(const VecX& x, VecX* v, VecX* u) override;
  double mean_diagonal(int block) const override { return mean_diagonal_[block]; }
  bool factor(const NewtonMaps& maps) override;
  void solve(const NewtonMaps& maps, VecX* dx, VecX* du) override;
  double calc_step_work() const override { return NewtonSystem::calc_step_work(pattern_.multiplications(), *problem_); }

 private:
  bool is_same_linear(const Problem& problem);
  bool find_slots();
  bool uses_every_edge();
  void analyze();
  void assemble_masses();
  struct PairRows;
  void assemble_laws(const NewtonMaps& maps);
  int find_pair_end(int first) const;
  void condense_pair(const RowBlock& block, int early, int slot, const PairRows& pair);
  void condense_block(int i, const NewtonMaps& maps);
  void assemble_equalities(const NewtonMaps& maps);

  const Problem* problem_ = nullptr;
  MassBlocks masses_;
  BlockPattern pattern_;
  BlockLdlt factor_;
  std::vector<double> mean_diagonal_;
  std::vector<int> node_size_;       // columns, then equality blocks
  std::vector<char> late_;           // node is an equality block
  std::vector<int> equality_node_;   // node of each block, -1 if it is not an equality
  std::vector<int> equality_start_;  // first unknown of each equality block
  std::vector<int> slot_start_;      // per block, into slot_
  std::vector<int> slot_;            // law blocks: one per pair of entries (e > f); equalities: one per entry
  std::vector<BlockEdge> edges_;
  std::vector<int> edge_used_;  // by block of the pattern: 0 fill, else the stamp of its last use
  int analyzed_edges_ = 0, stamp_ = 1;
  std::vector<int> analyzed_size_;
  std::vector<char> analyzed_late_;
  VecX unknowns_;
  Problem kept_;  // the matrices of the last problem, if it was linear
  bool has_kept_ = false, has_factor_ = false;
  VecX factored_weight_;  // of their factor
};

/// Problems in local form with few rows: (I + D W) d x = g as it stands, dense. To find classes and an order would cost
/// more than all else.
class SmallSystem : public NewtonSystem {
 public:
  static constexpr int kMostRows = 12;
  static bool takes(const Problem& problem) { return !problem.coupling.empty() && problem.rows() <= kMostRows; }
  void prepare(const Problem& problem) override;
  void update_state(const VecX& x, VecX* v, VecX* u) override;
  double mean_diagonal(int block) const override { return mean_diagonal_[block]; }
  bool factor(const NewtonMaps& maps) override;
  void solve(const NewtonMaps& maps, VecX* dx, VecX* du) override;
  double calc_step_work() const override;

 private:
  const Problem* problem_ = nullptr;
  std::array<double, kMostRows * kMostRows> w_{}, factor_{};  // row-major, and column-major
  std::array<double, kMostRows> mean_diagonal_{}, scale_{};   // by block, and by row
  std::array<int, kMostRows> pivot_{};
};

/// For problems in local form: no columns, u = W x + c with W positive semi-definite, often of low rank. With the
/// classes' W = T W_R T^T (coupled_classes.h) and y = T^T d x, the step is (I + T^T D T W_R) y = T^T g, d u = T W_R y.
class DualSystem : public NewtonSystem {
 public:
  void prepare(const Problem& problem) override;
  void update_state(const VecX& x, VecX* v, VecX* u) override;
  double mean_diagonal(int block) const override { return mean_diagonal_[block]; }
  bool factor(const NewtonMaps& maps) override;
  void solve(const NewtonMaps& maps, VecX* dx, VecX* du) override;
  double calc_step_work() const override { return NewtonSystem::calc_step_work(pattern_.multiplications(), *problem_); }

 private:
  void update_class_map(int k, const NewtonMaps& maps, double* e) const;
  void assemble_class(int k, const NewtonMaps& maps);
  void update_members(int k, const NewtonMaps& maps, VecX* dx, VecX* du) const;
  void correct_image(int k, const VecX& dx);
  bool is_equality(int k) const;

  const Problem* problem_ = nullptr;
  CoupledClasses classes_;
  BlockPattern pattern_;
  BlockLdlt factor_;
  std::vector<double> mean_diagonal_;
  std::vector<double> scale_;  // of each class's rows in the last factor
  std::vector<int> start_;     // first unknown of each class
  std::vector<int> analyzed_size_;
  std::vector<char> late_;
  std::vector<BlockEdge> edges_, analyzed_edges_;
  std::vector<double> class_map_;  // T^T D T of each class, 36 numbers apart
  VecX y_, image_;                 // T^T dx and W_R y
  VecX own_du_;                    // where nobody else has room for it
};

}  // namespace slipstick
