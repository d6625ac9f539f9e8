// Room: base. Arithmetic written by a person ("8*cos(t)", "i + 0.5*(j % 2)"), compiled once, evaluated without
// allocation.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace slipstick {

/// A compiled formula whose only free variable is the time t. Plain data: copyable, comparable, thread-safe.
class Expression {
 public:
  Expression() = default;                               ///< the constant 0
  Expression(double constant) : constant_(constant) {}  // NOLINT(google-explicit-constructor): a number is a formula

  double at(double t) const { return code_.empty() ? constant_ : evaluate(t); }
  bool is_constant() const { return code_.empty(); }
  Expression times(double factor) const;

  double constant() const { return constant_; }

  /// One instruction of the stack machine; `arity` counts the arguments of a function that takes any number.
  struct Op {
    std::uint16_t code = 0;
    std::uint16_t arity = 0;
    double value = 0;
  };
  const std::vector<Op>& code() const { return code_; }  ///< postfix; empty: `constant`

 private:
  friend class ExpressionCompiler;
  double evaluate(double t) const;

  double constant_ = 0;
  std::vector<Op> code_;
};

struct ExpressionFault {
  int column = 0;  ///< 0-based offset into the text
  std::string message;
};

struct ExpressionContext {
  /// Value of a name (let variable, loop index), or nothing if there is no such name.
  std::function<std::optional<double>(std::string_view)> lookup;
  /// All names that `lookup` knows, for "did you mean".
  std::vector<std::string> names;
  bool allow_time = false;        ///< `t` is legal
  std::uint64_t random_seed = 1;  ///< rand(i, j, ...) in [0, 1): a fixed function of the seed and its arguments
};

std::variant<Expression, ExpressionFault> compile_expression(std::string_view text, const ExpressionContext& context);

}  // namespace slipstick
