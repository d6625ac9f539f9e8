// Contacts that a step is expected to leave open: far from touching by the guess, and without an impulse in it. A
// problem without them is smaller, falls into more islands, and its interior paths need not keep away from what is
// never touched. What was left out wrongly shows in the answer and is taken back: an answer under which all of the rest
// stay open is one of the whole problem.
#pragma once

#include <slipstick/problem.h>

#include <span>
#include <vector>

#include "solve/mass_blocks.h"

namespace slipstick {

class OpenRows {
 public:
  /// Marks what is left out of the problem. False: too little to be worth it.
  bool find(const Problem& problem, const Solution& guess, MassBlocks* masses);
  /// By row block.
  std::span<const char> left_out() const { return left_out_; }
  /// Takes back the blocks that would close at v, as `taken_back` says. False: there are none.
  bool take_back(const Problem& problem, const VecX& v);
  bool taken_back(int block) const { return taken_back_[block]; }
  /// The scale of the judge (|q|, row velocities without impulses) with all rows over that without those left out, at
  /// most kMostLoose: where parts end at a map of so many times epsilon, the whole is at epsilon. 1 without friction:
  /// rows of positions that are corrected, where the gaps of open ones say nothing of the overlap of others.
  double calc_looseness(const Problem& problem) const;
  static constexpr double kMostLoose = 10;

 private:
  double calc_far(const Problem& problem, const VecX& v, MassBlocks* masses);

  std::vector<char> left_out_, taken_back_;
  std::vector<double> speed_;  // of each block's normal by the guess
  VecX free_, free_rows_;      // v and q without impulses
};

}  // namespace slipstick
