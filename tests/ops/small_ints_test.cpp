// int8 and int16 through the families of ops, with PyTorch 2.15's values: they wrap, promote and
// are refused as its do.
#include "ops_support.h"

namespace {

const tn::Dtype kSmall[] = {tn::int8, tn::int16};

// On each device: f(dtype, x, y, greatest) for x = [greatest, least, -7, 0, 5], y = [1, -1, 3, 2,
// -2].
template <typename F>
void for_all(const F& f) {
  for (tn::Device d : devices()) {
    for (tn::Dtype dtype : kSmall) {
      SCOPED_TRACE(d.name() + " " + dtype.name());
      const int64_t most = dtype == tn::int8 ? 127 : 32767;
      const Tensor x = tn::tensor<int64_t>({most, -most - 1, -7, 0, 5}).to(d, dtype);
      const Tensor y = tn::tensor<int64_t>({1, -1, 3, 2, -2}).to(d, dtype);
      f(dtype, x, y, double(most));
    }
  }
}

void expect(const Tensor& t, tn::Dtype dtype, const std::vector<double>& values) {
  EXPECT_STREQ(t.dtype().name(), dtype.name());
  expect_near(t, values, 0);
}

TEST(SmallInts, ArithmeticWraps) {
  for_all([](tn::Dtype dtype, const Tensor& x, const Tensor& y, double most) {
    for (const Layout& layout : layouts()) {
      const Tensor a = layout.of(x), b = layout.of(y);
      expect(a + b, dtype, {-most - 1, most, -4, 2, 3});
      expect(a * b, dtype, {most, -most - 1, -21, 0, -10});
    }
    expect(x - y, dtype, {most - 1, -most, -10, -2, 7});
    expect(-x, dtype, {-most, -most - 1, 7, 0, -5});
    expect(tn::abs(x), dtype, {most, -most - 1, 7, 0, 5});
    expect(tn::sign(x), dtype, {1, -1, -1, 0, 1});
    expect(tn::square(x), dtype, {1, 0, 49, 0, 25});
    expect(tn::pow(x, 2), dtype, {1, 0, 49, 0, 25});
    expect(x + 1, dtype, {-most - 1, -most, -6, 1, 6});
    expect(tn::add_(x.clone(), 1), dtype, {-most - 1, -most, -6, 1, 6});
    const std::vector<double> less = dtype == tn::int8
                                         ? std::vector<double>{83, 84, -51, -44, -39}
                                         : std::vector<double>{32467, 32468, -307, -300, -295};
    expect(x - 300, dtype, less);
    expect(x + 0.5, tn::float32, {most + 0.5, -most - 0.5, -6.5, 0.5, 5.5});
  });
}

// As PyTorch 2.15: alpha and value are elements of the dtype, and the number in a tensor's place
// wraps. -255 to 255 are uint8.
TEST(SmallInts, AScalarThatIsNoElementIsRefused) {
  const auto of = [](tn::Dtype dtype, tn::Device d) { return tn::tensor({1.f, 2.f}, d).to(dtype); };
  for (tn::Device d : devices()) {
    const Tensor x = of(tn::int8, d), bytes = of(tn::uint8, d), shorts = of(tn::int16, d);
    expect_error([&] { tn::add(x, x, 300); },
                 "add: alpha is 300, which is no int8; expected -128 to 127");
    expect_error([&] { tn::sub(x, x, -129); },
                 "sub: alpha is -129, which is no int8; expected -128 to 127");
    expect_error([&] { tn::add_(x.clone(), x, 300); }, "add_: alpha is 300, which is no int8");
    expect_error([&] { tn::add(x, 1, 300); }, "add: alpha is 300, which is no int8");
    expect_error([&] { tn::add(x.reshape({2, 1}), x, 300); }, "add: alpha is 300");
    expect_error([&] { tn::add(bytes, bytes, 256); },
                 "add: alpha is 256, which is no uint8; expected -255 to 255");
    expect_error([&] { tn::add(shorts, shorts, 40000); },
                 "add: alpha is 40000, which is no int16; expected -32768 to 32767");
    expect_error([&] { tn::add(of(tn::int32, d), 1, int64_t{1} << 31); },
                 "add: alpha is 2147483648, which is no int32");
    expect_error([&] { tn::addcmul(x, x, x, 300); }, "addcmul: value is 300, which is no int8");

    expect(tn::add(x, x, 127), tn::int8, {-128, 0});
    expect(tn::add(bytes, bytes, -1), tn::uint8, {0, 0});
    expect(tn::sub(bytes, bytes, 255), tn::uint8, {2, 4});
    expect(tn::add(x, shorts, 300), tn::int16, {301, 602});
    expect(tn::add(x, 300, 2), tn::int8, {89, 90});
    expect(tn::add(of(tn::int64, d), 1, int64_t{1} << 40), tn::int64, {1e0 + 0x1p40, 2 + 0x1p40});
    expect(tn::add(x, of(tn::float32, d), 300), tn::float32, {301, 602});
  }
}

TEST(SmallInts, AlphaOfIntegersIsNoFloat) {
  for (tn::Device d : devices()) {
    const Tensor x = tn::tensor({1.f, 2.f}, d).to(tn::int8);
    expect_error([&] { tn::add(x, x, 1.5); }, "alpha is a float; expected");
    expect_error([&] { tn::sub(x.to(tn::int64), x, 2.5); }, "alpha is a float; expected");
    expect(tn::add(x, 1.0, 1.5), tn::float32, {2.5, 3.5});
    expect(tn::add(x, x.to(tn::float16), 1.5), tn::float16, {2.5, 5});
  }
}

// As PyTorch: the result is bool, and alpha one of its elements.
TEST(SmallInts, AlphaOfBoolsIsABool) {
  for (tn::Device d : devices()) {
    const Tensor x = tn::tensor({1.f, 0.f, 1.f, 0.f}, d) > 0,
                 y = tn::tensor({1.f, 1.f, 0.f, 0.f}, d) > 0;
    expect(tn::add(x, y, 2), tn::bool_, {1, 1, 1, 0});
    expect(tn::add(x, y, -1), tn::bool_, {1, 1, 1, 0});
    expect(tn::add(x, y, 0), tn::bool_, {1, 0, 1, 0});
    expect(tn::add(x, y, false), tn::bool_, {1, 0, 1, 0});
    expect(tn::add_(x.clone(), y, 2), tn::bool_, {1, 1, 1, 0});
    expect(tn::add(x, 1, 2), tn::int64, {3, 2, 3, 2});
    expect(tn::add(x, tn::ones({4}, tn::int8, d), -2), tn::int8, {-1, -2, -1, -2});
    expect_error([&] { tn::add(x, y, 1.5); }, "alpha is a float; expected");
  }
}

TEST(SmallInts, AnExponentOrAChoiceThatIsNoElementIsRefused) {
  for (tn::Device d : devices()) {
    const Tensor x = tn::tensor({2.f, 3.f}, d).to(tn::int8), yes = x > 0;
    expect_error([&] { tn::pow(x, 300); },
                 "pow: the exponent is 300, which is no int8; expected 0 to 127");
    expect_error([&] { tn::pow(x.to(tn::int32), int64_t{1} << 40); },
                 "pow: the exponent is 1099511627776, which is no int32");
    expect(tn::pow(x, 7), tn::int8, {-128, -117});
    expect(tn::pow(x.to(tn::uint8), 255), tn::uint8, {0, 171});
    expect(tn::pow(x, tn::tensor(int64_t{300}).to(d)), tn::int8, {0, 113});  // a tensor wraps
    expect_error([&] { tn::where(yes, x, 300); },
                 "where: the number is 300, which is no int8; expected -128 to 127");
    expect_error([&] { tn::where(yes, -300, x.to(tn::uint8)); },
                 "where: the number is -300, which is no uint8; expected -255 to 255");
    expect(tn::where(yes, x, 100), tn::int8, {2, 3});
    expect(tn::where(x > 2, x.to(tn::uint8), -1), tn::uint8, {255, 3});
  }
}

TEST(SmallInts, QuotientsAndBits) {
  for_all([](tn::Dtype dtype, const Tensor& x, const Tensor& y, double most) {
    expect(tn::floor_divide(x, y), dtype, {most, -most - 1, -3, 0, -3});
    expect(tn::remainder(x, y), dtype, {0, 0, 2, 0, -1});
    expect(tn::fmod(x, y), dtype, {0, 0, -1, 0, 1});
    expect(tn::div(x, y, "trunc"), dtype, {most, -most - 1, -2, 0, -2});
    expect(x / y, tn::float32, {most, most + 1, -7 / 3.f, 0, -2.5});
    // Of integers a quotient by 0 is 0, in every dtype.
    const Tensor zero = tn::zeros_like(x);
    expect(tn::floor_divide(x, zero), dtype, {0, 0, 0, 0, 0});
    expect(tn::remainder(x, zero), dtype, {0, 0, 0, 0, 0});
    expect(tn::bitwise_and(x, y), dtype, {1, -most - 1, 1, 0, 4});
    expect(tn::bitwise_or(x, y), dtype, {most, -1, -5, 2, -1});
    expect(tn::bitwise_xor(x, y), dtype, {most - 1, most, -6, 2, -5});
    expect(tn::bitwise_not(x), dtype, {-most - 1, most, 6, -1, -6});
    expect(tn::bitwise_left_shift(x, 1), dtype, {-2, 0, -14, 0, 10});
    expect(tn::bitwise_right_shift(x, 1), dtype, {(most - 1) / 2, -(most + 1) / 2, -4, 0, 2});
    expect(tn::bitwise_right_shift(x, 20), dtype, {0, -1, -1, 0, 0});
  });
}

TEST(SmallInts, CompareAndChoose) {
  for_all([](tn::Dtype dtype, const Tensor& x, const Tensor& y, double most) {
    expect(x < y, tn::bool_, {0, 1, 1, 1, 0});
    expect(x == x, tn::bool_, {1, 1, 1, 1, 1});
    expect(x < 300, tn::bool_, {0, 1, 1, 1, 1});  // of int8 the number is 44
    expect(tn::maximum(x, y), dtype, {most, -1, 3, 2, 5});
    expect(tn::minimum(x, y), dtype, {1, -most - 1, -7, 0, -2});
    expect(tn::where(x > 0, x, y), dtype, {most, -1, 3, 2, 5});
    expect(tn::clamp(x, -3, 4), dtype, {4, -3, -3, 0, 4});
    expect(tn::clamp(x, -70000, 4), dtype, {4, -most - 1, -7, 0, 4});
    const std::string name = dtype.name();
    expect_error([&] { tn::clamp(x, 70000, 80000); }, "clamp: min is 70000, above every " + name +
                                                          "; expected at most " +
                                                          (dtype == tn::int8 ? "127" : "32767"));
    expect_error([&] { tn::clamp(x, tn::none, -70000); },
                 "clamp: max is -70000, below every " + name + "; expected at least " +
                     (dtype == tn::int8 ? "-128" : "-32768"));
    expect_error([&] { tn::pow(x, -1); }, "an integer to the power of -1");
  });
}

// uint8 and int8 meet in int16; a tensor without dimensions, and a number, take the other's dtype.
TEST(SmallInts, PromoteAsPyTorchs) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor i8 = tn::tensor<int64_t>({127, -128}).to(d, tn::int8), i16 = i8.to(tn::int16);
    const Tensor u8 = tn::tensor<int64_t>({200, 200}).to(d, tn::uint8);
    const auto scalar = [&](int64_t n, tn::Dtype dtype) { return tn::tensor(n).to(d, dtype); };
    expect(i8 + u8, tn::int16, {327, 72});
    expect(i8 + i16, tn::int16, {254, -256});
    expect(u8 + i16, tn::int16, {327, 72});
    expect(i8 + i16.to(tn::int32), tn::int32, {254, -256});
    expect(i8 + u8.to(tn::int64), tn::int64, {327, 72});
    expect(i8 + tn::ones({2}, tn::bool_, d), tn::int8, {-128, -127});
    expect(i8 + tn::ones({2}, tn::float16, d), tn::float16, {128, -127});
    expect(i8 + scalar(200, tn::uint8), tn::int8, {71, 72});
    expect(i8 + scalar(40000, tn::int64), tn::int8, {-65, -64});
    expect(i16 + scalar(40000, tn::int64), tn::int16, {-25409, -25664});
    expect(u8 + scalar(-1, tn::int8), tn::uint8, {199, 199});
    expect(tn::where(i8 > 0, i8, u8), tn::int16, {127, 200});
    expect(tn::cat({i8, u8}), tn::int16, {127, -128, 200, 200});
    expect(scalar(100, tn::int8) + scalar(200, tn::uint8), tn::int16, {300});
    expect_error([&] { i8.clone() += 0.5; }, "add_: the result is float32");
    expect(tn::add_(i8.clone(), u8), tn::int8, {71, 72});
  }
}

