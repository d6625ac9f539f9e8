// Rotors and couplings in the passes and at the end of a trial (joint_ends.h).
//
// A rotor (Axis::armature) is the energy J s^2/2 of the rate s of its coordinate and nothing else: it acts on the
// bodies by -J ds/dt along the row of the coordinate, whatever changes the rate. The unknown u of a step's problem has
// not all of that in it: half of the turn of a body's own momentum comes after it, and so does half of the turn of the
// row. So a rotor acts twice in a trial from s to s' (docs/decisions/0114),
//
//   P  = -J (sigma - s)      in the problem: sigma is the rate that u makes of s
//   P' = -J (s' - sigma)     at the end, along the row there: s' is the rate that the velocities have then
//
// in all by -J (s' - s) to rounding. Nothing is remembered for it: s is that of the velocities, sigma = s - P/J. Where
// joints hold at both ends rotors do too, P along the row at the start, sigma = (q(move(u, h)) - q)/h by the passes, P'
// together with the joints: what they do then is symplectic, as joints are. Elsewhere P' comes alone, and only where
// there is something left.
//
// Couplings have the position condition of joints where SimulationOptions::close_joints asks for closed positions.
#pragma once

#include <span>
#include <vector>

#include "step/flight.h"
#include "step/scheme.h"

namespace slipstick {

class AxisEnds {
 public:
  /// Which rotors act at both ends and which couplings are closed in the passes; the first are split in `end`.
  void begin(const StepInput& input, bool two_sided, bool closes, const Flight& flight, const Equations& equations,
             JointEnd* end);
  /// There are none, and no rotors act.
  void clear(const Model& model);
  bool holds() const { return !holds_.empty(); }
  bool has_rotors() const { return has_rotors_; }
  /// Where the last pass takes the coordinates: `way` to these poses.
  void reach(const StepInput& input, std::span<const Twist> way, std::span<const Pose> pose_end);
  /// Offsets of the rows that are held; `way`: w of joint_ends.h. `linear`: the passes have been given up.
  void apply(const StepInput& input, std::span<const Twist> way, bool linear, StepProblem* made) const;
  /// f(body, error, is_rotor) of each that is held: what the last pass has left, as a share of its size.
  template <typename F>
  void for_each_error(const StepProblem& made, const Solution& solution, double h, F f) const {
    for (const Hold& hold : holds_)
      if (const int row = made.map.joint_row[hold.slot]; row >= 0)
        f(hold,
          std::abs(hold.reached - hold.kept + h * made.problem.compliance[row] * solution.lambda[row]) / hold.size);
  }
  /// Impulses of rotors that act at both ends, at the start.
  void add_first(const StepProblem& made, const Solution& solution, std::vector<Vec6>* sum) const;

  /// After the trial: the rotors that act at its end, whose rows are `axes`, and for what rate they do. `all`: those
  /// too that nothing is left for, since joints change the velocities at the end.
  void find_acting(const StepInput& input, const StepProblem& made, const Solution& solution, const State& next,
                   std::span<const AxisRow> axes, bool all);
  bool acts() const { return !acting_.empty(); }
  /// The bodies that those move, one entry each.
  std::span<const char> find_moved(const Model& model, std::span<const AxisRow> axes);
  void add_rows(const StepInput& at_end, std::span<const AxisRow> axes, Problem* problem, RowMap* map) const;
  void add_last(const Model& model, std::span<const AxisRow> axes, std::span<const double> impulse,
                std::vector<Vec6>* sum) const;

  /// A row of the passes: the coordinate or coupling comes to `kept`, but for what its compliance gives way.
  struct Hold {
    int slot = 0, axis = -1, coupling = -1;  ///< of State::joint_impulse; one of the two others is given
    double size = 1;                         ///< errors are shares of it: a joint's, m, or 1 rad
    double kept = 0;                         ///< of a rotor: where it would come to if nothing changed its rate
    double start = 0, reached = 0;           ///< the value at q and at move(q, w, h)
    CouplingRow row;                         ///< at q
  };

 private:
  struct Acting {
    int axis = 0;
    double rate = 0;  ///< sigma
  };

  bool has_rotors_ = false;
  std::vector<Hold> holds_;
  std::vector<AxisRow> start_;  ///< at q
  std::vector<double> near_;    ///< expected coordinates
  std::vector<AxisRow> axes_;
  std::vector<CouplingRow> couplings_;
  std::vector<Acting> acting_;
  std::vector<char> moved_;
};

}  // namespace slipstick
