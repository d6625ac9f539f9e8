// Little-endian bytes, on every machine: written one after the other, read back with every length checked.
#pragma once

#include <slipstick/uniqueness.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace slipstick {

class ByteWriter {
 public:
  void add(std::uint64_t x) { add_bytes(x, 8); }
  void add(std::int64_t x) { add_bytes(static_cast<std::uint64_t>(x), 8); }
  void add(std::uint32_t x) { add_bytes(x, 4); }
  void add(std::int32_t x) { add_bytes(static_cast<std::uint32_t>(x), 4); }
  void add(double x) { add_bytes(std::bit_cast<std::uint64_t>(x), 8); }
  void add(bool x) { add_bytes(x ? 1 : 0, 1); }
  void add(Uniqueness x) { add_bytes(static_cast<std::uint64_t>(x), 1); }
  void add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
  }
  /// No length before it.
  void add_raw(std::string_view text) { bytes_ += text; }
  const std::string& bytes() const { return bytes_; }

 private:
  void add_bytes(std::uint64_t x, int count) {
    char little[8];
    for (int i = 0; i < 8; ++i)
      little[i] = static_cast<char>(x >> (8 * i) & 0xff);  // one store where that is its order
    bytes_.append(little, static_cast<std::size_t>(count));
  }
  std::string bytes_;
};

/// After the first thing that does not fit everything reads as zero and `good` is false.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  void get(std::uint64_t* x) { *x = take(8); }
  void get(std::int64_t* x) { *x = static_cast<std::int64_t>(take(8)); }
  void get(std::uint32_t* x) { *x = static_cast<std::uint32_t>(take(4)); }
  void get(std::int32_t* x) { *x = static_cast<std::int32_t>(static_cast<std::uint32_t>(take(4))); }
  void get(double* x) { *x = std::bit_cast<double>(take(8)); }
  void get(bool* x) {
    const std::uint64_t byte = take(1);
    good_ = good_ && byte <= 1;
    *x = byte == 1;
  }
  void get(Uniqueness* x) {
    const std::uint64_t byte = take(1);
    good_ = good_ && byte <= static_cast<std::uint64_t>(Uniqueness::Arbitrary);
    *x = good_ ? static_cast<Uniqueness>(byte) : Uniqueness::Unknown;
  }
  void get(std::string* text) { *text = std::string(get_raw(get_count(1))); }
  /// A number of things of at least `size` bytes each: 0 if so many cannot follow.
  std::size_t get_count(std::size_t size) {
    const std::uint64_t count = take(8);
    good_ = good_ && count <= rest_.size() / size;
    return good_ ? static_cast<std::size_t>(count) : 0;
  }
  std::string_view get_raw(std::size_t count) {
    good_ = good_ && count <= rest_.size();
    const std::string_view taken = good_ ? rest_.substr(0, count) : std::string_view();
    if (good_) rest_.remove_prefix(count);
    return taken;
  }
  bool good() const { return good_; }
  bool at_end() const { return rest_.empty(); }
  void fail() { good_ = false; }

 private:
  std::uint64_t take(int count) {
    const std::string_view taken = get_raw(static_cast<std::size_t>(count));
    std::uint64_t x = 0;
    for (std::size_t i = 0; i < taken.size(); ++i)
      x |= static_cast<std::uint64_t>(static_cast<unsigned char>(taken[i])) << (8 * i);
    return x;
  }
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace slipstick
