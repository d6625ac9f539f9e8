// Room: step. The parts of a step, for whoever wants to check it: every motion, impact, projection and correction of
// it, with the places and velocities of all bodies before and after, and all impulses by what made them.
#pragma once

#include <slipstick/model.h>
#include <slipstick/readings.h>
#include <slipstick/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace slipstick {

enum class PartKind : std::uint8_t {
  Motion,      ///< a solved problem that moves the bodies for `length`
  Backward,    ///< the same with alpha = gamma = 1 in a scheme that has others (docs/schemes.md)
  Impact,      ///< no time passes
  Projection,  ///< of velocities: what is left of a slip that has ended is taken out
  Fall,        ///< forces that act before the motion on what comes down within it (StepPart::fall)
  Carried,     ///< what carries it until then
  Correction,  ///< places change, and velocities only of floating groups, which keep their angular momentum
  Touch,       ///< impacts within the motion that comes next, each at its own time: none of the parts that follow
               ///< each other. What they do to that motion are the two following kinds
  Early,       ///< what touches give to velocities at the start of their motion, as `load`
  Late         ///< and what they give at its end
};
inline constexpr int kPartKinds = 10;
std::string_view name_of(PartKind kind);

/// What a contact did in a part. Directions and places are of the world.
struct PartContact {
  int body_a = kWorld, body_b = kWorld;
  int shape_a = 0, shape_b = 0;  ///< Model::shapes
  Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero(), normal = Vec3::UnitZ();
  Vec3 impulse = Vec3::Zero();  ///< on B half way between the points, N s; on A the same the other way round
  Vec3 moment = Vec3::Zero();   ///< of spinning and rolling friction, on B, N m s
  Vec3 belt = Vec3::Zero();     ///< how B's surface runs over A's beside the velocities here, m/s
  double gap = 0;               ///< m, between the points
  double friction = 0;          ///< coefficient; anisotropic: the larger one
  double asked = 0;             ///< m/s: the speed of parting up to which it pushes, where it has pushed
  bool central = false;         ///< acts on the centres of mass (docs/step.md)
  bool anisotropic = false;
  bool foreseen = false;  ///< its row knows the end of the motion: it has another gap than the one between the points
  bool carried = false;   ///< and was found there: its points are not along the normal where they are now
  bool at_end = false;    ///< of what rolls: it acts at the end of the motion, with the places and velocities there
  bool bent = false;      ///< of what rolls: its row asks for the distance at the end and the mean slip of both ends
  double time = 0;        ///< s: when it acts
};

/// An impulse and its moment about the body's centre of mass at the start of the part: world axes, N s, N m s.
struct PartImpulse {
  Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
};

/// What a joint, or a spring, did to its two bodies: motors, limits, friction and gears on its axes included.
struct PartLink {
  int link = 0;  ///< joints, then springs
  PartImpulse on_a, on_b;
};

struct StepPart {
  PartKind kind = PartKind::Motion;
  double time = 0, length = 0;             ///< s; when it begins
  std::vector<Pose> from, to;              ///< of the centres of mass
  std::vector<Twist> before;               ///< world linear, body angular
  std::vector<Twist> after;                ///< likewise, in the axes of `to`
  std::vector<Pose> place;                 ///< where the rows of contacts are taken
  std::vector<Twist> solved;               ///< the velocity that the laws of contact hold for, in the axes of `place`
  std::vector<PartImpulse> gravity, load;  ///< per body
  std::vector<PartImpulse> lock;           ///< per body: what holds it in the directions in which it is locked
  std::vector<Vec3> added;                 ///< per body: moment of inertia that the scheme has added, N m s
  std::vector<PartContact> contacts;
  std::vector<PartLink> links;  ///< those that did something
};

}  // namespace slipstick
