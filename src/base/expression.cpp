#include <slipstick/expression.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <utility>

#include "base/as_quoted.h"
#include "base/closest_name.h"
#include "base/hash.h"

namespace slipstick {
namespace {

constexpr std::size_t kMaxLength = 10000;  // characters: more is not written by a person
constexpr int kMaxNesting = 100;           // bounds the recursion of the compiler
constexpr int kStackSize = 128;            // bounds the stack of the evaluator, checked by the compiler
constexpr std::uint16_t kAnyArity = 0xffff;

// clang-format off
enum class Code : std::uint16_t {
  Constant, Time, Negate, Not, Add, Subtract, Multiply, Divide, Modulo, Power, Less, LessEqual, Greater, GreaterEqual,
  Equal, NotEqual, And, Or, Select, Sin, Cos, Tan, Asin, Acos, Atan, Atan2, Sinh, Cosh, Tanh, Exp, Log, Log10, Log2,
  Sqrt, Abs, Floor, Ceil, Round, Sign, Hypot, Clamp, Min, Max, Rand, Reading, Table
};
// clang-format on

struct Function {
  std::string_view name;
  Code code;
  std::uint16_t arity;
};

constexpr std::array kFunctions{
    Function{"abs", Code::Abs, 1},     Function{"acos", Code::Acos, 1},       Function{"asin", Code::Asin, 1},
    Function{"atan", Code::Atan, 1},   Function{"atan2", Code::Atan2, 2},     Function{"ceil", Code::Ceil, 1},
    Function{"clamp", Code::Clamp, 3}, Function{"cos", Code::Cos, 1},         Function{"cosh", Code::Cosh, 1},
    Function{"exp", Code::Exp, 1},     Function{"floor", Code::Floor, 1},     Function{"hypot", Code::Hypot, 2},
    Function{"ln", Code::Log, 1},      Function{"log", Code::Log, 1},         Function{"log10", Code::Log10, 1},
    Function{"log2", Code::Log2, 1},   Function{"max", Code::Max, kAnyArity}, Function{"min", Code::Min, kAnyArity},
    Function{"mod", Code::Modulo, 2},  Function{"pow", Code::Power, 2},       Function{"rand", Code::Rand, kAnyArity},
    Function{"round", Code::Round, 1}, Function{"sign", Code::Sign, 1},       Function{"sin", Code::Sin, 1},
    Function{"sinh", Code::Sinh, 1},   Function{"sqrt", Code::Sqrt, 1},       Function{"tan", Code::Tan, 1},
    Function{"tanh", Code::Tanh, 1},
};

struct BinaryOperator {
  std::string_view text;
  Code code;
  int precedence;
};

// Longer texts before their own beginnings. '^' is not here: it binds tighter than a sign (-2^2 = -4).
constexpr std::array kBinaryOperators{
    BinaryOperator{"||", Code::Or, 1},        BinaryOperator{"&&", Code::And, 2},
    BinaryOperator{"==", Code::Equal, 3},     BinaryOperator{"!=", Code::NotEqual, 3},
    BinaryOperator{"<=", Code::LessEqual, 4}, BinaryOperator{">=", Code::GreaterEqual, 4},
    BinaryOperator{"<", Code::Less, 4},       BinaryOperator{">", Code::Greater, 4},
    BinaryOperator{"+", Code::Add, 5},        BinaryOperator{"-", Code::Subtract, 5},
    BinaryOperator{"*", Code::Multiply, 6},   BinaryOperator{"/", Code::Divide, 6},
    BinaryOperator{"%", Code::Modulo, 6},
};

const Function* find_function(std::string_view name) {
  const auto* it =
      std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) { return f.name == name; });
  return it == kFunctions.end() ? nullptr : it;
}

std::optional<double> find_constant(std::string_view name) {
  if (name == "pi") return std::numbers::pi;
  if (name == "deg") return std::numbers::pi / 180;
  return std::nullopt;
}

