// Elementwise ops: values against closed forms, gradients against differences, PyTorch's choices at
// ties and special values.
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "elementwise_values.h"

namespace {

using pytorch::kInf, pytorch::kNan;

struct Row {
  const char* name;
  OpUnderTest op;
  TensorList inputs;  // away from kinks
};

std::vector<Row> rows(tn::Device d) {
  Tensor x = sample({2, 3}, d), y = sample({2, 3}, d, 0.4);
  Tensor positive = float64_tensor({0.3, 1.2, 2.5, 0.9, 4.0, 0.05}, {2, 3}, d);
  auto one = [](Tensor (*f)(const Tensor&)) {
    return [f](const TensorList& in) { return f(in[0]); };
  };
  auto two = [](Tensor (*f)(tn::Operand, tn::Operand)) {
    return [f](const TensorList& in) { return f(in[0], in[1]); };
  };
  Tensor column = sample({2, 1}, d, 0.8);
  return {
      {"where", [](const TensorList& in) { return tn::where(in[0] > 0.1, in[0], in[1]); }, {x, y}},
      {"add broadcast", two(tn::add), {x, column}},
      {"prelu of channels",
       [](const TensorList& in) { return tn::prelu(in[0], in[1]); },
       {x, sample({3}, d, 0.2)}},
      {"lerp of weights",
       [](const TensorList& in) { return tn::lerp(in[0], in[1], in[2]); },
       {x, y, positive}},
      {"addcdiv",
       [](const TensorList& in) { return tn::addcdiv(in[0], in[1], in[2], 2); },
       {x, y, positive}},
      {"clamp to tensors",
       [](const TensorList& in) { return tn::clamp(in[0], in[1], in[2]); },
       {sample({4}, d), float64_tensor({-0.3, 0.9, -0.1, -2}, {4}, d),
        float64_tensor({0.7, 1.5, 0.2, 2}, {4}, d)}},
      {"maximum", two(tn::maximum), {x, y}},
      // Where branches meet and the function is smooth.
      {"softplus at 0",
       [](const TensorList& in) { return tn::softplus(in[0], 1, 20); },
       {tn::zeros({2}, tn::float64, d)}},
      {"log_sigmoid at 0", one(tn::log_sigmoid), {tn::zeros({2}, tn::float64, d)}},
      {"mish at 0", one(tn::mish), {tn::zeros({2}, tn::float64, d)}},
      {"celu near 0",
       [](const TensorList& in) { return tn::celu(in[0], 1.5); },
       {float64_tensor({-1e-3, 1e-3}, {2}, d)}},
      {"logaddexp of equal ones", two(tn::logaddexp), {x, x}},
      {"lerp at a half",
       [](const TensorList& in) { return tn::lerp(in[0], in[1], in[2]); },
       {x, y, tn::full({2, 3}, 0.5, tn::float64, d)}},
  };
}

TEST(Elementwise, GradientsOfFirstAndSecondOrder) {
  for (tn::Device d : devices()) {
    for (const Row& row : rows(d)) {
      SCOPED_TRACE(std::string(row.name) + " on " + d.name());
      EXPECT_NO_THROW(gradcheck(row.op, row.inputs));
    }
    // All rows with values, away from kinks and within every domain but acosh's, whose is 1 and
    // more.
    Tensor x = float64_tensor({0.31, 0.77, 0.04, 0.58}, {2, 2}, d);
    for (const auto& row : pytorch::unary()) {
      if (row.dx.empty()) continue;
      for (double sign : {1.0, -1.0}) {
        Tensor at = std::string(row.name) == "acosh" ? x + 1.0 : x * sign;
        SCOPED_TRACE(std::string(row.name) + " on " + d.name());
        if (sign > 0 || !std::isnan(row.op(at).sum().item<double>())) {
          gradcheck([&](const TensorList& in) { return row.op(in[0]); }, {at});
        }
      }
    }
    Tensor y = float64_tensor({0.83, 0.26, 0.69, 0.17}, {2, 2}, d);
    for (const auto& row : pytorch::binary()) {
      if (row.dx.empty() || std::string(row.name) == "prelu") continue;
      SCOPED_TRACE(std::string(row.name) + " on " + d.name());
      gradcheck([&](const TensorList& in) { return row.op(in[0], in[1]); }, {x, y});
    }
  }
}

TEST(Elementwise, Values) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({-2.f, -0.5f, 0.f, 0.5f, 3.f}, d);
    auto each = [](double (*f)(double)) {
      std::vector<double> values;
      for (double v : {-2.0, -0.5, 0.0, 0.5, 3.0}) values.push_back(f(v));
      return values;
    };
    expect_near(x + 1, {-1, 0.5, 1, 1.5, 4});
    expect_near(1 - x, {3, 1.5, 1, 0.5, -2});
    expect_near(x * x, {4, 0.25, 0, 0.25, 9});
    expect_near(1 / x, {-0.5, -2, kInf, 2, 1.0 / 3});
    expect_near(-x, {2, 0.5, 0, -0.5, -3});
    expect_near(tn::abs(x), {2, 0.5, 0, 0.5, 3});
    expect_near(tn::exp(x), each(std::exp));
    expect_near(tn::log(x), {kNan, kNan, -kInf, std::log(0.5), std::log(3.0)});
    expect_near(tn::sqrt(x), {kNan, kNan, 0, std::sqrt(0.5), std::sqrt(3.0)});
    expect_near(tn::rsqrt(tn::tensor({4.f, 0.25f}, d)), {0.5, 2});
    expect_near(tn::square(x), {4, 0.25, 0, 0.25, 9});
    expect_near(tn::tanh(x), each(std::tanh));
    expect_near(tn::sigmoid(x), each([](double v) { return 1 / (1 + std::exp(-v)); }));
    expect_near(tn::relu(x), {0, 0, 0, 0.5, 3});
    expect_near(tn::leaky_relu(x), {-0.02, -0.005, 0, 0.5, 3});
    expect_near(tn::softplus(x), each([](double v) { return std::log1p(std::exp(v)); }));
    expect_near(tn::softplus(x, 2), each([](double v) { return std::log1p(std::exp(2 * v)) / 2; }));
    // torch.nn.functional.gelu(x, approximate="tanh")
    expect_near(tn::gelu(x, "tanh"), {-0.0454023, -0.1542860, 0, 0.3457140, 2.9963627}, 1e-5);
    expect_near(tn::clamp(x, -1, 1), {-1, -0.5, 0, 0.5, 1});
    expect_near(tn::pow(x, 2), {4, 0.25, 0, 0.25, 9});
    expect_near(tn::maximum(x, 0.25), {0.25, 0.25, 0.25, 0.5, 3});
    expect_near(tn::minimum(x, 0.25), {-2, -0.5, 0, 0.25, 0.25});
    expect_near(tn::where(x > 0, x, -1), {-1, -1, -1, 0.5, 3});
    expect_near(x == 0, {0, 0, 1, 0, 0});
    expect_near(x != 0, {1, 1, 0, 1, 1});
    expect_near(x < 0, {1, 1, 0, 0, 0});
    expect_near(x <= 0, {1, 1, 1, 0, 0});
    expect_near(x > 0, {0, 0, 0, 1, 1});
    expect_near(x >= 0, {0, 0, 1, 1, 1});
    EXPECT_EQ((x == 0).dtype(), tn::bool_);
    expect_near(tn::logical_and(x, x + 2), {0, 1, 0, 1, 1});
    expect_near(tn::logical_or(x, x + 2), {1, 1, 1, 1, 1});
    expect_near(tn::logical_not(x), {0, 0, 1, 0, 0});
    expect_near(tn::isnan(tn::tensor({1.f, NAN}, d)), {0, 1});
    Tensor i = tn::tensor({int64_t(6), int64_t(-1)}, d);
    expect_near(tn::bitwise_and(i, 3), {2, 3});
  }
}

