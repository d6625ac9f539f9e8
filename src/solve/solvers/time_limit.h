// What a solver may spend: time, and work that is counted; and whether somebody has stopped it. Without a limit no
// clock is read.
#pragma once

#include <slipstick/solver.h>

#include <chrono>
#include <string_view>

namespace slipstick {

inline constexpr std::string_view kWorkBudget = "work budget";

class TimeLimit {
 public:
  TimeLimit() = default;
  explicit TimeLimit(const SolverOptions& options)
      : seconds_(options.time_limit), work_(options.work), stop_(options.stop) {}

  void start() {
    refused_ = false;
    if (seconds_ > 0) began_ = Clock::now();
  }
  /// Counts row operations that are about to be done. False: they would pass the limit, and must not be.
  bool spend(double work) {
    if (work_ == nullptr) return true;
    refused_ = refused_ || work_->spent + work > work_->limit;
    if (!refused_) work_->spent += work;
    return !refused_;
  }
  bool is_over() const {
    if (refused_ || is_stopped()) return true;
    return seconds_ > 0 && std::chrono::duration<double>(Clock::now() - began_).count() >= seconds_;
  }
  const WorkMeter* work() const { return work_; }

  bool is_stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }
  std::string_view note() const { return is_stopped() ? "stopped" : refused_ ? kWorkBudget : "time limit"; }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_ = 0;
  WorkMeter* work_ = nullptr;
  bool refused_ = false;
  Clock::time_point began_{};
  const std::atomic<bool>* stop_ = nullptr;
};

}  // namespace slipstick
