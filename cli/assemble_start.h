// Joints that start open are put together before a run.
#pragma once

#include <slipstick/scene.h>

/// Replaces the scene's initial state by the assembled one, and says so. False, and the user told, if the joints cannot
/// be put together by moving bodies a little: they are then held as they stand.
bool assemble_start(const char* command, slipstick::Scene* scene);
