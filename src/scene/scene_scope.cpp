#include "scene/scene_scope.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/closest_name.h"

namespace slipstick {
namespace {

constexpr int kMaxLetDepth = 100;  // variables that wait for one another: bounds the recursion

/// Plain numbers are by far the most frequent text; they need no compiler.
std::optional<double> as_plain_number(std::string_view text) {
  const std::size_t digit = text.starts_with('-') ? 1 : 0;
  if (digit >= text.size() || !(text[digit] >= '0' && text[digit] <= '9')) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

SceneScope::SceneScope(SceneFaults* faults) : faults_(faults) {
  context_.lookup = [this](std::string_view name) { return find_value(name); };
  context_.table = [this](std::string_view name) -> std::shared_ptr<const ExpressionTable> {
    const auto found = tables_.find(name);
    if (found == tables_.end()) return nullptr;
    static const auto kNothing = std::make_shared<const ExpressionTable>(ExpressionTable{{0, 1}, {0, 0}});
    if (!found->second) used_bad_ = true;
    return found->second ? found->second : kNothing;
  };
}

bool SceneScope::is_free_name(const SceneNode& node) {
  // A name is free if the compiler, given nothing but the name, asks for its value.
  bool asked = false;
  ExpressionContext probe;
  probe.lookup = [&](std::string_view name) {
    asked = name == node.text;
    return std::optional<double>(0);
  };
  const auto result = compile_expression(node.text, probe);
  if (node.is_scalar() && asked && node.text != "t" && std::holds_alternative<Expression>(result)) return true;
  const bool reserved = node.text == "t" || node.text == "pi" || node.text == "deg" ||
                        (!asked && std::holds_alternative<ExpressionFault>(result) &&
                         std::get<ExpressionFault>(result).message.find("is a function") != std::string::npos);
  faults_->add(node, reserved ? "'" + node.text + "' has a meaning of its own; choose another name"
                              : "a variable's name is made of letters, digits and '_'; got " + describe(node));
  return false;
}

void SceneScope::define(const SceneNode& key, const SceneNode& value) {
  if (!is_free_name(key)) return;
  if (!index_.try_emplace(key.text, lets_.size()).second) return;
  lets_.push_back({key.text, &value, std::nullopt, Status::Waiting, 0, false});
}

void SceneScope::override_value(const std::string& name, const std::string& text) {
  const auto it = index_.find(name);
  if (it != index_.end()) {
    lets_[it->second].set = text;
    return;
  }
  std::vector<std::string> known;
  for (const Let& let : lets_) known.push_back(let.name);
  std::string message = "--set " + name + ": the scene has no such name under 'let'";
  if (const auto close = closest_name(name, known)) {
    message += "; did you mean '" + *close + "'?";
  } else if (!known.empty()) {
    message += " (there:";
    for (const std::string& each : known) message += " " + each;
    message += ")";
  }
  faults_->add_unplaced(-1, std::move(message));
}

void SceneScope::set_seed(std::uint64_t seed) {
  if (seed == context_.random_seed) return;
  context_.random_seed = seed;
  for (Let& let : lets_) {
    if (let.status == Status::Done) let.status = Status::Waiting;
  }
}

void SceneScope::evaluate_lets() {
  for (Let& let : lets_) {
    if (let.status == Status::Waiting) evaluate(&let);
  }
}

std::vector<SceneVariable> SceneScope::variables() const {
  std::vector<SceneVariable> all;
  for (const Let& let : lets_) all.push_back({let.name, let.value, let.derived});
  return all;
}

void SceneScope::fail(Let* let, const std::string& message, int offset) {
  let->status = Status::Bad;
  if (let->set) {
    faults_->add_unplaced(-1, "--set " + let->name + "=" + *let->set + ": " + message);
  } else {
    faults_->add(*let->node, message, offset);
  }
}

void SceneScope::evaluate(Let* let) {
  if (depth_ >= kMaxLetDepth) return fail(let, "'let' variables depend on one another too deeply", 0);
  if (!let->set && !let->node->is_scalar()) {
    return fail(let, "expected a number for '" + let->name + "' in let, got " + describe(*let->node), 0);
  }
  const std::string& text = let->set ? *let->set : let->node->text;
  const bool outer_bad = std::exchange(used_bad_, false);
  let->status = Status::Busy;
  ++depth_;
  const std::size_t uses = std::exchange(uses_, 0);
  auto result = compile_expression(text, context_);
  let->derived = std::exchange(uses_, uses) > 0;
  --depth_;
  const bool bad = std::exchange(used_bad_, outer_bad);
  if (let->status == Status::Bad) return;  // found to be part of a circle
  if (bad) {
    let->status = Status::Bad;
    faults_->note_consequence();
    return;
  }
  if (std::holds_alternative<ExpressionFault>(result)) {
    ExpressionContext named = context_;  // once more, with the names for "did you mean"
    for (const Let& each : lets_) named.names.push_back(each.name);
    result = compile_expression(text, named);
    const auto& fault = std::get<ExpressionFault>(result);
    const int start = let->node->text_offset;
    return fail(let, fault.message, start < 0 ? 0 : start + fault.column);
  }
  let->value = std::get<Expression>(result).at(0);
  if (!std::isfinite(let->value)) return fail(let, "'" + let->name + "' in let is not a finite number", 0);
  let->status = Status::Done;
}

std::optional<double> SceneScope::find_value(std::string_view name) {
  for (auto it = loops_.rbegin(); it != loops_.rend(); ++it) {
    if (it->first == name) return it->second;
  }
  const auto found = index_.find(name);
  if (found == index_.end()) return std::nullopt;
  Let& let = lets_[found->second];
  ++uses_;
  if (let.status == Status::Waiting) evaluate(&let);
  if (let.status == Status::Busy) fail(&let, "'" + let.name + "' in let depends on itself", 0);
  if (let.status == Status::Bad) used_bad_ = true;
  return let.value;
}

std::optional<std::string> SceneScope::expand(std::string_view name) {
  std::string result;
  while (!name.empty()) {
    const std::size_t open = std::min(name.find('{'), name.size());
    result += name.substr(0, open);
    name.remove_prefix(open);
    if (name.empty()) break;
    const std::size_t close = name.find('}');
    if (close == std::string_view::npos) return std::nullopt;
    ExpressionContext plain;
    plain.lookup = context_.lookup;
    const auto value = compile_expression(name.substr(1, close - 1), plain);
    const auto* const good = std::get_if<Expression>(&value);
    if (good == nullptr || !(std::abs(good->at(0)) < 1e15) || good->at(0) != std::round(good->at(0)))
      return std::nullopt;
    result += std::to_string(static_cast<std::int64_t>(good->at(0)));
    name.remove_prefix(close + 1);
  }
  return result;
}

std::optional<std::variant<int, ExpressionFault>> SceneScope::find_reading(const ReadingRequest& request) {
  if (request.function.empty() && !sensors_.contains(request.names[0])) return std::nullopt;
  return find_reading_(*node_, node_->text_offset < 0 ? 0 : node_->text_offset + offset_, request);
}

bool SceneScope::is_expression(std::string_view text) {
  return std::holds_alternative<Expression>(compile_expression(text, context_));
}

std::optional<Expression> SceneScope::compile(const SceneNode& node, std::string_view text, int offset,
                                              bool allow_time) {
  if (const auto number = as_plain_number(text)) return Expression(*number);
  context_.allow_time = allow_time;
  if (allow_time && find_reading_) context_.reading = [this](const ReadingRequest& r) { return find_reading(r); };
  node_ = &node;
  offset_ = offset;
  used_bad_ = false;
  auto result = compile_expression(text, context_);
  if (auto* good = std::get_if<Expression>(&result)) {
    context_.allow_time = false;
    context_.reading = nullptr;
    if (!used_bad_) return std::move(*good);
    faults_->note_consequence();
    return std::nullopt;
  }
  for (const auto& [name, value] : loops_) context_.names.emplace_back(name);
  for (const Let& let : lets_) context_.names.push_back(let.name);
  if (allow_time) context_.names.insert(context_.names.end(), sensors_.begin(), sensors_.end());
  for (const auto& [name, table] : tables_) context_.table_names.push_back(name);
  result = compile_expression(text, context_);  // once more, with the names for "did you mean"
  context_.names.clear();
  context_.table_names.clear();
  context_.allow_time = false;
  context_.reading = nullptr;
  auto& fault = std::get<ExpressionFault>(result);
  if (fault.message == "missing ')'" && node.in_flow && node.text_offset == 0) {
    fault.message += "; inside [...] or {...} an expression that holds a comma must be quoted";
  }
  faults_->add(node, fault.message, node.text_offset < 0 ? 0 : node.text_offset + offset + fault.column);
  return std::nullopt;
}

}  // namespace slipstick
