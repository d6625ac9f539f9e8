// Room: step. A State as bytes and as a file: written whole or not at all, read back to the last bit, never taken for
// that of another model. Layout: docs/states.md.
#pragma once

#include <slipstick/model.h>
#include <slipstick/result.h>
#include <slipstick/simulation.h>
#include <slipstick/state.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace slipstick {

/// Every bit of the state, little-endian, with a version.
std::string make_state_bytes(const State& state);
/// The state again. A Fault when the bytes are not one: each length is checked against what is there.
Result<State> read_state_bytes(std::string_view bytes);

/// A state and what it belongs to.
struct StateFile {
  State state;
  std::string model_name;
  std::uint64_t model_hash = 0;
  /// The options that decide the motion, one "name value" a line (make_settings_text).
  std::string settings;
  /// hash() of the state that the run began with; 0: not told. With the same model and settings it makes the same run.
  std::uint64_t start_hash = 0;
};

/// The simulation's present state with what it belongs to.
StateFile make_state_file(const Simulation& simulation, std::uint64_t start_hash = 0);
/// With magic, version and checksum: the contents of a state file.
std::string make_file_bytes(const StateFile& file);
/// `name` stands for the file in faults.
Result<StateFile> read_file_bytes(std::string_view bytes, const std::string& name);

/// Writes the whole state: warm starts, time, scheme memory. The file appears whole, replacing one that is there, or
/// not at all; empty when good.
Faults save_state(const std::string& path, const Simulation& simulation, std::uint64_t start_hash = 0);
Faults save_state(const std::string& path, const StateFile& file);
/// The state in the file; a Fault when it is damaged or of another model.
Result<State> load_state(const std::string& path, const Model& model);
/// The same with all that the file says; no model is asked for.
Result<StateFile> load_state_file(const std::string& path);

/// Why the state cannot be one of this model; empty when it can.
std::string find_model_fault(const StateFile& file, const Model& model);
/// The first option that is not as the file says, as "step 0.01, not 0.005"; empty when all are.
std::string find_settings_fault(const StateFile& file, const SimulationOptions& options);

/// All options but those that leave the motion as it is (duration, threads), one "name value" a line.
std::string make_settings_text(const SimulationOptions& options);

}  // namespace slipstick
