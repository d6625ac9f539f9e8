// The time that a solver may take, and whether somebody has stopped it. Without a limit no clock is read.
#pragma once

#include <slipstick/solver.h>

#include <chrono>
#include <string_view>

namespace slipstick {

class TimeLimit {
 public:
  TimeLimit() = default;
  explicit TimeLimit(const SolverOptions& options) : seconds_(options.time_limit), stop_(options.stop) {}

  void start() {
    if (seconds_ > 0) began_ = Clock::now();
  }
  bool is_over() const {
    if (is_stopped()) return true;
    return seconds_ > 0 && std::chrono::duration<double>(Clock::now() - began_).count() >= seconds_;
  }

  bool is_stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }
  std::string_view note() const { return is_stopped() ? "stopped" : "time limit"; }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_ = 0;
  Clock::time_point began_{};
  const std::atomic<bool>* stop_ = nullptr;
};

}  // namespace slipstick
