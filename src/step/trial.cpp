#include "step/trial.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>

#include "step/assemble.h"
#include "step/world_scale.h"

namespace slipstick {

namespace {

long long now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Spinning and rolling are not remembered. What turns at the start of the step goes on to do so, and its limit is met
/// in the direction that would stop it: so the active set of a wheel that rolls is known before the solver begins.
void guess_turning(const Model& model, const State& state, const ContactRows& contact, double* lambda) {
  const double limit = contact.friction * lambda[0];
  const int last = contact.count + contact.extra;
  for (int first = contact.count; first < last;) {
    const int size = (last - first) % 2 == 1 ? 1 : 2;  // spinning is one row, rolling two; in the plane one
    double length = 0;
    for (int k = first; k < first + size; ++k) {
      const double mobility = calc_pair_mobility(model, contact.body_a, contact.body_b, contact.at(k));
      const double rate = calc_pair_speed(state.velocity, contact.body_a, contact.body_b, contact.at(k));
      lambda[k] = mobility > 0 ? -rate / mobility : 0;
      length = std::hypot(length, lambda[k]);
    }
    for (int k = first; k < first + size && length > limit; ++k) lambda[k] *= limit / length;
    first += size;
  }
}

/// Columns that have their answer keep it, whatever a solver has made of them while it answered others: who asks for
/// another pass elsewhere is nobody's business here. True: there was another one.
bool keep_columns(const Problem& problem, std::span<const char> columns, const Solution& answer, Solution* solution) {
  bool changed = false;
  const auto keep = [&](const VecX& from, int first, int size, VecX* to) {
    if (from.size() != to->size() || from.segment(first, size) == to->segment(first, size)) return;
    to->segment(first, size) = from.segment(first, size);
    changed = true;
  };
  for (int k = 0; k < problem.columns(); ++k)
    if (columns[k]) keep(answer.v, problem.column_start[k], problem.column_size(k), &solution->v);
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const RowBlock& block = problem.blocks[i];
    if (block.entries == 0 || !columns[problem.entries[block.entry].column]) continue;
    keep(answer.lambda, block.row, block.size, &solution->lambda);
    keep(answer.w, block.row, block.size, &solution->w);
    if (answer.uniqueness.size() == solution->uniqueness.size() && i < answer.uniqueness.size())
      solution->uniqueness[i] = answer.uniqueness[i];
  }
  return changed;
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

void Trial::update_equations(const StepInput& input, StepReport* report) {
  const Stopwatch watch(&report->seconds.assemble);
  again_ = settling_ = false;
  fresh_ = true;
  h_ = input.h;
  slipstick::update_equations(*input.model, input.drive, *input.state, *input.contacts, &equations_, input.team);
}

void Trial::begin_ends(const StepInput& input) {
  flight_.begin(input, scheme_, equations_, &made_);
  ends_.begin(input, scheme_, flight_, equations_, &made_);
  contact_ends_.begin(input, equations_, &made_);
}

void Trial::discretize(const StepInput& input, StepReport* report) {
  const Stopwatch watch(&report->seconds.assemble);
  if (!again_) {
    made_.last_impulse = input.state->joint_impulse;
    begin_ends(input);
  }
  made_.bent_spin.clear();
  if (again_ && !settling_) {
    ends_.add_bends(input, &made_);
    contact_ends_.add_bends(input, &made_);
  }
  scheme_.discretize(input, equations_, again_ && !settling_, &made_);
  ends_.apply(input, &made_);
  contact_ends_.apply(&made_);
  update_places(input, made_.map, &made_.problem);
}

void Trial::warm_start(const StepInput& input, StepReport* report) {
  // Springs that have become forces, or are none any more, have other rows: nothing that is known of those counts.
  if (again_ && (!settling_ || !flight_.find_settled().empty())) return;
  const Stopwatch watch(&report->seconds.assemble);
  const Model& model = *input.model;
  const State& state = *input.state;
  const Problem& problem = made_.problem;
  const double share = input.h / input.options->step / made_.impulse_scale;
  solution_.v.resize(problem.unknowns());
  solution_.lambda.setZero(problem.rows());
  for_portions(input.team, model.bodies.size(), kBodyPortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const int column = made_.map.column_of_body[i];
      if (column < 0) continue;
      Vec6 v;
      v << state.velocity[i].linear, state.velocity[i].angular;
      const Body& body = model.bodies[i];
      for (int k = 0; k < body.dof; ++k)  // without locks the basis is the identity; zero is the one that a sum leaves
        solution_.v[problem.column_start[column] + k] = body.dof == 6 ? v[k] + 0.0 : body.free_basis().col(k).dot(v);
    }
  });
  for (int r = 0; r < model.joint_rows; ++r)
    if (made_.map.joint_row[r] >= 0)
      solution_.lambda[made_.map.joint_row[r]] =
          state.joint_impulse[r] * (made_.joint_end.split[r] ? 0.5 * input.h / input.options->step : share);
  normals_.clear();
  warm_contacts_ = 0;
  solution_.uniqueness.assign(problem.blocks.size(), Uniqueness::Unknown);
  const std::size_t count = made_.equations->contacts.size();
  for (std::size_t i = 0; i < count; ++i)
    if (const int row = made_.map.contact_row[i]; row >= 0)
      normals_.push_back({row, made_.restitution[i], std::min(made_.offset[i] - made_.restitution[i], 0.0)});
  // Rows that a driver has put behind the others are out of order: then one goes through all of them.
  const std::vector<Contact>& contacts = input.contacts->contacts;
  const bool sorted = std::is_sorted(contacts.begin(), contacts.end(),
                                     [](const Contact& x, const Contact& y) { return x.key < y.key; });
  std::atomic<int> warm = 0;
  for_portions(sorted ? input.team : nullptr, count, kContactPortion,
               [&](std::size_t first, std::size_t last) { warm += warm_contacts(input, share, first, last); });
  warm_contacts_ = warm;
  report->warm_contacts = warm_contacts_;
}

