// Ends of joints' ranges, a taut rope's among them, of what flies: held at both ends of a trial as rigid joints are
// (joint_ends.h), as long as they push.
//
//   0 <= gap(move(q, u, h)) _|_ l >= 0      in the step's own problem: n(q) u + c, c found in the same passes
//   0 <= n(q') v' _|_ m >= 0                where l > 0, in the problem of the end
//
// A rope that is taut and stays so is a rod then. Whether it stays taut the solution says: what has let go has l = 0,
// and one that goes slack at the end has m = 0. One that goes taut within the trial gets l for the place and m for the
// speed: a plastic impact. (What rebounds does so before the trial.)
#pragma once

#include <span>
#include <vector>

#include "step/scheme.h"

namespace slipstick {

class Flight;

class RangeEnds {
 public:
  /// Which: fills JointEnd::ranges. True: there are such.
  bool begin(const StepInput& input, const Flight& flight, const Equations& equations, StepProblem* made);
  /// Their gaps at the poses that the passes have found.
  void update(const StepInput& input, std::span<const Pose> reached);
  /// Offsets of their rows. `way`: what leads to those poses.
  void apply(const StepInput& input, std::span<const Twist> way, StepProblem* made) const;
  std::size_t size() const { return ranges_.size(); }
  const ContactRows& rows(const StepProblem& made, std::size_t k) const {
    return made.equations->contacts[ranges_[k].contact];
  }
  /// How far the place of the last pass is from what its impulse stands for, as a share of the joint's size, or rad.
  double calc_error(const StepProblem& made, const Solution& solution, std::size_t k) const;
  /// Those that push, with their rows at `pose`; true: there are such.
  bool find_pushing(const StepInput& input, std::span<const Pose> pose, const Solution& solution, StepProblem* made);
  /// Their rows in the problem of the end.
  void add_rows(const StepInput& at_end, const StepProblem& made, const RowMap& map, Problem* problem);
  /// A guess of what they do there.
  void guess(const StepProblem& made, const Solution& solution, Solution* guess) const;
  /// What they did there.
  void take(const Solution& end, StepProblem* made) const;

 private:
  struct Range {
    int contact = 0, limit = 0;  ///< of Equations::contacts, of Model::limits
    double kept = 0;             ///< the overlap that stays, m or rad; below zero
    double size = 1, gap = 0;    ///< of its joint; where the passes have got to
    int end_row = -1;            ///< in the problem of the end
  };
  static bool is_held(const StepProblem& made, const Range& range);

  std::vector<Range> ranges_;
};

}  // namespace slipstick
