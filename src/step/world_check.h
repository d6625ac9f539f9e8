// The half of stage 11 that asks whether the contacts of the new state are true (src/audit): its price and its word.
#pragma once

#include <slipstick/simulation.h>

#include "audit/path_audit.h"
#include "audit/world_audit.h"

namespace slipstick {

class WorldCheck {
 public:
  explicit WorldCheck(const Model& model);  ///< keeps a reference

  /// Nothing of a step is known yet.
  void begin() { watched_.clear(); }
  /// Of the state after a step and its contacts, as many pairs as `mode` asks for. A missed contact takes the
  /// certificate from the step. Pairs whose corners went far on the way to it are looked at in any case.
  void run(const State& state, std::span<const Contact> contacts, AuditMode mode, StepReport* report);
  /// Of the way of an accepted trial: what went into something there takes the certificate as well.
  void check_way(const State& from, const State& to, double h, double gamma, double part,
                 std::span<const Contact> contacts, AuditMode mode, StepReport* report);
  /// Of a way without time, the correction of overlap: does it move the core of anything into something?
  bool enters(const State& from, const State& to, std::span<const Contact> contacts);
  FastPairs& fast() { return fast_; }
  WorldVerdict check_all(const State& state, std::span<const Contact> contacts);

 private:
  const Model& model_;
  WorldAudit audit_;
  FastPairs fast_;
  PathAudit ways_;
  long bodies_ = 0;  ///< that move
  std::vector<std::array<int, 2>> watched_;
};

}  // namespace slipstick
