// Normalizations of images on the device `cuda`, row-major and channels-last, with their gradients,
// against `cpu` in float64.
#include "against_cpu.h"

namespace {

struct CudaImages : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

Tensor channels_last(const Tensor& t) {
  return t.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2});
}

Tensor unaligned_channels_last(const Tensor& t) {
  return unaligned(t.permute({0, 2, 3, 1})).permute({0, 3, 1, 2});
}

TEST_F(CudaImages, BatchAndGroupNormInBothLayouts) {
  const Named batch = {"batch_norm", [](const TensorList& in) {
                         return tn::batch_norm(in[0], {}, {}, in[1], in[2], {.training = true});
                       }};
  const Named groups = {
      "group_norm", [](const TensorList& in) { return tn::group_norm(in[0], 2, in[1], in[2]); }};
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{4, 6, 5, 7},
                                            {2, 4, 16, 16},
                                            {40, 34, 3, 3},
                                            {3, 2, 70, 70},
                                            {300, 16, 1, 1},
                                            {9, 64, 5, 7},
                                            {2, 40, 1, 9}}) {
    SCOPED_TRACE(tn::full(sizes, 0).numel());
    const Tensor x = sample(sizes) * 3 + 1, weight = sample({sizes[1]}, {}, 1) + 2,
                 bias = sample({sizes[1]}, {}, 2);
    for (const Case& c : {Case{tn::float32, 4e-6},
                          {tn::float64, 1e-12},
                          {tn::float16, 3e-3},
                          {tn::bfloat16, 2.4e-2}}) {
      SCOPED_TRACE(c.dtype.name());
      for (const char* const layout : {"row-major", "channels-last", "channels-last, unaligned"}) {
        SCOPED_TRACE(layout);
        const auto place = [&](const Tensor& t) {
          if (t.dim() != 4 || layout[0] == 'r') return on_cuda(t);
          return layout[13] == ',' ? unaligned_channels_last(t) : on_cuda(channels_last(t));
        };
        check(batch, {x, weight, bias}, c, place);
        check(groups, {x, weight, bias}, c, place);
      }
    }
  }
}

// Their statistics are of float32, and no copy of them is.
TEST_F(CudaImages, BatchNormReadsAndWritesHalves) {
  if (!fake_launches([] {})) GTEST_SKIP() << "not the driver of the tests";
  using Names = std::vector<std::string>;
  const Tensor weight = on_cuda(sample({16}).to(tn::float32) + 2),
               bias = on_cuda(sample({16}).to(tn::float32));
  for (const tn::Dtype dtype : {tn::float16, tn::bfloat16}) {
    for (const bool last : {false, true}) {
      const Tensor x = sample({4, 16, 5, 3}).to(dtype);
      const Tensor leaf = on_cuda(last ? channels_last(x) : x).detach().requires_grad_();
      Tensor y;
      const auto forward = fake_launches(
          [&] { y = tn::batch_norm(leaf, {}, {}, weight, bias, {.training = true}); });
      EXPECT_EQ(*forward, (Names{"partial_moments", "combine_moments", "batch_normalize"}));
      EXPECT_EQ(y.dtype(), dtype);
      const Tensor g = y.detach().clone();
      const auto backward =
          fake_launches([&] { tn::grad({y}, {leaf}, {.grad_outputs = TensorList{g}}); });
      EXPECT_EQ(*backward, (Names{last ? "column_sums" : "plane_sums", "combine_sums",
                                  "batch_normalize_backward"}));
    }
  }
}

// Autocast leaves halves to it, as PyTorch's does: what convolutions give stays in halves.
TEST_F(CudaImages, BatchNormUnderAutocastKeepsHalves) {
  const Tensor x = on_cuda(sample({4, 16, 5, 3}).to(tn::bfloat16)),
               weight = on_cuda(sample({16}).to(tn::float32) + 2);
  const tn::Autocast autocast(kCuda, tn::bfloat16);
  EXPECT_EQ(tn::batch_norm(x, {}, {}, weight, {}, {.training = true}).dtype(), tn::bfloat16);
  EXPECT_EQ(tn::batch_norm(x.to(tn::float32), {.training = true}).dtype(), tn::float32);
}

TEST_F(CudaImages, BatchNormByGivenStatistics) {
  const Tensor x = sample({5, 6, 4, 7}), mean = sample({6}, {}, 1), var = sample({6}, {}, 2) + 2,
               weight = sample({6}, {}, 3), bias = sample({6}, {}, 4);
  const auto run = [](const TensorList& in) {
    return tn::batch_norm(in[0], in[1], in[2], in[3], in[4]);
  };
  const Tensor expected = run({x, mean, var, weight, bias});
  for (const Case& c : kCases) {
    for (const bool last : {false, true}) {
      TensorList there;
      for (const Tensor& t : {x, mean, var, weight, bias})
        there.push_back(on_cuda((last && t.dim() == 4 ? channels_last(t) : t).to(c.dtype)));
      expect_launch("batch_normalize", [&] { run(there); });
      expect_near_largest(run(there), expected, 4 * c.tolerance);
      // Halves beside statistics of float32.
      if (!c.dtype.is_half()) continue;
      for (size_t k = 1; k < there.size(); ++k) there[k] = there[k].to(tn::float32);
      expect_launch("batch_normalize", [&] { run(there); });
      expect_near_largest(run(there), expected, 4 * c.tolerance);
    }
  }
}

// Values far from zero have the variance of those that are near, to what float32 holds of the mean.
TEST_F(CudaImages, VarianceFarFromZero) {
  Tensor x = (sample({2, 3, 40, 50}) + 10000).to(tn::float32);
  const auto both = [&](const Op& op) {
    expect_near_largest(op({on_cuda(x)}), op({x.to(tn::float64)}), 5e-4);
    expect_near_largest(op({on_cuda(channels_last(x))}), op({x.to(tn::float64)}), 5e-4);
  };
  both([](const TensorList& in) { return tn::batch_norm(in[0], {.training = true}); });
  both([](const TensorList& in) { return tn::group_norm(in[0], 1); });
  both([](const TensorList& in) { return tn::layer_norm(in[0], {40, 50}); });
}

}  // namespace
