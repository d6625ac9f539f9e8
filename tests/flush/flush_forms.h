// The boxes of a scene in other forms.
#pragma once

#include <slipstick/scene.h>

#include "unit/collision/flush_support.h"

namespace slipstick::test {

/// The same scene with the box of body `index` in another form.
inline void set_form(Form form, int index, Random* random, Scene* scene) {
  Model& model = scene->model;
  for (Shape& shape : model.shapes) {
    if (shape.body != index || form == Form::Box) continue;
    const Solid solid = make_form(form, shape.half_size, random);
    shape.kind = solid.shape.kind;
    if (solid.surface) {
      shape.surface = static_cast<int>(model.surfaces.size());
      model.surfaces.push_back(solid.surface);
    } else {
      shape.hull = static_cast<int>(model.hulls.size());
      model.hulls.push_back(solid.hull);
    }
  }
}

}  // namespace slipstick::test
