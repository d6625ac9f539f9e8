// What the file leaves to be written out: `like` pulls in named sets of keys, `repeat` makes copies of a list's item.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scene/scene_document.h"
#include "scene/scene_faults.h"
#include "scene/scene_item.h"
#include "scene/scene_scope.h"

namespace slipstick {

/// How many items a list may still make.
struct SceneBudget {
  std::string what;  ///< "bodies"
  std::int64_t limit = 0;
  std::int64_t used = 0;
  bool exceeded = false;
  std::string remedy;  ///< "; raise --max-bodies if that is meant"
};

using SceneMapPtr = std::shared_ptr<const SceneMap>;

class SceneExpander {
 public:
  SceneExpander(SceneFaults* faults, SceneScope* scope) : faults_(faults), scope_(scope) {}

  /// A named set of keys for `like`.
  void define(const SceneNode& name, const SceneNode& value);
  /// The keys of a map, those of its `like` first and its own over them. `what` names it if it is no map.
  SceneMapPtr resolve(const SceneNode& node, std::string_view what);
  /// Calls `visit` for each copy that the item's `repeat` asks for, with the loop's indices in the scope. The number of
  /// copies is known and within the budget before the first call. False if a fault prevents it.
  bool repeat(const SceneMap& map, SceneBudget* budget, const std::function<void(std::int64_t copies)>& visit);
  /// Sets that nothing pulled in: their keys must at least be legal somewhere.
  void check_unused(const KeyList& legal_anywhere);

 private:
  struct Set {
    const SceneNode* node = nullptr;
    SceneMapPtr map;  ///< resolved, once used
    bool busy = false;
    bool used = false;
  };
  struct Loop {
    const SceneNode* name;
    const SceneNode* count;
  };

  SceneMapPtr find_set(const SceneNode& name);
  void pull(const SceneNode& like, SceneMap* map);
  bool read_loops(const SceneNode& node, std::vector<Loop>* loops);
  bool read_count(const Loop& loop, std::int64_t* count);
  bool count_copies(const std::vector<Loop>& loops, std::size_t level, std::int64_t limit, std::int64_t* copies,
                    std::int64_t* turns);
  void run(const std::vector<Loop>& loops, std::size_t level, const std::function<void()>& visit);

  SceneFaults* faults_;
  SceneScope* scope_;
  std::unordered_map<std::string, Set> sets_;
};

}  // namespace slipstick
