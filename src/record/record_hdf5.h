// The layout of a recording (docs/recording.md) and the writer that fills it, from plain data: it knows neither
// scenes nor simulations.
#pragma once

#include "record/record_column.h"
#include "record/record_parts.h"

#include <slipstick/state_file.h>

#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace slipstick {

/// One shape as a viewer needs it. Poses are x y z, w x y z, in the frame of the body.
struct RecordShape {
  int body = 0;
  int kind = 0;  ///< index into RecordHeader::shape_kinds
  std::array<double, 7> pose{0, 0, 0, 1, 0, 0, 0};
  std::array<double, 3> size{};  ///< box: full size
  double radius = 0;
  double length = 0;  ///< capsule: the straight part
  std::vector<std::array<double, 2>> points;
  std::string color;
  bool visual_only = false;
  std::vector<std::array<double, 3>> vertices{};         ///< hull: its corners; mesh, heightfield: with `triangles`
  std::vector<std::array<std::int32_t, 3>> triangles{};  ///< indices into `vertices`, counter-clockwise from outside
};

/// A joint or a spring as a viewer needs it: where it holds its two bodies.
struct RecordLink {
  int kind = 0;  ///< index into RecordHeader::link_kinds
  std::string name;
  int a = -1, b = -1;
  std::array<double, 3> anchor_a{}, anchor_b{};  ///< in the frame of the body (world: world)
  std::array<double, 3> axis{};                  ///< of a hinge or slider in the frame of a; zero: it has none
  int motor = 0;                                 ///< what its motor asks for: 0 none, 1 speed, 2 position, 3 force
  std::array<int, 3> couples{-1, -1, -1};        ///< gear, rack, differential: the links whose coordinates it ties
  std::array<double, 3> factors{};               ///< the sum of these times those coordinates stays
};

struct RecordHeader {
  std::string scene_text, scene_hash, command, name, scheme, solver, software;
  double step = 0;
  double duration = 0;
  std::array<double, 3> gravity{};
  bool planar = false;
  int every = 1;
  bool contacts = true;
  bool weighted = false;  ///< frames have velocity_weighted
  std::vector<std::string> bodies;
  std::vector<std::int8_t> body_kinds;                 ///< 0 dynamic, 1 fixed, 2 kinematic
  std::vector<double> masses;                          ///< kg; 0 unless dynamic
  std::vector<std::array<double, 3>> centers_of_mass;  ///< in the frame of the body
  std::vector<std::string> shape_kinds, link_kinds;
  std::vector<RecordShape> shapes;
  std::vector<RecordLink> links;
  std::vector<std::string> joints;             ///< the first of `links`
  std::vector<std::string> sensors;            ///< one for each number: "tip.x"
  std::int64_t start_step = 0;                 ///< of the first frame: not 0 where a run goes on
  std::string resumed_from;                    ///< the file that it went on from; empty: from the beginning
  std::size_t expected_frames = 1024;          ///< a guess; sizes the chunks of the file
  bool parts = false;                          ///< every step and every part of it (/parts), and with that:
  std::vector<std::array<double, 9>> inertia;  ///< about the centre of mass, body axes
  std::vector<double> gravity_scale;
  std::vector<std::int32_t> groups;                ///< -1: none
  std::vector<std::array<double, 36>> free_basis;  ///< row by row; columns beyond the freedoms are zero
  std::vector<std::array<std::int32_t, 2>> pairs_without_contact;
  std::vector<std::array<std::int32_t, 2>> filters;  ///< contype and conaffinity, one per shape
  std::vector<double> compliance;                    ///< one per joint
  double alpha = 1, gamma = 1;                       ///< weights of the scheme
  bool interpolated = false;                         ///< ends of parts may be (EventState::Hermite)
  std::string friction_model;
  bool friction_by_slip = false;
};

struct RecordContact {
  int a = -1, b = -1;
  std::array<double, 3> point{}, normal{}, impulse{};
  double gap = 0;
  double friction = 0;  ///< coefficient
  int unique = 0;       ///< Uniqueness, docs/recording.md; 0: not known
};

