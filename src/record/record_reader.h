// Reads a recording back (layout: docs/recording.md): the header at once, frames when they are asked for.
#pragma once

#include "record/hdf5_reader.h"
#include "record/record_hdf5.h"

#include <slipstick/result.h>

#include <string>
#include <vector>

namespace slipstick {

/// One value a frame. What a recording of another version lacks is empty.
struct RecordSeries {
  std::vector<double> time;
  std::vector<double> energy;  ///< frames x 3
  std::vector<double> residual, relative, penetration, joint_error;
  std::vector<std::int64_t> iterations, escalations, certified;
  std::vector<std::int64_t> grade;           ///< Grade; where only `certified` was recorded: Exact for 1
  std::vector<std::int64_t> contact_offset;  ///< frames + 1
};

/// The contacts of some frames: those of the k-th are rows offset[k] to offset[k + 1].
struct RecordContacts {
  std::vector<std::size_t> offset{0};
  std::vector<RecordContact> contacts;
};

/// Coordinate, its speed, motor force (one per joint) and reaction on body b (force, moment) of each frame.
struct RecordJoints {
  std::vector<double> position, velocity, motor;  ///< frames x joints
  std::vector<double> reaction;                   ///< frames x joints x 6
};

class RecordReader {
 public:
  /// A Fault when the file is not a recording, or contradicts itself.
  static Result<RecordReader> open(const std::string& path);

  const std::string& path() const { return path_; }
  const RecordHeader& header() const { return header_; }
  const RecordSeries& series() const { return series_; }
  const std::vector<RecordEvent>& events() const { return events_; }
  const std::vector<std::string>& event_kinds() const { return event_kinds_; }
  bool has_friction() const { return has_friction_; }
  std::size_t frames() const { return series_.time.size(); }
  /// complete, interrupted or failed; empty: the run was killed, or goes on.
  const std::string& ended() const { return ended_; }
  /// The last whole state that the recording holds.
  Result<StateFile> read_last_state() const;

  // Frames first, first + stride, ...: `count` of them. Nothing when the file cannot be read there.
  std::optional<std::vector<double>> read_poses(std::size_t first, std::size_t count, std::size_t stride) const;
  std::optional<std::vector<double>> read_velocities(std::size_t first, std::size_t count, std::size_t stride) const;
  /// What joints did in some frames; empty lists in a recording without joints or of another version.
  std::optional<RecordJoints> read_joints(std::size_t first, std::size_t count, std::size_t stride) const;
  /// The numbers of all sensors in some frames: frames x RecordHeader::sensors.
  std::optional<std::vector<double>> read_sensors(std::size_t first, std::size_t count, std::size_t stride) const;
  std::optional<RecordContacts> read_contacts(std::size_t first, std::size_t count, std::size_t stride) const;

 private:
  RecordReader(std::string path, Hdf5Reader file) : path_(std::move(path)), file_(std::move(file)) {}
  bool read_root();
  bool read_shapes();
  bool read_surfaces();
  bool read_links();
  bool read_joint_names();
  bool read_series();
  bool read_events();
  bool read_contact_rows(std::size_t first, std::size_t count, std::vector<RecordContact>* contacts) const;

  std::string path_;
  Hdf5Reader file_;
  RecordHeader header_;
  std::string ended_;
  RecordSeries series_;
  std::vector<RecordEvent> events_;
  std::vector<std::string> event_kinds_;
  bool has_friction_ = false;
};

}  // namespace slipstick
