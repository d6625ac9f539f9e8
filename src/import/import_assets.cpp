#include "import/import_assets.h"

#include <slipstick/hull.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "base/as_quoted.h"
#include "scene/surface_file.h"

namespace slipstick {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxMeshBytes = 512u << 20;
constexpr std::size_t kMaxMeshFiles = 10000;

fs::path as_real(const fs::path& path) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(fs::absolute(path.empty() ? fs::path(".") : path, error), error);
  return error ? path.lexically_normal() : result;
}

bool lies_below(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end() || (std::next(end) == folder.end() && end->empty());
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// The folders of a list such as ROS_PACKAGE_PATH.
std::vector<fs::path> list_folders(const char* variable, const char* below) {
  std::vector<fs::path> folders;
  const char* given = std::getenv(variable);
  std::string rest = given != nullptr ? given : "";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string one = rest.substr(0, colon);
    if (!one.empty()) folders.push_back(fs::path(one) / below);
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return folders;
}

std::string lower_ending(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

std::string join_folders(const std::vector<fs::path>& folders) {
  std::string text;
  for (const fs::path& each : folders) text += (text.empty() ? "" : ", ") + each.string();
  return text;
}

}  // namespace

FileBytes read_file_bytes(const fs::path& path, std::size_t limit) {
  FileBytes result;
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    result.problem = "is not a regular file";
    return result;
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    result.problem = "cannot open the file: " + std::generic_category().message(errno);
    return result;
  }
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > limit) {
    result.problem = "has " + std::to_string(size) + " bytes, more than the limit of " + std::to_string(limit);
    return result;
  }
  result.bytes.assign(std::istreambuf_iterator<char>(stream), {});
  return result;
}

ImportAssets::ImportAssets(const std::string& main_file, const SceneLoadOptions& options, SceneFaults* faults)
    : options_(options), faults_(faults), folder_(as_real(fs::path(main_file).parent_path())) {
  allowed_.push_back(folder_);
  // A package's root, or the folder beside which models and meshes usually lie.
  std::error_code error;
  for (fs::path above = folder_; above.has_relative_path(); above = above.parent_path()) {
    if (!fs::exists(above / "package.xml", error)) continue;
    allowed_.push_back(above);
    break;
  }
  for (const char* usual : {"urdf", "robots", "mjcf", "xml", "model", "models"})
    if (folder_.filename() == usual && folder_.parent_path().has_relative_path())
      allowed_.push_back(folder_.parent_path());
}

bool ImportAssets::may_read(const fs::path& real) const {
  if (options_.allow_path) return true;
  return std::any_of(allowed_.begin(), allowed_.end(), [&](const fs::path& each) { return lies_below(real, each); });
}

std::optional<fs::path> ImportAssets::find(const ImportElement& element, const XmlAttribute& at,
                                           const std::string& name, const fs::path& folder) {
  const fs::path real = as_real((folder / name).lexically_normal());
  if (!may_read(real)) {
    element.fault(at, "file " + as_quoted(name) + " in " + element.label() +
                          " lies outside the model's folder; allow it with --allow-path");
    return std::nullopt;
  }
  if (is_file(real)) return real;
  element.fault(at,
                "file " + as_quoted(name) + " in " + element.label() + " is not there; looked for " + real.string());
  return std::nullopt;
}

