// What libtorch and PyTorch call methods and functions that are short here: each spelling once,
// with PyTorch 2.15's value.
#include <array>
#include <vector>

#include "message_of.h"
#include "ops_support.h"

namespace {

using tn::float64;

Tensor six() { return tn::arange(6, float64).reshape({2, 3}); }

TEST(TensorNames, ClipAndShiftsInPlace) {
  load_all();
  expect_near(six().clip(2), {2, 2, 2, 3, 4, 5});
  expect_near(six().clip({.min = 2}), {2, 2, 2, 3, 4, 5});
  expect_near(six().clip(tn::none, 2), {0, 1, 2, 2, 2, 2});
  expect_near(six().clip_({.max = 2}), {0, 1, 2, 2, 2, 2});
  expect_near(six().clip_(4), {4, 4, 4, 4, 4, 5});
  Tensor i = tn::tensor({1, 2, 3});
  i <<= 2;
  expect_near(i, {4, 8, 12});
  i[0] >>= 1;
  expect_near(i >>= 1, {1, 4, 6});
}

TEST(TensorNames, FillDiagonalWrapsAndTakesMoreDimensions) {
  load_all();
  const auto diagonal = [](std::vector<int64_t> sizes, bool wrap) {
    return tn::zeros(sizes).fill_diagonal_(5, wrap).nonzero().to_vector<int64_t>();
  };
  using Places = std::vector<int64_t>;
  EXPECT_EQ(diagonal({7, 2}, true), (Places{0, 0, 1, 1, 3, 0, 4, 1, 6, 0}));
  EXPECT_EQ(diagonal({7, 2}, false), (Places{0, 0, 1, 1}));
  EXPECT_EQ(diagonal({3, 2}, true), (Places{0, 0, 1, 1}));
  EXPECT_EQ(diagonal({2, 7}, true), (Places{0, 0, 1, 1}));
  EXPECT_EQ(diagonal({2, 2, 2}, false), (Places{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(message_of([&] {
              diagonal({3, 3, 2}, false);
            }),
            "fill_diagonal_: x is [3, 3, 2], expected dimensions of one size");
  EXPECT_EQ(message_of([&] { diagonal({3}, false); }),
            "fill_diagonal_: x has 1 dimensions, expected 2 or more");
}

TEST(TensorNames, RandomNumbersFitTheDtype) {
  load_all();
  const Tensor bytes = tn::empty({100}, tn::uint8);
  EXPECT_EQ(message_of([&] { bytes.random_(0, 300); }),
            "randint: high - 1 is 299, which is no uint8; expected 0 to 255");
  expect_error([&] { bytes.random_(-1, 3); }, "randint: low is -1, which is no uint8");
  expect_error([&] { tn::empty({3}, tn::float16).random_(0, 70000); }, "which is no float16");
  expect_error([&] { bytes.random_(3, 3); }, "randint: low is 3, not below high, 3");
  EXPECT_GE(bytes.random_(7, 9).min().item<int>(), 7);
  EXPECT_LE(bytes.max().item<int>(), 8);
  EXPECT_EQ(tn::randint_like(six(), 1).dtype(), float64);
  EXPECT_EQ(tn::randint_like(six(), 5, {.dtype = tn::kLong}).dtype(), tn::int64);
}

TEST(TensorNames, ADtypeAloneAndUnbiased) {
  load_all();
  const Tensor x = six().to(tn::float32);
  EXPECT_EQ(x.sum(float64).dtype(), float64);
  EXPECT_EQ(x.mean(float64).dtype(), float64);
  expect_near(x.sum(float64), {15});
  expect_near(six().var(false), {35.0 / 12});
  expect_near(six().var(1, true, true), {1, 1});
  expect_sizes(six().var(1, true, true), {2, 1});
  expect_near(tn::var(six(), 0, false), {2.25, 2.25, 2.25});
  expect_near(tn::var(six(), true), {3.5});
  expect_near(six().std(0, false), {1.5, 1.5, 1.5});
  expect_near(tn::std(six(), 0, false), {1.5, 1.5, 1.5});
  expect_near(tn::std(six(), false) * tn::std(six(), false), {35.0 / 12});
  expect_near(six().std(false).square(), {35.0 / 12});
}

TEST(TensorNames, DtypesOfResults) {
  load_all();
  const Tensor i = tn::tensor({1, 2});
  EXPECT_EQ(tn::result_type(i, 2.5), tn::float32);
  EXPECT_EQ(tn::result_type(1, 2.5), tn::float32);
  EXPECT_EQ(tn::result_type(true, false), tn::bool_);
  EXPECT_EQ(tn::result_type(tn::ones({2}, tn::int8), 5), tn::int8);
  EXPECT_EQ(tn::result_type(tn::ones({2}, tn::bool_), tn::tensor(2)), tn::int64);
  EXPECT_EQ(tn::result_type(tn::tensor(1.f).to(tn::float16), tn::ones({3}, tn::int32)),
            tn::float16);
  EXPECT_EQ(tn::result_type(tn::ones({2}), tn::tensor(1.0, float64)), tn::float32);
  EXPECT_EQ(tn::result_type(2, tn::ones({2}, tn::float16)), tn::float16);
  EXPECT_TRUE(tn::can_cast(tn::int64, tn::uint8));
  EXPECT_TRUE(tn::can_cast(tn::bool_, tn::float32));
  EXPECT_FALSE(tn::can_cast(tn::float32, tn::int64));
  EXPECT_FALSE(tn::can_cast(tn::int64, tn::bool_));
}

TEST(TensorNames, WhatATensorSaysOfItself) {
  load_all();
  const Tensor x = six();
  EXPECT_EQ(tn::numel(x), 6);
  EXPECT_TRUE(tn::is_floating_point(x));
  EXPECT_EQ(x.scalar_type(), float64);
  EXPECT_EQ(x.toType(tn::kInt).dtype(), tn::int32);
  EXPECT_TRUE(x.is_cpu());
  EXPECT_FALSE(x.is_cuda());
  EXPECT_FALSE(x.is_inference());
  EXPECT_TRUE(x.clone().set_requires_grad(true).requires_grad());
  EXPECT_EQ(x.data_ptr(), x.data<double>());
  EXPECT_EQ(x.const_data_ptr<double>(), x.data<double>());
  EXPECT_EQ(x.argwhere().size(0), 5);
  EXPECT_TRUE(tn::tensor({3}).is_nonzero());
  EXPECT_FALSE(tn::tensor(0.0).is_nonzero());
  EXPECT_EQ(message_of([&] { x.is_nonzero(); }),
            "is_nonzero: a tensor of one element is needed, this has 6");
  expect_near(six().float_power_(2), {0, 1, 4, 9, 16, 25});
  EXPECT_EQ(message_of([] { tn::ones({2}).float_power_(2); }),
            "float_power_: x is float32, expected float64, in which powers are computed");
}

TEST(TensorNames, TensorsThatAreMade) {
  load_all();
  EXPECT_EQ(tn::scalar_tensor(3).dtype(), tn::float32);
  EXPECT_EQ(tn::scalar_tensor(3, {.dtype = tn::kLong}).dtype(), tn::int64);
  expect_sizes(tn::scalar_tensor(3, tn::kLong), {});
  const Tensor x = tn::empty_strided({2, 3}, {1, 2}, float64);
  EXPECT_EQ(x.strides(), (std::vector<int64_t>{1, 2}));
  expect_sizes(tn::empty_strided({0, 3}, {1, 2}), {0, 3});
  expect_error([] { tn::empty_strided({2, 3}, {1}); }, "2 sizes and 1 strides");
}

TEST(TensorNames, SlicesAndDevices) {
  load_all();
  expect_near(six().index({0, tn::Slice(1, tn::none)}), {1, 2});
  expect_near((six()[{tn::Slice(), tn::Slice(tn::none, 1)}]), {0, 3});
  expect_near((six()[{0, tn::Slice(tn::none, tn::none, 2)}]), {0, 2});
  expect_near((six()[{0, tn::Slice(1, 2)}]), {1});
  expect_near((six()[{0, tn::Slice(tn::None, tn::None, 2)}]), {0, 2});
  expect_near((six()[{tn::None, 0}]), {0, 1, 2});
  Tensor x = six();
  x.index_put_({tn::Slice(), tn::Slice(0, tn::None, 2)}, tn::zeros({2, 2}));
  expect_near(x, {0, 1, 0, 0, 4, 0});
  EXPECT_TRUE(six().to(tn::kCPU).device() == tn::kCPU);
  EXPECT_TRUE(six().device().type() == tn::kCPU);
  EXPECT_FALSE(six().device().type() == tn::kCUDA);
}

TEST(TensorNames, CtcLossTakesListsOfLengths) {
  load_all();
  const Tensor p = tn::log_softmax(tn::arange(40, float64).sin().reshape({5, 2, 4}), -1);
  const Tensor t = tn::tensor({{1, 2, 3}, {2, 1, 1}}), n = tn::tensor({5, 4}),
               k = tn::tensor({3, 2});
  const double expected = tn::ctc_loss(p, t, n, k).item();
  EXPECT_EQ(tn::ctc_loss(p, t, {5, 4}, {3, 2}).item(), expected);
  const std::vector<int64_t> of_input{5, 4}, of_target{3, 2};
  EXPECT_EQ(tn::ctc_loss(p, t, of_input, of_target, 0, "sum").item(),
            tn::ctc_loss(p, t, n, k, 0, "sum").item());
  EXPECT_EQ(tn::ctc_loss(p, t, of_input, of_target, {.reduction = "sum"}).item(),
            tn::ctc_loss(p, t, n, k, 0, "sum").item());
}

TEST(FromBlob, TakesStridesADeleterAndOptions) {
  load_all();
  float m[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  expect_near(tn::from_blob(m, {3, 3}, {1, 3}, tn::kFloat), {0, 3, 6, 1, 4, 7, 2, 5, 8});
  EXPECT_EQ(tn::from_blob(m, {2}, {.dtype = tn::kInt}).dtype(), tn::int32);
  EXPECT_TRUE(tn::from_blob(m, {2}, {.requires_grad = true}).requires_grad());
  int released = 0;
  const auto release = [&](void* data) { released += data == m; };
  tn::from_blob(m, {9}, release);
  tn::from_blob(m, {9}, release, tn::kInt);
  tn::from_blob(m, {9}, release, {.dtype = tn::kInt});
  tn::from_blob(m, {3}, {3}, release);
  tn::from_blob(m, {3}, {3}, release, tn::kInt);
  expect_near(tn::from_blob(m, {3}, {3}, release, {.dtype = tn::kFloat}), {0, 3, 6});
  EXPECT_EQ(released, 6);
  EXPECT_EQ(message_of([&] {
              tn::from_blob(m, {2, 2}, {1});
            }),
            "from_blob: 1 strides for 2 sizes, expected equally many");
  EXPECT_EQ(message_of([&] { tn::from_blob(m, {2}, {.device = tn::meta}); }),
            "from_blob: the device is meta, expected cpu, since data is memory of the host; copy "
            "it with .to");
  expect_error([&] { tn::from_blob(m, {2, 2}, {-1, 1}); }, "negative");
  EXPECT_EQ(released, 6);
}

TEST(Expand, SaysWhichSizeIsWrong) {
  load_all();
  EXPECT_EQ(
      message_of([] { tn::ones({1}).expand({-2}); }),
      "expand: [1] cannot become [-2]: size -2 of dimension 0 is negative, expected -1 to keep "
      "it, or 0 and more");
  EXPECT_EQ(message_of([] {
              tn::arange(6).expand({-1, 6});
            }),
            "expand: [6] cannot become [-1, 6]: size -1 of dimension 0 is negative, expected 0 or "
            "more for a dimension that is new");
  EXPECT_EQ(message_of([] {
              tn::ones({2, 1}).expand({3, 4});
            }),
            "expand: [2, 1] cannot become [3, 4]: dimension 0 is 2, only 1 can be expanded");
}

}  // namespace
