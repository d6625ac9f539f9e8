// Room: base. Arithmetic written by a person ("8*cos(t)", "i + 0.5*(j % 2)"), compiled once, evaluated without
// allocation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace slipstick {

/// y over x, straight lines between the points, constant beyond both ends.
struct ExpressionTable {
  std::vector<double> x, y;  ///< x grows

  double at(double where) const;
};

/// A compiled formula whose free variables are the time t and readings of the running world. Plain data: copyable,
/// comparable, thread-safe.
class Expression {
 public:
  Expression() = default;                               ///< the constant 0
  Expression(double constant) : constant_(constant) {}  // NOLINT(google-explicit-constructor): a number is a formula

  /// `readings`: the values that readings in the formula refer to by their place; one that is missing counts as 0.
  double at(double t, std::span<const double> readings = {}) const {
    return code_.empty() ? constant_ : evaluate(t, readings);
  }
  bool is_constant() const { return code_.empty(); }
  /// It depends on readings: without them its value means nothing.
  bool has_readings() const { return !readings().empty(); }
  std::vector<int> readings() const;  ///< their places, in the order of the formula
  Expression times(double factor) const;

  double constant() const { return constant_; }

  /// One instruction of the stack machine; `arity` counts the arguments of a function that takes any number.
  struct Op {
    std::uint16_t code = 0;
    std::uint16_t arity = 0;
    double value = 0;
  };
  const std::vector<Op>& code() const { return code_; }  ///< postfix; empty: `constant`
  const std::vector<std::shared_ptr<const ExpressionTable>>& tables() const { return tables_; }

 private:
  friend class ExpressionCompiler;
  double evaluate(double t, std::span<const double> readings) const;

  double constant_ = 0;
  std::vector<Op> code_;
  std::vector<std::shared_ptr<const ExpressionTable>> tables_;
};

struct ExpressionFault {
  int column = 0;  ///< 0-based offset into the text
  std::string message;
};

/// joint('elbow').angle: a quantity of the running world. A name without a call, `tip`, has no function and no part.
struct ReadingRequest {
  std::string_view function;            ///< "joint"
  std::vector<std::string_view> names;  ///< what stands in quotes: {"elbow"}
  std::vector<int> columns;             ///< where each of them stands, 0-based offset into the text
  std::string_view part;                ///< "angle"; "velocity.x" where there are two
  int column = 0, part_column = 0;      ///< of the function and of the part
};

struct ExpressionContext {
  /// Value of a name (let variable, loop index), or nothing if there is no such name.
  std::function<std::optional<double>(std::string_view)> lookup;
  /// All names that `lookup` knows, for "did you mean".
  std::vector<std::string> names;
  bool allow_time = false;  ///< `t` is legal
  /// The place of a reading among those that Expression::at is given; a fault; or nothing, for a name without a call
  /// that means no reading. Absent: none is allowed here.
  std::function<std::optional<std::variant<int, ExpressionFault>>(const ReadingRequest&)> reading;
  /// A table by the name that it is called by, or null.
  std::function<std::shared_ptr<const ExpressionTable>(std::string_view)> table;
  std::vector<std::string> table_names;  ///< for "did you mean"
  std::uint64_t random_seed = 1;         ///< rand(i, j, ...) in [0, 1): a fixed function of the seed and its arguments
};

std::variant<Expression, ExpressionFault> compile_expression(std::string_view text, const ExpressionContext& context);

}  // namespace slipstick