std::optional<fs::path> ImportAssets::find_package(const ImportElement& element, const XmlAttribute& at,
                                                   const std::string& uri) {
  const fs::path inner = fs::path(uri).lexically_normal();
  const bool climbs = std::any_of(inner.begin(), inner.end(), [](const fs::path& part) { return part == ".."; });
  if (inner.empty() || inner.is_absolute() || climbs) {
    element.fault(at, "'package://" + uri + "' in " + element.label() + " leaves its package");
    return std::nullopt;
  }
  std::vector<fs::path> roots = list_folders("ROS_PACKAGE_PATH", "");
  for (fs::path& each : list_folders("AMENT_PREFIX_PATH", "share")) roots.push_back(each);
  for (const fs::path& root : roots)
    if (const fs::path real = as_real(root / inner); is_file(real) && lies_below(real, as_real(root))) return real;
  // Folders above the model: the package beside it, or the package's own folder under another name (two parts of the
  // path at least must agree).
  std::vector<fs::path> above;
  for (fs::path each = folder_; each.has_relative_path(); each = each.parent_path()) above.push_back(each);
  for (const fs::path& root : above) {
    fs::path rest = inner;
    while (std::distance(rest.begin(), rest.end()) >= 2) {
      if (const fs::path real = as_real(root / rest); is_file(real) && lies_below(real, root)) return real;
      fs::path shorter;
      for (auto part = std::next(rest.begin()); part != rest.end(); ++part) shorter /= *part;
      rest = shorter;
    }
  }
  roots.insert(roots.end(), above.begin(), above.end());
  element.fault(at, "'package://" + uri + "' in " + element.label() + " is not there; looked in " +
                        join_folders(roots) + " (set ROS_PACKAGE_PATH to the folder of the package)");
  return std::nullopt;
}

std::shared_ptr<const ImportMesh> ImportAssets::make_mesh(const std::string& name, std::vector<Vec3> vertices,
                                                          std::vector<Triangle> triangles) {
  auto made = std::make_shared<ImportMesh>();
  made->name = name;
  made->hull = keep_hull_points(vertices);
  if (triangles.empty()) {  // only points: their hull is the mesh
    const MadeHull hull = make_hull(made->hull);
    vertices = hull.hull.vertices;
    for (const HullFace& face : hull.hull.faces)
      for (int k = 2; k < face.count; ++k)
        triangles.push_back(
            {hull.hull.loops[face.first], hull.hull.loops[face.first + k - 1], hull.hull.loops[face.first + k]});
    made->problem = hull.fault;
    if (!hull.fault.empty()) return made;
  }
  MadeSurface surface = make_surface(std::move(vertices), std::move(triangles));
  made->surface = std::move(surface.surface);
  made->problem = std::move(surface.problem);
  return made;
}

std::shared_ptr<const ImportMesh> ImportAssets::read_mesh(const ImportElement& element, const XmlAttribute& at,
                                                          const fs::path& path, const Vec3& scale) {
  std::string key = path.string();
  for (const double s : scale) key += " " + std::to_string(std::bit_cast<std::uint64_t>(s));
  if (const auto known = meshes_.find(key); known != meshes_.end()) return known->second;
  const auto fail = [&](const std::string& why) {
    element.fault(at, "mesh " + as_quoted(path.string()) + " of " + element.label() + ": " + why);
    return meshes_[key] = nullptr;
  };
  if (meshes_.size() >= kMaxMeshFiles) return fail("more than " + std::to_string(kMaxMeshFiles) + " meshes");
  if (!scale.allFinite() || !(scale.cwiseAbs().minCoeff() > 0)) return fail("its scale must not be zero");
  FileBytes content = read_file_bytes(path, kMaxMeshBytes);
  if (!content.problem.empty()) return fail(content.problem);
  names_.push_back(path.string());
  if (progress_) progress_("mesh " + std::to_string(meshes_.size() + 1) + ", " + path.filename().string());
  const std::string ending = lower_ending(path);
  SurfaceFile file = ending == ".obj" || ending == ".stl" ? parse_surface("x" + ending, content.bytes)
                                                          : parse_foreign_mesh(path.filename().string(), content.bytes);
  if (!file.problem.empty()) return fail(file.problem);
  for (Vec3& p : file.vertices) p = p.cwiseProduct(scale);
  if (scale.prod() < 0)  // a mirror image: the outside stays outside
    for (Triangle& t : file.triangles) std::swap(t[1], t[2]);
  return meshes_[key] = make_mesh(path.stem().string(), std::move(file.vertices), std::move(file.triangles));
}

}  // namespace slipstick
