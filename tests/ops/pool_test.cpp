// Pools.
#include "ops_rows.h"

namespace {

// Values: PyTorch 2.15, float64.
const Row kRows[] = {
    // clang-format off
    {"max_pool1d",
     [](const TensorList& in) { return tn::max_pool1d(in[0], 3, {.stride = 2}); },
     {{2, 2, 7}},
     {2, 2, 3},
     -0.0565494151204},
    {"max_pool2d",
     [](const TensorList& in) { return tn::max_pool2d(in[0], 2); },
     {{1, 2, 5, 4}},
     {1, 2, 2, 2},
     -0.418919857357},
    {"max_pool2d padding, dilation, overlap",
     [](const TensorList& in) { return tn::max_pool2d(in[0], {3, 2}, {.stride = {1, 2}, .padding = 1, .dilation = {2, 1}}); },
     {{1, 2, 5, 4}},
     {1, 2, 3, 3},
     -1.73985643753},
    {"max_pool2d ceil_mode",
     [](const TensorList& in) { return tn::max_pool2d(in[0], 2, {.stride = 3, .padding = 1, .ceil_mode = true}); },
     {{2, 5, 5}},
     {2, 2, 2},
     -1.02031970036},
    {"max_pool3d",
     [](const TensorList& in) { return tn::max_pool3d(in[0], 2, {.stride = {2, 1, 2}}); },
     {{1, 1, 4, 3, 4}},
     {1, 1, 2, 2, 2},
     0.203476478194},
    {"avg_pool1d",
     [](const TensorList& in) { return tn::avg_pool1d(in[0], 3, {.stride = 2, .padding = 1}); },
     {{1, 2, 6}},
     {1, 2, 3},
     0.377629289103},
    {"avg_pool1d of a sample",
     [](const TensorList& in) { return tn::avg_pool1d(in[0], 4, {.stride = 3, .padding = 2, .ceil_mode = true, .count_include_pad = false}); },
     {{2, 6}},
     {2, 3},
     0.0873451735697},
    {"avg_pool2d",
     [](const TensorList& in) { return tn::avg_pool2d(in[0], 2); },
     {{2, 1, 4, 5}},
     {2, 1, 2, 2},
     -0.216788160098},
    {"avg_pool2d without the padding",
     [](const TensorList& in) { return tn::avg_pool2d(in[0], 3, {.stride = 2, .padding = 1, .count_include_pad = false}); },
     {{1, 2, 4, 5}},
     {1, 2, 2, 3},
     -0.139337370947},
    {"avg_pool2d ceil_mode",
     [](const TensorList& in) { return tn::avg_pool2d(in[0], {3, 2}, {.stride = 2, .padding = 1, .ceil_mode = true}); },
     {{1, 2, 4, 5}},
     {1, 2, 3, 3},
     -0.481847727609},
    {"avg_pool2d divisor_override",
     [](const TensorList& in) { return tn::avg_pool2d(in[0], 2, {.stride = 1, .divisor_override = 3}); },
     {{1, 2, 4, 5}},
     {1, 2, 3, 4},
     -0.807306925417},
    {"avg_pool3d",
     [](const TensorList& in) { return tn::avg_pool3d(in[0], {2, 2, 3}, {.stride = 1, .padding = 1, .count_include_pad = false}); },
     {{1, 1, 3, 4, 3}},
     {1, 1, 4, 5, 3},
     1.34049793021},
    {"adaptive_avg_pool1d",
     [](const TensorList& in) { return tn::adaptive_avg_pool1d(in[0], 3); },
     {{2, 2, 7}},
     {2, 2, 3},
     -0.124754534697},
    {"adaptive_avg_pool2d evenly",
     [](const TensorList& in) { return tn::adaptive_avg_pool2d(in[0], {2, 3}); },
     {{1, 2, 4, 6}},
     {1, 2, 2, 3},
     -0.722031459179},
    {"adaptive_avg_pool2d",
     [](const TensorList& in) { return tn::adaptive_avg_pool2d(in[0], 3); },
     {{1, 2, 4, 5}},
     {1, 2, 3, 3},
     -0.526012326661},
    {"adaptive_avg_pool2d to more than there is",
     [](const TensorList& in) { return tn::adaptive_avg_pool2d(in[0], {5, 4}); },
     {{1, 1, 2, 3}},
     {1, 1, 5, 4},
     0.46173327073},
    {"adaptive_avg_pool3d to one",
     [](const TensorList& in) { return tn::adaptive_avg_pool3d(in[0], 1); },
     {{2, 3, 2, 3}},
     {2, 1, 1, 1},
     0.0291061080437},
    {"adaptive_max_pool1d",
     [](const TensorList& in) { return tn::adaptive_max_pool1d(in[0], 3); },
     {{2, 2, 7}},
     {2, 2, 3},
     -0.0565494151204},
    {"adaptive_max_pool2d",
     [](const TensorList& in) { return tn::adaptive_max_pool2d(in[0], {3, 2}); },
     {{1, 2, 4, 5}},
     {1, 2, 3, 2},
     0.709203220525},
    {"adaptive_max_pool3d",
     [](const TensorList& in) { return tn::adaptive_max_pool3d(in[0], 2); },
     {{1, 1, 4, 3, 2}},
     {1, 1, 2, 2, 2},
     0.737793933129},
    // clang-format on
};

TEST(Pool, ValuesAndGradients) { check_rows(kRows); }

// Of equal largest elements the first has the whole gradient, as PyTorch gives it.
TEST(Pool, TheFirstOfEqualOnesHasTheGradient) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({{1.f, 1.f, 0.f, 2.f}, {1.f, 1.f, 2.f, 2.f}}, d)
                   .reshape({1, 2, 4})
                   .clone()
                   .requires_grad_();
    for (int adaptive = 0; adaptive < 2; ++adaptive) {
      x.zero_grad();
      Tensor y = adaptive ? tn::adaptive_max_pool2d(x, {1, 2}) : tn::max_pool2d(x, 2);
      expect_near(y, {1, 2});
      weigh(y).backward();
      Tensor w = sample({2}, d, 0.3);
      double a = w[0].item<double>(), b = w[1].item<double>();
      expect_near(x.grad(), {a, 0, 0, b, 0, 0, 0, 0});
    }
    // Windows of lengths 2, 3, 2 over 5: the first of equal ones in each.
    Tensor z = tn::tensor({1.f, 1.f, 3.f, 3.f, 3.f}, d).reshape({1, 1, 5}).clone().requires_grad_();
    tn::adaptive_max_pool1d(z, 3).sum().backward();
    expect_near(z.grad(), {1, 0, 1, 1, 0});
  }
}

