// Recordings of a running scene. Each start (the first one, a reset, another scheme, solver, step or variable) has a
// file of its own: run.h5, run_2.h5, ...
#pragma once

#include <slipstick/app/recording.h>

#include <optional>
#include <string>

namespace slipstick {

class LiveRecord {
 public:
  /// `path` empty: nothing is recorded.
  explicit LiveRecord(std::string path) : path_(std::move(path)) {}

  /// Begins a file with the simulation's present state; what was begun before is closed. Returns what is wrong, or
  /// nothing.
  std::string begin(const Scene& scene, const Simulation& simulation);
  void append(const Simulation& simulation, const StepReport& report);
  void end(RunEnd end);

  bool active() const { return recorder_.has_value(); }
  bool wanted() const { return !path_.empty(); }
  /// The file that is being written, or was last.
  const std::string& file() const { return file_; }
  const std::string& error() const { return error_; }

 private:
  std::string path_, file_, error_;
  std::optional<Recorder> recorder_;
  long steps_ = 0;  ///< in the present file
  int files_ = 0;
};

}  // namespace slipstick
