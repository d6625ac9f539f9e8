#include "scene/surface_file.h"

#include <slipstick/hull.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "base/as_quoted.h"

namespace slipstick {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";

/// TextLines of a text with their numbers.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}
  bool next(std::string_view* line) {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    *line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    ++number_;
    return true;
  }
  int number() const { return number_; }
  std::string fault(const std::string& what) const { return "line " + std::to_string(number_) + ": " + what; }

 private:
  std::string_view rest_;
  int number_ = 0;
};

/// The next word of a line, cut off its front; empty at the end.
std::string_view take_word(std::string_view* line, std::string_view blanks = kBlanks) {
  const std::size_t start = line->find_first_not_of(blanks);
  if (start == std::string_view::npos) {
    *line = {};
    return {};
  }
  const std::size_t end = line->find_first_of(blanks, start);
  const std::string_view word = line->substr(start, end == std::string_view::npos ? end : end - start);
  *line = end == std::string_view::npos ? std::string_view() : line->substr(end);
  return word;
}

std::optional<double> as_finite(std::string_view word) {
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  double x = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), x);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(x)) return std::nullopt;
  return x;
}

std::string cut(std::string_view word) { return as_quoted(std::string(word.substr(0, 40))); }

/// Three coordinates of a line; a problem otherwise.
std::string read_point(std::string_view line, Vec3* point) {
  for (int k = 0; k < 3; ++k) {
    const std::string_view word = take_word(&line);
    if (word.empty()) return "a point needs 3 coordinates, not " + std::to_string(k);
    const auto x = as_finite(word);
    if (!x) return cut(word) + " is not a finite number";
    (*point)[k] = *x;
  }
  return "";
}

std::string too_many_triangles() {
  return "more than the limit of " + std::to_string(kMaxTriangles) + " triangles; simplify the mesh";
}

/// Corner of an OBJ face: "7", "7/1", "7//3", "-1"; from 0.
std::string read_corner(std::string_view word, std::size_t vertices, std::int32_t* corner) {
  const std::string_view digits = word.substr(0, word.find('/'));
  long long i = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), i);
  if (error != std::errc() || end != digits.data() + digits.size()) return cut(word) + " is not the number of a vertex";
  const auto count = static_cast<long long>(vertices);
  const long long from_zero = i < 0 ? count + i : i - 1;
  if (i == 0 || from_zero < 0 || from_zero >= count) {
    return "vertex " + std::to_string(i) + " is not there (the file has " + std::to_string(count) + " up to here)";
  }
  *corner = static_cast<std::int32_t>(from_zero);
  return "";
}

std::string read_face(std::string_view line, SurfaceFile* file) {
  Triangle fan{};
  int corners = 0;
  for (std::string_view word = take_word(&line); !word.empty(); word = take_word(&line), ++corners) {
    std::int32_t corner = 0;
    if (std::string problem = read_corner(word, file->vertices.size(), &corner); !problem.empty()) return problem;
    if (corners < 2) {
      fan[corners] = corner;
      continue;
    }
    fan[2] = corner;
    if (file->triangles.size() >= kMaxTriangles) return too_many_triangles();
    file->triangles.push_back(fan);
    fan[1] = corner;
  }
  return corners < 3 ? "a face needs 3 vertices, not " + std::to_string(corners) : "";
}

SurfaceFile fail_surface(std::string problem) {
  SurfaceFile file;
  file.problem = std::move(problem);
  return file;
}

constexpr std::size_t kStlHeader = 84, kStlTriangle = 50;

std::uint32_t read_u32(const char* p) {
  std::uint32_t x = 0;
  for (int k = 3; k >= 0; --k) x = x << 8 | static_cast<unsigned char>(p[k]);
  return x;
}

SurfaceFile parse_binary_stl(std::string_view bytes) {
  const std::uint32_t count = read_u32(bytes.data() + 80);
  if (count > kMaxTriangles) return fail_surface(too_many_triangles() + " (it says " + std::to_string(count) + ")");
  if (bytes.size() < kStlHeader + kStlTriangle * static_cast<std::size_t>(count)) {
    return fail_surface("a binary STL file of " + std::to_string(count) + " triangles has " +
                        std::to_string(kStlHeader + kStlTriangle * static_cast<std::size_t>(count)) + " bytes, not " +
                        std::to_string(bytes.size()) + "; it is cut off or no STL file");
  }
  SurfaceFile file;
  for (std::uint32_t t = 0; t < count; ++t) {
    const char* p = bytes.data() + kStlHeader + kStlTriangle * t + 12;  // the normal follows from the corners
    Triangle triangle{};
    for (int k = 0; k < 3; ++k) {
      Vec3 point;
      for (int i = 0; i < 3; ++i, p += 4) point[i] = std::bit_cast<float>(read_u32(p));
      if (!point.allFinite()) {
        return fail_surface("triangle " + std::to_string(t + 1) + " has a coordinate that is not a finite number");
      }
      triangle[k] = static_cast<std::int32_t>(file.vertices.size());
      file.vertices.push_back(point);
    }
    file.triangles.push_back(triangle);
  }
  return file;
}