TEST(SmallInts, Reduce) {
  for_all([](tn::Dtype dtype, const Tensor& x, const Tensor& y, double most) {
    expect(tn::sum(x), tn::int64, {-3});
    expect(tn::sum(x, {}, false, dtype), dtype, {-3});
    expect(tn::sum(tn::stack({x, x}), {0}), tn::int64, {2 * most, -2 * most - 2, -14, 0, 10});
    expect(tn::prod(y), tn::int64, {12});
    expect(tn::mean(x), tn::float32, {-0.6f});
    expect(tn::amax(x), dtype, {most});
    expect(tn::amin(x), dtype, {-most - 1});
    expect(tn::argmax(x), tn::int64, {0});
    expect(tn::argmin(x), tn::int64, {1});
    expect(std::get<0>(tn::max(x, 0)), dtype, {most});
    expect(tn::all(x), tn::bool_, {0});
    expect(tn::any(x), tn::bool_, {1});
    expect(tn::count_nonzero(x), tn::int64, {4});
    expect(tn::cumsum(x, 0), tn::int64, {most, -1, -8, -8, -3});
    expect(tn::cumprod(y, 0), tn::int64, {1, -1, -3, -6, 12});
    const auto [sorted, places] = tn::sort(x);
    expect(sorted, dtype, {-most - 1, -7, 0, 5, most});
    expect(places, tn::int64, {1, 2, 3, 4, 0});
    expect(std::get<0>(tn::topk(x, 2)), dtype, {most, 5});
    expect(tn::matmul(x.reshape({1, 5}), y.reshape({5, 1})), dtype, {-32});
  });
}

