// The experiments of [LacoursiereLinde11]; study_experiments.cpp lists them.
#pragma once

#include <slipstick/reproduce.h>
#include <slipstick/scene.h>

#include <functional>
#include <string>

namespace slipstick {

/// Figures 4, 5, 6 and 1.
Result<Reproduction> reproduce_spook_oscillator(const std::string& scenes);
Result<Reproduction> reproduce_spook_pendulum(const std::string& scenes);
Result<Reproduction> reproduce_spook_ball(const std::string& scenes);
Result<Reproduction> reproduce_spook_crank(const std::string& scenes);
/// Figures 8, 9 and 10: sweeps of Gauss-Seidel beside `auto` on the problems of the same instants.
Result<Reproduction> reproduce_spook_logs(const std::string& scenes);
Result<Reproduction> reproduce_spook_walls(const std::string& scenes);
Result<Reproduction> reproduce_spook_box(const std::string& scenes);

/// Steps to the end of the scene; `look` sees the simulation before the first and after every step. Counts steps that
/// could not be certified; a failed step is a fault.
Faults follow_experiment(const Scene& scene, const std::function<void(const Simulation&)>& look, long* uncertified);

}  // namespace slipstick
