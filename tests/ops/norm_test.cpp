// Normalizations.
#include "ops_rows.h"

namespace {

TEST(Softmax, Values) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({{1.f, 2.f, 3.f}, {1000.f, 1000.f, 1000.f}}, d);
    double z = std::exp(-2) + std::exp(-1) + 1;
    expect_near(tn::softmax(x),
                {std::exp(-2) / z, std::exp(-1) / z, 1 / z, 1.0 / 3, 1.0 / 3, 1.0 / 3});
    expect_near(tn::log_softmax(x), {-2 - std::log(z), -1 - std::log(z), -std::log(z), -std::log(3),
                                     -std::log(3), -std::log(3)});
    expect_near(tn::softmax(x.t(), 0).t(),
                {std::exp(-2) / z, std::exp(-1) / z, 1 / z, 1.0 / 3, 1.0 / 3, 1.0 / 3});
    expect_near(tn::softmax(tn::tensor(5.f, d), 0), {1});
    expect_near(tn::log_softmax(tn::tensor(5.f, d), -1), {0});
    expect_sizes(tn::softmax(tn::zeros({0, 3}, {}, d)), {0, 3});
    EXPECT_EQ(tn::softmax(x.to(tn::float64)).dtype(), tn::float64);
    // torch: softmax of [-inf, 0] is [0, 1]
    expect_near(tn::softmax(tn::tensor({-INFINITY, 0.f}, d)), {0, 1});
  }
  expect_error([] { tn::softmax(tn::zeros({2}), 1); }, "softmax: dimension 1 is out of range");
}

TEST(RmsNorm, Values) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({3.f, 4.f}, d);
    double rms = std::sqrt(12.5 + 1e-6);
    expect_near(tn::rms_norm(x), {3 / rms, 4 / rms});
    expect_near(tn::rms_norm(x, tn::tensor({2.f, -1.f}, d)), {6 / rms, -4 / rms});
    // Halves, whose squares no half holds, are computed in float32. PyTorch: [0.8486, 1.1318].
    Tensor half = tn::tensor({300.f, 400.f}, d).to(tn::float16), y = tn::rms_norm(half);
    EXPECT_EQ(y.dtype(), tn::float16);
    expect_near(y, {0.8486328125, 1.1318359375}, 0);
    EXPECT_EQ(tn::rms_norm(half, tn::ones({2}, tn::float16, d)).dtype(), tn::float16);
    // As in PyTorch 2.15 and in layer_norm, whatever the weight is.
    EXPECT_EQ(tn::rms_norm(half, tn::ones({2}, {}, d)).dtype(), tn::float16);
  }
}

// Running values have no gradient: an op that may write them cannot take leaves.
Tensor running(const TensorList& in, double shift) { return sample({2}, in[0].device(), shift); }

// Values: PyTorch 2.15, float64.
const Row kRows[] = {
    // clang-format off
    {"layer_norm",
     [](const TensorList& in) { return tn::layer_norm(in[0], 4, in[1], in[2]); },
     {{2, 3, 4}, {4}, {4}},
     {2, 3, 4},
     8.61720899158},
    {"layer_norm of two dimensions",
     [](const TensorList& in) { return tn::layer_norm(in[0], {3, 4}, in[1], {}, 0.1); },
     {{2, 3, 4}, {3, 4}},
     {2, 3, 4},
     0.546084342057},
    {"group_norm",
     [](const TensorList& in) { return tn::group_norm(in[0], 2, in[1], in[2]); },
     {{2, 4, 3}, {4}, {4}},
     {2, 4, 3},
     -0.0710382643098},
    {"group_norm of images without weight",
     [](const TensorList& in) { return tn::group_norm(in[0], 1, {}, in[1]); },
     {{1, 3, 2, 2}, {3}},
     {1, 3, 2, 2},
     7.84226857046},
    {"batch_norm in training",
     [](const TensorList& in) { return tn::batch_norm(in[0], {}, {}, in[1], in[2], {.training = true}); },
     {{3, 2, 2, 2}, {2}, {2}},
     {3, 2, 2, 2},
     6.54911864902},
    {"batch_norm of vectors",
     [](const TensorList& in) { return tn::batch_norm(in[0], {.training = true, .eps = 0.01}); },
     {{4, 3}},
     {4, 3},
     7.66096109902},
    {"batch_norm by running values",
     [](const TensorList& in) { return tn::batch_norm(in[0], running(in, 1), running(in, 2).square(), in[1], in[2]); },
     {{2, 2, 3}, {2}, {2}},
     {2, 2, 3},
     5.32678946311},
    {"instance_norm",
     [](const TensorList& in) { return tn::instance_norm(in[0], {}, {}, in[1], in[2]); },
     {{2, 2, 4}, {2}, {2}},
     {2, 2, 4},
     4.20125236134},
    {"instance_norm by running values",
     [](const TensorList& in) { return tn::instance_norm(in[0], running(in, 1), running(in, 2).square(), {}, {}, {.use_input_stats = false}); },
     {{2, 2, 3}},
     {2, 2, 3},
     7.97902661771},
    // clang-format on
};

