// The closed set of the event driver: contacts that touch and do not part. They alone are in the problem. A contact
// enters it by an impact, or when it touches at rest; it leaves it when it carries nothing and parts. What its members
// did last is in State::contact_memory.
#pragma once

#include <span>
#include <vector>

#include "step/drivers/candidate.h"
#include "step/drivers/contact_motion.h"
#include "step/pipe.h"

namespace slipstick {

class ClosedSet {
 public:
  explicit ClosedSet(Pipe* pipe);  ///< keeps a reference

  // Who is closed.

  /// What touches at `now`, of pipe.found. True: some of it closes, or `impact` says that an impact is due anyway. The
  /// set then holds what is nearly closed too.
  bool gather(const State& now, bool impact);
  /// Takes part in the next `gather` whatever its gap says.
  void force(const ContactKey& key) { forced_.push_back(key); }
  void begin_step() {
    forced_.clear();
    grazing_.clear();
  }
  const ContactSet& gathered() const { return gathered_; }
  /// After the impact, if one was due: those of the gathered that do not part are closed. The memory says so.
  void close(State* now);
  /// Those of which `is_wrong` says so are not closed any more; how many these are.
  template <typename IsWrong>
  int drop(IsWrong&& is_wrong);
  /// The closed contacts where they will be after a part `h` of a trial from `now`; one that is not found there keeps
  /// its place on the bodies.
  void update_middle(const State& now, double h);

  const ContactSet& contacts() const { return closed_; }
  const ContactSet& middle() const { return middle_; }
  const ContactMemory& last(const State& now, std::size_t i) const { return now.contact_memory[memory_of_[i]]; }
  double slip_speed(std::size_t i) const { return slip_speed_[i]; }

  // What they do in the present trial, over its length h.

  double calc_normal_impulse(std::size_t i) const;  ///< lambda
  /// Mean force, N: below zero it is what a two-sided contact would pull with. Friction in reserve alike.
  double calc_mean_force(std::size_t i, double h) const;
  double calc_mean_reserve(std::size_t i, double h) const;
  /// Excess of the slip speed along its first direction over zero: continuous through the change from slip to stick.
  double calc_slip_end(std::size_t i) const;

  /// Slip of the solution along both tangents, m/s: not scaled, as rows of anisotropic friction are.
  Vec2 calc_row_slip(std::size_t i) const;

  // What they did in it, when it is accepted (closed_memory.cpp).

  /// Fills pipe.end.contact_memory, and adds the forces and transitions of a part from `now` with the contacts `there`
  /// at its end; `due` is why it ended. True: a nearly closed contact has closed in it.
  bool remember(const State& now, const ContactSet& there, const Candidate& due, std::span<const Cut> cuts);
  /// Several points of one pair of bodies that do the same at the same time are one event; the fastest stands for them.
  void add_event(const Event& event);

 private:
  ContactMemory make_memory(std::size_t i, const State& now, double largest, const Candidate& due) const;

  Pipe& pipe_;
  const Model& model_;
  ContactMotion motion_;
  double alpha_;
  bool tells_;  ///< transitions are events

  ContactSet gathered_, near_, closed_, middle_, at_star_;
  State star_;
  std::vector<ContactKey> forced_;
  std::vector<ContactKey> grazing_;   ///< of the last `gather`: forced, and not closing
  std::vector<int> memory_of_;        ///< closed contact -> entry of State::contact_memory
  std::vector<double> slip_speed_;    ///< at the start
  std::vector<Vec3> slip_direction_;  ///< world
  std::vector<ContactMemory> memory_scratch_;
};

template <typename IsWrong>
int ClosedSet::drop(IsWrong&& is_wrong) {
  std::size_t kept = 0;
  const std::size_t count = closed_.contacts.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (is_wrong(closed_.contacts[i])) continue;
    closed_.contacts[kept] = closed_.contacts[i];
    memory_of_[kept] = memory_of_[i];
    slip_speed_[kept] = slip_speed_[i];
    slip_direction_[kept++] = slip_direction_[i];
  }
  closed_.contacts.resize(kept);
  memory_of_.resize(kept);
  slip_speed_.resize(kept);
  slip_direction_.resize(kept);
  return static_cast<int>(count - kept);
}

}  // namespace slipstick
