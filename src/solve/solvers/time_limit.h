// The time that a solver may take. Without a limit no clock is read.
#pragma once

#include <chrono>

namespace slipstick {

class TimeLimit {
 public:
  TimeLimit() = default;
  explicit TimeLimit(double seconds) : seconds_(seconds) {}  ///< 0: none

  void start() {
    if (seconds_ > 0) began_ = Clock::now();
  }
  bool is_over() const {
    return seconds_ > 0 && std::chrono::duration<double>(Clock::now() - began_).count() >= seconds_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_ = 0;
  Clock::time_point began_{};
};

}  // namespace slipstick
