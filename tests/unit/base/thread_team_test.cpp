// Portions and phases: everything is done once, in the order that is promised, and sums have the same bits with help
// and without.
#include "base/thread_team.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace slipstick {
namespace {

TEST(ThreadTeam, HasAtLeastOneThreadAndNoMoreThanTheMachine) {
  EXPECT_EQ(ThreadTeam(0).size(), 1);
  EXPECT_EQ(ThreadTeam(1).size(), 1);
  EXPECT_LE(ThreadTeam(100000).size(), 100000);
  EXPECT_GE(ThreadTeam(100000).size(), 1);
}

TEST(ThreadTeam, EveryPlaceIsVisitedOnce) {
  const ThreadTeam two(2);
  for (const ThreadTeam* team : {static_cast<const ThreadTeam*>(nullptr), &two}) {
    for (const std::size_t count : {0U, 1U, 63U, 64U, 127U, 128U, 1000U, 65537U}) {
      std::vector<int> visits(count, 0);
      for_portions(team, count, 64, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) ++visits[i];
      });
      EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), static_cast<std::ptrdiff_t>(count)) << count;
    }
  }
}

TEST(ThreadTeam, SumsHaveTheSameBitsOnAnyNumberOfThreads) {
  const ThreadTeam two(2), many(8);
  std::vector<double> terms(54321);
  for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = std::sin(static_cast<double>(i)) * std::pow(10.0, i % 17);
  const auto sum = [&](const ThreadTeam* team) {
    return sum_portions<double>(team, terms.size(), 100, [&](std::size_t first, std::size_t last) {
      return std::accumulate(terms.begin() + static_cast<long>(first), terms.begin() + static_cast<long>(last), 0.0);
    });
  };
  const double alone = sum(nullptr);
  EXPECT_NE(alone, std::accumulate(terms.begin(), terms.end(), 0.0)) << "the order must matter, or this says nothing";
  for (int repeat = 0; repeat < 20; ++repeat) {
    EXPECT_EQ(alone, sum(&two));
    EXPECT_EQ(alone, sum(&many));
  }
}

/// Helpers that are asleep are woken, and those that come late to a piece of work do not come to one that is over.
TEST(ThreadTeam, PiecesOfWorkAfterPausesOfAnyLength) {
  const ThreadTeam two(2);
  long sum = 0;
  for (int piece = 0; piece < 3000; ++piece) {
    if (piece % 500 == 499) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::vector<int> visits(8, 0);
    for_portions(&two, visits.size(), 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) visits[i] += static_cast<int>(i) + 1;
    });
    sum += std::accumulate(visits.begin(), visits.end(), 0L);
  }
  EXPECT_EQ(sum, 3000 * 36);
}

/// A task that has work for a team does it alone: nobody waits for a helper that waits for him.
TEST(ThreadTeam, WorkWithinWork) {
  const ThreadTeam two(2), other(2);
  std::vector<int> visits(64 * 64, 0);
  for (int repeat = 0; repeat < 100; ++repeat) {
    for_portions(&two, 64, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i)
        for_portions(i % 2 == 0 ? &two : &other, 64, 1, [&](std::size_t from, std::size_t to) {
          for (std::size_t k = from; k < to; ++k) ++visits[64 * i + k];
        });
    });
  }
  EXPECT_EQ(std::count(visits.begin(), visits.end(), 100), 64 * 64);
}

/// Python's multiprocessing does that: the child has the team and none of its threads.
TEST(ThreadTeam, AForkWorksAloneAndEnds) {
  auto team = std::make_unique<ThreadTeam>(2);
  const auto count_to = [&](std::size_t count) {
    std::atomic<std::size_t> visits = 0;
    for_portions(team.get(), count, 1, [&](std::size_t first, std::size_t last) { visits += last - first; });
    return visits.load();
  };
  EXPECT_EQ(count_to(100), 100U);
  const pid_t child = fork();
  if (child == 0) {
    const bool good = count_to(100) == 100;
    team.reset();
    _exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ThreadTeam, GatheredListsAreInTheOrderOfThePlaces) {
  const ThreadTeam two(2);
  std::vector<std::vector<int>> scratch;
  for (const std::size_t count : {0U, 10U, 127U, 128U, 5000U}) {
    std::vector<int> expected{-1}, found{-1};
    for (std::size_t i = 0; i < count; i += 3) expected.push_back(static_cast<int>(i));
    const auto look = [](std::size_t first, std::size_t last, std::vector<int>* list) {
      for (std::size_t i = first; i < last; ++i)
        if (i % 3 == 0) list->push_back(static_cast<int>(i));
    };
    gather_portions(&two, count, 64, look, &scratch, &found);
    EXPECT_EQ(found, expected) << count;
  }
}

/// Each task writes what all tasks of the phase before have written; a phase that began early would read zeros.
TEST(PhasedWork, APhaseBeginsWhenTheOneBeforeIsDone) {
  const ThreadTeam two(2);
  constexpr int kPhases = 3000;
  const auto count = [](int phase) { return phase % 5 == 3 ? 0 : 1 + phase % 7; };
  for (const ThreadTeam* team : {static_cast<const ThreadTeam*>(nullptr), &two}) {
    std::vector<std::vector<long>> done(kPhases);
    for (int phase = 0; phase < kPhases; ++phase) done[phase].assign(count(phase), 0);
    PhasedWork::run(team, kPhases, count, [&](int phase, int task) {
      long before = 0;
      if (phase > 0) before = std::accumulate(done[phase - 1].begin(), done[phase - 1].end(), 0L);
      const long expected = phase == 0 ? 0 : count(phase - 1);
      done[phase][task] += before == expected ? 1 : 1000;
    });
    for (int phase = 0; phase < kPhases; ++phase)
      for (const long times : done[phase]) ASSERT_EQ(times, 1) << phase;
  }
}

}  // namespace
}  // namespace slipstick
