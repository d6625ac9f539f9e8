// The hand that drags a body in the live viewer: a damped spring, as a force in the inputs of a step.
#pragma once

#include <slipstick/simulation.h>

namespace slipstick {

/// A spring from the hand to a point of a body.
struct LivePull {
  int body = 0;
  Vec3 point = Vec3::Zero();   ///< in the frame of the body
  Vec3 target = Vec3::Zero();  ///< world
  double strength = 1;         ///< 1: holds about the body's own weight within a few centimetres
  double speed = 1;            ///< simulated seconds a second of the clock: the hand is as quick as the one who looks
};

/// Adds the force of the hand in the coming step. It is that of an implicit spring on the free body,
///   (1 + (h d + h^2 k) W) f = -(k x + (d + h k) (v + h g)),   W = J M^-1 J^T of the point,
/// as stiff as the strength says, and not stiffer than the step can bear. Joints and contacts only make W smaller. A
/// body that hangs still is held by k x = m g.
void apply_pull(const Simulation& simulation, const LivePull& pull, Inputs* inputs);

}  // namespace slipstick
