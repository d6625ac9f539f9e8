// Room: model. What the world IS. A ModelDescription is what a person says (names, world-frame placements at t = 0);
// `compile` checks it and turns it into a Model: flat arrays, indices, body-frame data, immutable from then on.
#pragma once

#include <slipstick/expression.h>
#include <slipstick/hull.h>
#include <slipstick/joint.h>
#include <slipstick/result.h>
#include <slipstick/sensor.h>
#include <slipstick/solve_mode.h>
#include <slipstick/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

struct State;
struct Surface;  // surface.h

// ---------------------------------------------------------------- vocabulary

inline constexpr int kWorld = -1;  ///< the body index of the world itself

enum class BodyKind : std::uint8_t { Dynamic, Fixed, Kinematic };

enum class ShapeKind : std::uint8_t {
  Sphere,   ///< radius
  Box,      ///< half_size
  Capsule,  ///< radius, half_length of the straight part, axis z
  Plane,  ///< the solid half space below z = 0 of the shape's frame (outward normal +z); fixed or kinematic bodies only
  Disk,   ///< planar: radius
  Polygon,     ///< planar: convex, vertices counter-clockwise; a planar box becomes one
  Cylinder,    ///< radius, half_length, axis z, centred
  Cone,        ///< radius of the base at z = -half_length, tip at z = half_length
  Ellipsoid,   ///< half_size: the half axes
  Hull,        ///< convex hull of points
  Mesh,        ///< surface: triangles; a closed one is a solid, an open one has two sides
  Heightfield  ///< surface: triangles over a grid, solid below
};
std::string_view name_of(ShapeKind kind);

struct Joint;
/// Rows of a joint in three dimensions.
int row_count(const Joint& joint);

/// An index into the reader's table of places, so that a fault found by `compile` can point at the file; -1: none.
using SourceTag = int;

/// How a pair rebounds at an impact (docs/schemes.md).
enum class ImpactLaw : std::uint8_t {
  Poisson,     ///< decompression gives back e times the normal impulse of compression
  Newton,      ///< leaves at e times the approach speed
  Simplified,  ///< v+ = (1 + e) vc - e v-: never gains energy
  Moreau       ///< one phase: leaves at e times the approach speed, friction bounded by mu times the whole impulse
};
std::string_view name_of(ImpactLaw law);

/// Friction that falls from `friction`, its peak, where nothing slips: sliding + (peak - sliding)
/// exp(-slip/slip_speed).
struct FrictionBySlip {
  double sliding = 0;     ///< the coefficient of fast slip
  double slip_speed = 0;  ///< m/s
};

struct Material {
  std::string name;
  double friction = 0.5;  ///< by slip: the peak
  double restitution = 0;
  SourceTag source = -1;
  double tangential_restitution = 0;  ///< share of the slip speed that comes back reversed where friction can do it
  double rolling_friction = 0;        ///< m: the moment about the tangents is at most this arm times the normal force
  double spinning_friction = 0;       ///< m: the same about the normal
  /// Anisotropic friction: `friction` along this axis of the body, this coefficient across it.
  std::optional<double> friction_across = std::nullopt;
  Vec3 friction_axis = Vec3::UnitX();
  std::optional<SolveMode> solve = std::nullopt;  ///< absent: what the other material of a pair says
  std::optional<FrictionBySlip> by_slip = std::nullopt;
};

/// How one pair of materials meets.
struct PairLaw {
  double friction = 0;
  double restitution = 0;
  double tangential_restitution = 0;
  double rolling_friction = 0, spinning_friction = 0;  ///< m
  std::optional<ImpactLaw> impact = std::nullopt;      ///< absent: what the simulation says
  SolveMode solve = SolveMode::Split;
  std::optional<FrictionBySlip> by_slip = std::nullopt;
};

/// The coefficient at a slip speed, m/s.
double calc_friction(const PairLaw& law, double slip);

// ---------------------------------------------------------------- the description (what a person says)

/// A corner of a convex piece of a part whose outline is not convex: what of the piece is the part's own outline.
struct OutlineCorner {
  bool inner = false;   ///< the edge from here on lies inside the part
  bool hollow = false;  ///< the outline bends inwards here, or passes elsewhere: nothing touches the corner itself
  /// Outward normals of the outline's two edges that meet here, shape frame: a touch at the corner pushes between them.
  Vec2 before = Vec2::Zero(), after = Vec2::Zero();
};

