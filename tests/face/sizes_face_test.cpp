// Sizes of tensors as programs write and read them: with braces and without, by places from the end, and
// elements as plain numbers.
#include <tenon/tenon.hpp>

#include <gtest/gtest.h>

#include "message_of.h"

namespace tn = tenon;
using tn::Tensor;
using Sizes = std::vector<int64_t>;

namespace {

class SizesOfTensors : public testing::Test {
 protected:
  void SetUp() override { tn::load_plugins(); }
};

TEST_F(SizesOfTensors, StandWithoutBraces) {
  const Tensor x = tn::arange(24).reshape(2, 3, 4);
  EXPECT_EQ(x.sizes(), (Sizes{2, 3, 4}));
  EXPECT_TRUE(tn::equal(x, tn::arange(24).reshape({2, 3, 4})));
  EXPECT_EQ(x.view(6, -1).sizes(), (Sizes{6, 4}));
  EXPECT_TRUE(tn::equal(x.permute(2, 0, 1), x.permute({2, 0, 1})));
  EXPECT_TRUE(tn::equal(x.flip(0, 2), x.flip({0, 2})));
  EXPECT_EQ(x.repeat(2, 1, 1).sizes(), (Sizes{4, 3, 4}));
  EXPECT_EQ(x.tile(1, 2, 1).sizes(), (Sizes{2, 6, 4}));
  EXPECT_EQ(tn::ones(1, 3).expand(5, 3).sizes(), (Sizes{5, 3}));
  EXPECT_EQ(tn::ones(1, 3).broadcast_to(2, 5, 3).sizes(), (Sizes{2, 5, 3}));
  EXPECT_EQ(tn::zeros(2, 3).sizes(), (Sizes{2, 3}));
  EXPECT_EQ(tn::rand(2, 3, 4).sizes(), (Sizes{2, 3, 4}));
  EXPECT_EQ(tn::randn(2, 3).sizes(), (Sizes{2, 3}));
  EXPECT_EQ(tn::empty(4, 5).sizes(), (Sizes{4, 5}));
  const int32_t rows = 2;
  const size_t columns = 3;
  EXPECT_EQ(tn::ones(rows, columns).dtype(), tn::float32);
  EXPECT_EQ(tn::ones({rows, int64_t(columns)}, tn::int64).dtype(), tn::int64);
}

TEST_F(SizesOfTensors, CountFromTheEnd) {
  const Tensor x = tn::zeros(2, 3, 4);
  EXPECT_EQ(x.sizes()[-1], 4);
  EXPECT_EQ(x.shape()[-3], 2);
  EXPECT_EQ(x.shape().back(), 4);
  EXPECT_EQ(tn::zeros(5, 6).shape()[0], 5);
  EXPECT_EQ(x.ndim(), 3);
  EXPECT_EQ(message_of([&] { (void)x.sizes()[3]; }), "index 3 is out of range for a list of 3");
  EXPECT_EQ(message_of([&] { (void)x.sizes()[-4]; }), "index -4 is out of range for a list of 3");
  EXPECT_EQ(message_of([&] { (void)tn::tensor(1.f).sizes().back(); }),
            "index -1 is out of range for a list of 0");
  EXPECT_EQ(message_of([&] { (void)tn::tensor(1.f).sizes().front(); }),
            "index 0 is out of range for a list of 0");
  EXPECT_EQ(message_of([&] { (void)x.strides()[7]; }), "index 7 is out of range for a list of 3");
}

TEST_F(SizesOfTensors, AnElementIsADoubleWhereNothingIsSaid) {
  const auto mean = tn::tensor({1.f, 2.f}).mean().item();
  static_assert(std::is_same_v<decltype(mean), const double>);
  EXPECT_EQ(mean, 1.5);
  EXPECT_EQ(tn::tensor({1, 2, 3}).sum().item(), 6.0);
  EXPECT_EQ(tn::tensor(true).item(), 1.0);
}

TEST_F(SizesOfTensors, AMatrixIsTurned) {
  const Tensor a = tn::arange(6).reshape(2, 3);
  EXPECT_TRUE(tn::equal(a.T(), a.t()));
  EXPECT_EQ(a.T().sizes(), (Sizes{3, 2}));
}

}  // namespace
