#include "step/impact.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "step/actuation.h"
#include "step/assemble.h"
#include "step/overlap.h"

namespace slipstick {

namespace {

/// A rebound slower than this part of calc_slow_speed, or than the share eta/2 of what the approach gains in a step, is
/// none
/// ([methods 4.2]).
constexpr double kZenoSpeed = 1e-8;
constexpr double kZenoShare = 0.01;
/// Kinetic energy may grow by this share through rounding.
constexpr double kEnergyRounding = 1e-10;
/// Decompression with c' > 0 is solved again with the friction bound that c' gives, at most this often.
constexpr int kMaxBoundRepeats = 20;
constexpr double kBoundTolerance = 1e-12;

void add_momenta(const Model& model, const std::vector<Twist>& velocity, ImpactScratch* s,
                 std::span<const char> taking_part = {}) {
  begin_problem(model, &s->problem, &s->map, taking_part);
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (s->map.column_of_body[i] < 0) continue;
    Vec6 momentum;
    momentum << model.bodies[i].mass * velocity[i].linear, model.bodies[i].inertia * velocity[i].angular;
    add_body_column(model.bodies[i], momentum, nullptr, &s->problem);
  }
}

/// `warm`: the problem is that of the solution at hand but for a few numbers, and not even these differ for the columns
/// that have their answer.
void solve_phase(const StepInput& input, bool warm, StepSolver* ladder, ImpactScratch* scratch,
                 std::vector<Twist>* velocity, LadderResult* worst) {
  if (!warm) scratch->solution.lambda.resize(0);
  const std::span<const char> answered = warm ? scratch->answered : std::span<const char>();
  const LadderResult result =
      ladder->solve_again(scratch->normals, scratch->problem, answered, &scratch->relaxed, &scratch->solution);
  worst->iterations += result.iterations;
  worst->escalations += result.escalations;
  worst->settled = worst->settled || result.settled;
  worst->tolerance = std::max(worst->tolerance, result.tolerance);
  worst->exhausted = worst->exhausted || result.exhausted;
  if (!result.relaxed.empty()) worst->relaxed = result.relaxed;
  if (!result.certified) {
    worst->certified = false;
    worst->note = result.note.empty() ? "an impact was not solved" : result.note;
  }
  if (!(result.residual.verdict() < worst->residual.verdict())) worst->residual = result.residual;
  for (std::size_t i = 0; i < velocity->size(); ++i) {
    if (scratch->map.column_of_body[i] < 0) continue;
    (*velocity)[i] = calc_body_twist(input, scratch->map, scratch->problem, scratch->solution.v, static_cast<int>(i));
  }
}

/// Adds what the problem just solved did; contacts: see add_contact_impulses.
void add_joint_impulses(const Model& model, ImpactScratch* s) {
  for (int r = 0; r < model.joint_rows; ++r)
    if (s->map.joint_row[r] >= 0) s->joint_impulse[r] += s->solution.lambda[s->map.joint_row[r]];
}

void clear_impulses(const Model& model, ImpactScratch* s) {
  s->joint_impulse.assign(model.joint_rows, 0.0);
  s->contact_impulse.assign(s->equations.contacts.size(), {});
}

/// One impact, phase by phase.
class Impact {
 public:
  Impact(const ImpactInput& input, StepSolver* ladder, ImpactScratch* scratch, std::vector<Twist>* velocity)
      : in_(input), model_(*input.step.model), ladder_(*ladder), s_(*scratch), velocity_(*velocity) {}

  ImpactResult run(std::vector<Event>* events);

