// Room: base. Which half of solver `split` works on a row block (docs/solvers.md).
#pragma once

#include <cstdint>

namespace slipstick {

enum class SolveMode : std::uint8_t {
  Direct,     ///< all rows in the direct half, none in the sweeps
  Iterative,  ///< all rows swept, none in the direct half
  Split       ///< all rows swept; in the direct half too, a contact's tangents held there
};

}  // namespace slipstick
