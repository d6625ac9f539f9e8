// Rigid joints hold at both ends of a trial ([Andersen83], RATTLE; docs/decisions/0046): their positions at its end,
// and the velocities there.
//
//   M u = M v + ... + G(q)^T l,      Theta(move(q, u, h)) = 0
//   M v' = M (u and the forces of the second half) + G(q')^T m,      G(q') v' = 0
//
// l and m are impulses of the start and of the end, each about half of what the joint does in the step. The position
// condition is a row G(q) u + c = 0 of the step's own problem with c = (Theta(move(q, w, h)) - h G(q) w)/h and w the u
// of the pass before: the matrix stays, c is found in a few passes. Nothing of a position error ever gets into v', and
// energies stay where they are for as long as one likes.
//
// `trapezoid` has all its rigid joints so. In the schemes with alpha = gamma = 1 it is the other half of flight.h:
// joints of groups that fly. There a group that does not fly has the position condition alone, and only if its joints
// form redundant loops: off their manifold the rows of such a loop contradict each other.
//
// Springs and dampers that are stiff for the step are taken at the end of the way in the same passes: a row that
// follows the tangent of a circle would stretch one of 1e12 N/m by h^2 v^2/(2 r), which is 1250 J at h = 0.01 and v = r
// = 1.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "step/axis_ends.h"
#include "step/flight.h"
#include "step/joint_loops.h"
#include "step/range_ends.h"
#include "step/scheme.h"
#include "step/step_solver.h"

namespace slipstick {

class JointEnds {
 public:
  /// Which joints: fills StepProblem::joint_end. `equations` are those of the start.
  void begin(const StepInput& input, const Scheme& scheme, const Flight& flight, const Equations& equations,
             StepProblem* made);
  /// Before another pass: how bodies turned in the last one that the constraints of both ends turn (StepProblem).
  void add_bends(const StepInput& input, StepProblem* made);
  /// Offsets and compliances of their rows, after the scheme has made them.
  void apply(const StepInput& input, StepProblem* made);
  /// After a solution: true if positions at its end are not good enough, and another pass will help.
  bool refine(const StepInput& input, const StepProblem& made, const Solution& solution);
  /// Before another pass: the columns of islands that are good; empty: there are none. `others`: those of which nobody
  /// else asks anything; empty: all.
  std::span<const char> find_good(std::span<const char> others);
  /// None is.
  void forget_good() { std::fill(done_.begin(), done_.end(), 0); }
  /// A loop of joints that no position closes, after the last pass.
  bool contradicts() const { return active_ && open_loop_; }
  /// The problem without the compliance of loops: what such joints ask for, for the judge.
  Problem make_rigid(const StepInput& input, const StepProblem& made) const;
  /// Velocities of `next` that the joints allow, and the impulses that it took.
  LadderResult end(const StepInput& input, const Flight& flight, const Solution& solution, StepSolver* solver,
                   StepProblem* made, State* next);

 private:
  void guess_way(const StepInput& input, const Flight& flight);
  int island_of(const StepProblem& made, int a, int b);
  double calc_mean_speed(const JointRows& start, int row) const;
  void find_errors(const StepInput& input, const StepProblem& made, const Solution& solution);
  bool begin_singular(const StepInput& input, const StepProblem& made);
  void find_islands(const Problem& problem);
  int root_of(int column);
  void find_stiff(const StepInput& input, const Weights& w, const Equations& equations, const StepProblem& made);
  void update_errors(const StepInput& input);
  void apply_springs(const StepInput& input, StepProblem* made);
  double calc_spring_error(const StepInput& input, const StepProblem& made, const Solution& solution, int spring) const;
  bool find_astray(const StepInput& input, const Flight& flight, const Solution& solution, const StepProblem& made,
                   const State& next);
  bool takes_part(const Flight& flight, int body) const;
  void undo_second_half(const StepInput& input, const Solution& solution, const StepProblem& made, State* next);
  void take_second_half(const StepInput& input, const StepProblem& made, const Solution& solution, State* next);
  bool find_end(const StepInput& input, const Flight& flight, const StepProblem& made, const Solution& solution,
                const State& next, Equations* at);
  void begin_end(const StepInput& input, const Flight& flight, const StepProblem& made, bool pushes, const State& next);
  std::span<const char> find_moved(const Flight& flight, const StepProblem& made, bool pushes);
  /// Rotors and couplings are rows of the end too.
  bool acts_on_axes() const { return two_sided_ || !astray_.empty(); }
  void add_rows(StepProblem* made);
  void take(const StepInput& input, StepProblem* made, State* next);

  bool active_ = false;     ///< some joint is held so in this trial
  bool implicit_ = false;   ///< alpha = 1
  bool two_sided_ = false;  ///< alpha = 1/2: velocities of the scheme have every impulse twice
  bool closing_ = false;    ///< alpha = 1: positions are closed in the passes though nothing flies
  bool linear_ = false;     ///< passes did not help: position errors enter as Theta/h, as they do elsewhere
  bool bends_ = true;       ///< turns are those of the pass before; false: that did not help
  bool open_loop_ = false;
  int passes_ = 0;
  std::vector<char> singular_;  ///< per joint: it closes a loop that goes through a singular pose in this step
  std::vector<Twist> guess_;    ///< of the way, before the first pass
  std::vector<int> island_;     ///< per column: another one of its island, or itself
  std::vector<char> done_;      ///< per column that stands for its island
  std::vector<double> worst_;   ///< per column that stands for its island: error of the last pass, in joint sizes
  std::vector<double> found_;   ///< of this pass
  std::vector<char> exact_;     ///< per column that stands for its island: some of its joints hold at both ends
  std::vector<char> good_columns_;
  JointLoops loops_;
  AxisEnds axes_;
  RangeEnds ranges_;
  std::vector<char> held_;          ///< per joint, in this trial
  std::vector<JointRows> start_;    ///< rows at q
  std::vector<double> kept_;        ///< per slot: the error that stays: all of it where a joint stands open
  std::vector<Twist> way_;          ///< w
  std::vector<Pose> pose_end_;      ///< move(q, w, h)
  std::vector<JointRows> reached_;  ///< values there
  std::vector<int> stiff_;          ///< of Equations::springs
  std::vector<SpringRows> spring_start_, spring_reached_;  ///< at q and move(q, w, h)
  std::vector<Twist> prescribed_;                          ///< of kinematic bodies at the end
  std::vector<Vec6> first_;                                ///< per body: impulses of the start, of joints and of rotors
  std::vector<JointRows> taking_part_;
  std::vector<char> astray_;  ///< per group, then per body that takes part; empty: only groups that fly are asked
  StepInput at_end_;
  RowMap map_;
  Problem problem_;
  Solution solution_;
  std::vector<std::optional<Vec3>> bent_;  ///< per body: StepProblem::bent_spin
};

}  // namespace slipstick