// The gradients of the sum of f's results; zeros for an input that has none.
TensorList gradients_of(const OpUnderTest& f, const TensorList& inputs) {
  TensorList x = leaves(inputs);
  Tensor y = f(x);
  TensorList gradients(x.size());
  if (y.requires_grad()) gradients = tn::grad({y.sum()}, x, {.allow_unused = true});
  for (size_t i = 0; i < x.size(); ++i) {
    if (!gradients[i].defined()) gradients[i] = tn::zeros(x[i].sizes(), tn::float64, x[i].device());
  }
  return gradients;
}

TEST(Elementwise, ValuesAndGradientsArePyTorchs) {
  for (tn::Device d : devices()) {
    Tensor at = float64_tensor(pytorch::kAt, {15}, d);
    for (const auto& row : pytorch::unary()) {
      SCOPED_TRACE(std::string(row.name) + " on " + d.name());
      expect_near(row.op(at), row.values, 1e-12);
      TensorList g = gradients_of([&](const TensorList& in) { return row.op(in[0]); }, {at});
      SCOPED_TRACE("gradient");
      if (!row.dx.empty()) expect_near(g[0], row.dx, 1e-12);
    }
    Tensor x = float64_tensor(pytorch::kX, {18}, d), y = float64_tensor(pytorch::kY, {18}, d);
    for (const auto& row : pytorch::binary()) {
      SCOPED_TRACE(std::string(row.name) + " on " + d.name());
      expect_near(row.op(x, y), row.values, 1e-12);
      TensorList g =
          gradients_of([&](const TensorList& in) { return row.op(in[0], in[1]); }, {x, y});
      SCOPED_TRACE("gradient");
      if (!row.dx.empty()) expect_near(g[0], row.dx, 1e-12);
      if (!row.dy.empty()) expect_near(g[1], row.dy, 1e-12);
    }
  }
}

