#include "step/world_check.h"

#include <algorithm>

#include "step/trial.h"

namespace slipstick {
namespace {

/// Less than a twentieth of what the cheapest steps were seen to cost, in quarters of the units of WorldVerdict::work
/// (about 6 ns): 0.4 us per body, 0.2 us per row, 0.2 us per contact. Counted and not timed, so that the verdict is the
/// same on every machine.
constexpr long kBodyShare = 12, kRowShare = 6, kContactShare = 6, kUnits = 4;

}  // namespace

WorldCheck::WorldCheck(const Model& model)
    : model_(model),
      audit_(model),
      fast_(model, &audit_),
      bodies_(std::count_if(model.bodies.begin(), model.bodies.end(),
                            [](const Body& body) { return body.kind == BodyKind::Dynamic; })) {}

void WorldCheck::run(const State& state, std::span<const Contact> contacts, AuditMode mode, StepReport* report) {
  if (mode == AuditMode::Off) return;
  const Stopwatch watch(&report->seconds.audit);
  const long allowance = (kBodyShare * bodies_ + kRowShare * report->rows + kContactShare * report->contacts) / kUnits;
  if (mode == AuditMode::Every) {
    report->world.add(audit_.check_all(state, contacts));
  } else {
    std::sort(watched_.begin(), watched_.end());
    watched_.erase(std::unique(watched_.begin(), watched_.end()), watched_.end());
    if (!watched_.empty()) report->world.add(audit_.check_pairs(state, contacts, watched_));
    report->world.add(audit_.check_some(state, contacts, allowance));
  }
  if (report->world.missed == 0) return;
  report->certified = false;
  report->note = "missed contact: bodies overlap deeper than their contacts say";
}

void WorldCheck::check_way(const State& from, const State& to, double h, double gamma, double part,
                           std::span<const Contact> contacts, AuditMode mode, StepReport* report) {
  if (mode == AuditMode::Off) return;
  const Stopwatch watch(&report->seconds.audit);
  fast_.find(from, to, h, gamma, part, contacts);
  ways_.check(&fast_, model_, from.time, h, &report->world);
  for (const SweptPair& pair : fast_.swept())
    watched_.push_back({std::min(pair.mover, pair.partner), std::max(pair.mover, pair.partner)});
  if (report->world.crossed == 0) return;
  report->certified = false;
  report->note = "a body went into another within the step and may have gone through it";
}

bool WorldCheck::enters(const State& from, const State& to, std::span<const Contact> contacts) {
  WorldVerdict verdict;
  fast_.find(from, to, 0, 1, 1, contacts);
  ways_.check(&fast_, model_, from.time, 0, &verdict);
  return verdict.crossed > 0;
}

WorldVerdict WorldCheck::check_all(const State& state, std::span<const Contact> contacts) {
  return audit_.check_all(state, contacts);
}

}  // namespace slipstick
