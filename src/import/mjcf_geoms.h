// <geom> of MJCF: shapes, their matter, and how they meet each other.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/mjcf_assets.h"

namespace slipstick {

/// How a geom meets another.
struct MjcfSurface {
  std::array<double, 3> friction{1, 0.005, 0.0001};
  int condim = 3, priority = 0;
  std::string geom = {};  ///< its own, because a <pair> names it
  bool operator==(const MjcfSurface&) const = default;

  double slide() const { return condim == 1 ? 0 : friction[0]; }
  double spin() const { return condim >= 4 ? friction[1] : 0; }
  double roll() const { return condim >= 6 ? friction[2] : 0; }
};

class MjcfGeoms {
 public:
  MjcfGeoms(const MjcfTree& tree, MjcfAssets* assets, MeshUse mesh, ImportContext* context)
      : tree_(tree), assets_(*assets), mesh_(mesh), context_(*context) {}

  void forbid_contact() { no_contact_ = true; }
  /// <pair>, before the geoms: it lets two of them touch whatever their bits say.
  void read_pairs();
  /// Adds a shape to `link`, and its matter to `matter` if that is given.
  void add(const XmlElement& xml, const std::string& childclass, const Pose& frame, RobotLink* link,
           MassProperties* matter);
  /// The materials of all geoms so far, and what they are to each other.
  void make_materials(Robot* robot) const;

 private:
  void read_bits(const ImportElement& geom, ShapeDescription* shape);
  bool read_form(const ImportElement& geom, int type, ShapeDescription* shape);
  bool read_ends(const ImportElement& geom, ShapeDescription* shape, double* length);
  bool read_mesh(const ImportElement& geom, ShapeDescription* shape);
  bool read_hfield(const ImportElement& geom, ShapeDescription* shape);
  /// A primitive with a mesh: it gets the size and place that the mesh has.
  bool fit_mesh(const ImportElement& geom, int type, ShapeDescription* shape);
  void read_surface(const ImportElement& geom, ShapeDescription* shape);
  void read_color(const ImportElement& geom, ShapeDescription* shape);
  MassProperties calc_geom_matter(const ImportElement& geom, const ShapeDescription& shape, bool weighed);
  void add_matter(const ImportElement& geom, const ShapeDescription& shape, MassProperties* sum);
  MjcfSurface meet(const MjcfSurface& a, const MjcfSurface& b) const;

  const MjcfTree& tree_;
  MjcfAssets& assets_;
  MeshUse mesh_;
  ImportContext& context_;
  bool no_contact_ = false;
  std::map<std::string, std::array<std::uint32_t, 2>> pair_bits_;             ///< contype, conaffinity, by geom
  std::map<std::string, std::map<std::string, const XmlElement*>> pairs_of_;  ///< by both geoms
  std::vector<MjcfSurface> surfaces_;
  struct MeshOf {
    std::shared_ptr<const ImportMesh> mesh;
    MeshMatter way;
  };
  std::map<SourceTag, MeshOf> mesh_of_;  ///< the mesh behind a shape
  std::set<const ImportMesh*> noted_;    ///< meshes whose matter was spoken about
};

}  // namespace slipstick
