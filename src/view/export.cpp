// One self-contained page from one or two recordings.
#include <slipstick/app/view.h>

#include "view/page.h"

#include <algorithm>
#include <cmath>

namespace slipstick {

namespace {

constexpr std::size_t kBlockFrames = 256;
constexpr int kJointDigits = 12;  ///< binary: 1e-4 of each number

/// What an eye can tell apart, for a scene whose smallest body is `size` across.
ClipPrecision calc_precision(double size) {
  ClipPrecision precision;
  precision.position = size * 2e-5;
  precision.orientation = 1.0 / 8191;
  precision.point = size * 2e-3;
  precision.normal = 1.0 / 511;
  precision.force = 2e-3;
  precision.gap = size * 1e-7;
  precision.slip = 1e-4;
  precision.level = 9;
  return precision;
}

/// Frames enough for smooth motion at normal speed.
std::size_t calc_frame_count(const RecordReader& reader, double rate) {
  const double span = reader.series().time.back() - reader.series().time.front();
  return static_cast<std::size_t>(std::max(2.0, std::ceil(span * rate * 1.02) + 2));
}

/// Packets of all frames, of every n-th when those of all would take more than `limit` bytes.
template <class Make>
std::vector<std::string> make_within(std::size_t limit, std::size_t frames, std::size_t* every, Make make) {
  for (*every = 1;; *every *= 2) {
    std::vector<std::string> packets;
    std::size_t bytes = 0;
    for (std::size_t first = 0; first < frames; first += kBlockFrames) {
      packets.push_back(make(first, std::min(kBlockFrames, frames - first), *every));
      bytes += packets.back().size();
    }
    if (bytes <= limit || *every >= kBlockFrames) return packets;
  }
}

bool add_clip(const Clip& clip, std::size_t index, const ExportOptions& options, std::vector<std::string>* packets) {
  const ClipPrecision precision = calc_precision(clip.body_size());
  std::vector<std::string> frames, joints;
  for (std::size_t first = 0; first < clip.frames(); first += kBlockFrames)
    frames.push_back(clip.make_frames_packet(first, std::min(kBlockFrames, clip.frames() - first), precision));
  std::size_t every = 1, joints_every = 1;
  std::vector<std::string> contacts = make_within(options.max_contact_bytes, clip.frames(), &every,
                                                  [&](std::size_t first, std::size_t count, std::size_t n) {
                                                    return clip.make_contacts_packet(first, count, n, precision);
                                                  });
  if (clip.joints() + clip.sensors() > 0)
    joints = make_within(options.max_joint_bytes, clip.frames(), &joints_every,
                         [&](std::size_t first, std::size_t count, std::size_t n) {
                           return clip.make_joints_packet(first, count, n, precision.level, kJointDigits);
                         });
  packets->push_back(
      clip.make_clip_packet(9, {{"part", "clip"}, {"clip", index}, {"rounded", true}, {"contacts_every", every}}));
  for (auto* parts : {&frames, &contacts, &joints})
    for (std::string& part : *parts) {
      if (part.empty()) return false;
      packets->push_back(std::move(part));
    }
  return true;
}

}  // namespace

bool has_viewer_page() { return !viewer_page().empty(); }
std::string no_viewer_page_reason() { return make_no_page_fault(); }

Result<std::string> make_export_page(const std::vector<std::string>& recordings, const ExportOptions& options) {
  if (!has_viewer_page()) return Fault{{}, make_no_page_fault()};
  std::vector<std::string> packets;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    auto reader = RecordReader::open(recordings[i]);
    if (!reader) return reader.faults();
    const std::size_t frames = calc_frame_count(*reader, options.frames_per_second);
    const Clip clip(std::move(reader).value(), frames, options.max_poses);
    if (!add_clip(clip, i, options, &packets))
      return Fault{{recordings[i], 0, 0}, "the recording cannot be read to its end"};
  }
  return make_page(viewer_page(), packets);
}

}  // namespace slipstick
