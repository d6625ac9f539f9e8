#include "import/mjcf_assets.h"

#include <algorithm>

#include "base/as_quoted.h"
#include "import/height_picture.h"
#include "import/urdf.h"

namespace slipstick {
namespace {

constexpr std::size_t kMaxHeightBytes = 64u << 20;
constexpr int kMaxHeightRow = 10000;

}  // namespace

void MjcfAssets::read() {
  for (const XmlElement* xml : tree_.section("asset")) {
    const ImportElement asset = tree_.make(*xml, "");
    std::string name;
    asset.text("name", &name);
    if (xml->name == "mesh") {
      asset.check_names({"name", "class", "file", "scale", "vertex", "face", "normal", "texcoord", "refpos", "refquat",
                         "inertia", "smoothnormal", "maxhullvert", "content_type", "builtin", "params", "material"});
      if (name.empty() && asset.has("file")) name = std::filesystem::path(asset.find("file")->value).stem().string();
      if (!name.empty()) meshes_[name].xml = xml;
    } else if (xml->name == "material") {
      std::vector<double> rgba;
      if (asset.numbers("rgba", 3, 4, &rgba)) colors_[name] = as_color(rgba[0], rgba[1], rgba[2]);
    } else {
      if (xml->name == "hfield") {
        if (name.empty() && asset.has("file")) name = std::filesystem::path(asset.find("file")->value).stem().string();
        hfields_[name] = xml;
      }
      xml->used = false;
    }
  }
}

std::string MjcfAssets::color(const std::string& material) const {
  const auto found = colors_.find(material);
  return found == colors_.end() ? "" : found->second;
}

const MjcfAssets::Mesh* MjcfAssets::find_mesh(const ImportElement& geom) {
  const XmlAttribute& at = *geom.find("mesh");
  const auto found = meshes_.find(at.value);
  if (found == meshes_.end()) {
    KeyList known;
    for (const auto& [name, mesh] : meshes_) known.push_back(name);
    geom.fault(at, "unknown mesh " + as_quoted(at.value) + " in " + geom.label() + as_suggestion(at.value, known));
    return nullptr;
  }
  Mesh& asset = found->second;
  if (!asset.tried) load_mesh(at.value, &asset);
  asset.tried = true;
  return asset.mesh ? &asset : nullptr;
}

void MjcfAssets::load_mesh(const std::string& name, Mesh* asset) {
  const ImportElement element = tree_.make(*asset->xml, "");
  Vec3 scale = Vec3::Ones();
  constexpr std::array kWays{MeshMatter::Convex, MeshMatter::Exact, MeshMatter::Legacy, MeshMatter::Shell};
  int way = 0;
  asset->matter = tree_.compiler().exact_mesh_inertia ? MeshMatter::Exact : MeshMatter::Box;
  if (element.word("inertia", {"convex", "exact", "legacy", "shell"}, &way)) asset->matter = kWays[way];
  element.vector("scale", &scale);
  element.vector("refpos", &asset->reference.position);
  std::vector<double> q;
  if (element.numbers("refquat", 4, 4, &q)) asset->reference.orientation = Quat(q[0], q[1], q[2], q[3]).normalized();
  // MuJoCo moves by refpos, turns by refquat, then scales; here the mesh is scaled first.
  asset->reference.position = asset->reference.position.cwiseProduct(scale);
  const bool uneven = (scale.array() != scale.x()).any();
  if (uneven && !q.empty() && asset->reference.orientation.vec().norm() > 1e-12)
    context_.note(context_.place_of(element.xml()), element.label(),
                  "has a refquat and a scale that differs between axes: it is scaled along the axes of the file");
  if (!element.has("file")) return make_mesh(element, name, scale, asset);
  const auto path = find_file(element);
  if (path) asset->mesh = assets_.read_mesh(element, *element.find("file"), *path, scale);
}

std::optional<std::filesystem::path> MjcfAssets::find_file(const ImportElement& element) {
  const MjcfCompiler& compiler = tree_.compiler();
  const XmlAttribute& at = *element.find("file");
  std::string name = at.value;
  if (compiler.strip_path) name.erase(0, name.find_last_of("/\\") + 1);  // nothing before the last of them
  const std::string& folder = compiler.meshdir.empty() ? compiler.assetdir : compiler.meshdir;
  return assets_.find(element, at, name, assets_.folder() / folder);
}

void MjcfAssets::make_mesh(const ImportElement& element, const std::string& name, const Vec3& scale, Mesh* asset) {
  std::vector<double> v, f;
  if (!element.require("vertex") || !element.numbers("vertex", 12, 1u << 20, &v)) return;
  element.numbers("face", 3, 1u << 20, &f);
  std::vector<Vec3> vertices;
  for (std::size_t k = 0; k + 2 < v.size(); k += 3)
    vertices.push_back(Vec3(v[k], v[k + 1], v[k + 2]).cwiseProduct(scale));
  std::vector<Triangle> triangles;
  for (std::size_t k = 0; k + 2 < f.size(); k += 3) {
    Triangle t{};
    for (int c = 0; c < 3; ++c) {
      if (!(f[k + c] >= 0 && f[k + c] < static_cast<double>(vertices.size())))
        return element.fault("a face of " + element.label() + " names a vertex that is not there");
      t[c] = static_cast<std::int32_t>(f[k + c]);
    }
    triangles.push_back(t);
  }
  asset->mesh = ImportAssets::make_mesh(name, std::move(vertices), std::move(triangles));
}

bool MjcfAssets::read_heights(const ImportElement& field, int* rows, int* columns, std::vector<double>* heights) {
  const auto path = find_file(field);
  if (!path) return false;
  const XmlAttribute& at = *field.find("file");
  const FileBytes content = read_file_bytes(*path, kMaxHeightBytes);
  GreyPicture picture;
  if (!content.problem.empty()) {
    picture.problem = content.problem;
  } else {
    assets_.add_name(*path);
    std::string ending = path->extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
    picture = ending == ".png" ? parse_png(content.bytes) : parse_mujoco_heights(content.bytes);
  }
  if (!picture.problem.empty())
    return field.fault(at, "file " + as_quoted(at.value) + " of " + field.label() + ": " + picture.problem), false;
  *rows = picture.rows;
  *columns = picture.columns;
  *heights = std::move(picture.values);
  return true;
}

std::shared_ptr<const Surface> MjcfAssets::find_heightfield(const ImportElement& geom) {
  const XmlAttribute* name = geom.find("hfield");
  const auto found = name == nullptr ? hfields_.end() : hfields_.find(name->value);
  if (found == hfields_.end()) {
    KeyList known;
    for (const auto& [each, xml] : hfields_) known.push_back(each);
    const std::string wanted = name == nullptr ? "" : name->value;
    geom.fault("unknown hfield " + as_quoted(wanted) + " in " + geom.label() + as_suggestion(wanted, known));
    return nullptr;
  }
  const ImportElement field(*found->second, &context_.faults);
  int rows = 0, columns = 0;
  std::vector<double> size, heights;
  field.integer("nrow", &rows);
  field.integer("ncol", &columns);
  if (!field.numbers("size", 4, 4, &size)) return field.require("size"), nullptr;
  field.find("name");
  if (field.has("file")) {
    if (!read_heights(field, &rows, &columns, &heights)) return nullptr;
  } else if (!field.has("elevation")) {  // flat until a program fills it
    if (rows < 2 || columns < 2 || rows > kMaxHeightRow || columns > kMaxHeightRow)
      return field.fault("nrow and ncol of " + field.label() + " must be from 2 to " + std::to_string(kMaxHeightRow)),
             nullptr;
    heights.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 0);
  } else if (!field.numbers("elevation", 4, 1u << 20, &heights)) {
    return nullptr;
  }
  if (rows < 2 || columns < 2 || heights.size() / static_cast<std::size_t>(columns) != static_cast<std::size_t>(rows) ||
      heights.size() % static_cast<std::size_t>(columns) != 0)
    return field.fault("elevation of " + field.label() + " must have nrow x ncol numbers, 2 x 2 at least"), nullptr;
  const auto [low, high] = std::minmax_element(heights.begin(), heights.end());
  const double least = *low, range = *high - least;
  for (double& h : heights) h = range > 0 ? size[2] * (h - least) / range : 0;
  // Rows of MJCF and of pictures run from the greatest y on.
  std::vector<double> turned;
  const auto n = static_cast<std::ptrdiff_t>(columns);
  for (std::ptrdiff_t r = rows; r-- > 0;)
    turned.insert(turned.end(), heights.begin() + r * n, heights.begin() + (r + 1) * n);
  MadeSurface made = make_heightfield(turned, static_cast<std::size_t>(columns), 2 * size[0], 2 * size[1]);
  if (!made.problem.empty()) field.fault(field.label() + ": " + made.problem);
  return made.surface;
}

}  // namespace slipstick
