// What PyTorch refuses is refused here, too, and edges that it takes have its values (2.15's).
#include <cmath>
#include <string>
#include <vector>

#include "message_of.h"
#include "ops_support.h"

namespace {

TEST(RefusedAsTorch, OptionsThatSayNothing) {
  load_all();
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = tn::tensor({-1.0, 2.0}).to(d), image = tn::ones({1, 1, 3, 3}, {}, d);
    expect_error([&] { tn::celu(x, 0); }, "celu: alpha is 0, expected another number");
    expect_error([&] { tn::celu_(x.clone(), 0.0); }, "celu_: alpha is 0, expected another number");
    for (const char* mode : {"reflect", "replicate", "circular"}) {
      expect_error(
          [&] {
            tn::pad(image, {1, 1}, mode, 1.5);
          },
          std::string("pad: value is 1.5 and mode '") + mode +
              "', expected a value with the mode 'constant' alone");
      expect_error([&] { tn::pad(image, {1, 1}, mode, 2); }, "pad: value is 2 and mode");
      expect_sizes(tn::pad(image, {1, 1}, mode, 0), {1, 1, 3, 5});
    }
    const Tensor table = tn::ones({4, 2}, {}, d), rows = tn::zeros({1, 2}, tn::int64, d);
    expect_error([&] { tn::embedding_bag(table, rows, {.mode = "max", .sparse = true}); },
                 "embedding_bag: sparse is set and mode is 'max', expected 'sum' or 'mean'");
  }
  expect_error([] { tn::nn::EmbeddingBag(4, 2, {.mode = "max", .sparse = true}); },
               "sparse is set and mode is max, expected sum or mean");
}

TEST(RefusedAsTorch, CeluInPlaceIsCelu) {
  load_all();
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor leaf = tn::tensor({-1.0, 2.0}).to(d).requires_grad_();
    Tensor x = leaf * 1;
    EXPECT_TRUE(tn::celu_(x, 1.5).is_same(x));
    expect_near(x, {1.5 * std::expm1(-1 / 1.5), 2}, 1e-6);
    x.sum().backward();
    expect_near(leaf.grad(), {std::exp(-1 / 1.5), 1}, 1e-6);
    const Tensor half = tn::celu(tn::tensor({-1.0, 2.0}, tn::bfloat16).to(d), 1.5);
    EXPECT_EQ(half.dtype(), tn::bfloat16);
  }
}

TEST(RefusedAsTorch, SizesThatDoNotFit) {
  load_all();
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const auto ones = [&](tn::Ints sizes) { return tn::ones(sizes, {}, d); };
    expect_error(
        [&] {
          tn::triplet_margin_loss(ones({2, 3}), ones({3}), ones({2, 3}));
        },
        "triplet_margin_loss: anchor is [2, 3], positive is [3], negative is [2, 3]; "
        "expected as many dimensions of each");
    expect_error(
        [&] {
          tn::avg_pool3d(ones({1, 1, 2, 2, 2}), 3, {.ceil_mode = true});
        },
        "avg_pool3d: kernel_size is [3, 3, 3], expected at most the sizes [2, 2, 2] of x, "
        "without padding");
    expect_error(
        [&] {
          tn::avg_pool3d(ones({1, 4, 2, 4}), 3, {.padding = 1});
        },
        "expected at most the sizes [4, 2, 4] of x");
    expect_error(
        [&] {
          tn::lp_pool3d(ones({1, 1, 2, 2, 2}), 2, 3, {.ceil_mode = true});
        },
        "expected at most the sizes [2, 2, 2] of x");
    expect_sizes(tn::avg_pool2d(ones({1, 1, 2, 2}), 3, {.ceil_mode = true}), {1, 1, 1, 1});
    expect_sizes(tn::max_pool3d(ones({1, 1, 2, 2, 2}), 3, {.ceil_mode = true}), {1, 1, 1, 1, 1});
    expect_error(
        [&] {
          tn::mse_loss(ones({2, 2}), ones({2, 2}), {.weight = ones({2})});
        },
        "mse_loss: weight is [2], input is [2, 2]; expected the same sizes");
    expect_error(
        [&] {
          tn::l1_loss(ones({2, 2}), ones({2, 2}), "sum", ones({2}));
        },
        "l1_loss: weight is [2], input is [2, 2]; expected the same sizes");
    expect_error([&] { tn::huber_loss(ones({2}), ones({2}), {.weight = ones({1})}); },
                 "huber_loss: weight is [1], input is [2]; expected the same sizes");
    expect_error(
        [&] {
          tn::linear(ones({2, 3}), ones({4, 3}), ones({5, 2, 4}));
        },
        "bias is [5, 2, 4]");
    expect_error(
        [&] {
          tn::linear(ones({2, 3}), ones({1, 3}), ones({4}));
        },
        "expected x [.., in], weight [out, in], bias [out] or of sizes that broadcast");
  }
}