/// Contacts [first, last) of the problem begin with what is remembered of them; how many there are. What is
/// remembered is sorted by key.
int Trial::warm_contacts(const StepInput& input, double share, std::size_t first, std::size_t last) {
  const std::vector<ContactMemory>& memory = input.state->contact_memory;
  const std::vector<Contact>& contacts = input.contacts->contacts;
  const std::vector<ContactRows>& rows = made_.equations->contacts;
  if (first == last) return 0;
  auto known = std::lower_bound(memory.begin(), memory.end(), contacts[rows[first].contact].key,
                                [](const ContactMemory& each, const ContactKey& key) { return each.key < key; });
  int warm = 0;
  for (std::size_t i = first; i < last; ++i) {
    const ContactRows& contact = rows[i];
    const int row = made_.map.contact_row[i];
    if (row < 0) continue;
    const ContactKey& key = contacts[contact.contact].key;
    while (known != memory.end() && known->key < key) ++known;
    if (known == memory.end() || known->key != key) continue;
    solution_.uniqueness[made_.map.contact_block[i]] = known->uniqueness;
    warm += contacts[contact.contact].limit < 0 && !known->impulse.isZero(0);
    const double part = made_.find_range(i) != nullptr ? 0.5 * share : share;
    for (int k = 0; k < (contact.friction == 0 ? 1 : contact.count); ++k)
      solution_.lambda[row + k] = part * contact.direction[k].dot(known->impulse) / contact.direction[k].squaredNorm();
    if (contact.friction > 0) guess_turning(*input.model, *input.state, contact, solution_.lambda.data() + row);
  }
  return warm;
}

/// Columns of islands of which another pass asks nothing.
std::span<const char> Trial::find_answered() {
  const std::span<const char> rolls = contact_ends_.find_good(made_.problem, made_.map);
  const std::span<const char> joints = ends_.find_good(rolls);
  return joints.empty() ? rolls : joints;
}

void Trial::solve(StepReport* report) {
  const Stopwatch watch(&report->seconds.solve);
  if (kept_problem_ != nullptr) {
    *kept_problem_ = made_.problem;
    *kept_guess_ = solution_;
  }
  const std::span<const char> answered = settling_ ? flight_.find_settled()
                                         : again_  ? find_answered()
                                                   : std::span<const char>();
  const LadderResult last = outcome_;
  if (!answered.empty()) answer_ = solution_;
  outcome_ = solver_.solve_again(made_.problem, answered, &solution_);
  if (answered.empty() || !keep_columns(made_.problem, answered, answer_, &solution_)) return;
  // What the ladder found for these is gone, and with it what it said of them.
  outcome_.certified = outcome_.certified && last.certified;
  outcome_.settled = outcome_.settled || last.settled;
  outcome_.exhausted = outcome_.exhausted || last.exhausted;
  raise_to(last.residual, &outcome_.residual);
}

