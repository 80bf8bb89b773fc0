// Convolutions and columns.
#include "ops_rows.h"

namespace {

// Values: PyTorch 2.15, float64.
const Row kRows[] = {
    // clang-format off
    {"conv1d",
     [](const TensorList& in) { return tn::conv1d(in[0], in[1], in[2]); },
     {{2, 2, 5}, {3, 2, 3}, {3}},
     {2, 3, 3},
     3.7253934803},
    {"conv1d without a batch",
     [](const TensorList& in) { return tn::conv1d(in[0], in[1], {.stride = 2, .padding = 1}); },
     {{2, 5}, {3, 2, 2}},
     {3, 3},
     3.28291377865},
    {"conv2d",
     [](const TensorList& in) { return tn::conv2d(in[0], in[1], in[2]); },
     {{2, 2, 4, 3}, {2, 2, 2, 2}, {2}},
     {2, 2, 3, 2},
     -2.28642709227},
    {"conv2d strides and paddings",
     [](const TensorList& in) { return tn::conv2d(in[0], in[1], {.stride = {2, 1}, .padding = {1, 2}}); },
     {{1, 2, 4, 5}, {2, 2, 3, 2}},
     {1, 2, 2, 8},
     -3.16302720926},
    {"conv2d dilation, rows left over",
     [](const TensorList& in) { return tn::conv2d(in[0], in[1], {.stride = 2, .dilation = {3, 2}}); },
     {{1, 1, 6, 5}, {2, 1, 2, 2}},
     {1, 2, 2, 2},
     -0.0749988542964},
    {"conv2d groups",
     [](const TensorList& in) { return tn::conv2d(in[0], in[1], in[2], {.stride = 2, .padding = 1, .groups = 2}); },
     {{2, 4, 3, 3}, {6, 2, 2, 2}, {6}},
     {2, 6, 2, 2},
     -0.617296014},
    {"conv2d a group a channel",
     [](const TensorList& in) { return tn::conv2d(in[0], in[1], {.groups = 3}); },
     {{1, 3, 3, 3}, {6, 1, 2, 2}},
     {1, 6, 2, 2},
     0.618597119896},
    {"conv2d of single pixels",
     [](const TensorList& in) { return tn::conv2d(in[0], in[1]); },
     {{2, 3, 2, 2}, {2, 3, 1, 1}},
     {2, 2, 2, 2},
     3.69660916828},
    {"conv2d not contiguous",
     [](const TensorList& in) { return tn::conv2d(in[0].permute({2, 3, 0, 1}), in[1].transpose(2, 3)); },
     {{4, 3, 1, 2}, {2, 2, 2, 2}},
     {1, 2, 3, 2},
     -0.70381167172},
    {"conv2d of an empty batch",
     [](const TensorList& in) { return tn::conv2d(in[0], in[1]); },
     {{0, 2, 3, 3}, {2, 2, 2, 2}},
     {0, 2, 2, 2},
     0},
    {"conv3d",
     [](const TensorList& in) { return tn::conv3d(in[0], in[1], in[2], {.stride = {1, 1, 2}, .padding = {0, 1, 1}, .groups = 2}); },
     {{1, 2, 3, 2, 3}, {2, 1, 2, 2, 2}, {2}},
     {1, 2, 2, 3, 2},
     -0.461426390375},
    {"conv_transpose1d",
     [](const TensorList& in) { return tn::conv_transpose1d(in[0], in[1], in[2], {.stride = 2, .padding = 1, .output_padding = 1}); },
     {{2, 2, 3}, {2, 3, 3}, {3}},
     {2, 3, 6},
     4.80224182043},
    {"conv_transpose2d",
     [](const TensorList& in) { return tn::conv_transpose2d(in[0], in[1]); },
     {{1, 2, 2, 3}, {2, 2, 2, 3}},
     {1, 2, 3, 5},
     0.0921117968574},
    {"conv_transpose2d groups, dilation",
     [](const TensorList& in) { return tn::conv_transpose2d(in[0], in[1], in[2], {.stride = {1, 2}, .padding = {1, 0}, .output_padding = {2, 1}, .groups = 2, .dilation = {3, 2}}); },
     {{1, 4, 2, 2}, {4, 1, 2, 2}, {2}},
     {1, 2, 5, 6},
     -1.80129926096},
    {"conv_transpose2d a stride beyond the kernel",
     [](const TensorList& in) { return tn::conv_transpose2d(in[0], in[1], {.stride = 3, .output_padding = 2}); },
     {{1, 1, 2, 2}, {1, 2, 1, 2}},
     {1, 2, 6, 7},
     0.545859137385},
    {"conv_transpose3d without a batch",
     [](const TensorList& in) { return tn::conv_transpose3d(in[0], in[1], {.stride = {2, 1, 1}}); },
     {{2, 2, 2, 2}, {2, 1, 2, 1, 2}},
     {1, 4, 2, 3},
     4.03760973884},
    {"im2col",
     [](const TensorList& in) { return tn::im2col(in[0], {2, 3}, {.padding = 1, .stride = {2, 1}}); },
     {{2, 2, 4, 3}},
     {2, 12, 9},
     0.728386089772},
    {"fold",
     [](const TensorList& in) { return tn::fold(in[0], {3, 4}, {2, 2}); },
     {{1, 8, 6}},
     {1, 2, 3, 4},
     0.778119585901},
    {"fold with padding, without a batch",
     [](const TensorList& in) { return tn::fold(in[0], {3, 5}, {3, 2}, {.dilation = {1, 2}, .padding = 1, .stride = {2, 4}}); },
     {{6, 4}},
     {1, 3, 5},
     -0.716730680172},
    // clang-format on
};

TEST(Conv, ValuesAndGradients) { check_rows(kRows); }

TEST(Conv, Errors) {
  Tensor x = tn::zeros({1, 4, 5, 5}), w = tn::zeros({6, 4, 3, 3});
  expect_error(
      [&] {
        tn::conv2d(x, tn::zeros({6, 3, 3, 3}));
      },
      "conv2d: x is [1, 4, 5, 5] (float32, cpu), weight is [6, 3, 3, 3] (float32, cpu), "
      "groups is 1; expected x [n, channels, ..], weight [out, channels / groups, ..]");
  expect_error([&] { tn::conv2d(x, w, {.groups = 4}); }, "groups is 4; expected");
  // What does not fit, at the end.
  const Tensor one = tn::zeros({1, 1, 5, 5});
  expect_error(
      [&] {
        tn::conv2d(one, tn::zeros({4, 3, 3, 3}));
      },
      "Here x has 1 channel, expected 3 (weight has 3 a group, groups is 1)");
  expect_error(
      [&] {
        tn::conv2d(x, tn::zeros({4, 3, 3, 3}), {.groups = 2});
      },
      "Here x has 4 channels, expected 6 (weight has 3 a group, groups is 2)");
  expect_error(
      [&] {
        tn::conv2d(x, tn::zeros({5, 2, 3, 3}), {.groups = 2});
      },
      "Here weight has 5 channels of the output, expected a multiple of groups, 2");
  expect_error(
      [&] {
        tn::conv_transpose2d(x, tn::zeros({3, 4, 3, 3}));
      },
      "Here x has 4 channels, expected 3 (weight has 3)");
  expect_error([&] { tn::conv_transpose2d(x, w.slice(0, 0, 4), {.groups = 3}); },
               "Here x has 4 channels, expected a multiple of groups, 3");
  expect_error(
      [&] {
        tn::conv2d(x, tn::zeros({6, 4, 3}));
      },
      "Here weight has 3 dimensions, expected 4");
  expect_error([&] { tn::conv2d(x, w, tn::zeros({5})); }, "Here bias is [5], expected [6]");
  expect_error([&] { tn::conv2d(x, w, tn::zeros({6}, tn::float64)); },
               "Here bias is float64 and x float32");
  expect_error([&] { tn::conv2d(x, w, tn::zeros({6}, tn::float32, "meta")); },
               "Here bias is on meta and x on cpu");
  expect_error([&] { tn::conv2d(x, w.to(tn::float64)); }, "Here weight is float64 and x float32");
  expect_error([&] { tn::conv2d(x, w, {.groups = 0}); },
               "conv2d: groups is 0, expected at least 1");
  expect_error([&] { tn::conv2d(x, w, tn::zeros({5})); },
               "bias is [5] (float32, cpu), groups is 1");
  expect_error([&] { tn::conv2d(x, w, tn::zeros({6}, tn::float64)); },
               "bias is [6] (float64, cpu), groups is 1; expected");
  expect_error([&] { tn::conv2d(x, w, tn::zeros({6}, tn::float32, "meta")); },
               "bias is [6] (float32, meta)");
  expect_error([&] { tn::conv2d(x, w.to(tn::float64)); }, "(float64, cpu)");
  expect_error(
      [&] {
        tn::conv2d(tn::zeros({4, 5}), w);
      },
      "conv2d: x is [4, 5], expected 3 or 4 dimensions");
  expect_error([&] { tn::conv2d(x, w, {.stride = 0}); },
               "conv2d: stride is [0], expected one or 2 numbers of at least 1");
  expect_error(
      [&] {
        tn::conv2d(x, w, {.padding = {1, 1, 1}});
      },
      "conv2d: padding is [1, 1, 1], expected one or 2 numbers of at least 0");
  expect_error(
      [&] {
        tn::conv1d(tn::zeros({4, 5}), tn::zeros({6, 4, 3}), {.dilation = {1, 2}});
      },
      "conv1d: dilation is [1, 2], expected a number of at least 1");
  expect_error([&] { tn::conv2d(x, w, {.dilation = 3}); },
               "conv2d: a window of [3, 3] with dilation [3, 3] does not fit into [5, 5] with "
               "padding [0, 0]");
  expect_error([&] { tn::conv_transpose2d(x, w); }, "weight [channels, out / groups, ..]");
  Tensor v = tn::zeros({4, 2, 3, 3});
  expect_error([&] { tn::conv_transpose2d(x, v, {.stride = 2, .output_padding = 2}); },
               "conv_transpose2d: output_padding is [2, 2], expected less than stride [2, 2] or "
               "dilation [1, 1]");
  expect_error([&] { tn::conv_transpose2d(x, v, {.padding = 4}); },
               "conv_transpose2d: the output would be [-1]");
  expect_error(
      [&] {
        tn::fold(tn::zeros({1, 8, 5}), {3, 4}, 2);
      },
      "fold: x is [1, 8, 5], expected [n, channels * 4, 6] for output_size [3, 4] and "
      "kernel_size [2, 2]");
}

// Numbers whose sums and products are beyond 64 bits: what wrapped around looked like a window that
// fits.
TEST(Conv, HugeOptionsAreRefused) {
  constexpr int64_t kHuge = int64_t(1) << 62;
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::zeros({1, 1, 8}, tn::float32, d), w = tn::zeros({1, 1, 5}, tn::float32, d);
    expect_error(
        [&] { tn::conv1d(x, w, {.dilation = kHuge}); },
        "conv1d: a window of [5] with dilation [4611686018427387904] does not fit into [8]");
    expect_error(
        [&] { tn::conv1d(x, w, {.padding = kHuge}); },
        "conv1d: padding is [4611686018427387904], with which the size of [8] overflows; no "
        "padded dimension may be above 2305843009213693951");
    expect_error([&] { tn::max_pool1d(x, kHuge, {.padding = kHuge / 2}); },
                 "max_pool1d: padding is [2305843009213693952], with which the size of [8] "
                 "overflows");
    expect_error([&] { tn::conv1d(x, w, {.groups = INT64_MAX}); },
                 "weight is [1, 1, 5] (float32, " + d.name() + "), groups is 9223372036854775807");
    Tensor cube = tn::zeros({1, 1, 2, 2, 2}, tn::float32, d),
           points = tn::zeros({9, 1, 1, 1, 1}, tn::float32, d);
    expect_error([&] { tn::conv3d(cube, points, {.padding = 1'000'000}); },
                 "2000002, 2000002, 2000002] (float32) overflows: "
                 "more bytes than 63 bits hold");
    expect_error([&] { tn::conv_transpose1d(x, w, {.dilation = kHuge}); },
                 "conv_transpose1d: the size of the output overflows: x is [1, 1, 8], stride [1], "
                 "dilation [4611686018427387904], output_padding [0]");
    expect_error([&] { tn::conv_transpose1d(x, w, {.stride = kHuge}); },
                 "conv_transpose1d: the size of the output overflows: x is [1, 1, 8], stride "
                 "[4611686018427387904]");
    expect_error([&] { tn::conv_transpose1d(x, w, {.padding = kHuge}); },
                 "conv_transpose1d: the output would be [-9223372036854775796]");
    expect_error(
        [&] {
          tn::im2col(tn::zeros({1, 4, 4}, tn::float32, d), 2, {.padding = INT64_MAX});
        },
        "im2col: padding is [9223372036854775807, 9223372036854775807], with which the size of "
        "[4, 4] overflows");
    expect_error(
        [&] {
          const int64_t side = int64_t(1) << 32;
          tn::fold(tn::zeros({1, 4, 9}, tn::float32, d), side, side);
        },
        "fold: x is [1, 4, 9], expected [n, channels * 9223372036854775807, 1]");
  }
}

