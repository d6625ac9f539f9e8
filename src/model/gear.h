// Outlines of spur gears with involute teeth.
#pragma once

#include <numbers>
#include <optional>
#include <string>

#include "model/outline.h"

namespace slipstick {

/// Two gears of one module and pressure angle run together; their pitch circles, of the diameter module times teeth,
/// roll on each other where the profile shifts of both add up to zero (of an internal gear and its pinion: are equal).
struct GearForm {
  int teeth = 0;
  double module = 0;                                    ///< m
  double pressure_angle = 20 * std::numbers::pi / 180;  ///< rad
  double addendum = 1, dedendum = 1.25;                 ///< in modules: tips and roots are so far from the pitch circle
  double profile_shift = 0;                             ///< in modules, outwards
  double backlash = 0;                                  ///< m: a tooth is thinner by that on the pitch circle
  bool internal = false;                                ///< teeth point inwards
  double rim = 0;                                       ///< m, internal: from the roots to the outside
  double bore = 0;                                      ///< m, radius of the hole in the middle; 0: none
};

/// What is wrong with a form, and with which key of a scene.
struct GearFault {
  std::string key, message;
};
std::optional<GearFault> find_gear_fault(const GearForm& form);

/// A tooth is on the x axis. Flanks are involutes from the base circle on, and radial below it (a cutter would take
/// away more there from gears of few teeth); chords are at most `tolerance` away from them. Of a form without fault.
Outline make_gear_outline(const GearForm& form, double tolerance);

}  // namespace slipstick
