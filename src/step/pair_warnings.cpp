#include "step/pair_warnings.h"

#include <slipstick/surface.h>

#include <algorithm>
#include <set>

namespace slipstick {

void for_each_pair(const Model& model, const std::function<void(const std::string& name, const PairLaw& law)>& visit) {
  struct Users {
    std::set<int> bodies;
    bool moves = false;
    double arm = 0;  ///< the largest of a map of rolling friction
  };
  std::vector<Users> users(model.materials.size());
  for (const Shape& shape : model.shapes) {
    users[shape.material].bodies.insert(shape.body);
    users[shape.material].moves |= shape.body != kWorld && model.bodies[shape.body].dof > 0;
    if (shape.surface < 0) continue;
    for (const double each : model.surfaces[shape.surface]->rolling_friction.values)
      users[shape.material].arm = std::max(users[shape.material].arm, each);
  }
  for (std::size_t a = 0; a < users.size(); ++a) {
    for (std::size_t b = a; b < users.size(); ++b) {
      std::set<int> bodies = users[a].bodies;
      bodies.insert(users[b].bodies.begin(), users[b].bodies.end());
      const bool both = !users[a].bodies.empty() && !users[b].bodies.empty();
      if (!both || bodies.size() < 2 || !(users[a].moves || users[b].moves)) continue;
      PairLaw law = model.pair_law(static_cast<int>(a), static_cast<int>(b));
      law.rolling_friction = std::max({law.rolling_friction, users[a].arm, users[b].arm});
      visit("materials '" + model.materials[a].name + "' and '" + model.materials[b].name + "'", law);
    }
  }
}

std::vector<std::string> find_void_friction(const Model& model) {
  std::vector<std::string> warnings;
  for_each_pair(model, [&](const std::string& pair, const PairLaw& law) {
    if (law.friction > 0 || !(law.rolling_friction > 0 || law.spinning_friction > 0)) return;
    warnings.push_back(pair +
                       ": rolling_friction and spinning_friction do nothing where friction is 0; give the pair " +
                       "some friction");
  });
  return warnings;
}

std::vector<std::string> find_unused_stabilization(std::string_view scheme, std::string_view instead,
                                                   const SimulationOptions& options) {
  if (options.stabilization == SimulationOptions().stabilization) return {};
  return {"scheme " + std::string(scheme) + " does not use `stabilization`; " + std::string(instead)};
}

}  // namespace slipstick
