// XML text as a tree of elements that know their places. The only part of the readers that knows tinyxml2, which
// expands no entities but the five of XML itself; document types are refused all the same.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scene/scene_faults.h"

namespace slipstick {

struct XmlAttribute {
  std::string name, value;
  int file = 0, line = 0, column = 0;
  mutable bool used = false;  ///< somebody asked for it; what nobody asks for is listed (ImportReport)
};

struct XmlElement {
  std::string name;
  int file = 0, line = 0, column = 0;
  std::vector<XmlAttribute> attributes;
  std::vector<std::unique_ptr<XmlElement>> children;
  std::string text;  ///< between the tags, if there is any
  const XmlElement* parent = nullptr;
  mutable bool used = false;

  const XmlAttribute* find(std::string_view wanted) const;
  const XmlElement* child(std::string_view wanted) const;  ///< the first of this name, or null
};

/// The root element, or null and faults: broken syntax, document types, attributes given twice or of absurd length.
std::unique_ptr<XmlElement> parse_xml(std::string_view text, int file, SceneFaults* faults);

}  // namespace slipstick
