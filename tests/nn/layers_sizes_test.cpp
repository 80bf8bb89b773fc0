// Layers of which a size is 0, as PyTorch makes them: parameters without elements, and results that
// are empty or made of the bias alone.
#include "ops_support.h"

namespace {

using namespace tn::nn;

TEST(LayersOfNoSize, Linear) {
  load_all();
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const tn::Object from_none = Linear(0, 3).to(d);
    EXPECT_EQ(from_none.tensor("bias").to_vector<float>(), (std::vector<float>{0, 0, 0}));
    from_none.tensor("bias").detach().copy_(tn::tensor({1.f, 2.f, 3.f}, d));
    const Tensor x = tn::zeros({2, 0}, {}, d).requires_grad_();
    const Tensor y = from_none(x);
    expect_near(y, {1, 2, 3, 1, 2, 3});
    y.sum().backward();
    expect_near(from_none.tensor("bias").grad(), {2, 2, 2});
    expect_sizes(from_none.tensor("weight").grad(), {3, 0});
    expect_sizes(x.grad(), {2, 0});
    expect_near(Linear(0, 3, false).to(d)(x), std::vector<double>(6, 0));
    const tn::Object to_none = Linear(3, 0).to(d);
    const Tensor z = tn::ones({2, 3}, {}, d).requires_grad_();
    expect_sizes(to_none(z), {2, 0});
    to_none(z).sum().backward();
    expect_near(z.grad(), std::vector<double>(6, 0));
    expect_sizes(Linear(0, 0).to(d)(x), {2, 0});
    expect_sizes(Bilinear(2, 2, 0).to(d)(tn::ones({1, 2}, {}, d), tn::ones({1, 2}, {}, d)), {1, 0});
    expect_near(Bilinear(2, 0, 3, false).to(d)(tn::ones({1, 2}, {}, d), tn::ones({1, 0}, {}, d)),
                {0, 0, 0});
  }
}

TEST(LayersOfNoSize, Convolution) {
  load_all();
  const tn::Object from_none = Conv2d(0, 4, 1);
  expect_sizes(from_none.tensor("weight"), {4, 0, 1, 1});
  EXPECT_EQ(from_none.tensor("bias").to_vector<float>(), std::vector<float>(4, 0));
  expect_sizes(Conv2d(4, 0, 3).tensor("weight"), {0, 4, 3, 3});
  expect_sizes(ConvTranspose1d(0, 4, 1).tensor("weight"), {0, 4, 1});
  expect_error([] { Conv2d(-1, 4, 1); }, "in_channels is -1, expected 0 or more");
}

TEST(LayersOfNoSize, Embedding) {
  load_all();
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor none = tn::zeros({0}, tn::int64, d), one = tn::tensor({1}, d);
    expect_sizes(Embedding(0, 3).to(d)(none), {0, 3});
    expect_sizes(Embedding(0, 0).to(d)(none), {0, 0});
    expect_sizes(Embedding(3, 0).to(d)(one), {1, 0});
    expect_sizes(EmbeddingBag(3, 0).to(d)(one, one * 0), {1, 0});
    expect_sizes(EmbeddingBag(0, 3).to(d)(none, none), {0, 3});
  }
}

TEST(LayersOfNoSize, AdaptivePools) {
  load_all();
  for (tn::Device d : devices()) {
    const Tensor x = tn::ones({1, 2, 3, 3}, {}, d);
    expect_sizes(AdaptiveAvgPool2d(0)(x), {1, 2, 0, 0});
    expect_sizes(AdaptiveMaxPool2d({0, 2})(x), {1, 2, 0, 2});
  }
}

TEST(LayersOfNoSize, Norms) {
  load_all();
  for (tn::Device d : devices()) {
    const Tensor x = tn::ones({2, 0}, {}, d);
    expect_sizes(LayerNorm({0}).to(d)(x), {2, 0});
    expect_sizes(RMSNorm({0}).to(d)(x), {2, 0});
  }
}

TEST(LayersOfNoSize, NegativeSizesAreRefused) {
  load_all();
  expect_error([] { LayerNorm({-1}); }, "normalized_shape is -1, expected 0 or more");
  expect_error([] { Linear(3, -1); }, "out_features is -1, expected 0 or more");
  expect_error([] { Bilinear(1, -1, 1); }, "in2_features is -1, expected 0 or more");
  expect_error([] { Bilinear(1, 1, -1); }, "out_features is -1, expected 0 or more");
  expect_error([] { Embedding(2, -1); }, "embedding_dim is -1, expected 0 or more");
  expect_error([] { EmbeddingBag(-1, 2); }, "num_embeddings is -1, expected 0 or more");
  expect_error([] { AdaptiveAvgPool2d(-2); },
               "output_size is [-2], expected one or 2 numbers of at least 0");
}

}  // namespace
