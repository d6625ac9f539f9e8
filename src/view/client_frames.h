// What a client of the live view sends: WebSocket frames (RFC 6455, section 5.2), as strict as our own page is. Pure:
// bytes in, frames out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slipstick {

/// One whole message of a client, its mask taken off.
struct ClientFrame {
  enum class Kind { kText, kClose, kPing, kPong };
  Kind kind = Kind::kText;
  std::string data;
};

/// Takes bytes as they come from the socket. The first thing that no browser would send breaks it for good: a frame
/// without a mask (which the RFC has a server close), a reserved bit, a fragment, another kind than text and control,
/// one that is too long.
class FrameReader {
 public:
  explicit FrameReader(std::size_t max_size) : max_size_(max_size) {}
  void add(std::string_view bytes) { bytes_ += bytes; }
  /// The next whole frame; nothing when more bytes are needed, and nothing ever once broken.
  std::optional<ClientFrame> next();
  bool broken() const { return broken_; }

 private:
  std::optional<ClientFrame> refuse();

  std::size_t max_size_;
  std::string bytes_;
  bool broken_ = false;
};

}  // namespace slipstick