TEST(Norm, ValuesAndGradients) { check_rows(kRows); }

// The running values are written in place, with the variance unbiased, and have no part in the
// gradient.
TEST(Norm, RunningValuesFollowTheBatch) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = sample({2, 2, 3}, d).requires_grad_();
    Tensor mean = tn::zeros({2}, tn::float64, d), var = tn::ones({2}, tn::float64, d);
    Tensor y = tn::batch_norm(x, mean, var, {}, {}, {.training = true, .momentum = 0.3});
    expect_near(mean, {0.0252156857781, -0.0018608401678});
    expect_near(var, {0.902077021814, 0.840327976065});
    EXPECT_FALSE(mean.requires_grad());
    weigh(y).backward();
    mean.zero_();
    var.fill_(1);
    tn::instance_norm(x, mean, var, {}, {}, {.momentum = 0.3});
    expect_near(mean, {0.0252156857781, -0.0018608401678});
    expect_near(var, {0.94805453092, 0.851898735254});
    Tensor before = mean.clone();
    tn::batch_norm(x, mean, var);
    expect_near(mean, before.to_vector<double>());
    // Nor does it count as a write: what another call saved of them is still good.
    y = tn::batch_norm(tn::batch_norm(x, mean, var), mean, var);
    weigh(y).backward();
    // They are not cast under autocast: the write arrives.
    tn::Autocast autocast(d, tn::bfloat16);
    tn::batch_norm(x, mean, var, {}, {}, {.training = true, .momentum = 1});
    EXPECT_NE(mean.to_vector<double>(), before.to_vector<double>());
  }
}

TEST(Norm, HalvesAreAddedUpInFloat32) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    // The sum of squares is beyond float16.
    Tensor x = tn::tensor({-1000.f, 1000.f, -1000.f, 1000.f}, d).reshape({2, 2}).to(tn::float16);
    Tensor y = tn::layer_norm(x, 2);
    EXPECT_EQ(y.dtype(), tn::float16);
    expect_near(y, {-1, 1, -1, 1});
    y = tn::batch_norm(x.t().contiguous(), {.training = true});
    EXPECT_EQ(y.dtype(), tn::float16);
    expect_near(y, {-1, -1, 1, 1});
    expect_near(tn::group_norm(x.reshape({1, 2, 2}), 1), {-1, 1, -1, 1});
  }
}

// Values of PyTorch, whose norms of samples take any eps.
TEST(Norm, AnEpsBelow0TakesFromTheVariance) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = tn::arange(0, 8, 1, tn::float32, d).reshape({2, 4});
    const double one = 1.0000200271606445, far = 1.3416461944580078, near = 0.44721540808677673;
    expect_near(tn::group_norm(x, 2, {.eps = -1e-5}), {-one, one, -one, one, -one, one, -one, one},
                1e-6);
    expect_near(tn::layer_norm(x, 4, {.eps = -1e-5}),
                {-far, -near, near, far, -far, -near, near, far}, 1e-6);
    expect_near(tn::instance_norm(x.reshape({1, 2, 4}), {.eps = -1e-5}),
                {-far, -near, near, far, -far, -near, near, far}, 1e-6);
    EXPECT_TRUE(tn::layer_norm(x, 4, {.eps = -2}).isnan().all().item<bool>());
  }
}

TEST(Norm, OfABatchOfNothingIsNothing) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = tn::zeros({0}, {}, d);
    EXPECT_EQ(tn::batch_norm(x, {.training = true}).sizes(), (std::vector<int64_t>{0}));
    EXPECT_EQ(tn::batch_norm(x, x, x).sizes(), (std::vector<int64_t>{0}));
    expect_error([&] { tn::batch_norm(x, tn::ones({3}, {}, d), tn::ones({3}, {}, d)); },
                 "batch_norm: running_mean is [3], expected [0]");
  }
}

