#include "view/packet.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace slipstick {

static_assert(std::endian::native == std::endian::little, "packets are written as they lie in memory");

namespace {

constexpr double kMaxInteger = (1 << 30) - 1;  ///< so that differences fit too

void pad(std::string* bytes, char with) { bytes->resize((bytes->size() + 7) / 8 * 8, with); }

std::string deflate_bytes(const std::string& raw, int level) {
  uLongf size = compressBound(raw.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(raw.data()), raw.size(),
            level);
  packed.resize(size);
  return packed;
}

/// All first bytes, all second bytes, ...: small numbers leave whole planes of zeros.
std::string as_planes(std::span<const std::uint32_t> values) {
  const std::size_t n = values.size();
  std::string planes(4 * n, '\0');
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 4; ++k) planes[k * n + i] = static_cast<char>(values[i] >> (8 * k));
  return planes;
}

std::uint32_t as_zigzag(std::int32_t value) {
  return (static_cast<std::uint32_t>(value) << 1) ^ static_cast<std::uint32_t>(value >> 31);
}

template <class T>
std::string copy_bytes(std::span<const T> values) {
  std::string bytes(values.size_bytes(), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

std::string make_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

double calc_scale(std::span<const double> values, double wanted) {
  double largest = 0;
  for (const double v : values)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  return std::max(wanted, largest / kMaxInteger);
}

std::int32_t quantize(double value, double scale) {
  if (!std::isfinite(value)) return 0;
  return static_cast<std::int32_t>(std::lround(std::clamp(value / scale, -kMaxInteger, kMaxInteger)));
}

void Packet::add_column(Json column, std::string payload) {
  if (level_ > 0) {
    payload = deflate_bytes(payload, level_);
    column["deflate"] = true;
  }
  pad(&payload_, '\0');
  column["at"] = payload_.size();
  column["bytes"] = payload.size();
  payload_ += payload;
  columns_.push_back(std::move(column));
}

void Packet::add(const std::string& name, std::span<const double> values, std::size_t width) {
  add_column(
      {{"name", name}, {"type", "f64"}, {"rows", values.size() / std::max<std::size_t>(width, 1)}, {"width", width}},
      copy_bytes(values));
}

void Packet::add(const std::string& name, std::span<const float> values, std::size_t width) {
  add_column(
      {{"name", name}, {"type", "f32"}, {"rows", values.size() / std::max<std::size_t>(width, 1)}, {"width", width}},
      copy_bytes(values));
}

void Packet::add_packed(const std::string& name, std::span<const double> values, std::size_t width, double scale) {
  scale = calc_scale(values, scale);
  std::vector<std::int32_t> steps(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) steps[i] = quantize(values[i], scale);
  for (std::size_t i = steps.size(); i-- > width;) steps[i] -= steps[i - width];
  add_integers(name, steps, width, scale, {{"delta", 1}});
}

void Packet::add_integers(const std::string& name, std::span<const std::int32_t> values, std::size_t width,
                          double scale, const Json& extra) {
  std::vector<std::uint32_t> coded(values.size());
  std::transform(values.begin(), values.end(), coded.begin(), as_zigzag);
  Json column = extra;
  column["name"] = name;
  column["type"] = "packed";
  column["rows"] = values.size() / std::max<std::size_t>(width, 1);
  column["width"] = width;
  column["scale"] = scale;
  add_column(std::move(column), as_planes(coded));
}

std::string Packet::bytes(Json header) const {
  header["columns"] = columns_;
  std::string text = make_text(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const auto length = static_cast<std::uint32_t>(text.size());
  std::string all = "SLV1";
  all.append(reinterpret_cast<const char*>(&length), sizeof length);
  return all + text + payload_;
}

}  // namespace slipstick