TEST(Pool, NanAndInfinity) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({NAN, 1.f, 2.f, -INFINITY, -INFINITY, INFINITY}, d).reshape({1, 1, 6});
    expect_near(tn::max_pool1d(x, 2), {NAN, 2, INFINITY});
    expect_near(tn::max_pool1d(x, 2, {.stride = 2, .padding = 1}), {NAN, 2, -INFINITY, INFINITY});
    expect_near(tn::avg_pool1d(x, 2), {NAN, -INFINITY, NAN});
    // What is not in a window does not reach it.
    expect_near(tn::adaptive_avg_pool1d(x, 4), {NAN, 1.5, -INFINITY, NAN});
    expect_near(tn::adaptive_max_pool1d(x, 4), {NAN, 2, -INFINITY, INFINITY});
  }
}

// Of several NaN in a window PyTorch takes the last: for its index, and for the gradient.
TEST(Pool, TheLastNanIsTheMaximum) {
  const float N = NAN;
  for (tn::Device d : devices()) {
    for (tn::Dtype dtype : {tn::float32, tn::float64, tn::float16, tn::bfloat16}) {
      for (bool channels_last : {false, true}) {
        SCOPED_TRACE(std::string(d.name()) + " " + dtype.name() + (channels_last ? " last" : ""));
        const Tensor plane =
            tn::tensor({1.f, N, 2.f, N, N, 3.f, 4.f, 5.f, 0.f, 1.f, N, 2.f, N, N, 1.f, 2.f}, d);
        Tensor x = tn::cat({plane.reshape({1, 1, 4, 4}), plane.reshape({1, 1, 4, 4})}, 1).to(dtype);
        if (channels_last) x = tn::permute(tn::permute(x, {0, 2, 3, 1}).contiguous(), {0, 3, 1, 2});
        const Tensor at = std::get<1>(tn::max_pool2d_with_indices(x, 2));
        expect_near(at, {4, 3, 13, 10, 4, 3, 13, 10});
        expect_near(std::get<1>(tn::max_pool2d_with_indices(x, 3, {.stride = 1})),
                    {10, 10, 13, 13, 10, 10, 13, 13});
        for (int way = 0; way < 3; ++way) {
          Tensor leaf = x.detach().requires_grad_();
          const Tensor y = way == 0   ? tn::max_pool2d(leaf, 2)
                           : way == 1 ? tn::adaptive_max_pool2d(leaf, 2)
                                      : std::get<0>(tn::max_pool2d_with_indices(leaf, 2));
          y.backward(tn::ones_like(y));
          const Tensor own = tn::select(tn::select(leaf.grad(), 0, 0), 0, 1);
          expect_near(own, {0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0});
        }
      }
    }
    const Tensor row = tn::tensor({N, N, 1.f, 2.f, N, 3.f, N, N}, d).reshape({1, 1, 8});
    expect_near(std::get<1>(tn::max_pool1d_with_indices(row, 2)), {1, 3, 4, 7});
    expect_near(std::get<1>(tn::max_pool1d_with_indices(row, 4)), {1, 7});
    expect_near(std::get<1>(tn::max_pool3d_with_indices(row.reshape({1, 1, 2, 2, 2}), 2)), {7});
    // Windows of lengths 3, 4 and 3 over 8: 0 to 2, 2 to 5, 5 to 7.
    Tensor leaf = row.detach().requires_grad_();
    tn::adaptive_max_pool1d(leaf, 3).sum().backward();
    expect_near(leaf.grad(), {0, 1, 0, 0, 1, 0, 0, 1});
  }
}

