// The order of a Gauss-Seidel sweep as stages of row blocks that share no column: within a stage all orders, and any
// number of threads, give the same bits.
#pragma once

#include <slipstick/solver.h>

#include <cstdint>
#include <span>
#include <vector>

namespace slipstick {

class SweepSchedule {
 public:
  /// Natural: a block's stage comes after those of all earlier blocks with which it shares a column, so that the result
  /// is that of visiting one after another. Coloured: first fit in up to 64 colours; the rest follow as in Natural.
  /// Blocks tied by a coupling are visited one after another.
  void update(const Problem& problem, SweepOrder order);

  int stages() const { return static_cast<int>(start_.size()) - 1; }
  std::span<const int> stage(int k) const {
    return {blocks_.data() + start_[k], static_cast<std::size_t>(start_[k + 1] - start_[k])};
  }

 private:
  int colour_blocks(const Problem& problem);
  int level_blocks(const Problem& problem, int first);

  std::vector<int> stage_of_, start_{0}, blocks_, level_;
  std::vector<std::uint64_t> used_;  ///< colours of a column's blocks so far
};

}  // namespace slipstick
