#include "base/thread_team.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace slipstick {

namespace {

using Clock = std::chrono::steady_clock;

/// Longer than what one thread does alone between two pieces of work in a step; to be woken takes some 50 us.
constexpr std::chrono::microseconds kAwake(2000);
constexpr int kPauses = 200;  // some ten microseconds; after that whoever has the core may need it to go on

// ThreadTeam::state_
constexpr std::uint64_t kOne = 1, kOpen = std::uint64_t{1} << 31, kPiece = std::uint64_t{1} << 32;
std::uint64_t piece_of(std::uint64_t state) { return state / kPiece; }
std::uint64_t helpers_at(std::uint64_t state) { return state % kOpen; }

/// Whether this thread is within a piece of work.
thread_local bool is_at_work = false;

void pause() {
#ifdef __x86_64__
  _mm_pause();
#endif
}

}  // namespace

ThreadTeam::ThreadTeam(int threads)
    : size_(std::clamp(threads, 1, static_cast<int>(std::max(1U, std::thread::hardware_concurrency())))),
      process_(getpid()) {
  for (int i = 1; i < size_; ++i) helpers_.emplace_back([this] { help(); });
}

ThreadTeam::~ThreadTeam() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  for (std::thread& helper : helpers_) getpid() == process_ ? helper.join() : helper.detach();
}

void ThreadTeam::run(Call call, const void* context) const {
  if (is_at_work || size_ == 1) return call(context);
  is_at_work = true;
  call_ = call;
  context_ = context;
  state_ = (piece_of(state_.load(std::memory_order_relaxed)) + 1) * kPiece | kOpen;
  if (sleeping_ > 0) {  // after the store above, in the one order of all: who is not counted here has seen it
    const std::lock_guard lock(mutex_);
    wake_.notify_all();
  }
  call(context);
  std::uint64_t left = state_.fetch_and(~kOpen, std::memory_order_acq_rel);
  for (int idle = 0; helpers_at(left) > 0; left = state_.load(std::memory_order_acquire))
    ++idle < kPauses ? pause() : std::this_thread::yield();
  is_at_work = false;
}

void ThreadTeam::help() {
  is_at_work = true;
  std::uint64_t done = 0;  // the last piece of work that this thread was at
  int idle = 0;
  Clock::time_point since;
  while (!ends_.load(std::memory_order_relaxed)) {
    std::uint64_t state = state_.load(std::memory_order_acquire);
    if ((state & kOpen) != 0 && piece_of(state) != done) {
      if (!state_.compare_exchange_weak(state, state + kOne, std::memory_order_acq_rel)) continue;
      done = piece_of(state);
      call_(context_);
      state_.fetch_sub(kOne, std::memory_order_release);
      idle = 0;
      continue;
    }
    if (++idle < kPauses) {
      pause();
    } else if (idle == kPauses) {
      since = Clock::now();
    } else if (Clock::now() - since < kAwake) {
      std::this_thread::yield();
    } else {
      sleep(state);
      idle = 0;
    }
  }
}

/// Until there is another piece of work than the one known.
void ThreadTeam::sleep(std::uint64_t known) {
  std::unique_lock lock(mutex_);
  ++sleeping_;
  wake_.wait(lock, [&] { return ends_ || piece_of(state_) != piece_of(known); });
  --sleeping_;
}

void PhasedWork::wait(int idle) { idle > kPauses ? std::this_thread::yield() : pause(); }

}  // namespace slipstick
