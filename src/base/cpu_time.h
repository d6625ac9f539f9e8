// CPU time of this process, all threads: other programs on the machine matter less to it than to the clock.
#pragma once

#include <time.h>

namespace slipstick {

inline double read_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace slipstick
