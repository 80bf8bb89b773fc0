// Pieces, joins, places and scattered reductions: what they refuse, and gradients by differences.
// Their values are PyTorch's, in tests/data/torch_values_places.json.
#include "refusals.h"

namespace {

TEST(Pieces, SayWhatTheyRefuse) {
  expect_refusals({
      {[](tn::Device d) { tn::unbind(zeros_on(d, {})); }, "unbind: x has no dimensions"},
      {[](tn::Device d) { tn::unbind(zeros_on(d, {2}), 1); },
       "unbind: dimension 1 is out of range; expected -1 to 0"},
      {[](tn::Device d) { tn::tensor_split(zeros_on(d, {2}), 0); },
       "tensor_split: sections is 0, at least 1 is needed"},
      {[](tn::Device d) { tn::tensor_split(zeros_on(d, {}), 1); },
       "tensor_split: x has no dimensions"},
      {[](tn::Device d) { tn::tensor_split(zeros_on(d, {2}), int64_t{1} << 40); },
       "tensor_split: 1099511627776 pieces, at most 16777216 are made"},
      {[](tn::Device d) {
         tn::hsplit(zeros_on(d, {2, 5}), 2);
       },
       "hsplit: dimension 1 of size 5 is not divisible into 2 sections"},
      {[](tn::Device d) { tn::vsplit(zeros_on(d, {4}), 2); },
       "vsplit: x is [4], expected at least 2 dimensions"},
      {[](tn::Device d) {
         tn::dsplit(zeros_on(d, {4, 4}), 2);
       },
       "dsplit: x is [4, 4], expected at least 3 dimensions"},
      {[](tn::Device) { tn::hstack({}); }, "hstack: the list of tensors is empty"},
      {[](tn::Device d) {
         tn::block_diag({zeros_on(d, {1, 2, 3})});
       },
       "block_diag: tensor 0 is [1, 2, 3], expected at most 2 dimensions"},
      {[](tn::Device d) {
         tn::cartesian_prod({zeros_on(d, {2}), zeros_on(d, {2, 2})});
       },
       "cartesian_prod: tensor 1 is [2, 2], expected 1 dimension"},
      {[](tn::Device d) {
         tn::combinations(zeros_on(d, {2, 2}));
       },
       "combinations: 2 of x [2, 2], expected x with 1 dimension, and r of at least 0"},
      {[](tn::Device d) { tn::combinations(zeros_on(d, {100}), 50); },
       "combinations: 50 of 100 are more than 1073741824"},
      {[](tn::Device d) {
         tn::rot90(zeros_on(d, {2, 2}), 1, {0});
       },
       "rot90: dims are [0] for x of [2, 2], expected two different dimensions"},
      {[](tn::Device d) {
         tn::channel_shuffle(zeros_on(d, {1, 3, 2}), 2);
       },
       "channel_shuffle: x is [1, 3, 2] and groups 2; expected [n, channels, ..] with channels "
       "divisible by groups"},
  });
}

TEST(Places, SayWhatTheyRefuse) {
  expect_refusals({
      {[](tn::Device d) {
         tn::take_along_dim(zeros_on(d, {2, 3}), places_on(d, {3, 3}), 1);
       },
       "take_along_dim: x is [2, 3], indices are [3, 3]; expected as many dimensions, and sizes "
       "that broadcast except along dim"},
      {[](tn::Device d) { tn::take(zeros_on(d, {2}), zeros_on(d, {2})); },
       "take: index is float32, expected int64 or int32"},
      {[](tn::Device d) { tn::put(zeros_on(d, {2}), places_on(d, {2}), zeros_on(d, {3})); },
       "put: index is [2], source is [3]; expected as many elements"},
      {[](tn::Device d) { tn::put(zeros_on(d, {2}), places_on(d, {1}), places_on(d, {1})); },
       "put: source is int64, x is float32; expected one dtype"},
      {[](tn::Device d) {
         tn::index_copy(zeros_on(d, {2, 3}), 0, places_on(d, {2}), zeros_on(d, {2, 2}));
       },
       "index_copy: source is [2, 2], expected [2, 3], a part for each index"},
      {[](tn::Device d) {
         tn::index_fill(zeros_on(d, {2}), 0, places_on(d, {1}), zeros_on(d, {1}));
       },
       "index_fill: value is [1], expected a number or a tensor without dimensions"},
      {[](tn::Device d) {
         tn::masked_scatter(zeros_on(d, {2}), zeros_on(d, {2}), zeros_on(d, {2}));
       },
       "masked_scatter: mask is float32, expected bool"},
      {[](tn::Device d) {
         tn::masked_scatter(zeros_on(d, {2}), zeros_on(d, {3}) > 0, zeros_on(d, {2}));
       },
       "masked_scatter: the mask is [3], x is [2]; expected sizes that broadcast"},
      {[](tn::Device d) {
         tn::masked_scatter_(zeros_on(d, {2}), zeros_on(d, {3, 2}) > 0, zeros_on(d, {2}));
       },
       "masked_scatter_: the mask is [3, 2], x is [2]; expected sizes that broadcast to x"},
      {[](tn::Device d) {
         tn::scatter_reduce(zeros_on(d, {2}), 0, places_on(d, {2}), zeros_on(d, {2}), "most");
       },
       "scatter_reduce: reduce is 'most', expected sum, prod, mean, amax or amin"},
      {[](tn::Device d) {
         tn::scatter_reduce(zeros_on(d, {2}), 0, places_on(d, {3}), zeros_on(d, {2}), "prod");
       },
       "scatter_reduce: index is [3], src is [2], x is [2]; expected index to be no larger than "
       "src, nor than x except along dim"},
      {[](tn::Device d) {
         tn::index_reduce(zeros_on(d, {2}), 0, places_on(d, {2}), zeros_on(d, {2}), "sum");
       },
       "index_reduce: reduce is 'sum', expected prod, mean, amax or amin"},
      {[](tn::Device d) {
         tn::scatter_reduce(zeros_on(d, {2}) > 0, 0, places_on(d, {2}), zeros_on(d, {2}), "sum");
       },
       "scatter_reduce: x is bool, expected a number"},
  });
}

// More places than source has elements are refused where the elements are read.
TEST(Places, MaskedScatterWantsAnElementForEachPlace) {
  const Tensor x = tn::zeros({3}), mask = tn::ones({3}, tn::bool_);
  EXPECT_NE(message_of([&] { tn::masked_scatter(x, mask, tn::ones({2})); }), "no error");
  EXPECT_NE(message_of([&] { tn::masked_scatter(x, mask, tn::ones({0})); }), "no error");
  expect_near(tn::masked_scatter(x, mask.logical_not(), tn::ones({0})), {0, 0, 0});
}

TEST(Places, HaveTheGradientsOfDifferences) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor index = tn::tensor({int64_t{1}, int64_t{0}, int64_t{1}, int64_t{1}}, d);
    for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"}) {
      for (const bool include : {true, false}) {
        SCOPED_TRACE(std::string(reduce) + (include ? " with x" : ""));
        gradcheck(
            [&](const TensorList& in) {
              return tn::scatter_reduce(in[0], 0, index, in[1], reduce, include);
            },
            {sample({3}, d), sample({4}, d, 1.0)});
      }
    }
    gradcheck(
        [](const TensorList& in) {
          return tn::block_diag({in[0], in[1]});
        },
        {sample({2, 1}, d), sample({2}, d, 1.0)});
    gradcheck([](const TensorList& in) { return tn::combinations(in[0]); }, {sample({4}, d)});
    gradcheck([](const TensorList& in) { return tn::rot90(in[0], 3); }, {sample({2, 3}, d)});
    gradcheck([](const TensorList& in) { return tn::unbind(in[0] * in[0], 1)[1]; },
              {sample({2, 3}, d)});
  }
}

// An index without dimensions is one index; whole numbers keep their dtype where a dimension of 1
// meets a longer one.
TEST(Places, OneIndexNeedsNoDimension) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor zero = tn::tensor(0, d), x = tn::zeros({2}, {}, d), one = tn::ones({1}, {}, d);
    expect_near(tn::index_add(x, 0, zero, one), {1, 0});
    expect_near(tn::index_copy(x, 0, zero, one), {1, 0});
    const Tensor product = tn::tensordot(tn::ones({1, 1, 1}, tn::int32, d),
                                         tn::ones({2, 1, 2}, tn::int32, d), {0, 1}, {2, 0});
    EXPECT_EQ(product.dtype(), tn::int32);
    expect_near(product, {4});
  }
}

}  // namespace
