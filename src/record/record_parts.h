// /parts of a recording (docs/recording.md): what every step was made of, for `slipstick recheck`.
#pragma once

#include "record/record_column.h"

#include <slipstick/parts.h>

#include <span>

namespace slipstick {

struct RecordHeader;

/// The columns of /parts. Poses and velocities are of the centres of mass, all in world axes.
class PartColumns {
 public:
  void open(const RecordHeader& header, Hdf5File* file);
  /// The parts of one frame's step.
  void push(std::span<const StepPart> parts);
  std::size_t bytes() const { return before_.pose.bytes() * 4 + point_a_.bytes() * 6; }
  void write(Hdf5File* file);
  void close();

 private:
  struct Motion {
    RecordColumn<double> pose, velocity;
  };
  void push_contacts(const StepPart& part);
  void push_links(const StepPart& part);
  template <class Visit>
  void for_each(const Visit& visit);

  std::size_t waiting_ = 0;  ///< parts
  std::int64_t parts_ = 0, contacts_ = 0, links_ = 0;
  RecordColumn<std::int64_t> offset_, contact_offset_, link_offset_;
  RecordColumn<std::int8_t> kind_, contact_kind_;
  RecordColumn<std::int32_t> a_, b_, shape_a_, shape_b_, link_;
  RecordColumn<double> time_, length_;
  Motion before_, after_;
  RecordColumn<double> solved_, gravity_, load_, lock_, added_;
  RecordColumn<double> point_a_, point_b_, normal_, impulse_, moment_, belt_, gap_, friction_, asked_, contact_time_;
  RecordColumn<double> on_a_, on_b_;
};

/// What a sceptic needs of the bodies and shapes beside what every recording has.
void add_check_data(const RecordHeader& header, Hdf5File* file);

}  // namespace slipstick
