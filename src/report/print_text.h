// printf into a string.
#pragma once

#include <string>

namespace slipstick {

/// At most 511 characters; the rest is cut.
[[gnu::format(printf, 1, 2)]] std::string print_text(const char* format, ...);

/// A number as sentences show it.
inline std::string as_number(double x) { return print_text("%.4g", x); }

}  // namespace slipstick
