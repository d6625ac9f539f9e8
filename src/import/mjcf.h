// MJCF: MuJoCo's model files.
#pragma once

#include <slipstick/simulation.h>

#include "import/import_assets.h"
#include "import/robot.h"

namespace slipstick {

/// `root` is completed by what it includes.
void read_mjcf(XmlElement* root, const ImportOptions& options, ImportAssets* assets, ImportContext* context,
               Robot* robot, SimulationOptions* simulation);

}  // namespace slipstick
