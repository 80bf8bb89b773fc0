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
  auto one_of = [](auto f, auto... numbers) {
    return [=](const TensorList& in) { return f(in[0], numbers...); };
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
      {"softplus at 0", one_of(tn::softplus, 1, 20), {tn::zeros({2}, tn::float64, d)}},
      {"log_sigmoid at 0", one(tn::log_sigmoid), {tn::zeros({2}, tn::float64, d)}},
      {"mish at 0", one(tn::mish), {tn::zeros({2}, tn::float64, d)}},
      {"celu near 0", one_of(tn::celu, 1.5), {float64_tensor({-1e-3, 1e-3}, {2}, d)}},
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

TEST(Elementwise, PromotesAsPyTorchDoes) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor i = tn::tensor({int64_t(1), int64_t(2)}, d), f = tn::tensor({1.f, 2.f}, d);
    Tensor b = tn::tensor({true, false}, d);
    EXPECT_EQ((i + i).dtype(), tn::int64);
    EXPECT_EQ((i + 1).dtype(), tn::int64);
    EXPECT_EQ((i + 0.5).dtype(), tn::float32);
    EXPECT_EQ((i + f).dtype(), tn::float32);
    EXPECT_EQ((i / i).dtype(), tn::float32);
    EXPECT_EQ((b + 1).dtype(), tn::int64);
    EXPECT_EQ(tn::exp(i).dtype(), tn::float32);
    EXPECT_EQ((f + tn::tensor(1.0, d)).dtype(), tn::float32);
    EXPECT_EQ((f.to(tn::float16) + 1.0).dtype(), tn::float16);
    EXPECT_EQ((f.to(tn::bfloat16) + f).dtype(), tn::float32);
    expect_near(f.to(tn::float16) * 3, {3, 6});
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

TEST(Elementwise, IntegersToNegativePowers) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor i = tn::tensor({int64_t(2), int64_t(-1), int64_t(1)}, d);
    const char* message =
        "an integer to the power of -2; expected an exponent of at least 0, or a float (-2.0)";
    expect_error([&] { tn::pow(i, -2); }, message);
    expect_error([&] { tn::pow(i.slice(0, 0, 3, 2), -2); }, message);
    expect_error([&] { tn::pow_(i, -2); }, "pow_: an integer to the power of -2");
    expect_error([&] { tn::pow(i == 2, -2); }, message);
    expect_near(tn::pow(i, -2.0), {0.25, 1, 1});
    expect_near(tn::pow(i.to(tn::float32), -2), {0.25, 1, 1});
    // torch.tensor([2, -1, 1]) ** torch.tensor(-2): elements are not looked at.
    expect_near(tn::pow(i, tn::full({3}, -2, {}, d)), {0, 1, 1});
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
    if (name == "ops.masked_fill") continue;  // takes no floats as its mask: op_sweep_test
    if (name == "ops.clamp") continue;        // wants a bound: Options.*
    SCOPED_TRACE(inplace->second);
    for (tn::Device d : devices()) {
      const auto called = [&](const std::string& op, Tensor* first) {
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

TEST(Elementwise, IntegersStayIntegers) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const auto ints = [&](std::vector<int64_t> values) { return Tensor::from(values, -1, d); };
    const auto expect_ints = [](const Tensor& t, const std::vector<int64_t>& values) {
      EXPECT_EQ(t.dtype(), tn::int64);
      EXPECT_EQ(t.to_vector<int64_t>(), values);
    };
    Tensor i = ints({7, -7, 7, -7, 0, 3}), j = ints({2, 2, -2, -2, 5, 7});
    expect_ints(tn::div(i, j, "floor"), {3, -4, -4, 3, 0, 0});
    expect_ints(tn::div(i, j, "trunc"), {3, -3, -3, 3, 0, 0});
    EXPECT_EQ(tn::div(i, j, std::nullopt).dtype(), tn::float32);
    expect_near(tn::div(i, 2.0, "trunc"), {3, -3, 3, -3, 0, 1}, 0);
    expect_ints(tn::div_(ints({7, -7}), 2, "floor"), {3, -4});
    expect_ints(tn::div_(ints({7, -7}), 2, "trunc"), {3, -3});
    // 2^53 + 1 is no double.
    expect_ints(tn::div(ints({9007199254740993}), 1, "trunc"), {9007199254740993});
    expect_ints(i % j, {1, 1, -1, -1, 0, 3});
    expect_ints(tn::fmod(i, j), {1, -1, 1, -1, 0, 3});
    expect_ints(tn::add(i, j, 3), {13, -1, 1, -13, 15, 24});
    expect_ints(tn::sub(i, j, -2), {11, -3, 3, -11, 10, 17});
    expect_ints(tn::add_(ints({1, 2}), 5, 2), {11, 12});
    expect_ints(tn::sub_(ints({1, 2}), 5, 2), {-9, -8});
    expect_ints(tn::addcmul(i, i, j, 2), {35, -35, -21, 21, 0, 45});
    expect_ints(tn::clamp(i, -2, 3), {3, -2, 3, -2, 0, 3});
    expect_near(tn::clamp(i, -2.5), {7, -2.5, 7, -2.5, 0, 3});
    expect_ints(tn::clamp(i, tn::none, j), {2, -7, -2, -7, 0, 3});
    expect_ints(tn::clamp_(ints({5, -5}), tn::none, 2), {2, -5});
    expect_ints(tn::clamp_(ints({5, -5}), -2), {5, -2});
    expect_ints(tn::sign(i), {1, -1, 1, -1, 0, 1});
    for (auto* f : {tn::floor, tn::ceil, tn::round, tn::trunc})
      expect_ints(f(i), i.to_vector<int64_t>());
    expect_ints(tn::nan_to_num(i), i.to_vector<int64_t>());
    expect_ints(i & j, {2, 0, 6, -8, 0, 3});
    expect_ints(i | j, {7, -5, -1, -1, 5, 7});
    expect_ints(i ^ j, {5, -5, -7, 7, 5, 4});
    expect_ints(~i, {-8, 6, -8, 6, -1, -4});
    Tensor by = ints({0, 1, 3, 2, 1, 0});
    expect_ints(tn::bitwise_left_shift(i, by), {7, -14, 56, -28, 0, 3});
    expect_ints(tn::bitwise_right_shift(i, by), {7, -4, 0, -2, 0, 3});
    Tensor a = tn::tensor({true, false}, d), b = tn::tensor({true, true}, d);
    EXPECT_EQ((a ^ b).dtype(), tn::bool_);
    expect_near(a & b, {1, 0});
    expect_near(a | b, {1, 1});
    expect_near(a ^ b, {0, 1});
    expect_near(~a, {0, 1});
    expect_near(tn::logical_xor(a, b), {0, 1});
  }
}

TEST(Elementwise, NanToNumTakesTheGreatestNumberOfTheDtype) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({INFINITY, -INFINITY, NAN}, d);
    expect_near(tn::nan_to_num(x), {3.4028234663852886e38, -3.4028234663852886e38, 0}, 0);
    expect_near(tn::nan_to_num(x.to(tn::float16)), {65504, -65504, 0}, 0);
    expect_near(tn::nan_to_num(x.to(tn::bfloat16)),
                {3.3895313892515355e38, -3.3895313892515355e38, 0}, 0);
    expect_near(tn::nan_to_num_(x, 1, 2), {2, -3.4028234663852886e38, 1}, 0);
    Tensor i = tn::tensor({int64_t(3)}, d);
    EXPECT_TRUE(tn::nan_to_num_(i).is_same(i));
  }
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

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const tn::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Elementwise, ADtypeThatAnOpDoesNotTakeIsNamedWithTheArgument) {
  load_all();
  Tensor b = tn::zeros({2, 3}, tn::bool_), i = tn::zeros({2, 3}, tn::int64), f = tn::zeros({2, 3});
  EXPECT_EQ(message_of([&] { -b; }),
            "neg: x is [2, 3] bool on cpu; expected x to be int or float\n"
            "  because neg: column 1: '-' takes int and float, got bool");
  EXPECT_EQ(
      message_of([&] { tn::exp_(i); }),
      "exp_: x is [2, 3] int64 on cpu; expected x to be float\n"
      "  because exp_: the result is float32, which cannot be written into 'x' of dtype int64 "
      "in place");
  const auto first_line = [&](const std::function<void()>& call) {
    const std::string message = message_of(call);
    return message.substr(0, message.find('\n'));
  };
  EXPECT_EQ(first_line([&] { b - b; }),
            "sub: x is [2, 3] bool on cpu, y is [2, 3] bool on cpu; "
            "expected x to be int or float, or y to be int or float");
  // The careful path: another layout.
  EXPECT_EQ(first_line([&] { tn::exp_(i.t()); }),
            "exp_: x is [3, 2] int64 on cpu; expected x to be float");
  EXPECT_EQ(first_line([&] { tn::add_(i, f); }),
            "add_: x is [2, 3] int64 on cpu, y is [2, 3] float32 on cpu; "
            "expected x to be float, or y to be bool or int");
  EXPECT_EQ(first_line([&] { tn::add_(i, 1.5); }),
            "add_: x is [2, 3] int64 on cpu, y is a float; expected x to be float, or y to be bool "
            "or int");
  for (tn::Device d : devices()) {
    EXPECT_EQ(first_line([&] { -b.to(d); }),
              "neg: x is [2, 3] bool on " + d.name() + "; expected x to be int or float");
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

TEST(Elementwise, BoundsAndFillersKeepTheDtypeOfIntegers) {
  const auto expect_ints = [](const Tensor& t, const std::vector<int64_t>& values) {
    EXPECT_EQ(t.dtype(), tn::int64);
    EXPECT_EQ(t.to_vector<int64_t>(), values);
  };
  for (tn::Device d : devices()) {
    const Tensor i = tn::tensor({-7, 0, 7}, d).to(tn::int64), mask = i > 0;
    expect_ints(tn::hardtanh(i, -2.7, 3.9), {-2, 0, 3});
    expect_ints(tn::threshold(i, 0.9, 7.8), {7, 7, 7});
    expect_ints(tn::masked_fill(i, mask, 2.5), {-7, 0, 2});
    expect_ints(tn::masked_fill(i, mask, tn::tensor(2.5f, d)), {-7, 0, 2});
    expect_ints(tn::masked_fill_(i.clone(), mask, -1.5), {-7, 0, -1});
    EXPECT_EQ(tn::masked_fill(mask, mask, 0.0).dtype(), tn::bool_);
    EXPECT_EQ(tn::square(mask).dtype(), tn::int64);
    expect_error([&] { tn::masked_fill(i, mask, INFINITY); },
                 "masked_fill: value is inf, which is no int64");
    expect_error([&] { tn::masked_fill(i.to(tn::uint8), mask, 300); },
                 "masked_fill: value is 300, which is no uint8");
    expect_error([&] { tn::masked_fill(i, i, 1); },
                 "masked_fill: mask is int64, expected a tensor of bool");
    expect_error([&] { tn::masked_fill_(i, mask, tn::zeros({3}, {}, d)); },
                 "masked_fill_: value is [3], expected a number or a tensor without dimensions");
    expect_error([&] { tn::hardtanh(i, -INFINITY, 1); },
                 "hardtanh: min_val is -inf, which is no int64");
    expect_error([&] { tn::threshold(mask, 0, 1); },
                 "threshold: x is bool, expected integers or floats");
  }
}

// PyTorch 2.15's values: a bound beyond x's dtype bounds nothing, and one that leaves nothing of
// the dtype is refused.
TEST(Elementwise, BoundsOfIntegersMayLieOutsideOfTheirDtype) {
  constexpr int64_t kFar = int64_t{1} << 40;
  for (tn::Device d : devices()) {
    for (tn::Dtype dtype : {tn::uint8, tn::int16, tn::int32}) {
      SCOPED_TRACE(d.name() + " " + dtype.name());
      const auto expect = [&](const Tensor& t, const std::vector<double>& values) {
        EXPECT_EQ(t.dtype(), dtype);
        expect_near(t, values, 0);
      };
      const Tensor x = tn::tensor({0, 1, 5, 200}, d).to(dtype);
      expect(tn::clamp(x, -1, 1), {0, 1, 1, 1});
      expect(tn::clamp(x, -1, 300), {0, 1, 5, 200});
      expect(tn::clamp(x, 2, 300), {2, 2, 5, 200});
      expect(tn::clamp(x, -kFar, 3), {0, 1, 3, 3});
      expect(tn::clamp(x, -5, kFar), {0, 1, 5, 200});
      expect(tn::clamp(x, INT64_MIN, INT64_MAX), {0, 1, 5, 200});
      expect(tn::clamp(x, tn::none, kFar), {0, 1, 5, 200});
      expect(tn::clamp(x, -kFar, tn::none), {0, 1, 5, 200});
      expect(tn::clamp(x, 5, 1), {1, 1, 1, 1});
      expect(tn::clamp_(x.clone(), -300, 300), {0, 1, 5, 200});
      expect(tn::clamp_(x.clone(), tn::none, kFar), {0, 1, 5, 200});
      expect(tn::clamp(layouts()[2].of(x), -kFar, 3), {0, 1, 3, 3});
      expect(tn::hardtanh(x), {0, 1, 1, 1});
      expect(tn::hardtanh(x, -1.5, 1.5), {0, 1, 1, 1});
      expect(tn::hardtanh(x, -300, 300), {0, 1, 5, 200});
      expect(tn::hardtanh(x, 0.5, 300.5), {0, 1, 5, 200});
      expect(tn::hardtanh(x, -kFar, kFar), {0, 1, 5, 200});
      expect(tn::hardtanh_(x.clone(), -2.5, 255.9), {0, 1, 5, 200});
      const std::string name = dtype.name();
      const std::string most = dtype == tn::uint8   ? "255"
                               : dtype == tn::int16 ? "32767"
                                                    : "2147483647";
      const std::string least = dtype == tn::uint8   ? "0"
                                : dtype == tn::int16 ? "-32768"
                                                     : "-2147483648";
      expect_error(
          [&] { tn::clamp(x, kFar, 2 * kFar); },
          "clamp: min is 1099511627776, above every " + name + "; expected at most " + most);
      expect_error([&] { tn::clamp(x, -5, -kFar); }, "clamp: max is -1099511627776, below every " +
                                                         name + "; expected at least " + least);
      expect_error([&] { tn::clamp_(x.clone(), kFar); },
                   "clamp_: min is 1099511627776, above every " + name);
      expect_error([&] { tn::clamp(x, tn::none, -kFar); },
                   "clamp: max is -1099511627776, below every " + name);
      expect_error([&] { tn::hardtanh(x, kFar, 2 * kFar); },
                   "hardtanh: min_val is 1099511627776, above every " + name);
      expect_error([&] { tn::hardtanh_(x.clone(), -2 * kFar, -kFar); },
                   "hardtanh_: max_val is -1099511627776, below every " + name);
    }
    const Tensor bytes = tn::tensor({0, 200}, d).to(tn::uint8), flags = bytes.to(tn::bool_);
    expect_error([&] { tn::clamp(bytes, tn::none, -1); },
                 "clamp: max is -1, below every uint8; expected at least 0");
    expect_error([&] { tn::clamp(bytes, 256); },
                 "clamp: min is 256, above every uint8; expected at most 255");
    expect_near(tn::clamp(bytes, -1.0), {0, 200}, 0);
    EXPECT_EQ(tn::clamp(bytes, -1.0).dtype(), tn::float32);
    expect_near(tn::clamp(flags, 5, kFar), {5, 5}, 0);
    EXPECT_EQ(tn::clamp(flags, 5, kFar).dtype(), tn::int64);
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

// An op that computes in floats takes an integer as it is, whatever the dtype of the integers
// beside it holds. Values of PyTorch.
TEST(Elementwise, FloatsOfIntegersAreOfTheWholeNumber) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = tn::tensor<uint8_t>({0, 128, 255}).to(d);
    const Tensor thousand = Tensor::from(std::vector<int64_t>{1000}, std::vector<int64_t>{}).to(d);
    expect_near(x / 256, {0, 0.5, 0.99609375}, 1e-7);
    expect_near(x / 300, {0, 128. / 300, 0.85}, 1e-7);
    expect_near(x / -1, {0, -128, -255}, 1e-7);
    expect_near(300 / tn::tensor<uint8_t>({128, 255}).to(d), {2.34375, 300. / 255}, 1e-7);
    expect_near(x / thousand, {0, 0.128, 0.255}, 1e-7);
    expect_near(tn::hypot(tn::tensor<uint8_t>({3, 2}).to(d), 300),
                {300.01499962500, 300.00666659259}, 1e-6);
    expect_near(tn::logaddexp(tn::tensor<uint8_t>({3, 2}).to(d), 300), {300, 300}, 1e-6);
    expect_near(tn::atan2(x, -1), {3.14159265358979, 1.57860891794, 1.57471790698}, 1e-6);
    const Tensor seven = tn::tensor<int32_t>({7}).to(d);
    expect_near(seven / ((int64_t(1) << 32) | 1), {7. / 4294967297.}, 1e-16);
    expect_near(seven / (int64_t(1) << 31), {7. / 2147483648.}, 1e-16);
    expect_near(x + 300, {44, 172, 43});  // integers wrap, in PyTorch too
    EXPECT_EQ((x < 300).to_vector<bool>(), (std::vector<bool>{true, false, false}));
  }
}

// A number beside halves is rounded to one before it is compared, as in PyTorch.
TEST(Elementwise, HalvesAreComparedWithTheNearestHalf) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (tn::Dtype dtype : {tn::float16, tn::bfloat16}) {
      const Tensor x = Tensor::from(std::vector<double>{0.1, INFINITY}, {2}).to(dtype).to(d);
      EXPECT_EQ((x == 0.1).to_vector<bool>(), (std::vector<bool>{true, false}));
      EXPECT_EQ((x > 0.1).to_vector<bool>(), (std::vector<bool>{false, true}));
      EXPECT_EQ((0.1 >= x).to_vector<bool>(), (std::vector<bool>{true, false}));
      EXPECT_EQ((x == 70000).to_vector<bool>()[1], dtype == tn::float16);
    }
  }
}

}  // namespace