 private:
  bool is_due();
  bool update_restitution();
  void add_joints();
  void compress(bool plain);
  void decompress();
  bool gains(double before) const;
  void assemble_decompression();
  void update_bound_sums();
  bool update_bounds(bool first);
  void simplify();
  void add_events(std::vector<Event>* events) const;
  void add_friction_work(const VecX& lambda, bool second);
  void add_impulses(bool second);
  void take_compression(double factor);
  const PairLaw& law(std::size_t i) const { return law_of(model_, in_.step.contacts->contacts[i]); }
  bool has_law(std::size_t i, ImpactLaw which) const {
    return law(i).impact.value_or(in_.step.options->impact) == which;
  }
  double restitution_of(std::size_t i) const {
    return in_.restitution.empty() ? law(i).restitution : in_.restitution[i];
  }
  double given(std::size_t i) const;
  double further(std::size_t i) const { return s_.solution.lambda[s_.map.contact_row[i]]; }  ///< c' of decompression
  double speed(std::span<const Twist> velocity, std::size_t i, int row) const {
    const ContactRows& c = contacts()[i];
    return calc_pair_speed(velocity, c.body_a, c.body_b, c.at(row)) + (row < 3 ? c.drift[row] : 0);
  }
  const std::vector<ContactRows>& contacts() const { return s_.equations.contacts; }
  double slow_speed(std::size_t i) const {
    return calc_slow_speed(model_, in_.step.h_nominal, in_.step.contacts->contacts[contacts()[i].contact]);
  }
  bool closes(std::size_t i) const { return s_.before[i] < -in_.closing_share * slow_speed(i); }

