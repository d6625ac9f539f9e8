// Typed access to the keys of one map of a scene, with faults that name the item: "unknown key 'mas' in body 'crank'".
#pragma once

#include <slipstick/expression.h>
#include <slipstick/types.h>

#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scene/scene_document.h"
#include "scene/scene_faults.h"
#include "scene/scene_scope.h"

namespace slipstick {

class SceneFiles;

/// The keys of a map after `like` has been resolved.
struct SceneMap {
  struct Entry {
    const SceneNode* key;
    const SceneNode* value;
  };
  const SceneNode* node = nullptr;  ///< where the item stands
  std::vector<Entry> entries;
  bool complete = true;  ///< false: a `like` failed, so that a missing key proves nothing

  const Entry* find(std::string_view key) const;
};

/// What every item needs to be read.
struct SceneReading {
  SceneFaults* faults = nullptr;
  SceneScope* scope = nullptr;
  bool planar = false;
  SceneFiles* files = nullptr;  ///< for shapes that come from files
};

using KeyList = std::vector<std::string_view>;

/// ", "-joined: "sphere, box, capsule".
std::string as_list(const KeyList& names);
/// "; did you mean 'x'?" or nothing.
std::string as_suggestion(std::string_view wanted, const KeyList& known);

class SceneItem {
 public:
  /// `label` names the item in faults: "body 'crank'".
  SceneItem(const SceneReading& reading, const SceneMap& map, std::string label)
      : reading_(reading), map_(map), label_(std::move(label)) {}

  const SceneReading& reading() const { return reading_; }
  const SceneMap& map() const { return map_; }
  const SceneNode& node() const { return *map_.node; }
  const std::string& label() const { return label_; }
  void set_label(std::string label) { label_ = std::move(label); }

  bool has(std::string_view key) const { return map_.find(key) != nullptr; }
  const SceneNode* find(std::string_view key) const;
  /// Faults for keys that are not legal.
  void check_keys(const KeyList& legal) const;
  /// False and a fault if the key is missing, unless a `like` that failed may have held it.
  bool require(std::string_view key) const;
  void fault(const SceneNode& node, std::string message) const { reading_.faults->add(node, std::move(message)); }

  // Each leaves `out` alone if the key is absent, or wrong (then with a fault), and says whether it was filled.
  bool number(std::string_view key, double* out) const;
  bool number(std::string_view key, std::optional<double>* out) const;
  bool integer(std::string_view key, int* out) const;
  bool flag(std::string_view key, bool* out) const;
  /// Text with each {expression} in it replaced by its value, an integer.
  bool text(std::string_view key, std::string* out) const;
  /// A point or a vector: 3 numbers; in a planar scene 2 will do.
  bool vector(std::string_view key, Vec3* out) const;
  bool vector(std::string_view key, std::optional<Vec3>* out) const;
  /// Angular velocity or torque: 3 numbers; in a planar scene one number, about z, will do.
  bool axial(std::string_view key, Vec3* out) const;
  bool orientation(std::string_view key, Quat* out) const;
  /// As vector and axial, of functions of t.
  bool vector_of_time(std::string_view key, std::array<Expression, 3>* out) const;
  bool axial_of_time(std::string_view key, std::array<Expression, 3>* out) const;

  /// A number that may be a function of t.
  bool number_of_time(std::string_view key, Expression* out) const;

  // The same of a given node; `what` names it in faults: "'mass'".
  std::optional<double> as_number(const SceneNode& node, std::string_view what) const;
  std::optional<Vec3> as_vector(const SceneNode& node, std::string_view what) const;
  std::optional<std::string> as_text(const SceneNode& node, std::string_view what) const;
  /// All of a list's numbers, if it has one of the given lengths.
  std::optional<std::vector<double>> as_numbers(const SceneNode& node, std::string_view what,
                                                std::initializer_list<std::size_t> lengths) const;
  /// A fault "expected WANTED for 'KEY' in LABEL, got ...".
  void expected(const SceneNode& node, std::string_view wanted, std::string_view what) const;

 private:
  std::optional<Expression> as_expression(const SceneNode& node, std::string_view what, bool allow_time) const;
  bool functions(const SceneNode& node, std::string_view what, bool axial, std::array<Expression, 3>* out) const;

  SceneReading reading_;
  const SceneMap& map_;
  std::string label_;
};

}  // namespace slipstick
