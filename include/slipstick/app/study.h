// Room: study. Studies of a scene: how errors fall with the step, and schemes and solvers side by side
// (docs/studies.md).
#pragma once

#include <slipstick/app/plot.h>
#include <slipstick/scene.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

/// One error under every step of a study, m or rad.
struct StudyQuantity {
  std::string name;              ///< of the body or joint; "all bodies": the 2-norm over them
  std::string kind;              ///< position, angle (both against the reference) or joint (against zero)
  std::vector<double> end, max;  ///< at the end; over all times that the runs have in common (joint: over all steps)
};

struct ConvergenceStudy {
  std::string scene, scheme, solver;
  double time = 0;       ///< s, where the runs end: a whole number of the longest steps
  double reference = 0;  ///< its step, s
  std::vector<double> steps;
  std::vector<long> uncertified;  ///< steps that could not be certified, one count per run
  long reference_uncertified = 0;
  std::vector<StudyQuantity> quantities;
};

/// Told, after every step, which run of a study this is and what part of it is done; false ends the study.
using StudyMonitor = std::function<bool(std::string_view run, double part)>;

struct StepRange {
  double first = 0, last = 0;  ///< s; halved from one to the other
  double reference = 0;        ///< s; 0: half of the last
};

/// Runs the scene with every step. Faults: a range that does not halve, a reference that does not fit, a failed step,
/// an end that the monitor asked for.
Result<ConvergenceStudy> calc_convergence(const Scene& scene, const StepRange& range, const StudyMonitor& monitor = {});
std::string make_convergence_text(const ConvergenceStudy& study);
std::string make_convergence_json(const ConvergenceStudy& study);
std::vector<Plot> make_convergence_plots(const ConvergenceStudy& study);

/// One scheme with one solver.
struct ComparedRun {
  std::string scheme, solver;
  bool failed = false;
  std::string note;  ///< why
  long steps = 0, uncertified = 0;
  double ms_per_step = 0;
  double residual_max = 0, penetration_max = 0, joint_error_max = 0;
  double energy_change = 0;  ///< J, from the start to the end
  double distance = 0;       ///< m: 2-norm of the bodies' final positions against the first run's
};

/// One after the other, in the order of the lists. The options must be free of faults for every pair.
std::vector<ComparedRun> compare_runs(const Scene& scene, const std::vector<SimulationOptions>& options);
std::string make_comparison_text(const Scene& scene, const std::vector<ComparedRun>& runs);
std::string make_comparison_json(const Scene& scene, const std::vector<ComparedRun>& runs);

}  // namespace slipstick
