// Where a ray enters a placed shape.
#pragma once

#include "collision/placed_shape.h"

namespace slipstick {

struct Ray {
  Vec3 origin = Vec3::Zero();
  Vec3 direction = Vec3::UnitX();  ///< unit
};

/// Distance along the ray, at most `*distance`; both are set only if the ray enters the shape before that.
bool cast_ray(const Ray& ray, const PlacedShape& shape, double* distance, Vec3* normal);

}  // namespace slipstick
