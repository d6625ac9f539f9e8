// URDF: a <robot> of links and joints.
#pragma once

#include "import/import_assets.h"
#include "import/robot.h"

namespace slipstick {

void read_urdf(const XmlElement& root, const ImportOptions& options, ImportAssets* assets, ImportContext* context,
               Robot* robot);

/// A shape of a mesh: its hull or its triangles if it can touch, its triangles if it is only seen.
void set_mesh(const std::shared_ptr<const ImportMesh>& mesh, MeshUse use, ShapeDescription* shape);
/// Roll, pitch, yaw about fixed x, y, z.
Quat make_rpy(const Vec3& angles);
/// "#rrggbb"
std::string as_color(double r, double g, double b);

}  // namespace slipstick
