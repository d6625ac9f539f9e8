// What the event driver looks for.
#pragma once

#include <slipstick/state.h>

namespace slipstick {

enum class Due { Nothing, Impact, Stick, Takeoff, Slip, Jam };

/// Something that a trial runs into, at the share s of its length.
struct Candidate {
  Due kind = Due::Nothing;
  double s = 2;
  ContactKey key;
  int closed = -1;     ///< index into the closed set, or -1
  double level = 0;    ///< impact: the gap at which it closes
  double high = 1;     ///< impact: the gap may be below zero here
  bool below = false;  ///< impact: it is below zero at the end of the trial
};

/// A take-off or slip at which a part of the step was cut.
struct Cut {
  ContactKey key;
  Due kind;
  double time;
};

}  // namespace slipstick
