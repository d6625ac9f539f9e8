#include <gtest/gtest.h>
#include <slipstick/expression.h>

#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <set>

namespace slipstick {
namespace {

ExpressionContext make_context(std::map<std::string, double, std::less<>> values = {}, bool time = false) {
  ExpressionContext context;
  for (const auto& [name, value] : values) context.names.push_back(name);
  context.lookup = [values](std::string_view name) -> std::optional<double> {
    const auto it = values.find(name);
    if (it == values.end()) return std::nullopt;
    return it->second;
  };
  context.allow_time = time;
  return context;
}

double value_of(std::string_view text, const ExpressionContext& context = make_context()) {
  const auto result = compile_expression(text, context);
  if (const auto* fault = std::get_if<ExpressionFault>(&result)) {
    ADD_FAILURE() << text << ": " << fault->column << ": " << fault->message;
    return std::nan("");
  }
  EXPECT_TRUE(std::get<Expression>(result).is_constant()) << text;
  return std::get<Expression>(result).at(0);
}

std::string fault_of(std::string_view text, const ExpressionContext& context = make_context()) {
  const auto result = compile_expression(text, context);
  if (const auto* fault = std::get_if<ExpressionFault>(&result)) {
    return std::to_string(fault->column) + ": " + fault->message;
  }
  return "no fault";
}

TEST(Expression, ReadsNumbers) {
  EXPECT_EQ(value_of("42"), 42);
  EXPECT_EQ(value_of("1e-3"), 1e-3);
  EXPECT_EQ(value_of("1E+3"), 1000);
  EXPECT_EQ(value_of(".5"), 0.5);
  EXPECT_EQ(value_of("2."), 2);
  EXPECT_EQ(value_of("  7 \t"), 7);
  EXPECT_EQ(value_of("0.1"), 0.1);
}

TEST(Expression, HasTheUsualPrecedence) {
  EXPECT_EQ(value_of("1 + 2*3"), 7);
  EXPECT_EQ(value_of("(1 + 2)*3"), 9);
  EXPECT_EQ(value_of("10 - 4 - 3"), 3);
  EXPECT_EQ(value_of("16/4/2"), 2);
  EXPECT_EQ(value_of("-2^2"), -4);
  EXPECT_EQ(value_of("(-2)^2"), 4);
  EXPECT_EQ(value_of("2^3^2"), 512);
  EXPECT_EQ(value_of("2^-5"), 1.0 / 32);
  EXPECT_EQ(value_of("2*-3"), -6);
  EXPECT_EQ(value_of("--3"), 3);
  EXPECT_EQ(value_of("+3"), 3);
  EXPECT_EQ(value_of("1/60"), 1.0 / 60);
  EXPECT_EQ(value_of("7 % 4 * 2"), 6);
}

TEST(Expression, RemainderHasTheSignOfTheDivisor) {
  EXPECT_EQ(value_of("7 % 3"), 1);
  EXPECT_EQ(value_of("-1 % 5"), 4);
  EXPECT_EQ(value_of("mod(-7, 3)"), 2);
  EXPECT_EQ(value_of("mod(7, -3)"), -2);
  EXPECT_EQ(value_of("6 % 3"), 0);
}

TEST(Expression, ComparesAndChooses) {
  EXPECT_EQ(value_of("1 < 2"), 1);
  EXPECT_EQ(value_of("2 <= 1"), 0);
  EXPECT_EQ(value_of("3 == 3 && 1 != 2"), 1);
  EXPECT_EQ(value_of("0 || !1"), 0);
  EXPECT_EQ(value_of("1 > 2 ? 10 : 20"), 20);
  EXPECT_EQ(value_of("0 ? 1 : 0 ? 2 : 3"), 3);
  EXPECT_EQ(value_of("1 + 1 == 2 ? 5 : 6"), 5);
}

TEST(Expression, KnowsTheFunctions) {
  EXPECT_DOUBLE_EQ(value_of("sin(0.5)"), std::sin(0.5));
  EXPECT_DOUBLE_EQ(value_of("cos(0.5)"), std::cos(0.5));
  EXPECT_DOUBLE_EQ(value_of("tan(10*deg)"), std::tan(10 * std::numbers::pi / 180));
  EXPECT_DOUBLE_EQ(value_of("asin(0.5)"), std::asin(0.5));
  EXPECT_DOUBLE_EQ(value_of("acos(0.5)"), std::acos(0.5));
  EXPECT_DOUBLE_EQ(value_of("atan(2)"), std::atan(2));
  EXPECT_DOUBLE_EQ(value_of("atan2(1, -1)"), std::atan2(1, -1));
  EXPECT_DOUBLE_EQ(value_of("sinh(1) + cosh(1)"), std::exp(1));
  EXPECT_DOUBLE_EQ(value_of("tanh(1)"), std::tanh(1));
  EXPECT_DOUBLE_EQ(value_of("ln(exp(2))"), 2);
  EXPECT_DOUBLE_EQ(value_of("log(exp(2))"), 2);
  EXPECT_DOUBLE_EQ(value_of("log10(1000)"), 3);
  EXPECT_DOUBLE_EQ(value_of("log2(8)"), 3);
  EXPECT_EQ(value_of("sqrt(9)"), 3);
  EXPECT_EQ(value_of("abs(-3)"), 3);
  EXPECT_EQ(value_of("floor(-1.5)"), -2);
  EXPECT_EQ(value_of("ceil(-1.5)"), -1);
  EXPECT_EQ(value_of("round(2.5)"), 3);
  EXPECT_EQ(value_of("min(3, 1, 2)"), 1);
  EXPECT_EQ(value_of("max(3, 1, 2)"), 3);
  EXPECT_EQ(value_of("sign(-4) + sign(0)"), -1);
  EXPECT_EQ(value_of("hypot(3, 4)"), 5);
  EXPECT_EQ(value_of("clamp(7, 0, 5)"), 5);
  EXPECT_EQ(value_of("pow(2, 10)"), 1024);
  EXPECT_EQ(value_of("pi"), std::numbers::pi);
}

TEST(Expression, LooksNamesUp) {
  const auto context = make_context({{"i", 3}, {"j", 5}, {"mu", 0.5}});
  EXPECT_EQ(value_of("i + 0.5*(j % 2)", context), 3.5);
  EXPECT_EQ(value_of("mu", context), 0.5);
  EXPECT_EQ(fault_of("2*mu2", context), "2: unknown name 'mu2'; did you mean 'mu'?");
  EXPECT_EQ(fault_of("mu(3)", context), "0: 'mu' is not a function");
}

TEST(Expression, KeepsTimeWhereItIsAllowed) {
  const auto result = compile_expression("8*cos(2*pi*t) + t^2", make_context({}, true));
  const auto& expression = std::get<Expression>(result);
  EXPECT_FALSE(expression.is_constant());
  for (double t : {0.0, 0.3, 2.5}) {
    EXPECT_DOUBLE_EQ(expression.at(t), 8 * std::cos(2 * std::numbers::pi * t) + t * t);
  }
  const auto branch = compile_expression("t < 1 ? 2*t : max(t, 5, clamp(t, 0, 2))", make_context({}, true));
  EXPECT_EQ(std::get<Expression>(branch).at(0.25), 0.5);
  EXPECT_EQ(std::get<Expression>(branch).at(7), 7);
  EXPECT_TRUE(std::get<Expression>(compile_expression("2*3", make_context({}, true))).is_constant());
  EXPECT_EQ(fault_of("1 + t"), "4: 't' (the time) is not allowed here");
}

TEST(Expression, DefaultIsZero) {
  EXPECT_EQ(Expression().at(3), 0);
  EXPECT_EQ(Expression(4).at(3), 4);
}

TEST(Expression, RandIsAFixedFunctionOfSeedAndArguments) {
  auto context = make_context();
  std::set<double> seen;
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const double x = value_of("rand(" + std::to_string(i) + ", 2)", context);
    EXPECT_GE(x, 0);
    EXPECT_LT(x, 1);
    EXPECT_EQ(x, value_of("rand(" + std::to_string(i) + ", 2)", context));
    seen.insert(x);
    sum += x;
  }
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_NEAR(sum / 1000, 0.5, 0.05);
  EXPECT_NE(value_of("rand(1, 2)", context), value_of("rand(2, 1)", context));
  const double before = value_of("rand(1)", context);
  context.random_seed = 2;
  EXPECT_NE(value_of("rand(1)", context), before);
}

TEST(Expression, RandOfTimeIsEvaluatedLater) {
  const auto result = compile_expression("rand(floor(t))", make_context({}, true));
  EXPECT_EQ(std::get<Expression>(result).at(3.7), value_of("rand(3)"));
}

TEST(Expression, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(fault_of(""), "0: expected a number, got nothing");
  EXPECT_EQ(fault_of("  "), "0: expected a number, got nothing");
  EXPECT_EQ(fault_of("1 + )"), "4: unexpected ')'");
  EXPECT_EQ(fault_of("1 +"), "3: unexpected end of the expression");
  EXPECT_EQ(fault_of("(1 + 2"), "6: missing ')'");
  EXPECT_EQ(fault_of("1)"), "1: unexpected ')'");
  EXPECT_EQ(fault_of("1 2"), "2: unexpected '2'");
  EXPECT_EQ(fault_of("5 kg"), "2: unexpected 'kg' after a value; units are not written, all values are SI");
  EXPECT_EQ(fault_of("30deg"), "2: unexpected 'deg'; did you mean '*deg'?");
  EXPECT_EQ(fault_of("sqrtt(1)"), "0: unknown function 'sqrtt'; did you mean 'sqrt'?");
  EXPECT_EQ(fault_of("1 + sin"), "4: 'sin' is a function; write sin(...)");
  EXPECT_EQ(fault_of("atan2(1)"), "0: 'atan2' takes 2 arguments, got 1");
  EXPECT_EQ(fault_of("sqrt()"), "0: 'sqrt' takes 1 argument, got 0");
  EXPECT_EQ(fault_of("rand()"), "0: 'rand' takes at least 1 argument, got 0");
  EXPECT_EQ(fault_of("1e999"), "0: number '1e999' is out of range");
  EXPECT_EQ(fault_of("2 \xC3\x97 3"), "2: unexpected '\xC3\x97'");
  EXPECT_EQ(fault_of("1 ? 2"), "5: expected ':' of 'a ? b : c'");
  EXPECT_EQ(fault_of("1 = 1"), "2: unexpected '='; did you mean '=='?");
}

TEST(Expression, BoundsHostileInput) {
  EXPECT_EQ(fault_of(std::string(5000, '(')), "50: expression nested too deeply");
  EXPECT_NE(fault_of(std::string(9000, '-') + "1"), "no fault");
  EXPECT_EQ(fault_of(std::string(20000, '1')), "0: expression of more than 10000 characters");
  std::string power = "2";
  for (int i = 0; i < 2000; ++i) power += "^1";
  EXPECT_NE(fault_of(power), "no fault");
  std::string many = "max(1";
  for (int i = 0; i < 200; ++i) many += ",1";
  EXPECT_EQ(fault_of(many + ")").substr(5), "expression too deep");
  std::string sum = "1";  // long but flat is legal
  for (int i = 0; i < 2000; ++i) sum += "+1";
  EXPECT_EQ(value_of(sum), 2001);
}

TEST(Expression, RandomTextNeverCrashes) {
  const std::string alphabet = "0123456789.e+-*/%^()<>=!&|?:, tipxysncoarmd_\xC3\xFF";
  std::mt19937 generator(7);
  const auto context = make_context({{"x", 2}}, true);
  int good = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text(generator() % 12, ' ');
    for (char& c : text) c = alphabet[generator() % alphabet.size()];
    const auto result = compile_expression(text, context);
    if (const auto* fault = std::get_if<ExpressionFault>(&result)) {
      EXPECT_GE(fault->column, 0);
      EXPECT_LE(fault->column, static_cast<int>(text.size()));
      EXPECT_FALSE(fault->message.empty());
    } else {
      std::get<Expression>(result).at(1.5);
      ++good;
    }
  }
  EXPECT_GT(good, 100);
}

}  // namespace
}  // namespace slipstick
