// Reactions of redundant joints: a door on two hinges, a beam on three balls. Many sets of impulses do the same to the
// bodies; meant are those that equal springs would share (docs/certificate.md, "Redundant joints"):
//
//   min  sum_i |force_i|^2 + |moment_i|^2 / arm^2     of all rows i of rigid joints, couplings and motors at rest,
//                                                     with the same sum on each body, and motors within their bounds
//
// force_i and moment_i are what the row does about its joint's anchor: it is one number for each joint, whatever the
// frame, the order of joints or the directions of its rows. The motion is not touched: these are readings.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "mechanics/equations.h"

namespace slipstick {

/// What a row of impulse 1 does to B of its joint (to the world: what it does to that), world, about the anchor on B.
struct Reaction {
  Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
};
Reaction calc_reaction(const Joint& joint, std::span<const Pose> pose, const PairRow& row);

class JointShares {
 public:
  /// Of the impulse of a slot (State::joint_impulse): whether the law leaves it open, and between what. N s.
  struct Open {
    bool open = false;
    double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  };
  /// What a row does through one joint: a coupling acts through several.
  struct Part {
    int joint = 0;
    PairRow row;
    Reaction reaction;
  };
  struct Row {
    int slot = 0, axis = -1, coupling = -1;  ///< axis: a motor's or friction's
    double impulse = 0, lower = 0, upper = 0;
    int first = 0, count = 0;  ///< its parts
  };

  explicit JointShares(const Model& model);  ///< keeps a reference

  /// Some joints close loops: nothing else can be redundant.
  bool any() const { return !groups_.empty(); }
  void clear();
  /// Impulses of one instant, by slot. `open` is asked for a slot and whether it is one of a motor or friction.
  void add(const Equations& equations, std::span<const Pose> pose, std::span<const double> slots,
           const std::function<Open(int, bool)>& open);
  /// Of all that was added: what makes the impulse of each row the one that is meant.
  void share(const std::function<void(const Row&, std::span<const Part>, double)>& change);

 private:
  struct Group {
    std::vector<int> joints, couplings, axes;
    double arm = 0, size = 0;  ///< m
  };
  /// Rows of one group at one instant: from `first` to the next one's.
  struct Instant {
    int group = 0, first = 0;
  };
  void find_groups();
  void add_row(int slot, int axis, int coupling, std::span<const double> slots,
               const std::function<Open(int, bool)>& open);
  void make_matrix(const Group& group, std::span<const Row> rows, MatX* matrix, VecX* weight);

  const Model& model_;
  std::vector<Group> groups_;
  std::vector<Instant> instants_;
  std::vector<Row> rows_;
  std::vector<Part> parts_;
  std::vector<Part> next_;   ///< of the row to be added
  std::vector<int> column_;  ///< per body, in the matrix at hand; -1: none
};

}  // namespace slipstick
