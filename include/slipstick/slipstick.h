// Room: scene. All of the library: models from files or code, simulations, solvers. Programs need no other header.
#pragma once

#include <slipstick/audit.h>
#include <slipstick/builder.h>
#include <slipstick/expression.h>
#include <slipstick/friction_cone.h>
#include <slipstick/hull.h>
#include <slipstick/inputs.h>
#include <slipstick/joint.h>
#include <slipstick/joint_errors.h>
#include <slipstick/model.h>
#include <slipstick/output_file.h>
#include <slipstick/problem.h>
#include <slipstick/queries.h>
#include <slipstick/readings.h>
#include <slipstick/result.h>
#include <slipstick/scene.h>
#include <slipstick/simulation.h>
#include <slipstick/solve_mode.h>
#include <slipstick/solver.h>
#include <slipstick/solver_ladder.h>
#include <slipstick/state.h>
#include <slipstick/state_file.h>
#include <slipstick/surface.h>
#include <slipstick/types.h>
#include <slipstick/vector_storage.h>
#include <slipstick/version.h>
