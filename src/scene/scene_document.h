// The text of one scene file as a tree of nodes that know their places. The only part of the reader that knows YAML.
#pragma once

#include <slipstick/result.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

struct SceneNode {
  enum class Kind : std::uint8_t { Null, Scalar, List, Map };

  Kind kind = Kind::Null;
  bool in_flow = false;  ///< written inside [...] or {...}: commas and braces need quotes there
  int text_offset =
      -1;        ///< columns from the node's place to its text (1 if quoted); -1: text is not a piece of the line
  int file = 0;  ///< index into SceneFaults' table of files
  int line = 0, column = 0;             ///< 1-based
  std::uint64_t weight = 1;             ///< nodes below and including this one, aliases expanded
  std::string text;                     ///< Scalar
  std::vector<const SceneNode*> items;  ///< List: the items; Map: key, value, key, value, ...

  bool is_scalar() const { return kind == Kind::Scalar; }
  bool is_list() const { return kind == Kind::List; }
  bool is_map() const { return kind == Kind::Map; }
  /// The value of a key of a map, or null.
  const SceneNode* find(std::string_view key) const;
};

/// "a list", "a map", "nothing", "'text'": what a node is, for messages.
std::string describe(const SceneNode& node);
/// The same content, wherever it is written.
bool same_content(const SceneNode& a, const SceneNode& b);

class SceneFaults;

/// Owns the nodes of one file.
struct SceneDocument {
  std::deque<SceneNode> nodes;
  const SceneNode* root = nullptr;  ///< null: no document, the faults say why
};

/// Reads YAML; broken syntax, duplicate keys, merge keys, several documents and alias bombs are faults.
void parse_document(std::string_view text, int file, SceneDocument* document, SceneFaults* faults);

}  // namespace slipstick
