#include "step/trial.h"

#include <algorithm>
#include <chrono>

namespace slipstick {

namespace {

long long now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Stopwatch::Stopwatch(double* seconds) : seconds_(seconds), start_(now()) {}
Stopwatch::~Stopwatch() { *seconds_ += 1e-9 * static_cast<double>(now() - start_); }

bool is_finite(const State& state) {
  for (const Pose& q : state.pose)
    if (!q.position.allFinite() || !q.orientation.coeffs().allFinite()) return false;
  for (const Twist& v : state.velocity)
    if (!v.linear.allFinite() || !v.angular.allFinite()) return false;
  return true;
}

/// The last step's impulses by key, and the present velocities, are the guess.
void Trial::warm_start(const StepInput& input) {
  const Model& model = *input.model;
  const State& state = *input.state;
  const Problem& problem = scratch_.problem;
  const double share = input.h / input.h_nominal / scratch_.impulse_scale;
  solution_.v.resize(problem.unknowns());
  solution_.lambda.setZero(problem.rows());
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const int column = scratch_.map.column_of_body[i];
    if (column < 0) continue;
    Vec6 v;
    v << state.velocity[i].linear, state.velocity[i].angular;
    for (int k = 0; k < model.bodies[i].dof; ++k)
      solution_.v[problem.column_start[column] + k] = model.bodies[i].free_basis.col(k).dot(v);
  }
  for (int r = 0; r < model.joint_rows; ++r)
    if (scratch_.map.joint_row[r] >= 0) solution_.lambda[scratch_.map.joint_row[r]] = share * state.joint_impulse[r];
  normals_.clear();
  warm_contacts_ = 0;
  std::size_t m = 0;
  for (std::size_t i = 0; i < scratch_.equations.contacts.size(); ++i) {
    const ContactRows& contact = scratch_.equations.contacts[i];
    const int row = scratch_.map.contact_row[i];
    if (row < 0) continue;
    normals_.push_back({row, scratch_.restitution[i]});
    const ContactKey& key = input.contacts->contacts[contact.contact].key;
    while (m < state.contact_memory.size() && state.contact_memory[m].key < key) ++m;
    if (m == state.contact_memory.size() || state.contact_memory[m].key != key) continue;
    const bool counts = input.contacts->contacts[contact.contact].limit < 0;
    warm_contacts_ += counts && !state.contact_memory[m].impulse.isZero(0);
    for (int k = 0; k < (contact.friction == 0 ? 1 : contact.count); ++k)
      solution_.lambda[row + k] =
          share * contact.direction[k].dot(state.contact_memory[m].impulse) / contact.direction[k].squaredNorm();
  }
}

void Trial::solve(StepReport* report) {
  const Stopwatch watch(&report->seconds.solve);
  if (kept_problem_) {
    *kept_problem_ = scratch_.problem;
    *kept_guess_ = solution_;
  }
  outcome_ = ladder_.solve(normals_, &scratch_.problem, &solution_);
  report->iterations += outcome_.iterations;
  report->escalations += outcome_.escalations;
  report->islands += outcome_.islands;
  report->held += outcome_.held;
  report->seconds.certify += outcome_.certify_seconds;
  report->rows = std::max(report->rows, scratch_.problem.rows());
}

void Trial::run(const StepInput& input, State* next, StepReport* report) {
  scratch_.refining = false;
  {
    const Stopwatch watch(&report->seconds.assemble);
    scheme_.discretize(input, &scratch_);  // 4, 5
    warm_start(input);                     // 6
  }
  report->warm_contacts = warm_contacts_;
  solve(report);  // 7, 8
  if (scheme_.refine(input, solution_, &scratch_)) {
    scratch_.refining = true;
    scheme_.discretize(input, &scratch_);
    solve(report);
  }
  report->certificate.residual = outcome_.residual;
  report->certified = outcome_.certified;
  report->heap = outcome_.tolerance > ladder_.tolerance();
  report->note = outcome_.note;
  const Stopwatch watch(&report->seconds.advance);
  scheme_.advance(input, scratch_, solution_, next);  // 9
  next->time = input.state->time + input.h;
}

}  // namespace slipstick