SurfaceFile parse_text_stl(std::string_view text) {
  SurfaceFile file;
  TextLines lines(text);
  std::string_view line;
  int corners = 0;
  while (lines.next(&line)) {
    const std::string_view word = take_word(&line);
    if (word == "facet" || word == "endfacet") {
      if (corners != 0) return fail_surface(lines.fault("a facet has 3 vertices, not " + std::to_string(corners)));
    } else if (word == "vertex") {
      Vec3 point;
      if (std::string problem = read_point(line, &point); !problem.empty()) return fail_surface(lines.fault(problem));
      file.vertices.push_back(point);
      if (++corners < 3) continue;
      corners = 0;
      if (file.triangles.size() >= kMaxTriangles) return fail_surface(lines.fault(too_many_triangles()));
      const auto last = static_cast<std::int32_t>(file.vertices.size()) - 1;
      file.triangles.push_back({last - 2, last - 1, last});
    } else if (!word.empty() && word != "solid" && word != "outer" && word != "endloop" && word != "endsolid") {
      return fail_surface(lines.fault(cut(word) + " is no word of an STL file"));
    }
  }
  if (corners != 0) return fail_surface("the last facet is cut off");
  if (file.triangles.empty()) return fail_surface("no triangle in it; is it an STL file?");
  return file;
}

