// An input stream over text in memory, without a copy of it.
#pragma once

#include <istream>
#include <streambuf>
#include <string_view>

namespace slipstick {

class MemoryBuffer : public std::streambuf {
 public:
  explicit MemoryBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // streambuf asks for char*; nothing writes through it
    setg(begin, begin, begin + text.size());
  }
};

class MemoryStream : private MemoryBuffer, public std::istream {
 public:
  explicit MemoryStream(std::string_view text) : MemoryBuffer(text), std::istream(static_cast<std::streambuf*>(this)) {}
};

}  // namespace slipstick
