// Room: audit. The world's certificate: a second judge of geometry, which asks of the state after a step how deep every
// near pair of shapes overlaps, by another way than the contact finder (docs/certificate.md).
#pragma once

#include <slipstick/model.h>

namespace slipstick {

/// How much of the world is looked at in each step. Whatever is chosen, no bit of the state depends on it.
enum class AuditMode : std::uint8_t {
  Share,  ///< so many pairs that it costs about a twentieth of the step, going round; all of them at the end of a run
  Every,  ///< all pairs in every step
  Off
};
std::string_view name_of(AuditMode mode);

/// Two shapes that overlap deeper than their contacts say.
struct MissedContact {
  int shape_a = -1, shape_b = -1;  ///< Model::shapes, a < b
  int body_a = kWorld, body_b = kWorld;
  double depth = 0;        ///< m: twice the radius of a ball that is inside both
  double reported = 0;     ///< m: the deepest contact of the pair
  Vec3 at = Vec3::Zero();  ///< centre of that ball
  double time = 0;
};

/// Two shapes of which the core of one has gone into the other within a step: it may have gone through.
struct CrossedPair {
  int shape_a = -1, shape_b = -1;  ///< Model::shapes, a < b
  int body_a = kWorld, body_b = kWorld;
  double time = 0;
};

/// What the audit of one state, and of the way to it, found.
struct WorldVerdict {
  long pairs = 0;       ///< near pairs looked at
  double overlap = 0;   ///< m: the deepest one found, reported or not
  int missed = 0;       ///< pairs that overlap deeper than their contacts say
  MissedContact worst;  ///< of these, the deepest
  long work = 0;        ///< counted, not timed
  int crossed = 0;      ///< pairs of which one went into the other on the way
  CrossedPair first_crossed;

  /// Sums up the verdicts of several states.
  void add(const WorldVerdict& verdict);
};

}  // namespace slipstick
