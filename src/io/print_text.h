// printf into a string.
#pragma once

#include <cstdio>
#include <string>

namespace slipstick {

template <class... T>
std::string print_text(const char* format, T... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

/// A number as sentences show it.
inline std::string as_number(double x) { return print_text("%.4g", x); }

}  // namespace slipstick
