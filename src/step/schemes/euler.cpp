// [AnitescuPotra97] as the member alpha = gamma = 1 of the family of [Gavrea08] ([METHODS 2]); velocity-level
// constraints only, impacts by compression and decompression (step/impact.h), found at the end of a step, not located.
//
//   (M - h F(vF)) v' - sum J^T c = M v + h k(t + h, q),      joint rows at q* = move(q, v, h/2)
//   joints:    G v' = 0
//   contacts that touch:  0 <= n^T v' _|_ c_n >= 0, friction
//   q' = move(q, v', h)
#include <cmath>
#include <limits>

#include "base/se3.h"
#include "step/assemble.h"
#include "step/schemes/schemes.h"

namespace slipstick {

namespace {

class Euler final : public Scheme {
 public:
  std::string_view name() const override { return "euler"; }
  bool looks_ahead() const override { return false; }

  void discretize(const StepInput& input, StepScratch* scratch) const override {
    const Model& model = *input.model;
    const State& state = *input.state;
    Equations& eq = scratch->equations;
    update_equations(model, state, *input.contacts, &eq);
    update_loads(model, state.pose, state.time + input.h, &eq.load);
    scratch->pose_star.resize(state.pose.size());
    for (std::size_t i = 0; i < state.pose.size(); ++i)
      scratch->pose_star[i] = move(state.pose[i], state.velocity[i], input.h / 2);
    update_joint_rows(model, scratch->pose_star, &eq.joints);

    begin_problem(model, &scratch->problem, &scratch->map);
    for (std::size_t i = 0; i < model.bodies.size(); ++i) {
      if (scratch->map.column_of_body[i] < 0) continue;
      add_column(model.bodies[i], state.velocity[i], eq.gravity[i] + eq.load[i], input.h, &scratch->problem);
    }
    add_joint_rows(input, eq.joints, 0.0, &scratch->problem, &scratch->map);
    add_spring_rows(input, eq.springs, &scratch->problem, &scratch->map);
    scratch->restitution.assign(eq.contacts.size(), 0.0);
    add_contact_rows(input, eq.contacts, scratch->restitution, &scratch->problem, &scratch->map);
  }

 private:
  static void add_column(const Body& body, const Twist& v, const Vec6& force, double h, Problem* problem) {
    Vec6 momentum = h * force;
    momentum.head<3>() += body.mass * v.linear;
    momentum.tail<3>() += body.inertia * v.angular;
    // F(vF) = [I omega_F]_x, vF half a step ahead under force and gyroscopic torque ([METHODS 2], second order in
    // rotation for the whole family). Antisymmetric, so that A stays positive definite.
    const Vec3 spin = body.inertia * v.angular;
    const Vec3 half = v.angular + 0.5 * h * (body.inertia_inverse * (force.tail<3>() + spin.cross(v.angular)));
    const Mat3 gyroscopic = h * skew(body.inertia * half);
    const bool spins = body.dof >= 5 && (gyroscopic * v.angular).norm() > 0;
    add_body_column(body, momentum, spins ? &gyroscopic : nullptr, problem);
    if (spins) problem->symmetric = false;
  }
};

}  // namespace

std::unique_ptr<Scheme> make_euler() { return std::make_unique<Euler>(); }

}  // namespace slipstick
