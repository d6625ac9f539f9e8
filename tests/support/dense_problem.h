// A problem's matrices written out: what other forms and answers are held against.
#pragma once

#include <slipstick/problem.h>

namespace slipstick::test {

struct DenseProblem {
  MatX a;  ///< masses
  MatX j;  ///< rows
  explicit DenseProblem(const Problem& p)
      : a(MatX::Zero(p.unknowns(), p.unknowns())), j(MatX::Zero(p.rows(), p.unknowns())) {
    for (int k = 0; k < p.columns(); ++k)
      a.block(p.column_start[k], p.column_start[k], p.column_size(k), p.column_size(k)) = p.mass_block(k);
    for (const RowBlock& block : p.blocks)
      for (int e = block.entry; e < block.entry + block.entries; ++e)
        j.block(block.row, p.column_start[p.entries[e].column], block.size, p.column_size(p.entries[e].column)) =
            p.jacobian_block(block, p.entries[e]);
  }
};

}  // namespace slipstick::test