TEST(Conv, OfIntegersIsOfItsElements) {
  for (tn::Device d : devices()) {
    for (tn::Dtype dtype : {tn::int64, tn::int32, tn::int16, tn::int8, tn::uint8}) {
      Tensor x = tn::arange(0, 18, 1, {}, d).reshape({1, 2, 3, 3}),
             w = tn::arange(0, 8, 1, {}, d).reshape({1, 2, 2, 2});
      Tensor b = tn::tensor({3}, d);
      auto exact = [&](const Tensor& y) { return y.to(dtype).to_vector<int64_t>(); };
      auto of = [&](const Tensor& t) { return t.to(dtype); };
      auto wide = [&](const Tensor& t) { return t.to(tn::float64); };
      Tensor y = tn::conv2d(of(x), of(w), of(b), {.padding = 1});
      EXPECT_EQ(y.dtype(), dtype);
      EXPECT_EQ(y.to_vector<int64_t>(),
                exact(tn::conv2d(wide(x), wide(w), wide(b), {.padding = 1}).to(tn::int64)));
      Tensor v = w.reshape({2, 1, 2, 2});
      EXPECT_EQ(tn::conv_transpose2d(of(x), of(v), {.stride = 2}).to_vector<int64_t>(),
                exact(tn::conv_transpose2d(wide(x), wide(v), {.stride = 2}).to(tn::int64)));
    }
    expect_error(
        [&] {
          tn::conv1d(tn::ones({1, 1, 3}, tn::bool_, d), tn::ones({1, 1, 2}, tn::bool_, d));
        },
        "conv1d: matmul: a is [1, 1, 2] bool");
  }
}

// What is made as a view of something of the op's own is a tensor like any other.
TEST(Conv, ResultsMayBeWritten) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::ones({1, 4, 5, 5}, tn::float64, d).requires_grad_();
    Tensor y = tn::conv_transpose2d(x, tn::full({4, 2, 3, 3}, -1, tn::float64, d));
    y.abs_();
    y.sum().backward();
    expect_near(x.grad(), std::vector<double>(100, 18), 1e-12);
  }
}

// Its columns may lie as the windows of x with its padding do, of which none may be written.
TEST(Im2col, GivesMemoryOfItsOwn) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::ones({1, 1, 3, 2}, {}, d);
    const Tensor columns = tn::im2col(x, {2, 2}, {.padding = {1, 0}, .stride = {1, 3}});
    const Tensor expected = columns * 2;
    EXPECT_TRUE(tn::equal(columns.mul_(2), expected));
    EXPECT_TRUE(tn::equal(x, tn::ones_like(x)));
  }
}

}  // namespace
