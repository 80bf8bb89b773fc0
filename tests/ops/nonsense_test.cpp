// Calls that would give a tensor of nonsense: each is refused, as PyTorch does, and says why.
#include <cmath>
#include <functional>
#include <vector>

#include "ops_support.h"

namespace {

struct Refused {
  std::function<void(tn::Device)> call;
  const char* message;
};

Tensor zeros_on(tn::Device d, std::vector<int64_t> sizes) {
  return tn::zeros(sizes, tn::float32, d);
}
Tensor indices(std::vector<int64_t> values, tn::Device d) { return Tensor::from(values, -1, d); }

// On every device, from sizes and options alone.
const Refused kBySizes[] = {
    // Windows over padding alone.
    {[](tn::Device d) {
       tn::max_pool1d(zeros_on(d, {1, 1, 0}), 2, {.stride = 1, .padding = 1});
     },
     "max_pool1d: x is [1, 1, 0], which has nothing to pool"},
    {[](tn::Device d) {
       tn::avg_pool2d(zeros_on(d, {1, 1, 2, 0}), 2, {.stride = 1, .padding = 1});
     },
     "avg_pool2d: x is [1, 1, 2, 0], which has nothing to pool"},
    {[](tn::Device d) {
       tn::avg_pool3d(zeros_on(d, {1, 1, 0, 2, 2}), 2, {.stride = 1, .padding = 1});
     },
     "avg_pool3d: x is [1, 1, 0, 2, 2], which has nothing to pool"},
    {[](tn::Device d) {
       tn::max_pool2d_with_indices(zeros_on(d, {1, 1, 0, 2}), 2, {.stride = 1, .padding = 1});
     },
     "max_pool2d_with_indices: x is [1, 1, 0, 2], which has nothing to pool"},
    {[](tn::Device d) {
       tn::conv1d(zeros_on(d, {1, 1, 4}), zeros_on(d, {1, 1, 0}));
     },
     "conv1d: x is [1, 1, 4], weight is [1, 1, 0]; expected at least one element in each dimension "
     "behind the channels"},
    {[](tn::Device d) {
       tn::conv2d(zeros_on(d, {1, 1, 2, 0}), zeros_on(d, {1, 1, 1, 1}), {.padding = 1});
     },
     "conv2d: x is [1, 1, 2, 0], weight is [1, 1, 1, 1]; expected at least one element"},
    {[](tn::Device d) {
       tn::conv_transpose1d(zeros_on(d, {1, 1, 0}), zeros_on(d, {1, 1, 3}));
     },
     "conv_transpose1d: x is [1, 1, 0], weight is [1, 1, 3]; expected at least one element"},
    {[](tn::Device d) { tn::quantile(zeros_on(d, {3}), 0.5, 0, false, ""); },
     "quantile: interpolation is '', expected 'linear'"},
    {[](tn::Device d) {
       tn::soft_margin_loss(zeros_on(d, {5}), zeros_on(d, {5, 1}));
     },
     "soft_margin_loss: target is [5, 1], expected sizes that broadcast to those of input, [5]"},
    {[](tn::Device d) {
       tn::margin_ranking_loss(zeros_on(d, {5}), zeros_on(d, {5}), zeros_on(d, {5, 1}));
     },
     "margin_ranking_loss: inputs are [5] and [5], target is [5, 1]; expected as many dimensions "
     "of each"},
    {[](tn::Device d) {
       tn::diff(zeros_on(d, {3, 3}), {.append = zeros_on(d, {0})});
     },
     "diff: x is [3, 3], append is [0]; expected its sizes but along dimension 1"},
    {[](tn::Device d) {
       tn::diff(zeros_on(d, {3, 3}), {.n = 0, .prepend = zeros_on(d, {7, 7})});
     },
     "diff: x is [3, 3], prepend is [7, 7]"},
    {[](tn::Device d) { zeros_on(d, {}).flatten(5, -7); }, "flatten: dimension 5 is out of range"},
    {[](tn::Device d) {
       zeros_on(d, {2}).index_fill(0, indices({1, 1}, d).reshape({1, 2}), 5);
     },
     "index_fill: index is [1, 2], expected at most 1 dimension"},
    {[](tn::Device d) {
       zeros_on(d, {}).index_copy(0, indices({0}, d), zeros_on(d, {1, 1}));
     },
     "index_copy: x is [], index is [1], source is [1, 1]; expected at most 1 dimension of these"},
    {[](tn::Device d) { tn::linspace(0, 300, 3, tn::uint8, d); },
     "linspace: end is 300, which is no uint8; expected -255 to 255"},
    {[](tn::Device d) { tn::linspace(NAN, 1, 2, tn::int64, d); },
     "linspace: start is nan, which is no int64"},
    {[](tn::Device d) { tn::arange(0, 1e300, 5e299, tn::int64, d); },
     "arange: the last element is 5e+299, which is no int64"},
    {[](tn::Device d) { tn::arange(NAN, 3.0, 1.0, tn::int64, d); }, "arange: "},
    {[](tn::Device d) { tn::repeat_interleave(zeros_on(d, {2}), zeros_on(d, {2})); },
     "repeat_interleave: repeats is float32, expected int64 or int32"},
};

// Where the host sees values.
const Refused kByValues[] = {
    {[](tn::Device) {
       tn::normal(tn::zeros({2}), tn::tensor({1, -0.5}));
     },
     "normal: an element of std is not at least 0"},
    {[](tn::Device) {
       tn::normal(tn::zeros({2}), tn::tensor({1, NAN}));
     },
     "normal: an element of std is not at least 0"},
    {[](tn::Device) {
       tn::binary_cross_entropy(tn::full({2}, 0.5), tn::tensor({1, 2.0}));
     },
     "binary_cross_entropy: an element of target is not within 0 to 1"},
    {[](tn::Device) {
       tn::multilabel_margin_loss(tn::zeros({3}), tn::tensor({1, -2, 0}));
     },
     "multilabel_margin_loss: an element of target is not a class, or -1 behind the last"},
    {[](tn::Device) {
       tn::masked_scatter(tn::zeros({3}), tn::tensor({true, true, true}), tn::ones({2}));
     },
     "masked_scatter: the mask has 3 places, source 2 elements; expected as many at least"},
};

TEST(Nonsense, IsRefused) {
  for (const tn::Device d : devices()) {
    for (const Refused& refused : kBySizes) expect_error([&] { refused.call(d); }, refused.message);
  }
  for (const Refused& refused : kByValues)
    expect_error([&] { refused.call(tn::cpu); }, refused.message);
}

// Similar calls that are valid still work. (-1 as uint8 is 255, as in PyTorch.)
TEST(Nonsense, LeavesWhatMakesSense) {
  for (const tn::Device d : devices()) {
    expect_sizes(tn::max_pool1d(zeros_on(d, {0, 1, 4}), 2), {0, 1, 2});
    expect_sizes(tn::conv1d(zeros_on(d, {0, 2, 4}), zeros_on(d, {3, 2, 2})), {0, 3, 3});
    expect_sizes(tn::linspace(-255, 255, 2, tn::uint8, d), {2});
    expect_near(tn::arange(0, 256, 255, tn::uint8, d), {0, 255}, 0);
    expect_near(tn::arange(200, 300, 50, tn::int8, d), {-56, -6}, 0);
    EXPECT_EQ(tn::arange(INT64_MAX - 1, INT64_MAX, 1, tn::int64, d).to_vector<int64_t>(),
              (std::vector<int64_t>{INT64_MAX - 1}));
    expect_sizes(tn::linspace(0, 300, 0, tn::uint8, d), {0});
    expect_sizes(tn::conv1d(zeros_on(d, {0, 1, 0}), zeros_on(d, {1, 1, 1}), {.padding = 1}),
                 {0, 1, 2});
    expect_sizes(zeros_on(d, {}).flatten(), {1});
    // Of nothing there are no running values.
    const Tensor mean = tn::full({2}, 3.0, tn::float32, d), var = tn::ones({2}, tn::float32, d);
    tn::instance_norm(zeros_on(d, {3, 2, 0}), mean, var, {}, {}, {.use_input_stats = true});
    expect_near(mean, {3, 3}, 0);
    expect_near(var, {1, 1}, 0);
  }
  EXPECT_EQ(tn::where(tn::full({}, true, tn::bool_)).size(), 1u);
  expect_near(tn::where(tn::full({}, true, tn::bool_))[0], {0}, 0);
}

}  // namespace
