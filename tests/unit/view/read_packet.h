// Reads packets as the page does (viewer/src/data/packet.js), so that what is written can be compared.
#pragma once

#include "view/packet.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace slipstick::test {

struct ReadPacket {
  Json json;
  std::map<std::string, std::vector<double>> columns;
};

inline std::string inflate_bytes(const std::string& packed, std::size_t size) {
  std::string raw(size, '\0');
  uLongf length = size;
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(raw.data()), &length, reinterpret_cast<const Bytef*>(packed.data()),
                       packed.size()),
            Z_OK);
  EXPECT_EQ(length, size);
  return raw;
}

inline std::vector<double> read_integers(const std::string& bytes, const Json& column) {
  const std::size_t n = bytes.size() / 4, width = column["width"];
  std::vector<std::int32_t> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t z = 0;
    for (std::size_t k = 0; k < 4; ++k)
      z |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[k * n + i])) << (8 * k);
    values[i] = static_cast<std::int32_t>(z >> 1) ^ -static_cast<std::int32_t>(z & 1);
    if (column.contains("delta") && i >= width) values[i] += values[i - width];
  }
  return {values.begin(), values.end()};
}

/// Adds to each contact the one that it was written as a difference from.
inline void unpredict(const std::vector<double>& counts, const std::vector<double>& a, const std::vector<double>& b,
                      std::size_t width, std::vector<double>* values) {
  std::map<std::pair<double, double>, std::vector<std::size_t>> before, now;
  std::size_t row = 0;
  for (const double count : counts) {
    now.clear();
    for (const std::size_t end = row + static_cast<std::size_t>(count); row < end; ++row) {
      auto& rows = now[{a[row], b[row]}];
      const auto& old = before[{a[row], b[row]}];
      if (rows.size() < old.size())
        for (std::size_t k = 0; k < width; ++k) (*values)[row * width + k] += (*values)[old[rows.size()] * width + k];
      rows.push_back(row);
    }
    before = now;
  }
}

inline ReadPacket read_packet(const std::string& bytes) {
  ReadPacket packet;
  EXPECT_EQ(bytes.substr(0, 4), "SLV1");
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 4, 4);
  packet.json = Json::parse(bytes.substr(8, length));
  for (const Json& column : packet.json["columns"]) {
    const std::size_t count = column["rows"].get<std::size_t>() * column["width"].get<std::size_t>();
    const std::size_t size = column["type"] == "f64" ? 8 : 4;
    EXPECT_EQ((8 + length + column["at"].get<std::size_t>()) % 8, 0u);
    std::string raw = bytes.substr(8 + length + column["at"].get<std::size_t>(), column["bytes"]);
    if (column.contains("deflate")) raw = inflate_bytes(raw, count * size);
    std::vector<double>& values = packet.columns[column["name"]];
    if (column["type"] == "f64") {
      values.resize(count);
      std::memcpy(values.data(), raw.data(), raw.size());
    } else if (column["type"] == "f32") {
      std::vector<float> floats(count);
      std::memcpy(floats.data(), raw.data(), raw.size());
      values.assign(floats.begin(), floats.end());
    } else {
      values = read_integers(raw, column);
      if (column.contains("predict"))
        unpredict(packet.columns["contact_count"], packet.columns["a"], packet.columns["b"], column["width"], &values);
      for (double& v : values) v *= column["scale"].get<double>();
    }
  }
  return packet;
}

}  // namespace slipstick::test
