#include "step/impact_stage.h"

#include <algorithm>
#include <cmath>

#include "step/assemble.h"

namespace slipstick {

double calc_plastic_speed(const Model& model, double h) { return std::max(1e-3, 2 * h * model.gravity.norm()); }

/// Fills `touching_` and `velocity_`.
bool ImpactStage::is_due(const StepInput& input) {
  touching_.contacts.clear();
  bool bounces = false;
  for (const Contact& contact : input.contacts->contacts) {
    if (contact.gap > 0 || contact.central) continue;
    touching_.contacts.push_back(contact);
    const PairLaw& law = law_of(*input.model, contact);
    bounces = bounces || law.restitution > 0 || law.tangential_restitution > 0;
  }
  if (!bounces) return false;
  velocity_ = input.state->velocity;
  for (std::size_t i = 0; i < velocity_.size(); ++i)
    if (input.model->bodies[i].kind == BodyKind::Kinematic) velocity_[i] = input.prescribed[i];
  update_contact_rows(*input.model, input.state->pose, touching_, &rows_);
  const double threshold =
      input.options->restitution_threshold.value_or(calc_plastic_speed(*input.model, input.h_nominal));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const PairLaw& law = law_of(*input.model, touching_.contacts[i]);
    if (law.restitution == 0 && law.tangential_restitution == 0) continue;
    if (calc_pair_speed(velocity_, rows_[i].body_a, rows_[i].body_b, rows_[i].row[0]) < -threshold) return true;
  }
  return false;
}

bool ImpactStage::run(const StepInput& input, const Scheme& scheme, StepSolver* ladder, State* restarted) {
  result_ = {};
  events_.clear();
  if (!is_due(input)) return false;
  ImpactInput impact;
  impact.step = input;
  impact.step.contacts = &touching_;
  impact.step.h = 0;
  impact.scheme = &scheme;
  impact.plastic_speed = calc_plastic_speed(*input.model, input.h_nominal);
  result_ = apply_impact(impact, ladder, &scratch_, &velocity_, &events_);
  if (!result_.happened) return false;
  *restarted = *input.state;
  restarted->velocity = velocity_;
  restarted->previous_velocity.clear();
  return true;
}

}  // namespace slipstick
