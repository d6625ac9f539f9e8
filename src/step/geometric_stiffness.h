// How joint forces resist the turn of a body. A force f at the arm r turns it by r x R^T f; K = (r.f) (1 - r r^T/r^2),
// positive part, is how that torque changes with the turn, with f of the last step. A chain under load swings its links
// faster than the step can see, and without K, that is with the directions of the forces held over the step, a scheme
// is unstable whatever it does to the joints:
//
//   (I + a h^2 K) omega' = (I + b h^2 K) omega + ...
//
// A turn about the arm itself changes no torque, and no torque acts about it. K is that of the other two directions:
// the second derivative of the energy, (r.f) 1 - sym(f r^T), has entries that mix them with the arm's, which come of
// how one counts turns, and a thin rod has so little inertia there that they set it spinning for ever
// (docs/decisions/0112).
//
// a = b >= 1/4 would be stable and keep the energy if f were known, a - b damps. K is block-diagonal, so A stays so;
// but it is not a pair of equal and opposite couples. So in groups of bodies that float, whose angular momentum must
// stay, only what a step cannot follow has it: with rho = trace(h^2 I^-1 K) it has the weight max(0, 1 - 1/rho) there
// (docs/decisions/0021). The inertia of rho is that of what turns with the body: a hinge lets it turn about one axis
// alone, and turns the other body with it about the others (docs/decisions/0048).
#pragma once

#include <span>
#include <vector>

#include "step/scheme.h"

namespace slipstick {

class GeometricStiffness {
 public:
  /// No body has any.
  void clear(const Model& model) { parts_.assign(model.bodies.size(), Part{}); }
  /// Of the joints' forces, those of the last step (State::joint_impulse) along the rows given. `weighted`: all bodies
  /// have the weight of those that float, and nothing damps (a = b).
  void update(const StepInput& input, std::span<const double> impulse, const std::vector<JointRows>& joints,
              bool weighted);
  bool has(int body) const { return parts_[body].before > 0; }
  /// a h^2 K and b h^2 K, weighted; body axes.
  Mat3 calc_after(int body) const { return kWeight * parts_[body].stiffness; }
  Mat3 calc_before(int body) const { return parts_[body].before * parts_[body].stiffness; }

 private:
  void add_joint(const StepInput& input, std::span<const double> impulse, const JointRows& joint);

  struct Part {
    Mat3 mobility = Mat3::Zero();   ///< inverse inertia of all that turns with the body
    Mat3 stiffness = Mat3::Zero();  ///< K, then h^2 times its positive part, weighted
    double before = 0;              ///< b; 0: none
  };
  /// The principal axes of a mobility, kept while it is the very same: that of a body on plain ball joints always is.
  struct Turns {
    Mat3 mobility = Mat3::Zero(), axes = Mat3::Identity();
    Vec3 root = Vec3::Zero(), inverse = Vec3::Zero();  ///< of the mobilities; zero about held axes
  };
  static void update_turns(const Mat3& mobility, Turns* turns);
  static Mat3 calc_positive_part(const Mat3& stiffness, const Turns& turns);

  static constexpr double kWeight = 1;  ///< a
  std::vector<Part> parts_;
  std::vector<Turns> turns_;
  std::vector<char> floats_;  ///< per body: its joints do
};

}  // namespace slipstick
