// From scenes and simulations to the plain data of a recording: what goes into a file, and to a viewer that watches.
#pragma once

#include "record/record_hdf5.h"

#include <slipstick/scene.h>
#include <slipstick/simulation.h>

#include <string>
#include <vector>

namespace slipstick {

RecordHeader make_record_header(const Scene& scene, const std::string& command);

/// Makes frames. The certificate, the events and the dissipated energy gather over the steps between two frames.
struct RecordFrames {
  /// Call after each step.
  void add_step(const Simulation& simulation, const StepReport& report);
  /// Fills `frame` from the present state.
  void update_frame(const Simulation& simulation);
  /// Starts the next frame: forgets the certificate and the events, keeps the dissipated energy.
  void clear() {
    frame = {};
    events.clear();
  }

  void update_joints(const Simulation& simulation);

  double dissipated = 0;
  std::vector<double> pose, velocity, velocity_weighted;
  std::vector<double> joint_position, joint_velocity, joint_motor, joint_reaction;
  std::vector<double> sensor;
  std::vector<RecordContact> contacts;
  std::vector<RecordEvent> events;  ///< since the last frame
  RecordFrame frame;                ///< its spans see the members above
};

}  // namespace slipstick
