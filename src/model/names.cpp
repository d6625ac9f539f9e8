#include <slipstick/model.h>

namespace slipstick {

std::string_view name_of(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::Sphere:
      return "sphere";
    case ShapeKind::Box:
      return "box";
    case ShapeKind::Capsule:
      return "capsule";
    case ShapeKind::Plane:
      return "plane";
    case ShapeKind::Disk:
      return "disk";
    case ShapeKind::Polygon:
      return "polygon";
    case ShapeKind::Cylinder:
      return "cylinder";
    case ShapeKind::Cone:
      return "cone";
    case ShapeKind::Ellipsoid:
      return "ellipsoid";
    case ShapeKind::Hull:
      return "hull";
    case ShapeKind::Mesh:
      return "mesh";
    case ShapeKind::Heightfield:
      return "heightfield";
  }
  return "shape";
}

std::string_view name_of(ImpactLaw law) {
  switch (law) {
    case ImpactLaw::Poisson:
      return "poisson";
    case ImpactLaw::Newton:
      return "newton";
    case ImpactLaw::Simplified:
      return "simplified";
  }
  return "impact";
}

std::string_view name_of(JointKind kind) {
  switch (kind) {
    case JointKind::Ball:
      return "ball";
    case JointKind::Hinge:
      return "hinge";
    case JointKind::Slider:
      return "slider";
    case JointKind::Fixed:
      return "fixed";
    case JointKind::Rod:
      return "rod";
  }
  return "joint";
}

int row_count(JointKind kind) {
  switch (kind) {
    case JointKind::Ball:
      return 3;
    case JointKind::Hinge:
    case JointKind::Slider:
      return 5;
    case JointKind::Fixed:
      return 6;
    case JointKind::Rod:
      return 1;
  }
  return 0;
}

std::optional<int> Model::find_body(std::string_view wanted) const {
  if (wanted == "world") return kWorld;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].name == wanted) return static_cast<int>(i);
  }
  return std::nullopt;
}

std::string_view body_name(const Model& model, int body) {
  return body == kWorld ? std::string_view("world") : std::string_view(model.bodies[body].name);
}

}  // namespace slipstick
