// The binary form in which the page gets its data, from the server and from inside an exported file alike.
//
//   "SLV1", u32 length of the JSON, the JSON padded with blanks to a multiple of 8, then the columns, each at a
//   multiple of 8. All little-endian. The JSON is {..., "columns": [{name, type, rows, width, at, bytes}]}.
//
// type "f64", "f32": plain numbers. type "packed": integers, times "scale"; each row less the one `delta` rows before
// it, zigzag coded, the four bytes of all values in four planes. "deflate": the column's bytes are a zlib stream.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace slipstick {

using Json = nlohmann::json;

/// JSON text; bytes that are not UTF-8 become the replacement character.
std::string make_text(const Json& json);

class Packet {
 public:
  /// `level`: of zlib, 0 to leave the columns as they are.
  explicit Packet(int level) : level_(level) {}

  void add(const std::string& name, std::span<const double> values, std::size_t width);
  void add(const std::string& name, std::span<const float> values, std::size_t width);
  /// Rounds values to multiples of `scale` (a larger one where they would not fit).
  void add_packed(const std::string& name, std::span<const double> values, std::size_t width, double scale);
  /// Integers that the caller has made small; `extra` goes into the column's JSON.
  void add_integers(const std::string& name, std::span<const std::int32_t> values, std::size_t width, double scale,
                    const Json& extra);

  std::string bytes(Json header) const;

 private:
  void add_column(Json column, std::string payload);

  int level_;
  Json columns_ = Json::array();
  std::string payload_;
};

/// The scale that add_packed uses: at least `wanted`, and so large that every value fits.
double calc_scale(std::span<const double> values, double wanted);
std::int32_t quantize(double value, double scale);

}  // namespace slipstick
