// Options of layers beyond those that are a method's arguments: padding by name, the size of a
// transposed convolution's output, indices of pools, weights of attention, padding of bags. Values
// are PyTorch's.
#include "ops_support.h"

namespace {

using namespace tn::nn;

Tensor row(std::vector<double> values, tn::Device d) {
  const auto n = int64_t(values.size());
  return tn::Tensor::from(values, {n}).to(tn::float32).to(d);
}
void set(const tn::Object& layer, const char* name, std::vector<double> values) {
  const Tensor t = layer.tensor(name).detach();
  t.copy_(row(std::move(values), t.device()).view(t.sizes()));
}
std::vector<int64_t> sizes_of(const Tensor& t) { return {t.sizes().begin(), t.sizes().end()}; }
using Pair = std::tuple<Tensor, Tensor>;

TEST(LayerOptions, ConvolutionsTakeTheirPaddingByName) {
  load_all();
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = row({1, 5, 2, 5, 3, 4, 0, 1, 7, 7, -1, 2}, d).view({1, 1, 3, 4});
    const tn::Object conv =
        Conv2d(1, 1, {3, 2}, {.padding = "same", .dilation = {2, 1}, .bias = false}).to(d);
    set(conv, "weight", {1, 2, 3, 4, 5, 6});
    expect_near(conv(x), {100, 52, 33, 25, 25, 12, 4, 3, 60, 26, 17, 11}, 1e-5);
    EXPECT_NE(conv.to_string().find("padding='same'"), std::string::npos) << conv.to_string();
    EXPECT_EQ(sizes_of(Conv1d(1, 1, 3, {.padding = "valid"})(tn::ones({1, 1, 5}))),
              (std::vector<int64_t>{1, 1, 3}));
    const tn::Object around =
        Conv1d(1, 1, 4, {.padding = "same", .bias = false, .padding_mode = "circular"}).to(d);
    set(around, "weight", {1, 10, 100, 1000});
    // One before, two behind: [4, 1, 2, 3, 4, 1, 2].
    expect_near(around(row({1, 2, 3, 4}, d).view({1, 1, 4})), {3214, 4321, 1432, 2143});
  }
  expect_error([] { Conv2d(1, 1, 3, {.stride = 2, .padding = "same"}); },
               "padding is 'same' and stride 2, expected a stride of 1");
  expect_error([] { Conv2d(1, 1, 3, {.padding = "full"}); },
               "padding is 'full', expected same, valid or numbers");
  expect_error([] { Conv2d(1, 1, 3, {.padding = {1, 2, 3}}); }, "padding");
}

TEST(LayerOptions, TransposedConvolutionsTakeTheSizeOfTheirOutput) {
  load_all();
  const tn::Object up = ConvTranspose2d(1, 1, 3, {.stride = 2, .padding = 1});
  const Tensor x = tn::ones({1, 1, 4, 4});
  EXPECT_EQ(sizes_of(up(x)), (std::vector<int64_t>{1, 1, 7, 7}));
  EXPECT_EQ(sizes_of(up(x, tn::Ints{8, 7})), (std::vector<int64_t>{1, 1, 8, 7}));
  EXPECT_EQ(sizes_of(up(x, tn::Ints{1, 1, 8, 8})), (std::vector<int64_t>{1, 1, 8, 8}));
  const Tensor padded = tn::conv_transpose2d(x, up.tensor("weight"), up.tensor("bias"),
                                             {.stride = 2, .padding = 1, .output_padding = {1, 0}});
  expect_near(up(x, tn::Ints{8, 7}), padded.to_vector<double>(), 1e-6);
  expect_error(
      [&] {
        up(x, tn::Ints{9, 7});
      },
      "output_size is 9 in dimension 0, expected 7 to 8 for x [1, 1, 4, 4]");
  expect_error([&] { up(x, tn::Ints{8}); }, "output_size has 1 numbers, expected 2 or 4");
}

TEST(LayerOptions, PoolsGiveIndices) {
  load_all();
  const tn::Object pool = MaxPool2d(2, {.stride = 1, .return_indices = true});
  const auto [values, indices] = pool.invoke<Pair>(
      "forward", row({1, 5, 2, 5, 3, 4, 0, 1, 7, 7, -1, 2}, {}).view({1, 1, 3, 4}));
  expect_near(values, {5, 5, 5, 7, 7, 2}, 0);
  expect_near(indices, {1, 1, 3, 8, 9, 11}, 0);
}

