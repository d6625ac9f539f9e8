#include "base/thread_team.h"

#include <tbb/info.h>

#include <algorithm>
#include <thread>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace slipstick {

ThreadTeam::ThreadTeam(int threads) : size_(std::max(1, std::min(threads, tbb::info::default_concurrency()))) {
  if (size_ > 1) arena_.emplace(size_);
}

void PhasedWork::wait(int idle) {
  constexpr int kAwake = 200;  // some ten microseconds; after that whoever has the core may need it to go on
  if (idle > kAwake) return std::this_thread::yield();
#ifdef __x86_64__
  _mm_pause();
#endif
}

}  // namespace slipstick
