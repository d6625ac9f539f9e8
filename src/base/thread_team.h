// Work in portions on several threads. Who does which portion is a matter of luck, what comes out must not be: portions
// are cut by the work alone, never by the number of threads, and write where no other one reads or writes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace slipstick {

/// The caller and its helpers. A step has some fifty pieces of work for them, ten microseconds to milliseconds long,
/// with others between that one thread does alone: a helper waits awake for the next piece, and goes to sleep when none
/// has come for kAwake. Nobody has to come: who calls does it all alone if the helpers have no core.
class ThreadTeam {
 public:
  /// At most so many threads, and no more than the machine has.
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return size_; }
  /// take_part() by the caller and by every helper that comes before the caller has returned from it; all have returned
  /// from it then. By the caller alone where it is itself within such a call, of whatever team.
  template <class F>
  void run(const F& take_part) const {
    run([](const void* f) { (*static_cast<const F*>(f))(); }, &take_part);
  }

 private:
  using Call = void (*)(const void*);
  void run(Call call, const void* context) const;
  void help();
  void sleep(std::uint64_t known);

  const int size_;
  const int process_;  ///< whose threads they are: a fork has none of them
  mutable Call call_ = nullptr;
  mutable const void* context_ = nullptr;
  /// The number of the piece of work, whether one may still come to it, and how many helpers are at it.
  alignas(64) mutable std::atomic<std::uint64_t> state_ = 0;
  mutable std::atomic<int> sleeping_ = 0;
  std::atomic<bool> ends_ = false;
  mutable std::mutex mutex_;
  mutable std::condition_variable wake_;
  std::vector<std::thread> helpers_;
};

/// f(first, last) for all of [0, count), in portions of at least this size. Null: alone.
template <class F>
void for_portions(const ThreadTeam* team, std::size_t count, std::size_t portion, const F& f) {
  // One copy of the code for both ways: of two, the compiler might fuse other products and sums in the one than in the
  // other, and a last bit would depend on the number of threads.
  const auto work = [&f] [[gnu::noinline]] (std::size_t first, std::size_t last) { f(first, last); };
  if (team == nullptr || team->size() == 1 || count < 2 * portion) return work(std::size_t{0}, count);
  const std::size_t parts = count / portion;
  std::atomic<std::size_t> next = 0;
  team->run([&] {
    for (std::size_t i = next.fetch_add(1, std::memory_order_relaxed); i < parts;
         i = next.fetch_add(1, std::memory_order_relaxed))
      work(count * i / parts, count * (i + 1) / parts);
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

/// f(first, last, list) appends what it finds in [first, last) to a list: what all portions found, in their order, goes
/// to `all`. `lists` is scratch.
template <class T, class F>
void gather_portions(const ThreadTeam* team, std::size_t count, std::size_t portion, const F& f,
                     std::vector<std::vector<T>>* lists, std::vector<T>* all) {
  const std::size_t parts = count / portion;
  if (team == nullptr || team->size() == 1 || parts < 2) return f(std::size_t{0}, count, all);
  if (lists->size() < parts) lists->resize(parts);
  for_portions(team, parts, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      (*lists)[i].clear();
      f(count * i / parts, count * (i + 1) / parts, &(*lists)[i]);
    }
  });
  std::size_t found = all->size();
  for (std::size_t i = 0; i < parts; ++i) found += (*lists)[i].size();
  all->reserve(found);
  for (std::size_t i = 0; i < parts; ++i) all->insert(all->end(), (*lists)[i].begin(), (*lists)[i].end());
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
    team->run([&] { work.take_part(phases, count, run); });
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
