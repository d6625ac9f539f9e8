// How long a part of a step may be where something fast is near: a search that compares the gaps at both ends of a part
// must see a fast body before it meets a thin one, and a turning one in every position (docs/step.md).
#pragma once

#include <slipstick/simulation.h>

#include <span>

#include "audit/fast_pairs.h"

namespace slipstick {

/// A part in which a core goes into something is taken again, until this share of the time until then.
inline constexpr double kBefore = 0.8;
/// What is left of a step when it is over, as a share of it.
inline constexpr double kNoTime = 1e-12;

/// What the parts of a step do with contacts that are open at their start.
enum class Open { Watched, HaveRows };

/// Whether a body that is not round turns by more than 0.3 rad in h.
bool turns_far(const Model& model, std::span<const Twist> velocity, double h);

/// At most h, for each pair of `contacts`, sorted by key, that turns by more than 0.3 rad in h and closes:
/// Watched:   max(gap / (|v| + |w| R), min(0.3 / |w|, 0.5 r / v_closing)), also if it closes by more than 0.5 r, r the
///            radii of both interior balls;
/// HaveRows:  max(gap / (|v| + |w| R), 0.1 / |w|): a row sees what comes, however thin, but freezes its lever arm.
/// The first term is the time for which the gap suffices however the bodies turn; the second is for those that touch.
/// `after`: velocities that a trial has led to, or those of the state; w is the larger of both.
double calc_part_limit(const Model& model, const State& state, std::span<const Twist> after,
                       std::span<const Contact> contacts, const FastPairs& fast, Open open, double h);

}  // namespace slipstick
