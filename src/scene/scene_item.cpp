#include "scene/scene_item.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/as_quoted.h"
#include "base/closest_name.h"

namespace slipstick {
namespace {

std::string join_lengths(std::initializer_list<std::size_t> lengths) {
  std::string text;
  for (std::size_t length : lengths) text += (text.empty() ? "" : " or ") + std::to_string(length);
  return text;
}

bool is_not_a_number(std::string_view text) {
  constexpr std::array<std::string_view, 12> kWords{".nan", ".NaN",  ".NAN", "nan",   "NaN", "NAN",
                                                    ".inf", "-.inf", ".Inf", "-.Inf", "inf", "-inf"};
  return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

}  // namespace

const SceneMap::Entry* SceneMap::find(std::string_view key) const {
  const auto it = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key->text == key; });
  return it == entries.end() ? nullptr : &*it;
}

std::string as_list(const KeyList& names) {
  std::string text;
  for (std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

std::string as_suggestion(std::string_view wanted, const KeyList& known) {
  const auto close = closest_name(wanted, {known.begin(), known.end()});
  return close ? "; did you mean " + as_quoted(*close) + "?" : "";
}

const SceneNode* SceneItem::find(std::string_view key) const {
  const SceneMap::Entry* entry = map_.find(key);
  return entry == nullptr ? nullptr : entry->value;
}

void SceneItem::check_keys(const KeyList& legal) const {
  for (const SceneMap::Entry& entry : map_.entries) {
    const std::string& key = entry.key->text;
    if (!entry.key->is_scalar() || std::find(legal.begin(), legal.end(), key) != legal.end()) continue;
    const std::string near = as_suggestion(key, legal);
    fault(*entry.key, "unknown key " + as_quoted(key) + " in " + label_ +
                          (near.empty() ? " (known: " + as_list(legal) + ")" : near));
  }
}

bool SceneItem::require(std::string_view key) const {
  if (has(key)) return true;
  if (!map_.complete) {
    reading_.faults->note_consequence();
    return false;
  }
  fault(*map_.node, "missing key " + as_quoted(key) + " in " + label_);
  return false;
}

void SceneItem::expected(const SceneNode& node, std::string_view wanted, std::string_view what) const {
  fault(node, std::string("expected ").append(wanted).append(" for ").append(as_quoted(what)).append(" in ") + label_ +
                  ", got " + describe(node));
}

std::optional<Expression> SceneItem::as_expression(const SceneNode& node, std::string_view what,
                                                   bool allow_time) const {
  if (!node.is_scalar()) {
    expected(node, "a number", what);
    return std::nullopt;
  }
  if (is_not_a_number(node.text)) {
    expected(node, "a finite number", what);
    return std::nullopt;
  }
  auto result = reading_.scope->compile(node, node.text, 0, allow_time);
  if (result && !result->has_readings() && !std::isfinite(result->at(0))) {
    fault(node,
          as_quoted(what) + " in " + label_ + " is not a finite number" + (result->is_constant() ? "" : " at t = 0"));
    return std::nullopt;
  }
  return result;
}

std::optional<double> SceneItem::as_number(const SceneNode& node, std::string_view what) const {
  const auto expression = as_expression(node, what, false);
  if (!expression) return std::nullopt;
  return expression->at(0);
}

std::optional<std::vector<double>> SceneItem::as_numbers(const SceneNode& node, std::string_view what,
                                                         std::initializer_list<std::size_t> lengths) const {
  if (!node.is_list()) {
    expected(node, "a list of " + join_lengths(lengths) + " numbers", what);
    return std::nullopt;
  }
  if (std::find(lengths.begin(), lengths.end(), node.items.size()) == lengths.end()) {
    fault(node, "expected " + join_lengths(lengths) + " numbers for " + as_quoted(what) + " in " + label_ + ", got " +
                    std::to_string(node.items.size()));
    return std::nullopt;
  }
  std::vector<double> values;
  for (const SceneNode* item : node.items) {
    if (const auto value = as_number(*item, what)) values.push_back(*value);
  }
  if (values.size() != node.items.size()) return std::nullopt;
  return values;
}

std::optional<Vec3> SceneItem::as_vector(const SceneNode& node, std::string_view what) const {
  const auto values = reading_.planar ? as_numbers(node, what, {2, 3}) : as_numbers(node, what, {3});
  if (!values) return std::nullopt;
  return Vec3((*values)[0], (*values)[1], values->size() == 3 ? (*values)[2] : 0);
}

std::optional<std::string> SceneItem::as_text(const SceneNode& node, std::string_view what) const {
  if (!node.is_scalar() || node.text.empty()) {
    expected(node, "a text", what);
    return std::nullopt;
  }
  const std::string& text = node.text;
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    fault(node, as_quoted(what) + " in " + label_ + " holds a line break or another control character");
    return std::nullopt;
  }
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    result.append(text, at, std::min(open, text.size()) - at);
    if (open == std::string::npos) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) {
      reading_.faults->add(node, "missing '}'", node.text_offset < 0 ? 0 : node.text_offset + static_cast<int>(open));
      return std::nullopt;
    }
    const auto inside = std::string_view(text).substr(open + 1, close - open - 1);
    const auto value = reading_.scope->compile(node, inside, static_cast<int>(open) + 1, false);
    if (!value) return std::nullopt;
    const double rounded = std::round(value->at(0));
    if (!(std::abs(value->at(0) - rounded) <= 1e-9) || std::abs(rounded) > 1e15) {
      fault(node, std::string("{").append(inside).append("} is not an integer"));
      return std::nullopt;
    }
    result += std::to_string(static_cast<std::int64_t>(rounded));
    at = close + 1;
  }
  return result;
}

