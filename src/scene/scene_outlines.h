// Shapes that are made from outlines: polygons in the plane, extrusions and bodies of revolution in space.
#pragma once

#include <slipstick/model.h>

#include <vector>

#include "model/outline.h"
#include "scene/scene_item.h"

namespace slipstick {

/// A shape that is being read; one that is not convex becomes several.
struct ReadShape : ShapeDescription {
  std::vector<OutlinePiece> pieces;
};

/// The outline of a `gear: {...}`; false with a fault. `tolerance` 0: 0.005 modules.
bool read_gear(const SceneItem& outer, double tolerance, Outline* outline);
void read_polygon(const SceneItem& item, ReadShape* shape);
void read_extrude(const SceneItem& item, ReadShape* shape);
void read_revolve(const SceneItem& item, ReadShape* shape);

}  // namespace slipstick