/// The remainder with the sign of the divisor, so that (i - 1) % n runs around a ring.
double floored_modulo(double x, double y) {
  const double r = std::fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

double apply_unary(Code code, double x) {
  switch (code) {
    case Code::Negate:
      return -x;
    case Code::Not:
      return x == 0 ? 1 : 0;
    case Code::Sin:
      return std::sin(x);
    case Code::Cos:
      return std::cos(x);
    case Code::Tan:
      return std::tan(x);
    case Code::Asin:
      return std::asin(x);
    case Code::Acos:
      return std::acos(x);
    case Code::Atan:
      return std::atan(x);
    case Code::Sinh:
      return std::sinh(x);
    case Code::Cosh:
      return std::cosh(x);
    case Code::Tanh:
      return std::tanh(x);
    case Code::Exp:
      return std::exp(x);
    case Code::Log:
      return std::log(x);
    case Code::Log10:
      return std::log10(x);
    case Code::Log2:
      return std::log2(x);
    case Code::Sqrt:
      return std::sqrt(x);
    case Code::Abs:
      return std::abs(x);
    case Code::Floor:
      return std::floor(x);
    case Code::Ceil:
      return std::ceil(x);
    case Code::Round:
      return std::round(x);
    default:
      return x > 0 ? 1 : x < 0 ? -1 : x;  // sign; NaN stays NaN
  }
}

double apply_binary(Code code, double x, double y) {
  switch (code) {
    case Code::Add:
      return x + y;
    case Code::Subtract:
      return x - y;
    case Code::Multiply:
      return x * y;
    case Code::Divide:
      return x / y;
    case Code::Modulo:
      return floored_modulo(x, y);
    case Code::Power:
      return std::pow(x, y);
    case Code::Less:
      return x < y;
    case Code::LessEqual:
      return x <= y;
    case Code::Greater:
      return x > y;
    case Code::GreaterEqual:
      return x >= y;
    case Code::Equal:
      return x == y;
    case Code::NotEqual:
      return x != y;
    case Code::And:
      return x != 0 && y != 0;
    case Code::Or:
      return x != 0 || y != 0;
    case Code::Atan2:
      return std::atan2(x, y);
    default:
      return std::hypot(x, y);
  }
}

/// One operation on its arguments, first argument first.
double apply(const Expression::Op& op, std::span<const double> x) {
  const auto code = static_cast<Code>(op.code);
  switch (code) {
    case Code::Select:
      return x[0] != 0 ? x[1] : x[2];
    case Code::Clamp:
      return x[0] < x[1] ? x[1] : x[0] > x[2] ? x[2] : x[0];
    case Code::Min:
      return *std::min_element(x.begin(), x.end());
    case Code::Max:
      return *std::max_element(x.begin(), x.end());
    case Code::Rand:
      return hashed_random(std::bit_cast<std::uint64_t>(op.value), x);
    default:
      return x.size() == 1 ? apply_unary(code, x[0]) : apply_binary(code, x[0], x[1]);
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

}  // namespace

double ExpressionTable::at(double where) const {
  if (!(where > x.front())) return std::isnan(where) ? where : y.front();
  if (where >= x.back()) return y.back();
  const auto above = static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), where) - x.begin());
  const double share = (where - x[above - 1]) / (x[above] - x[above - 1]);
  return y[above - 1] + share * (y[above] - y[above - 1]);
}

std::vector<int> Expression::readings() const {
  std::vector<int> places;
  for (const Op& op : code_)
    if (op.code == static_cast<std::uint16_t>(Code::Reading)) places.push_back(static_cast<int>(op.value));
  return places;
}

Expression Expression::times(double factor) const {
  if (is_constant()) return constant_ * factor;
  Expression product = *this;  // the factor comes last: the stack grows by one where one value was left
  product.code_.push_back({static_cast<std::uint16_t>(Code::Constant), 0, factor});
  product.code_.push_back({static_cast<std::uint16_t>(Code::Multiply), 2, 0});
  return product;
}

