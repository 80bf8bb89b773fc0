// Elementwise ops by dtype: what they promote to, what integers and bounds become, and which dtypes
// they refuse. Values are PyTorch's.
#include "elementwise_values.h"
#include "message_of.h"

namespace {

TEST(ElementwiseDtype, PromotesAsPyTorchDoes) {
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
    EXPECT_EQ((f + tn::tensor(1.0, tn::float64, d)).dtype(), tn::float32);
    EXPECT_EQ((f.to(tn::float16) + 1.0).dtype(), tn::float16);
    EXPECT_EQ((f.to(tn::bfloat16) + f).dtype(), tn::float32);
    expect_near(f.to(tn::float16) * 3, {3, 6});
  }
}

TEST(ElementwiseDtype, IntegersToNegativePowers) {
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

TEST(ElementwiseDtype, IntegersStayIntegers) {
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

TEST(ElementwiseDtype, NanToNumTakesTheGreatestNumberOfTheDtype) {
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

TEST(ElementwiseDtype, ADtypeThatAnOpDoesNotTakeIsNamedWithTheArgument) {
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

TEST(ElementwiseDtype, BoundsAndFillersKeepTheDtypeOfIntegers) {
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
    expect_error(
        [&] { tn::hardtanh(mask.to(tn::float32), 0.5, -0.5); },
        "hardtanh: min_val is 0.5, max_val is -0.5; expected min_val to be at most max_val");
    expect_error([&] { tn::threshold(mask, 0, 1); },
                 "threshold: x is bool, expected integers or floats");
  }
}

// PyTorch 2.15's values: a bound beyond x's dtype bounds nothing, and one that leaves nothing of
// the dtype is refused.
TEST(ElementwiseDtype, BoundsOfIntegersMayLieOutsideOfTheirDtype) {
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

// An op that computes in floats takes an integer as it is, whatever the dtype of the integers
// beside it holds. Values of PyTorch.
TEST(ElementwiseDtype, FloatsOfIntegersAreOfTheWholeNumber) {
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
TEST(ElementwiseDtype, HalvesAreComparedWithTheNearestHalf) {
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

// So is a tensor without dimensions, and an integer.
TEST(ElementwiseDtype, WhatMeetsHalvesIsComparedAsAHalf) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (tn::Dtype dtype : {tn::float16, tn::bfloat16}) {
      const Tensor x = tn::full({2}, 0.1, dtype, d);
      for (tn::Dtype other : {tn::float32, tn::float64}) {
        for (tn::Device home : {d, tn::Device()}) {  // read as a number where it lies elsewhere
          const Tensor tenth = tn::full({}, 0.1, other, home);
          EXPECT_TRUE((x == tenth).all().item<bool>()) << dtype.name() << other.name();
          EXPECT_FALSE((tenth != x).any().item<bool>());
          EXPECT_FALSE((x < tenth).any().item<bool>());
          EXPECT_FALSE((x > tenth).any().item<bool>());
          EXPECT_TRUE((tenth <= x).all().item<bool>());
          EXPECT_TRUE((x >= tenth).all().item<bool>());
          expect_near(tn::remainder(x, tenth), {0, 0}, 0);
          expect_near(tn::fmod(x, tenth), {0, 0}, 0);
          expect_near(tn::remainder(tenth, x), {0, 0}, 0);
        }
      }
      expect_near(tn::remainder(x, 0.1), {0, 0}, 0);
    }
    // 0.1 is another number in the other half, and becomes that one in this.
    const Tensor of_bfloat = tn::full({}, 0.1, tn::bfloat16, d);
    EXPECT_FALSE((tn::full({2}, 0.1, tn::float16, d) == of_bfloat).any().item<bool>());
    EXPECT_TRUE((tn::full({2}, 0.1, tn::bfloat16, d) == tn::full({}, 0.1, tn::float16, d))
                    .all()
                    .item<bool>());
    const Tensor large = tn::full({1}, 2048, tn::float16, d);
    EXPECT_TRUE((large == tn::full({1}, 2049, tn::int64, d)).item<bool>());
    expect_near(tn::remainder(large, tn::full({1}, 2049, tn::int64, d)), {0}, 0);
  }
}

}  // namespace