TEST(RefusedAsTorch, AVarianceMayBeANumber) {
  load_all();
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({1.0, 2.0, 4.0}).to(d), y = tn::zeros({3}, {}, d);
    const Tensor var = tn::full({3}, 2.0, {}, d);
    EXPECT_TRUE(tn::gaussian_nll_loss(x, y, 2.0).equal(tn::gaussian_nll_loss(x, y, var)));
    EXPECT_TRUE(tn::gaussian_nll_loss(x, y, 2, {.full = true, .reduction = "sum"})
                    .equal(tn::gaussian_nll_loss(x, y, var, {.full = true, .reduction = "sum"})));
    EXPECT_TRUE(tn::gaussian_nll_loss(x, y, 2.0, true, 1e-3)
                    .equal(tn::gaussian_nll_loss(x, y, var, true, 1e-3)));
  }
  expect_error([] { tn::gaussian_nll_loss(tn::ones({2}), tn::ones({2}), -1.0); },
               "gaussian_nll_loss: ");
}

TEST(RefusedAsTorch, FactorsOfPixels) {
  load_all();
  const Tensor x = tn::ones({1, 4, 2, 2});
  expect_error([&] { tn::pixel_shuffle(x, 0); },
               "pixel_shuffle: upscale_factor is 0, expected at least 1");
  expect_error([&] { tn::pixel_shuffle(x, -2); },
               "pixel_shuffle: upscale_factor is -2, expected at least 1");
  expect_error([&] { tn::pixel_unshuffle(x, -1); },
               "pixel_unshuffle: downscale_factor is -1, expected at least 1");
}

TEST(RefusedAsTorch, ClassesOutOfRange) {
  load_all();
  EXPECT_EQ(message_of([] { tn::one_hot(tn::tensor({3}), 2); }),
            "one_hot: index 3 is out of range for num_classes 2, expected 0 to 1");
  expect_error(
      [] {
        tn::one_hot(tn::tensor({1, -1}), 2);
      },
      "one_hot: index -1 is out of range for num_classes 2, expected 0 to 1");
  expect_sizes(tn::one_hot(tn::zeros({0}, tn::int64), 2), {0, 2});
}

// Of a bilinear or bicubic mean no weight is a number, and where the nearest is taken the place is outside.
TEST(RefusedAsTorch, PlacesThatAreNoNumbers) {
  load_all();
  const double nan = std::nan(""), inf = INFINITY;
  for (const tn::Device d : devices()) {
    for (const tn::Dtype dtype : {tn::float32, tn::float64}) {
      const Tensor x = tn::arange(1.0, 13.0).reshape({1, 1, 3, 4}).to(dtype).to(d);
      const auto at = [&](double across, double down, const char* mode, const char* border) {
        const Tensor place = tn::tensor({across, down}, dtype).to(d);
        const Tensor y = tn::grid_sample(x, place.expand({1, 1, 9, 2}).contiguous(),
                                         {.mode = mode, .padding_mode = border});
        const std::vector<double> all = y.to_vector<double>();
        for (const double v : all) EXPECT_TRUE(v == all[0] || std::isnan(v));
        return all[0];
      };
      SCOPED_TRACE(d.name() + " " + dtype.name());
      for (const double bad : {nan, inf, -inf}) {
        EXPECT_TRUE(std::isnan(at(bad, 0, "bilinear", "zeros")));
        EXPECT_TRUE(std::isnan(at(0, bad, "bilinear", "zeros")));
        EXPECT_EQ(at(0, bad, "nearest", "zeros"), 0);
        for (const char* border : {"zeros", "border", "reflection"}) {
          EXPECT_TRUE(std::isnan(at(bad, 0, "bicubic", border)));
          EXPECT_TRUE(std::isnan(at(0, bad, "bicubic", border)));
        }
        EXPECT_EQ(at(bad, 0, "bilinear", "border"), bad == inf ? 8 : 5);
        EXPECT_EQ(at(bad, 0, "bilinear", "reflection"), 5);
      }
      for (const char* mode : {"bilinear", "bicubic"}) {
        EXPECT_EQ(at(1e30, 1e30, mode, "zeros"), 0);
        EXPECT_EQ(at(1e30, -1e30, mode, "zeros"), 0);
      }
      // Of volumes nothing is outside that counts.
      const Tensor volume = x.reshape({1, 1, 1, 3, 4}), place = tn::tensor({nan, 0, 0}, dtype);
      EXPECT_EQ(tn::grid_sample(volume, place.reshape({1, 1, 1, 1, 3}).to(d)).item(), 0);
    }
  }
}

TEST(RefusedAsTorch, BagsOfNothingHaveNoMaximum) {
  load_all();
  for (const tn::Device d : devices()) {
    const Tensor table = tn::ones({4, 2}, {}, d);
    expect_near(tn::embedding_bag(table, tn::zeros({2, 0}, tn::int64, d), {.mode = "max"}),
                {0, 0, 0, 0}, 0);
  }
}

}  // namespace
