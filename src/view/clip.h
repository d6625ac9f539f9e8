// A recording as the page plays it: a description of what is drawn (docs/viewer.md) and packets of frames.
#pragma once

#include "record/record_reader.h"
#include "view/packet.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace slipstick {

/// The part of a clip's description that does not depend on where its frames come from.
Json make_description(const RecordHeader& header, bool has_friction);

/// Of one joint at one moment: position, velocity, motor, reaction force and moment on b.
constexpr std::size_t kJointNumbers = 9;

/// How finely numbers are rounded; lengths in metres, speeds in m/s, forces as a fraction of a typical one.
struct ClipPrecision {
  double position = 1e-6;
  double orientation = 1.0 / 32767;
  double point = 1e-6;
  double normal = 1.0 / 32767;
  double force = 1e-6;
  double gap = 1e-12;
  double slip = 1e-7;
  int level = 1;  ///< of zlib
};

/// A contact as the page needs it: the force in newtons, and how fast the two surfaces slide past each other.
struct ClipContact {
  RecordContact contact;
  std::array<double, 3> force{};
  double slip = 0;
};

class Clip {
 public:
  /// Shows every n-th frame of a recording that has more than `max_frames` or more than `max_poses` poses in all.
  Clip(RecordReader reader, std::size_t max_frames, std::size_t max_poses);

  std::size_t frames() const { return frames_; }
  std::size_t stride() const { return stride_; }
  /// The recording's frame that the k-th one is. The last one is the recording's last, whatever the stride.
  std::size_t index(std::size_t k) const { return std::min(k * stride_, reader_.frames() - 1); }
  std::size_t bodies() const { return reader_.header().bodies.size(); }
  /// Joints whose motion is recorded: the first of the links.
  std::size_t joints() const { return reader_.header().joints.size(); }
  /// Numbers of the scene's sensors.
  std::size_t sensors() const { return reader_.header().sensors.size(); }
  const RecordReader& reader() const { return reader_; }
  /// Half the size of the smallest body: what "small" means in this scene, m.
  double body_size() const { return body_size_; }
  /// Nine of ten contact forces are smaller, N; 0 if there are none.
  double typical_force() const { return typical_force_; }

  // Packets; empty when the file could not be read.
  std::string make_clip_packet(int level, const Json& extra = {}) const;
  std::string make_frames_packet(std::size_t first, std::size_t count, const ClipPrecision& precision) const;
  /// `every`: contacts of each n-th of these frames only.
  std::string make_contacts_packet(std::size_t first, std::size_t count, std::size_t every,
                                   const ClipPrecision& precision) const;
  /// Joints of some frames, kJointNumbers each, and the numbers of sensors. `digits`: of a number's binary ones, so
  /// many stay; 0: all.
  std::string make_joints_packet(std::size_t first, std::size_t count, std::size_t every, int level, int digits) const;
  /// Poses of some frames, exact: seven numbers a body.
  std::optional<std::vector<double>> read_poses(std::size_t first, std::size_t count) const;
  /// One body's exact motion over all frames of the clip.
  std::string make_body_packet(std::size_t body) const;

 private:
  struct ContactTable {
    std::vector<double> counts;
    std::vector<ClipContact> contacts;
  };
  /// Rows of this clip's frames first, first + every, ...
  template <class Rows>
  std::optional<Rows> read(std::optional<Rows> (RecordReader::*read_rows)(std::size_t, std::size_t, std::size_t) const,
                           std::size_t first, std::size_t count, std::size_t every) const;
  std::optional<ContactTable> read_contacts(std::size_t first, std::size_t count, std::size_t every) const;
  double calc_typical_force() const;

  RecordReader reader_;
  std::size_t frames_ = 0, stride_ = 1;
  double body_size_ = 1;
  double typical_force_ = 0;
};

/// Adds the columns of contacts: plain f32 (`precision` null), or packed against the same contact one frame before.
void add_contacts(std::span<const double> counts, std::span<const ClipContact> contacts, const ClipPrecision* precision,
                  double typical_force, Packet* packet);

/// Force and slip of a contact; `pose` and `velocity` hold 7 and 6 numbers per body.
ClipContact make_contact(const RecordContact& contact, double step, std::span<const double> pose,
                         std::span<const double> velocity);

}  // namespace slipstick