struct RecordEvent {
  double time = 0;
  int kind = 0;  ///< 0 impact, 1 takeoff, 2 stick, 3 slip
  int a = -1, b = -1;
  double before = 0, after = 0;  ///< normal speeds, m/s
};

/// One recorded instant. The spans are read during `append` only.
struct RecordFrame {
  double time = 0;
  std::span<const double> pose;               ///< bodies x 7
  std::span<const double> velocity;           ///< bodies x 6
  std::span<const double> velocity_weighted;  ///< as velocity, if the header says so
  std::array<double, 3> energy{};
  double residual = 0, relative = 0, penetration = 0, joint_error = 0;
  std::int32_t iterations = 0, escalations = 0;
  Grade grade = Grade::Exact;                                           ///< the worst since the frame before
  std::span<const double> joint_position, joint_velocity, joint_motor;  ///< one per joint
  std::span<const double> joint_reaction;                               ///< joints x 6
  std::span<const double> sensor;                                       ///< one per RecordHeader::sensors
  std::span<const RecordContact> contacts;
  std::span<const RecordEvent> events;
  const StateFile* state = nullptr;  ///< the whole state; null: this recording holds none
  std::span<const StepPart> parts;
};

class RecordWriter {
 public:
  using Clock = std::chrono::steady_clock;

  /// Creates the file with its header and no frame; it is readable from here on.
  static Result<RecordWriter> create(const std::string& path, const RecordHeader& header);

  /// False once a write has failed. `now` decides when the file is flushed.
  bool append(const RecordFrame& frame, Clock::time_point now = Clock::now());
  /// Writes and flushes everything that waits.
  bool flush();
  /// `ended`: how the run ended; empty: nobody knows.
  bool close(const std::string& ended = "");
  const std::string& error() const { return file_->error(); }
  Hdf5File& file() { return *file_; }

 private:
  void add_columns(const RecordHeader& header);
  void push_contacts(std::span<const RecordContact> contacts);
  void push_events(std::span<const RecordEvent> events);
  void push_state();
  void write_columns();
  void close_columns();
  std::size_t waiting_bytes() const;
  bool is_flush_due(Clock::time_point now) const;

  std::unique_ptr<Hdf5File> file_;
  bool contacts_ = true;
  bool weighted_ = false;
  bool senses_ = false;
  bool has_parts_ = false;
  std::size_t frames_waiting_ = 0;
  std::int64_t contacts_total_ = 0;
  Clock::time_point last_append_;
  Clock::time_point oldest_waiting_;  ///< when the oldest frame that is not on disk was appended
  bool anything_waiting_ = false;
  std::int64_t frames_total_ = 0;
  StateFile latest_state_;  ///< of the last frame
  std::int64_t latest_state_frame_ = -1;
  std::int64_t stored_state_frame_ = -1;
  Clock::time_point state_stored_;
  bool closed_ = false;

  PartColumns parts_;
  RecordColumn<std::int64_t> state_frame_, state_offset_;
  RecordColumn<std::int8_t> state_bytes_;
  std::int64_t state_bytes_total_ = 0;
  RecordColumn<double> time_, pose_, velocity_, energy_;
  RecordColumn<double> velocity_weighted_;
  RecordColumn<double> joint_position_, joint_velocity_, joint_motor_, joint_reaction_;
  RecordColumn<double> sensor_;
  RecordColumn<double> residual_, relative_, penetration_, joint_error_;
  RecordColumn<std::int32_t> iterations_, escalations_;
  RecordColumn<std::int8_t> certified_, grade_, contact_unique_;
  RecordColumn<std::int64_t> contact_offset_;
  RecordColumn<std::int32_t> contact_a_, contact_b_;
  RecordColumn<double> contact_point_, contact_normal_, contact_gap_, contact_impulse_, contact_friction_;
  RecordColumn<double> event_time_, event_before_, event_after_;
  RecordColumn<std::int8_t> event_kind_;
  RecordColumn<std::int32_t> event_a_, event_b_;
};

}  // namespace slipstick
