// Room: base. The version of this library.
#pragma once

#include <string>

namespace slipstick {

/// "0.1.0"
std::string version();

}  // namespace slipstick