TEST(Elementwise, GradientsAtTiesArePyTorchs) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    auto gradient = [&](auto f, double at) {
      Tensor x = float64_tensor({at}, {1}, d).requires_grad_();
      f(x).sum().backward();
      return x.grad().item<double>();
    };
    EXPECT_EQ(gradient([](Tensor x) { return tn::relu(x); }, 0), 0);
    EXPECT_EQ(gradient([](Tensor x) { return tn::abs(x); }, 0), 0);
    EXPECT_EQ(gradient([](Tensor x) { return tn::leaky_relu(x, 0.2); }, 0), 0.2);
    EXPECT_EQ(gradient([](Tensor x) { return tn::softplus(x); }, 0), 0.5);
    EXPECT_EQ(gradient([](Tensor x) { return tn::clamp(x, -1, 1); }, 1), 0);
    EXPECT_EQ(gradient([](Tensor x) { return tn::clamp(x, -1, 1); }, -1), 0);
    EXPECT_EQ(gradient([&](Tensor x) { return tn::maximum(x, tn::ones({1}, tn::float64, d)); }, 1),
              0.5);
    EXPECT_EQ(gradient([](Tensor x) { return tn::pow(x, 2); }, 0), 0);
    EXPECT_EQ(gradient([](Tensor x) { return x * x; }, 3), 6);
  }
}

// x ** n: 1, x and x² have these first and second derivatives at 0, too. A number, a tensor that
// needs a gradient and one that needs none take different ways.
TEST(Elementwise, PowersOfZeroHaveTwoDerivatives) {
  for (tn::Device d : devices()) {
    const double first[] = {0, 1, 0, 0}, second[] = {0, 0, 2, 0};
    for (int n = 0; n <= 3; ++n) {
      for (const char* as : {"int", "float", "tensor", "leaf"}) {
        SCOPED_TRACE("0 ** " + std::to_string(n) + " as " + as + " on " + d.name());
        Tensor x = tn::zeros({2}, tn::float64, d).requires_grad_();
        Tensor exponent = tn::full({2}, double(n), tn::float64, d);
        if (as == std::string("leaf")) exponent.requires_grad_();
        Tensor y = as == std::string("int")     ? tn::pow(x, n)
                   : as == std::string("float") ? tn::pow(x, double(n))
                                                : tn::pow(x, exponent);
        Tensor dx = tn::grad(y.sum(), x, {.create_graph = true});
        expect_near(dx, {first[n], first[n]}, 0);
        // Where nothing depends on x any more, the 0 keeps it a function of x.
        Tensor ddx = tn::grad((dx + x * 0.0).sum(), x);
        expect_near(ddx, {second[n], second[n]}, 0);
      }
    }
    // d/dn x ** n at 0 is 0 for n > 0, and so is its derivative by x for n = 2.
    Tensor x = tn::zeros({1}, tn::float64, d).requires_grad_();
    Tensor n = tn::full({1}, 2.0, tn::float64, d).requires_grad_();
    Tensor dn = tn::grad(tn::pow(x, n).sum(), n, {.create_graph = true});
    expect_near(dn, {0}, 0);
    expect_near(tn::grad(dn.sum(), x), {0}, 0);
    for (int power : {0, 1, 2}) {
      gradcheck([power](const TensorList& in) { return tn::pow(in[0], power); },
                {float64_tensor({-1.5, -0.3, 0, 0.4, 2}, {5}, d)});
    }
  }
}

