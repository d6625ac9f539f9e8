// What the <asset> section of an MJCF file names: meshes, height fields, colours of materials.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "import/mesh_matter.h"
#include "import/mjcf_tree.h"

namespace slipstick {

class MjcfAssets {
 public:
  MjcfAssets(const MjcfTree& tree, ImportAssets* assets, ImportContext* context)
      : tree_(tree), assets_(*assets), context_(*context) {}

  void read();

  struct Mesh {
    const XmlElement* xml = nullptr;
    bool tried = false;
    std::shared_ptr<const ImportMesh> mesh;
    Pose reference;  ///< refpos, refquat
    MeshMatter matter = MeshMatter::Box;
  };
  /// The mesh that a geom names, read when it is first asked for; null and a fault if there is none.
  const Mesh* find_mesh(const ImportElement& geom);
  /// The surface of the height field that a geom names; null with a fault.
  std::shared_ptr<const Surface> find_heightfield(const ImportElement& geom);
  /// "#rrggbb" of a material; empty: none.
  std::string color(const std::string& material) const;

 private:
  void load_mesh(const std::string& name, Mesh* asset);
  /// The file of a mesh or height field, as `meshdir`, `assetdir` and `strippath` have it.
  std::optional<std::filesystem::path> find_file(const ImportElement& element);
  /// Numbers of a height field from its file: a PNG, or MuJoCo's own binary one; false with a fault.
  bool read_heights(const ImportElement& field, int* rows, int* columns, std::vector<double>* heights);
  void make_mesh(const ImportElement& element, const std::string& name, const Vec3& scale, Mesh* asset);

  const MjcfTree& tree_;
  ImportAssets& assets_;
  ImportContext& context_;
  std::map<std::string, Mesh> meshes_;
  std::map<std::string, const XmlElement*> hfields_;
  std::map<std::string, std::string> colors_;
};

}  // namespace slipstick
