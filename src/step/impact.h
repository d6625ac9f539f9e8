// Impacts of [AnitescuPotra97]: compression and decompression as two problems of the ordinary type, h = 0.
#pragma once

#include "step/ladder.h"
#include "step/scheme.h"

namespace slipstick {

struct ImpactScratch {
  StepScratch step;
  Solution solution;
  std::vector<double> offset;
  std::vector<NormalOffset> none;
};

struct ImpactResult {
  bool happened = false;
  LadderResult solve;  ///< worst of the problems solved
};

/// If a contact of `input` closes faster than `threshold` (m/s), replaces `velocity` by the one after the impact:
///   compression    M (vc - v-) = J^T c,  0 <= n^T vc _|_ c_n >= 0
///   decompression  M (v+ - vc) = sum e_j c_n,j n_j + J^T c',  0 <= n^T v+ _|_ c'_n >= 0      (Poisson)
/// If that gains kinetic energy (it may, with friction and several contacts), the rule v+ = (1+e) vc - e v- with
/// e = max e_j is taken, which never does ([AnitescuPotra97] lemma 3.1, corrected).
ImpactResult apply_impact(const StepInput& input, double threshold, Ladder* ladder, ImpactScratch* scratch,
                          std::vector<Twist>* velocity, std::vector<ImpactEvent>* events);

}  // namespace slipstick
