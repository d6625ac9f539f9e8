// The files of a scene: the main one and those that it includes, read once each.
#pragma once

#include <slipstick/scene.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/scene_document.h"
#include "io/scene_faults.h"

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
  std::size_t bytes_ = 0;
  bool complete_ = true;
};

}  // namespace slipstick
