// Room: import. Models of other programs, URDF and MJCF, as scenes; and scenes as text that a person can edit
// (docs/import.md).
#pragma once

#include <slipstick/scene.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace slipstick {

/// What a mesh that can touch becomes.
enum class MeshUse : std::uint8_t {
  Hull,  ///< its convex hull, as MuJoCo does
  Exact  ///< its triangles
};

struct ImportOptions {
  SceneLoadOptions files;
  MeshUse mesh = MeshUse::Hull;
  std::string key;              ///< MJCF: the keyframe to start from, by name or number; empty: none
  bool free_base = false;       ///< URDF: the root link floats instead of being fixed to the world
  bool floor = false;           ///< add a floor just below the lowest point of the model
  bool repair_inertia = false;  ///< URDF: give links without a good inertia a small one, each said in the report
  std::function<void(const std::string& what)> progress = {};  ///< called before each part that may take a while
};

/// Something of the file that has no place in the scene, or came into it in another way than it stands there.
struct ImportItem {
  SourcePlace place;
  std::string what;  ///< "attribute 'solref' of geom 'foot'"
  std::string why;   ///< one sentence
};

struct ImportReport {
  std::string format;                ///< "URDF", "MJCF"; empty: a scene of our own
  std::vector<ImportItem> ignored;   ///< read but not modelled
  std::vector<ImportItem> notes;     ///< modelled, but somebody may want to know how
  std::vector<std::string> sources;  ///< by SourceTag of the description: "link 'arm', robot.urdf:12"
};

/// Whether the file's name says that it is a model of another program: .urdf, .xml, .mjcf, .sdf.
bool is_model_file(const std::string& path);

/// A scene file, or a model of another program, by the file's name.
Result<Scene> load_any(const std::string& path, const ImportOptions& options = {}, ImportReport* report = nullptr);
/// A model from a string, by its root element; `name` stands for the file.
Result<Scene> parse_model(const std::string& text, const std::string& name, const ImportOptions& options = {},
                          ImportReport* report = nullptr);

/// A scene file with the files that it names.
struct SceneText {
  struct File {
    std::string name;  ///< relative to the scene
    std::string bytes;
  };
  std::string text;
  std::vector<File> files;
};
/// The scene as a file whose motion is the same to the last bit. Meshes and hulls with many points go into files of
/// `folder`, a name relative to the scene.
SceneText write_scene_text(const Scene& scene, const ImportReport& report, const std::string& folder);

/// What `convert --report` shows.
std::string make_text(const ImportReport& report);
std::string make_json(const ImportReport& report);

}  // namespace slipstick
