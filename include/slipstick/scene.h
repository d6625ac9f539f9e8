// Room: scene. Scene files (YAML) to a model, its initial state and the simulation's options.
#pragma once

#include <slipstick/model.h>
#include <slipstick/result.h>
#include <slipstick/simulation.h>
#include <slipstick/state.h>

#include <string>
#include <utility>
#include <vector>

namespace slipstick {

struct RecordOptions {
  int every = 1;  ///< record each n-th step
  bool contacts = true;
  bool parts = false;  ///< and what every step was made of (docs/recheck.md)
};

/// A name under `let`, with the value that it has in this scene.
struct SceneVariable {
  std::string name;
  double value = 0;
  bool derived = false;  ///< its expression uses other variables
};

struct Scene {
  std::string path;
  std::string text;                ///< the main file as read
  std::vector<std::string> files;  ///< all that were read: the scene, includes, meshes, heights; absolute
  std::string name;
  ModelDescription description;  ///< kept for `check` and for viewers (colours)
  Model model;
  State initial;
  SimulationOptions options;
  RecordOptions record;
  std::vector<SceneVariable> variables = {};
};

struct SceneLoadOptions {
  std::vector<std::pair<std::string, std::string>> set;  ///< --set name=expression, overrides `let`
  bool allow_path = false;                               ///< includes may leave the scene's folder
  int max_bodies = 200000;
  std::size_t max_file_bytes = 64u << 20;
};

/// Reads and checks everything, or lists every independent fault with file:line:column.
Result<Scene> load_scene(const std::string& path, const SceneLoadOptions& options = {});
/// The same from a string; `name` stands for the file in faults.
Result<Scene> parse_scene(const std::string& text, const std::string& name, const SceneLoadOptions& options = {});

}  // namespace slipstick