// x.op_(...) gives what op gives, and in x itself: all ops of the pack that have both. Tensors are
// [2, 3], numbers 0.5.
TEST(Elementwise, InPlaceSpellingsGiveTheSame) {
  load_all();
  std::map<std::string, std::string> schemas;
  for (const auto& op : nlohmann::json::parse(tn::ops_json())) schemas[op["name"]] = op["schema"];
  int checked = 0;
  for (const auto& [name, schema] : schemas) {
    auto inplace = schemas.find(name + "_");
    if (name.rfind("ops.", 0) != 0 || inplace == schemas.end()) continue;
    if (name == "ops.bernoulli" || name == "ops.uniform") continue;  // they draw, each in its way
    if (name == "ops.index_put") continue;                           // index_test
    // They take no floats as their mask: op_sweep_test.
    if (name == "ops.masked_fill" || name == "ops.masked_scatter") continue;
    if (name == "ops.clamp") continue;  // wants a bound: Options.*
    // They take places: op_sweep_test.
    if (schema.find("int dim, ") != schema.npos || schema.find("Tensor index") != schema.npos)
      continue;
    SCOPED_TRACE(inplace->second);
    for (tn::Device d : devices()) {
      const auto called = [&, &schema = schema](const std::string& op, Tensor* first) {
        const bool whole = op.find("bitwise") != op.npos;
        std::vector<Tensor> tensors;
        std::vector<tn_value> args;
        const std::string list =
            schema.substr(schema.find('(') + 1, schema.rfind(") -> ") - schema.find('(') - 1);
        std::stringstream arguments(list);
        for (std::string argument; std::getline(arguments, argument, ',');) {
          if (argument.find('=') != argument.npos) break;
          if (argument.find("Tensor ") != argument.npos) {
            Tensor t = sample({2, 3}, d, double(args.size())) * 4.0;
            tensors.push_back(whole ? t.to(tn::int64) : t);
            args.push_back(tn::detail::to_value(tensors.back()));
          } else {
            args.push_back(tn::detail::to_value(0.5));
          }
        }
        *first = tensors.at(0);
        tn_value result;
        tn::check(tn::host()->call(tn::OpRef(op.c_str()).get(), args.data(), uint32_t(args.size()),
                                   &result, 1));
        return Tensor::take(result.as.tensor);
      };
      Tensor x, same;
      Tensor expected = called(name, &x), given = called(inplace->first, &same);
      EXPECT_EQ(given.dtype(), same.dtype());
      EXPECT_TRUE(given.same_storage(same));
      expect_near(given, expected.to_vector<double>(), 0);
      expect_near(same, expected.to_vector<double>(), 0);
      ++checked;
    }
  }
  EXPECT_GT(checked, 60);
}

TEST(Elementwise, ArgumentsThatAnOpRefuses) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::zeros({2, 3}, {}, d), i = tn::zeros({2, 3}, tn::int64, d);
    expect_error([&] { tn::gelu(x, "erf"); },
                 "gelu: approximate is 'erf'; expected 'none' or 'tanh'");
    expect_error([&] { tn::gelu_(x, ""); }, "gelu_: approximate is ''; expected 'none' or 'tanh'");
    expect_error([&] { tn::div(x, x, "round"); },
                 "div: rounding_mode is 'round'; expected None, 'trunc' or 'floor'");
    expect_error([&] { tn::div_(x, 2, "down"); },
                 "div_: rounding_mode is 'down'; expected None, 'trunc' or 'floor'");
    expect_error([&] { tn::softshrink(x, -1); }, "softshrink: lambd is -1; expected at least 0");
    expect_error([&] { tn::softshrink(x, NAN); }, "softshrink: lambd is nan; expected at least 0");
    expect_error([&] { tn::prelu(x, tn::zeros({2}, {}, d)); },
                 "prelu: weight is [2], x is [2, 3]; expected weight to be [1] or [3]");
    expect_error(
        [&] {
          tn::prelu(x, tn::zeros({1, 3}, {}, d));
        },
        "prelu: weight is [1, 3], x is [2, 3]; expected weight to be [1] or [3]");
    expect_error([&] { x& x; }, "bitwise_and: x is [2, 3] float32");
    expect_error([&] { ~x; }, "bitwise_not: x is [2, 3] float32");
    expect_error([&] { tn::bitwise_left_shift(x, i); }, "bitwise_left_shift");
    expect_error([&] { tn::clamp_(i, 0.5, 1.5); }, "clamp_");
    expect_error([&] { tn::floor_divide(x, tn::zeros({4}, {}, d)); }, "floor_divide");
  }
}

TEST(Elementwise, InPlaceUnderGradient) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    // y = 2 x; y += x / 2; y.tanh_(); its derivative names the output. d/dx tanh(2.5 x) + x = 2.5
    // (1 - tanh²) + 1
    Tensor x = float64_tensor({1, 2}, {2}, d).requires_grad_();
    Tensor y = x * 2;
    y += x * 0.5;
    tn::tanh_(y);
    (y + x).sum().backward();
    auto expected = [](double v) { return 2.5 * (1 - std::pow(std::tanh(2.5 * v), 2)) + 1; };
    expect_near(x.grad(), {expected(1), expected(2)}, 1e-12);
    // What was saved may not change: tanh_ saved y.
    Tensor w = x * 2;
    tn::tanh_(w);
    w += 1;
    expect_error([&] { w.sum().backward(); }, "tanh_");
    // A view of a non-leaf.
    Tensor z = x * 1;
    tn::mul_(z[0], 5);
    x.zero_grad();
    z.sum().backward();
    expect_near(x.grad(), {5, 1});
    tn::fill_(z, 7);
    expect_near(z, {7, 7});
    expect_error([&] { tn::add_(x, 1); }, "leaf");
  }
}