struct ShapeDescription {
  ShapeKind kind = ShapeKind::Sphere;
  double radius = 0;
  double length = 0;                       ///< capsule: full length of the straight part; cylinder, cone: full length
  Vec3 size = Vec3::Zero();                ///< box, ellipsoid: full size
  std::vector<Vec2> points;                ///< polygon, any orientation; must be convex
  std::vector<Vec3> vertices;              ///< hull: points in any order
  Vec3 normal = Vec3::UnitZ();             ///< plane
  double offset = 0;                       ///< plane: normal . p = offset, body frame
  Pose pose;                               ///< in the body's frame
  std::shared_ptr<const Surface> surface;  ///< mesh, heightfield: shape frame; copies of a shape share it
  std::string material = "default";
  std::optional<double> density;
  std::string color;
  bool visual_only = false;
  SourceTag source = -1;
  /// Two shapes may touch if a bit of one's `contype` is in the other's `conaffinity`.
  std::uint32_t contype = 1, conaffinity = 1;
  /// A belt: how its surface runs against the body, body frame, m/s, functions of t.
  std::array<Expression, 3> surface_velocity;
  std::vector<OutlineCorner> outline;  ///< polygon that is a piece of a part: one per point; empty: it is whole
};

/// A motion given by where the body is, instead of how fast it moves.
struct KinematicPath {
  bool has_position = false, has_angle = false;
  std::array<Expression, 3> position;  ///< of the body's frame, world, m
  Vec3 axis = Vec3::UnitZ();           ///< world
  Expression angle;                    ///< rad, about `axis`, from the orientation `start`
  Quat start = Quat::Identity();
};

struct BodyDescription {
  std::string name;
  BodyKind kind = BodyKind::Dynamic;
  Pose pose;                             ///< of the body's frame (not its centre of mass), world, t = 0
  Vec3 velocity = Vec3::Zero();          ///< of the body's origin, world
  Vec3 angular_velocity = Vec3::Zero();  ///< world
  std::optional<double> mass;
  std::optional<double> density;
  std::optional<Mat3> inertia;                           ///< about the centre of mass, body axes
  std::optional<Vec3> center_of_mass;                    ///< body frame
  std::array<bool, 6> lock{};                            ///< x y z rx ry rz, world axes at t = 0
  std::array<Expression, 3> kinematic_velocity;          ///< Kinematic: world, m/s
  std::array<Expression, 3> kinematic_angular_velocity;  ///< Kinematic: world, rad/s
  std::vector<ShapeDescription> shapes;
  std::string group;  ///< bodies of the same group do not touch each other; empty: none
  SourceTag source = -1;
  double gravity_scale = 1;  ///< share of its weight that acts; 0: something carries it
  KinematicPath path;        ///< Kinematic: what it does not give is as the velocities say
};

struct JointDescription {
  JointKind kind = JointKind::Ball;
  std::string name;
  std::string a, b;              ///< body names; "world" is the world
  Vec3 at = Vec3::Zero();        ///< world anchor at t = 0 (rod: the end on `a`)
  Vec3 at_b = Vec3::Zero();      ///< rod: the end on `b`
  Vec3 axis = Vec3::UnitZ();     ///< world axis at t = 0: hinge, slider, ...; wheel: of suspension and steering
  std::optional<double> length;  ///< rod, rope; default: the distance at t = 0
  double compliance = 0;         ///< m/N or rad/(N m)
  double damping_time = 0;       ///< s
  bool collide = false;          ///< the two bodies may touch each other
  SourceTag source = -1;
  std::vector<AxisDescription> axes = {};          ///< limits, motors, friction, springs, locks
  std::optional<Vec3> second_axis = std::nullopt;  ///< universal: of b; wheel: the axle; rolling: of a disk; generic: x
  std::array<bool, 6> free = {};                   ///< generic: x y z rx ry rz
  std::vector<std::string> joints = {};  ///< gear, rack, differential: "name", or "name.axis" of a joint with several
  double ratio = 1;                      ///< gear, differential; rack: radius, m/rad; screw: pitch, m per turn
  double radius = 0;                     ///< rolling
  std::vector<double> polynomial = {};   ///< gear: q1 = p0 + p1 q2 + p2 q2^2 + ... (at most five) instead of `ratio`
  /// Universal: where the second axis passes, if not at `at`: the two axes are then joined by a massless link.
  std::optional<Vec3> second_at = std::nullopt;
  SolveMode solve = SolveMode::Direct;  ///< of its rows, motors, limits and friction
};

struct SpringDescription {
  std::string name;
  std::string a, b;
  Vec3 at_a = Vec3::Zero(), at_b = Vec3::Zero();  ///< world points at t = 0
  double stiffness = 0;                           ///< N/m
  double damping = 0;                             ///< N s/m
  std::optional<double> rest_length;  ///< default: the distance at t = 0. 0: a linear spring in all three directions
  SourceTag source = -1;
};

struct LoadDescription {
  std::string name;
  std::string body;
  std::array<Expression, 3> force;   ///< world, N, functions of t
  std::array<Expression, 3> torque;  ///< world, N m
  std::optional<Vec3> at;            ///< body frame (origin = the body's frame); default: the centre of mass
  SourceTag source = -1;
  bool turns = false;  ///< force and torque are in the body's frame and turn with it
};

