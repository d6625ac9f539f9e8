// The names that expressions of a scene may use: `let` variables and the indices of the loops that are running.
#pragma once

#include <slipstick/expression.h>
#include <slipstick/scene.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "scene/scene_document.h"
#include "scene/scene_faults.h"

namespace slipstick {

class SceneScope {
 public:
  explicit SceneScope(SceneFaults* faults);
  SceneScope(const SceneScope&) = delete;
  SceneScope& operator=(const SceneScope&) = delete;

  /// True if a person may give this name to a variable; false and a fault at `node` otherwise.
  bool is_free_name(const SceneNode& node);
  /// A `let` of some file. The first definition of a name stands: the main file is read before those it includes.
  void define(const SceneNode& key, const SceneNode& value);
  /// --set name=text; a fault if no file defines the name.
  void override_value(const std::string& name, const std::string& text);
  /// Gives every variable its value; they may use one another in any order but not in a circle.
  void evaluate_lets();
  /// All of them with their values, in the order of definition.
  std::vector<SceneVariable> variables() const;
  void set_seed(std::uint64_t seed);
  std::uint64_t seed() const { return context_.random_seed; }

  /// Points of all hulls of the scene: beyond this it is a mistake, or meant to take all memory.
  static constexpr std::size_t kMaxCorners = 2'000'000;
  void add_corners(std::size_t count) { corners_ += count; }
  bool has_few_corners() const { return corners_ <= kMaxCorners; }

  void push_index(std::string_view name, double value) { loops_.emplace_back(name, value); }
  void set_index(double value) { loops_.back().second = value; }
  void pop_index() { loops_.pop_back(); }

  /// `y = name(x)` in formulas; null: a faulty one, whose name is known.
  void define_table(const std::string& name, std::shared_ptr<const ExpressionTable> table) {
    tables_[name] = std::move(table);
  }
  /// Names of sensors, which formulas of t may use without more ado.
  void define_sensor(const std::string& name) { sensors_.insert(name); }
  using FindReading = std::function<std::variant<int, ExpressionFault>(const SceneNode&, int, const ReadingRequest&)>;
  /// What formulas of t may read of the running world.
  void set_reading(FindReading find) { find_reading_ = std::move(find); }
  /// A name with each {expression} in it replaced by its value; nothing if one is no whole number.
  std::optional<std::string> expand(std::string_view name);

  /// A fault is on the list if there is no result: in the text at `node`, or in a variable that it uses.
  std::optional<Expression> compile(const SceneNode& node, std::string_view text, int offset, bool allow_time);
  /// True if the text means something as an expression; no fault is listed otherwise.
  bool is_expression(std::string_view text);

 private:
  enum class Status { Waiting, Busy, Done, Bad };
  struct Let {
    std::string name;
    const SceneNode* node = nullptr;
    std::optional<std::string> set;  ///< --set
    Status status = Status::Waiting;
    double value = 0;
    bool derived = false;  ///< uses others
  };

  std::optional<double> find_value(std::string_view name);
  void evaluate(Let* let);
  void fail(Let* let, const std::string& message, int offset);

  std::optional<std::variant<int, ExpressionFault>> find_reading(const ReadingRequest& request);

  SceneFaults* faults_;
  std::map<std::string, std::shared_ptr<const ExpressionTable>, std::less<>> tables_;
  std::set<std::string, std::less<>> sensors_;
  FindReading find_reading_;
  const SceneNode* node_ = nullptr;  ///< whose text is being compiled, and where in it
  int offset_ = 0;
  ExpressionContext context_;
  std::vector<std::pair<std::string_view, double>> loops_;
  std::vector<Let> lets_;
  std::unordered_map<std::string_view, std::size_t> index_;  ///< keys are the texts of nodes
  int depth_ = 0;
  std::size_t uses_ = 0;  ///< of variables, by the one that is being evaluated
  std::size_t corners_ = 0;
  bool used_bad_ = false;
};

}  // namespace slipstick
