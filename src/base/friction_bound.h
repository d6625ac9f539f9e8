// The largest coefficient of dry friction that is taken.
#pragma once

namespace slipstick {

/// Rubber on rock has about 2, and no contact below this bound is told from one that never slips: at mu = 1e4 it slips
/// within 0.006 degrees of its own plane. Above it the cone is so flat that a rounding error of the normal impulse is a
/// friction force, and no certificate can be given in double precision.
inline constexpr double kMaxFriction = 1e4;

}  // namespace slipstick
