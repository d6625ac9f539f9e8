// The files that a model names: where they are looked for, and meshes read once each.
#pragma once

#include <slipstick/scene.h>
#include <slipstick/surface.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "import/import_element.h"

namespace slipstick {

/// A mesh as a file has it, times its scale.
struct ImportMesh {
  std::string name;                        ///< of the file, without folder and ending
  std::shared_ptr<const Surface> surface;  ///< null: its triangles make no surface, `problem` says why
  std::string problem;
  std::vector<Vec3> hull;  ///< the points that can be corners of its hull
};

/// Bytes of a file, or why there are none.
struct FileBytes {
  std::string bytes, problem;
};
FileBytes read_file_bytes(const std::filesystem::path& path, std::size_t limit);

class ImportAssets {
 public:
  ImportAssets(const std::string& main_file, const SceneLoadOptions& options, SceneFaults* faults);

  /// A file named by an attribute, relative to `folder`; nothing and a fault, which says where it was looked for, if it
  /// is not there or lies outside the folders that the model may read.
  std::optional<std::filesystem::path> find(const ImportElement& element, const XmlAttribute& at,
                                            const std::string& name, const std::filesystem::path& folder);
  /// package://NAME/rest: ROS_PACKAGE_PATH, AMENT_PREFIX_PATH, and the folders above the model.
  std::optional<std::filesystem::path> find_package(const ImportElement& element, const XmlAttribute& at,
                                                    const std::string& uri);
  /// The mesh in a file; null and a fault if it cannot be read. Each file with each scale is read once.
  std::shared_ptr<const ImportMesh> read_mesh(const ImportElement& element, const XmlAttribute& at,
                                              const std::filesystem::path& path, const Vec3& scale);
  /// One made of numbers in the model itself.
  static std::shared_ptr<const ImportMesh> make_mesh(const std::string& name, std::vector<Vec3> vertices,
                                                     std::vector<Triangle> triangles);

  const std::filesystem::path& folder() const { return folder_; }  ///< of the main file
  /// All files that were read, absolute.
  const std::vector<std::string>& names() const { return names_; }
  void add_name(const std::filesystem::path& path) { names_.push_back(path.string()); }
  /// Somebody who wants to hear of each mesh before it is read.
  void set_progress(std::function<void(const std::string&)> progress) { progress_ = std::move(progress); }

 private:
  bool may_read(const std::filesystem::path& real) const;

  const SceneLoadOptions& options_;
  SceneFaults* faults_;
  std::filesystem::path folder_;                ///< canonical
  std::vector<std::filesystem::path> allowed_;  ///< files stay below one of these
  std::map<std::string, std::shared_ptr<const ImportMesh>> meshes_;
  std::vector<std::string> names_;
  std::function<void(const std::string&)> progress_;
};

struct SurfaceFile;
/// Formats that the scene reader does not know, by assimp; a problem if this build has none.
SurfaceFile parse_foreign_mesh(const std::string& name, const std::string& bytes);

}  // namespace slipstick
