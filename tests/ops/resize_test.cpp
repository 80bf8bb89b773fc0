// Images of other sizes.
#include "ops_rows.h"

namespace {

// Values: PyTorch 2.15, float64.
const Row kRows[] = {
    // clang-format off
    {"nearest to a size",
     [](const TensorList& in) { return tn::interpolate(in[0], {.size = {5, 2}}); },
     {{1, 2, 3, 4}},
     {1, 2, 5, 2},
     1.01668072348},
    {"nearest by a factor",
     [](const TensorList& in) { return tn::interpolate(in[0], {.scale_factor = 1.7}); },
     {{2, 1, 4}},
     {2, 1, 6},
     -1.33426184387},
    {"nearest-exact",
     [](const TensorList& in) { return tn::interpolate(in[0], {.size = {7, 3}, .mode = "nearest-exact"}); },
     {{1, 1, 3, 5}},
     {1, 1, 7, 3},
     -1.18257622816},
    {"nearest of volumes",
     [](const TensorList& in) { return tn::interpolate(in[0], {.scale_factor = {2, 1, 1.5}}); },
     {{1, 1, 2, 3, 2}},
     {1, 1, 4, 3, 3},
     0.274439747512},
    {"linear",
     [](const TensorList& in) { return tn::interpolate(in[0], {.size = 7, .mode = "linear"}); },
     {{1, 2, 4}},
     {1, 2, 7},
     0.0305738914455},
    {"linear, corners aligned",
     [](const TensorList& in) { return tn::interpolate(in[0], {.size = 7, .mode = "linear", .align_corners = true}); },
     {{1, 2, 4}},
     {1, 2, 7},
     -0.168908421498},
    {"linear by a factor",
     [](const TensorList& in) { return tn::interpolate(in[0], {.scale_factor = 2.3, .mode = "linear"}); },
     {{1, 2, 5}},
     {1, 2, 11},
     0.496798664294},
    {"bilinear up",
     [](const TensorList& in) { return tn::interpolate(in[0], {.size = {5, 6}, .mode = "bilinear"}); },
     {{1, 2, 3, 4}},
     {1, 2, 5, 6},
     -0.299945823799},
    {"bilinear down, corners aligned",
     [](const TensorList& in) { return tn::interpolate(in[0], {.size = {3, 1}, .mode = "bilinear", .align_corners = true}); },
     {{1, 1, 5, 4}},
     {1, 1, 3, 1},
     0.538328650893},
    {"bilinear by factors",
     [](const TensorList& in) { return tn::interpolate(in[0], {.scale_factor = {0.5, 2}, .mode = "bilinear"}); },
     {{1, 1, 5, 4}},
     {1, 1, 2, 8},
     0.897824146578},
    {"trilinear",
     [](const TensorList& in) { return tn::interpolate(in[0], {.size = {3, 2, 3}, .mode = "trilinear"}); },
     {{1, 1, 2, 3, 2}},
     {1, 1, 3, 2, 3},
     -0.311000864066},
    {"pixel_shuffle",
     [](const TensorList& in) { return tn::pixel_shuffle(in[0], 2); },
     {{2, 4, 2, 3}},
     {2, 1, 4, 6},
     -11.6937285889},
    {"pixel_unshuffle",
     [](const TensorList& in) { return tn::pixel_unshuffle(in[0], 2); },
     {{1, 4, 6}},
     {4, 2, 3},
     -5.9145609495},
    // clang-format on
};

TEST(Resize, ValuesAndGradients) { check_rows(kRows); }

TEST(Resize, NearestTakesIntegers) {
  Tensor x = tn::tensor({int64_t(1), int64_t(2)}).reshape({1, 1, 2});
  EXPECT_EQ(tn::interpolate(x, {.size = 4}).to_vector<int64_t>(),
            (std::vector<int64_t>{1, 1, 2, 2}));
}

// What stands alone stays: the weights of each new element add up to 1, also in lower precision.
TEST(Resize, AntialiasKeepsAConstant) {
  for (const tn::Device d : devices()) {
    for (const char* mode : {"bilinear", "bicubic"}) {
      for (const tn::Dtype dtype : {tn::float32, tn::float16, tn::bfloat16}) {
        const Tensor x = tn::full({1, 2, 37, 5}, 3, dtype, d);
        const Tensor y =
            tn::interpolate(x, {.size = {4, 9}, .mode = mode, .antialias = true}).to(tn::float32);
        EXPECT_LT(tn::amax(tn::abs(y - 3)).item<float>(), 1e-5) << mode << " " << dtype.name();
      }
    }
  }
}

// What is no number stays where it is seen, and a size that stays moves nothing. Values: PyTorch 2.15.
TEST(Resize, AntialiasLooksAtWhatLiesBelow) {
  for (const tn::Device d : devices()) {
    Tensor x = tn::zeros({1, 1, 8, 8}, {}, d);
    x[{0, 0, 0, 0}] = NAN;
    const Tensor y = tn::interpolate(x, {.size = {4, 4}, .mode = "bilinear", .antialias = true});
    EXPECT_EQ(tn::sum(tn::isnan(y)).item<int64_t>(), 1);
    const Tensor steps = tn::tensor({0.0, 10.0, 0.0, 10.0}).to(d).expand({1, 1, 2, 4});
    const Tensor same =
        tn::interpolate(steps, {.scale_factor = {2.0, 1.1}, .mode = "bicubic", .antialias = true});
    expect_near(same[{0, 0, 3}], {0, 10, 0, 10});
  }
}

TEST(Resize, Errors) {
  Tensor x = tn::zeros({1, 4, 3, 3});
  expect_error([&] { tn::interpolate(x, {.size = 2, .mode = "linear"}); },
               "interpolate: mode is 'linear' and x [1, 4, 3, 3]; expected nearest");
  expect_error([&] { tn::interpolate(x); },
               "interpolate: either size or scale_factor is needed, and not both");
  expect_error([&] { tn::interpolate(x, {.size = 2, .scale_factor = 2}); }, "and not both");
  expect_error(
      [&] {
        tn::interpolate(x, {.scale_factor = {1, 2, 3}});
      },
      "interpolate: 3 numbers in scale_factor, expected one or 2");
  expect_error([&] { tn::interpolate(x, {.scale_factor = -1}); },
               "interpolate: scale_factor is -1, expected more than 0");
  expect_error([&] { tn::interpolate(x, {.scale_factor = 0.1}); },
               "interpolate: dimension 2 would go from 3 to 0, expected at least 1 each");
  expect_error([&] { tn::interpolate(x, {.size = 2, .align_corners = true}); },
               "interpolate: align_corners is for");
  expect_error([&] { tn::interpolate(x, {.size = 2, .antialias = true}); },
               "interpolate: antialias is for bilinear and bicubic of 4 dimensions; mode is "
               "'nearest'");
  expect_error(
      [&] { tn::interpolate(x, {.size = 2, .mode = "bilinear", .recompute_scale_factor = true}); },
      "interpolate: recompute_scale_factor is for scale_factor, and size is given");
  expect_error([&] { tn::interpolate(x.to(tn::int64), {.size = 2, .mode = "bilinear"}); },
               "interpolate: x is int64, expected a floating dtype");
  expect_error([&] { tn::pixel_shuffle(x, 3); },
               "pixel_shuffle: x is [1, 4, 3, 3] and the factor 3; expected [.., channels, h, w] "
               "with channels divisible by the factor's square");
  // Its square is 0 in 64 bits.
  expect_error([&] { tn::pixel_shuffle(x, int64_t(1) << 32); },
               "pixel_shuffle: x is [1, 4, 3, 3] and the factor 4294967296; expected");
  expect_error([&] { tn::pixel_unshuffle(x, 2); }, "with h and w divisible by the factor");
}

// PyTorch 2.15's: images that keep their size, or double it, take their elements whatever the factor.
TEST(Resize, NearestOfNearlyTheSameSize) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = tn::arange(0, 16).to(tn::float32).view({1, 1, 4, 4}).to(d).requires_grad_();
    const Tensor same = tn::interpolate(x, {.scale_factor = {1.1, 1.2}});
    EXPECT_TRUE(tn::equal(same, x));
    same.sum().backward();
    EXPECT_TRUE(tn::equal(x.grad(), tn::ones_like(x)));
    const Tensor y = tn::arange(0, 5).to(tn::float32).view({1, 1, 1, 5}).to(d);
    expect_near(tn::interpolate(y, {.scale_factor = {1.0, 2.1}}), {0, 0, 1, 1, 2, 2, 3, 3, 4, 4});
    // A line has no such rule.
    expect_near(tn::interpolate(y[0], {.scale_factor = 1.1}), {0, 0, 1, 2, 3});
    expect_near(tn::interpolate(y[0], {.scale_factor = 2.1}), {0, 0, 0, 1, 1, 2, 2, 3, 3, 4});
  }
}

}  // namespace