struct MaterialPairDescription {
  std::string a, b;
  std::optional<double> friction, restitution;  ///< absent: the combine rule
  SourceTag source = -1;
  std::optional<double> tangential_restitution = std::nullopt;
  std::optional<ImpactLaw> impact = std::nullopt;
  std::optional<double> rolling_friction = std::nullopt, spinning_friction = std::nullopt;
  std::optional<SolveMode> solve = std::nullopt;
  std::optional<FrictionBySlip> by_slip = std::nullopt;  ///< counts only with `friction`
};

struct ModelDescription {
  std::string name;
  Vec3 gravity{0, 0, -9.81};
  bool planar = false;
  std::vector<Material> materials;  ///< "default" is added when absent
  std::vector<MaterialPairDescription> material_pairs;
  std::vector<BodyDescription> bodies;
  std::vector<JointDescription> joints;
  std::vector<SpringDescription> springs;
  std::vector<LoadDescription> loads;
  std::vector<std::array<std::string, 2>> pairs_without_contact;
  std::vector<SourceTag> pairs_without_contact_source;  ///< one per pair; may be shorter or empty
  std::vector<SensorDescription> sensors;
  std::vector<SensorDescription> readings;  ///< what formulas refer to by their place here: one number each
};

// ---------------------------------------------------------------- the model (what the engine reads)

struct Shape {
  ShapeKind kind = ShapeKind::Sphere;
  int body = kWorld;
  int material = 0;
  Pose pose;  ///< in the body's CENTRE-OF-MASS frame (body axes)
  double radius = 0;
  double half_length = 0;         ///< capsule, cylinder, cone
  Vec3 half_size = Vec3::Zero();  ///< box, ellipsoid
  int first_point = 0;            ///< polygon: Model::points, counter-clockwise, shape frame
  int point_count = 0;
  int hull = -1;     ///< hull: Model::hulls
  int surface = -1;  ///< mesh, heightfield: Model::surfaces
  double bound = 0;  ///< radius of a sphere about pose.position that holds the shape; infinity for a plane
  std::uint32_t contype = 1, conaffinity = 1;
  std::shared_ptr<const std::array<Expression, 3>> belt;  ///< its surface's velocity, body axes; null: it does not run
  int first_corner = -1;  ///< polygon: Model::corners, one per point; -1: it is a part of its own
};

/// Prescribed motion of a body's frame: how fast it moves, or where it is.
struct KinematicMotion {
  std::array<Expression, 3> velocity, angular_velocity;  ///< world, functions of t
  KinematicPath path;
};

/// What every step reads of every body is kept short and comes first: of ten thousand bodies it has to stay in a cache.
struct Body {
  BodyKind kind = BodyKind::Dynamic;
  int dof = 6;  ///< free velocity directions: 6 minus locks; 0 unless dynamic
  int first_shape = 0;
  int shape_count = 0;
  int group = -1;           ///< bodies of the same group (not -1) do not touch each other
  double mass = 0;          ///< 0 unless dynamic
  double reach_radius = 0;  ///< from the centre of mass to the farthest point of its shapes (0 if none or unbounded)
  double gravity_scale = 1;
  Mat3 inertia = Mat3::Zero();  ///< about the centre of mass, body axes
  Mat3 inertia_inverse = Mat3::Zero();
  Vec3 center_of_mass = Vec3::Zero();  ///< in the frame of the description; State poses are of the centre of mass
  std::string name;
  std::shared_ptr<const Mat6> locked_basis;       ///< null: the identity
  std::shared_ptr<const KinematicMotion> motion;  ///< of kinematic bodies, else null

  /// First `dof` columns: v_body = free_basis * eta, orthonormal. The others are zero.
  const Mat6& free_basis() const {
    static const Mat6 all = Mat6::Identity();
    return locked_basis ? *locked_basis : all;
  }
};

/// Whether the shape is a belt.
inline bool runs(const Shape& shape) { return shape.belt != nullptr; }

/// Contact filter of two shapes.
inline bool bits_touch(const Shape& a, const Shape& b) {
  return (a.contype & b.conaffinity) != 0 || (b.contype & a.conaffinity) != 0;
}

