// Formulas of t in the model that have no value: a motor's speed of log(0.5 - t) after half a second.
#pragma once

#include <string>

#include "step/scheme.h"

namespace slipstick {

/// Names the first formula that is no number at an instant at which a step from t over h may ask for it: "the motor of
/// joint 'arm': its speed is nan at t = 0.5 s". Empty if all have values. Asked only when a step has met a value that
/// is none.
std::string find_formula_fault(const StepInput& input);

/// Whether the problem has numbers everywhere (bounds may be infinite).
bool has_numbers(const Problem& problem);

}  // namespace slipstick