TEST(Elementwise, EmptySizeOneAndStrided) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    expect_sizes(tn::exp(tn::zeros({0, 3}, {}, d)), {0, 3});
    expect_sizes(tn::zeros({0, 3}, {}, d) + tn::zeros({1, 3}, {}, d), {0, 3});
    expect_near(tn::tensor(2.f, d) * 3, {6});
    Tensor x = tn::arange(0, 6).to(tn::float32).to(d).view({2, 3});
    expect_near(x.t() + 1, {1, 4, 2, 5, 3, 6});
    expect_near(x.slice(1, 0, 3, 2) * 2, {0, 4, 6, 10});
    expect_near(x.narrow(0, 0, 1).expand({3, 3}) + x[1], {3, 5, 7, 3, 5, 7, 3, 5, 7});
  }
}

TEST(Elementwise, ErrorsNameTheShapes) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::zeros({2, 3}, {}, d);
    expect_error([&] { x + tn::zeros({4}, {}, d); }, "add");
    expect_error([&] { x + tn::zeros({4}, {}, d); }, "[2, 3]");
    expect_error([&] { x + tn::zeros({4}, {}, d); }, "[4]");
    expect_error([&] { x + Tensor(); }, "add");
    expect_error([&] { tn::add_(tn::zeros({3}, {}, d), x); }, "[3]");
    if (!d.is_cpu()) expect_error([&] { x + tn::zeros({3}); }, "device");
  }
}

// As PyTorch's. Long and short, so that vectors and what is left of them are there.
TEST(Elementwise, SignOfNanAndOfMinusZeroIsZero) {
  for (tn::Device d : devices()) {
    for (tn::Dtype dtype : {tn::float32, tn::float64, tn::float16, tn::bfloat16}) {
      SCOPED_TRACE(d.name() + " " + dtype.name());
      std::vector<double> values;
      for (int i = 0; i < 67; ++i)
        values.push_back(i % 4 == 0 ? NAN : i % 4 == 1 ? -0.0 : i % 4 == 2 ? -INFINITY : 3);
      const std::vector<double> found =
          tn::sign(Tensor::from(values, {67}, d).to(dtype)).to_vector<double>();
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i], i % 4 == 2 ? -1 : i % 4 == 3 ? 1 : 0) << i;
        EXPECT_EQ(std::signbit(found[i]), i % 4 == 2) << i;
      }
    }
  }
}

// Each row: x, y, the first derivatives, then the second ones by xx, xy and yy. At the origin there
// is none, as in PyTorch.
TEST(Elementwise, SecondDerivativesOfHypot) {
  const std::vector<std::vector<double>> rows = {{3, 4, 0.6, 0.8, 0.128, -0.096, 0.072},
                                                 {0, 3, 0, 1, 1. / 3, 0, 0},
                                                 {3, 0, 1, 0, 0, 0, 1. / 3},
                                                 {0, -2, 0, -1, 0.5, 0, 0},
                                                 {0, 0, kNan, kNan, kNan, kNan, kNan}};
  for (tn::Device d : devices()) {
    for (const std::vector<double>& row : rows) {
      SCOPED_TRACE(d.name() + " " + std::to_string(row[0]) + " " + std::to_string(row[1]));
      const Tensor x = float64_tensor({row[0]}, {}, d).requires_grad_(),
                   y = float64_tensor({row[1]}, {}, d).requires_grad_();
      const TensorList first = tn::grad({tn::hypot(x, y)}, {x, y}, {.create_graph = true});
      const TensorList of_dx = tn::grad({first[0]}, {x, y}, {.retain_graph = true});
      const TensorList of_dy = tn::grad({first[1]}, {x, y});
      expect_near(first[0], {row[2]}, 1e-12);
      expect_near(first[1], {row[3]}, 1e-12);
      expect_near(of_dx[0], {row[4]}, 1e-12);
      expect_near(of_dx[1], {row[5]}, 1e-12);
      expect_near(of_dy[0], {row[5]}, 1e-12);
      expect_near(of_dy[1], {row[6]}, 1e-12);
    }
  }
}

}  // namespace
