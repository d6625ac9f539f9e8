// One factory a solver; the registry (registry.cpp) is the table of them.
#pragma once

#include <slipstick/solver.h>

#include <memory>
#include <string_view>

namespace slipstick {

std::unique_ptr<Solver> make_lemke();
std::unique_ptr<Solver> make_newton();
std::unique_ptr<Solver> make_block_pivot();
std::unique_ptr<Solver> make_keller();
std::unique_ptr<Solver> make_pgs(const SolverOptions& options);
std::unique_ptr<Solver> make_split(const SolverOptions& options);
std::unique_ptr<Solver> make_admm();
std::unique_ptr<Solver> make_apgd();

/// What a solver hands back with a problem that it does not take: a zero answer of the right sizes.
void set_zero(const Problem& problem, Solution* answer);

/// Whether a contact has further limits, on spinning or rolling (solve/laws.h), which few solvers take.
bool has_further_limits(const Problem& problem);
inline constexpr std::string_view kNoFurtherLimits = "rolling or spinning friction";

}  // namespace slipstick
