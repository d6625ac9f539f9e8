#include "step/audit.h"

#include "step/actuation.h"
#include "step/assemble.h"

namespace slipstick {

void EnergyLedger::add(const EnergyLedger& part) {
  change += part.change;
  load += part.load;
  kinematic += part.kinematic;
  motor += part.motor;
  damping += part.damping;
  friction += part.friction;
  impact += part.impact;
  correction += part.correction;
  numerical += part.numerical;
}

namespace {

/// Mean velocity of row `row` over the step, and the part of it that prescribed bodies contribute.
struct RowSpeed {
  double total = 0;
  double prescribed = 0;
};

RowSpeed calc_row_speed(const StepInput& input, const State& next, int body_a, int body_b, const PairRow& row) {
  RowSpeed speed;
  const auto side = [&](int body, const Vec6& part) {
    if (body < 0) return;
    const bool given = input.model->bodies[body].kind == BodyKind::Kinematic;
    const Twist& u = given ? input.prescribed[body] : input.state->velocity[body];
    const Twist& v = given ? input.prescribed[body] : next.velocity[body];
    const double x = 0.5 * (part.head<3>().dot(u.linear + v.linear) + part.tail<3>().dot(u.angular + v.angular));
    speed.total += x;
    if (given) speed.prescribed += x;
  };
  side(body_a, row.a);
  side(body_b, row.b);
  return speed;
}

/// What gravity has done until bodies came down is in the account of their landings, which count from the velocity at
/// the touch (landing.h): all of its work in the step is what potential energies lose.
double calc_shift(const StepInput& input, const StepProblem& made, const State& next) {
  double shift = 0;
  for (std::size_t i = 0; i < input.landing.size(); ++i) {
    if (input.landing[i].share < 0 || made.map.column_of_body[i] < 0) continue;
    const Vec6& gravity = made.equations->gravity[i];
    const Twist& v = next.velocity[i];
    shift -= made.kick[i].early * (gravity.head<3>().dot(v.linear) + gravity.tail<3>().dot(v.angular));
  }
  return shift;
}

double calc_side_speed(const StepInput& input, std::span<const Twist> velocity, const ContactRows& rows,
                       const PairRow& row, bool given) {
  double speed = 0;
  for (const bool of_b : {false, true}) {
    const int body = of_b ? rows.body_b : rows.body_a;
    if (body < 0) continue;
    const bool is_given = input.model->bodies[body].kind == BodyKind::Kinematic;
    if (given && !is_given) continue;
    const Twist& v = is_given ? input.prescribed[body] : velocity[body];
    const Vec6& part = of_b ? row.b : row.a;
    speed += part.head<3>().dot(v.linear) + part.tail<3>().dot(v.angular);
  }
  return speed;
}

/// The end of a range that is held at both ends of the trial does no work where it does not move: its row at the start
/// goes with the velocity there, and that of the end with the other.
void add_range_work(const StepInput& input, const ContactRows& rows, const RangeEnd& range, double lambda,
                    const State& next, EnergyLedger* ledger) {
  const double impulse = lambda + range.impulse;
  const auto mean = [&](bool given) {
    return 0.5 * (calc_side_speed(input, input.state->velocity, rows, rows.row[0], given) +
                  calc_side_speed(input, next.velocity, rows, range.row, given));
  };
  ledger->impact += impulse * mean(false);
  ledger->kinematic -= impulse * mean(true);
}

/// Of an impulse that acts between two velocities of each body.
void add_held_work(const StepInput& input, const ContactRows& rows, int k, double impulse,
                   std::span<const Twist> before, std::span<const Twist> after, EnergyLedger* ledger) {
  double total = 0, prescribed = 0;
  for (const bool of_b : {false, true}) {
    const int body = of_b ? rows.body_b : rows.body_a;
    if (body < 0) continue;
    const bool given = input.model->bodies[body].kind == BodyKind::Kinematic;
    const Twist &u = given ? input.prescribed[body] : before[body], &v = given ? input.prescribed[body] : after[body];
    const Vec6& part = of_b ? rows.at(k).b : rows.at(k).a;
    const double speed = 0.5 * (part.head<3>().dot(u.linear + v.linear) + part.tail<3>().dot(u.angular + v.angular));
    total += speed;
    prescribed += given ? speed : 0;
  }
  const double drift = k > 0 && k < 3 ? rows.drift[k] : 0;
  (k == 0 ? ledger->impact : ledger->friction) += impulse * (total + drift);
  ledger->kinematic -= impulse * (prescribed + drift);
}

/// What rolls has its impulses at both ends: before and after the velocity of its way.
void add_end_work(const StepInput& input, const StepProblem& made, const Solution& solution, const State& next,
                  EnergyLedger* ledger) {
  const ContactEnd& end = made.contact_end;
  for (std::size_t e = 0; end.active && e < end.of.size(); ++e) {
    const ContactRows &start = made.equations->contacts[end.of[e]], &rows = end.rows[e];
    const int row = made.map.contact_row[end.of[e]];
    for (int k = 0; k < (start.friction == 0 ? 1 : start.count + start.extra); ++k)
      add_held_work(input, start, k, solution.lambda[row + k], input.state->velocity, end.way, ledger);
    for (int k = 0; k < (rows.friction == 0 ? 1 : rows.count + rows.extra); ++k)
      add_held_work(input, rows, k, end.impulse[e][k], end.way, next.velocity, ledger);
  }
}

void add_contact_work(const StepInput& input, const StepProblem& made, const Solution& solution, const State& next,
                      std::size_t i, EnergyLedger* ledger) {
  const ContactRows& contact = made.equations->contacts[i];
  const int row = made.map.contact_row[i];
  if (row < 0 || (made.contact_end.active && made.contact_end.held[i])) return;
  if (const RangeEnd* range = made.find_range(i); range != nullptr && range->pushes)
    return add_range_work(input, contact, *range, solution.lambda[row], next, ledger);
  for (int r = 0; r < (contact.friction == 0 ? 1 : contact.count + contact.extra); ++r) {
    const double impulse = made.impulse_scale * solution.lambda[row + r];
    if (impulse == 0) continue;
    const RowSpeed speed = calc_row_speed(input, next, contact.body_a, contact.body_b, contact.at(r));
    const double drift = r < 3 ? contact.drift[r] : 0;  // what friction does to a belt its drive pays for
    (r == 0 ? ledger->impact : ledger->friction) += impulse * (speed.total + drift);
    ledger->kinematic -= impulse * (speed.prescribed + drift);
  }
}

struct LedgerSum {
  EnergyLedger ledger;
  void operator+=(const LedgerSum& other) { ledger.add(other.ledger); }
};

}  // namespace

EnergyLedger calc_ledger(const StepInput& input, const StepProblem& made, const Solution& solution, const State& next,
                         double energy_before, double energy_after) {
  EnergyLedger ledger;
  const Equations& eq = *made.equations;
  const VecX& lambda = solution.lambda;
  const double scale = made.impulse_scale;
  ledger.change = energy_after - energy_before;

  for (std::size_t i = 0; i < input.model->bodies.size(); ++i) {
    if (made.map.column_of_body[i] < 0) continue;
    const Twist &u = input.state->velocity[i], &v = next.velocity[i];
    const Kick& kick = made.kick[i];
    const Vec6 load = kick.before * eq.load[i] + kick.after * kick.load;
    ledger.load += 0.5 * (load.head<3>().dot(u.linear + v.linear) + load.tail<3>().dot(u.angular + v.angular));
  }
  for (const JointRows& joint : eq.joints) {
    for (int r = 0; r < joint.count; ++r) {
      const int slot = input.model->joints[joint.joint].first_row + r;
      if (made.map.joint_row[slot] < 0) continue;
      const RowSpeed speed = calc_row_speed(input, next, joint.body_a, joint.body_b, joint.row[r]);
      ledger.kinematic -= made.calc_joint_impulse(slot, solution) * speed.prescribed;
    }
  }
  add_axis_work(input, made, solution, next, &ledger);
  for (std::size_t i = 0; i < eq.springs.size(); ++i) {
    const SpringRows& spring = eq.springs[i];
    const int row = made.map.spring_row[i];
    for (int r = 0; r < spring.count; ++r) {
      const RowSpeed speed = calc_row_speed(input, next, spring.body_a, spring.body_b, spring.row[r]);
      double impulse = scale * ((row < 0 ? 0 : lambda[row + r]) + made.map.spring_known[i][r]);
      if (i < made.spring_end.size()) impulse += made.spring_impulse[i][r];
      ledger.kinematic -= impulse * speed.prescribed;
      const double rate = made.spring_rate.empty() ? speed.total : made.spring_rate[i][r].value_or(speed.total);
      ledger.damping -= input.h * spring.damping * rate * rate;
    }
  }
  const auto of_contacts = [&](std::size_t first, std::size_t last) {
    LedgerSum sum;
    for (std::size_t i = first; i < last; ++i) add_contact_work(input, made, solution, next, i, &sum.ledger);
    return sum;
  };
  ledger.add(sum_portions<LedgerSum>(input.team, eq.contacts.size(), kContactPortion, of_contacts).ledger);
  add_end_work(input, made, solution, next, &ledger);
  ledger.correction = calc_shift(input, made, next);
  ledger.numerical = ledger.change - ledger.load - ledger.kinematic - ledger.motor - ledger.damping - ledger.friction -
                     ledger.impact - ledger.correction;
  return ledger;
}

}  // namespace slipstick
