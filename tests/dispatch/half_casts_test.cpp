// How half types round, alone and within an op: IEEE 754 (nearest, ties to even) for 10 and 7 bits of
// fraction.
#include <cmath>
#include <limits>
#include <vector>

#include "ops_support.h"

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Halves, CastsRoundToNearestEven) {
  struct Row {
    float value;
    double float16, bfloat16;
  };
  const Row rows[] = {
      {0.1f, 0.0999755859375, 0.10009765625},
      {1.f / 3, 0.333251953125, 0.333984375},
      {3.14159274f, 3.140625, 3.140625},
      {1 + 0x1p-11f, 1, 1},               // a tie of float16: to even, down
      {1 + 3 * 0x1p-11f, 1 + 0x1p-9, 1},  // up
      {1 + 0x1p-8f, 1 + 0x1p-8, 1},       // a tie of bfloat16
      {1 + 3 * 0x1p-8f, 1 + 3 * 0x1p-8, 1 + 0x1p-6},
      {1 + 0x1p-8f + 0x1p-20f, 1 + 0x1p-8, 1 + 0x1p-7},
      {2049, 2048, 2048},
      {2051, 2052, 2048},
      {65504, 65504, 65536},
      {65519.996f, 65504, 65536},
      {65520, kInf, 65536},
      {-1e30f, -kInf, -1.0002555517425873e30},
      {3.4e38f, kInf, kInf},
      {3.3895314e38f, kInf, 3.3895313892515355e38},
      {0x1p-24f, 0x1p-24, 0x1p-24},  // the least of float16
      {0x1p-25f, 0, 0x1p-25},        // half of it: to even
      {0x1.8p-25f, 0x1p-24, 0x1.8p-25},
      {0x1.8p-14f, 0x1.8p-14, 0x1.8p-14},
      {0x1p-133f, 0, 0x1p-133},  // the least of bfloat16
      {0x1p-134f, 0, 0},
      {INFINITY, kInf, kInf},
      {NAN, kNan, kNan},
  };
  std::vector<float> values;
  std::vector<double> halves, brains;
  for (const Row& row : rows) {
    values.push_back(row.value);
    halves.push_back(row.float16);
    brains.push_back(row.bfloat16);
  }
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (tn::Dtype from : {tn::float32, tn::float64}) {
      Tensor x = Tensor::from(values, -1, d).to(from);
      expect_near(x.to(tn::float16), halves, 0);
      expect_near(x.to(tn::bfloat16), brains, 0);
      // There and back, and at strides.
      expect_near(x.to(tn::float16).to(tn::float64), halves, 0);
      Tensor pairs = x.view({int64_t(values.size()) / 2, 2});
      expect_near(pairs.t().to(tn::bfloat16).t(), brains, 0);
    }
    EXPECT_TRUE(std::signbit(tn::tensor(-0.f, d).to(tn::float16).item<double>()));
    EXPECT_TRUE(std::signbit(tn::tensor(-0.f, d).to(tn::bfloat16).item<double>()));
  }
}

TEST(Halves, CastFromAndToOtherTypes) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (tn::Dtype half : {tn::float16, tn::bfloat16}) {
      SCOPED_TRACE(half.name());
      Tensor x = tn::tensor({-2.5f, 0.f, 0.25f, 7.75f}, d).to(half);
      expect_near(x.to(tn::int64), {-2, 0, 0, 7});
      expect_near(x.to(tn::int32), {-2, 0, 0, 7});
      expect_near(x.to(tn::bool_), {1, 0, 1, 1});
      expect_near(tn::tensor({NAN}, d).to(half).to(tn::bool_), {1});
      expect_near(tn::tensor({int64_t(-3), int64_t(200)}, d).to(half), {-3, 200});
      expect_near(tn::tensor({int64_t(200), int64_t(7)}, d).to(tn::uint8).to(half), {200, 7});
      expect_near(tn::tensor({true, false}, d).to(half), {1, 0});
    }
    expect_near(tn::tensor({int64_t(2049), int64_t(100000)}, d).to(tn::float16), {2048, kInf});
    expect_near(tn::tensor({int64_t(257), int64_t(259)}, d).to(tn::bfloat16), {256, 260});
    expect_near(tn::tensor({300.f, 1.f}, d).to(tn::bfloat16).to(tn::float16), {300, 1});
    // What is in a gradient's way: a cast gives it back in the type that came.
    Tensor leaf = tn::ones({2}, {}, d).requires_grad_();
    (leaf.to(tn::float16) * 3).to(tn::float32).sum().backward();
    EXPECT_EQ(leaf.grad().dtype(), tn::float32);
    expect_near(leaf.grad(), {3, 3});
  }
}

TEST(Halves, ComputeInFloat32AndRoundOnce) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    auto f16 = [&](std::vector<float> v) { return Tensor::from(v, -1, d).to(tn::float16); };
    auto bf16 = [&](std::vector<float> v) { return Tensor::from(v, -1, d).to(tn::bfloat16); };
    expect_near(f16({100, 2048, 2048}) + f16({0.05f, 1, 3}), {100.0625, 2048, 2052}, 0);
    expect_near(bf16({256, 256, 1}) + bf16({1, 3, 0.0078125f}), {256, 260, 1.0078125}, 0);
    expect_near(f16({256, -300}) * f16({256, 300}), {kInf, -kInf}, 0);
    expect_near(f16({1, 1}) / f16({3, 0}), {0.333251953125, kInf}, 0);
    expect_near(tn::exp(f16({11, 12})), {59872, kInf}, 0);
    // (x * x * x): 1.25 of the first factors would be rounded on the way.
    expect_near(tn::pow(bf16({1.0078125f}), 3), {1.0234375}, 0);
    expect_near(bf16({0.1f}) == 0.10009765625, {1});
    expect_near(f16({1, 2}) < bf16({1.5f, 1.5f}), {1, 0});
    EXPECT_EQ((f16({1}) + bf16({1})).dtype(), tn::float32);
    Tensor x = f16({1, 2});
    tn::add_(x, 0x1p-11);  // a tie at 1, less than a half at 2
    expect_near(x, {1, 2}, 0);
    // Sums fold in float32: a float16 counter would stop at 2048.
    expect_near(tn::ones({3000}, tn::float16, d).sum(), {3000}, 0);
    expect_near(tn::ones({70000}, tn::float16, d).sum(), {kInf}, 0);
    expect_near(tn::ones({70000}, tn::float16, d).mean(), {1}, 0);
    // And so do products: 257 ones are a tie in bfloat16, 259 another.
    for (int64_t k : {257, 259}) {
      Tensor ones = tn::ones({1, k}, tn::bfloat16, d);
      expect_near(tn::matmul(ones, ones.t()), {k == 257 ? 256.0 : 260.0}, 0);
    }
  }
}

}  // namespace
