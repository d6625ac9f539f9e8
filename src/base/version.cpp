#include <slipstick/version.h>

// The build system says it; the default keeps the file usable without it.
#ifndef SLIPSTICK_VERSION
#define SLIPSTICK_VERSION "unknown"
#endif

namespace slipstick {

std::string version() { return SLIPSTICK_VERSION; }

}  // namespace slipstick
