// Coordinates of joints: where B is against A along one freedom, and the rows that are their exact derivatives.
//
//   slide      (axis of A) . (p_B - p_A)
//   one turn   about k, i and j the axes after it: atan2(i_B . j_A - j_B . i_A, i_B . i_A + j_B . j_A), which is the
//              angle of the mean of both cross axes, exact for any tilt of the axes
//   two turns  about f of A and then about s = f + 1 of B (t the third; f_A . s_B = 0):
//              first  atan2(s_B . t_A, s_B . s_A),   second  atan2(f_A . t_B, f_A . f_B)
//   three turns  (a generic joint's, if asked for) about z of A, then x, then y of B: R = Rz Rx Ry has
//              z_A . y_B = sin q2,  q1 = atan2(-x_A . y_B, y_A . y_B),  q3 = atan2(-z_A . x_B, z_A . z_B)
//   length     |p_B - p_A|
//
// d atan2(s, c) = (c ds - s dc) / (s^2 + c^2).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "mechanics/equations.h"
#include "mechanics/placed_joint.h"

namespace slipstick {
namespace {

/// rad in a step, below which an angle is the one nearest to the last one.
constexpr double kFewTurns = 1;

ValuedRow sum(const ValuedRow& x, double factor, const ValuedRow& y) {
  return {{x.row.a + factor * y.row.a, x.row.b + factor * y.row.b}, x.value + factor * y.value};
}

ValuedRow calc_angle(const ValuedRow& s, const ValuedRow& c) {
  const double size = s.value * s.value + c.value * c.value;
  const double ds = size > 0 ? c.value / size : 0, dc = size > 0 ? -s.value / size : 0;
  return {{ds * s.row.a + dc * c.row.a, ds * s.row.b + dc * c.row.b}, std::atan2(s.value, c.value)};
}

ValuedRow calc_single_turn(const PlacedJoint& at, int k) {
  const int i = (k + 1) % 3, j = (k + 2) % 3;
  return calc_angle(sum(calc_axes_row(at, j, i), -1, calc_axes_row(at, i, j)),
                    sum(calc_axes_row(at, i, i), 1, calc_axes_row(at, j, j)));
}

/// `first` is the one of two free turns whose axis is A's.
ValuedRow calc_double_turn(const PlacedJoint& at, int first, bool wants_first) {
  const int f = first, s = (f + 1) % 3, t = (f + 2) % 3;
  return wants_first ? calc_angle(calc_axes_row(at, t, s), calc_axes_row(at, s, s))
                     : calc_angle(calc_axes_row(at, f, t), calc_axes_row(at, f, f));
}

ValuedRow calc_triple_turn(const PlacedJoint& at, Freedom freedom) {
  const auto negative = [&](int i, int j) { return sum(ValuedRow{}, -1, calc_axes_row(at, i, j)); };
  if (freedom == Freedom::TurnZ) return calc_angle(negative(0, 1), calc_axes_row(at, 1, 1));
  if (freedom == Freedom::TurnY) return calc_angle(negative(2, 0), calc_axes_row(at, 2, 2));
  const ValuedRow s = calc_axes_row(at, 2, 1);
  const double cosine = std::sqrt(std::max(1 - s.value * s.value, 1e-24));
  return {{s.row.a / cosine, s.row.b / cosine}, std::asin(std::clamp(s.value, -1.0, 1.0))};
}

/// Relative angular velocity about an axis of A: a rate without a coordinate.
ValuedRow calc_spin(const PlacedJoint& at, int k) {
  const Vec3 e = at.frame_a.col(k);
  ValuedRow out;
  if (at.a.moves) out.row.a.tail<3>() = -(at.a.rotation.transpose() * e);
  if (at.b.moves) out.row.b.tail<3>() = at.b.rotation.transpose() * e;
  return out;
}

double calc_nearest_turn(double angle, double near) {
  constexpr double kTurn = 2 * std::numbers::pi;
  return angle + kTurn * std::round((near - angle) / kTurn);
}

double near_of(std::span<const double> near, std::size_t k) { return k < near.size() ? near[k] : 0.0; }

double calc_polynomial(const Coupling& coupling, double q) {
  const auto& p = coupling.polynomial;
  return p[0] + q * (p[1] + q * (p[2] + q * (p[3] + q * p[4])));
}

/// d value / d q_i of term i.
double calc_coupling_factor(const Coupling& coupling, int i, std::span<const AxisRow> axes) {
  if (!coupling.is_polynomial || i == 0) return coupling.term[i].factor;
  const auto& p = coupling.polynomial;
  const double q = axes[coupling.term[1].axis].value;
  return -(p[1] + q * (2 * p[2] + q * (3 * p[3] + q * 4 * p[4])));
}

void add_side(int body, const Vec6& part, double factor, CouplingRow* row) {
  if (body == kWorld) return;
  int k = 0;
  while (k < row->count && row->body[k] != body) ++k;
  if (k == row->count) {
    row->body[k] = body;
    row->row[k].setZero();
    ++row->count;
  }
  row->row[k] += factor * part;
}

}  // namespace

ValuedRow calc_coordinate(const Joint& joint, const PlacedJoint& at, Freedom freedom) {
  if (freedom == Freedom::Length) return calc_length_row(at, joint.length);
  const int k = static_cast<int>(freedom) % 3;
  if (!is_turn(freedom)) return calc_turning_row(at, k);
  if (joint.kind == JointKind::VelocityMotor) return calc_spin(at, k);
  if (joint.free[3] && joint.free[4] && joint.free[5]) return calc_triple_turn(at, freedom);
  if (joint.free[3 + (k + 1) % 3]) return calc_double_turn(at, k, true);
  if (joint.free[3 + (k + 2) % 3]) return calc_double_turn(at, (k + 2) % 3, false);
  return calc_single_turn(at, k);
}

AxisRow calc_axis_row(const Model& model, std::span<const Pose> pose, int axis, double near) {
  return calc_axis_row(model, pose, model.axes[axis], near);
}

AxisRow calc_axis_row(const Model& model, std::span<const Pose> pose, const Axis& given, double near) {
  const Joint& joint = model.joints[given.joint];
  const ValuedRow made = calc_coordinate(joint, PlacedJoint(joint, pose), given.freedom);
  AxisRow out{joint.a, joint.b, made.row, made.value};
  if (given.start != 0) out.value += given.start;
  if (is_turn(given.freedom)) out.value = calc_nearest_turn(out.value, near);
  return out;
}

void update_axis_rows(const Model& model, std::span<const Pose> pose, std::span<const double> near,
                      std::vector<AxisRow>* rows) {
  rows->resize(model.axes.size());
  for (std::size_t k = 0; k < model.axes.size(); ++k)
    (*rows)[k] = calc_axis_row(model, pose, static_cast<int>(k), near_of(near, k));
}

void update_coordinates(const Model& model, std::span<const Axis> axes, std::span<const Pose> pose,
                        std::span<const double> near, std::vector<double>* coordinates) {
  coordinates->resize(axes.size());
  for (std::size_t k = 0; k < axes.size(); ++k)
    (*coordinates)[k] = calc_axis_row(model, pose, axes[k], near_of(near, k)).value;
}

namespace {

/// A shaft may turn by more than half a turn in a step: where it is then is counted from where it is expected, by the
/// mean of its speeds at both ends.
void count_turns(const Model& model, std::span<const Axis> axes, const State& last, const State& state,
                 std::span<const double> before, std::vector<double>* coordinates) {
  const double h = state.time - last.time;
  if (!(h > 0) || state.velocity.size() != last.velocity.size()) return;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (!is_turn(axes[k].freedom)) continue;
    const Joint& joint = model.joints[axes[k].joint];
    double most = 0;
    for (const int body : {joint.a, joint.b})
      if (body != kWorld) most += state.velocity[body].angular.norm() + last.velocity[body].angular.norm();
    if (!(0.5 * h * most > kFewTurns)) continue;
    const AxisRow row = calc_axis_row(model, state.pose, axes[k], near_of(before, k));
    const double speed = calc_pair_speed(last.velocity, row.body_a, row.body_b, row.row) +
                         calc_pair_speed(state.velocity, row.body_a, row.body_b, row.row);
    if (std::isfinite(speed)) (*coordinates)[k] = calc_nearest_turn(row.value, near_of(before, k) + 0.5 * h * speed);
  }
}

}  // namespace