  const ImpactInput& in_;
  const Model& model_;
  StepSolver& ladder_;
  ImpactScratch& s_;
  std::vector<Twist>& velocity_;
  ImpactResult result_;
  bool simplified_ = false;
  bool decompresses_ = false;  ///< some contact has a law of two phases
  int worst_joint_ = -1;
  double worst_joint_speed_ = 0;
};

bool Impact::is_due() {
  Equations& eq = s_.equations;
  update_contact_rows(model_, in_.step.state->pose, *in_.step.contacts, &eq.contacts, in_.step.state->time, velocity_);
  update_joint_rows(model_, in_.step.state->pose, &eq.joints);
  update_axis_rows(model_, in_.step.state->pose, in_.step.state->axis, &eq.axes);
  update_coupling_rows(model_, eq.axes, &eq.couplings);
  s_.before.resize(contacts().size());
  bool due = false;
  for (std::size_t i = 0; i < contacts().size(); ++i) {
    s_.before[i] = speed(velocity_, i, 0);
    due = due || closes(i);
  }
  if (!in_.joints) return due;
  for (std::size_t j = 0; j < eq.joints.size(); ++j) {
    const JointRows& joint = eq.joints[j];
    if (joint.compliance > 0) continue;
    for (int r = 0; r < joint.count; ++r) {
      const double w = calc_pair_speed(velocity_, joint.body_a, joint.body_b, joint.row[r]);
      if (std::abs(w) <= std::max(in_.closing_share, std::abs(worst_joint_speed_))) continue;
      worst_joint_ = static_cast<int>(j);
      worst_joint_speed_ = w;
      due = true;
    }
  }
  for (const CouplingRow& coupling : eq.couplings) {
    double w = 0;
    for (int k = 0; k < coupling.count; ++k) {
      const Twist& v = velocity_[coupling.body[k]];
      w += coupling.row[k].head<3>().dot(v.linear) + coupling.row[k].tail<3>().dot(v.angular);
    }
    due = due || std::abs(w) > in_.closing_share;
  }
  return due;
}

/// e_j of this impact; false if all are zero. A contact that was at rest takes part in a rebound, but does not begin
/// one.
bool Impact::update_restitution() {
  s_.restitution.assign(contacts().size(), 0.0);
  bool any = false;
  for (std::size_t i = 0; i < contacts().size(); ++i) {
    if (in_.plastic || !closes(i)) continue;
    const double e = restitution_of(i), approach = -s_.before[i];
    double zeno = kZenoSpeed * slow_speed(i);
    if (!in_.acceleration.empty())
      zeno = std::max(zeno, kZenoShare * in_.step.h_nominal * std::abs(speed(in_.acceleration, i, 0)));
    if (approach <= in_.step.options->restitution_threshold.value_or(in_.plastic_speed)) continue;
    if (law(i).tangential_restitution > 0) any = true, decompresses_ = decompresses_ || !has_law(i, ImpactLaw::Moreau);
    if (e * approach <= zeno) continue;
    s_.restitution[i] = e;
    any = true;
    simplified_ = simplified_ || has_law(i, ImpactLaw::Simplified);
    decompresses_ = decompresses_ || !has_law(i, ImpactLaw::Moreau);
  }
  if (any && !in_.plastic)
    for (std::size_t i = 0; i < contacts().size(); ++i)
      if (!closes(i)) s_.restitution[i] = restitution_of(i);
  return any;
}

void Impact::add_joints() {
  ImpactScratch& s = s_;
  if (in_.scheme != nullptr) return in_.scheme->add_impact_joints(in_.step, s.equations.joints, &s.problem, &s.map);
  add_joint_rows(in_.step, {}, s.equations.joints, 0, &s.problem, &s.map);
  if (!in_.keeps_joint_speed) return;
  for (const JointRows& joint : s.equations.joints)
    for (int r = 0; r < joint.count; ++r)
      if (const int row = s.map.joint_row[model_.joints[joint.joint].first_row + r]; row >= 0)
        s.problem.c[row] -= calc_pair_speed(s_.initial, joint.body_a, joint.body_b, joint.row[r]);
}

/// `plain`: pairs with Moreau's law, which has one phase, do not rebound in it either.
void Impact::compress(bool plain) {
  add_momenta(model_, velocity_, &s_, in_.taking_part);
  add_joints();
  add_axis_rows(in_.step, {}, s_.equations, 0, &s_.problem, &s_.map, velocity_);
  const auto in_one_phase = [&](std::size_t i) { return !plain && closes(i) && has_law(i, ImpactLaw::Moreau); };
  s_.offset.assign(contacts().size(), 0.0);
  for (std::size_t i = 0; i < contacts().size(); ++i)
    if (in_one_phase(i)) s_.offset[i] = s_.restitution[i] * s_.before[i];
  add_contact_rows(in_.step, contacts(), s_.offset, &s_.problem, &s_.map);
  s_.normals.clear();
  for (std::size_t i = 0; i < contacts().size(); ++i) {
    if (!in_one_phase(i)) continue;
    s_.normals.push_back({s_.map.contact_row[i], s_.offset[i]});
    for (int k = 1; contacts()[i].friction > 0 && k < contacts()[i].count; ++k)
      s_.problem.c[s_.map.contact_row[i] + k] += law(i).tangential_restitution * speed(s_.initial, i, k);
  }
  solve_phase(in_.step, false, &ladder_, &s_, &velocity_, &result_.solve);
  s_.compression.resize(static_cast<Eigen::Index>(contacts().size()));
  for (std::size_t i = 0; i < contacts().size(); ++i)
    s_.compression[static_cast<Eigen::Index>(i)] = s_.solution.lambda[s_.map.contact_row[i]];
  add_friction_work(s_.solution.lambda, false);
  clear_impulses(model_, &s_);
  add_impulses(false);
}

/// What the phase just solved did; in the second one a part of it was given.
void Impact::add_impulses(bool second) {
  add_joint_impulses(model_, &s_);
  const VecX& lambda = s_.solution.lambda;
  for (std::size_t i = 0; i < contacts().size(); ++i) {
    const ContactRows& c = contacts()[i];
    std::array<double, 6>& sum = s_.contact_impulse[i];
    const int row = s_.map.contact_row[i], tangents = second && s_.fixed_row[i] >= 0 ? s_.fixed_row[i] : row;
    sum[0] += lambda[row] + (second ? given(i) : 0);
    if (c.friction == 0) continue;
    for (int k = 1; k < c.count + (second ? 0 : c.extra); ++k) sum[k] += lambda[tangents + k];
  }
}

/// The impulse of decompression that the law gives.
double Impact::given(std::size_t i) const {
  return !has_law(i, ImpactLaw::Poisson) ? 0 : s_.restitution[i] * s_.compression[static_cast<Eigen::Index>(i)];
}

/// The impulse times the mean of the slip before and after its phase.
void Impact::add_friction_work(const VecX& lambda, bool second) {
  const std::vector<Twist>& from = second ? s_.compressed : s_.initial;
  for (std::size_t i = 0; i < contacts().size(); ++i) {
    if (contacts()[i].friction == 0) continue;
    const int row = second && s_.fixed_row[i] >= 0 ? s_.fixed_row[i] : s_.map.contact_row[i];
    for (int k = 1; k < contacts()[i].count; ++k)
      result_.friction_work += 0.5 * lambda[row + k] * (speed(from, i, k) + speed(velocity_, i, k));
  }
}

/// A pair with a given decompression impulse has two blocks: its normal row for c' alone, and a friction block whose
/// normal row moves nothing and is held at e c_n + c' by a compliance, so that the cone has just that size.
void Impact::assemble_decompression() {
  ImpactScratch& s = s_;
  add_momenta(model_, s_.compressed, &s, in_.taking_part);
  add_joints();
  add_axis_rows(in_.step, {}, s.equations, 0, &s.problem, &s.map, s_.compressed);
  s_.normals.clear();
  s_.fixed_row.assign(contacts().size(), -1);
  for (std::size_t i = 0; i < contacts().size(); ++i) {
    const ContactRows& c = contacts()[i];
    const double offset = has_law(i, ImpactLaw::Newton) && closes(i) ? s_.restitution[i] * s_.before[i] : 0;
    const bool slippery = c.friction == 0, split = !slippery && given(i) > 0;
    add_pair_impulse(in_.step, s.map, c.body_a, c.body_b, c.row[0], given(i), &s.problem);
    const auto block_of = [&](bool friction) -> RowBlock& {
      RowBlock& block =
          s.problem.add_block(friction ? LawKind::Friction : LawKind::Nonnegative, friction ? c.count : 1);
      block.friction = in_.step.options->friction;
      block.facets = in_.step.options->facets;
      block.mu = c.friction;
      block.mode = c.solve;
      return block;
    };
    const int row = block_of(!slippery && !split).row;
    s.map.contact_row[i] = row;
    s.problem.c[row] = offset;
    s_.normals.push_back({row, offset});
    add_pair_entries(in_.step, s.map, c.body_a, c.body_b,
                     {c.row.data(), static_cast<std::size_t>(slippery || split ? 1 : c.count)}, &s.problem);
    int tangents = slippery ? -1 : row;
    if (split) {
      tangents = s_.fixed_row[i] = block_of(true).row;
      std::array<PairRow, 3> rows = c.row;
      rows[0] = {};
      add_pair_entries(in_.step, s.map, c.body_a, c.body_b, {rows.data(), static_cast<std::size_t>(c.count)},
                       &s.problem);
      const double mobility = calc_pair_mobility(model_, c.body_a, c.body_b, c.row[1]);
      s.problem.compliance[tangents] = mobility;
      s.problem.c[tangents] = -mobility * (given(i) + s_.fixed[i]);
    }
    for (int k = 1; tangents >= 0 && k < c.count; ++k) s.problem.c[tangents + k] += c.drift[k];
    for (int k = 1; tangents >= 0 && closes(i) && k < c.count; ++k)
      s.problem.c[tangents + k] += law(i).tangential_restitution * speed(s_.initial, i, k);
  }
}

void Impact::decompress() {
  s_.fixed.assign(contacts().size(), 0.0);
  for (int repeat = 0;; ++repeat) {
    assemble_decompression();
    velocity_ = s_.compressed;
    solve_phase(in_.step, repeat > 0, &ladder_, &s_, &velocity_, &result_.solve);
    if (!update_bounds(repeat == 0) || repeat == kMaxBoundRepeats) break;
  }
  add_friction_work(s_.solution.lambda, true);
  add_impulses(true);
}

/// f is what decompression has found of each bound less the bound it was solved with, in all islands.
void Impact::update_bound_sums() {
  const std::span<const int> island_of_row = ladder_.island_of_row();
  s_.bounds.clear();
  for (std::size_t i = 0; i < contacts().size(); ++i) {
    const std::size_t island = island_of_row[s_.map.contact_row[i]];
    if (s_.bounds.size() <= island) s_.bounds.resize(island + 1);
    BoundSums& of = s_.bounds[island];
    of.size = std::max(of.size, std::abs(s_.compression[static_cast<Eigen::Index>(i)]));
    if (s_.fixed_row[i] < 0) continue;
    const double f = further(i) - s_.fixed[i], before = s_.last_further[i] - s_.last_fixed[i];
    of.change = std::max(of.change, std::abs(f));
    of.last_change = std::max(of.last_change, std::abs(before));
    of.turn += f * (f - before);
    of.turned += (f - before) * (f - before);
  }
}

/// The bounds of friction for the next repeat, island by island; false: they all stay. A contact or two of an island
/// push once more, and each repeat leaves the same share of what is missing: two of them show where that leads
/// (Anderson's mixing of two). Columns of islands whose bounds stay have their answer.
bool Impact::update_bounds(bool first) {
  if (first) s_.last_fixed = s_.last_further = s_.fixed;
  update_bound_sums();
  const std::span<const int> island_of_row = ladder_.island_of_row();
  s_.answered.assign(s_.problem.columns(), 1);
  bool any = false;
  for (std::size_t i = 0; i < contacts().size(); ++i) {
    const BoundSums& of = s_.bounds[island_of_row[s_.map.contact_row[i]]];
    if (of.change <= kBoundTolerance * of.size) continue;
    any = true;
    for (const int body : {contacts()[i].body_a, contacts()[i].body_b})
      if (body >= 0 && s_.map.column_of_body[body] >= 0) s_.answered[s_.map.column_of_body[body]] = 0;
    if (s_.fixed_row[i] < 0) continue;
    const bool falls = !first && of.turned > 0 && of.change < of.last_change;
    const double now = further(i), share = falls ? of.turn / of.turned : 0;
    const double next = now - share * (now - s_.last_further[i]);
    s_.last_fixed[i] = std::exchange(s_.fixed[i], std::max(0.0, next));
    s_.last_further[i] = now;
  }
  return any;
}

/// All that this impact did is `factor` times its compression.
void Impact::take_compression(double factor) {
  s_.joint_impulse = s_.joint_compression;
  s_.contact_impulse = s_.contact_compression;
  for (double& impulse : s_.joint_impulse) impulse *= factor;
  for (std::array<double, 6>& rows : s_.contact_impulse)
    for (double& impulse : rows) impulse *= factor;
}

void Impact::simplify() {
  double e = 0;
  for (std::size_t i = 0; i < contacts().size(); ++i)
    if (closes(i)) e = std::max(e, s_.restitution[i]);
  // Lemma 3.1 needs a v- that the joints allow: where a start violates them, that part is plastic.
  const std::vector<Twist>& from = s_.initial;
  const double share = worst_joint_ >= 0 ? 0 : e;
  take_compression(1 + share);
  for (std::size_t i = 0; i < velocity_.size(); ++i) {
    if (s_.map.column_of_body[i] < 0) continue;
    velocity_[i].linear = s_.compressed[i].linear + share * (s_.compressed[i].linear - from[i].linear);
    velocity_[i].angular = s_.compressed[i].angular + share * (s_.compressed[i].angular - from[i].angular);
  }
}

void Impact::add_events(std::vector<Event>* events) const {
  const double t = in_.step.state->time;
  for (std::size_t i = 0; i < contacts().size(); ++i) {
    if (!closes(i)) continue;
    const ContactRows& c = contacts()[i];
    events->push_back({EventKind::Impact, t, c.body_a, c.body_b, s_.before[i], speed(velocity_, i, 0)});
  }
  if (worst_joint_ < 0) return;
  const JointRows& joint = s_.equations.joints[worst_joint_];
  events->push_back({EventKind::Impact, t, joint.body_a, joint.body_b, worst_joint_speed_, 0});
}

/// Kinetic energy grew, and no prescribed motion can have paid for it.
bool Impact::gains(double before) const {
  for (const Twist& v : in_.step.prescribed)
    if (!v.linear.isZero(0) || !v.angular.isZero(0)) return false;
  if (model_.has_belts) return false;
  return calc_kinetic(model_, velocity_) > before * (1 + kEnergyRounding);
}

ImpactResult Impact::run(std::vector<Event>* events) {
  if (!is_due()) return result_;
  result_.happened = true;
  result_.solve.certified = true;
  s_.initial = velocity_;
  const double before = calc_kinetic(model_, velocity_);
  const bool rebounds = update_restitution();
  compress(simplified_);
  s_.compressed = velocity_;
  if (rebounds) {
    const auto gained = [&] { return calc_kinetic(model_, velocity_) > before * (1 + kEnergyRounding); };
    if (!simplified_ && decompresses_) {
      s_.joint_compression = s_.joint_impulse;
      s_.contact_compression = s_.contact_impulse;
      decompress();
    }
    result_.guarded = !simplified_ && gained();
    if (simplified_ || result_.guarded) {
      // The law would have gained energy, or there is none but the simplified one: from compression alone.
      if (result_.guarded) {
        velocity_ = s_.initial;
        result_.friction_work = 0;
        compress(true);
        s_.compressed = velocity_;
      }
      const double friction = result_.friction_work;
      s_.joint_compression = s_.joint_impulse;
      s_.contact_compression = s_.contact_impulse;
      result_.friction_work = friction;
      simplify();
    }
    // Lemma 3.1 supposes joint speeds of zero before the impact: where they are not, compression alone is sure.
    if (in_.scheme != nullptr && gains(before)) {
      result_.guarded = true;
      velocity_ = s_.compressed;
      take_compression(1);
    }
  }
  result_.energy_change = calc_kinetic(model_, velocity_) - before;
  s_.reached = velocity_;
  add_events(events);
  return result_;
}

}  // namespace