struct Joint {
  JointKind kind = JointKind::Ball;
  std::string name;
  int a = kWorld, b = kWorld;
  Vec3 anchor_a = Vec3::Zero();  ///< in a's centre-of-mass frame (world coordinates if a is the world)
  Vec3 anchor_b = Vec3::Zero();
  Mat3 frame_a = Mat3::Identity();  ///< columns x, y, z = axis, in a's body axes; coincides with frame_b at t = 0
  Mat3 frame_b = Mat3::Identity();
  double length = 0;  ///< rod
  double compliance = 0, damping_time = 0;
  bool collide = false;
  int first_row = 0;                   ///< offset into State::joint_impulse
  std::array<bool, kFreedoms> free{};  ///< the coordinates that the joint has, by Freedom
  std::array<bool, kFreedoms> lock{};  ///< those among them that a row holds at zero
  double radius = 0;                   ///< rolling
  bool is_disk = false;                ///< rolling
  Vec3 link = Vec3::Zero();            ///< universal: from the first axis to the second at angle 0, in frame_a
  SolveMode solve = SolveMode::Direct;
  bool floats = false;  ///< joints connect its bodies to nothing that does not move freely
};

/// One end of a coordinate's range. The engine treats it as a contact without friction (Contact::limit).
struct Limit {
  int axis = 0;
  bool upper = false;
  double bound = 0;
  PairLaw law;  ///< restitution; no friction
};

struct Spring {
  std::string name;
  int a = kWorld, b = kWorld;
  Vec3 anchor_a = Vec3::Zero(), anchor_b = Vec3::Zero();  ///< as Joint
  double stiffness = 0, damping = 0, rest_length = 0;
};

struct Load {
  std::string name;
  int body = 0;
  Vec3 at = Vec3::Zero();  ///< centre-of-mass frame, body axes
  std::array<Expression, 3> force, torque;
  bool turns = false;  ///< in body axes
};

struct Model {
  std::string name;
  Vec3 gravity{0, 0, -9.81};
  bool planar = false;
  std::vector<Material> materials;
  std::vector<PairLaw> pair_laws;  ///< materials x materials
  std::vector<Body> bodies;
  std::vector<Shape> shapes;  ///< visual_only shapes are not here
  std::vector<Vec2> points;
  std::vector<OutlineCorner> corners;
  std::vector<slipstick::Hull> hulls;                    ///< one per shape of kind Hull, shape frame
  std::vector<std::shared_ptr<const Surface>> surfaces;  ///< of meshes and heightfields, each once
  std::vector<Joint> joints;
  std::vector<Axis> axes;
  std::vector<Axis> idle_axes;  ///< free coordinates of joints with nothing on them, for those who want to read them
  std::vector<Limit> limits;
  std::vector<Coupling> couplings;
  std::vector<Spring> springs;
  std::vector<Load> loads;
  std::vector<std::array<int, 2>> pairs_without_contact;  ///< body pairs, a < b, sorted, jointed pairs included
  int joint_rows = 0;                                     ///< of joints, couplings, motors and joint friction
  int dof = 0;
  std::vector<Sensor> sensors;    ///< the readings of formulas first, in their order
  int readings = 0;               ///< so many of them
  int sensor_values = 0;          ///< numbers of all sensors
  int sensor_memory = 0;          ///< those of them that State::sensor keeps
  bool has_belts = false;         ///< a shape has a surface velocity
  bool has_rolling_maps = false;  ///< a heightfield has a map of rolling friction

  const PairLaw& pair_law(int material_a, int material_b) const {
    return pair_laws[material_a * materials.size() + material_b];
  }
  /// Index of a body by name, kWorld for "world", or nothing.
  std::optional<int> find_body(std::string_view name) const;
};

/// One thing wrong with a description, for programs (`item`, `key`) and for people (`message`).
struct CompileFault {
  SourceTag source = -1;  ///< of the item, or of the one that it belongs to
  std::string item;       ///< "body 'crank': shape 2 (box)"; "gravity" for the model's own
  /// The member of the item's description that is wrong: "mass", "axes[0].motor.max", "joints[1]"; without the name of
  /// a struct in between ("position", not "pose.position"). Empty: the item as a whole.
  std::string key;
  std::string message;        ///< a whole line: "body 'crank': shape 2 (box): size must be positive, not 0"
  bool unknown_name = false;  ///< the key names something that the description does not have
};

struct CompiledModel {
  Model model;
  std::vector<CompileFault> faults;  ///< empty: the model is good
};

/// 64-bit digest of all that decides the motion and of the names of what moves, but for the model's own name: two
/// models with the same digest carry a state on in the same way.
std::uint64_t hash(const Model& model);

/// Checks everything and lists every independent fault. `initial` receives the state at t = 0.
CompiledModel compile(const ModelDescription& description, State* initial);

struct MassProperties {
  double mass = 0;
  Vec3 center = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();  ///< about `center`
};
/// Exact mass properties of one shape of unit density in its own frame (planar shapes: per unit depth). Planes: zero.
MassProperties calc_unit_density(const ShapeDescription& shape, bool planar);

/// Where a path puts a body at time t; what it does not give is as in `otherwise`.
Pose calc_path_pose(const KinematicPath& path, const Pose& otherwise, double t);

/// "world" for kWorld.
std::string_view body_name(const Model& model, int body);

}  // namespace slipstick
