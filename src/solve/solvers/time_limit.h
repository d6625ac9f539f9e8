// What a solver may spend: time, and work that is counted; and whether somebody has stopped it. Without a limit no
// clock is read.
#pragma once

#include <slipstick/solver.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string_view>

namespace slipstick {

inline constexpr std::string_view kWorkBudget = "work budget";

class TimeLimit {
 public:
  TimeLimit() = default;
  explicit TimeLimit(const SolverOptions& options)
      : seconds_(options.time_limit), work_(options.work), stop_(options.stop) {}

  void start() {
    lift();
    if (seconds_ > 0) began_ = Clock::now();
  }
  /// Counts row operations that are about to be done. False: they would pass the limit, and must not be.
  bool spend(double work) {
    if (work_ == nullptr) return true;
    refused_ = refused_ || work_->spent + work > std::min(work_->limit, restricted_);
    if (!refused_) work_->spent += work;
    return !refused_;
  }
  /// From here on no more than so much, until lift().
  void restrict_to(double work) {
    if (work_ != nullptr) restricted_ = work_->spent + work;
  }
  /// What the limit itself allows; what was refused is forgotten.
  void lift() {
    refused_ = false;
    restricted_ = std::numeric_limits<double>::infinity();
  }
  /// Work that the limit still allows.
  double calc_left() const {
    return work_ == nullptr ? std::numeric_limits<double>::infinity() : work_->limit - work_->spent;
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
  double restricted_ = std::numeric_limits<double>::infinity();
  bool refused_ = false;
  Clock::time_point began_{};
  const std::atomic<bool>* stop_ = nullptr;
};

}  // namespace slipstick