TEST(SmallInts, MoveAndAreIndexed) {
  for_all([](tn::Dtype dtype, const Tensor& x, const Tensor&, double most) {
    const tn::Device d = x.device();
    const Tensor at = tn::tensor<int64_t>({4, 0, 4}, d),
                 two = tn::tensor<int64_t>({0, 1, 0, 1, 1}, d);
    expect(tn::index_select(x, 0, at), dtype, {5, most, 5});
    expect(tn::gather(x, 0, at), dtype, {5, most, 5});
    expect(x[x < 0], dtype, {-most - 1, -7});
    expect(tn::nonzero(x).reshape({-1}), tn::int64, {0, 1, 2, 4});
    const double wrapped = dtype == tn::int8 ? 120 : 32760;
    expect(tn::scatter_add(tn::zeros({2}, dtype, d), 0, two, x), dtype, {wrapped, -wrapped - 3});
    expect(tn::flip(x, {0}), dtype, {5, 0, -7, -most - 1, most});
    Tensor y = x.clone();
    y[1] = 9;
    y[y == 0] = -1;
    expect(y, dtype, {most, 9, -7, -1, 5});
    expect_error([&] { tn::zeros({3}, {}, d)[x]; },
                 "expected int64 or int32, or a mask of bool or uint8");
    expect(x.to(tn::float32), tn::float32, {most, -most - 1, -7, 0, 5});
    expect(x.to(tn::bool_), tn::bool_, {1, 1, 1, 0, 1});
  });
}

