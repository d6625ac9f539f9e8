#include "scene/scene_document.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/memory_stream.h"
#include "scene/scene_faults.h"

namespace slipstick {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::uint64_t kMaxAliasWeight = 1000000;  // nodes that aliases may add to what is written

/// Builds the tree from the parser's events. What is wrong with it as a tree is a fault at once.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, int file, SceneDocument* document, SceneFaults* faults)
      : text_(text), file_(file), document_(document), faults_(faults) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    attach(make_node(SceneNode::Kind::Null, mark, anchor));
  }

  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string& value) override {
    SceneNode* node = make_node(SceneNode::Kind::Scalar, mark, anchor);
    node->text = value;
    node->text_offset = find_text_offset(mark, value);
    attach(node);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    const bool open = it != anchors_.end() && std::find(open_.begin(), open_.end(), it->second) != open_.end();
    if (it == anchors_.end() || open) throw YAML::ParserException(mark, "an alias cannot stand inside its own anchor");
    alias_weight_ += it->second->weight;
    if (alias_weight_ > kMaxAliasWeight) {
      throw YAML::ParserException(mark, "aliases expand the file to more than a million items");
    }
    attach(it->second);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(make_node(SceneNode::Kind::List, mark, anchor), mark, style);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(make_node(SceneNode::Kind::Map, mark, anchor), mark, style);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override {
    check_keys(*open_.back());
    close();
  }

 private:
  SceneNode* make_node(SceneNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    SceneNode& node = document_->nodes.emplace_back();
    node.kind = kind;
    node.file = file_;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    node.in_flow = flow_depth_ > 0;
    if (anchor != 0) anchors_[anchor] = &node;
    return &node;
  }

  void open(SceneNode* node, const YAML::Mark& mark, YAML::EmitterStyle::value style) {
    if (open_.size() >= kMaxDepth) throw YAML::ParserException(mark, "nested too deeply");
    if (flow_depth_ > 0 || style == YAML::EmitterStyle::Flow) ++flow_depth_;
    open_.push_back(node);
  }

  void close() {
    SceneNode* node = open_.back();
    open_.pop_back();
    if (flow_depth_ > 0) --flow_depth_;
    attach(node);
  }

  void attach(SceneNode* node) {
    if (open_.empty()) {
      document_->root = node;
    } else {
      open_.back()->items.push_back(node);
      open_.back()->weight += node->weight;
    }
  }

  /// Where the scalar's text begins in the line, if it stands there letter by letter (not folded, no escapes).
  int find_text_offset(const YAML::Mark& mark, const std::string& value) const {
    const auto start = static_cast<std::size_t>(mark.pos);
    if (start >= text_.size()) return -1;
    const int quote = text_[start] == '"' || text_[start] == '\'' ? 1 : 0;
    return text_.substr(start + quote).starts_with(value) ? quote : -1;
  }

  void check_keys(const SceneNode& map) {
    std::unordered_map<std::string_view, const SceneNode*> seen;
    for (std::size_t i = 0; i + 1 < map.items.size(); i += 2) {
      const SceneNode& key = *map.items[i];
      if (!key.is_scalar()) {
        faults_->add(key, "expected a key, got " + describe(key));
      } else if (key.text == "<<") {
        faults_->add(key, "merge key '<<' is not supported; use 'defaults' and 'like'");
      } else if (const auto [it, is_new] = seen.try_emplace(key.text, &key); !is_new) {
        faults_->add(key, "duplicate key '" + key.text + "' (first in line " + std::to_string(it->second->line) + ")");
      }
    }
  }

  std::string_view text_;
  int file_;
  SceneDocument* document_;
  SceneFaults* faults_;
  std::vector<SceneNode*> open_;
  int flow_depth_ = 0;
  std::uint64_t alias_weight_ = 0;
  std::unordered_map<YAML::anchor_t, SceneNode*> anchors_;
};

/// Sees whether there is a second document, and where.
class SecondDocument : public TreeBuilder {
 public:
  using TreeBuilder::TreeBuilder;
  void OnDocumentStart(const YAML::Mark& mark) override { place = mark; }
  YAML::Mark place;
};

/// The parser's message, with the remedy where its cause is known to be a name with braces in a flow list.
std::string explain(const YAML::Exception& exception, std::string_view text) {
  std::string message = "not valid YAML: " + exception.msg;
  if (dynamic_cast<const YAML::DeepRecursion*>(&exception) != nullptr) message = "not valid YAML: nested too deeply";
  const auto at = static_cast<std::size_t>(std::max(exception.mark.pos, 0));
  if (at > 0 && at < text.size() && text[at] == '{' && text[at - 1] != ' ') {
    message += "; inside [...] or {...} a name that holds {...} must be quoted";
  }
  return message;
}

/// Offset of the first byte that is not part of UTF-8 text, or npos.
std::size_t find_bad_byte(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f) return i;
      ++i;
      continue;
    }
    const std::size_t length = c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    if (length == 0 || i + length > text.size()) return i;
    std::uint32_t point = c & (0xFFu >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0) != 0x80) return i;
      point = point << 6 | (next & 0x3Fu);
    }
    const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
    if (overlong || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return i;
    i += length;
  }
  return std::string_view::npos;
}

bool is_clean_text(std::string_view text, int file, SceneFaults* faults) {
  const std::size_t bad = find_bad_byte(text);
  if (bad == std::string_view::npos) return true;
  const std::string_view before = text.substr(0, bad);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(text[bad]);
  faults->add(file, static_cast<int>(line), static_cast<int>(bad - line_start) + 1,
              std::string("not a UTF-8 text file (byte 0x") + kHex[byte >> 4] + kHex[byte & 15] + ")");
  return false;
}

}  // namespace

const SceneNode* SceneNode::find(std::string_view key) const {
  if (!is_map()) return nullptr;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i]->is_scalar() && items[i]->text == key) return items[i + 1];
  }
  return nullptr;
}

std::string describe(const SceneNode& node) {
  switch (node.kind) {
    case SceneNode::Kind::List:
      return "a list";
    case SceneNode::Kind::Map:
      return "a map";
    case SceneNode::Kind::Null:
      return "nothing";
    case SceneNode::Kind::Scalar:
      break;
  }
  return node.text.size() <= 40 ? std::string(1, '\'').append(node.text).append(1, '\'') : "a long text";
}

bool same_content(const SceneNode& a, const SceneNode& b) {
  if (&a == &b) return true;
  return a.kind == b.kind && a.weight == b.weight && a.text == b.text &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(),
                    [](const SceneNode* x, const SceneNode* y) { return same_content(*x, *y); });
}

void parse_document(std::string_view text, int file, SceneDocument* document, SceneFaults* faults) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // byte order mark
  if (!is_clean_text(text, file, faults)) return;
  MemoryStream stream(text);
  TreeBuilder builder(text, file, document, faults);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder) || document->root == nullptr ||
        document->root->kind == SceneNode::Kind::Null) {
      document->root = nullptr;
      faults->add(file, 1, 1, "the file is empty; a scene begins with 'slipstick: 1'");
      return;
    }
    SceneDocument other;
    SceneFaults ignored;
    ignored.add_file("");
    SecondDocument second(text, 0, &other, &ignored);
    if (parser.HandleNextDocument(second)) {
      faults->add(file, second.place.line + 1, second.place.column + 1, "a scene file holds one YAML document only");
    }
  } catch (const YAML::Exception& exception) {
    document->root = nullptr;
    faults->add(file, std::max(exception.mark.line, 0) + 1, std::max(exception.mark.column, 0) + 1,
                explain(exception, text));
  }
}

}  // namespace slipstick
