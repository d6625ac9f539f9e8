// One factory a solver; the registry (registry.cpp) is the table of them.
#pragma once

#include <slipstick/solver.h>

#include <memory>

namespace slipstick {

std::unique_ptr<Solver> make_lemke();
std::unique_ptr<Solver> make_newton();
std::unique_ptr<Solver> make_pgs(const SolverOptions& options);

}  // namespace slipstick