TEST(Pool, Errors) {
  Tensor x = tn::zeros({1, 2, 4, 4});
  expect_error([&] { tn::max_pool2d(x, 2, {.padding = 2}); },
               "max_pool2d: padding is [2, 2], expected at most half of kernel_size [2, 2]");
  expect_error(
      [&] {
        tn::max_pool2d(x, {2, 2, 2});
      },
      "max_pool2d: kernel_size is [2, 2, 2], expected one or 2 numbers of at least 1");
  expect_error([&] { tn::max_pool2d(x.to(tn::bool_), 2); },
               "max_pool2d: x is bool, expected a number");
  expect_error([&] { tn::adaptive_max_pool2d(x.to(tn::int64), 2); },
               "adaptive_max_pool2d: x is int64, expected a floating dtype");
  expect_error([&] { tn::adaptive_avg_pool2d(x.to(tn::int32), 1); },
               "adaptive_avg_pool2d: x is int32, expected a floating dtype");
  expect_error([&] { tn::avg_pool2d(x, 5); },
               "avg_pool2d: a window of [5, 5] with dilation [1, 1] does not fit into [4, 4]");
  expect_error([&] { tn::avg_pool2d(x, 2, {.divisor_override = 0}); },
               "avg_pool2d: divisor_override is 0");
  expect_error(
      [&] {
        tn::avg_pool2d(tn::zeros({4, 4}), 2);
      },
      "avg_pool2d: x is [4, 4], expected 3 or 4 dimensions");
  expect_error([&] { tn::adaptive_avg_pool2d(x, -2); },
               "adaptive_avg_pool2d: output_size is [-2], expected one or 2 numbers of at least 0");
  expect_error(
      [&] {
        tn::adaptive_max_pool2d(tn::zeros({1, 2, 0, 4}), 1);
      },
      "adaptive_max_pool2d: x is [1, 2, 0, 4], which has nothing to pool");
}

TEST(Pool, HugeOptionsAreRefused) {
  constexpr int64_t kHuge = int64_t(1) << 62;
  Tensor x = tn::zeros({1, 1, 8});
  expect_error([&] { tn::max_pool1d(x, 5, {.stride = 1, .dilation = kHuge}); },
               "max_pool1d: a window of [5] with dilation [4611686018427387904] does not fit");
  expect_error([&] { tn::max_pool1d(x, INT64_MAX, {.stride = 1, .padding = kHuge}); },
               "max_pool1d: padding is [4611686018427387904], expected at most half");
  // At once: the windows are not counted one by one.
  expect_error([&] { tn::adaptive_avg_pool1d(x, INT64_MAX); }, "more bytes than 63 bits hold");
}

