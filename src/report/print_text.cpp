#include "report/print_text.h"

#include <cstdarg>
#include <cstdio>

namespace slipstick {

std::string print_text(const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return text;
}

}  // namespace slipstick
