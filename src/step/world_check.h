// The half of stage 11 that asks whether the contacts of the new state are true (src/audit): its price and its word.
#pragma once

#include <slipstick/simulation.h>

#include "audit/world_audit.h"

namespace slipstick {

class WorldCheck {
 public:
  explicit WorldCheck(const Model& model);  ///< keeps a reference

  /// Of the state after a step and its contacts, as many pairs as `mode` asks for. A missed contact takes the
  /// certificate from the step.
  void run(const State& state, std::span<const Contact> contacts, AuditMode mode, StepReport* report);
  WorldVerdict check_all(const State& state, std::span<const Contact> contacts);

 private:
  WorldAudit audit_;
  long bodies_ = 0;  ///< that move
};

}  // namespace slipstick
