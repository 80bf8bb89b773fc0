// Gradients of formulas: against central differences in float64, in first and second order; what
// they do at ties and kinks, as PyTorch does; what they read.
#include "expression_support.h"

namespace tenon {
namespace {

constexpr double kStep = 1e-5;

// The derivative of `function` along x[i].
template <typename Function>
double difference(Function&& function, std::vector<double> x, size_t i) {
  const double at = x[i];
  x[i] = at + kStep;
  const double above = function(x);
  x[i] = at - kStep;
  return (above - function(x)) / (2 * kStep);
}

double tolerance(double value) { return 2e-7 * std::max(1.0, std::fabs(value)); }

// d2 f / dx_i dx_j by the gradient's own gradient; what flows through the forward's output goes on
// to its inputs.
double second_slope_at(const Expression& f, uint32_t i, uint32_t j, const std::vector<double>& x,
                       const std::vector<Cell>& scalars) {
  const Expression::Gradient first = gradient_of(f, uint64_t{1} << i);
  std::vector<double> operands;
  for (const GradientSource& source : first.sources) {
    operands.push_back(source.kind == GradientSource::kInput    ? x[source.index]
                       : source.kind == GradientSource::kOutput ? value_at(f, x, scalars)
                                                                : 1.0);
  }
  double sum = 0;
  for (uint32_t k = 0; k < first.sources.size(); ++k) {
    const GradientSource& source = first.sources[k];
    if (source.kind == GradientSource::kOutputGradient) continue;
    if (source.kind == GradientSource::kInput && source.index != j) continue;
    const double inner = source.kind == GradientSource::kInput ? 1.0 : slope_at(f, j, x, scalars);
    sum += slope_at(*first.expression, k, operands, scalars) * inner;
  }
  return sum;
}

void check(std::string_view text, const std::vector<std::vector<double>>& samples,
           const std::vector<Cell>& scalars = {}, std::string_view schema_of_scalars = "") {
  const char* names[] = {"x", "y", "z"};
  std::string schema = "f(";
  for (size_t i = 0; i < samples[0].size(); ++i)
    schema += std::string(i == 0 ? "" : ", ") + "Tensor " + names[i];
  const auto e = parsed(schema + std::string(schema_of_scalars) + ") -> Tensor", text);
  for (const std::vector<double>& x : samples) {
    for (uint32_t i = 0; i < x.size(); ++i) {
      const auto value = [&](const std::vector<double>& at) { return value_at(*e, at, scalars); };
      const double slope = slope_at(*e, i, x, scalars);
      EXPECT_NEAR(slope, difference(value, x, i), tolerance(slope))
          << text << " d" << names[i] << " at " << x[0];
      EXPECT_DOUBLE_EQ(slope_at(*e, i, x, scalars, -3), -3 * slope) << text;
      for (uint32_t j = 0; j < x.size(); ++j) {
        const auto first = [&](const std::vector<double>& at) {
          return slope_at(*e, i, at, scalars);
        };
        const double second = second_slope_at(*e, i, j, x, scalars);
        EXPECT_NEAR(second, difference(first, x, j), tolerance(second))
            << text << " d" << names[i] << " d" << names[j];
      }
    }
  }
}

TEST(Gradient, OfEveryFunctionOfOneOperand) {
  const std::vector<std::vector<double>> samples = {{0.3}, {-0.6}, {0.81}},
                                         positive = {{0.3}, {0.81}, {2.5}};
  for (const char* text : {"-x",
                           "abs(x)",
                           "exp(x)",
                           "exp2(x)",
                           "expm1(x)",
                           "sin(x)",
                           "cos(x)",
                           "tan(x)",
                           "asin(x)",
                           "acos(x)",
                           "atan(x)",
                           "sinh(x)",
                           "cosh(x)",
                           "tanh(x)",
                           "asinh(x)",
                           "atanh(x)",
                           "erf(x)",
                           "erfc(x)",
                           "sigmoid(x)",
                           "square(x)",
                           "reciprocal(x)",
                           "float(x)",
                           "x ** 3",
                           "x ** -2",
                           "x ** 4",
                           "2 ** x",
                           "x % 1.7",
                           "fmod(x, 0.25)",
                           "x + 2",
                           "2 - x",
                           "x * 3",
                           "3 / x",
                           "where(x > 0, x * x, -x)"}) {
    check(text, samples);
  }
  for (const char* text : {"sqrt(x)", "log(x)", "log2(x)", "log10(x)", "log1p(x)", "rsqrt(x)",
                           "x ** 2.5", "x ** 0.5", "x ** x"}) {
    check(text, positive);
  }
  check("acosh(x)", {{1.5}, {3.0}});
}

TEST(Gradient, OfEveryFunctionOfTwoOperands) {
  const std::vector<std::vector<double>> samples = {{0.3, 0.7}, {1.3, -0.4}, {-0.9, -1.3}};
  for (const char* text :
       {"x + y", "x - y", "x * y", "x / y", "max(x, y)", "min(x, y)", "atan2(x, y)", "fmod(x, y)",
        "x % y", "where(x < y, x * y, y)", "x * x * y + y", "tanh(x) * exp(y) * tanh(x)"}) {
    check(text, samples);
  }
  check("pow(x, y)", {{0.3, 0.7}, {1.3, -0.4}});
  check("clamp(x, y, z)", {{0.3, 0.1, 0.9}, {0.05, 0.1, 0.9}, {1.5, 0.1, 0.9}, {0.3, 0.9, 0.1}});
  check("max(x, y, z) * min(x, y, z)", {{0.3, 0.1, 0.9}, {0.9, 0.4, 0.2}});
}

TEST(Gradient, OfWholeFormulasWithScalars) {
  const std::vector<std::vector<double>> samples = {{0.3}, {-1.6}, {2.1}};
  check("log1p(exp(-abs(beta*x))) / beta + max(x, 0)\ndx = g * sigmoid(beta*x)", samples, {2.0},
        ", float beta");
  check("let c = sqrt(2 / pi)\n0.5 * x * (1 + tanh(c * (x + k * x ** 3)))", samples, {0.044715},
        ", float k");
  check("0.5 * x * (1 + erf(x * sqrt(0.5)))", samples);
  check("x * sigmoid(x)", samples);
  check("where(x > 0, x, alpha * expm1(x / alpha))", samples, {1.5}, ", float alpha");
  check("x / (k + abs(x))", samples, {1.5}, ", float k");
  check("max(x, 0) ** 2 + (x > 1) * x", samples);
  check("abs(x) ** p", samples, {2.5}, ", float p");
}

TEST(Gradient, AtTiesAndKinksIsPyTorchs) {
  const auto d = [](std::string_view text, double x, double y, uint32_t i) {
    return slope_at(*parsed("f(Tensor x, Tensor y) -> Tensor", text), i, {x, y});
  };
  // Two tensors share a tie; a NaN lets both have it.
  EXPECT_EQ(d("max(x, y)", 2, 2, 0), 0.5);
  EXPECT_EQ(d("max(x, y)", 2, 2, 1), 0.5);
  EXPECT_EQ(d("min(x, y)", 2, 2, 0), 0.5);
  EXPECT_EQ(d("min(x, y)", 1, 2, 0), 1);
  EXPECT_EQ(d("min(x, y)", 1, 2, 1), 0);
  EXPECT_EQ(d("max(x, y)", NAN, 2, 1), 1);
  // Against a number: relu's.
  EXPECT_EQ(d("max(x, 0)", 0, 0, 0), 0);
  EXPECT_EQ(d("max(0, x)", 1, 0, 0), 1);
  EXPECT_EQ(d("max(x, 0)", NAN, 0, 0), 1);
  EXPECT_EQ(d("min(x, 6)", 6, 0, 0), 0);
  EXPECT_EQ(d("min(x, 6)", 5, 0, 0), 1);
  EXPECT_EQ(d("max(x, floor(y))", 3, 3.5, 0), 0.5);
  // clamp passes at its bounds.
  EXPECT_EQ(d("clamp(x, -1, 1)", 1, 0, 0), 1);
  EXPECT_EQ(d("clamp(x, -1, 1)", -1, 0, 0), 1);
  EXPECT_EQ(d("clamp(x, -1, 1)", 1.5, 0, 0), 0);
  EXPECT_EQ(d("abs(x)", 0, 0, 0), 0);
  EXPECT_EQ(d("sqrt(x)", 0, 0, 0), INFINITY);
  EXPECT_EQ(d("x ** y", 0, 2, 0), 0);
  EXPECT_EQ(d("x ** y", 0, 2, 1), 0);
  EXPECT_EQ(d("x ** y", 0, 0, 0), 0);
  EXPECT_EQ(d("x ** 0", 0, 0, 0), 0);
  EXPECT_EQ(d("x ** 1", 0, 0, 0), 1);
  EXPECT_EQ(d("0 ** y", 0, 2, 1), 0);
  EXPECT_EQ(d("fmod(x, y)", 7, 3, 1), -2);
  EXPECT_EQ(d("x % y", -7, 3, 1), 3);
  // The branch that is not taken gives 0, whatever is in it.
  EXPECT_EQ(d("where(x > 0, x, y / x)", 1, 1, 1), 0);
  EXPECT_EQ(slope_at(*parsed("f(Tensor x) -> Tensor", "where(x > 0, x, 0)"), 0, {-1}, {}, INFINITY),
            0);
  EXPECT_EQ(slope_at(*parsed("f(Tensor x) -> Tensor", "max(x, 0)"), 0, {-1}, {}, INFINITY), 0);
}

TEST(Gradient, OfStepsIsZeroAndOfComparisonsNone) {
  for (const char* text :
       {"floor(x)", "ceil(x)", "round(x)", "trunc(x)", "sign(x)", "x // 2", "2 // x"}) {
    const auto e = parsed("f(Tensor x) -> Tensor", text);
    EXPECT_TRUE(e->differentiable(0)) << text;
    const Expression::Gradient gradient = gradient_of(*e, 1);
    EXPECT_TRUE(gradient.sources.empty()) << text;
    EXPECT_EQ(gradient.expression->text(), "0.0") << text;
    EXPECT_EQ(run(*gradient.expression, {}, {})[0].f, 0);
  }
  for (const char* text : {"x > 0", "not x", "bool(x)", "int(x)", "isnan(x)", "where(x, 1.0, 2.0)",
                           "float(x > 0)", "1"}) {
    EXPECT_FALSE(parsed("f(Tensor x) -> Tensor", text)->differentiable(0)) << text;
  }
  const auto masked = parsed("f(Tensor x, Tensor c) -> Tensor", "where(c, x, 0) * (x > 1)");
  EXPECT_TRUE(masked->differentiable(0));
  EXPECT_FALSE(masked->differentiable(1));
  EXPECT_FALSE(masked->differentiable(2));
  EXPECT_EQ(slope_at(*masked, 1, {2, 1}), 0);
  EXPECT_EQ(slope_at(*masked, 0, {2, 1}), 1);
}

std::string sources_text(const Expression::Gradient& gradient) {
  std::string text;
  for (const GradientSource& source : gradient.sources) {
    const char* names[] = {"g", "in", "out"};
    text +=
        (text.empty() ? "" : " ") + std::string(names[source.kind]) + std::to_string(source.index);
  }
  return text;
}

TEST(GradientSources, AreThoseThatAreRead) {
  const struct {
    const char* text;
    uint64_t wanted;
    const char *sources, *gradient;
  } rows[] = {
      {"x + y", 3, "g0", "g\ng"},
      {"x - y", 3, "g0", "g\n-g"},
      {"x * y", 3, "g0 in0 in1", "g * y\ng * x"},
      {"x * y", 1, "g0 in1", "g * y"},
      {"x * y", 2, "g0 in0", "g * x"},
      {"max(x, 0)", 1, "g0 in0", "where(x <= 0, 0.0, g)"},
      {"x + y ** 2", 2, "g0 in1", "g * (y * 2.0)"},
      // The output is read where that spares an input, as in-place use needs it.
      {"exp(x)", 1, "g0 out0", "g * out"},
      {"tanh(x)", 1, "g0 out0", "g * (1.0 - out * out)"},
      {"sigmoid(x)", 1, "g0 out0", "g * (1.0 - out) * out"},
      {"sqrt(x)", 1, "g0 out0", "g / (out * 2.0)"},
      {"x * exp(x)", 1, "g0 in0", "let t1 = exp(x)\ng * t1 + g * x * t1"},
      // What is stated stays as stated.
      {"exp(x)\ndx = g * exp(x)", 1, "g0 in0", "g * exp(x)"},
      {"max(x, 0)\ndx = where(out > 0, g, 0)", 1, "g0 out0", "where(out > 0, g, 0)"},
      {"x * y\ndx = g * 2", 3, "g0 in0", "g * 2\ng * x"},
      {"x * y\ndx = 0", 1, "", "0"},
  };
  for (const auto& row : rows) {
    const auto e = parsed("f(Tensor x, Tensor y) -> Tensor", row.text);
    const Expression::Gradient gradient = gradient_of(*e, row.wanted);
    EXPECT_EQ(sources_text(gradient), row.sources) << row.text;
    EXPECT_EQ(gradient.expression->text(), row.gradient) << row.text;
    EXPECT_EQ(gradient.expression->n_operands(), gradient.sources.size());
    EXPECT_EQ(gradient.expression->n_outputs(), static_cast<uint32_t>(std::popcount(row.wanted)));
  }
}

TEST(GradientSources, HaveASchemaWithTheScalarsOfTheForward) {
  const auto e =
      parsed("soft(Tensor x, float beta=1, int n=2) -> Tensor", "log1p(exp(beta * x)) * n");
  const Expression::Gradient first = gradient_of(*e, 1);
  EXPECT_EQ(schema_text(first.expression->schema()),
            "gradient of soft(Tensor g, Tensor x, float beta, int n) -> Tensor");
  EXPECT_EQ(first.expression->n_scalars(), 2u);
  const Expression::Gradient second = gradient_of(*first.expression, 3);
  EXPECT_EQ(schema_text(second.expression->schema()),
            "gradient of gradient of soft(Tensor gg, Tensor g, Tensor x, float beta, int n) -> "
            "(Tensor, Tensor)");
}

TEST(GradientSources, OfSeveralOutputsAreNumbered) {
  const auto e = parsed("f(Tensor x, Tensor y) -> (Tensor, Tensor)", "x * y\nexp(x)");
  const Expression::Gradient gradient = gradient_of(*e, 3);
  EXPECT_EQ(sources_text(gradient), "g0 g1 in0 in1");
  EXPECT_EQ(gradient.expression->text(), "g1 * exp(x) + g0 * y\ng0 * x");
  const auto stated = parsed("f(Tensor x) -> (Tensor, Tensor)", "x; exp(x); dx = g0 + g1 * out1");
  EXPECT_EQ(sources_text(gradient_of(*stated, 1)), "g0 g1 out1");
}

TEST(Gradient, TypesFollowTheOutputs) {
  const auto e = parsed("f(Tensor x, Tensor y) -> Tensor", "max(x, 0) * y");
  const Expression::Gradient gradient = gradient_of(*e, 1);
  ASSERT_EQ(sources_text(gradient), "g0 in0 in1");
  EXPECT_EQ(compiled(*gradient.expression, {dims(TN_FLOAT16), dims(TN_FLOAT16), dims(TN_FLOAT16)})
                .output_dtypes[0],
            TN_FLOAT16);
  EXPECT_EQ(compiled(*gradient.expression, {dims(TN_FLOAT32), dims(TN_FLOAT16), dims(TN_INT64)})
                .output_dtypes[0],
            TN_FLOAT32);
  EXPECT_EQ(
      compiled(*gradient.expression, {dims(TN_FLOAT16), dims(TN_FLOAT16), zero_dim(TN_FLOAT64)})
          .output_dtypes[0],
      TN_FLOAT16);
}

}  // namespace
}  // namespace tenon
