// Networks of images stay in the layout of their input: kernels choose that of their outputs,
// elementwise ops keep it, gradients lie as their tensors, and nothing is copied from one layout to
// the other.
#include <tenon/nn.hpp>

#include "ops_support.h"

namespace {

using tn::nn::AvgPool2d, tn::nn::BatchNorm2d, tn::nn::Conv2d, tn::nn::MaxPool2d;

bool lies_channels_last(const Tensor& x) { return x.strides()[1] == 1 && !x.is_contiguous(); }

std::vector<tn::Object> layers() {
  tn::manual_seed(1);
  return {Conv2d(4, 6, 3, {.padding = 1}),
          BatchNorm2d(6),
          tn::nn::ReLU(),
          MaxPool2d(2),
          Conv2d(6, 5, 3, {.stride = 2, .padding = 1, .bias = false}),
          AvgPool2d(2)};
}

// As in PyTorch: what is expanded is in no order with the other dimensions.
TEST(Layout, OfWhatIsExpandedIsRowMajorAgain) {
  using Strides = std::vector<int64_t>;
  for (const tn::Device d : devices()) {
    const Tensor x = tn::ones({3}, {}, d).expand({2, 3});
    for (const Tensor& y : {x * 2, x + x, tn::relu(x), x > 0, tn::where(x > 0, x, 1)})
      EXPECT_TRUE(y.is_contiguous());
    EXPECT_EQ(tn::exp(tn::ones({4, 1, 3}, {}, d).expand({4, 5, 3})).strides(), (Strides{15, 3, 1}));
    const Tensor turned = tn::ones({3, 1, 4}, {}, d).permute({2, 1, 0}).expand({4, 5, 3});
    EXPECT_EQ(tn::exp(turned).strides(), (Strides{1, 4, 20}));
  }
}

// As PyTorch's preserve_format: what is dense keeps its order, and the rest is row-major.
TEST(Layout, OfWhatIsConvertedClonedAndJoined) {
  using Strides = std::vector<int64_t>;
  const Tensor rows = sample({2, 4, 3, 5}).to(tn::float32);
  const std::vector<double> values = rows.to_vector<double>();
  for (const tn::Device d : devices()) {
    const Tensor x = rows.to(d).contiguous("channels_last");
    const Strides last = {60, 1, 20, 4};
    for (const Tensor& y : {x, x.to(tn::float64), x.to(tn::float64).to(tn::float32), x.clone(),
                            x.to(tn::cpu), x.to(tn::cpu).to(d), x.to(d, tn::float64)}) {
      EXPECT_EQ(y.strides(), last);
      EXPECT_EQ(y.to_vector<double>(), values);
    }
    EXPECT_TRUE(x.contiguous().is_contiguous());
    EXPECT_EQ(x.contiguous().to_vector<double>(), values);
    // Another order, and no order of its own.
    const Tensor turned = rows.to(d).permute({3, 1, 0, 2});
    EXPECT_EQ(turned.to(tn::float64).strides(), turned.strides());
    EXPECT_EQ(turned.clone().strides(), turned.strides());
    EXPECT_EQ(turned.to(tn::float64).to_vector<double>(), turned.to_vector<double>());
    for (const Tensor& gaps : {turned.slice(0, 0, 5, 2), rows.to(d)[0].expand({2, 4, 3, 5})}) {
      EXPECT_TRUE(gaps.to(tn::float64).is_contiguous());
      EXPECT_EQ(gaps.to(tn::float64).to_vector<double>(), gaps.to_vector<double>());
    }
    // Along each dimension, with a gradient to write to what came.
    for (int64_t dim = 0; dim < 4; ++dim) {
      const auto run = [dim](const Tensor& t) {
        const Tensor leaf = t.detach().requires_grad_();
        const Tensor y = tn::cat({leaf, leaf * 2}, dim);
        const Tensor z = tn::relu_(y);
        z.backward(tn::ones_like(z) * z.detach());
        return std::pair{z.detach(), leaf.grad()};
      };
      const auto [y, gradient] = run(x);
      const auto [expected, its_gradient] = run(rows);
      EXPECT_TRUE(lies_channels_last(y)) << dim;
      EXPECT_EQ(y.to_vector<double>(), expected.to_vector<double>());
      EXPECT_EQ(gradient.to_vector<double>(), its_gradient.to_vector<double>());
    }
    EXPECT_TRUE(tn::cat({x, rows.to(d)}, 1).is_contiguous());
  }
}

TEST(ChannelsLast, NetworksUnderAutocastStaySo) {
  load_all();
  const Tensor last = sample({2, 4, 16, 12}).to(tn::float32).contiguous("channels_last");
  Tensor x = last.detach().requires_grad_(), y = x;
  const tn::Autocast autocast(tn::cpu, tn::bfloat16);
  bool has_kernel = true;
  for (const tn::Object& layer : layers()) {
    const uint64_t before = tn::counter("decompositions");
    y = layer(y);
    // What is made of products, where there is no convolution for bfloat16, is row-major.
    if (layer.type_name() == "Conv2d" && tn::counter("decompositions") != before) {
      has_kernel = false;
      y = y.contiguous("channels_last");
    }
    EXPECT_TRUE(lies_channels_last(y)) << layer.type_name();
    EXPECT_EQ(y.dtype(), tn::bfloat16) << layer.type_name();
  }
  y.backward(tn::ones_like(y));
  if (has_kernel) {
    EXPECT_TRUE(lies_channels_last(x.grad()));
  }
}

TEST(ChannelsLast, AKernelOfTheCpuGivesWhatItGot) {
  load_all();
  const Tensor rows = sample({2, 4, 16, 12}).to(tn::float32),
               last = rows.contiguous("channels_last");
  ASSERT_TRUE(lies_channels_last(last));
  // Without oneDNN (as under sanitizers) convolutions decompose, and give row-major images.
  const uint64_t before = tn::counter("decompositions");
  tn::conv2d(last, sample({6, 4, 3, 3}).to(tn::float32));
  const bool has_kernel = tn::counter("decompositions") == before;
  Tensor x = last.detach().requires_grad_(), y = x;
  const uint64_t copies = tn::counter("layout_copies");
  for (const tn::Object& layer : layers()) {
    y = layer(y);
    if (!has_kernel && layer.type_name() == "Conv2d") y = y.contiguous("channels_last");
    EXPECT_TRUE(lies_channels_last(y)) << layer.type_name();
  }
  EXPECT_EQ(tn::counter("layout_copies"), copies);
  Tensor expected_x = rows.detach().requires_grad_(), expected = expected_x;
  for (const tn::Object& layer : layers()) expected = layer(expected);
  EXPECT_TRUE(expected.is_contiguous());
  expect_near(y.detach(), expected.to_vector<double>(), 2e-6);
  // Backward, with gradients in the layout of the output and in the other.
  const Tensor g = sample({2, 5, 2, 1}, {}, 3).to(tn::float32);
  expected.backward(g);
  for (const Tensor& seed : {g, g.contiguous("channels_last")}) {
    y.backward(seed, /*retain_graph=*/true);
    if (has_kernel) {
      EXPECT_TRUE(lies_channels_last(x.grad()));
    }
    expect_near(x.grad(), expected_x.grad().to_vector<double>(), 2e-6);
    x.zero_grad();
  }
}

// Dense in a third order: the meaning, or a copy, but no wrong number.
TEST(ChannelsLast, OtherOrdersGiveTheSame) {
  load_all();
  const Tensor x = sample({3, 4, 6, 5}).to(tn::float32),
               weight = sample({5, 4, 3, 3}, {}, 2).to(tn::float32);
  for (const std::vector<int64_t>& order :
       std::vector<std::vector<int64_t>>{{1, 0, 2, 3}, {3, 2, 1, 0}, {0, 3, 1, 2}}) {
    std::vector<int64_t> back(4);
    for (size_t d = 0; d < 4; ++d) back[size_t(order[d])] = int64_t(d);
    const Tensor there = x.permute(order).contiguous().permute(back);
    const std::pair<const char*, std::function<Tensor(const Tensor&)>> calls[] = {
        {"conv2d", [&](const Tensor& t) { return tn::conv2d(t, weight, {.padding = 1}); }},
        {"max_pool2d", [](const Tensor& t) { return tn::max_pool2d(t, 2); }},
        {"avg_pool2d", [](const Tensor& t) { return tn::avg_pool2d(t, 2); }},
        {"batch_norm", [](const Tensor& t) { return tn::batch_norm(t, {.training = true}); }}};
    for (const auto& [name, f] : calls) {
      SCOPED_TRACE(name);
      Tensor a = x.detach().requires_grad_(), b = there.detach().requires_grad_();
      Tensor expected = f(a), y = f(b),
             g = sample({expected.sizes().begin(), expected.sizes().end()}, {}, 3).to(tn::float32);
      expect_near(y.detach(), expected.to_vector<double>(), 2e-6);
      expected.backward(g);
      y.backward(g);
      expect_near(b.grad(), a.grad().to_vector<double>(), 2e-6);
    }
  }
  // Without a batch there is no channels-last: dimension 1 is the height.
  const Tensor one = x.select(0, 0);
  const Tensor turned = one.transpose(1, 2).contiguous().transpose(1, 2);
  expect_near(tn::max_pool2d(turned, 2), tn::max_pool2d(one, 2).to_vector<double>(), 0);
  expect_near(tn::avg_pool2d(one.contiguous("channels_last"), 2),
              tn::avg_pool2d(one, 2).to_vector<double>(), 1e-6);
}

}  // namespace
