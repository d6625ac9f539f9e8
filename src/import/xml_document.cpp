#include "import/xml_document.h"

#include <tinyxml2.h>

#include <algorithm>
#include <cctype>

#include "base/as_quoted.h"

namespace slipstick {
namespace {

namespace tx = tinyxml2;

constexpr std::size_t kMaxAttribute = 1u << 20;  // characters of one value
constexpr std::size_t kMaxElements = 1'000'000;

/// tinyxml2 knows lines but no columns. Its names are pieces of a copy of the text: where the root's name is, known by
/// its line, tells where they all are.
class XmlPlaces {
 public:
  XmlPlaces(std::string_view text, const tx::XMLElement& root) : text_(text) {
    starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') starts_.push_back(i + 1);
    const std::string tag = std::string("<") + root.Name();
    std::size_t at = text.find(tag, start_of(root.GetLineNum()));
    if (at == std::string_view::npos) at = text.find(tag);
    base_ = root.Name() - (at + 1);
  }

  /// 1-based column of a piece of the document that stands in this line; 1 if that cannot be told.
  int column(const char* piece, int line) const {
    const std::ptrdiff_t offset = piece - base_, start = static_cast<std::ptrdiff_t>(start_of(line));
    const bool inside = offset >= start && offset < static_cast<std::ptrdiff_t>(text_.size());
    return inside ? static_cast<int>(offset - start) + 1 : 1;
  }

 private:
  std::size_t start_of(int line) const {
    return starts_[static_cast<std::size_t>(std::clamp(line - 1, 0, static_cast<int>(starts_.size()) - 1))];
  }

  std::string_view text_;
  std::vector<std::size_t> starts_;
  const char* base_ = nullptr;
};

class XmlCopy {
 public:
  XmlCopy(const XmlPlaces& places, int file, SceneFaults* faults) : places_(places), file_(file), faults_(faults) {}

  std::unique_ptr<XmlElement> copy(const tx::XMLElement& from, const XmlElement* parent) {
    auto made = std::make_unique<XmlElement>();
    made->name = from.Name();
    made->file = file_;
    made->line = from.GetLineNum();
    made->column = std::max(places_.column(from.Name(), made->line) - 1, 1);  // of the '<'
    made->parent = parent;
    if (++count_ > kMaxElements) {
      if (count_ == kMaxElements + 1) fail(*made, "more than " + std::to_string(kMaxElements) + " elements");
      return made;
    }
    for (const tx::XMLAttribute* a = from.FirstAttribute(); a != nullptr; a = a->Next()) add(*a, made.get());
    for (const tx::XMLNode* node = from.FirstChild(); node != nullptr; node = node->NextSibling()) {
      if (const tx::XMLElement* child = node->ToElement()) made->children.push_back(copy(*child, made.get()));
      if (const tx::XMLText* text = node->ToText()) made->text += text->Value();
      if (node->ToUnknown() != nullptr) fail(*made, "a declaration <!...> is refused here; remove it");
    }
    return made;
  }

 private:
  void add(const tx::XMLAttribute& from, XmlElement* to) {
    XmlAttribute made;
    made.name = from.Name();
    made.value = from.Value();
    made.file = file_;
    made.line = from.GetLineNum();
    made.column = places_.column(from.Name(), made.line);
    if (to->find(made.name) != nullptr)
      faults_->add(file_, made.line, made.column, "attribute " + as_quoted(made.name) + " is given twice");
    if (made.value.size() > kMaxAttribute) {
      faults_->add(file_, made.line, made.column,
                   "attribute " + as_quoted(made.name) + " has " + std::to_string(made.value.size()) +
                       " characters, more than the limit of " + std::to_string(kMaxAttribute));
      made.value.clear();
    }
    to->attributes.push_back(std::move(made));
  }
  void fail(const XmlElement& at, const std::string& what) { faults_->add(file_, at.line, at.column, what); }

  const XmlPlaces& places_;
  int file_;
  SceneFaults* faults_;
  std::size_t count_ = 0;
};

/// "Error=XML_ERROR_MISMATCHED_ELEMENT ErrorID=14 (0xe) Line number=3: XMLElement name=joint" as a person would say it.
std::string describe_error(const tx::XMLDocument& document) {
  switch (document.ErrorID()) {
    case tx::XML_ERROR_EMPTY_DOCUMENT:
      return "is empty; expected an XML document";
    case tx::XML_ELEMENT_DEPTH_EXCEEDED:
      return "elements are nested more than " + std::to_string(TINYXML2_MAX_ELEMENT_DEPTH) + " deep";
    case tx::XML_ERROR_MISMATCHED_ELEMENT: {
      const std::string text = document.ErrorStr();
      const std::size_t at = text.rfind("name=");
      const std::string name = at == std::string::npos ? "" : " <" + text.substr(at + 5) + ">";
      return "not well-formed XML: the tag" + name + " is not closed where it should be";
    }
    default: {
      std::string name = document.ErrorName();
      const std::size_t at = name.find("PARSING_");
      name = at == std::string::npos ? name : name.substr(at + 8);
      for (char& c : name) c = c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      return "not well-formed XML: " + (at == std::string::npos ? name : "broken " + name);
    }
  }
}

}  // namespace

const XmlAttribute* XmlElement::find(std::string_view wanted) const {
  for (const XmlAttribute& a : attributes)
    if (a.name == wanted) return &a;
  return nullptr;
}

const XmlElement* XmlElement::child(std::string_view wanted) const {
  for (const auto& each : children)
    if (each->name == wanted) return each.get();
  return nullptr;
}

std::unique_ptr<XmlElement> parse_xml(std::string_view text, int file, SceneFaults* faults) {
  if (text.find('\0') != std::string_view::npos) {
    faults->add_unplaced(file, "is not text: it has zero bytes (XML must be UTF-8 here)");
    return nullptr;
  }
  tx::XMLDocument document(true, tx::PRESERVE_WHITESPACE);
  if (document.Parse(text.data(), text.size()) != tx::XML_SUCCESS) {
    const int line = document.ErrorLineNum();
    if (line > 0) {
      faults->add(file, line, 1, describe_error(document));
    } else {
      faults->add_unplaced(file, describe_error(document));
    }
    return nullptr;
  }
  const std::size_t before = faults->raised();
  const tx::XMLElement* root = document.RootElement();
  for (const tx::XMLNode* node = document.FirstChild(); node != nullptr; node = node->NextSibling()) {
    if (node->ToUnknown() != nullptr)
      faults->add(file, node->GetLineNum(), 1, "a document type <!...> is refused: no entities, no external files");
    if (node->ToElement() != nullptr && node->ToElement() != root)
      faults->add(file, node->GetLineNum(), 1, "a second root element; an XML document has one");
  }
  if (root == nullptr) {
    faults->add_unplaced(file, "has no XML element");
    return nullptr;
  }
  const XmlPlaces places(text, *root);
  std::unique_ptr<XmlElement> made = XmlCopy(places, file, faults).copy(*root, nullptr);
  return faults->raised() == before ? std::move(made) : nullptr;
}

}  // namespace slipstick