bool SceneItem::number(std::string_view key, double* out) const {
  const SceneNode* node = find(key);
  const auto value = node != nullptr ? as_number(*node, key) : std::nullopt;
  if (value) *out = *value;
  return value.has_value();
}

bool SceneItem::number(std::string_view key, std::optional<double>* out) const {
  double value = 0;
  if (!number(key, &value)) return false;
  *out = value;
  return true;
}

bool SceneItem::number_of_time(std::string_view key, Expression* out) const {
  const SceneNode* node = find(key);
  const auto value = node != nullptr ? as_expression(*node, key, true) : std::nullopt;
  if (value) *out = *value;
  return value.has_value();
}

bool SceneItem::integer(std::string_view key, int* out) const {
  double value = 0;
  if (!number(key, &value)) return false;
  const double rounded = std::round(value);
  if (std::abs(value - rounded) > 1e-9 || std::abs(rounded) > 1e9) {
    expected(*find(key), "an integer", key);
    return false;
  }
  *out = static_cast<int>(rounded);
  return true;
}

bool SceneItem::flag(std::string_view key, bool* out) const {
  const SceneNode* node = find(key);
  if (node == nullptr) return false;
  if (node->is_scalar() && (node->text == "true" || node->text == "false")) {
    *out = node->text == "true";
    return true;
  }
  if (node->is_scalar() && reading_.scope->is_expression(node->text)) {  // fixed: i == 0
    const auto value = as_number(*node, key);
    if (value && (*value == 0 || *value == 1)) {
      *out = *value == 1;
      return true;
    }
    if (!value) return false;
  }
  expected(*node, "true or false", key);
  return false;
}

bool SceneItem::text(std::string_view key, std::string* out) const {
  const SceneNode* node = find(key);
  auto value = node != nullptr ? as_text(*node, key) : std::nullopt;
  if (!value) return false;
  *out = *std::move(value);
  return true;
}

bool SceneItem::vector(std::string_view key, Vec3* out) const {
  const SceneNode* node = find(key);
  const auto value = node != nullptr ? as_vector(*node, key) : std::nullopt;
  if (value) *out = *value;
  return value.has_value();
}

bool SceneItem::vector(std::string_view key, std::optional<Vec3>* out) const {
  Vec3 value;
  if (!vector(key, &value)) return false;
  *out = value;
  return true;
}

bool SceneItem::functions(const SceneNode& node, std::string_view what, bool axial,
                          std::array<Expression, 3>* out) const {
  if (axial && reading_.planar && !node.is_list()) {
    auto value = as_expression(node, what, true);
    if (!value) return false;
    *out = {Expression(), Expression(), *std::move(value)};
    return true;
  }
  const bool two = !axial && reading_.planar;
  if (!node.is_list()) {
    expected(node, two ? "a list of 2 or 3 numbers" : "a list of 3 numbers", what);
    return false;
  }
  if (node.items.size() != 3 && !(two && node.items.size() == 2)) {
    fault(node, std::string("expected ") + (two ? "2 or 3" : "3") + " numbers for " + as_quoted(what) + " in " +
                    label_ + ", got " + std::to_string(node.items.size()));
    return false;
  }
  bool good = true;
  std::array<Expression, 3> values;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    auto value = as_expression(*node.items[i], what, true);
    good &= value.has_value();
    if (value) values[i] = *std::move(value);
  }
  if (good) *out = std::move(values);
  return good;
}

bool SceneItem::axial(std::string_view key, Vec3* out) const {
  const SceneNode* node = find(key);
  if (node == nullptr) return false;
  if (reading_.planar && !node->is_list()) {
    const auto value = as_number(*node, key);
    if (value) *out = Vec3(0, 0, *value);
    return value.has_value();
  }
  const auto values = as_numbers(*node, key, {3});
  if (values) *out = Vec3((*values)[0], (*values)[1], (*values)[2]);
  return values.has_value();
}

bool SceneItem::vector_of_time(std::string_view key, std::array<Expression, 3>* out) const {
  const SceneNode* node = find(key);
  return node != nullptr && functions(*node, key, false, out);
}

bool SceneItem::axial_of_time(std::string_view key, std::array<Expression, 3>* out) const {
  const SceneNode* node = find(key);
  return node != nullptr && functions(*node, key, true, out);
}

}  // namespace slipstick
