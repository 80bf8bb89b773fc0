// The expression language: what formulas mean, what is refused and how, and that compiling is
// cached. Values come from closed forms in <cmath>, evaluated by the interpreter of
// expression_support.h.
#include <thread>

#include "expression_support.h"

namespace tenon {
namespace {

double f1(std::string_view text, double x) {
  return value_at(*parsed("f(Tensor x) -> Tensor", text), {x});
}
double f2(std::string_view text, double x, double y) {
  return value_at(*parsed("f(Tensor x, Tensor y) -> Tensor", text), {x, y});
}
// Of a formula of constants: the program must hold nothing but the result.
double constant(std::string_view text) {
  const auto e = parsed("f(Tensor x) -> Tensor", text);
  const CompiledProgram& c = compiled(*e, {dims(TN_FLOAT64)});
  EXPECT_EQ(c.program.n_instructions, 2u) << text << " is not folded";
  return run(*e, {dims(TN_FLOAT64)}, {0.0})[0].f;
}

TEST(Expression, FunctionsAreThoseOfTheInstructions) {
  using Real = double (*)(double);
  const std::pair<const char*, Real> rows[] = {
      {"abs", std::fabs},        {"floor", std::floor}, {"ceil", std::ceil},
      {"round", std::nearbyint}, {"trunc", std::trunc}, {"sqrt", std::sqrt},
      {"exp", std::exp},         {"exp2", std::exp2},   {"expm1", std::expm1},
      {"log", std::log},         {"log2", std::log2},   {"log10", std::log10},
      {"log1p", std::log1p},     {"sin", std::sin},     {"cos", std::cos},
      {"tan", std::tan},         {"asin", std::asin},   {"acos", std::acos},
      {"atan", std::atan},       {"sinh", std::sinh},   {"cosh", std::cosh},
      {"tanh", std::tanh},       {"asinh", std::asinh}, {"atanh", std::atanh},
      {"erf", std::erf},         {"erfc", std::erfc}};
  for (const auto& [name, function] : rows) {
    for (double x : {0.25, 0.75}) EXPECT_EQ(f1(std::string(name) + "(x)", x), function(x)) << name;
  }
  EXPECT_EQ(f1("acosh(x)", 1.5), std::acosh(1.5));
  EXPECT_EQ(f1("sign(x)", -3), -1);
  EXPECT_EQ(f1("round(x)", 2.5), 2);
  EXPECT_DOUBLE_EQ(f1("sigmoid(x)", 2), 1 / (1 + std::exp(-2.0)));
  EXPECT_EQ(f1("sigmoid(x)", -1000), 0);
  EXPECT_EQ(f1("rsqrt(x)", 4), 0.5);
  EXPECT_EQ(f1("reciprocal(x)", 4), 0.25);
  EXPECT_EQ(f1("square(x)", -3), 9);
  EXPECT_EQ(f1("clamp(x, -1, 2)", 5), 2);
  EXPECT_EQ(f1("clamp(x, -1, 2)", -5), -1);
  EXPECT_EQ(f1("float(isfinite(x))", INFINITY), 0);
  EXPECT_EQ(f1("float(isfinite(x)) + float(isnan(x)) + float(isinf(x))", NAN), 1);
  EXPECT_EQ(f1("float(logical_not(x))", 0), 1);
  EXPECT_EQ(f2("atan2(x, y)", 1, -2), std::atan2(1, -2));
  EXPECT_EQ(f2("pow(x, y)", 2, 0.3), std::pow(2, 0.3));
  EXPECT_EQ(f2("fmod(x, y)", -7, 3), -1);
  EXPECT_EQ(f2("remainder(x, y)", -7, 3), 2);
  EXPECT_EQ(f2("floor_div(x, y)", -7, 3), -3);
  EXPECT_EQ(f2("trunc_div(x, y)", -7, 3), -2);
  EXPECT_EQ(f2("trunc_div(x, y)", 1, 0.1), 10);  // of floats the rounded quotient, as PyTorch's
  EXPECT_EQ(f2("min(x, y, 3, 2.5)", 4, 5), 2.5);
  EXPECT_EQ(f2("max(x, y, 3, 2.5)", 4, 5), 5);
  EXPECT_TRUE(std::isnan(f2("max(x, y)", NAN, 5)));
  EXPECT_EQ(f2("where(x > y, x, y * 2)", 1, 5), 10);
}

TEST(Expression, OperatorsBindAsPythons) {
  EXPECT_EQ(f1("-x ** 2", 3), -9);
  EXPECT_EQ(f1("2 ** -x", 1), 0.5);
  EXPECT_EQ(f1("x ** 3 ** 2 / 19683", 3), 1);
  EXPECT_EQ(f1("2 - x - 1", 5), -4);
  EXPECT_EQ(f1("12 / x / 2", 3), 2);
  EXPECT_EQ(f1("1 + 2 * x", 3), 7);
  EXPECT_EQ(f1("(1 + 2) * x", 3), 9);
  EXPECT_EQ(f1("-x % 5", 3), 2);
  EXPECT_EQ(f1("x // 2 * 2", 7), 6);
  EXPECT_EQ(f1("--x", 7), 7);
  EXPECT_EQ(f1("+x", 7), 7);
  EXPECT_EQ(f1("float(not x > 1 and x < 9 or x == 4)", 4), 1);
  EXPECT_EQ(f1("float(not x)", 4), 0);
  EXPECT_EQ(f1("float((int(x) & 6 | 8 ^ 1) << 1)", 5), (((5 & 6) | (8 ^ 1)) << 1));
  EXPECT_EQ(f1("float(~int(x) >> 1)", 5), -3);
  EXPECT_EQ(f2("float((x < y) ^ (x != y))", 1, 2), 0);
  EXPECT_EQ(f2("float(x <= y) + float(x >= y) + float(x == y)", 2, 2), 3);
}

TEST(Expression, ConstantsFoldAsPythonsNumbers) {
  EXPECT_EQ(constant("2 * 3 + 1 / 4"), 6.25);
  EXPECT_EQ(constant("sqrt(2 / pi)"), std::sqrt(2 / 3.14159265358979323846));
  EXPECT_EQ(constant("2 ** 10"), 1024);
  EXPECT_EQ(constant("2 ** -1"), 0.5);
  EXPECT_EQ(constant("-inf"), -INFINITY);
  EXPECT_TRUE(std::isnan(constant("nan")));
  EXPECT_EQ(constant(".5e1"), 5);
  EXPECT_EQ(constant("True"), 1);
  EXPECT_EQ(constant("float(3) / 2"), 1.5);
}

TEST(Expression, LetNamesAPartAndLinesGoOnWithinParentheses) {
  const auto e = parsed("gelu(Tensor x) -> Tensor", R"(
    let inner = sqrt(2 / pi) * (
        x + 0.044715 * x ** 3)

    0.5 * x * (1 + tanh(inner))
  )");
  const double x = 0.7;
  EXPECT_DOUBLE_EQ(value_at(*e, {x}), 0.5 * x *
                                          (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) *
                                                         (x + 0.044715 * x * x * x))));
  EXPECT_EQ(f1("let a = x + 1; let b = a * a; b - a", 2), 6);
}

