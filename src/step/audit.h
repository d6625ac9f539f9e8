// The energy ledger of a step, [methods 8.2]: everything computed from forces and velocities, the rest is `numerical`.
#pragma once

#include "step/scheme.h"

namespace slipstick {

/// The kinetic energy gained is exactly the impulses times the mean velocity (v + v')/2, so each impulse has its share.
EnergyLedger calc_ledger(const StepInput& input, const StepProblem& made, const Solution& solution, const State& next,
                         double energy_before, double energy_after);

}  // namespace slipstick
