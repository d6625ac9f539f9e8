// Room: record. The HDF5 recording of a run (layout: docs/recording.md), readable with h5py and without this project.
#pragma once

#include <slipstick/result.h>
#include <slipstick/scene.h>
#include <slipstick/simulation.h>
#include <slipstick/state_file.h>

#include <memory>
#include <optional>
#include <string>

namespace slipstick {

enum class RunEnd { Complete, Interrupted, Failed };
std::string_view name_of(RunEnd end);

/// Where a run goes on instead of beginning.
struct ResumePoint {
  std::string file;
  std::int64_t step = 0;
  double time = 0;
};

/// Writes a run as it goes. Flushed about once a second, so that a run killed at any instant leaves a readable file.
class Recorder {
 public:
  /// Creates the file (replacing one that is there) with its header. A Fault when that cannot be done.
  /// `resumed`: the first frame is not the scene's initial state but where a stored one stands.
  static Result<Recorder> create(const std::string& path, const Scene& scene, const std::string& command,
                                 const std::optional<ResumePoint>& resumed = std::nullopt);
  ~Recorder();
  Recorder(Recorder&&) noexcept;
  Recorder& operator=(Recorder&&) noexcept;

  /// Appends the simulation's present state; `report` is null for the initial one. False once a write has failed.
  bool append(const Simulation& simulation, const StepReport* report);
  /// Flushes and closes; false if anything was not written. `error()` then says what.
  bool close();
  /// The same, and says how the run ended. A recording that does not say was killed.
  bool close(RunEnd end);
  const std::string& error() const;

 private:
  struct Impl;
  explicit Recorder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The state to go on from: of a state file, or the last whole one of a recording.
Result<StateFile> load_stored_state(const std::string& path);

}  // namespace slipstick
