#include "import/import_explain.h"

#include <algorithm>

#include "scene/scene_item.h"

namespace slipstick {

std::string explain_urdf(const std::string& element, const std::string& attribute) {
  if (element == "gazebo" || element == "plugin") return "belongs to Gazebo";
  if (element == "transmission") return "belongs to a controller";
  if (element == "sensor") return "scenes have no sensors yet";
  if (element == "safety_controller" || element == "calibration") return "belongs to the robot's own software";
  if (element == "limit" && attribute == "velocity") return "the engine bounds forces, not speeds";
  if (element == "limit") return "only revolute and prismatic joints have a range and an effort";
  if (element == "texture") return "textures are not drawn";
  if (element == "mesh" || element == "capsule") return "not a form of URDF that is read";
  return attribute.empty() ? "unknown to URDF: not modelled" : "not modelled";
}

std::string explain_mjcf(const std::string& element, const std::string& attribute) {
  const auto is = [&](const KeyList& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  if (is({"visual", "statistic", "light", "camera", "texture", "skin", "headlight", "map", "quality", "rgba"}, element))
    return "is only for drawing";
  if (is({"solref", "solimp", "solreflimit", "solimplimit", "solreffriction", "solimpfriction", "solmix", "margin",
          "gap"},
         attribute))
    return "contacts and limits are hard here: nothing to soften";
  if (element == "option" || element == "flag" || element == "size")
    return "belongs to MuJoCo's own integrator, solver or medium";
  if (is({"muscle", "adhesion", "plugin", "extension", "composite", "flexcomp", "deformable", "flex", "skin"}, element))
    return "cannot be modelled by rigid bodies with hard contact";
  if (element == "attach" || element == "model")
    return "models within models are not read: let MuJoCo write the whole as one file (mj_saveLastXML)";
  if (element == "sensor" || attribute == "sensor") return "scenes have no sensors yet";
  if (element == "site") return "sites without a name or a use are left out";
  if (element == "key") return "another keyframe (--key chooses one)";
  if (is({"material", "user", "group", "rgba", "width", "reflectance", "shininess", "specular", "texrepeat",
          "texuniform"},
         attribute) ||
      element == "material")
    return "is only for drawing or for the user";
  return "not modelled";
}

}  // namespace slipstick