double Expression::evaluate(double t, std::span<const double> readings) const {
  std::array<double, kStackSize> stack;
  int top = 0;  // the compiler has proved top <= kStackSize
  for (const Op& op : code_) {
    const auto code = static_cast<Code>(op.code);
    if (code == Code::Constant) {
      stack[top++] = op.value;
    } else if (code == Code::Time) {
      stack[top++] = t;
    } else if (code == Code::Reading) {
      const auto place = static_cast<std::size_t>(op.value);
      stack[top++] = place < readings.size() ? readings[place] : 0;
    } else if (code == Code::Table) {
      stack[top - 1] = tables_[static_cast<std::size_t>(op.value)]->at(stack[top - 1]);
    } else {
      top -= op.arity;
      stack[top] = apply(op, {stack.data() + top, op.arity});
      ++top;
    }
  }
  return stack[0];
}

/// Recursive descent to postfix code; an operation on constants is done at once, so that only what depends on t stays.
class ExpressionCompiler {
 public:
  ExpressionCompiler(std::string_view text, const ExpressionContext& context) : text_(text), context_(context) {}

  std::variant<Expression, ExpressionFault> compile() {
    if (text_.size() > kMaxLength) {
      fail(0, "expression of more than " + std::to_string(kMaxLength) + " characters");
    } else if (skip_space(); at_ == text_.size()) {
      fail(0, "expected a number, got nothing");
    } else if (parse_ternary()) {
      skip_space();
      if (at_ < text_.size()) fail_trailing();
    }
    if (fault_) return *std::move(fault_);
    Expression result;
    if (code_.size() == 1 && code_[0].code == index(Code::Constant)) {
      result.constant_ = code_[0].value;
    } else {
      result.code_ = std::move(code_);
      result.tables_ = std::move(tables_);
    }
    return result;
  }

 private:
  static std::uint16_t index(Code code) { return static_cast<std::uint16_t>(code); }