TEST(LayerOptions, AttentionGivesItsWeights) {
  load_all();
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor q = row({1, 0, 0, 2, 1, 1}, d).view({1, 3, 2});
    const auto made = [&](int64_t heads) {
      const tn::Object a = MultiheadAttention(2, heads, {.bias = false, .batch_first = true}).to(d);
      set(a, "in_proj_weight", {1, 0, 0, 1, 0.5, 0, 0, 0.5, 1, 1, 1, -1});
      const Tensor out = a.child("out_proj").tensor("weight").detach();
      out.copy_(row({1, 0, 0, 1}, d).view({2, 2}));
      return a;
    };
    const auto with_weights = [](const tn::Object& a, const auto&... args) {
      return a.invoke<Pair>("forward_with_weights", args...);
    };
    const tn::Object one = made(1), two = made(2);
    const auto [y, weights] = with_weights(one, q, q, q);
    expect_near(y, {1.62992954, -0.14964795, 1.85997081, -1.01192141, 1.74014080, -0.48028162},
                1e-5);
    expect_near(weights,
                {0.37007040, 0.25985917, 0.37007040, 0.14002925, 0.57597536, 0.28399542, 0.25985917,
                 0.37007040, 0.37007040},
                1e-5);
    expect_near(one(q, q, q), y.to_vector<double>(), 1e-5);
    const auto [causal, below] = with_weights(one, q, q, q, tn::none, tn::none, true, true);
    expect_near(causal, {1, 1, 1.80442977, -1.41328907, 1.74014080, -0.48028162}, 1e-5);
    expect_near(below, {1, 0, 0, 0.19557032, 0.80442971, 0, 0.25985917, 0.37007040, 0.37007040},
                1e-5);
    const auto [each, by_head] = with_weights(two, q, q, q, tn::none, tn::none, false);
    EXPECT_EQ(sizes_of(by_head), (std::vector<int64_t>{1, 2, 3, 3}));
    expect_near(each, {1.61634827, -1 / 3.0, 5 / 3.0, -1.24045122, 1.61634827, -0.82663703}, 1e-5);
    const auto [averaged, mean] = with_weights(two, q.view({3, 2}), q.view({3, 2}), q.view({3, 2}));
    EXPECT_EQ(sizes_of(mean), (std::vector<int64_t>{3, 3}));
    expect_near(mean,
                {0.35849255, 0.28301495, 0.35849255, 0.21168196, 0.49928713, 0.28903091, 0.28498775,
                 0.36958846, 0.34542382},
                1e-5);
    // Nothing to look at: weights of 0, as forward has it.
    const Tensor nothing = tn::ones({3, 3}, tn::bool_, d);
    const auto [zero, none] = with_weights(one, q, q, q, tn::none, nothing);
    expect_near(zero, {0, 0, 0, 0, 0, 0}, 0);
    expect_near(none, {0, 0, 0, 0, 0, 0, 0, 0, 0}, 0);
  }
}

TEST(LayerOptions, BagsHaveAPaddingIndexAndALastOffset) {
  load_all();
  const tn::Object bag = EmbeddingBag(4, 2, {.mode = "sum", .padding_idx = -1});
  expect_near(bag.tensor("weight")[3], {0, 0}, 0);
  set(bag, "weight", {1, 2, 3, -1, 5, 0, -2, 4});
  expect_near(bag(tn::tensor({int64_t(3), int64_t(1)}).view({1, 2})), {3, -1}, 0);
  const tn::Object last = EmbeddingBag(4, 2, {.mode = "sum", .include_last_offset = true});
  set(last, "weight", {1, 2, 3, -1, 5, 0, -2, 4});
  expect_near(last(tn::tensor({int64_t(0), int64_t(1), int64_t(3)}),
                   tn::tensor({int64_t(0), int64_t(2), int64_t(3)})),
              {4, 1, -2, 4}, 0);
  expect_error([] { EmbeddingBag(3, 2, {.padding_idx = 3}); },
               "padding_idx is 3, expected one of the 3 embeddings");
}

}  // namespace
