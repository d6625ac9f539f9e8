// The part of a law in JSON, the same for steps and for problems from files.
#pragma once

#include <slipstick/solver.h>

#include "report/json_text.h"

namespace slipstick {

/// part, value, unit, relative: fields of the object that is open.
inline void add_part(const WorstPart& part, JsonText* json) {
  json->field("part", name_of(part.part));
  json->field("value", part.value);
  json->field("unit", unit_of(part.part));
  json->field("relative", part.relative);
}

}  // namespace slipstick