  bool fail(std::size_t column, std::string message) {
    if (!fault_) fault_ = ExpressionFault{static_cast<int>(column), std::move(message)};
    return false;
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  bool accept(std::string_view token) {
    skip_space();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  /// The word, number or character at the reading place, for a message. A UTF-8 sequence is kept whole.
  std::string_view token_here() const {
    std::size_t end = at_ + 1;
    if (is_name_part(text_[at_])) {
      while (end < text_.size() && is_name_part(text_[end])) ++end;
    } else {
      while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) ++end;
    }
    return text_.substr(at_, end - at_);
  }

  bool fail_trailing() {
    const std::string_view token = token_here();
    std::string message = "unexpected " + as_quoted(token);
    if (token == "deg" || token == "pi") {
      message += "; did you mean '*" + std::string(token) + "'?";
    } else if (is_name_start(token[0])) {
      message += " after a value; units are not written, all values are SI";
    } else if (token == "=") {
      message += "; did you mean '=='?";
    }
    return fail(at_, std::move(message));
  }

  bool push(Expression::Op op) {
    code_.push_back(op);
    if (++depth_ > kStackSize) return fail(at_, "expression too deep");
    return true;
  }

  bool push_constant(double value) { return push({index(Code::Constant), 0, value}); }

  void emit(Code code, std::size_t arity, double value = 0) {
    const Expression::Op op{index(code), static_cast<std::uint16_t>(arity), value};
    depth_ -= static_cast<int>(arity) - 1;
    const auto arguments = std::span(code_).last(std::min(arity, code_.size()));
    const bool all_constant = std::all_of(arguments.begin(), arguments.end(),
                                          [](const Expression::Op& a) { return a.code == index(Code::Constant); });
    if (!all_constant) {
      code_.push_back(op);
      return;
    }
    std::array<double, kStackSize> x;
    for (std::size_t i = 0; i < arity; ++i) x[i] = arguments[i].value;
    code_.resize(code_.size() - arity);
    code_.push_back({index(Code::Constant), 0, apply(op, {x.data(), arity})});
  }

  /// Counts the nesting of a scope of the parser.
  class Nesting {
   public:
    explicit Nesting(int* depth) : depth_(depth) { ++*depth_; }
    ~Nesting() { --*depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    int* depth_;
  };

  bool parse_ternary() {
    const Nesting nesting(&nesting_);
    if (nesting_ > kMaxNesting) return fail(at_, "expression nested too deeply");
    if (!parse_binary(1)) return false;
    if (!accept("?")) return true;
    if (!parse_ternary()) return false;
    if (!accept(":")) return fail(at_, "expected ':' of 'a ? b : c'");
    if (!parse_ternary()) return false;
    emit(Code::Select, 3);
    return true;
  }

  const BinaryOperator* peek_operator() {
    skip_space();
    const std::string_view rest = text_.substr(at_);
    const auto* it = std::find_if(kBinaryOperators.begin(), kBinaryOperators.end(),
                                  [&](const BinaryOperator& o) { return rest.starts_with(o.text); });
    return it == kBinaryOperators.end() ? nullptr : it;
  }

  /// Precedence climbing: all operators that bind at least as tightly as `least`, left to right.
  bool parse_binary(int least) {
    if (!parse_sign()) return false;
    for (;;) {
      const BinaryOperator* op = peek_operator();
      if (op == nullptr || op->precedence < least) return true;
      at_ += op->text.size();
      if (!parse_binary(op->precedence + 1)) return false;
      emit(op->code, 2);
    }
  }

  bool parse_sign() {
    const Nesting nesting(&nesting_);
    if (nesting_ > kMaxNesting) return fail(at_, "expression nested too deeply");
    skip_space();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c != '-' && c != '+' && c != '!') return parse_power();
    ++at_;
    if (!parse_sign()) return false;
    if (c == '-') emit(Code::Negate, 1);
    if (c == '!') emit(Code::Not, 1);
    return true;
  }

  bool parse_power() {
    if (!parse_primary()) return false;
    if (!accept("^")) return true;
    if (!parse_sign()) return false;  // right-associative, and 2^-3 is legal
    emit(Code::Power, 2);
    return true;
  }

  bool parse_primary() {
    skip_space();
    if (at_ == text_.size()) return fail(at_, "unexpected end of the expression");
    const char c = text_[at_];
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (is_digit(c) || (c == '.' && is_digit(next))) return parse_number();
    if (is_name_start(c)) return parse_name();
    if (c != '(') return fail(at_, "unexpected " + as_quoted(token_here()));
    ++at_;
    return parse_ternary() && close_parenthesis();
  }

  bool close_parenthesis() {
    if (accept(")")) return true;
    if (at_ < text_.size()) return fail_trailing();
    return fail(at_, "missing ')'");
  }

  bool parse_number() {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    const auto length = static_cast<std::size_t>(end - (text_.data() + at_));
    if (error != std::errc()) return fail(at_, "number " + as_quoted(text_.substr(at_, length)) + " is out of range");
    at_ += length;
    return push_constant(value);
  }

  bool parse_name() {
    const std::size_t start = at_;
    const std::string_view name = token_here();
    at_ += name.size();
    skip_space();
    const bool called = at_ < text_.size() && text_[at_] == '(';
    if (called && begins_quote(at_ + 1)) return parse_reading(start, name);
    if (const Function* function = find_function(name)) {
      if (!called) return fail(start, as_quoted(name) + " is a function; write " + std::string(name) + "(...)");
      ++at_;
      return parse_call(start, *function);
    }
    if (name == "t" && context_.allow_time && !called) return push({index(Code::Time), 0, 0});
    std::optional<double> value = find_constant(name);
    if (!value && context_.lookup) value = context_.lookup(name);
    if (!value && called && context_.table) {
      if (auto table = context_.table(name)) return parse_table(start, name, std::move(table));
    }
    if (!value && !called && context_.reading) {
      if (const auto found = context_.reading({{}, {name}, {int(start)}, {}, int(start), int(start)}))
        return push_reading(*found);
    }
    if (!value) return fail_name(start, name, called);
    if (called) return fail(start, as_quoted(name) + " is not a function");
    return push_constant(*value);
  }

  /// A quote is next, after spaces.
  bool begins_quote(std::size_t at) const {
    while (at < text_.size() && text_[at] == ' ') ++at;
    return at < text_.size() && (text_[at] == '\'' || text_[at] == '"');
  }

  bool push_reading(const std::variant<int, ExpressionFault>& found) {
    if (const auto* fault = std::get_if<ExpressionFault>(&found))
      return fail(static_cast<std::size_t>(fault->column), fault->message);
    return push({index(Code::Reading), 0, static_cast<double>(std::get<int>(found))});
  }

  /// name('one', 'two').part.part; the reading place is at the parenthesis.
  bool parse_reading(std::size_t start, std::string_view name) {
    ReadingRequest request{name, {}, {}, {}, static_cast<int>(start), 0};
    ++at_;
    do {
      skip_space();
      if (!begins_quote(at_)) return fail(at_, "expected a name in quotes, as in " + std::string(name) + "('name')");
      const char quote = text_[at_++];
      const std::size_t end = text_.find(quote, at_);
      if (end == std::string_view::npos) return fail(at_ - 1, "missing quote at the end of the name");
      request.names.push_back(text_.substr(at_, end - at_));
      request.columns.push_back(static_cast<int>(at_));
      at_ = end + 1;
    } while (accept(","));
    if (!close_parenthesis()) return false;
    const std::size_t part = at_ + 1;
    while (at_ < text_.size() && text_[at_] == '.' && at_ + 1 < text_.size() && is_name_start(text_[at_ + 1])) {
      ++at_;
      at_ += token_here().size();
    }
    if (at_ > part) request.part = text_.substr(part, at_ - part);
    request.part_column = static_cast<int>(std::min(part, text_.size()));
    if (!context_.reading) return fail(start, "readings of the running scene are not allowed here");
    const auto found = context_.reading(request);
    return found ? push_reading(*found) : fail_name(start, name, true);
  }

  bool parse_table(std::size_t start, std::string_view name, std::shared_ptr<const ExpressionTable> table) {
    ++at_;
    if (!parse_ternary()) return false;
    if (accept(",")) return fail(start, "table " + as_quoted(name) + " takes 1 argument");
    if (!close_parenthesis()) return false;
    if (code_.back().code == index(Code::Constant)) {
      code_.back().value = table->at(code_.back().value);
      return true;
    }
    code_.push_back({index(Code::Table), 1, static_cast<double>(tables_.size())});
    tables_.push_back(std::move(table));
    return true;
  }

  bool fail_name(std::size_t start, std::string_view name, bool called) {
    if (name == "t" && !called) return fail(start, "'t' (the time) is not allowed here");
    std::vector<std::string> known;
    if (!called) {
      known = context_.names;
      known.insert(known.end(), {"pi", "deg"});
    } else {
      known = context_.table_names;
    }
    for (const Function& function : kFunctions) known.emplace_back(function.name);
    std::string message = (called ? "unknown function " : "unknown name ") + as_quoted(name);
    if (const auto close = closest_name(name, known)) message += "; did you mean " + as_quoted(*close) + "?";
    return fail(start, std::move(message));
  }

  bool parse_call(std::size_t start, const Function& function) {
    std::size_t count = 0;
    if (!accept(")")) {
      do {
        if (!parse_ternary()) return false;
        ++count;
      } while (accept(","));
      if (!close_parenthesis()) return false;
    }
    const bool any = function.arity == kAnyArity;
    if (any ? count == 0 : count != function.arity) {
      const std::size_t wanted = any ? 1 : function.arity;
      return fail(start, as_quoted(function.name) + " takes " + (any ? "at least " : "") + std::to_string(wanted) +
                             (wanted == 1 ? " argument, got " : " arguments, got ") + std::to_string(count));
    }
    emit(function.code, count, function.code == Code::Rand ? std::bit_cast<double>(context_.random_seed) : 0);
    return true;
  }

  std::string_view text_;
  const ExpressionContext& context_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  int depth_ = 0;  ///< of the evaluator's stack after the code so far
  std::vector<Expression::Op> code_;
  std::vector<std::shared_ptr<const ExpressionTable>> tables_;
  std::optional<ExpressionFault> fault_;
};

std::variant<Expression, ExpressionFault> compile_expression(std::string_view text, const ExpressionContext& context) {
  return ExpressionCompiler(text, context).compile();
}

}  // namespace slipstick