void Trial::certify(StepReport* report) {
  const Stopwatch watch(&report->seconds.solve);
  solver_.certify(normals_, made_.problem, &relaxed_, &solution_, &outcome_);
  report->iterations += outcome_.iterations;
  report->escalations += outcome_.escalations;
  report->choices += outcome_.choices;
  report->seconds.certify += outcome_.certify_seconds;
  report->rows = std::max(report->rows, made_.problem.rows());
}

/// Before the first step nobody knows what joints carry. If its first pass shows that they swing something faster than
/// the step can follow, that counts from the beginning.
bool Trial::learns_loads(const StepInput& input) {
  const State& state = *input.state;
  if (state.step > 0 || state.joint_impulse.empty() || !scheme_.stiffens_turns() ||
      std::any_of(state.joint_impulse.begin(), state.joint_impulse.end(), [](double x) { return x != 0; }))
    return false;
  for (int r = 0; r < input.model->joint_rows; ++r)
    made_.last_impulse[r] =
        (made_.joint_end.split[r] ? 2 : 1) * input.options->step / input.h * made_.calc_joint_impulse(r, solution_);
  begin_ends(input);
  return flight_.has_heavy();
}

/// Who flies is decided by the solution (flight.h), before anything is made better in it.
bool Trial::settle(const StepInput& input) {
  settling_ = fresh_ && flight_.settle(input, equations_, solution_, &made_);
  if (settling_) ends_.begin(input, scheme_, flight_, equations_, &made_);
  return settling_;
}

bool Trial::refine(const StepInput& input) {
  if (!again_ && learns_loads(input)) return again_ = true;
  if (settle(input)) return again_ = true;
  // The scheme is asked once; joints until their positions are good.
  const bool scheme = fresh_ && scheme_.refine(input, made_, solution_);
  fresh_ = false;
  const bool joints = ends_.refine(input, made_, solution_);
  const bool rolls = contact_ends_.refine(input, made_, solution_);
  if (scheme) ends_.forget_good();  // the problem of every island is another one now
  again_ = scheme || joints || rolls;
  if (!again_ && ends_.contradicts()) {
    outcome_.certified = false;
    raise_to(slipstick::certify(ends_.make_rigid(input, made_), solution_), &outcome_.residual);
    outcome_.note = "joints of a loop contradict each other: no position near by closes them all";
  }
  return again_;
}

/// The verdict on velocities at the end is a part of the trial's.
void Trial::take_end(const LadderResult& ends, StepReport* report) {
  report->iterations += ends.iterations;
  report->escalations += ends.escalations;
  report->work += ends.work;
  raise_to(ends.residual, &outcome_.residual);
  outcome_.settled = outcome_.settled || ends.settled;
  outcome_.exhausted = outcome_.exhausted || ends.exhausted;
  if (ends.certified) return;
  outcome_.certified = false;
  outcome_.note = ends.note;
}

void Trial::advance(const StepInput& input, State* next, StepReport* report) {
  const Stopwatch watch(&report->seconds.advance);
  scheme_.advance(input, made_, solution_, next);
  flight_.end(input, solution_, &made_, next);
  if (const LadderResult ends = ends_.end(input, flight_, solution_, &end_solver_, &made_, next);
      made_.joint_end.active)
    take_end(ends, report);
  if (const LadderResult ends = contact_ends_.end(input, solution_, &end_solver_, &made_, next);
      made_.contact_end.active)
    take_end(ends, report);
  next->time = input.state->time + input.h;
  update_coordinates(*input.model, *input.state, next);
}

double Trial::calc_largest_normal() const { return slipstick::calc_largest_normal(made_, solution_); }

Uniqueness Trial::uniqueness(std::size_t i) const {
  const std::size_t block = made_.map.contact_block[i];
  return block < solution_.uniqueness.size() ? solution_.uniqueness[block] : Uniqueness::Unknown;
}

Vec3 Trial::calc_contact_impulse(std::size_t i, double unit) const {
  const ContactRows& rows = made_.equations->contacts[i];
  Vec3 impulse = Vec3::Zero();
  for (int k = 0; k < (rows.friction == 0 ? 1 : rows.count); ++k)
    impulse += unit * solution_.lambda[made_.map.contact_row[i] + k] * rows.direction[k];
  if (const RangeEnd* range = made_.find_range(i))
    impulse += unit / made_.impulse_scale * range->impulse * rows.direction[0];
  const ContactEnd& end = made_.contact_end;
  for (std::size_t e = 0; end.active && e < end.of.size(); ++e)
    for (int k = 0; k < end.rows[e].count && end.of[e] == static_cast<int>(i); ++k)
      impulse += unit * end.impulse[e][k] * end.rows[e].direction[k];
  return impulse;
}

}  // namespace slipstick
