// Shapes -> broad phase -> narrow phase -> ContactSet. The only thing that the rest of the engine sees of this room.
#pragma once

#include <slipstick/model.h>
#include <slipstick/state.h>

#include <memory>
#include <span>

namespace slipstick {

struct Bounds;
struct PlacedShape;

/// Finds every contact with gap <= reach[a] + reach[b]; bodies that cannot move against each other never touch.
/// Holds scratch only: the answer is a function of (model, state, reach), whatever was asked before.
class ThreadTeam;

class ContactFinder {
 public:
  explicit ContactFinder(const Model& model);  ///< keeps a reference
  ~ContactFinder();
  ContactFinder(ContactFinder&&) noexcept;
  ContactFinder& operator=(ContactFinder&&) noexcept;

  /// Who helps; null: nobody. The contacts have the same bits with any number of threads.
  void set_team(const ThreadTeam* team);

  /// Every shape where it is in `state`, in the order of the model; valid until the next call of a member.
  std::span<const PlacedShape> place(const State& state);
  /// Of a shape placed by the last call; not of a plane.
  Bounds calc_bounds(int shape) const;

  /// reach: one entry per body, how far any of its points may travel in the step, m. `contacts` comes out sorted by
  /// key.
  void find(const State& state, std::span<const double> reach, ContactSet* contacts) {
    find(state, reach, {}, contacts);
  }
  /// The same of some bodies alone, one entry per body, with all that they may touch; none given: all.
  void find(const State& state, std::span<const double> reach, std::span<const char> bodies, ContactSet* contacts);
  /// Appends the contacts of one pair of shapes, shape_a < shape_b, within `reach`, sorted by feature. Nothing but the
  /// poses of their bodies is looked at.
  void find_between(const State& state, int shape_a, int shape_b, double reach, std::vector<Contact>* contacts);
  /// Of the last `find`: placing shapes and finding and sorting pairs, everything before the first distance.
  double broad_phase_seconds() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipstick
