#include "step/range_ends.h"

#include <algorithm>

#include "step/assemble.h"
#include "step/flight.h"
#include "step/overlap.h"
#include "step/trial.h"

namespace slipstick {

namespace {

double calc_range_gap(const Limit& limit, const AxisRow& axis) {
  return limit.upper ? limit.bound - axis.value : axis.value - limit.bound;
}

AxisRow calc_range_axis(const StepInput& input, std::span<const Pose> pose, int axis) {
  const std::vector<double>& near = input.state->axis;
  return calc_axis_row(*input.model, pose, axis, static_cast<std::size_t>(axis) < near.size() ? near[axis] : 0.0);
}

}  // namespace

bool RangeEnds::begin(const StepInput& input, const Flight& flight, const Equations& equations, StepProblem* made) {
  const Model& model = *input.model;
  ranges_.clear();
  made->joint_end.ranges.clear();
  if (model.limits.empty()) return false;
  for (std::size_t i = 0; i < equations.contacts.size(); ++i) {
    const ContactRows& rows = equations.contacts[i];
    const Contact& contact = input.contacts->contacts[rows.contact];
    if (contact.limit < 0 || !(flight.flies_joined(rows.body_a) || flight.flies_joined(rows.body_b))) continue;
    Range range;
    range.contact = static_cast<int>(i);
    range.limit = contact.limit;
    range.size = calc_joint_size(model, model.joints[model.axes[model.limits[contact.limit].axis].joint]);
    // Real overlap stays, and a part of a step takes its share of what is left by rounding with it.
    const double row_gap = calc_row_gap(input, contact);
    if (contact.gap < 0) range.kept = contact.gap - row_gap + std::max(0.0, 1 - input.h / input.h_nominal) * row_gap;
    ranges_.push_back(range);
    made->joint_end.ranges.resize(i + 1);
    made->joint_end.ranges[i].held = true;
  }
  return !ranges_.empty();
}

void RangeEnds::update(const StepInput& input, std::span<const Pose> reached) {
  for (Range& range : ranges_) {
    const Limit& limit = input.model->limits[range.limit];
    range.gap = calc_range_gap(limit, calc_range_axis(input, reached, limit.axis));
  }
}

/// One that is to rebound in the trial itself has no place to be at its end.
bool RangeEnds::is_held(const StepProblem& made, const Range& range) {
  return made.map.contact_row[range.contact] >= 0 && made.restitution[range.contact] == 0;
}

void RangeEnds::apply(const StepInput& input, std::span<const Twist> way, StepProblem* made) const {
  for (const Range& range : ranges_) {
    if (!is_held(*made, range)) continue;
    const ContactRows& rows = made->equations->contacts[range.contact];
    // What prescribed bodies do is part of the way already.
    double before = 0;
    for (const bool of_b : {false, true}) {
      const int body = of_b ? rows.body_b : rows.body_a;
      if (body < 0 || input.model->bodies[body].kind == BodyKind::Kinematic) continue;
      const Vec6& part = of_b ? rows.row[0].b : rows.row[0].a;
      before += part.head<3>().dot(way[body].linear) + part.tail<3>().dot(way[body].angular);
    }
    made->problem.c[made->map.contact_row[range.contact]] = (range.gap - range.kept) / input.h - before;
  }
}

double RangeEnds::calc_error(const StepProblem& made, const Solution& solution, std::size_t k) const {
  const Range& range = ranges_[k];
  if (!is_held(made, range)) return 0;
  const double gap = range.gap - range.kept;
  const bool pushes =
      solution.lambda[made.map.contact_row[range.contact]] > kLoaded * calc_largest_normal(made, solution);
  return (pushes ? std::abs(gap) : std::max(0.0, -gap)) / range.size;
}

bool RangeEnds::find_pushing(const StepInput& input, std::span<const Pose> pose, const Solution& solution,
                             StepProblem* made) {
  bool any = false;
  const double least = kLoaded * calc_largest_normal(*made, solution);
  for (const Range& range : ranges_) {
    RangeEnd& end = made->joint_end.ranges[range.contact];
    if (!is_held(*made, range) || !(solution.lambda[made->map.contact_row[range.contact]] > least)) continue;
    const Limit& limit = input.model->limits[range.limit];
    const double sign = limit.upper ? -1 : 1;
    const AxisRow axis = calc_range_axis(input, pose, limit.axis);
    end.row = {sign * axis.row.a, sign * axis.row.b};
    end.pushes = any = true;
  }
  return any;
}

void RangeEnds::add_rows(const StepInput& at_end, const StepProblem& made, const RowMap& map, Problem* problem) {
  for (Range& range : ranges_) {
    range.end_row = -1;
    const RangeEnd& end = made.joint_end.ranges[range.contact];
    const ContactRows& rows = made.equations->contacts[range.contact];
    if (!end.pushes || !is_row_movable(at_end, map, rows.body_a, rows.body_b, end.row)) continue;
    RowBlock& block = problem->add_block(LawKind::Nonnegative, 1);
    block.mode = rows.solve;
    block.rigid = true;
    range.end_row = block.row;
    add_pair_entries(at_end, map, rows.body_a, rows.body_b, {&end.row, 1}, problem);
  }
}

void RangeEnds::guess(const StepProblem& made, const Solution& solution, Solution* guess) const {
  for (const Range& range : ranges_)
    if (range.end_row >= 0) guess->lambda[range.end_row] = solution.lambda[made.map.contact_row[range.contact]];
}

void RangeEnds::take(const Solution& end, StepProblem* made) const {
  for (const Range& range : ranges_) {
    if (range.end_row < 0) continue;
    RangeEnd& at = made->joint_end.ranges[range.contact];
    at.impulse = end.lambda[range.end_row];
    const ContactRows& rows = made->equations->contacts[range.contact];
    if (rows.body_a >= 0) made->joint_end.body[rows.body_a] += at.impulse * at.row.a;
    if (rows.body_b >= 0) made->joint_end.body[rows.body_b] += at.impulse * at.row.b;
  }
}

}  // namespace slipstick