TEST(SmallInts, AreMadeAndFilled) {
  for (tn::Device d : devices()) {
    for (tn::Dtype dtype : kSmall) {
      SCOPED_TRACE(d.name() + " " + dtype.name());
      const std::string range =
          dtype == tn::int8 ? "int8; expected -128 to 127" : "int16; expected -32768 to 32767";
      expect(tn::full({2}, -5, dtype, d), dtype, {-5, -5});
      expect(tn::arange(-3, 3, 1, dtype, d), dtype, {-3, -2, -1, 0, 1, 2});
      expect(tn::zeros({2}, dtype, d).fill_(-2.9), dtype, {-2, -2});
      const Tensor drawn = tn::randint(-100, 100, {500}, dtype, d);
      EXPECT_EQ(drawn.dtype(), dtype);
      EXPECT_GE(tn::amin(drawn).item<int>(), -100);
      EXPECT_LT(tn::amin(drawn).item<int>(), -80);
      EXPECT_LT(tn::amax(drawn).item<int>(), 100);
      expect(std::get<0>(tn::sort(tn::randperm(5, dtype, d))), dtype, {0, 1, 2, 3, 4});
      expect_error([&] { tn::full({1}, 40000, dtype, d); },
                   "full: value is 40000, which is no " + range);
      expect_error([&] { tn::randint(0, 40001, {2}, dtype, d); },
                   "randint: high - 1 is 40000, which is no " + range);
    }
  }
}

