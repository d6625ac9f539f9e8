// What the active set of a step did not have, or not as it became: gaps are linear in it, and corners and edges of a
// body that turns come where no row was. After such a step the contacts at its end say so, and the step is taken again
// with rows for them.
#pragma once

#include <slipstick/model.h>
#include <slipstick/simulation.h>
#include <slipstick/state.h>

#include <span>
#include <vector>

#include "collision/contact_finder.h"

namespace slipstick {

/// How often a step is repeated for late contacts: so often, and more where it has been cheap.
inline constexpr int kMaxLateRepeats = 2, kMoreLateRepeats = 4;
/// Row operations (StepReport::work) up to which a step is cheap: some 40 ms.
inline constexpr double kCheapStep = 3e6;

class LateContacts {
 public:
  /// Keeps a reference. Swift: what is not much overlap is left to the correction (correction.h).
  LateContacts(const Model& model, Effort effort);

  /// What overlaps at `next` by more than a small part of the motion (`reach`, metres per body), or if `careful` of the
  /// body, and is not so in `known`, the contacts of `state`. False if there is nothing; else `all` has these and the
  /// known ones.
  bool find(const State& state, const State& next, double h, std::span<const double> reach, bool careful,
            const ContactSet& known, ContactFinder* finder, ContactSet* all);

 private:
  double calc_slack(const Contact& contact, std::span<const double> reach, bool careful) const;
  bool find_turning(const State& next, double h);
  bool find_one(const State& state, const State& next, double h, double slack, const ContactSet& known,
                Contact* contact) const;

  const Model& model_;
  std::vector<double> thickness_;  ///< of each body; empty: overlap is not measured by it
  std::vector<char> angular_;      ///< body has corners, edges or rims
  std::vector<double> none_;       ///< no reach
  std::vector<char> turning_;      ///< by the step: rows of its corners are those of another pose
  ContactSet found_, late_, merged_;
};

}  // namespace slipstick
