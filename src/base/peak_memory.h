// The most memory that this process has had.
#pragma once

namespace slipstick {

/// MB (1e6 bytes) in core, of the whole process; zero where the system does not say.
double calc_peak_memory();

}  // namespace slipstick