double calc_kinetic(const Model& model, std::span<const Twist> velocity) {
  double twice = 0;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const Body& body = model.bodies[i];
    if (body.kind != BodyKind::Dynamic) continue;
    twice += body.mass * velocity[i].linear.squaredNorm() + velocity[i].angular.dot(body.inertia * velocity[i].angular);
  }
  return twice / 2;
}

ImpactResult apply_impact(const ImpactInput& input, StepSolver* ladder, ImpactScratch* scratch,
                          std::vector<Twist>* velocity, std::vector<Event>* events) {
  return Impact(input, ladder, scratch, velocity).run(events);
}

LadderResult project_velocity(const StepInput& input, std::span<const char> sticking, StepSolver* ladder,
                              ImpactScratch* scratch, std::vector<Twist>* velocity) {
  Equations& eq = scratch->equations;
  ImpactScratch& s = *scratch;
  s.initial = *velocity;
  update_contact_rows(*input.model, input.state->pose, *input.contacts, &eq.contacts, input.state->time, *velocity);
  update_joint_rows(*input.model, input.state->pose, &eq.joints);
  update_axis_rows(*input.model, input.state->pose, input.state->axis, &eq.axes);
  update_coupling_rows(*input.model, eq.axes, &eq.couplings);
  add_momenta(*input.model, *velocity, &s);
  add_joint_rows(input, {}, eq.joints, 0, &s.problem, &s.map);
  add_axis_rows(input, {}, eq, 0, &s.problem, &s.map, *velocity);
  std::vector<int>& contact_row = s.map.contact_row;
  contact_row.clear();
  for (std::size_t i = 0; i < eq.contacts.size(); ++i) {
    const ContactRows& c = eq.contacts[i];
    const int count = sticking[i] && c.friction > 0 ? c.count : 1;
    contact_row.push_back(s.problem.add_block(LawKind::Equality, count).row);
    for (int k = 1; k < count; ++k) s.problem.c[contact_row.back() + k] = c.drift[k];
    add_pair_entries(input, s.map, c.body_a, c.body_b, {c.row.data(), static_cast<std::size_t>(count)}, &s.problem);
  }
  LadderResult result;
  result.certified = true;
  scratch->normals.clear();
  solve_phase(input, false, ladder, scratch, velocity, &result);
  s.reached = *velocity;
  clear_impulses(*input.model, scratch);
  add_joint_impulses(*input.model, scratch);
  for (std::size_t i = 0; i < eq.contacts.size(); ++i)
    for (int k = 0; k < (sticking[i] && eq.contacts[i].friction > 0 ? eq.contacts[i].count : 1); ++k)
      scratch->contact_impulse[i][k] = scratch->solution.lambda[s.map.contact_row[i] + k];
  return result;
}

}  // namespace slipstick