void update_coordinates(const Model& model, const State& last, State* state) {
  update_coordinates(model, model.axes, state->pose, last.axis, &state->axis);
  count_turns(model, model.axes, last, *state, last.axis, &state->axis);
  update_coordinates(model, model.idle_axes, state->pose, last.idle_axis, &state->idle_axis);
  count_turns(model, model.idle_axes, last, *state, last.idle_axis, &state->idle_axis);
}

void update_coupling_rows(const Model& model, const std::vector<AxisRow>& axes, std::vector<CouplingRow>* rows) {
  rows->resize(model.couplings.size());
  for (std::size_t k = 0; k < model.couplings.size(); ++k) {
    const Coupling& coupling = model.couplings[k];
    CouplingRow& out = (*rows)[k];
    out.count = 0;
    out.value = -coupling.start;
    for (int i = 0; i < coupling.count; ++i) {
      const AxisRow& axis = axes[coupling.term[i].axis];
      const double factor = calc_coupling_factor(coupling, i, axes);
      out.factor[i] = factor;
      add_side(axis.body_a, axis.row.a, factor, &out);
      add_side(axis.body_b, axis.row.b, factor, &out);
      if (!coupling.is_polynomial) out.value += factor * axis.value;
    }
    if (coupling.is_polynomial)
      out.value = axes[coupling.term[0].axis].value - calc_polynomial(coupling, axes[coupling.term[1].axis].value);
  }
}

