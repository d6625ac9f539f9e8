// What is drawn, as JSON: docs/viewer.md is its reference. A new kind of shape needs no change here as long as its
// measures are among those of RecordShape; viewer/src/scene/shapes.js draws it.
#include "view/clip.h"

namespace slipstick {

namespace {

constexpr std::size_t kMaxSceneText = 256u << 10;
const char* const kBodyKinds[] = {"dynamic", "fixed", "kinematic"};
const char* const kMotors[] = {"", "speed", "position", "force"};

template <class Rows>
Json flatten(const Rows& rows) {
  Json flat = Json::array();
  for (const auto& row : rows)
    for (const auto value : row) flat.push_back(value);
  return flat;
}

Json describe(const RecordShape& shape, const std::vector<std::string>& kinds) {
  Json json{{"body", shape.body}, {"kind", kinds[static_cast<std::size_t>(shape.kind)]}, {"pose", shape.pose}};
  if (shape.size != std::array<double, 3>{}) json["size"] = shape.size;
  if (shape.radius != 0) json["radius"] = shape.radius;
  if (shape.length != 0) json["length"] = shape.length;
  if (!shape.points.empty()) json["points"] = flatten(shape.points);
  if (!shape.vertices.empty()) json["vertices"] = flatten(shape.vertices);
  if (!shape.triangles.empty()) json["triangles"] = flatten(shape.triangles);
  if (!shape.color.empty()) json["color"] = shape.color;
  if (shape.visual_only) json["visual_only"] = true;
  return json;
}

Json describe(const RecordLink& link, const std::vector<std::string>& kinds) {
  Json json{{"kind", kinds[static_cast<std::size_t>(link.kind)]},
            {"name", link.name},
            {"a", link.a},
            {"b", link.b},
            {"anchor_a", link.anchor_a},
            {"anchor_b", link.anchor_b}};
  if (link.axis != std::array<double, 3>{}) json["axis"] = link.axis;
  if (link.motor > 0 && link.motor < 4) json["motor"] = kMotors[link.motor];
  for (std::size_t k = 0; k < link.couples.size(); ++k)
    if (link.couples[k] >= 0) json["couples"].push_back({link.couples[k], link.factors[k]});
  return json;
}

}  // namespace

Json make_description(const RecordHeader& header, bool has_friction) {
  Json json{{"format", "slipstick clip"},   {"version", 1},
            {"name", header.name},          {"scheme", header.scheme},
            {"solver", header.solver},      {"software", header.software},
            {"command", header.command},    {"step", header.step},
            {"gravity", header.gravity},    {"planar", header.planar},
            {"has_friction", has_friction}, {"scene_text", header.scene_text.substr(0, kMaxSceneText)}};
  Json bodies = Json::array(), shapes = Json::array(), links = Json::array();
  for (std::size_t i = 0; i < header.bodies.size(); ++i) {
    const auto kind = static_cast<std::size_t>(static_cast<unsigned char>(header.body_kinds[i]));
    bodies.push_back({{"name", header.bodies[i]},
                      {"kind", kBodyKinds[kind < 3 ? kind : 0]},
                      {"mass", header.masses[i]},
                      {"com", header.centers_of_mass[i]}});
  }
  for (const RecordShape& shape : header.shapes) shapes.push_back(describe(shape, header.shape_kinds));
  for (const RecordLink& link : header.links) links.push_back(describe(link, header.link_kinds));
  json["bodies"] = std::move(bodies);
  json["shapes"] = std::move(shapes);
  json["links"] = std::move(links);
  json["joints"] = header.joints.size();
  json["sensors"] = header.sensors;
  return json;
}

}  // namespace slipstick
