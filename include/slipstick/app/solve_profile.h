// Room: study. Every solver on every problem of a folder, and performance profiles [DolanMore02] of what came out.
#pragma once

#include <slipstick/app/plot.h>
#include <slipstick/app/solve_report.h>

#include <functional>
#include <string>
#include <vector>

namespace slipstick {

struct ProfileEntry {
  std::string problem;
  double tolerance = 0;
  std::vector<SolveRun> runs;  ///< without their solutions; in the order of solver_choices()
};

struct SolveProfile {
  std::vector<std::string> solvers;
  std::vector<double> tolerances;
  std::vector<ProfileEntry> entries;
  Faults faults;  ///< files that could not be read
};

/// Problem files (.hdf5, .h5) of a folder, sorted.
std::vector<std::string> list_problems(const std::string& folder);

/// `progress` is called before each problem with its path.
SolveProfile make_profile(const std::vector<std::string>& paths, const std::vector<double>& tolerances,
                          const SolveRequest& request, const std::function<void(const std::string&)>& progress);

/// One panel a tolerance: the part of the problems that a solver solves in at most tau times the best time.
std::vector<Plot> make_profile_plots(const SolveProfile& profile);
std::string make_profile_text(const SolveProfile& profile);
std::string make_profile_json(const SolveProfile& profile);

}  // namespace slipstick
