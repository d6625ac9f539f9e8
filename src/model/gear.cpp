#include "model/gear.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace slipstick {
namespace {

constexpr int kFewestTeeth = 4, kMostTeeth = 1000;
constexpr int kMostChords = 1000;  ///< of one flank

double involute(double angle) { return std::tan(angle) - angle; }

/// The circles of a gear. An internal gear's spaces have the form of an external gear's teeth, so `half_at` is half
/// the angle of a tooth of the one and of a space of the other.
struct Circles {
  double pitch, base, inner, outer;  ///< radii; between inner and outer there are teeth
  double pressure_angle, half_at_pitch;

  explicit Circles(const GearForm& form) {
    const double m = form.module, shift = form.profile_shift;
    pressure_angle = form.pressure_angle;
    pitch = m * form.teeth / 2;
    base = pitch * std::cos(pressure_angle);
    inner = pitch + m * (shift - (form.internal ? form.addendum : form.dedendum));
    outer = pitch + m * (shift + (form.internal ? form.dedendum : form.addendum));
    const double width = m * (std::numbers::pi / 2 + 2 * shift * std::tan(pressure_angle));
    half_at_pitch = (width + (form.internal ? form.backlash : -form.backlash)) / (2 * pitch);
  }
  double half_at(double radius) const {
    const double angle = std::acos(std::min(1.0, base / radius));
    return half_at_pitch + involute(pressure_angle) - involute(angle);
  }
};

std::string as_text(double x) {
  std::array<char, 32> digits;
  return {digits.data(),
          std::to_chars(digits.data(), digits.data() + digits.size(), x, std::chars_format::general, 4).ptr};
}

/// Radius and half angle of the corners along a flank, from the inner circle to the outer one.
std::vector<Vec2> make_flank(const Circles& circles, double tolerance) {
  std::vector<Vec2> flank;
  const double start = std::max(circles.base, circles.inner);
  if (circles.inner < circles.base) flank.emplace_back(circles.inner, circles.half_at(circles.base));
  // By the angle t that the generating line has rolled off, a chord over dt is base t dt^2/8 away from the involute:
  // equal distances of t^(3/2) are chords that are equally good.
  const auto rolled = [&](double radius) {
    return std::pow(std::max(0.0, std::pow(radius / circles.base, 2) - 1), 0.75);
  };
  const double from = rolled(start), to = rolled(circles.outer);
  const double chords = std::ceil(2.0 / 3 * (to - from) * std::sqrt(circles.base / (8 * tolerance)));
  const int count = static_cast<int>(std::clamp(chords, 1.0, static_cast<double>(kMostChords)));
  for (int k = 0; k <= count; ++k) {
    const double t = std::pow(from + (to - from) * k / count, 2.0 / 3), radius = circles.base * std::sqrt(1 + t * t);
    flank.emplace_back(radius, circles.half_at(radius));
  }
  return flank;
}

Vec2 at_angle(double radius, double angle) { return {radius * std::cos(angle), radius * std::sin(angle)}; }

std::vector<Vec2> make_circle(double radius, double tolerance) {
  const int count = std::max(12, count_arc_steps(radius, 2 * std::numbers::pi, tolerance));
  std::vector<Vec2> ring;
  for (int k = 0; k < count; ++k) ring.push_back(at_angle(radius, 2 * std::numbers::pi * k / count));
  return ring;
}

/// The inner corners of an arc; its ends are corners of flanks.
void add_arc(double radius, double from, double to, double tolerance, std::vector<Vec2>* ring) {
  const int steps = count_arc_steps(radius, to - from, tolerance);
  for (int k = 1; k < steps; ++k) ring->push_back(at_angle(radius, from + (to - from) * k / steps));
}

}  // namespace

std::optional<GearFault> find_gear_fault(const GearForm& form) {
  const auto within = [](double x, double low, double high) { return x >= low && x <= high; };
  if (!within(form.teeth, kFewestTeeth, kMostTeeth))
    return GearFault{"teeth", "must be from " + std::to_string(kFewestTeeth) + " to " + std::to_string(kMostTeeth)};
  if (!(form.module > 0) || !std::isfinite(form.module)) return GearFault{"module", "must be positive"};
  if (!within(form.pressure_angle, 5 * std::numbers::pi / 180, 45 * std::numbers::pi / 180))
    return GearFault{"pressure_angle_deg", "must be from 5 to 45"};
  if (!within(form.addendum, 0.01, 10)) return GearFault{"addendum", "must be from 0.01 to 10 modules"};
  if (!within(form.dedendum, 0.01, 10)) return GearFault{"dedendum", "must be from 0.01 to 10 modules"};
  if (!within(form.profile_shift, -2, 2)) return GearFault{"profile_shift", "must be from -2 to 2 modules"};
  if (!(form.backlash >= 0)) return GearFault{"backlash", "must not be negative"};
  const Circles circles(form);
  if (form.internal && circles.inner < circles.base)
    return GearFault{"teeth",
                     "are too few: the tips of the internal gear, at the radius " + as_text(circles.inner) +
                         ", are within its base circle of " + as_text(circles.base) +
                         ", where there is no involute; take more teeth, a smaller addendum or a profile_shift"};
  if (!form.internal && !(circles.inner > form.bore))
    return GearFault{form.bore > 0 ? "bore" : "dedendum",
                     "leaves no matter within the roots, at the radius " + as_text(circles.inner)};
  const double share = std::numbers::pi / form.teeth;  // of the circle that half a tooth and half a space have
  if (!(circles.half_at(circles.outer) > 0))
    return GearFault{form.internal ? "dedendum" : "addendum",
                     std::string("is too large: the ") + (form.internal ? "spaces between teeth" : "teeth") +
                         " have come to a point before the radius " + as_text(circles.outer)};
  if (!(circles.half_at(std::max(circles.inner, circles.base)) < share))
    return GearFault{form.internal ? "backlash" : "dedendum",
                     form.internal ? "leaves no tips" : "is too large: the teeth leave no space between their roots"};
  if (form.internal && !(form.rim > 0)) return GearFault{"rim", "must be positive"};
  return std::nullopt;
}

Outline make_gear_outline(const GearForm& form, double tolerance) {
  const Circles circles(form);
  const std::vector<Vec2> flank = make_flank(circles, tolerance);
  const double pitch = 2 * std::numbers::pi / form.teeth;
  const double low = flank.front().y(), high = flank.back().y();
  std::vector<Vec2> teeth;
  for (int k = 0; k < form.teeth; ++k) {
    const double middle = pitch * (form.internal ? k + 0.5 : k);  // of a tooth, or of a space
    for (const Vec2& p : flank) teeth.push_back(at_angle(p.x(), middle - p.y()));
    add_arc(circles.outer, middle - high, middle + high, tolerance, &teeth);
    for (auto p = flank.rbegin(); p != flank.rend(); ++p) teeth.push_back(at_angle(p->x(), middle + p->y()));
    add_arc(circles.inner, middle + low, middle + pitch - low, tolerance, &teeth);
  }
  Outline outline;
  if (form.internal) {
    outline.rings = {make_circle(circles.outer + form.rim, tolerance), std::move(teeth)};
  } else {
    outline.rings = {std::move(teeth)};
    if (form.bore > 0) outline.rings.push_back(make_circle(form.bore, tolerance));
  }
  return outline;
}

}  // namespace slipstick