TEST(Expression, SeveralOutputsComeInOrder) {
  const auto e =
      parsed("f(Tensor x, Tensor y) -> (Tensor sum, Tensor less, Tensor x)", "x + y; x < y\nx");
  const std::vector<Cell> out = run(*e, {dims(TN_FLOAT32), dims(TN_FLOAT32)}, {1.0, 2.0});
  EXPECT_EQ(e->n_outputs(), 3u);
  EXPECT_EQ(out[0].f, 3);
  EXPECT_EQ(out[1].i, 1);
  EXPECT_EQ(out[2].f, 1);
}

TEST(Expression, ScalarArgumentsAreParametersBehindOperandsThatAreRead) {
  const auto e =
      parsed("f(Tensor x, Tensor y, float a=2, int n=1, bool flip=False, number k=3) -> Tensor",
             "where(flip, -x, x) * a + y ** n + k");
  EXPECT_EQ(e->n_operands(), 2u);
  EXPECT_EQ(e->n_scalars(), 4u);
  EXPECT_EQ(run(*e, {dims(TN_FLOAT64), dims(TN_FLOAT64)}, {3.0, 5.0}, {2.0, 2, 1, 0.5})[0].f,
            -6 + 25 + 0.5);
  // x as a parameter: it comes first, y is input 0 then.
  const OperandType read{TN_FLOAT32, Category::kZeroDim, true};
  EXPECT_EQ(run(*e, {read, dims(TN_FLOAT64)}, {3.0, 5.0}, {2.0, 2, 0, 0.5})[0].f, 6 + 25 + 0.5);
  EXPECT_EQ(run(*e, {number(TN_INT64), dims(TN_FLOAT64)}, {3, 5.0}, {2.0, 2, 0, 0.5})[0].f,
            6 + 25 + 0.5);
  EXPECT_EQ(run(*e, {number(TN_BOOL), dims(TN_FLOAT64)}, {1, 5.0}, {2.0, 2, 0, 0.5})[0].f,
            2 + 25 + 0.5);
}

