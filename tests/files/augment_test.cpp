// Transforms of images. Resized values are PyTorch 2's (interpolate, bilinear, antialias); the others
// follow from what they do.
#include "tenon/data/augment.hpp"

#include <cmath>
#include <set>

#include "files_support.h"
#include "tenon/data/datasets.hpp"
#include "tenon/data/mixup.hpp"
#include "tenon/tenon.hpp"

namespace {

using namespace tenon;  // NOLINT

struct Augmenting : ::testing::Test {
  static void SetUpTestSuite() { load_plugins(); }
  // 0, 37, 74, 10, .. in rows.
  static Tensor numbers(std::vector<int64_t> sizes, Dtype dtype = float32) {
    int64_t n = 1;
    for (const int64_t size : sizes) n *= size;
    std::vector<float> values;
    for (int64_t i = 0; i < n; ++i) values.push_back(float(i * 37 % 101));
    return Tensor::from(values, sizes).to(dtype);
  }
  static std::vector<float> floats(const Tensor& t) { return t.to(float32).to_vector<float>(); }
  static void expect_near(const Tensor& t, const std::vector<double>& expected, double tolerance) {
    const std::vector<float> found = floats(t);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
  }
};

TEST_F(Augmenting, ResizeHasPyTorchsValues) {
  const Tensor x = numbers({5, 7});
  expect_near(data::Resize(3, 4)(x),
              {41.7483, 50.6, 37.3029, 52.5306, 43.0688, 56.2933, 47.1644, 62.7831, 43.6258,
               62.3714, 46.1886, 48.2245},
              2e-4);
  expect_near(data::Resize(2, 2)(x), {48.1427, 49.0233, 50.0391, 52.3076}, 2e-4);
  expect_near(data::Resize(8, 9)(x).slice(0, 0, 2),
              {0.0, 24.6667, 53.4444, 59.7778, 10.0, 38.7778, 67.5556, 62.6667, 20.0, 24.9375,
               49.6042, 58.7431, 50.3472, 34.9375, 29.3472, 48.3056, 58.1458, 44.9375},
              2e-4);
  EXPECT_EQ(floats(data::Resize(5, 7)(x)), floats(x));
  const Tensor bytes = data::Resize(3, 4)(numbers({2, 5, 7}, uint8));
  EXPECT_EQ(bytes.dtype(), uint8);
  EXPECT_EQ(bytes.sizes(), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(floats(bytes[0])[0], 42);
}

TEST_F(Augmenting, CropsTakeAPart) {
  const Tensor x = numbers({2, 4, 5}, uint8);
  EXPECT_EQ(floats(data::CenterCrop(2, 3)(x)), floats(x.slice(1, 1, 3).slice(2, 1, 4)));
  // Where half a row is left over torchvision rounds to the even one: from 5 of 12 and 4 of 9.
  const Tensor large = numbers({12, 9}, uint8);
  EXPECT_EQ(floats(data::CenterCrop(5, 4)(large)), floats(large.slice(0, 4, 9).slice(1, 2, 6)));
  data::Random random(1);
  std::set<std::vector<float>> seen;
  for (int i = 0; i < 200; ++i) seen.insert(floats(data::RandomCrop(3, 3)(x, random)));
  EXPECT_EQ(seen.size(), 2u * 3u);
  for (int64_t top = 0; top < 2; ++top) {
    for (int64_t left = 0; left < 3; ++left)
      EXPECT_TRUE(seen.count(floats(x.slice(1, top, top + 3).slice(2, left, left + 3))));
  }
  // With a border of one pixel, of nines.
  const Tensor padded = data::RandomCrop(6, 7, {.padding = 1, .fill = 9})(x, random);
  EXPECT_EQ(floats(padded.slice(1, 1, 5).slice(2, 1, 6)), floats(x));
  EXPECT_EQ(floats(padded.slice(1, 0, 1)), std::vector<float>(14, 9));
  EXPECT_EQ(floats(padded.slice(2, 6, 7)), std::vector<float>(12, 9));
}

TEST_F(Augmenting, FlipsAndTurnsMovePixels) {
  const Tensor x = numbers({3, 4, 4});
  data::Random random(2);
  EXPECT_EQ(floats(data::RandomHorizontalFlip(1)(x, random)), floats(flip(x, {2})));
  EXPECT_EQ(floats(data::RandomVerticalFlip(1)(x, random)), floats(flip(x, {1})));
  EXPECT_EQ(floats(data::RandomHorizontalFlip(0)(x, random)), floats(x));
  int flipped = 0;
  for (int i = 0; i < 400; ++i)
    flipped += floats(data::RandomHorizontalFlip()(x, random)) != floats(x);
  EXPECT_GT(flipped, 130);
  EXPECT_LT(flipped, 270);
  // Counter-clockwise, as rot90 of the last two dimensions.
  for (const int64_t k : {1, 2, 3}) {
    EXPECT_EQ(floats(data::RandomRotation(180).rotated(x, double(90 * k))),
              floats(rot90(x, k, {1, 2})));
  }
  EXPECT_EQ(floats(data::RandomRotation(0)(x, random)), floats(x));
  const Tensor turned = data::RandomRotation(45, {.fill = -1}).rotated(x, 45);
  EXPECT_EQ(floats(turned)[0], -1);  // a corner comes from outside
}

TEST_F(Augmenting, ColorJitterBlends) {
  const Tensor grey = full({1, 2, 2}, 0.5);
  data::Random random(3);
  std::set<float> seen;
  for (int i = 0; i < 50; ++i) {
    const std::vector<float> v = floats(data::ColorJitter({.brightness = 0.4})(grey, random));
    EXPECT_EQ(v, std::vector<float>(4, v[0]));
    EXPECT_GE(v[0], 0.3f - 1e-6f);
    EXPECT_LE(v[0], 0.7f + 1e-6f);
    seen.insert(v[0]);
  }
  EXPECT_GT(seen.size(), 40u);
  // Contrast leaves the mean of the grey, saturation the grey of each pixel.
  const Tensor color = numbers({3, 2, 2}) / 101.0;
  const auto grey_of = [](const Tensor& t) { return t[0] * 0.2989 + t[1] * 0.587 + t[2] * 0.114; };
  for (int i = 0; i < 10; ++i) {
    const Tensor contrast = data::ColorJitter({.contrast = 0.2})(color, random);
    EXPECT_NEAR(grey_of(contrast).mean().item<double>(), grey_of(color).mean().item<double>(),
                2e-2);
    const Tensor faded = data::ColorJitter({.saturation = 0.1})(color, random);
    EXPECT_TRUE(grey_of(faded).allclose(grey_of(color), 0, 2e-2));
    EXPECT_GE(faded.min().item<float>(), 0);
  }
  EXPECT_EQ(floats(data::ColorJitter({})(color, random)), floats(color));
  const Tensor bytes = data::ColorJitter({.brightness = 5})(full({3, 4, 4}, 200, uint8), random);
  EXPECT_EQ(bytes.dtype(), uint8);
}

TEST_F(Augmenting, CutoutFillsSquares) {
  const Tensor x = ones({2, 8, 8});
  data::Random random(4);
  for (int i = 0; i < 50; ++i) {
    const Tensor y = data::Cutout(4)(x, random);
    const double empty = 64 - y[0].sum().item<double>();
    EXPECT_GE(empty, 4);  // at a corner a quarter of the square
    EXPECT_LE(empty, 16);
    EXPECT_EQ(floats(y[0]), floats(y[1]));
  }
  EXPECT_EQ(floats(data::Cutout(100, {.holes = 2, .fill = 3})(x, random)),
            std::vector<float>(128, 3));
}

TEST_F(Augmenting, SamplesDrawTheSameOnAnyNumberOfWorkers) {
  const Tensor x = numbers({20, 1, 6, 6}), y = arange(0, 20);
  const auto batches = [&](int64_t workers) {
    const auto images =
        data::map(data::TensorDataset(x, y),
                  data::Augment(data::RandomCrop(6, 6, {.padding = 2}),
                                data::RandomHorizontalFlip(), data::Cutout(2), data::Resize(4, 4)));
    data::DataLoader loader(images,
                            {.batch_size = 7, .shuffle = true, .num_workers = workers, .seed = 5});
    std::vector<float> all;
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (auto [image, label] : loader) {
        const std::vector<float> v = floats(image);
        all.insert(all.end(), v.begin(), v.end());
      }
    }
    return all;
  };
  const std::vector<float> one = batches(0);
  EXPECT_EQ(one.size(), 2u * 20 * 16);
  EXPECT_EQ(batches(3), one);
  EXPECT_NE(std::vector<float>(one.begin(), one.begin() + 320),
            std::vector<float>(one.begin() + 320, one.end()));
}

TEST_F(Augmenting, MixUpMixesImagesAndClasses) {
  const Tensor x = eye(4), y = tensor({0, 1, 2, 3});
  data::MixUp mix(0.4, 4, 7);
  const NamedTensors before = mix.state_dict();
  const auto [a, p] = mix(x, y);
  // Images that are their classes stay so.
  EXPECT_EQ(floats(a), floats(p));
  EXPECT_TRUE(p.sum(1).allclose(ones({4})));
  const auto [b, q] = mix(x, y);
  EXPECT_NE(floats(a), floats(b));
  mix.load_state_dict(before);
  EXPECT_EQ(floats(mix(x, y).first), floats(a));
  // Beta(2, 2) has the mean 1 / 2 and the variance 1 / 20.
  data::MixUp even(2, 2);
  double sum = 0, squares = 0;
  int draws = 0;
  for (int i = 0; i < 4000; ++i) {
    const double part = even(eye(2), tensor({0, 1})).first[0][0].item<double>();
    if (part == 1) continue;  // mixed with itself
    sum += part, squares += part * part, ++draws;
  }
  ASSERT_GT(draws, 1700);
  const double mean = sum / draws;
  EXPECT_NEAR(mean, 0.5, 7 * std::sqrt(0.05 / draws));
  EXPECT_NEAR(squares / draws - mean * mean, 0.05, 0.006);
}

TEST_F(Augmenting, SayWhatTheyRefuse) {
  data::Random random(1);
  const Tensor x = numbers({4, 5});
  EXPECT_SAYS(data::Resize(0, 3), "Resize: height is 0, expected at least 1");
  EXPECT_SAYS(data::Resize(2, 2)(zeros({3})),
              "Resize: it is for images [.., height, width], got float32 [3]");
  EXPECT_SAYS(
      data::Resize(2, 2)(zeros({3, 3}, float64)),
      "Resize: it is for images [.., height, width] of uint8 or float32, got float64 [3, 3]");
  EXPECT_SAYS(data::CenterCrop(5, 5)(x),
              "CenterCrop: it is for images [.., height, width] of at least 5 and 5, got float32");
  EXPECT_SAYS(data::RandomCrop(7, 5, {.padding = 1})(x, random),
              "RandomCrop: it is for images [.., height, width] that have, with their padding, at "
              "least 7 and 5, got float32 [4, 5]");
  EXPECT_SAYS(data::RandomCrop(2, 2, {.padding = -1}),
              "RandomCrop: padding is -1, expected at least 0");
  EXPECT_SAYS(data::RandomHorizontalFlip(1.5), "RandomHorizontalFlip: p is 1.5");
  EXPECT_SAYS(data::RandomRotation(-1), "RandomRotation: degrees is -1");
  EXPECT_SAYS(data::ColorJitter({.contrast = -2}), "ColorJitter: contrast is -2");
  EXPECT_SAYS(
      data::ColorJitter({.contrast = 1})(zeros({2, 3, 3}), random),
      "ColorJitter: it is for images [3, height, width] or [1, height, width], got float32");
  EXPECT_SAYS(data::Cutout(0), "Cutout: size is 0, expected at least 1");
  EXPECT_SAYS(data::MixUp(0, 3), "MixUp: alpha is 0");
  EXPECT_SAYS(data::MixUp(1, 3)(zeros({2}), zeros({3})),
              "MixUp: it is for floats [n, ..] and classes [n], got float32 [2] and float32 [3]");
}

}  // namespace
