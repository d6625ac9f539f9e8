// Room: record. The HDF5 recording of a run (layout: docs/recording.md), readable with h5py and without this project.
#pragma once

#include <slipstick/result.h>
#include <slipstick/scene.h>
#include <slipstick/simulation.h>

#include <memory>
#include <string>

namespace slipstick {

/// Writes a run as it goes. Flushed about once a second, so that a run killed at any instant leaves a readable file.
class Recorder {
 public:
  /// Creates the file (replacing one that is there) with its header. A Fault when that cannot be done.
  static Result<Recorder> create(const std::string& path, const Scene& scene, const std::string& command);
  ~Recorder();
  Recorder(Recorder&&) noexcept;
  Recorder& operator=(Recorder&&) noexcept;

  /// Appends the simulation's present state; `report` is null for the initial one. False once a write has failed.
  bool append(const Simulation& simulation, const StepReport* report);
  /// Flushes and closes; false if anything was not written. `error()` then says what.
  bool close();
  const std::string& error() const;

 private:
  struct Impl;
  explicit Recorder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipstick
