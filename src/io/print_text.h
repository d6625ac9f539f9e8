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

}  // namespace slipstick
