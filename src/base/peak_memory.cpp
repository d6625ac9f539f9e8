#include "base/peak_memory.h"

#include <fstream>
#include <string>

namespace slipstick {

double calc_peak_memory() {
  // Not getrusage: what the parent had before it began this program counts there.
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return 1024e-6 * kibibytes;
  }
  return 0;
}

}  // namespace slipstick
