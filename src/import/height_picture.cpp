#include "import/height_picture.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace slipstick {
namespace {

constexpr std::uint32_t kMaxSide = 10000;
constexpr std::size_t kMaxPixels = 25'000'000;

std::uint32_t read_big(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t k = 0; k < 4; ++k) number = number << 8 | static_cast<unsigned char>(bytes[at + k]);
  return number;
}

GreyPicture fail(std::string why) {
  GreyPicture made;
  made.problem = std::move(why);
  return made;
}

/// What IHDR says.
struct PngHeader {
  std::uint32_t width = 0, height = 0;
  int depth = 0, kind = 0, interlace = 0;

  int channels() const { return kind == 2 ? 3 : kind == 4 ? 2 : kind == 6 ? 4 : 1; }
  std::size_t pixel_bits() const { return static_cast<std::size_t>(depth) * static_cast<std::size_t>(channels()); }
  std::size_t line_bytes() const { return (width * pixel_bits() + 7) / 8; }
};

std::string check(const PngHeader& png) {
  const bool whole = png.depth == 8 || png.depth == 16, small = png.depth == 1 || png.depth == 2 || png.depth == 4;
  const bool known = png.kind == 0   ? whole || small
                     : png.kind == 3 ? png.depth == 8 || small
                                     : (png.kind == 2 || png.kind == 4 || png.kind == 6) && whole;
  if (!known) return "its colour type and depth are none of PNG's";
  if (png.interlace != 0) return "is interlaced; save it without";
  if (png.width < 2 || png.height < 2 || png.width > kMaxSide || png.height > kMaxSide ||
      std::size_t{png.width} * png.height > kMaxPixels)
    return "must have from 2 x 2 to 25 million pixels, 10000 a side at most";
  return "";
}

/// The lines, each after its filter byte; empty if the data do not give them.
std::string inflate_lines(const std::string& packed, std::size_t size) {
  std::string lines(size, '\0');
  uLongf got = size;
  auto* out = reinterpret_cast<Bytef*>(lines.data());
  const int code =
      uncompress(out, &got, reinterpret_cast<const Bytef*>(packed.data()), static_cast<uLong>(packed.size()));
  if (code != Z_OK || got != size) lines.clear();
  return lines;
}

int find_paeth(int left, int up, int corner) {
  const int guess = left + up - corner;
  const int a = std::abs(guess - left), b = std::abs(guess - up), c = std::abs(guess - corner);
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/// Undoes the filter of each line in place; false: a filter that there is not.
bool unfilter(const PngHeader& png, std::string* lines) {
  const std::size_t bytes = png.line_bytes(), back = std::max<std::size_t>(1, png.pixel_bits() / 8);
  auto* data = reinterpret_cast<unsigned char*>(lines->data());
  for (std::size_t r = 0; r < png.height; ++r) {
    unsigned char* line = data + r * (bytes + 1) + 1;
    const unsigned char* above = r == 0 ? nullptr : line - (bytes + 1);
    const int filter = line[-1];
    if (filter > 4) return false;
    for (std::size_t k = 0; k < bytes; ++k) {
      const int left = k >= back ? line[k - back] : 0, up = above != nullptr ? above[k] : 0;
      const int corner = k >= back && above != nullptr ? above[k - back] : 0;
      const int guess = filter == 1   ? left
                        : filter == 2 ? up
                        : filter == 3 ? (left + up) / 2
                        : filter == 4 ? find_paeth(left, up, corner)
                                      : 0;
      line[k] = static_cast<unsigned char>(line[k] + guess);
    }
  }
  return true;
}

/// 0 to 255.
double find_grey(const PngHeader& png, const unsigned char* line, std::size_t column, const std::string& palette) {
  int value = 0;
  if (png.depth >= 8) {
    value = line[column * (png.pixel_bits() / 8)];
  } else {
    const std::size_t bit = column * static_cast<std::size_t>(png.depth);
    const int mask = (1 << png.depth) - 1;
    value = line[bit / 8] >> (8 - png.depth - static_cast<int>(bit % 8)) & mask;
    if (png.kind == 0) value = value * 255 / mask;
  }
  if (png.kind != 3) return value;
  const std::size_t entry = 3 * static_cast<std::size_t>(value);
  return entry < palette.size() ? static_cast<unsigned char>(palette[entry]) : 0;
}

}  // namespace

GreyPicture parse_png(std::string_view bytes) {
  constexpr std::string_view kMark("\x89PNG\r\n\x1a\n", 8);
  if (!bytes.starts_with(kMark)) return fail("is not a PNG picture");
  PngHeader png;
  std::string packed, palette;
  bool begun = false, ended = false;
  std::size_t at = kMark.size();
  while (!ended) {
    if (bytes.size() - at < 12) return fail("ends in the middle");
    const std::size_t size = read_big(bytes, at);
    if (size > bytes.size() - at - 12) return fail("ends in the middle");
    const std::string_view kind = bytes.substr(at + 4, 4), body = bytes.substr(at + 8, size);
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(kind.data()), static_cast<uInt>(4 + size));
    if (static_cast<std::uint32_t>(sum) != read_big(bytes, at + 8 + size)) return fail("is damaged (checksum)");
    at += 12 + size;
    if (kind == "IHDR" && size == 13 && !begun) {
      begun = true;
      const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(body[k]); };
      png = {read_big(body, 0), read_big(body, 4), byte(8), byte(9), byte(12)};
      if (const std::string wrong = check(png); !wrong.empty()) return fail(wrong);
    }
    if (kind == "PLTE") palette = body;
    if (kind == "IDAT") packed += body;
    ended = kind == "IEND";
  }
  if (!begun) return fail("has no header");
  std::string lines = inflate_lines(packed, png.height * (png.line_bytes() + 1));
  if (lines.empty() || !unfilter(png, &lines)) return fail("its data cannot be unpacked");
  GreyPicture made;
  made.rows = static_cast<int>(png.height);
  made.columns = static_cast<int>(png.width);
  for (std::size_t r = 0; r < png.height; ++r) {
    const auto* line = reinterpret_cast<const unsigned char*>(lines.data()) + r * (png.line_bytes() + 1) + 1;
    for (std::size_t c = 0; c < png.width; ++c) made.values.push_back(find_grey(png, line, c, palette));
  }
  return made;
}

GreyPicture parse_mujoco_heights(std::string_view bytes) {
  std::int32_t size[2] = {0, 0};
  if (bytes.size() < sizeof size) return fail("ends in the middle");
  std::memcpy(size, bytes.data(), sizeof size);
  const auto good = [](std::int32_t n) { return n >= 2 && n <= static_cast<std::int32_t>(kMaxSide); };
  if (!good(size[0]) || !good(size[1])) return fail("is neither a .png nor MuJoCo's binary format of heights");
  GreyPicture made;
  made.rows = size[0];
  made.columns = size[1];
  const auto rows = static_cast<std::size_t>(size[0]), columns = static_cast<std::size_t>(size[1]);
  if (bytes.size() != sizeof size + rows * columns * sizeof(float))
    return fail("has " + std::to_string(bytes.size()) + " bytes, which is not what its " + std::to_string(rows) +
                " x " + std::to_string(columns) + " heights need");
  for (std::size_t r = rows; r-- > 0;) {
    for (std::size_t c = 0; c < columns; ++c) {
      float height = 0;
      std::memcpy(&height, bytes.data() + sizeof size + (r * columns + c) * sizeof(float), sizeof height);
      if (!std::isfinite(height)) return fail("has heights that are no numbers");
      made.values.push_back(height);
    }
  }
  return made;
}

}  // namespace slipstick
