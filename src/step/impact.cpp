#include "step/impact.h"

#include <algorithm>

#include "step/assemble.h"

namespace slipstick {

namespace {

double calc_row_velocity(const std::vector<Twist>& velocity, int body_a, int body_b, const PairRow& row) {
  double speed = 0;
  const auto side = [&](int body, const Vec6& part) {
    if (body < 0) return;
    speed += part.head<3>().dot(velocity[body].linear) + part.tail<3>().dot(velocity[body].angular);
  };
  side(body_a, row.a);
  side(body_b, row.b);
  return speed;
}

double calc_kinetic(const Model& model, const std::vector<Twist>& velocity) {
  double twice = 0;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const Body& body = model.bodies[i];
    if (body.kind != BodyKind::Dynamic) continue;
    twice += body.mass * velocity[i].linear.squaredNorm() + velocity[i].angular.dot(body.inertia * velocity[i].angular);
  }
  return twice / 2;
}

/// The problem of one phase: masses, momenta of `velocity`, velocity-level joints, all contacts with zero offset.
void assemble_phase(const StepInput& input, const std::vector<Twist>& velocity, ImpactScratch* scratch) {
  const Model& model = *input.model;
  StepScratch& s = scratch->step;
  begin_problem(model, &s.problem, &s.map);
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (s.map.column_of_body[i] < 0) continue;
    Vec6 momentum;
    momentum << model.bodies[i].mass * velocity[i].linear, model.bodies[i].inertia * velocity[i].angular;
    add_body_column(model.bodies[i], momentum, nullptr, &s.problem);
  }
  add_joint_rows(input, s.equations.joints, 0.0, &s.problem, &s.map);
  scratch->offset.assign(s.equations.contacts.size(), 0.0);
  add_contact_rows(input, s.equations.contacts, scratch->offset, &s.problem, &s.map);
}

void solve_phase(const StepInput& input, Ladder* ladder, ImpactScratch* scratch, std::vector<Twist>* velocity,
                 LadderResult* worst) {
  scratch->solution.lambda.resize(0);
  const LadderResult result = ladder->solve(scratch->none, &scratch->step.problem, &scratch->solution);
  worst->iterations += result.iterations;
  worst->escalations += result.escalations;
  if (!result.certified) worst->certified = false;
  if (result.residual.relative >= worst->residual.relative) worst->residual = result.residual;
  for (std::size_t i = 0; i < velocity->size(); ++i)
    (*velocity)[i] =
        calc_body_twist(input, scratch->step.map, scratch->step.problem, scratch->solution.v, static_cast<int>(i));
}

/// Adds the decompression impulses e_j c_n,j n_j to b; false if there are none.
bool add_decompression(const ImpactScratch& scratch, const VecX& compression, Problem* problem) {
  bool any = false;
  const Equations& eq = scratch.step.equations;
  for (std::size_t i = 0; i < eq.contacts.size(); ++i) {
    const int row = scratch.step.map.contact_row[i];
    const double impulse = eq.contacts[i].restitution * compression[row];
    if (impulse <= 0) continue;
    any = true;
    for (const RowBlock& block : problem->blocks) {
      if (block.row != row) continue;
      for (int e = block.entry; e < block.entry + block.entries; ++e) {
        const JacobianEntry& entry = problem->entries[e];
        const auto j = problem->jacobian_block(block, entry);
        for (int k = 0; k < j.cols(); ++k) problem->b[problem->column_start[entry.column] + k] += impulse * j(0, k);
      }
    }
  }
  return any;
}

}  // namespace

ImpactResult apply_impact(const StepInput& input, double threshold, Ladder* ladder, ImpactScratch* scratch,
                          std::vector<Twist>* velocity, std::vector<ImpactEvent>* events) {
  ImpactResult result;
  const Model& model = *input.model;
  Equations& eq = scratch->step.equations;
  update_contact_rows(model, input.state->pose, *input.contacts, &eq.contacts);
  std::vector<double> before(eq.contacts.size());
  double restitution = 0;
  for (std::size_t i = 0; i < eq.contacts.size(); ++i) {
    const ContactRows& contact = eq.contacts[i];
    before[i] = calc_row_velocity(*velocity, contact.body_a, contact.body_b, contact.row[0]);
    if (before[i] < -threshold) result.happened = true;
    restitution = std::max(restitution, contact.restitution);
  }
  if (!result.happened) return result;

  result.solve.certified = true;
  const std::vector<Twist> initial = *velocity;
  update_joint_rows(model, input.state->pose, &eq.joints);
  assemble_phase(input, *velocity, scratch);
  solve_phase(input, ladder, scratch, velocity, &result.solve);
  const std::vector<Twist> compressed = *velocity;
  const VecX impulses = scratch->solution.lambda;
  assemble_phase(input, compressed, scratch);
  if (add_decompression(*scratch, impulses, &scratch->step.problem)) {
    solve_phase(input, ladder, scratch, velocity, &result.solve);
    if (calc_kinetic(model, *velocity) > calc_kinetic(model, initial)) {
      for (std::size_t i = 0; i < velocity->size(); ++i) {
        (*velocity)[i].linear = (1 + restitution) * compressed[i].linear - restitution * initial[i].linear;
        (*velocity)[i].angular = (1 + restitution) * compressed[i].angular - restitution * initial[i].angular;
      }
    }
  }
  for (std::size_t i = 0; i < eq.contacts.size(); ++i) {
    if (before[i] >= -threshold) continue;
    const ContactRows& contact = eq.contacts[i];
    events->push_back({input.state->time, contact.body_a, contact.body_b, before[i],
                       calc_row_velocity(*velocity, contact.body_a, contact.body_b, contact.row[0])});
  }
  return result;
}

}  // namespace slipstick