bool ends_in(std::string_view name, std::string_view ending) {
  if (name.size() < ending.size()) return false;
  const std::string_view end = name.substr(name.size() - ending.size());
  return std::equal(end.begin(), end.end(), ending.begin(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

HeightFile fail_heights(std::string problem) {
  HeightFile file;
  file.problem = std::move(problem);
  return file;
}

/// A whole number of a PGM header; comments run from # to the end of the line.
std::optional<std::size_t> take_header_number(std::string_view bytes, std::size_t* at) {
  while (*at < bytes.size() && (std::isspace(static_cast<unsigned char>(bytes[*at])) || bytes[*at] == '#')) {
    if (bytes[*at] == '#') {
      while (*at < bytes.size() && bytes[*at] != '\n') ++*at;
    } else {
      ++*at;
    }
  }
  std::size_t x = 0;
  const auto [end, error] = std::from_chars(bytes.data() + *at, bytes.data() + bytes.size(), x);
  if (error != std::errc()) return std::nullopt;
  *at = static_cast<std::size_t>(end - bytes.data());
  return x;
}

}  // namespace

SurfaceFile parse_obj(std::string_view text) {
  SurfaceFile file;
  TextLines lines(text);
  std::string_view line;
  while (lines.next(&line)) {
    const std::string_view word = take_word(&line);
    std::string problem;
    if (word == "v") {
      Vec3 point;
      problem = read_point(line, &point);
      file.vertices.push_back(point);
      if (file.vertices.size() > 3 * kMaxTriangles) problem = "more vertices than the limit of triangles allows";
    } else if (word == "f") {
      problem = read_face(line, &file);
    }
    if (!problem.empty()) return fail_surface(lines.fault(problem));
  }
  if (file.triangles.empty()) return fail_surface("no face in it; is it an OBJ file?");
  return file;
}

SurfaceFile parse_stl(std::string_view bytes) {
  // A binary file may begin with "solid" too: its length says what it is.
  if (bytes.size() >= kStlHeader) {
    const std::size_t count = read_u32(bytes.data() + 80);
    if (bytes.size() == kStlHeader + kStlTriangle * count) return parse_binary_stl(bytes);
    if (!bytes.starts_with("solid")) return parse_binary_stl(bytes);
  }
  if (!bytes.starts_with("solid")) return fail_surface("neither a text STL file ('solid ...') nor a binary one");
  return parse_text_stl(bytes);
}

SurfaceFile parse_surface(std::string_view name, std::string_view bytes) {
  if (ends_in(name, ".obj")) return parse_obj(bytes);
  if (ends_in(name, ".stl")) return parse_stl(bytes);
  return fail_surface("unknown kind of file; meshes are read from .obj and .stl");
}

bool is_mesh_file(std::string_view name) { return ends_in(name, ".stl"); }

std::vector<Vec3> keep_hull_points(std::vector<Vec3> points) {
  const auto less = [](const Vec3& a, const Vec3& b) {
    return std::lexicographical_compare(a.data(), a.data() + 3, b.data(), b.data() + 3);
  };
  std::sort(points.begin(), points.end(), less);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  const auto most = static_cast<std::size_t>(kMaxHullPoints);
  // The hull of all is the hull of the corners of the hulls of parts. Parts that are flat have none: all their points.
  for (std::size_t before = 0; points.size() > most && points.size() != before;) {
    before = points.size();
    std::vector<Vec3> kept;
    for (std::size_t first = 0; first < points.size(); first += most) {
      const std::span<const Vec3> part(points.data() + first, std::min(most, points.size() - first));
      const MadeHull made = make_hull(part);
      const auto& corners = made.hull.vertices;
      if (made.fault.empty()) {
        kept.insert(kept.end(), corners.begin(), corners.end());
      } else {
        kept.insert(kept.end(), part.begin(), part.end());
      }
    }
    points = std::move(kept);
  }
  return points;
}

MeshPoints make_mesh_points(std::string_view name, std::string_view bytes, const Vec3& scale) {
  SurfaceFile file = parse_surface(name, bytes);
  MeshPoints made;
  made.problem = std::move(file.problem);
  if (!made.problem.empty()) return made;
  for (Vec3& p : file.vertices) p = p.cwiseProduct(scale);
  made.points = keep_hull_points(std::move(file.vertices));
  return made;
}

HeightFile parse_csv(std::string_view text) {
  HeightFile file;
  TextLines lines(text);
  std::string_view line;
  while (lines.next(&line)) {
    line = line.substr(0, line.find('#'));
    std::size_t columns = 0;
    for (;;) {
      const std::string_view word = take_word(&line, " \t\r\f\v,;");
      if (word.empty()) break;
      const auto x = as_finite(word);
      if (!x) return fail_heights(lines.fault(cut(word) + " is not a finite number"));
      file.heights.push_back(*x);
      ++columns;
      if (file.heights.size() > kMaxTriangles) {
        return fail_heights(lines.fault("more than the limit of " + std::to_string(kMaxTriangles) + " heights"));
      }
    }
    if (columns == 0) continue;
    if (file.columns != 0 && columns != file.columns) {
      return fail_heights(lines.fault("has " + std::to_string(columns) + " numbers, the rows before it " +
                                      std::to_string(file.columns)));
    }
    file.columns = columns;
  }
  if (file.columns == 0) return fail_heights("no numbers in it");
  return file;
}

HeightFile parse_pgm(std::string_view bytes) {
  const bool plain = bytes.starts_with("P2"), raw = bytes.starts_with("P5");
  if (!plain && !raw) return fail_heights("no grey map: it begins with neither P2 nor P5");
  std::size_t at = 2;
  const auto width = take_header_number(bytes, &at), height = take_header_number(bytes, &at),
             most = take_header_number(bytes, &at);
  if (!width || !height || !most || *width < 1 || *height < 1 || *most < 1 || *most > 65535) {
    return fail_heights("its header is broken: it needs a width, a height and the value of white (1 to 65535)");
  }
  if (*width > kMaxTriangles || *height > kMaxTriangles || *width * *height > kMaxTriangles) {
    return fail_heights("has " + std::to_string(*width) + " x " + std::to_string(*height) +
                        " points, more than the limit of " + std::to_string(kMaxTriangles));
  }
  const std::size_t count = *width * *height, wide = *most > 255 ? 2 : 1;
  ++at;  // the one blank after the header
  if (raw && (at > bytes.size() || bytes.size() - at < count * wide)) return fail_heights("it is cut off");
  HeightFile file;
  file.columns = *width;
  file.heights.resize(count);
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t value = 0;
    if (raw) {
      for (std::size_t i = 0; i < wide; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at++]);
    } else {
      if (at > bytes.size()) return fail_heights("it is cut off");
      const auto next = take_header_number(bytes, &at);
      if (!next) return fail_heights("point " + std::to_string(k + 1) + " is not a whole number, or it is cut off");
      value = *next;
    }
    if (value > *most) return fail_heights("point " + std::to_string(k + 1) + " is brighter than white");
    const std::size_t row = *height - 1 - k / *width;
    file.heights[row * *width + k % *width] = static_cast<double>(value) / static_cast<double>(*most);
  }
  return file;
}

HeightFile parse_heights(std::string_view name, std::string_view bytes) {
  if (ends_in(name, ".csv") || ends_in(name, ".txt")) return parse_csv(bytes);
  if (ends_in(name, ".pgm")) return parse_pgm(bytes);
  return fail_heights("unknown kind of file; heights are read from .csv, .txt and .pgm");
}

}  // namespace slipstick
