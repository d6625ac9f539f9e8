// Contacts without rows (docs/decisions/0089). A contact that stays open has no impulse, and the problem with its row
// and the one without it have the same solution. So a row is worth its price only where something may close: bodies
// that fall together at three metres per second are within each other's reach, and do not meet. What is left out is
// looked at when the step is known, like what lay beyond the reach that stage 3 assumed: if it has closed after all,
// the step is taken again with its row.
#pragma once

#include <slipstick/model.h>
#include <slipstick/simulation.h>
#include <slipstick/state.h>

#include <span>
#include <string_view>
#include <vector>

namespace slipstick {

/// How often a part of a step is repeated because a contact without a row has closed. A step that ends so all the same
/// is not certified, and says this.
inline constexpr int kMaxOpenRepeats = 8;
inline constexpr std::string_view kClosedUnseen = "a contact that had no row has closed within the step";

class OpenContacts {
 public:
  /// Keeps a reference. Swift: overlap that is little of the thinner body is left to the correction (correction.h).
  OpenContacts(const Model& model, Effort effort);

  /// Which contacts of large groups (bodies that are within reach of each other) may close within the time h, by the
  /// velocities of `state`; `prescribed` has those of kinematic bodies. Smaller groups have all of theirs. False: no
  /// contact is left out, and `near` is not made.
  bool find_near(const State& state, std::span<const Twist> prescribed, double h, const ContactSet& found,
                 ContactSet* near);

  /// What of `found`, the contacts of `start`, has no row in `known` and has closed on the way to `end`, by the gap as
  /// rows have it: linear in the motion. False: nothing. Else `all` has these and the known ones; it may be `known`.
  bool find_closed(const State& start, const State& end, double h, const ContactSet& found, const ContactSet& known,
                   ContactSet* all);

  /// All of `found` and the known ones.
  void take_all(const ContactSet& found, const ContactSet& known, ContactSet* all);

 private:
  template <class F>
  bool merge(const ContactSet& found, const ContactSet& known, const F& takes, ContactSet* all);
  struct Motion {
    Vec3 position, linear, angular;  ///< world
  };
  int root_of(int body);
  bool find_groups(const ContactSet& found);
  void update_agitation(const ContactSet& found);
  void set_motion(std::size_t body, const Pose& pose, const Vec3& linear, const Vec3& angular);
  double calc_parting(const Contact& contact) const;
  bool may_close(const Contact& contact, std::size_t index, double h);
  double calc_slack(const Contact& contact) const;

  const Model& model_;
  const Effort effort_;
  std::vector<double> thickness_;       ///< of each body; swift alone
  std::vector<Motion> motion_;          ///< without contacts, or as it was
  std::vector<int> group_, count_;      ///< per body: another one of its group, or itself; its contacts
  std::vector<double> agitation_;       ///< per body: the largest speed at which it closes on anything, m/s
  std::vector<double> near_agitation_;  ///< the largest of those of a body and of its neighbours
  std::vector<double> approach_;        ///< per contact of a large group, m/s
  std::vector<const Contact*> added_;   ///< of merge
  std::vector<std::size_t> places_;     ///< of these
};

}  // namespace slipstick
