// What acts between the bodies of an MJCF model: tendons, equality constraints, actuators.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/as_quoted.h"
#include "import/mjcf_tree.h"

namespace slipstick {

struct MjcfSite {
  int link = -1;
  Vec3 at = Vec3::Zero();  ///< in the link's frame
};

/// The names of the tree, and the controls at t = 0 (empty: zero).
struct MjcfNames {
  const std::map<std::string, int>& bodies;
  const std::map<std::string, std::array<int, 2>>& joints;  ///< link, index there
  const std::map<std::string, MjcfSite>& sites;
  const std::set<std::string>& free_joints;
  const std::vector<double>& ctrl;
};

/// A fixed tendon: a sum of coordinates, joint by joint with its coefficient.
struct MjcfSum {
  std::vector<std::pair<std::string, double>> terms;
  bool used = false;  ///< something that is modelled acts on it
};

/// The name that an attribute gives, if something is called so; a fault otherwise.
template <class Map>
bool check_mjcf_name(const ImportElement& element, const char* attribute, const char* what, const Map& known,
                     std::string* out) {
  if (!element.text(attribute, out)) return false;
  if (known.count(*out)) return true;
  KeyList names;
  for (const auto& [each, value] : known) names.push_back(each);
  element.fault(*element.find(attribute), std::string("unknown ") + what + " " + as_quoted(*out) + " in " +
                                              element.label() + as_suggestion(*out, names));
  return false;
}

void read_mjcf_forces(const MjcfTree& tree, const MjcfNames& names, ImportContext* context, Robot* robot);

}  // namespace slipstick
