// A small 64-bit digest (FNV-1a over 8-byte words with a final mix): identity of states, not security.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

namespace slipstick {

class Digest {
 public:
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x100000001b3ULL;
    value_ ^= value_ >> 29;
  }
  void add(double x) { add(std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x)); }  // -0 and +0 are one state
  /// Eight bytes a word, little-endian on every machine; the length parts what follows from it.
  void add(std::string_view bytes) {
    add(static_cast<std::uint64_t>(bytes.size()));
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
      std::uint64_t word = 0;
      for (std::size_t k = i; k < bytes.size() && k < i + 8; ++k)
        word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[k])) << (8 * (k - i));
      add(word);
    }
  }
  std::uint64_t value() const { return mix(value_); }

  /// splitmix64's finalizer: every input bit reaches every output bit.
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

/// rand(...) of scene files: [0, 1) from the top 53 bits of a digest of the seed and the arguments.
inline double hashed_random(std::uint64_t seed, std::span<const double> arguments) {
  Digest digest;
  digest.add(seed);
  for (double argument : arguments) digest.add(argument);
  return static_cast<double>(digest.value() >> 11) * 0x1p-53;
}

}  // namespace slipstick