void update_expected_axes(const std::vector<AxisRow>& rows, std::span<const Twist> velocity, double h,
                          std::vector<double>* near) {
  near->resize(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k)
    (*near)[k] = rows[k].value + h * calc_pair_speed(velocity, rows[k].body_a, rows[k].body_b, rows[k].row);
}

double calc_coupling_speed(std::span<const Twist> velocity, const CouplingRow& coupling) {
  double speed = 0;
  for (int k = 0; k < coupling.count; ++k) {
    const Twist& v = velocity[coupling.body[k]];
    speed += coupling.row[k].head<3>().dot(v.linear) + coupling.row[k].tail<3>().dot(v.angular);
  }
  return speed;
}

bool has_place(const Model& model, const Axis& axis) {
  return model.joints[axis.joint].kind != JointKind::VelocityMotor || !is_turn(axis.freedom);
}

bool has_place(const Model& model, const Coupling& coupling) {
  return std::all_of(coupling.term.begin(), coupling.term.begin() + coupling.count,
                     [&](const Coupling::Term& term) { return has_place(model, model.axes[term.axis]); });
}

void add_limit_contacts(const Model& model, const State& state, ContactSet* contacts) {
  if (model.limits.empty()) return;
  contacts->contacts.insert(contacts->contacts.begin(), model.limits.size(), Contact{});
  for (std::size_t k = 0; k < model.limits.size(); ++k) {
    const Limit& limit = model.limits[k];
    const AxisRow axis = calc_axis_row(model, state.pose, limit.axis, near_of(state.axis, limit.axis));
    Contact& out = contacts->contacts[k];
    out.key = {kFirstLimitKey + static_cast<std::int32_t>(k), 0, 0};
    out.limit = static_cast<int>(k);
    out.body_a = axis.body_a;
    out.body_b = axis.body_b;
    out.gap = limit.upper ? limit.bound - axis.value : axis.value - limit.bound;
  }
}

double calc_axis_error(const Model& model, const State& state) {
  double largest = 0;
  const auto value = [&](int axis) { return calc_axis_row(model, state.pose, axis, near_of(state.axis, axis)).value; };
  for (const Limit& limit : model.limits)
    largest = std::max(largest, limit.upper ? value(limit.axis) - limit.bound : limit.bound - value(limit.axis));
  for (const Coupling& coupling : model.couplings) {
    double error = -coupling.start;
    if (coupling.is_polynomial) {
      error = value(coupling.term[0].axis) - calc_polynomial(coupling, value(coupling.term[1].axis));
    } else {
      for (int i = 0; i < coupling.count; ++i) error += coupling.term[i].factor * value(coupling.term[i].axis);
    }
    largest = std::max(largest, std::abs(error));
  }
  return largest;
}

}  // namespace slipstick
