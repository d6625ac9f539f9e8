#include "step/drivers/closed_set.h"

#include <algorithm>
#include <cmath>

#include "base/se3.h"
#include "step/assemble.h"

namespace slipstick {

ClosedSet::ClosedSet(Pipe* pipe)
    : pipe_(*pipe),
      model_(pipe->model),
      motion_(pipe->model, pipe->input),
      alpha_(pipe->scheme.weights(pipe->options).alpha),
      tells_(pipe->scheme.locates(pipe->options)) {}

// ---------------------------------------------------------------- who is closed

bool ClosedSet::gather(const State& now, bool impact) {
  gathered_.contacts.clear();
  near_.contacts.clear();
  grazing_.clear();
  std::size_t m = 0;
  const std::vector<ContactMemory>& memory = now.contact_memory;
  for (const Contact& contact : pipe_.found.contacts) {
    while (m < memory.size() && memory[m].key < contact.key) ++m;
    const bool closed = m < memory.size() && memory[m].key == contact.key && memory[m].closed;
    const bool forced = std::find(forced_.begin(), forced_.end(), contact.key) != forced_.end();
    const bool touches = closed || forced || contact.gap <= motion_.touching(contact);
    if (!touches && !motion_.is_near(contact, now)) continue;
    near_.contacts.push_back(contact);
    if (!touches) continue;
    gathered_.contacts.push_back(contact);
    const bool closes = motion_.calc_gap(contact, now).rate < -motion_.rest_speed(contact, now);
    if (!closed && closes) impact = true;
    if (forced && !closes) grazing_.push_back(contact.key);
  }
  forced_.clear();
  if (impact) std::swap(gathered_, near_);
  return impact;
}

void ClosedSet::close(State* now) {
  closed_.contacts.clear();
  memory_of_.clear();
  slip_speed_.clear();
  slip_direction_.clear();
  memory_scratch_.clear();
  std::size_t m = 0;
  const std::vector<ContactMemory>& memory = now->contact_memory;
  for (const Contact& contact : gathered_.contacts) {
    while (m < memory.size() && memory[m].key < contact.key) ++m;
    const bool known = m < memory.size() && memory[m].key == contact.key;
    const bool was_closed = known && memory[m].closed && (memory[m].loaded || motion_.is_near(contact, *now));
    const double rest = motion_.rest_speed(contact, *now);
    // Where a trial would go in and nothing closes, it is the length of the trial that bends the way (a spinning rod
    // whose end turns aside). Without a row such a contact would be due again and again, after no time.
    const bool grazes = std::find(grazing_.begin(), grazing_.end(), contact.key) != grazing_.end();
    if (motion_.calc_gap(contact, *now).rate > rest && !was_closed && !grazes) continue;
    const Vec3 slip = motion_.calc_slip(contact, *now);
    const double speed = slip.norm();
    ContactMemory entry;
    if (known) {
      entry = memory[m];
    } else {
      entry.key = contact.key;
      entry.sticking = speed <= rest;
    }
    entry.closed = true;
    memory_of_.push_back(static_cast<int>(memory_scratch_.size()));
    memory_scratch_.push_back(entry);
    closed_.contacts.push_back(contact);
    slip_speed_.push_back(speed);
    slip_direction_.push_back(speed > 0 ? Vec3(slip / speed) : Vec3::Zero());
  }
  std::swap(now->contact_memory, memory_scratch_);
}

void ClosedSet::update_middle(const State& now, double h) {
  middle_.contacts = closed_.contacts;
  if (closed_.contacts.empty()) return;
  star_.pose.resize(now.pose.size());
  star_.velocity = now.velocity;
  star_.axis = now.axis;
  for (std::size_t i = 0; i < now.pose.size(); ++i) {
    const BodyKind kind = model_.bodies[i].kind;
    const Twist& v = kind == BodyKind::Kinematic ? pipe_.prescribed[i] : now.velocity[i];
    star_.pose[i] = kind == BodyKind::Fixed ? now.pose[i] : move(now.pose[i], v, h);
  }
  pipe_.find(star_, &at_star_);
  std::size_t k = 0;
  for (Contact& contact : middle_.contacts) {
    while (k < at_star_.contacts.size() && at_star_.contacts[k].key < contact.key) ++k;
    if (k < at_star_.contacts.size() && at_star_.contacts[k].key == contact.key) {
      contact = at_star_.contacts[k];
      continue;
    }
    const auto carry = [&](int body, Vec3* point) {
      if (body == kWorld) return;
      const Pose &q = now.pose[body], &moved = star_.pose[body];
      *point = apply(moved, q.orientation.conjugate() * (*point - q.position));
    };
    carry(contact.body_a, &contact.point_a);
    carry(contact.body_b, &contact.point_b);
  }
}

// ---------------------------------------------------------------- what they do

double ClosedSet::calc_normal_impulse(std::size_t i) const {
  return pipe_.trial.solution().lambda[pipe_.trial.made().map.contact_row[i]];
}

double ClosedSet::calc_mean_force(std::size_t i, double h) const {
  const StepProblem& made = pipe_.trial.made();
  const ContactRows& c = made.equations->contacts[i];
  const int row = made.map.contact_row[i];
  const double lambda = pipe_.trial.solution().lambda[row], w = pipe_.trial.solution().w[row];
  // Of what is held at both ends of the trial the problem has the half of the start.
  const double whole = made.find_range(i) != nullptr ? 2 : made.impulse_scale;
  if (lambda > 0 || !(w > 0)) return lambda * whole / h;
  const double mobility = calc_pair_mobility(model_, c.body_a, c.body_b, c.row[0]);
  return -w / mobility * whole / h;
}

Vec2 ClosedSet::calc_row_slip(std::size_t i) const {
  const ContactRows& c = pipe_.trial.made().equations->contacts[i];
  const int row = pipe_.trial.made().map.contact_row[i];
  const VecX& w = pipe_.trial.solution().w;
  return {w[row + 1], c.count > 2 ? w[row + 2] / c.across : 0.0};
}

double ClosedSet::calc_mean_reserve(std::size_t i, double h) const {
  const StepProblem& made = pipe_.trial.made();
  const ContactRows& c = made.equations->contacts[i];
  if (c.friction == 0) return 0;
  const int row = made.map.contact_row[i];
  const Solution& solution = pipe_.trial.solution();
  const auto lambda = solution.lambda.segment(row, c.count), w = solution.w.segment(row, c.count);
  const double slip = w.tail(c.count - 1).norm();
  double mobility = calc_pair_mobility(model_, c.body_a, c.body_b, c.row[1]);
  if (c.across != 1 && slip > 0) mobility *= 1 - (1 - c.across * c.across) * w[2] * w[2] / (slip * slip);
  const double reserve = c.friction * lambda[0] - lambda.tail(c.count - 1).norm() - slip / mobility;
  return reserve * made.impulse_scale / h;
}

double ClosedSet::calc_slip_end(std::size_t i) const {
  const StepProblem& made = pipe_.trial.made();
  const ContactRows& c = made.equations->contacts[i];
  const int row = made.map.contact_row[i];
  const VecX& lambda = pipe_.trial.solution().lambda;
  const Vec3& along = slip_direction_[i];
  const Vec2 slip = calc_row_slip(i);
  const double first = c.direction[1].dot(along), second = c.count > 2 ? c.direction[2].dot(along) / c.across : 0.0;
  double u = slip[0] * first + slip[1] * second, friction = 0;
  for (int k = 1; k < c.count; ++k) friction += lambda[row + k] * lambda[row + k];
  // While it sticks, what friction could have done beyond stopping it: with that u is continuous in the step's length.
  double spare = c.friction * lambda[row] - std::sqrt(friction);
  if (spare > 0) {
    // So much of it acts along the slip, where friction is another one across.
    spare *= std::sqrt(1 - (1 - c.across * c.across) * second * second);
    u -= spare * calc_pair_mobility(model_, c.body_a, c.body_b, c.row[1]);
  }
  const double alpha = 1 / made.impulse_scale;
  return (u - (1 - alpha) * slip_speed_[i]) / alpha;
}

}  // namespace slipstick