TEST(Norm, Errors) {
  Tensor x = tn::zeros({2, 4, 3});
  expect_error([&] { tn::layer_norm(x, 4); },
               "layer_norm: x is [2, 4, 3], expected it to end with normalized_shape, [4]");
  expect_error(
      [&] {
        tn::layer_norm(x, {INT64_MAX, 2, 3});
      },
      "expected it to end with normalized_shape, [9223372036854775807, 2, 3]");
  expect_error([&] { tn::layer_norm(x, 3, tn::ones({4})); },
               "layer_norm: weight is [4], expected [3]");
  expect_error([&] { tn::layer_norm(x, 3, {}, {}, NAN); },
               "layer_norm: eps is nan, expected a number");
  expect_error([&] { tn::layer_norm(x.to(tn::int64), 3); },
               "layer_norm: x is int64, expected a floating dtype");
  expect_error([&] { tn::rms_norm(x.to(tn::int64)); },
               "rms_norm: x is int64, expected a floating dtype");
  expect_error(
      [&] {
        tn::rms_norm(x, tn::ones({4, 1}));
      },
      "rms_norm: weight is [4, 1], expected [3]");
  expect_error([&] { tn::rms_norm(x, {}, NAN); }, "rms_norm: eps is nan, expected a number");
  expect_error([&] { tn::batch_norm(x, {}, {}, {}, {}, {.training = true, .eps = -1}); },
               "batch_norm: eps is -1, expected 0 or more");
  expect_error([&] { tn::group_norm(x, 3); },
               "group_norm: x is [2, 4, 3], whose channels do not make num_groups = 3 groups");
  expect_error([&] { tn::batch_norm(x); }, "batch_norm: running_mean and running_var are needed");
  expect_error([&] { tn::batch_norm(x, tn::zeros({3}), {}, {}, {}, {.training = true}); },
               "batch_norm: running_mean is [3], expected [4]");
  expect_error(
      [&] {
        tn::batch_norm(tn::zeros({1, 4}), {.training = true});
      },
      "batch_norm: x is [1, 4]: more than 1 value for each channel is needed to normalize by their "
      "variance (a DataLoader with drop_last leaves out a last batch of one item)");
  expect_error([&] { tn::batch_norm(tn::zeros({4})); },
               "batch_norm: x is [4], expected at least 2 dimensions, [n, channels, ..]");
  expect_error([&] { tn::instance_norm(tn::zeros({2, 4, 1})); }, "more than 1 value");
}

// Of nothing there is nothing to normalize, and the running values stay.
TEST(Norm, OfNothingIsNothing) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor mean = tn::full({3}, 2.0, {}, d), var = tn::full({3}, 4.0, {}, d),
                 weight = tn::ones({3}, {}, d).requires_grad_(),
                 x = tn::zeros({0, 3, 4, 4}, {}, d).requires_grad_();
    const Tensor y = tn::batch_norm(x, mean, var, weight, {}, {.training = true});
    expect_sizes(y, {0, 3, 4, 4});
    y.sum().backward();
    expect_near(weight.grad(), {0, 0, 0}, 0);
    expect_near(mean, {2, 2, 2}, 0);
    expect_near(var, {4, 4, 4}, 0);
    expect_sizes(tn::batch_norm(tn::zeros({3, 4, 2, 0}, {}, d), {.training = true}), {3, 4, 2, 0});
    expect_sizes(tn::instance_norm(tn::zeros({2, 3, 0, 4}, {}, d)), {2, 3, 0, 4});
  }
}

TEST(Norm, RmsNormKeepsTheDtypeOfX) {
  const Tensor half = tn::ones({2, 4}, tn::bfloat16);
  EXPECT_EQ(tn::rms_norm(half, tn::ones({4})).dtype(), tn::bfloat16);
  EXPECT_EQ(tn::rms_norm(half, tn::ones({4}, tn::bfloat16)).dtype(), tn::bfloat16);
  EXPECT_EQ(tn::rms_norm(tn::ones({2, 4}), tn::ones({4})).dtype(), tn::float32);
}

}  // namespace
