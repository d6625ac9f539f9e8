// The equations of motion at one configuration, without a time step: forces, and rows with their values.
//
//   M vdot = F(v) v + f + J^T lambda,     d/dt value = row_a v_a + row_b v_b
//
// v = (world linear, body angular) as everywhere (docs/notation.md). Pure functions of (Model, State, ContactSet).
#pragma once

#include <slipstick/model.h>
#include <slipstick/state.h>
#include <slipstick/types.h>

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace slipstick {

struct Drive;  // drive.h
class ThreadTeam;

/// One scalar row of a Jacobian: value_dot = a . v_a + b . v_b. A world side is zero.
struct PairRow {
  Vec6 a = Vec6::Zero();
  Vec6 b = Vec6::Zero();
};

struct JointRows {
  int joint = 0;
  int body_a = kWorld, body_b = kWorld;
  int count = 0;  ///< row_count(joint); fewer in a planar model, where void rows are left out
  std::array<PairRow, 6> row;
  std::array<double, 6> value;          ///< constraint error at the position level, m or rad
  std::array<bool, 6> velocity_only{};  ///< the row follows from no place: it holds a velocity, and has no value
  double compliance = 0, damping_time = 0;
};

inline bool has_spring(const Axis& axis) { return axis.stiffness != 0 || axis.damping != 0; }

/// One coordinate of a joint: value_dot = row . v. Angles count whole turns.
struct AxisRow {
  int body_a = kWorld, body_b = kWorld;
  PairRow row;
  double value = 0;  ///< m or rad
};

/// The row of a coupling: up to three axes, six bodies, each of them once.
struct CouplingRow {
  int count = 0;
  std::array<int, 6> body;
  std::array<Vec6, 6> row;
  std::array<double, 3> factor;  ///< d value / d q of each of its axes
  double value = 0;
};

/// A spring-damper: force along row i is -(stiffness value_i + damping value_dot_i).
struct SpringRows {
  int spring = 0;  ///< Model::springs; after those come the springs of axes
  int body_a = kWorld, body_b = kWorld;
  int count = 0;  ///< 1, or 3 (planar: 2) for rest length zero
  std::array<PairRow, 3> row;
  std::array<double, 3> value;  ///< elongation, m
  double stiffness = 0, damping = 0;
};

struct ContactRows {
  int contact = 0;  ///< index into the ContactSet
  int body_a = kWorld, body_b = kWorld;
  int count = 3;  ///< n, t1, t2; planar: n, t1
  int extra = 0;  ///< rows after them: spinning about n, rolling about t1 and t2 (planar: rolling), scaled by arm / mu
  std::array<PairRow, 3> row;
  std::vector<PairRow> turn;      ///< the rows after them: few contacts have any
  std::array<Vec3, 3> direction;  ///< world: n (from A to B), t1, t2; t2 scaled where friction is anisotropic
  double across = 1;              ///< by this share: the row's speed is so much of the slip along t2
  double gap = 0;
  double friction = 0, restitution = 0;  ///< friction by slip: that of the slip at hand
  SolveMode solve = SolveMode::Split;
  std::array<double, 3> drift{};  ///< belts: how B's surface runs over A's along the tangents, beside their bodies, m/s

  /// Of all count + extra.
  const PairRow& at(int k) const { return k < count ? row[k] : turn[k - count]; }
};

/// The normal row of a contact alone.
struct NormalRow {
  int body_a = kWorld, body_b = kWorld;
  PairRow row;
};

struct Equations {
  std::vector<Vec6> gravity;  ///< per body: world force at the centre of mass, body torque
  std::vector<Vec6> load;     ///< per body, at State::time
  std::vector<JointRows> joints;
  std::vector<AxisRow> axes;           ///< per Model::axes
  std::vector<CouplingRow> couplings;  ///< per Model::couplings
  std::vector<SpringRows> springs;
  std::vector<ContactRows> contacts;
};

/// Row of e . (p_B - p_A) for a fixed world direction e and body-fixed points (centre-of-mass frames). [methods 1]
PairRow calc_point_row(const Pose& pose_a, const Pose& pose_b, const Vec3& anchor_a, const Vec3& anchor_b,
                       const Vec3& e);

void update_joint_rows(const Model& model, std::span<const Pose> pose, std::vector<JointRows>* rows);
/// The same where only the values are wanted: what is cheap to leave out of the rows themselves is.
void update_joint_values(const Model& model, std::span<const Pose> pose, std::vector<JointRows>* rows);
/// The coordinate of one axis; an angle is the one nearest to `near` among those that differ by whole turns.
AxisRow calc_axis_row(const Model& model, std::span<const Pose> pose, int axis, double near);
AxisRow calc_axis_row(const Model& model, std::span<const Pose> pose, const Axis& axis, double near);
/// All axes; `near` has their coordinates not more than half a turn away (may be empty: zero).
void update_axis_rows(const Model& model, std::span<const Pose> pose, std::span<const double> near,
                      std::vector<AxisRow>* rows);
void update_coupling_rows(const Model& model, const std::vector<AxisRow>& axes, std::vector<CouplingRow>* rows);
/// Whether a coordinate has a value whose derivative its row is: the turns of a velocity motor are rates without an
/// angle. And whether all of a coupling's have one.
bool has_place(const Model& model, const Axis& axis);
bool has_place(const Model& model, const Coupling& coupling);
/// Where the coordinates are expected after a motion of length h with these velocities: `near` for rows there.
void update_expected_axes(const std::vector<AxisRow>& rows, std::span<const Twist> velocity, double h,
                          std::vector<double>* near);
/// The coordinates of `axes` (Model::axes or idle_axes) at `pose`, which is not more than half a turn from where they
/// were `near`.
void update_coordinates(const Model& model, std::span<const Axis> axes, std::span<const Pose> pose,
                        std::span<const double> near, std::vector<double>* coordinates);
/// All coordinates of `state` at its poses; it comes from `last` with the speeds of both.
void update_coordinates(const Model& model, const State& last, State* state);
/// The ends of the joints' ranges as contacts, put before all others. Their gaps count from state.axis.
void add_limit_contacts(const Model& model, const State& state, ContactSet* contacts);
/// Springs, then those on axes; `near` as in update_axis_rows.
void update_spring_rows(const Model& model, std::span<const Pose> pose, std::span<const double> near,
                        std::vector<SpringRows>* rows);
/// Tangents: t1 is the world x axis (y where the normal is within 25 degrees of x) projected into the tangent plane,
/// t2 = n x t1; planar: t1 = z x n. With anisotropic friction t1 is the material's axis, and the row and direction of
/// t2 are scaled by mu_across / mu: in scaled rows the elliptic cone is the round one. Belts run as at time t; without
/// one they stand still. Friction by slip is that of the slip at `velocity`; without velocities it is the peak. A team
/// that is null: nobody helps.
void update_contact_rows(const Model& model, std::span<const Pose> pose, const ContactSet& contacts,
                         std::vector<ContactRows>* rows, std::optional<double> t = std::nullopt,
                         std::span<const Twist> velocity = {}, const ThreadTeam* team = nullptr);
/// The first of its rows.
NormalRow calc_normal_row(const Model& model, std::span<const Pose> pose, const Contact& contact);
/// row . v of the given velocities; the world's side is zero.
double calc_pair_speed(std::span<const Twist> velocity, int body_a, int body_b, const PairRow& row);
double calc_coupling_speed(std::span<const Twist> velocity, const CouplingRow& coupling);
/// How B's surface runs over A's beside the motion of their bodies, in the tangent plane, world.
Vec3 calc_belt_slip(const Model& model, std::span<const Pose> pose, const Contact& contact, double t);
/// Loads at time t and what `drive` applies (null: nothing), as generalised forces (world force, body torque).
void update_loads(const Model& model, const Drive* drive, std::span<const Pose> pose, double t,
                  std::vector<Vec6>* load);
/// All of the above at (state.time, state.pose).
void update_equations(const Model& model, const Drive* drive, const State& state, const ContactSet& contacts,
                      Equations* equations, const ThreadTeam* team = nullptr);

/// The largest |value| over all joint rows, m or rad.
double calc_joint_error(const Model& model, std::span<const Pose> pose, std::vector<JointRows>* scratch);
/// The largest error of couplings and overshoot of limits, m or rad; state.axis counts.
double calc_axis_error(const Model& model, const State& state);

/// Velocity of a kinematic body at time t as a Twist (angular turned into body axes). `h`: a time in which its path, if
/// it has one, hardly bends.
Twist calc_kinematic_twist(const Body& body, const Pose& pose, double t, double h);
/// The steady velocity that takes it from `pose` at time t through the next h: along a path, to just where that says;
/// otherwise the one in the middle, which is of second order.
Twist calc_kinematic_mean(const Body& body, const Pose& pose, double t, double h);

/// A free turn with angular velocity u in body axes for a time h, Q exp(h u), that keeps angular momentum and energy to
/// rounding; momenta p = I omega before and p' after it, each in the body axes of its own instant: [methods 3.2]
///   I u + m(u) = p,   I u - m(u) = p',   m(u) = (h/2) kappa u x I u,   kappa = tan(x)/x, x = h |u|/2.
Vec3 calc_turn_moment(const Body& body, const Vec3& u, double h);
/// u of the momentum p.
Vec3 calc_free_turn(const Body& body, const Vec3& momentum, double h);
/// kappa; from x = 0.8 on, a quarter of a turn per step, tan(a)/x with a smooth a(x) that ends at 1.
double calc_turn_factor(const Vec3& u, double h);

/// The turn of which kappa is the factor: h u, and from x = 0.8 on the shorter one whose Cayley transform carries p
/// into p'. With h u itself the momentum would get any direction in the body, and energy with it: a rod of 300 rad/s at
/// 60 Hz, whose turn of 5 rad no step can tell from one of -1.3, would spin up to seven times its energy.
Vec3 calc_resolved_turn(const Vec3& u, double h);

struct Energy {
  double kinetic = 0;
  double gravity = 0;
  double spring = 0;
  double potential() const { return gravity + spring; }
  double total() const { return kinetic + gravity + spring; }
};
/// `near` as in update_axis_rows: springs on turns are wound by whole turns.
Energy calc_energy(const Model& model, std::span<const Pose> pose, std::span<const Twist> velocity,
                   std::span<const double> near);

}  // namespace slipstick