// As PyTorch's: averages round toward zero, and what is padded is less than all.
TEST(Pool, IntegersArePooled) {
  for (tn::Device d : devices()) {
    for (tn::Dtype dtype : {tn::int64, tn::int32}) {
      Tensor x =
          Tensor::from(std::vector<int64_t>{1, 2, 3, 5, -1, -2, -3, -5}, {1, 2, 2, 2}, d).to(dtype);
      EXPECT_EQ(tn::avg_pool2d(x, 2).dtype(), dtype);
      expect_near(tn::avg_pool2d(x, 2), {2, -2});
      expect_near(tn::avg_pool2d(x, 2, {.stride = 2, .divisor_override = -3}), {-3, 3});
      expect_near(tn::avg_pool2d(x, 2, {.stride = 2, .padding = 1, .count_include_pad = false}),
                  {1, 2, 3, 5, -1, -2, -3, -5});
      expect_near(tn::avg_pool2d(x, 2, {.stride = 2, .padding = 1}), {0, 0, 0, 1, 0, 0, 0, -1});
      expect_near(tn::max_pool2d(x, 2), {5, -1});
      expect_near(tn::max_pool2d(x, 2, {.stride = 2, .padding = 1}), {1, 2, 3, 5, -1, -2, -3, -5});
      EXPECT_EQ(tn::max_pool2d(x, 2).dtype(), dtype);
    }
    Tensor bytes = tn::tensor({200, 250, 7, 0}, d).to(tn::uint8).reshape({1, 1, 4});
    expect_near(tn::max_pool1d(bytes, 2), {250, 7});
    expect_near(tn::avg_pool1d(bytes, 2), {225, 3});
  }
}

// PyTorch's values: rounded up, a window that reaches beyond the image is there where it begins inside.
TEST(Pool, AWindowLargerThanTheImageIsThereWhenRoundedUp) {
  for (const tn::Device d : devices()) {
    const Tensor column = tn::arange(4).to(tn::float32).view({1, 1, 4, 1}).to(d),
                 row = column.view({1, 1, 4});
    expect_near(tn::avg_pool2d(column, 2, {.ceil_mode = true}), {0.5, 2.5});
    expect_near(tn::max_pool2d(column, 2, {.ceil_mode = true}), {1, 3});
    expect_near(tn::max_pool1d(row, 5, {.stride = 2, .ceil_mode = true}), {3});
    expect_near(tn::avg_pool1d(row, 5, {.stride = 2, .ceil_mode = true}), {1.5});
    expect_near(tn::lp_pool1d(row, 2, 5, 2, true), {4.18330001}, 1e-6);
    expect_near(tn::avg_pool1d(row, 5, {.stride = 2, .padding = 1, .ceil_mode = true}), {1.2, 1.5},
                1e-6);
    expect_error([&] { tn::max_pool1d(row.narrow(2, 0, 2), 5, {.stride = 2, .ceil_mode = true}); },
                 "does not fit");
    expect_error([&] { tn::avg_pool2d(column, 2); }, "does not fit");
  }
}

// PyTorch's values. The windows hold nothing of x, whose places lie within it all the same.
TEST(Pool, AWindowOfNothingButPaddingHasThePaddingsValue) {
  load_all();
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({{1.0}, {2.0}}, d).reshape({1, 1, 2, 1}).requires_grad_();
    const auto [values, index] = tn::max_pool2d_with_indices(
        x, {1, 2}, {.stride = {2, 1}, .padding = {0, 1}, .dilation = {1, 2}});
    EXPECT_EQ(values.to_vector<float>(), std::vector<float>{-INFINITY});
    expect_near(tn::grad(values.sum(), x), {0, 0});
    const auto [line, at] =
        tn::max_pool1d_with_indices(tn::tensor({5.0}, d).reshape({1, 1, 1}), 2,
                                    {.stride = 4, .padding = 1, .dilation = 2, .ceil_mode = true});
    EXPECT_EQ(line.to_vector<float>(), std::vector<float>{-INFINITY});
    // Of integers, too, which no float32 holds.
    const int64_t large = (int64_t{1} << 40) + 1;
    const Tensor whole = Tensor::from(std::vector<int64_t>{large, large + 1}, {1, 1, 1, 2}, d);
    const Tensor found = std::get<0>(
        tn::max_pool2d_with_indices(whole, {1, 2}, {.stride = {2, 1}, .dilation = {1, 1}}));
    EXPECT_EQ(found.item<int64_t>(), large + 1);
    const auto [most, place] = tn::max_pool2d_with_indices(
        whole, {1, 2}, {.stride = {1, 1}, .padding = {0, 1}, .dilation = {1, 2}});
    EXPECT_EQ(most.dtype(), tn::int64);
    EXPECT_EQ(most.to_vector<int64_t>(), (std::vector<int64_t>{large + 1, large}));
  }
}

}  // namespace
