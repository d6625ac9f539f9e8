// Room: step. A start whose joints are apart, put together by moving the bodies and nothing else.
#pragma once

#include <slipstick/simulation.h>

namespace slipstick {

struct Assembly {
  bool needed = false;  ///< a rigid joint is apart by more than 1e-9 of its size at the start
  bool closed = false;  ///< `state` has all joints together, and no body came farther than `limit`
  double error = 0;     ///< the largest at the start, m or rad
  double left = 0;      ///< of it when nothing more could be done
  double moved = 0;     ///< m: the farthest that a point of a body came
  int body = kWorld;    ///< whose
  double limit = 0;     ///< m: a tenth of the largest joint
  State state;          ///< closed: the assembled state; otherwise the start
};

/// The state nearest to `start`, in the metric of the masses, in which rigid joints hold: found round by round from
/// their linearization. Velocities, contacts and joints with compliance are left alone.
Assembly assemble(const Model& model, const SimulationOptions& options, const State& start);

}  // namespace slipstick
