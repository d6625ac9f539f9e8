#include "view/client_frames.h"

#include <cstdint>

namespace slipstick {
namespace {

constexpr unsigned kFinal = 0x80, kReserved = 0x70, kOpcode = 0x0f, kMasked = 0x80, kLength = 0x7f;
constexpr std::size_t kMaskSize = 4, kMaxControl = 125;

std::optional<ClientFrame::Kind> find_kind(unsigned opcode) {
  switch (opcode) {
    case 0x1:
      return ClientFrame::Kind::kText;
    case 0x8:
      return ClientFrame::Kind::kClose;
    case 0x9:
      return ClientFrame::Kind::kPing;
    case 0xa:
      return ClientFrame::Kind::kPong;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<ClientFrame> FrameReader::refuse() {
  broken_ = true;
  bytes_.clear();
  return std::nullopt;
}

std::optional<ClientFrame> FrameReader::next() {
  if (broken_ || bytes_.size() < 2) return std::nullopt;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(bytes_[i])); };
  const auto kind = find_kind(byte(0) & kOpcode);
  if (!kind || !(byte(0) & kFinal) || (byte(0) & kReserved) != 0 || !(byte(1) & kMasked)) return refuse();
  std::uint64_t size = byte(1) & kLength;
  const std::size_t extra = size == 126 ? 2 : size == 127 ? 8 : 0;
  if (*kind != ClientFrame::Kind::kText && size > kMaxControl) return refuse();
  const std::size_t head = 2 + extra + kMaskSize;
  if (extra != 0) {
    if (bytes_.size() < 2 + extra) return std::nullopt;
    size = 0;
    for (std::size_t i = 0; i < extra; ++i) size = size << 8 | byte(2 + i);
  }
  if (size > max_size_) return refuse();  // before its bytes are waited for
  if (bytes_.size() < head + size) return std::nullopt;
  ClientFrame frame{*kind, bytes_.substr(head, size)};
  for (std::size_t i = 0; i < size; ++i)
    frame.data[i] = static_cast<char>(frame.data[i] ^ bytes_[head - kMaskSize + i % kMaskSize]);
  bytes_.erase(0, head + size);
  return frame;
}

}  // namespace slipstick
