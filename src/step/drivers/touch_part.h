// Where a fixed step ends in between because something that joints hold is about to touch (docs/decisions/0111): what
// rebounds, and ends of ranges of any kind. Bodies of their own do without (touch_impacts.h).
#pragma once

#include <slipstick/simulation.h>

#include <array>
#include <span>
#include <vector>

namespace slipstick {

class TouchPart {
 public:
  explicit TouchPart(const Model& model);  ///< keeps a reference

  /// At most h, of steps of length `whole`: until just before the first touch from `state` on that is faster than
  /// `threshold`, m/s or rad/s. `speed`: of all bodies, those with prescribed motion too.
  double find(const State& state, std::span<const Twist> speed, std::span<const Contact> contacts, double threshold,
              double h, double whole);

 private:
  struct Touch {
    double time;
    int body;
  };
  int root_of(int body);
  void find_groups(std::span<const Contact> contacts, double near);
  double calc_most_speed(std::span<const Twist> speed, const Contact& contact, const std::array<int, 2>& bodies) const;
  double calc_time(const State& state, std::span<const Twist> speed, const Contact& contact, double threshold, double h,
                   double whole) const;

  const Model& model_;
  std::vector<char> joined_;             ///< per body: it moves, and has joints
  std::vector<int> root_, contacts_of_;  ///< per body: another one of its group, or itself; contacts of the group
  std::vector<Touch> touches_;
};

}  // namespace slipstick
