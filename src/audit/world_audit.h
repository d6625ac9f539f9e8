// Goes through the near pairs of a world and compares how deep they overlap with what their contacts say. Pairs come
// from bounds of its own, never from the contacts.
#pragma once

#include <slipstick/audit.h>

#include <memory>

#include "audit/overlap_meter.h"

namespace slipstick {

class WorldAudit {
 public:
  explicit WorldAudit(const Model& model);  ///< keeps a reference
  ~WorldAudit();
  WorldAudit(WorldAudit&&) noexcept;
  WorldAudit& operator=(WorldAudit&&) noexcept;

  /// All near pairs. `contacts`: of this state, sorted by key.
  WorldVerdict check_all(const State& state, std::span<const Contact> contacts);
  /// These pairs of shapes, as far as they are near.
  WorldVerdict check_pairs(const State& state, std::span<const Contact> contacts,
                           std::span<const std::array<int, 2>> pairs);
  /// The next pairs, as many as `allowance` and what earlier calls left of theirs pay for, going round.
  WorldVerdict check_some(const State& state, std::span<const Contact> contacts, long allowance);

  /// One pair, in the state of the last check or `place`; deeper than `floor` exactly, else just not deeper.
  CommonBall measure(int shape_a, int shape_b, double floor);
  void place(const State& state);
  /// The rules of who may touch whom, as docs/scenes.md has them.
  bool may_touch(int shape_a, int shape_b) const;
  /// The shape in the frame of its body's centre of mass (the world's own: in that of the world).
  Solid make_own(int shape);
  /// Whole rounds that `check_some` has made.
  long rounds() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipstick
