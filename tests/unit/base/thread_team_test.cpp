// Portions and phases: everything is done once, in the order that is promised, and sums have the same bits with help
// and without.
#include "base/thread_team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace slipstick {
namespace {

TEST(ThreadTeam, HasAtLeastOneThreadAndNoMoreThanTheMachine) {
  EXPECT_EQ(ThreadTeam(0).size(), 1);
  EXPECT_EQ(ThreadTeam(1).size(), 1);
  EXPECT_EQ(ThreadTeam(1).arena(), nullptr);
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
