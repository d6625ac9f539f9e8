// The few small numbers of the narrow phase. Lengths are relative to the smaller of the two shapes.
#pragma once

namespace slipstick {

/// Two values of the same distance, found in two ways, may differ by this through rounding. A face is preferred to an
/// edge pair that is better by no more than this.
inline constexpr double kSameGap = 1e-10;

/// Closer than this the direction between two closest points is noise: the best separating axis is used instead.
inline constexpr double kTouching = 1e-10;

/// The same where edges may be so nearly parallel that their crossing is not found: the direction has to prove itself.
inline constexpr double kTouchingParallel = 1e-7;

/// Of the sizes of both shapes: what is this little beside a face lies flush with its side and is over it, so that
/// rounding does not put corners of flush faces outside of each other.
inline constexpr double kFlush = 1e-11;

/// Points of one manifold that are nearer to each other than this are one point, under one name: corners of flush
/// boxes would otherwise come as two or three contacts whose names change with the last bit. The least gap stays.
inline constexpr double kSamePoint = 1e-5;

/// Closest pairs of features whose distances differ by less than this are all closest (parallel edges: both ends).
inline constexpr double kAlsoClosest = 1e-6;

/// Cosine of the angle (10 degrees) between the closest direction and a face's normal below which the face's manifold
/// is not added to a closest pair that is not on the face. Without it a box that rests on a face with its lowest corner
/// over the rim would have one contact instead of four as soon as rounding tilts it.
inline constexpr double kNearFace = 0.985;

}  // namespace slipstick