TEST(Expression, IntParametersThatOnlyFloatsUseAreReadAsFloats) {
  const auto e = parsed("f(Tensor x, int n, int m) -> Tensor", "where(m > 1, x * n, x * m)");
  EXPECT_EQ(compiled(*e, {dims(TN_FLOAT32)}).params_are_float, (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(compiled(*e, {dims(TN_INT64)}).params_are_float, (std::vector<uint8_t>{0, 0}));
  EXPECT_EQ(run(*e, {dims(TN_FLOAT32)}, {0.5}, {7, 2})[0].f, 3.5);
}

// A bound beyond the dtype bounds nothing. One that leaves nothing of it is wrapped as a literal,
// and looked at as a number of the call.
TEST(Expression, BoundsOfNarrowIntegersAreComparedAsTheyAre) {
  const auto of_byte = [](const char* text, int x) {
    return run(*parsed("f(Tensor x) -> Tensor", text), {dims(TN_UINT8)}, {x}, {})[0].i;
  };
  for (int x : {0, 5, 255}) {
    for (const char* text : {"max(x, -1)", "max(-300, x)", "min(x, 300)", "min(70000, x)",
                             "clamp(x, -5, 256)", "max(x, False)"})
      EXPECT_EQ(of_byte(text, x), x) << text;
    EXPECT_EQ(of_byte("clamp(x, -5, 7) + 255", x), std::min(x, 7) == 0 ? 255 : std::min(x, 7) - 1);
  }
  EXPECT_EQ(of_byte("max(x, 300)", 5), 44);
  const auto e = parsed("f(Tensor x, number low, number high) -> Tensor", "clamp(x, low, high)");
  const CompiledProgram& ints = compiled(*e, {dims(TN_INT32), number(TN_INT64), number(TN_INT64)});
  EXPECT_EQ(run_program(ints, {TN_INT32}, {-7}, {int64_t{-1} << 40, int64_t{1} << 40})[0].i, -7);
  EXPECT_EQ(ints.checks.any, 3u);
  EXPECT_EQ(ints.checks.greatest, 1u);
  EXPECT_EQ(ints.checks.least, 2u);
  EXPECT_EQ(ints.checks.int_dtype, TN_INT32);
  for (tn_dtype dtype : {TN_INT64, TN_FLOAT32, TN_BOOL})
    EXPECT_EQ(compiled(*e, {dims(dtype), number(TN_INT64), number(TN_INT64)}).checks.any, 0u)
        << dtype;
}

// A scalar of the call is looked at where it would be wrapped, and a number that is chosen; a number
// in a tensor's place wraps in arithmetic.
TEST(Expression, ScalarsThatMeetNarrowIntegersAreLookedAt) {
  const auto noted = [](const char* text, tn_dtype dtype) {
    const auto e = parsed("f(Tensor x, Tensor y, number a) -> Tensor", text);
    return compiled(*e, {dims(dtype), number(TN_INT64), number(TN_INT64)}).checks.elements;
  };
  for (const char* text :
       {"x + y * 0 + a", "x * a + y", "where(x > y, a, x)", "x + element(a) + y"})
    EXPECT_EQ(noted(text, TN_INT8), 2u) << text;
  EXPECT_EQ(noted("where(x > a, y, x)", TN_INT8), 1u);
  for (const char* text : {"x + y", "where(x > a, x, -x) + y", "x / a + y", "max(x, a) + y"})
    EXPECT_EQ(noted(text, TN_INT8), 0u) << text;
  for (tn_dtype dtype : {TN_INT64, TN_FLOAT32, TN_BOOL})
    EXPECT_EQ(noted("where(x > y, a, x)", dtype), 0u) << dtype;
}

TEST(Expression, AnElementHasTheDtypeOfTheOperands) {
  const auto e = parsed("f(Tensor x, number a) -> Tensor", "x + element(a) * x");
  const auto value = [&](tn_dtype dtype, tn_dtype kind, Cell x, Cell a) {
    const CompiledProgram& program = compiled(*e, {dims(dtype), number(kind)});
    EXPECT_EQ(program.output_dtypes[0], dtype);
    return run_program(program, {dtype}, {x}, {a})[0];
  };
  EXPECT_EQ(value(TN_BOOL, TN_INT64, 1, 7).i, 1);
  EXPECT_EQ(value(TN_UINT8, TN_INT64, 100, 2).i, 44);
  EXPECT_EQ(value(TN_FLOAT32, TN_INT64, 0.5, 3).f, 2);
  EXPECT_EQ(value(TN_FLOAT32, TN_FLOAT64, 0.5, 0.5).f, 0.75);
  const CompiledProgram* none;
  const std::vector<OperandType> types = {dims(TN_INT32), number(TN_FLOAT64)};
  StatusHolder status(e->compile(types, &none));
  EXPECT_STREQ(status_text(status.get()), "f: column 5: 'element' takes bool and int, got float");
}

TEST(Expression, NumberArgumentsAreFloatsUntilTheirKindIsSaid) {
  const auto e =
      parsed("clamp(Tensor x, number low, number high) -> Tensor", "clamp(x, low, high)");
  EXPECT_EQ(compiled(*e, {dims(TN_INT32)}).output_dtypes[0], TN_FLOAT32);
  const CompiledProgram& ints = compiled(*e, {dims(TN_INT32), number(TN_INT64), number(TN_BOOL)});
  EXPECT_EQ(ints.output_dtypes[0], TN_INT32);
  EXPECT_EQ(ints.params_are_float, (std::vector<uint8_t>{0, 0}));
  EXPECT_EQ(run_program(ints, {TN_INT32}, {7}, {0, 1})[0].i, 1);
  const CompiledProgram& mixed =
      compiled(*e, {dims(TN_INT32), number(TN_INT64), number(TN_FLOAT64)});
  EXPECT_EQ(mixed.output_dtypes[0], TN_FLOAT32);
  EXPECT_EQ(run_program(mixed, {TN_INT32}, {7}, {0.0, 6.5})[0].f, 6.5);
  EXPECT_EQ(compiled(*e, {dims(TN_FLOAT16), number(TN_INT64), number(TN_INT64)}).output_dtypes[0],
            TN_FLOAT16);
  const auto fill = parsed("fill_(Tensor(a!) x, number value) -> Tensor(a!)", "value");
  EXPECT_EQ(
      run_program(compiled(*fill, {dims(TN_INT64), number(TN_INT64)}), {TN_INT64}, {0}, {3})[0].i,
      3);
}

TEST(Expression, UnusedOperandsAreNotLoadedAndKeepTheirNumber) {
  const auto e = parsed("f(Tensor x, Tensor y, Tensor z) -> Tensor", "z - x");
  const CompiledProgram& c = compiled(*e, {dims(TN_FLOAT32), dims(TN_FLOAT32), dims(TN_FLOAT32)});
  EXPECT_EQ(c.program.n_inputs, 3u);
  EXPECT_EQ(
      run(*e, {dims(TN_FLOAT32), dims(TN_FLOAT32), dims(TN_FLOAT32)}, {1.0, 10.0, 100.0})[0].f, 99);
  for (uint32_t i = 0; i < c.program.n_instructions; ++i) {
    const tn_instruction& in = c.program.instructions[i];
    EXPECT_FALSE(in.opcode == TN_I_LOAD && in.a == 1);
  }
}

TEST(Expression, AmpClassFollowsTheInstructions) {
  for (const char* text :
       {"exp(x)", "log1p(x) + 1", "x ** 2.5", "pow(2, x)", "cosh(x)", "max(x, log(x))"}) {
    EXPECT_EQ(parsed("f(Tensor x) -> Tensor", text)->amp_class(), TN_AMP_FLOAT32) << text;
  }
  for (const char* text : {"x + 1", "x ** 2", "tanh(x)", "sigmoid(x)", "erf(x)",
                           "let unused = exp(x)\nx", "sqrt(x)"}) {
    EXPECT_EQ(parsed("f(Tensor x) -> Tensor", text)->amp_class(), TN_AMP_WIDEST) << text;
  }
}

std::string refusal(std::string_view schema_text, std::string_view text) {
  Schema schema;
  StatusHolder status(parse_schema(schema_text, &schema));
  if (status) return status_text(status.get());
  std::unique_ptr<Expression> expression;
  StatusHolder refused(Expression::parse(schema, text, &expression));
  if (!refused) return "taken";
  EXPECT_EQ(refused.get()->code, TN_INVALID_ARGUMENT);
  EXPECT_EQ(expression, nullptr);
  return status_text(refused.get());
}

TEST(ExpressionErrors, NameTheOpTheColumnAndWhatWouldBeRight) {
  EXPECT_EQ(refusal("softplus(Tensor x, float beta=1) -> Tensor", "x * beta + lgo1p(exp(x))"),
            "softplus: column 12: unknown function 'lgo1p'; did you mean 'log1p'?");
  const std::pair<const char*, const char*> rows[] = {
      {"", "the schema has 1 result, the expression 0 formulas"},
      {"x; x", "the schema has 1 result, the expression 2 formulas"},
      {"x * beto", "column 5: unknown name 'beto'; did you mean 'beta'?"},
      {"x * log", "column 5: 'log' is a function; write log(...)"},
      {"x(2)", "column 1: 'x' is no function"},
      {"x +", "column 4: expected a value, found the end"},
      {"x + \n y", "line 1, column 5: expected a value, found the end of the line"},
      {"(x + y", "column 7: expected ')', found the end"},
      {"x y", "column 3: expected an operator or the end, found 'y'"},
      {"x + ) y", "column 5: expected a value, found ')'"},
      {"x $ y", "column 3: expected an operator or the end, found '$'"},
      {"x && y", "column 3: '&&' is written 'and' here"},
      {"!x", "column 1: '!' is written 'not' here"},
      {"x < y < 2", "column 7: comparisons do not chain: write (a < b) and (b < c)"},
      {"x + not y", "column 5: 'not' needs parentheses here"},
      {"2x", "column 1: '2x' is no number"},
      {"1.2.3 * x", "column 1: '1.2.3' is no number"},
      {"x + 99999999999999999999", "column 5: 99999999999999999999 is out of range"},
      {"max(x)", "column 1: max takes at least 2 arguments, got 1"},
      {"exp(x, y)", "column 1: exp takes 1 argument, got 2"},
      {"where(x, y)", "column 1: where takes 3 arguments, got 2"},
      {"exp()", "column 1: exp takes 1 argument, got 0"},
      {"let x = 2\nx", "line 1, column 5: 'x' is there already"},
      {"let pi = 3; x", "column 5: 'pi' is reserved"},
      {"let a x", "column 7: expected '=', found 'x'"},
      {"x + g", "column 5: 'g' is for derivatives; an output cannot use it"},
      {"let t = out * 2; x + t", "column 22: 't' is for derivatives; an output cannot use it"},
      {"x; dz = g", "column 4: 'dz' is no derivative of a Tensor argument; there is 'dx', 'dy'"},
      {"x; dbeta = g",
       "column 4: 'dbeta' is no derivative of a Tensor argument; there is 'dx', 'dy'"},
      {"x; dx = g; dx = g", "column 12: 'dx' is stated already"},
      {"x & 1.5", "column 3: '&' takes bool and int, got float"},
      {"-(x > 0)", "column 1: '-' takes int and float, got bool"},
      {"x * ((x > 0) - (x < 0))", "column 14: '-' takes int and float, got bool"},
  };
  for (const auto& [text, message] : rows) {
    EXPECT_EQ(refusal("f(Tensor x, Tensor y, float beta) -> Tensor", text),
              std::string("f: ") + message)
        << text;
  }
}

TEST(ExpressionErrors, SchemasThatAnExpressionCannotHave) {
  const std::pair<const char*, const char*> rows[] = {
      {"f(Tensor? x) -> Tensor",
       "f: argument 'x' is Tensor?; an expression takes Tensor, int, float, bool and number"},
      {"f(Tensor[] x) -> Tensor",
       "f: argument 'x' is Tensor[]; an expression takes Tensor, int, float, bool and number"},
      {"f(str x) -> Tensor",
       "f: argument 'x' is str; an expression takes Tensor, int, float, bool and number"},
      {"f(Tensor g) -> Tensor", "f: argument 'g' means something else in expressions"},
      {"f(Tensor out1) -> Tensor", "f: argument 'out1' means something else in expressions"},
      {"f(float pi) -> Tensor", "f: argument 'pi' means something else in expressions"},
      {"f(Tensor x) -> ()", "f: an expression needs at least one result"},
      {"f(Tensor x)", "f: an expression needs at least one result"},
      {"f(Tensor x) -> int", "f: an expression gives Tensors, not int"},
      {"f(Tensor(a) x) -> Tensor(a)", "f: an expression gives new Tensors or Tensor(a!), no view"},
      {"f(Tensor(a!) x) -> Tensor", "f: argument 'x' is Tensor(a!), and 0 results write it"},
      {"f(Tensor(a!) x) -> (Tensor(a!), Tensor(a!))",
       "f: argument 'x' is Tensor(a!), and 2 results write it"},
  };
  for (const auto& [schema, message] : rows) EXPECT_EQ(refusal(schema, "1.0"), message);
  std::string many = "f(Tensor a0";
  for (int i = 1; i < 17; ++i) many += ", Tensor a" + std::to_string(i);
  EXPECT_EQ(refusal(many + ") -> Tensor", "a0"),
            "f: 17 Tensor arguments, an expression takes at most 16");
}

TEST(ExpressionErrors, ArgumentsMayBeCalledLikeFunctions) {
  const auto e = parsed("clip(Tensor x, float min, float max) -> Tensor", "clamp(x, min, max)");
  EXPECT_EQ(value_at(*e, {7.0}, {0.0, 2.0}), 2);
}

TEST(ExpressionLimits, DeepNestingIsRefusedAndLongChainsAreNot) {
  const std::string deep = std::string(3000, '(') + "x" + std::string(3000, ')');
  EXPECT_NE(refusal("f(Tensor x) -> Tensor", deep).find("nested deeper than 200"),
            std::string::npos);
  EXPECT_NE(
      refusal("f(Tensor x) -> Tensor", std::string(3000, '-') + "x").find("nested deeper than 200"),
      std::string::npos);
  EXPECT_EQ(refusal("f(Tensor x) -> Tensor", std::string(9000, ' ') + "x"),
            "f: the expression has 9001 characters, at most 8192 are taken");
  std::string chain = "x";
  for (int i = 0; i < 4000; ++i) chain += "+x";
  const auto e = parsed("f(Tensor x) -> Tensor", chain);
  EXPECT_EQ(value_at(*e, {0.5}), 2000.5);
  EXPECT_EQ(slope_at(*e, 0, {0.5}), 4001);
  EXPECT_LE(compiled(*e, {dims(TN_FLOAT64)}).program.n_registers, 3u);
}

TEST(ExpressionLimits, RandomTextIsRefusedOrRuns) {
  const char* words[] = {"x",    "y",  "k",   "+",    "-",      "*",      "/",    "**",
                         "(",    ")",  ",",   "max(", "where(", "let ",   "dx=",  "g",
                         "out",  "\n", "1.5", "2",    "<",      "==",     "and",  "not ",
                         "exp(", "~",  "&",   "%",    ";",      "float(", "int(", "inf",
                         "True", "//", "<<",  "=",    "abc",    "#",      "\x01", "clamp("};
  uint64_t state = 1;
  int taken = 0;
  for (int n = 0; n < 5000; ++n) {
    std::string text;
    for (int i = 0, length = static_cast<int>(n % 12) + 1; i < length; ++i) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      text += words[(state >> 33) % std::size(words)];
    }
    Schema schema;
    StatusHolder ok(parse_schema("f(Tensor x, Tensor y, float k) -> Tensor", &schema));
    std::unique_ptr<Expression> e;
    StatusHolder status(Expression::parse(schema, text, &e));
    if (status) continue;
    ++taken;
    const Expression::Gradient* gradient = nullptr;
    StatusHolder gradient_status(e->gradient(3, &gradient));
    EXPECT_FALSE(gradient_status) << text;
    for (tn_dtype dtype : {TN_FLOAT16, TN_INT32, TN_BOOL}) {
      const CompiledProgram* c = nullptr;
      StatusHolder compile_status(
          e->compile(std::vector<OperandType>{dims(dtype), zero_dim(TN_FLOAT32)}, &c));
    }
  }
  EXPECT_GT(taken, 50);
}

TEST(ExpressionCache, OneProgramForOneCombinationOfTypes) {
  const auto e = parsed("add(Tensor x, Tensor y) -> Tensor", "x + y");
  const CompiledProgram& a = compiled(*e, {dims(TN_FLOAT32), dims(TN_FLOAT32)});
  const CompiledProgram& b = compiled(*e, {dims(TN_FLOAT32), number(TN_FLOAT64)});
  EXPECT_EQ(&a, &compiled(*e, {dims(TN_FLOAT32), dims(TN_FLOAT32)}));
  EXPECT_NE(&a, &b);
  EXPECT_NE(a.program.id, b.program.id);
  EXPECT_EQ(a.program.instruction_set, 1u);
  EXPECT_EQ(a.program.size, sizeof(tn_program));
  EXPECT_EQ(gradient_of(*e, 3).expression, gradient_of(*e, 3).expression);
  EXPECT_NE(gradient_of(*e, 3).expression, gradient_of(*e, 1).expression);
}

TEST(ExpressionCache, ManyOperandsAreToldApart) {
  std::string schema = "f(Tensor a0", text = "a0";
  for (int i = 1; i < 16; ++i) {
    schema += ", Tensor a" + std::to_string(i);
    text += "+a" + std::to_string(i);
  }
  const auto e = parsed(schema + ") -> Tensor", text);
  std::vector<OperandType> types(16, dims(TN_FLOAT32));
  const CompiledProgram& first = compiled(*e, types);
  types[15] = dims(TN_FLOAT64);
  const CompiledProgram& second = compiled(*e, types);
  EXPECT_EQ(first.output_dtypes[0], TN_FLOAT32);
  EXPECT_EQ(second.output_dtypes[0], TN_FLOAT64);
  EXPECT_EQ(&second, &compiled(*e, types));
  // A gradient reads at most 16 tensors too, and says so.
  const auto product =
      parsed(schema + ") -> Tensor", "a0*a1*a2*a3*a4*a5*a6*a7*a8*a9*a10*a11*a12*a13*a14*a15");
  const Expression::Gradient* gradient = nullptr;
  StatusHolder status(product->gradient(3, &gradient));
  ASSERT_TRUE(status);
  EXPECT_EQ(status.get()->code, TN_UNSUPPORTED);
  EXPECT_STREQ(status_text(status.get()),
               "f: its gradient reads 17 tensors, at most 16 are possible");
}

TEST(ExpressionCache, ThreadsAgreeOnOneProgram) {
  const auto e = parsed("f(Tensor x, Tensor y) -> Tensor", "exp(x) * y");
  std::vector<const CompiledProgram*> programs(4 * TN_N_DTYPES);
  std::vector<const Expression*> gradients(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (tn_dtype d = 0; d < TN_N_DTYPES; ++d)
        programs[t * TN_N_DTYPES + d] = &compiled(*e, {dims(d), zero_dim(d)});
      gradients[t] = gradient_of(*e, 3).expression;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 1; t < 4; ++t) {
    for (int d = 0; d < TN_N_DTYPES; ++d) EXPECT_EQ(programs[d], programs[t * TN_N_DTYPES + d]);
    EXPECT_EQ(gradients[0], gradients[t]);
  }
}

// A backend that knows an older set takes all programs that need no more.
TEST(ExpressionCache, ProgramsNeedNoYoungerInstructionSetThanTheirDtypes) {
  const auto e = parsed("f(Tensor x, Tensor y) -> Tensor", "x + y");
  const auto set = [&](const OperandType& x, const OperandType& y) {
    return compiled(*e, {x, y}).program.instruction_set;
  };
  for (const tn_dtype old : {TN_FLOAT32, TN_FLOAT16, TN_INT64, TN_UINT8, TN_BOOL})
    EXPECT_EQ(set(dims(old), dims(old)), 1u) << old;
  EXPECT_EQ(set(dims(TN_INT8), dims(TN_INT8)), 2u);
  EXPECT_EQ(set(dims(TN_FLOAT32), dims(TN_INT16)), 2u);  // loaded
  EXPECT_EQ(set(dims(TN_INT16), number(TN_INT64)), 2u);
  // As a parameter it is no operand in memory.
  EXPECT_EQ(set(dims(TN_FLOAT32), {TN_INT8, Category::kZeroDim, true}), 1u);
  EXPECT_EQ(set(number(TN_INT64), {TN_INT8, Category::kZeroDim, true}), 2u);  // stored
}

TEST(ExpressionCache, WrongTypesAreRefused) {
  const auto e = parsed("f(Tensor x) -> Tensor", "x");
  const CompiledProgram* c = nullptr;
  StatusHolder count(e->compile({}, &c));
  EXPECT_STREQ(status_text(count.get()), "f: 0 operand types for 1 operands");
  StatusHolder dtype(e->compile(std::vector<OperandType>{dims(TN_COMPLEX64)}, &c));
  EXPECT_STREQ(status_text(dtype.get()),
               "f: argument 'x' has dtype 10, which elementwise operations do not know");
  const Expression::Gradient* gradient = nullptr;
  StatusHolder wanted(e->gradient(2, &gradient));
  EXPECT_STREQ(status_text(wanted.get()), "f: gradient asked for operands 0x2 of 1");
}

}  // namespace
}  // namespace tenon
