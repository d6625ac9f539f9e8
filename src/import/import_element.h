// Typed access to one element of a model file and to the defaults that stand behind it, with faults that name it:
// "expected 3 numbers for 'axis' in joint 'elbow', got 'x'".
#pragma once

#include <slipstick/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/xml_document.h"
#include "scene/scene_item.h"

namespace slipstick {

class ImportElement {
 public:
  /// `behind`: elements whose attributes hold where this one says nothing, the nearest first.
  ImportElement(const XmlElement& element, SceneFaults* faults, std::vector<const XmlElement*> behind = {});

  const XmlElement& xml() const { return *chain_.front(); }
  const std::vector<const XmlElement*>& chain() const { return chain_; }
  SceneFaults* faults() const { return faults_; }
  const std::string& label() const { return label_; }  ///< "joint 'elbow'"
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The attribute, marked as used, or null.
  const XmlAttribute* find(std::string_view name) const;

  // Each leaves `out` alone if the attribute is absent, or wrong (then with a fault), and says whether it was filled.
  bool text(std::string_view name, std::string* out) const;
  bool number(std::string_view name, double* out) const;
  bool number(std::string_view name, std::optional<double>* out) const;
  bool integer(std::string_view name, int* out) const;
  bool flag(std::string_view name, bool* out) const;  ///< true or false
  bool vector(std::string_view name, Vec3* out) const;
  /// From `least` to `most` numbers.
  bool numbers(std::string_view name, std::size_t least, std::size_t most, std::vector<double>* out) const;
  /// One of a few words, as its index in `known`.
  bool word(std::string_view name, const KeyList& known, int* out) const;

  /// False and a fault if the attribute is missing.
  bool require(std::string_view name) const;
  void fault(const std::string& message) const;
  void fault(const XmlAttribute& at, const std::string& message) const;
  /// A fault for each attribute that is near to one of `known` but none of them, nor one of `others`.
  void check_names(const KeyList& known, const KeyList& others = {}) const;

 private:
  std::vector<const XmlElement*> chain_;
  SceneFaults* faults_;
  std::string label_;
};

/// Finite numbers between blanks, or nothing.
std::optional<std::vector<double>> parse_numbers(std::string_view text);

}  // namespace slipstick
