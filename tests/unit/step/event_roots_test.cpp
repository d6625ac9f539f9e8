// The searches over the length of a trial, on plain functions.
#include "step/drivers/event_roots.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace slipstick {
namespace {

using Kind = RootStep::Kind;

struct Answer {
  Kind kind;
  double s, last;  ///< the share found, and that of the last trial
  int trials;
};

/// Asks until there is an answer.
template <typename Root, typename Show>
Answer search(Root root, Show show) {
  double s = root.first();
  for (int trials = 1; trials < 200; ++trials) {
    const RootStep step = show(&root, s);
    if (step.kind != Kind::Try) return {step.kind, step.s, s, trials};
    s = step.s;
  }
  ADD_FAILURE() << "no end";
  return {Kind::None, 0, 0, 200};
}

Answer find_impact(const std::function<double(double)>& gap, const Candidate& candidate) {
  return search(ImpactRoot(candidate), [&](ImpactRoot* root, double s) {
    const double slope = (gap(s + 1e-7) - gap(s - 1e-7)) / 2e-7;
    return root->next(ImpactRoot::Sample{gap(s), slope, 1e-12});
  });
}

Candidate impact_at(double guess, double high, bool below) {
  Candidate candidate;
  candidate.kind = Due::Impact;
  candidate.s = guess;
  candidate.high = high;
  candidate.below = below;
  return candidate;
}

TEST(EventRoots, ImpactIsWhereTheGapCloses) {
  for (const double root : {1e-6, 0.3, 0.77, 0.999999}) {
    for (const double guess : {0.0, 0.2, 0.9, 1.0}) {
      for (const double bend : {-0.9, 0.0, 0.9, 30.0}) {
        const auto gap = [&](double s) { return (root - s) * (1 + bend * std::abs(s - root)); };
        const Answer found = find_impact(gap, impact_at(guess, 1, true));
        EXPECT_EQ(found.kind, Kind::Found);
        EXPECT_EQ(found.s, found.last) << "the trial left is the one";
        EXPECT_NEAR(found.s, root, 1e-11);
        EXPECT_LT(found.trials, 40);
      }
    }
  }
}

/// A gap that jumps: the smallest bracket, and its end below zero.
TEST(EventRoots, ImpactThroughAJumpEndsBelowZero) {
  const auto gap = [](double s) { return s < 0.4 ? 1.0 : -1.0; };
  const Answer found = find_impact(gap, impact_at(0.5, 1, true));
  EXPECT_EQ(found.kind, Kind::Found);
  EXPECT_EQ(found.s, found.last);
  EXPECT_GE(found.s, 0.4);
  EXPECT_NEAR(found.s, 0.4, 1e-14);
}

TEST(EventRoots, ADipThatStaysAboveZeroIsNone) {
  const auto gap = [](double s) { return (s - 0.5) * (s - 0.5) + 0.01; };
  EXPECT_EQ(find_impact(gap, impact_at(0.3, 0.5, false)).kind, Kind::None);
  const auto through = [](double s) { return (s - 0.5) * (s - 0.5) - 0.01; };
  const Answer found = find_impact(through, impact_at(0.3, 0.5, false));
  EXPECT_EQ(found.kind, Kind::Found);
  EXPECT_NEAR(found.s, 0.4, 1e-11);
}

TEST(EventRoots, SlipsEndWhereTheirSpeedIsZero) {
  for (const double root : {0.05, 0.5, 0.95}) {
    for (const double power : {0.5, 1.0, 3.0}) {
      const auto speed = [&](double s) { return 1 - std::pow(s / root, power); };
      Candidate candidate;
      candidate.kind = Due::Stick;
      candidate.s = 1 / (1 - speed(1));
      const Answer found = search(StickRoot(candidate, 1, speed(1), 1.0),
                                  [&](StickRoot* search, double s) { return search->next(speed(s), s); });
      EXPECT_EQ(found.kind, Kind::Found);
      EXPECT_EQ(found.s, found.last);
      EXPECT_NEAR(found.s, root, 1e-8);
    }
  }
}

/// However short the trial: an impulse that does not fall with it is no force.
TEST(EventRoots, ASlipThatAnImpulseEndsJams) {
  Candidate candidate;
  candidate.kind = Due::Stick;
  candidate.s = 0.4;
  const auto run = [&](double impulse_at_zero) {
    return search(StickRoot(candidate, 1, -1.5, 1.0), [&](StickRoot* root, double s) {
      return root->next(s < 1e-4 ? 1 : -1, impulse_at_zero + (1 - impulse_at_zero) * s);
    });
  };
  EXPECT_EQ(run(1.0).kind, Kind::Jams);
  EXPECT_EQ(run(0.0).kind, Kind::Found);
}

/// Out of tries: the answer is a trial that was made.
TEST(EventRoots, ASearchThatDoesNotEndKeepsItsLastTrial) {
  Candidate candidate;
  candidate.kind = Due::Stick;
  candidate.s = 0.5;
  int count = 0;
  const Answer found = search(StickRoot(candidate, 1, -1, 1.0), [&](StickRoot* root, double) {
    return root->next(++count % 2 ? 1e-9 * count : -1.0, 0);
  });
  EXPECT_EQ(found.kind, Kind::Found);
  EXPECT_EQ(found.s, found.last);
  EXPECT_LE(found.trials, 60);
}

TEST(EventRoots, ReleaseIsWhereTheMeanForceIsZero) {
  // Force 1 - t/0.06 at time t, known at 0.004 before trials of at most 0.1 s that start at 0.01; it counts at alpha s
  // h.
  const auto force = [](double t) { return 1 - t / 0.06; };
  for (const double alpha : {0.5, 1.0}) {
    Candidate candidate;
    candidate.kind = Due::Takeoff;
    candidate.s = 0.9;
    const Answer found = search(ReleaseRoot(candidate, 0.004, force(0.004), alpha, 0.01, 0.1),
                                [&](ReleaseRoot* root, double s) { return root->next(force(0.01 + alpha * s * 0.1)); });
    EXPECT_EQ(found.kind, Kind::Found);
    EXPECT_EQ(found.s, found.last);
    EXPECT_NEAR(found.s, 0.5, 1e-6) << alpha;
  }
  Candidate candidate;
  candidate.s = 0.5;
  const Answer none = search(ReleaseRoot(candidate, 0, 1, 1, 0.01, 0.1), [](ReleaseRoot* root, double) {
    return root->next(2);  // it grows
  });
  EXPECT_EQ(none.kind, Kind::None);
}

}  // namespace
}  // namespace slipstick
