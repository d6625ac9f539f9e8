// Random damage to files, always the same for the same seed, and a guard against readers that hang or eat memory.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

namespace slipstick::test {

/// How many damaged files a test reads: `usual`, or what the environment asks for (SLIPSTICK_FUZZ).
inline int calc_rounds(int usual) {
#ifdef SLIPSTICK_SANITIZED
  usual /= 5;
#endif
  const char* asked = std::getenv("SLIPSTICK_FUZZ");
  return asked ? std::atoi(asked) : usual;
}

inline std::string read_bytes(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// One to four changes: a bit, a byte, a run of bytes of one value, a piece moved elsewhere, the end cut off.
inline std::string damage(std::string bytes, std::mt19937* generator) {
  const auto any = [&](std::size_t below) { return (*generator)() % (below > 0 ? below : 1); };
  for (std::size_t k = any(4) + 1; k > 0 && !bytes.empty(); --k) {
    const std::size_t at = any(bytes.size());
    const std::size_t length = std::min<std::size_t>(1 + any(16), bytes.size() - at);
    switch (any(16)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
      case 2:
        bytes.replace(at, length, length, static_cast<char>(any(2) ? 0xff : 0x00));
        break;
      case 3:
      case 4:
        bytes.replace(at, length, bytes.substr(any(bytes.size() - length), length));
        break;
      case 5:
      case 6:
      case 7:
        bytes[at] = static_cast<char>(any(256));
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << any(8)));
    }
  }
  return bytes;
}

/// While it lives: more than `seconds` of the processor's time (not of the clock: machines are loaded) end the program
/// by SIGPROF.
class WorkLimit {
 public:
  explicit WorkLimit(int seconds) { set(seconds); }
  ~WorkLimit() { set(0); }
  WorkLimit(const WorkLimit&) = delete;
  WorkLimit& operator=(const WorkLimit&) = delete;

 private:
  static void set(int seconds) {
    const itimerval timer{{0, 0}, {seconds, 0}};
    setitimer(ITIMER_PROF, &timer, nullptr);
  }
};

/// The most memory that this program has had, MiB. Under the sanitizers, which keep what is freed: nothing.
inline long calc_peak_memory() {
#ifdef SLIPSTICK_SANITIZED
  return 0;
#endif
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

}  // namespace slipstick::test
