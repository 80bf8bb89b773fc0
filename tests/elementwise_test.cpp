// Elementwise ops: values against closed forms, dtypes, in-place use, powers at 0. Gradients, ties
// and layouts are in op_rows_test.cpp, as those of all families.
#include "ops_support.h"

namespace {

const double kNan = std::nan("");
const double kInf = INFINITY;

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
    expect_near(tn::gelu(x), {-0.0454023, -0.1542860, 0, 0.3457140, 2.9963627}, 1e-5);
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

}  // namespace
