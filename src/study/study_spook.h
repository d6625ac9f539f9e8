// The experiments of [LacoursiereLinde11]; study_experiments.cpp lists them.
#pragma once

#include <string>

#include "study/study_runs.h"

namespace slipstick {

/// Figures 4, 5, 6 and 1.
Result<Reproduction> reproduce_spook_oscillator(const std::string& scenes, const StudyMonitor& monitor);
Result<Reproduction> reproduce_spook_pendulum(const std::string& scenes, const StudyMonitor& monitor);
Result<Reproduction> reproduce_spook_ball(const std::string& scenes, const StudyMonitor& monitor);
Result<Reproduction> reproduce_spook_crank(const std::string& scenes, const StudyMonitor& monitor);
/// Figures 12, 13 and 14.
Result<Reproduction> reproduce_spook_loader(const std::string& scenes, const StudyMonitor& monitor);
/// Figures 8, 9 and 10: sweeps of Gauss-Seidel beside `auto` on the problems of the same instants.
Result<Reproduction> reproduce_spook_logs(const std::string& scenes, const StudyMonitor& monitor);
Result<Reproduction> reproduce_spook_walls(const std::string& scenes, const StudyMonitor& monitor);
Result<Reproduction> reproduce_spook_box(const std::string& scenes, const StudyMonitor& monitor);

inline constexpr const char* kLacoursiere = "Lacoursiere, Linde 2011";

}  // namespace slipstick
