// The last stage of reading: `compile`, and its faults brought back to the places in the files.
#pragma once

#include <slipstick/scene.h>

#include "scene/scene_build.h"

namespace slipstick {

/// Compiles the description into the scene. Faults that only follow from others already listed are left out.
void compile_scene(const SceneNode& root, SceneBuild* build, Scene* scene);

}  // namespace slipstick
