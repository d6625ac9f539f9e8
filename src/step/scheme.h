// A scheme turns equations into a problem and its solution into motion: the only place where the time step enters.
#pragma once

#include <slipstick/simulation.h>

#include <memory>
#include <span>
#include <vector>

#include "mechanics/equations.h"

namespace slipstick {

/// Where the rows of each element sit in the problem: first row, or -1 where the element has none.
struct RowMap {
  std::vector<int> column_of_body;  ///< -1: no unknowns
  std::vector<int> joint_row;       ///< per entry of State::joint_impulse: row in the problem, or -1 (no freedom)
  std::vector<int> spring_row;      ///< per Equations::springs
  std::vector<int> contact_row;     ///< per Equations::contacts
};

/// What a scheme reads. Nothing in here is written by `discretize`.
struct StepInput {
  const Model* model = nullptr;
  const SimulationOptions* options = nullptr;
  const State* state = nullptr;
  const ContactSet* contacts = nullptr;
  std::span<const Twist> prescribed;  ///< velocities of kinematic bodies in this step; zero for the others
  double h = 0;
};

/// Scratch of one step, made by the stages in turn; deleting it between steps changes nothing.
struct StepScratch {
  Equations equations;
  std::vector<Pose> pose_star;      ///< where the rows are taken if not at the state
  std::vector<double> offset;       ///< normal offset of each contact, m/s
  std::vector<double> restitution;  ///< Lambda_j of [Anitescu03], per contact row block, m/s (<= 0)
  RowMap map;
  Problem problem;
};

class Scheme {
 public:
  virtual ~Scheme() = default;
  virtual std::string_view name() const = 0;
  /// True: contacts that may close within the step belong to the active set; false: only those that touch.
  virtual bool looks_ahead() const = 0;
  /// Stages 4 and 5.
  virtual void discretize(const StepInput& input, StepScratch* scratch) const = 0;
  /// Stage 9: poses and velocities at t + h. Default: the problem's unknown is v' and q' = move(q, v', h).
  virtual void advance(const StepInput& input, const StepScratch& scratch, const Solution& solution, State* next) const;
};

/// A new scheme, or null for an unknown name.
std::unique_ptr<Scheme> make_scheme(std::string_view name);

}  // namespace slipstick
