// The files of a scene: the main one and those that it includes, read once each.
#pragma once

#include <slipstick/scene.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scene/scene_document.h"
#include "scene/scene_faults.h"

namespace slipstick {

struct SceneFile {
  struct Include {
    const SceneNode* node = nullptr;    ///< the item of the list
    const SceneNode* prefix = nullptr;  ///< may be null
    const SceneFile* file = nullptr;
  };
  int index = 0;                ///< in the table of SceneFaults
  std::filesystem::path shown;  ///< as a person would write it, seen from the same folder as the main file
  std::filesystem::path real;   ///< canonical
  std::string text;
  SceneDocument document;
  std::vector<Include> includes;
  bool open = false;  ///< it and what it includes are being read: including it now is a cycle
};

class SceneFiles {
 public:
  SceneFiles(const SceneLoadOptions& options, SceneFaults* faults) : options_(options), faults_(faults) {}

  /// The main file with all that it includes. Null if there is nothing to work with; the faults say why.
  const SceneFile* load(const std::string& path);
  const SceneFile* parse(const std::string& text, const std::string& name);
  /// The bytes of a file that a shape names (`text` is what the node says, names written out), by the same rules as an
  /// include. Null and a fault at the node if there are none. Each file is read once.
  const std::string* read_data(const SceneNode& node, const std::string& text);
  /// All files that were read so far, absolute.
  std::vector<std::string> names() const;
  /// Surfaces by file and how they were scaled, so that copies of a shape share theirs.
  std::map<std::string, std::shared_ptr<const Surface>>& surfaces() { return surfaces_; }
  /// False if a file to include could not be read: what it would have defined is unknown.
  bool complete() const { return complete_; }

 private:
  SceneFile* add(const std::filesystem::path& shown, const std::filesystem::path& real, std::string text);
  void read(SceneFile* file);
  void read_include(const SceneNode& item, SceneFile* from);
  const SceneFile* include(const SceneNode& name, SceneFile* from);

  const SceneLoadOptions& options_;
  SceneFaults* faults_;
  std::filesystem::path folder_;  ///< canonical; includes stay below it
  std::vector<std::unique_ptr<SceneFile>> files_;
  std::vector<const SceneFile*> open_;
  std::map<std::filesystem::path, std::string> data_;
  std::map<std::string, std::shared_ptr<const Surface>> surfaces_;
  std::size_t bytes_ = 0;
  bool complete_ = true;
};

}  // namespace slipstick
