// A recording as one glTF 2.0 file (.glb) with its motion as an animation: a node for each body, under it one for each
// of its shapes. Reference: Khronos glTF 2.0 specification.
#include <slipstick/app/view.h>

#include "view/clip.h"
#include "view/solid_mesh.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace slipstick {

namespace {

constexpr std::size_t kMaxGltfPoses = 4'000'000;
constexpr int kFloat = 5126, kUnsigned = 5125;      // component types
constexpr int kVertices = 34962, kIndices = 34963;  // uses of a buffer
const char* const kPalette[] = {"#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#997755"};

class Glb {
 public:
  Json json{{"asset", {{"version", "2.0"}, {"generator", "slipstick"}}},
            {"scene", 0},
            {"nodes", Json::array()},
            {"meshes", Json::array()},
            {"materials", Json::array()},
            {"accessors", Json::array()},
            {"bufferViews", Json::array()}};

  /// Numbers into the file; returns the accessor. `use` 0: an animation's.
  template <class T>
  std::size_t add(const std::vector<T>& values, std::size_t width, int use, bool bounds = false) {
    static_assert(sizeof(T) == 4);
    const char* const types[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
    Json view{{"buffer", 0}, {"byteOffset", bytes_.size()}, {"byteLength", values.size() * sizeof(T)}};
    if (use != 0) view["target"] = use;
    Json accessor{{"bufferView", json["bufferViews"].size()},
                  {"componentType", std::is_same_v<T, float> ? kFloat : kUnsigned},
                  {"count", values.size() / width},
                  {"type", types[width - 1]}};
    if (bounds) add_bounds(values, width, &accessor);
    json["bufferViews"].push_back(std::move(view));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    json["accessors"].push_back(std::move(accessor));
    return json["accessors"].size() - 1;
  }

  /// The file: header, JSON, numbers.
  std::string bytes() {
    json["buffers"] = Json::array({{{"byteLength", bytes_.size()}}});
    std::string text = make_text(json);
    text.resize((text.size() + 3) / 4 * 4, ' ');
    bytes_.resize((bytes_.size() + 3) / 4 * 4, '\0');
    std::string file;
    const auto word = [&](std::size_t value) {
      for (int k = 0; k < 4; ++k) file += static_cast<char>(value >> (8 * k) & 0xff);
    };
    file += "glTF";
    word(2);
    word(12 + 8 + text.size() + 8 + bytes_.size());
    word(text.size());
    file += "JSON" + text;
    word(bytes_.size());
    file += std::string("BIN\0", 4) + bytes_;
    return file;
  }

 private:
  template <class T>
  static void add_bounds(const std::vector<T>& values, std::size_t width, Json* accessor) {
    std::vector<T> low(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(width)), high = low;
    for (std::size_t i = 0; i < values.size(); ++i) {
      low[i % width] = std::min(low[i % width], values[i]);
      high[i % width] = std::max(high[i % width], values[i]);
    }
    (*accessor)["min"] = low;
    (*accessor)["max"] = high;
  }

  std::string bytes_;
};

/// "#rrggbb" or "#rgb" to linear light.
std::array<double, 3> read_color(const std::string& text) {
  std::string digits = text.starts_with('#') ? text.substr(1) : "";
  if (digits.size() == 3) digits = {digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]};
  std::array<double, 3> color{0.5, 0.5, 0.5};
  if (digits.size() != 6 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return color;
  for (std::size_t k = 0; k < 3; ++k) {
    const double value = std::stoi(digits.substr(2 * k, 2), nullptr, 16) / 255.0;
    color[k] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return color;
}

std::vector<float> flatten(const std::vector<std::array<float, 3>>& rows) {
  std::vector<float> flat;
  for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  return flat;
}

/// glTF's quaternions end with the real part.
Json make_rotation(const double* wxyz) { return {wxyz[1], wxyz[2], wxyz[3], wxyz[0]}; }

class Writer {
 public:
  explicit Writer(const Clip& clip) : clip_(clip), header_(clip.reader().header()) {}

  std::optional<std::string> write() {
    const auto poses = clip_.read_poses(0, clip_.frames());
    if (!poses) return std::nullopt;
    poses_ = *poses;
    size_ = calc_size();
    add_nodes();
    add_animation();
    glb_.json["scenes"] = Json::array({{{"name", header_.name}, {"nodes", {0}}}});
    for (const char* list : {"meshes", "materials", "animations"})
      if (glb_.json.contains(list) && glb_.json[list].empty()) glb_.json.erase(list);
    return glb_.bytes();
  }

 private:
  const double* pose(std::size_t frame, std::size_t body) const {
    return poses_.data() + (frame * clip_.bodies() + body) * 7;
  }

  /// How far bodies are from the origin at first.
  double calc_size() const {
    double size = clip_.body_size();
    for (std::size_t i = 0; i < clip_.bodies(); ++i) {
      const double* p = pose(0, i);
      size = std::max(size, std::hypot(p[0], p[1], p[2]));
    }
    return size;
  }

  std::string color_of(const RecordShape& shape) const {
    if (!shape.color.empty()) return shape.color;
    const auto body = static_cast<std::size_t>(std::max(0, shape.body));
    if (shape.body < 0 || header_.body_kinds[body] == 1) return "#8a8f98";
    return kPalette[body % std::size(kPalette)];
  }

  /// Equal shapes of one colour share a mesh.
  std::optional<std::size_t> find_mesh(const RecordShape& shape) {
    const std::string &kind = header_.shape_kinds[static_cast<std::size_t>(shape.kind)], color = color_of(shape);
    Json key{kind, color, shape.size, shape.radius, shape.length, shape.points, shape.vertices, shape.triangles};
    const auto [entry, is_new] = meshes_.try_emplace(key.dump(), 0);
    if (!is_new) return entry->second;
    const SolidMesh solid = make_solid_mesh(shape, kind, 3 * size_ + 10 * clip_.body_size(), 0.1 * clip_.body_size());
    if (solid.index.empty()) {
      meshes_.erase(entry);
      return std::nullopt;
    }
    const auto [material, is_new_color] = materials_.try_emplace(color, materials_.size());
    if (is_new_color) {
      const auto [r, g, b] = read_color(color);
      glb_.json["materials"].push_back(
          {{"name", color},
           {"pbrMetallicRoughness",
            {{"baseColorFactor", {r, g, b, 1.0}}, {"metallicFactor", 0.0}, {"roughnessFactor", 0.6}}},
           {"doubleSided", true}});
    }
    const std::size_t position = glb_.add(flatten(solid.position), 3, kVertices, true);
    const std::size_t normal = glb_.add(flatten(solid.normal), 3, kVertices);
    const std::size_t index = glb_.add(solid.index, 1, kIndices);
    entry->second = glb_.json["meshes"].size();
    glb_.json["meshes"].push_back(
        {{"name", kind},
         {"primitives", Json::array({{{"attributes", {{"POSITION", position}, {"NORMAL", normal}}},
                                      {"indices", index},
                                      {"material", material->second}}})}});
    return entry->second;
  }

  /// Of the body that a shape belongs to; node 0 stands for the world.
  static std::size_t node_of(const RecordShape& shape) {
    return shape.body < 0 ? 0 : static_cast<std::size_t>(shape.body) + 1;
  }

  void add_nodes() {
    Json& nodes = glb_.json["nodes"];
    const double half = std::sqrt(0.5);
    nodes.push_back({{"name", header_.name.empty() ? "scene" : header_.name}, {"children", Json::array()}});
    if (!header_.planar) nodes[0]["rotation"] = {-half, 0.0, 0.0, half};  // glTF's up is y, ours z
    for (std::size_t i = 0; i < clip_.bodies(); ++i) {
      const double* p = pose(0, i);
      nodes[0]["children"].push_back(nodes.size());
      nodes.push_back(
          {{"name", header_.bodies[i]}, {"translation", {p[0], p[1], p[2]}}, {"rotation", make_rotation(p + 3)}});
    }
    std::vector<bool> dressed(clip_.bodies() + 1);  // bodies of robots: their meshes are seen, not what touches
    for (const RecordShape& shape : header_.shapes)
      if (shape.visual_only && !shape.triangles.empty()) dressed[node_of(shape)] = true;
    for (std::size_t k = 0; k < header_.shapes.size(); ++k) {
      const RecordShape& shape = header_.shapes[k];
      const std::size_t owner = node_of(shape);
      const auto mesh = dressed[owner] && !shape.visual_only ? std::nullopt : find_mesh(shape);
      if (!mesh) continue;
      const double* p = shape.pose.data();
      nodes[owner]["children"].push_back(nodes.size());
      nodes.push_back({{"name", nodes[owner]["name"].get<std::string>() + " shape " + std::to_string(k)},
                       {"mesh", *mesh},
                       {"translation", {p[0], p[1], p[2]}},
                       {"rotation", make_rotation(p + 3)}});
    }
  }

  bool moves(std::size_t body) const {
    for (std::size_t k = 1; k < clip_.frames(); ++k)
      if (!std::equal(pose(k, body), pose(k, body) + 7, pose(0, body))) return true;
    return false;
  }

  void add_animation() {
    const std::vector<double>& times = clip_.reader().series().time;
    std::vector<float> time;
    for (std::size_t k = 0; k < clip_.frames(); ++k)
      time.push_back(static_cast<float>(times[clip_.index(k)] - times.front()));
    Json channels = Json::array(), samplers = Json::array();
    std::optional<std::size_t> clock;
    for (std::size_t i = 0; i < clip_.bodies(); ++i) {
      if (!moves(i)) continue;
      if (!clock) clock = glb_.add(time, 1, 0, true);
      std::vector<float> translation, rotation;
      for (std::size_t k = 0; k < clip_.frames(); ++k) add_pose(pose(k, i), &translation, &rotation);
      for (const auto& [path, output] :
           {std::pair{"translation", glb_.add(translation, 3, 0)}, std::pair{"rotation", glb_.add(rotation, 4, 0)}}) {
        channels.push_back({{"sampler", samplers.size()}, {"target", {{"node", i + 1}, {"path", path}}}});
        samplers.push_back({{"input", *clock}, {"output", output}, {"interpolation", "LINEAR"}});
      }
    }
    if (!channels.empty())
      glb_.json["animations"] = Json::array({{{"name", "run"}, {"channels", channels}, {"samplers", samplers}}});
  }

  /// Of q and -q, which turn alike, the one nearer to the frame before: players go the short way between them.
  static void add_pose(const double* p, std::vector<float>* translation, std::vector<float>* rotation) {
    for (int k = 0; k < 3; ++k) translation->push_back(static_cast<float>(p[k]));
    const double q[] = {p[4], p[5], p[6], p[3]};
    double along = 0;
    const std::size_t n = rotation->size();
    for (std::size_t k = 0; n >= 4 && k < 4; ++k) along += q[k] * static_cast<double>((*rotation)[n - 4 + k]);
    for (const double value : q) rotation->push_back(static_cast<float>(along < 0 ? -value : value));
  }

  const Clip& clip_;
  const RecordHeader& header_;
  Glb glb_;
  std::vector<double> poses_;
  double size_ = 1;
  std::map<std::string, std::size_t> meshes_, materials_;
};

}  // namespace

Result<std::string> make_gltf(const std::string& recording, double frames_per_second) {
  auto reader = RecordReader::open(recording);
  if (!reader) return reader.faults();
  const double span = reader->series().time.back() - reader->series().time.front();
  const auto frames = static_cast<std::size_t>(std::max(2.0, std::ceil(span * frames_per_second * 1.02) + 2));
  const Clip clip(std::move(reader).value(), frames, kMaxGltfPoses);
  auto file = Writer(clip).write();
  if (!file) return Fault{{recording, 0, 0}, "the recording cannot be read to its end"};
  return std::move(*file);
}

}  // namespace slipstick
