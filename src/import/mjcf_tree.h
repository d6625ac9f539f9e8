// The tree of an MJCF file: includes, defaults, the compiler's settings, and how places and orientations are written.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "import/import_assets.h"
#include "import/robot.h"

namespace slipstick {

struct MjcfCompiler {
  bool degrees = true, autolimits = true, balance_inertia = false;
  std::string eulerseq = "xyz", meshdir, assetdir;
  bool exact_mesh_inertia = false, strip_path = false, fit_aabb = false;
  int inertia_from_geom = 2;  ///< false, true, auto
  std::array<double, 2> inertia_groups{-1e9, 1e9};
  double total_mass = -1, least_mass = 0, least_inertia = 0;
};

class MjcfTree {
 public:
  MjcfTree(XmlElement* root, ImportAssets* assets, ImportContext* context)
      : root_(*root), assets_(*assets), context_(*context) {}

  /// Includes, settings, defaults; false if the rest makes no sense.
  bool read();
  const MjcfCompiler& compiler() const { return compiler_; }
  double angle() const;  ///< factor of the file's angles to radians

  /// The element with the defaults of its class, or of `childclass`, behind it. Actuators share one set of defaults.
  ImportElement make(const XmlElement& xml, const std::string& childclass) const;
  /// `childclass` of a body or frame, or `outer` where it has none; a fault if there is no such class.
  std::string read_childclass(const ImportElement& element, const std::string& outer) const;
  /// pos and one of quat, axisangle, xyaxes, zaxis, euler.
  Pose read_pose(const ImportElement& element) const;
  /// Numbers that each element of the chain may give the first ones of.
  std::vector<double> overlay(const ImportElement& element, std::string_view name, std::vector<double> start) const;
  /// Children of all elements of this name under the root (sections may stand several times).
  std::vector<const XmlElement*> section(std::string_view name) const;
  /// A fault for each child that is not known.
  void check_children(const XmlElement& parent, const KeyList& known) const;

 private:
  struct Class {
    std::string parent;
    std::vector<const XmlElement*> xml;  ///< several if the class stands in several <default> sections
  };
  void expand(XmlElement* parent, const std::filesystem::path& folder, int depth);
  void replicate(XmlElement* parent);
  std::vector<std::unique_ptr<XmlElement>> make_copies(const XmlElement& xml);
  void read_compiler(const XmlElement& xml);
  void read_defaults(const XmlElement& xml, const std::string& parent);
  bool find_turn(const ImportElement& level, Quat* out) const;

  XmlElement& root_;
  ImportAssets& assets_;
  ImportContext& context_;
  MjcfCompiler compiler_;
  std::map<std::string, Class> classes_;
  std::vector<std::string> included_;
  std::size_t copied_ = 0;  ///< elements, by <replicate>
};

bool is_actuator(const std::string& name);

}  // namespace slipstick
