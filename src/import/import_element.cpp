#include "import/import_element.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/as_quoted.h"

namespace slipstick {
namespace {

constexpr std::string_view kXmlBlanks = " \t\r\n\f\v";

std::string cut_text(const std::string& text) {
  return as_quoted(text.size() > 60 ? text.substr(0, 60) + "..." : text);
}

}  // namespace

std::optional<std::vector<double>> parse_numbers(std::string_view text) {
  std::vector<double> numbers;
  for (;;) {
    const std::size_t first = text.find_first_not_of(kXmlBlanks);
    if (first == std::string_view::npos) return numbers;
    text.remove_prefix(first);
    std::string_view word = text.substr(0, text.find_first_of(kXmlBlanks));
    text.remove_prefix(word.size());
    if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
    double x = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), x);
    // Numbers too small to be told from zero are zero.
    const bool tiny = error == std::errc::result_out_of_range && std::abs(x) < 1;
    if ((error != std::errc() && !tiny) || end != word.data() + word.size() || !std::isfinite(x)) return std::nullopt;
    numbers.push_back(x);
  }
}

ImportElement::ImportElement(const XmlElement& element, SceneFaults* faults, std::vector<const XmlElement*> behind)
    : chain_(std::move(behind)), faults_(faults), label_("<" + element.name + ">") {
  if (faults_ != nullptr) faults_->begin_item();  // a default that is wrong is wrong once
  chain_.insert(chain_.begin(), &element);
  for (const XmlElement* each : chain_) each->used = true;
  if (const XmlAttribute* name = element.find("name")) label_ = element.name + " " + cut_text(name->value);
}

const XmlAttribute* ImportElement::find(std::string_view name) const {
  const XmlAttribute* found = nullptr;
  for (const XmlElement* each : chain_) {
    const XmlAttribute* a = each->find(name);
    if (a == nullptr) continue;
    a->used = true;  // also the ones that are overridden
    if (found == nullptr) found = a;
  }
  return found;
}

bool ImportElement::text(std::string_view name, std::string* out) const {
  const XmlAttribute* a = find(name);
  if (a == nullptr) return false;
  *out = a->value;
  return true;
}

bool ImportElement::numbers(std::string_view name, std::size_t least, std::size_t most,
                            std::vector<double>* out) const {
  const XmlAttribute* a = find(name);
  if (a == nullptr) return false;
  auto values = parse_numbers(a->value);
  if (values && values->size() >= least && values->size() <= most) {
    *out = std::move(*values);
    return true;
  }
  const std::string count =
      least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
  const std::string wanted = most == 1 ? "a number" : count + " numbers";
  fault(*a, "expected " + wanted + " for " + as_quoted(name) + " in " + label_ + ", got " + cut_text(a->value));
  return false;
}

bool ImportElement::number(std::string_view name, double* out) const {
  std::vector<double> values;
  if (!numbers(name, 1, 1, &values)) return false;
  *out = values[0];
  return true;
}

bool ImportElement::number(std::string_view name, std::optional<double>* out) const {
  double value = 0;
  if (!number(name, &value)) return false;
  *out = value;
  return true;
}

bool ImportElement::integer(std::string_view name, int* out) const {
  double value = 0;
  if (!number(name, &value)) return false;
  if (value == std::floor(value) && std::abs(value) < 0x1p31) {
    *out = static_cast<int>(value);
    return true;
  }
  const XmlAttribute* a = find(name);
  fault(*a, "expected a whole number for " + as_quoted(name) + " in " + label_ + ", got " + cut_text(a->value));
  return false;
}

bool ImportElement::flag(std::string_view name, bool* out) const {
  int choice = 0;
  if (!word(name, {"false", "true"}, &choice)) return false;
  *out = choice == 1;
  return true;
}

bool ImportElement::vector(std::string_view name, Vec3* out) const {
  std::vector<double> values;
  if (!numbers(name, 3, 3, &values)) return false;
  *out = Vec3(values[0], values[1], values[2]);
  return true;
}

bool ImportElement::word(std::string_view name, const KeyList& known, int* out) const {
  const XmlAttribute* a = find(name);
  if (a == nullptr) return false;
  const auto at = std::find(known.begin(), known.end(), a->value);
  if (at != known.end()) {
    *out = static_cast<int>(at - known.begin());
    return true;
  }
  const std::string near = as_suggestion(a->value, known);
  fault(*a, "unknown value " + cut_text(a->value) + " for " + as_quoted(name) + " in " + label_ +
                (near.empty() ? " (known: " + as_list(known) + ")" : near));
  return false;
}

bool ImportElement::require(std::string_view name) const {
  if (has(name)) return true;
  fault("missing attribute " + as_quoted(name) + " in " + label_);
  return false;
}

void ImportElement::fault(const std::string& message) const {
  faults_->add(xml().file, xml().line, xml().column, message);
}

void ImportElement::fault(const XmlAttribute& at, const std::string& message) const {
  faults_->add(at.file, at.line, at.column, message);
}

void ImportElement::check_names(const KeyList& known, const KeyList& others) const {
  for (const XmlAttribute& a : xml().attributes) {
    const auto is = [&](const KeyList& list) { return std::find(list.begin(), list.end(), a.name) != list.end(); };
    if (is(known) || is(others)) continue;
    const std::string near = as_suggestion(a.name, known);
    if (!near.empty()) fault(a, "unknown attribute " + as_quoted(a.name) + " in " + label_ + near);
  }
}

}  // namespace slipstick
