// Outlines of gears against the definition of the involute, and forms that are none.
#include "model/gear.h"

#include <gtest/gtest.h>

#include <cmath>

namespace slipstick {
namespace {

constexpr double kHalfTurn = std::numbers::pi, kAngle = 20 * kHalfTurn / 180;

GearForm make_form(int teeth, bool internal = false) {
  GearForm form;
  form.teeth = teeth;
  form.module = 2e-3;
  form.internal = internal;
  form.rim = 5e-3;
  return form;
}

const std::vector<Vec2>& teeth_of(const GearForm& form, const Outline& outline) {
  return outline.rings[form.internal ? 1 : 0];
}

/// Whether the point is on an involute of the base circle that leaves it at the angle `start` to the x axis: the line
/// that touches the base circle and ends in the point is as long as the arc that it has rolled off.
double calc_off_involute(const Vec2& p, double base, double start) {
  const double tangent = std::sqrt(p.squaredNorm() - base * base), rolled = std::atan2(tangent, base);
  const double touch = std::atan2(p.y(), p.x()) + rolled;  // where the line touches
  return tangent - base * (touch - start);
}

TEST(Gear, FlanksAreInvolutes) {
  for (const bool internal : {false, true}) {
    const GearForm form = make_form(60, internal);
    const Outline outline = make_gear_outline(form, 1e-6);
    const double pitch = form.module * form.teeth / 2, base = pitch * std::cos(kAngle);
    // Half a tooth (or space) at the pitch circle, and what the involute has turned on until there.
    const double half = kHalfTurn / (2 * form.teeth) + std::tan(kAngle) - kAngle;
    const double middle = internal ? kHalfTurn / form.teeth : 0;
    int flank = 0;
    for (const Vec2& p : teeth_of(form, outline)) {
      const double angle = std::atan2(p.y(), p.x()) - middle, r = p.norm();
      if (std::abs(angle) > kHalfTurn / form.teeth || angle > 0) continue;  // the right flank of the first one
      const double low = pitch - (internal ? 1 : 1.25) * form.module,
                   high = pitch + (internal ? 1.25 : 1) * form.module;
      EXPECT_GT(r, low - 1e-12);
      EXPECT_LT(r, high + 1e-12);
      if (r < std::max(base, low + 1e-9) || r > high - 1e-9) continue;  // arcs of tips and roots
      ++flank;
      EXPECT_NEAR(calc_off_involute(p, base, middle - half), 0, 1e-13) << internal;
    }
    EXPECT_GT(flank, 8);
  }
}

TEST(Gear, ChordsAreWithinTheTolerance) {
  // The area of fine chords is that of the gear; coarse ones take away at most the tolerance along the outline.
  for (const bool internal : {false, true}) {
    const GearForm form = make_form(40, internal);
    const auto area = [&](double tolerance) {
      const auto ring = teeth_of(form, make_gear_outline(form, tolerance));
      double sum = 0, length = 0;
      for (std::size_t i = 0; i < ring.size(); ++i) {
        const Vec2 &p = ring[i], &q = ring[(i + 1) % ring.size()];
        sum += (p.x() * q.y() - p.y() * q.x()) / 2;
        length += (q - p).norm();
      }
      return std::pair(sum, length);
    };
    const auto [fine, length] = area(1e-9);
    const auto [coarse, ignored] = area(1e-5);
    EXPECT_LT(coarse, fine);
    EXPECT_LT(fine - coarse, 1e-5 * length);
    EXPECT_GT(fine - coarse, 1e-7 * length);
  }
}

TEST(Gear, ToothIsThinnerByTheBacklash) {
  GearForm form = make_form(30);
  for (const double backlash : {0.0, 1e-4}) {
    form.backlash = backlash;
    const double pitch = form.module * form.teeth / 2;
    const auto ring = make_gear_outline(form, 1e-9).rings[0];
    for (std::size_t i = 0; i + 1 < ring.size() / form.teeth; ++i) {
      const double r = ring[i].norm(), next = ring[i + 1].norm();
      if (r > pitch || next < pitch) continue;
      const double share = (pitch - r) / (next - r);
      const Vec2 p = ring[i] + share * (ring[i + 1] - ring[i]);
      EXPECT_NEAR(-2 * pitch * std::atan2(p.y(), p.x()), kHalfTurn * form.module / 2 - backlash, 1e-8);
    }
  }
}

TEST(Gear, OutlinesAreSound) {
  for (int teeth = 4; teeth < 200; teeth += 7)
    for (const bool internal : {false, true}) {
      GearForm form = make_form(teeth, internal);
      form.backlash = 0.05 * form.module;
      if (find_gear_fault(form)) continue;
      Outline outline = make_gear_outline(form, 0.005 * form.module);
      EXPECT_FALSE(normalize(&outline)) << teeth << (internal ? " internal" : "");
    }
}

TEST(Gear, ImpossibleFormsAreFaults) {
  const auto key_of = [](const GearForm& form) {
    const auto fault = find_gear_fault(form);
    return fault ? fault->key : std::string();
  };
  EXPECT_EQ(key_of(make_form(20)), "");
  EXPECT_EQ(key_of(make_form(60, true)), "");
  EXPECT_EQ(key_of(make_form(3)), "teeth");
  EXPECT_EQ(key_of(make_form(20, true)), "teeth");  // tips within the base circle
  const auto with = [](double GearForm::*member, double value, bool internal = false) {
    GearForm form = make_form(60, internal);
    form.*member = value;
    return form;
  };
  EXPECT_EQ(key_of(with(&GearForm::module, 0)), "module");
  EXPECT_EQ(key_of(with(&GearForm::module, std::nan(""))), "module");
  EXPECT_EQ(key_of(with(&GearForm::pressure_angle, 1)), "pressure_angle_deg");
  EXPECT_EQ(key_of(with(&GearForm::addendum, 3)), "addendum");  // pointed
  GearForm hollow = make_form(10);
  hollow.dedendum = 6;  // roots beyond the centre
  EXPECT_EQ(key_of(hollow), "dedendum");
  EXPECT_EQ(key_of(with(&GearForm::dedendum, -1)), "dedendum");
  EXPECT_EQ(key_of(with(&GearForm::profile_shift, 5)), "profile_shift");
  EXPECT_EQ(key_of(with(&GearForm::backlash, -1e-4)), "backlash");
  EXPECT_EQ(key_of(with(&GearForm::bore, 59e-3)), "bore");
  EXPECT_EQ(key_of(with(&GearForm::rim, 0, true)), "rim");
  EXPECT_EQ(key_of(with(&GearForm::backlash, 4e-3)), "addendum");  // nothing left of the teeth
}

}  // namespace
}  // namespace slipstick
