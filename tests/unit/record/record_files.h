// What the tests of recordings share: temporary folders and frames whose every number follows from its index.
#pragma once

#include "record/hdf5_reader.h"
#include "record/record_hdf5.h"
#include "record/record_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace slipstick::test_files {

/// A folder that is gone at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "slipstick-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code code;
    std::filesystem::remove_all(path_, code);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline RecordHeader make_header(int bodies) {
  RecordHeader header;
  header.scene_text = "slipstick: 1\nname: größe\n";
  header.scene_hash = "0123456789abcdef";
  header.command = "slipstick run x.yaml";
  header.name = "test";
  header.step = 0.01;
  for (int i = 0; i < bodies; ++i) header.bodies.push_back("body_" + std::to_string(i));
  header.body_kinds.assign(bodies, 0);
  header.joints = {"hinge of größe"};
  header.shape_kinds = {"sphere", "box"};
  header.link_kinds = {"ball", "spring"};
  header.expected_frames = 32;  // small chunks: many of them are begun and finished
  return header;
}

inline int calc_contact_count(int frame) { return (frame * 7) % 5; }

/// Frame k of a made-up run: value = k + position / 1000.
class FrameMaker {
 public:
  explicit FrameMaker(int bodies) : pose_(bodies * 7), velocity_(bodies * 6) {}
  const RecordFrame& make(int k) {
    fill(k, &pose_);
    fill(k, &velocity_);
    contacts_.resize(calc_contact_count(k));
    for (std::size_t c = 0; c < contacts_.size(); ++c) {
      contacts_[c].a = k;
      contacts_[c].b = static_cast<int>(c);
      contacts_[c].gap = k + c / 1000.0;
      contacts_[c].impulse = {1.0 * k, 2.0 * k, 3.0 * k};
    }
    events_.clear();
    if (k % 3 == 2) events_.push_back({1.0 * k, 0, k, -1, -1.0, 0.5});
    frame_ = {};
    frame_.time = k;
    frame_.pose = pose_;
    frame_.velocity = velocity_;
    joints_.assign(8, k + 0.5);
    frame_.joint_position = frame_.joint_velocity = frame_.joint_motor = std::span(joints_).first(1);
    frame_.joint_reaction = std::span(joints_).first(6);
    frame_.energy = {1.0 * k, 2.0 * k, 3.0 * k};
    frame_.residual = k;
    frame_.relative = k;
    frame_.penetration = k;
    frame_.joint_error = k;
    frame_.iterations = k;
    frame_.escalations = k;
    frame_.contacts = contacts_;
    frame_.events = events_;
    state_.model_name = "test";
    state_.state.step = k;
    state_.state.joint_impulse.assign(10 + k % 7, 0.5 * k);
    frame_.state = &state_;
    return frame_;
  }

 private:
  static void fill(int k, std::vector<double>* values) {
    for (std::size_t i = 0; i < values->size(); ++i) (*values)[i] = k + i / 1000.0;
  }
  std::vector<double> pose_, velocity_, joints_;
  std::vector<RecordContact> contacts_;
  std::vector<RecordEvent> events_;
  StateFile state_;
  RecordFrame frame_;
};

/// The frame of the last whole state, whose every number must be as FrameMaker says; -1: there is none.
inline int check_last_state(const std::string& path) {
  const auto reader = RecordReader::open(path);
  if (!reader) return -1;
  const auto found = reader->read_last_state();
  if (!found) return -1;
  const int k = static_cast<int>(found->state.step);
  EXPECT_EQ(found->model_name, "test");
  EXPECT_EQ(found->state.joint_impulse, std::vector<double>(10 + k % 7, 0.5 * k));
  return k;
}

/// Reads everything back and compares each number with what FrameMaker says; returns the number of frames, -1 when
/// the file cannot be opened or read.
inline int check_recording(const std::string& path, int bodies) {
  auto opened = Hdf5Reader::open(path);
  if (!opened) return -1;
  const Hdf5Reader& file = *opened;
  if (file.read_text_attribute("/", "format") != "slipstick recording") return -1;
  const auto time = file.read_numbers("/time");
  if (!time) return -1;
  const int n = static_cast<int>(time->size());
  const auto rows = [&](const char* name) { return static_cast<int>(file.shape(name).value().at(0)); };
  for (const char* name :
       {"/pose", "/velocity", "/energy", "/certificate/residual", "/certificate/relative", "/certificate/penetration",
        "/certificate/joint_error", "/certificate/iterations", "/certificate/escalations", "/certificate/certified",
        "/joint/position", "/joint/velocity", "/joint/motor", "/joint/reaction"})
    EXPECT_GE(rows(name), n) << name;
  EXPECT_GE(rows("/contacts/offset"), n + 1);

  const auto pose = file.read_numbers("/pose"), velocity = file.read_numbers("/velocity");
  const auto energy = file.read_numbers("/energy"), residual = file.read_numbers("/certificate/residual");
  const auto iterations = file.read_integers("/certificate/iterations");
  const auto offset = file.read_integers("/contacts/offset");
  const auto a = file.read_integers("/contacts/a"), b = file.read_integers("/contacts/b");
  const auto gap = file.read_numbers("/contacts/gap"), impulse = file.read_numbers("/contacts/impulse");
  const auto event_time = file.read_numbers("/events/time");
  const auto reaction = file.read_numbers("/joint/reaction");
  if (!pose || !velocity || !energy || !residual || !iterations || !offset || !a || !b || !gap || !impulse ||
      !event_time || !reaction)
    return -1;
  const auto must = [](bool good, const char* what, int k) { EXPECT_TRUE(good) << what << " of frame " << k; };
  std::int64_t first = 0;
  for (int k = 0; k < n; ++k) {
    must((*time)[k] == k && (*residual)[k] == k && (*iterations)[k] == k, "time or certificate", k);
    must((*reaction)[6 * k] == k + 0.5 && (*reaction)[6 * k + 5] == k + 0.5, "reaction", k);
    must((*energy)[3 * k + 2] == 3.0 * k, "energy", k);
    for (int i = 0; i < bodies * 7; ++i) must((*pose)[k * bodies * 7 + i] == k + i / 1000.0, "pose", k);
    for (int i = 0; i < bodies * 6; ++i) must((*velocity)[k * bodies * 6 + i] == k + i / 1000.0, "velocity", k);
    must((*offset)[k] == first, "offset", k);
    const int count = calc_contact_count(k);
    if (static_cast<std::int64_t>(std::min(a->size(), gap->size())) < first + count) return -1;
    for (int c = 0; c < count; ++c) {
      must((*a)[first + c] == k && (*b)[first + c] == c, "contact bodies", k);
      must((*gap)[first + c] == k + c / 1000.0 && (*impulse)[3 * (first + c) + 1] == 2.0 * k, "contact", k);
    }
    first += count;
  }
  return ::testing::Test::HasFailure() ? -1 : n;
}

}  // namespace slipstick::test_files
