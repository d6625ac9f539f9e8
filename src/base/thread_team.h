// Work in portions on several threads. Who does which portion is a matter of luck, what comes out must not be: portions
// are cut by the work alone, never by the number of threads, and write where no other one reads or writes.
#pragma once

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace slipstick {

class ThreadTeam {
 public:
  /// At most so many threads, and no more than the machine has.
  explicit ThreadTeam(int threads);
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return size_; }
  tbb::task_arena* arena() const { return size_ > 1 ? &*arena_ : nullptr; }

 private:
  int size_;
  mutable std::optional<tbb::task_arena> arena_;
};

/// f(first, last) for all of [0, count), in portions of at least this size. Null: alone.
template <class F>
void for_portions(const ThreadTeam* team, std::size_t count, std::size_t portion, const F& f) {
  // One copy of the code for both ways: of two, the compiler might fuse other products and sums in the one than in the
  // other, and a last bit would depend on the number of threads.
  const auto work = [&f] [[gnu::noinline]] (std::size_t first, std::size_t last) { f(first, last); };
  if (team == nullptr || team->size() == 1 || count < 2 * portion) return work(std::size_t{0}, count);
  const std::size_t parts = count / portion;
  team->arena()->execute([&] {
    tbb::parallel_for(std::size_t{0}, parts, [&](std::size_t i) { work(count * i / parts, count * (i + 1) / parts); });
  });
}

/// The sum of f(first, last) over portions of [0, count), added up in their order: the same bits on any number of
/// threads. Sums that begin as Sum{} and have +=.
template <class Sum, class F>
Sum sum_portions(const ThreadTeam* team, std::size_t count, std::size_t portion, const F& f) {
  const std::size_t parts = count / portion;
  if (parts < 2) return f(std::size_t{0}, count);
  std::vector<Sum> sums(parts);
  for_portions(team, parts, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) sums[i] = f(count * i / parts, count * (i + 1) / parts);
  });
  Sum all{};
  for (const Sum& sum : sums) all += sum;
  return all;
}

/// Tasks that come in phases: those of one are all done before the next begins. Phases may be as short as some
/// microseconds: whoever takes part waits awake. One thread does it all if the others are busy elsewhere.
class PhasedWork {
 public:
  /// run(phase, task) for `count(phase)` tasks of each phase.
  template <class Count, class Run>
  static void run(const ThreadTeam* team, int phases, const Count& count, const Run& task_of_phase) {
    const auto run = [&task_of_phase] [[gnu::noinline]] (int phase, int task) {
      task_of_phase(phase, task);
    };  // as above
    if (team == nullptr || team->size() == 1) {
      for (int phase = 0; phase < phases; ++phase)
        for (int task = 0; task < count(phase); ++task) run(phase, task);
      return;
    }
    PhasedWork work;
    team->arena()->execute([&] {
      tbb::task_group group;
      for (int i = 1; i < team->size(); ++i) group.run([&] { work.take_part(phases, count, run); });
      work.take_part(phases, count, run);
      group.wait();
    });
  }

 private:
  template <class Count, class Run>
  void take_part(int phases, const Count& count, const Run& run) {
    int idle = 0;
    for (;;) {
      const std::uint64_t seen = ticket_.load(std::memory_order_acquire);
      const int phase = phase_of(seen);
      if (phase >= phases) return;
      const int tasks = count(phase);
      if (tasks == 0) {
        std::uint64_t expected = seen;
        ticket_.compare_exchange_strong(expected, first_of(phase + 1), std::memory_order_acq_rel);
        continue;
      }
      if (task_of(seen) >= tasks) {
        wait(++idle);
        continue;
      }
      idle = 0;
      const std::uint64_t mine = ticket_.fetch_add(1, std::memory_order_acq_rel);
      if (phase_of(mine) >= phases || task_of(mine) >= count(phase_of(mine))) continue;
      run(phase_of(mine), task_of(mine));
      if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 < count(phase_of(mine))) continue;
      done_.store(0, std::memory_order_relaxed);
      ticket_.store(first_of(phase_of(mine) + 1), std::memory_order_release);
    }
  }

  static std::uint64_t first_of(int phase) { return static_cast<std::uint64_t>(phase) << 32; }
  static int phase_of(std::uint64_t ticket) { return static_cast<int>(ticket >> 32); }
  static int task_of(std::uint64_t ticket) { return static_cast<int>(ticket & 0xffffffffU); }
  static void wait(int idle);

  std::atomic<std::uint64_t> ticket_ = 0;  ///< the phase, and the next of its tasks that nobody has
  alignas(64) std::atomic<int> done_ = 0;  ///< tasks of the phase
};

}  // namespace slipstick
