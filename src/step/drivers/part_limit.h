// How long a part of a step may be where something fast is near: a search that compares the gaps at both ends of a part
// must see a fast body before it meets a thin one, and a turning one in every position (docs/step.md).
#pragma once

#include <slipstick/simulation.h>

#include <span>

#include "audit/fast_pairs.h"

namespace slipstick {

/// At most h:  max(gap / (|v| + |w| R), min(0.3 / |w|, 0.5 r / v_closing))  of each pair of `contacts`, sorted by key,
/// that turns by more than 0.3 rad in h or closes by more than 0.5 r, r the radii of both interior balls. The first is
/// the time for which the gap suffices however the bodies turn; the second is for those that touch.
double calc_part_limit(const Model& model, const State& state, std::span<const Contact> contacts, const FastPairs& fast,
                       double h);

}  // namespace slipstick