// What C++ holds of them: elements in and out.
TEST(SmallInts, AreElementsOfCppsTypes) {
  static_assert(tn::dtype_of<int8_t>() == tn::int8 && tn::dtype_of<int16_t>() == tn::int16);
  static_assert(tn::dtype_of<long long>() == tn::int64 && tn::dtype_of<uint32_t>() == tn::int32);
  const Tensor bytes = Tensor::from<int8_t>({1, -2}), shorts = Tensor::from<int16_t>({300, -300});
  expect(bytes, tn::int8, {1, -2});
  expect(shorts, tn::int16, {300, -300});
  EXPECT_EQ(bytes.data<int8_t>()[1], -2);
  EXPECT_EQ(shorts[0].item<int16_t>(), 300);
  EXPECT_EQ(shorts.to_vector<int8_t>(), (std::vector<int8_t>{44, -44}));
  EXPECT_EQ(tn::Dtype::parse("int16"), tn::int16);
  EXPECT_TRUE(tn::integers.has(tn::int8) && !tn::all_floats.has(tn::int8));
}

// A formula of floats computes in floats, whatever the integers would wrap to. PyTorch refuses integers
// here, but for logit and softsign; the values are those of the float32.
TEST(SmallInts, FormulasOfFloatsDoNotWrap) {
  using F = Tensor (*)(const Tensor&);
  const F formulas[] = {
      [](const Tensor& x) { return tn::hardswish(x); },
      [](const Tensor& x) { return tn::hardsigmoid(x); },
      [](const Tensor& x) { return tn::silu(x); },
      [](const Tensor& x) { return tn::log_sigmoid(x); },
      [](const Tensor& x) { return tn::softsign(x); },
      [](const Tensor& x) { return tn::softmin(x); },
      [](const Tensor& x) { return tn::gelu(x); },
      [](const Tensor& x) { return tn::mish(x); },
      [](const Tensor& x) { return tn::softplus(x); },
      [](const Tensor& x) { return tn::tanhshrink(x); },
  };
  for (const tn::Device d : devices()) {
    for (const tn::Dtype dtype : {tn::int8, tn::uint8, tn::int16}) {
      const Tensor x = tn::tensor({-128, -100, -3, 0, 1, 22, 127, 247, 255}).to(d, dtype);
      for (const F f : formulas) {
        const Tensor y = f(x), expected = f(x.to(tn::float32));
        EXPECT_EQ(y.dtype(), tn::float32);
        expect_near(y, expected.to_vector<double>(), 1e-6);
      }
    }
  }
}

}  // namespace
