// Indexing by tensors.
#include "ops_support.h"

namespace {

Tensor indices(std::vector<int64_t> values, std::vector<int64_t> sizes, tn::Device d) {
  return Tensor::from(values, sizes, d);
}

TEST(Index, Values) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}, d);
    expect_near(tn::gather(x, 1, indices({2, 0, 1, 1}, {2, 2}, d)), {3, 1, 5, 5});
    expect_near(tn::gather(x, 0, indices({1, 0, 1}, {1, 3}, d)), {4, 2, 6});
    expect_near(tn::scatter(x, 1, indices({2, 0}, {2, 1}, d), tn::tensor({{9.f}, {8.f}}, d)),
                {1, 2, 9, 8, 5, 6});
    expect_near(tn::scatter(x, 1, indices({1, 1, 0, 2}, {2, 2}, d), tn::ones({2, 2}, {}, d), true),
                {1, 4, 3, 5, 5, 7});
    expect_near(x, {1, 2, 3, 4, 5, 6});
    Tensor rows = tn::embedding(x, indices({1, 0, 1, 1}, {2, 2}, d));
    expect_sizes(rows, {2, 2, 3});
    expect_near(rows, {4, 5, 6, 1, 2, 3, 4, 5, 6, 4, 5, 6});
    expect_sizes(tn::embedding(x, indices({}, {0}, d)), {0, 3});
    expect_near(tn::one_hot(indices({2, 0}, {2}, d), 3), {0, 0, 1, 1, 0, 0});
    EXPECT_EQ(tn::one_hot(indices({2, 0}, {2}, d), 3).dtype(), tn::int64);
    Tensor found = tn::nonzero(tn::tensor({{0.f, 2.f}, {3.f, 0.f}}, d));
    expect_sizes(found, {2, 2});
    expect_near(found, {0, 1, 1, 0});
    expect_sizes(tn::nonzero(tn::zeros({3}, {}, d)), {0, 1});
  }
}

// PyTorch's values for x = 0 .. 11 as [2, 3, 2].
struct Row {
  const char* name;
  std::function<Tensor(const Tensor&)> op;
  std::vector<double> values;
  std::vector<int64_t> sizes;
};
std::vector<Row> rows(tn::Device d) {
  Tensor two = indices({1, -1}, {2}, d), turned = indices({1, 0}, {2}, d),
         pair = indices({0, 2}, {2, 1}, d), ones = tn::ones({2}, tn::float64, d);
  Tensor mask = tn::tensor<int>({{1, 0, 1}, {0, 0, 1}}, d).to(tn::bool_),
         last = tn::tensor({false, true}, d);
  return {
      {"index",
       [=](const Tensor& x) { return tn::index(x, {two}); },
       {6, 7, 8, 9, 10, 11, 6, 7, 8, 9, 10, 11},
       {2, 3, 2}},
      {"index inside",
       [=](const Tensor& x) {
         return tn::index(x, {{}, two});
       },
       {2, 3, 4, 5, 8, 9, 10, 11},
       {2, 2, 2}},
      {"index two",
       [=](const Tensor& x) {
         return tn::index(x, {two, pair});
       },
       {6, 7, 6, 7, 10, 11, 10, 11},
       {2, 2, 2}},
      {"index apart",
       [=](const Tensor& x) {
         return tn::index(x, {two, {}, indices({0}, {1}, d)});
       },
       {6, 8, 10, 6, 8, 10},
       {2, 3}},
      {"index the last two",
       [=](const Tensor& x) {
         return tn::index(x, {{}, pair, two});
       },
       {1, 1, 5, 5, 7, 7, 11, 11},
       {2, 2, 2}},
      {"index all",
       [=](const Tensor& x) {
         return tn::index(x, {two, two, two});
       },
       {9, 11},
       {2}},
      {"index by a mask",
       [=](const Tensor& x) { return tn::index(x, {mask}); },
       {0, 1, 4, 5, 10, 11},
       {3, 2}},
      {"index by a mask behind",
       [=](const Tensor& x) {
         return tn::index(x, {{}, {}, last});
       },
       {1, 3, 5, 7, 9, 11},
       {2, 3, 1}},
      {"index by both",
       [=](const Tensor& x) {
         return tn::index(x, {mask, indices({1}, {1}, d)});
       },
       {1, 5, 11},
       {3}},
      {"index by nothing",
       [=](const Tensor& x) { return tn::index(x, {indices({}, {0}, d)}); },
       {},
       {0, 3, 2}},
      {"index_select",
       [=](const Tensor& x) {
         return tn::index_select(x, 1, indices({2, 0, 2}, {3}, d));
       },
       {4, 5, 0, 1, 4, 5, 10, 11, 6, 7, 10, 11},
       {2, 3, 2}},
      {"index_put",
       [=](const Tensor& x) {
         return tn::index_put(x, {{}, two.slice(0, 0, 1)}, tn::full({1}, -1.0, x.dtype(), d));
       },
       {0, 1, -1, -1, 4, 5, 6, 7, -1, -1, 10, 11},
       {2, 3, 2}},
      {"index_put adding",
       [=](const Tensor& x) {
         return tn::index_put(x, {two, {}, two}, ones.unsqueeze(1).to(x.dtype()), true);
       },
       {0, 1, 2, 3, 4, 5, 6, 9, 8, 11, 10, 13},
       {2, 3, 2}},
      {"index_put by a mask",
       [=](const Tensor& x) { return tn::index_put(x, {mask}, x[0]); },
       {0, 1, 2, 3, 2, 3, 6, 7, 8, 9, 4, 5},
       {2, 3, 2}},
      {"index_put of the last two",
       [=](const Tensor& x) {
         return tn::index_put(x, {{}, pair, turned}, x.select(1, 1).unsqueeze(1));
       },
       {3, 2, 2, 3, 3, 2, 9, 8, 8, 9, 9, 8},
       {2, 3, 2}},
      {"masked_select",
       [=](const Tensor& x) { return tn::masked_select(x, last); },
       {1, 3, 5, 7, 9, 11},
       {6}},
      {"masked_select of a row",
       [=](const Tensor& x) {
         return tn::masked_select(x[0][0], tn::ones({2, 1}, tn::bool_, d));
       },
       {0, 1, 0, 1},
       {4}},
      {"scatter_add",
       [=](const Tensor& x) {
         return tn::scatter_add(x[0], 0, indices({2, 2}, {2, 1}, d),
                                x[1].slice(0, 1).slice(1, 0, 1));
       },
       {0, 1, 2, 3, 22, 5},
       {3, 2}},
      {"index_add",
       [=](const Tensor& x) {
         return tn::index_add(x[0], 0, indices({2, 2}, {2}, d), x[1].slice(0, 1), 0.5);
       },
       {0, 1, 2, 3, 13, 15},
       {3, 2}},
      {"embedding_bag",
       [=](const Tensor& x) {
         return tn::embedding_bag(x[0], indices({2, 0, 1, 1}, {2, 2}, d));
       },
       {2, 3, 2, 3},
       {2, 2}},
      {"embedding_bag max",
       [=](const Tensor& x) {
         return tn::embedding_bag(x[1], indices({2, 0, 1, 0}, {2, 2}, d), {.mode = "max"});
       },
       {10, 11, 8, 9},
       {2, 2}},
      {"embedding_bag weighted",
       [=](const Tensor& x) {
         return tn::embedding_bag(
             x[0], indices({2, 0}, {1, 2}, d),
             {.mode = "sum", .per_sample_weights = tn::full({1, 2}, 2.0, x.dtype(), d)});
       },
       {8, 12},
       {1, 2}},
      {"embedding_bag from offsets",
       [=](const Tensor& x) {
         return tn::embedding_bag(x[0], indices({2, 0, 1, 1, 2}, {5}, d),
                                  indices({0, 2, 2, 5}, {4}, d), {.mode = "sum"});
       },
       {4, 6, 0, 0, 8, 11, 0, 0},
       {4, 2}},
      {"embedding_bag mean",
       [=](const Tensor& x) {
         return tn::embedding_bag(x[0], indices({2, 0, 1}, {3}, d), indices({0, 2, 3}, {3}, d));
       },
       {2, 3, 2, 3, 0, 0},
       {3, 2}},
      {"embedding_bag max of each",
       [=](const Tensor& x) {
         return tn::embedding_bag(x[1], indices({2, 0, 1, 0, 1}, {5}, d),
                                  indices({0, 1, 1}, {3}, d), {.mode = "max"});
       },
       {10, 11, 0, 0, 8, 9},
       {3, 2}},
  };
}

TEST(Index, EachOpHasPyTorchsValuesAndGradient) {
  for (tn::Device d : devices()) {
    Tensor x = tn::arange(0, 12, 1, tn::float64, d).view({2, 3, 2});
    for (const Row& row : rows(d)) {
      SCOPED_TRACE(d.name() + " " + row.name);
      expect_near(row.op(x), row.values, 1e-12);
      expect_sizes(row.op(x), row.sizes);
      expect_near(row.op(x.permute({2, 0, 1}).contiguous().permute({1, 2, 0}).to(tn::float32)),
                  row.values);
      gradcheck([&](const TensorList& in) { return tn::square(row.op(in[0])) + in[0].sum(); },
                {sample({2, 3, 2}, d)});
    }
  }
}

TEST(Index, PickedIndicesOutOfRangeAreRefused) {
  for (tn::Device d : devices()) {  // devices say so when they are waited for
    SCOPED_TRACE(d.name());
    Tensor x = tn::zeros({2, 3}, {}, d);
    for (int64_t outside : {int64_t(3), int64_t(-4), int64_t(100), INT64_MIN}) {
      Tensor i = indices({outside}, {1}, d), fine = indices({1}, {1}, d);
      expect_error([&] { tn::index(x, {fine, i}).to_vector<float>(); }, "out of range");
      expect_error([&] { tn::index(x, {i, fine}).to_vector<float>(); }, "out of range");
      expect_error([&] { tn::index(x, {i}).to_vector<float>(); },
                   "index " + std::to_string(outside));
      expect_error(
          [&] {
            tn::index_put(x, {{}, i}, tn::ones({1}, {}, d)).to_vector<float>();
          },
          "index " + std::to_string(outside));
    }
    expect_error(
        [&] {
          tn::index(tn::zeros({0, 3}, {}, d), {indices({0}, {1}, d)}).to_vector<float>();
        },
        "index 0");
    Tensor weight = tn::ones({4, 2}, {}, d);
    expect_error([&] { tn::embedding(weight, indices({1}, {1}, d), 4); },
                 "embedding: padding_idx is 4, expected -4 to 3");
    expect_error([&] { tn::embedding(weight, indices({1}, {1}, d), -5); }, "padding_idx is -5");
    expect_error([&] { tn::index_select(x, 0, indices({-1}, {1}, d)).to_vector<float>(); },
                 "index -1");
    expect_error(
        [&] {
          tn::embedding_bag(x, indices({0}, {1}, d), indices({1}, {1}, d)).to_vector<float>();
        },
        d.is_cpu() ? "embedding_bag: offsets[0] is 1, expected 0" : "index -1");
  }
}

// As PyTorch: what names no element fits, whatever its shape is.
TEST(Index, OfNothingMayHaveAnyShape) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = Tensor::from(std::vector<double>{1, 2, 3}, {3}).to(d).requires_grad_(),
           none = indices({}, {2, 0}, d);
    Tensor y = tn::gather(x, 0, none);
    expect_sizes(y, {2, 0});
    y.sum().backward();
    expect_near(x.grad(), {0, 0, 0});
    for (const bool add : {false, true})
      expect_near(tn::scatter(x, 0, none, tn::zeros({2, 0}, tn::float64, d), add), {1, 2, 3});
  }
}

TEST(Index, Gradients) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = sample({3, 2}, d), at = indices({1, 0, 1, 1}, {2, 2}, d);
    gradcheck([&](const TensorList& in) { return tn::square(tn::gather(in[0], 0, at)); }, {x});
    gradcheck(
        [&](const TensorList& in) { return tn::square(tn::scatter(in[0], 0, at, in[1], true)); },
        {x, sample({2, 2}, d, 1)});
    gradcheck([&](const TensorList& in) { return tn::square(tn::embedding(in[0], at)); }, {x});
    Tensor once = indices({2, 0}, {1, 2}, d);
    gradcheck([&](const TensorList& in) { return tn::square(tn::scatter(in[0], 0, once, in[1])); },
              {x, sample({1, 2}, d, 1)});
  }
}

// PyTorch 2.15 fills under a mask, whatever the rank of the value; what it indexes otherwise, it
// refuses.
TEST(Index, PutUnderOneMaskTakesAValueOfAnyRank) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = tn::tensor({1.f, 2.f, 3.f, 4.f, 5.f}, d),
                 mask = tn::tensor({1, 0, 1, 1, 0}, d).to(tn::bool_);
    const Tensor grid = tn::zeros({2, 3}, {}, d), row = tn::tensor({1, 0}, d).to(tn::bool_),
                 at = indices({0, 2, 3}, {3}, d);
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{}, {1}, {1, 1}, {1, 1, 1}, {1, 1, 1, 1}}) {
      const Tensor seven = tn::full(sizes, 7, tn::float32, d);
      expect_near(tn::index_put(x, {mask}, seven), {7, 2, 7, 7, 5});
      expect_near(tn::index_put(x, {mask.to(tn::uint8)}, seven), {7, 2, 7, 7, 5});
      expect_near(tn::index_put_(x.clone(), {mask}, seven), {7, 2, 7, 7, 5});
      expect_near(tn::index_put(grid, {row}, seven), {7, 7, 7, 0, 0, 0});
      expect_near(tn::index_put(grid, {{}, tn::tensor({0, 0, 1}, d).to(tn::bool_)}, seven),
                  {0, 0, 7, 0, 0, 7});
      const Tensor y = x.clone();
      y[mask] = seven;
      y.index_put_({mask}, seven);
      expect_near(y, {7, 2, 7, 7, 5});
      if (sizes.size() < 2) continue;
      expect_error([&] { tn::index_put(x, {mask}, seven, true); }, "the indices pick [3]");
      expect_error([&] { tn::index_put(x, {at}, seven); }, "the indices pick [3]");
    }
    gradcheck([&](const TensorList& in) { return tn::square(tn::index_put(in[0], {mask}, in[1])); },
              {sample({5}, d), sample({1, 1}, d, 0.7)});
    expect_error(
        [&] {
          tn::index_put(x, {mask}, tn::ones({1, 3}, {}, d));
        },
        "index_put: values are [1, 3], the indices pick [3]");
  }
}

TEST(Index, ErrorsInPlaceNameTheOpOnce) {
  const Tensor x = tn::zeros({2, 3}), one = indices({1}, {1}, {});
  expect_error([&] { tn::index_put_(x, {one}, tn::ones({3}, tn::float64)); },
               "index_put_: values are float64, x is float32");
  expect_error([&] { tn::index_put_(x, {one}, tn::ones({2})); },
               "index_put_: [1, 3] and [2] do not broadcast");
  expect_error([&] { tn::index_put_(x, {tn::ones({1})}, x); }, "index_put_: index 0 is float32");
  try {
    tn::index_put_(x, {one}, tn::ones({2}));
  } catch (const tn::Error& error) {
    EXPECT_EQ(std::string(error.what()).find("index_put:"), std::string::npos) << error.what();
  }
}

TEST(Index, Errors) {
  Tensor x = tn::zeros({2, 3});
  expect_error([&] { tn::gather(x, 1, tn::zeros({2, 2})); }, "int64");
  expect_error([&] { tn::gather(x, 1, indices({5, 0}, {2, 1}, {})); }, "5");
  expect_error([&] { tn::embedding(x, tn::zeros({2})); },
               "embedding: index is float32, expected int64");
  expect_error([&] { tn::embedding(x, indices({2}, {1}, {})); }, "2");
  expect_error([&] { tn::one_hot(indices({2}, {1}, {}), 0); }, "at least 1");
  Tensor one = indices({1}, {1}, {});
  expect_error([&] { tn::index(x, {one, one, one}); }, "index: 3 indices for x of 2 dimensions");
  expect_error([&] { tn::index(x, {{}, {}}); }, "index: no index is given");
  expect_error([&] { tn::index(x, {tn::zeros({2})}); },
               "index: index 0 is float32, expected int64 or int32, or a mask of bool or uint8");
  expect_error(
      [&] {
        tn::index(x, {{}, tn::tensor({true, false})});
      },
      "index: the mask is [2], x is [2, 3]; expected its sizes from dimension 1");
  expect_error(
      [&] {
        tn::index(x, {indices({0, 1}, {2}, {}), indices({0, 1, 0}, {3}, {})});
      },
      "index: [2] and [3] do not broadcast");
  expect_error([&] { tn::index_put(x, {one}, tn::ones({2})); },
               "index_put: [1, 3] and [2] do not broadcast");
  expect_error(
      [&] {
        tn::index_put(x, {one}, tn::ones({2, 1, 3}));
      },
      "index_put: values are [2, 1, 3], the indices pick [1, 3]");
  expect_error([&] { tn::index_put(x, {one}, tn::ones({3}, tn::float64)); },
               "index_put: values are float64, x is float32");
  expect_error([&] { tn::index_select(x, 0, tn::zeros({2})); }, "index_select: index is float32");
  expect_error(
      [&] {
        tn::index_select(x, 0, indices({0}, {1, 1}, {}));
      },
      "index_select: index is [1, 1]");
  expect_error([&] { tn::masked_select(x, tn::zeros({3})); },
               "masked_select: mask is float32, expected bool");
  expect_error(
      [&] {
        tn::masked_select(x, tn::tensor({true, false}));
      },
      "masked_select: [2, 3] and [2] do not broadcast");
  expect_error([&] { tn::embedding_bag(x, one); },
               "embedding_bag: index is [1], expected 2 dimensions, or 1 with offsets");
  expect_error([&] { tn::embedding_bag(x, one, one, {.mode = "median"}); },
               "embedding_bag: mode is 'median'");
  expect_error([&] { tn::embedding_bag(x, one, tn::zeros({1})); },
               "embedding_bag: offsets is float32");
  expect_error([&] { tn::embedding_bag(x, one, one, {.per_sample_weights = tn::ones({1})}); },
               "with mode 'mean', expected index's sizes and mode 'sum'");
  for (tn::Device d : devices()) {  // devices say so when they are waited for
    for (int64_t outside : {int64_t(7), int64_t(-1), int64_t(3)}) {
      expect_error(
          [&] {
            tn::one_hot(indices({0, outside}, {2}, d), 3).to_vector<int64_t>();
          },
          "index " + std::to_string(outside));
    }
  }
}

TEST(Index, OneHotCountsItsClassesItself) {
  for (tn::Device d : devices()) {
    expect_sizes(tn::one_hot(indices({2, 0}, {2}, d)), {2, 3});
    expect_near(tn::one_hot(indices({2, 0}, {2}, d)), {0, 0, 1, 1, 0, 0}, 0);
    expect_error([&] { tn::one_hot(indices({2, -1}, {2}, d)); }, "one_hot: an index is negative");
    expect_error([&] { tn::one_hot(tn::zeros({0}, tn::int64, d)); },
                 "one_hot: index is [0], from which num_classes does not follow");
    expect_error([&] { tn::one_hot(indices({1}, {1}, d), -2); },
                 "one_hot: num_classes is -2, expected at least 1, or -1");
  }
  EXPECT_THROW(tn::one_hot(tn::zeros({2}, tn::int64, tn::meta)), tn::Error);
}

TEST(Index, ScatterRefusesASrcThatTheIndexReachesBeyond) {
  const Tensor x = tn::zeros({3, 4});
  const Tensor index = indices({0, 1, 2, 0}, {2, 2}, {});
  expect_error(
      [&] {
        tn::scatter(x, 1, index, tn::ones({2, 1}));
      },
      "scatter: src is [2, 1], index is [2, 2]; expected src to be as large along each dimension");
  expect_error([&] { tn::scatter_add(x, 1, index, tn::ones({4})); },
               "scatter_add: src is [4], index is [2, 2]");
}

// The gradient goes to the part of src that was read.
TEST(Index, ScatterReadsThePartOfALargerSrcThatTheIndexCovers) {
  for (tn::Device d : devices()) {
    for (bool add : {false, true}) {
      Tensor x = tn::ones({2, 3}, tn::float64, d).requires_grad_(),
             src = sample({2, 4}, d).requires_grad_();
      const Tensor y = tn::scatter(x, 1, indices({2, 0}, {1, 2}, d), src, add), full = src.detach();
      const double base = add ? 1 : 0;
      expect_near(
          y, {base + full.to_vector<double>()[1], 1, base + full.to_vector<double>()[0], 1, 1, 1});
      (y * float64_tensor({1, 2, 3, 4, 5, 6}, {2, 3}, d)).sum().backward();
      expect_near(src.grad(), {3, 1, 0, 0, 0, 0, 0, 0});
      expect_near(x.grad(), {base, 2, 3 * base, 4, 5, 6});
    }
  }
}

// A number under a mask of leading, trailing or all dimensions, without a look at how many there are.
TEST(Index, FillsUnderAMask) {
  for (tn::Device d : devices()) {
    const Tensor x = sample({2, 3, 4}, d), whole = x > 0, first = x.select(2, 0).select(1, 0) > 0,
                 last = x.select(0, 0).select(0, 0) > 0;
    const Tensor filled = tn::where(whole, tn::full_like(x, 7), x);
    Tensor y = x.clone();
    y[whole] = 7;
    EXPECT_TRUE(y.equal(filled));
    EXPECT_TRUE(
        tn::index_put(x, {whole.to(tn::uint8)}, tn::full({1}, 7, tn::float64, d)).equal(filled));
    y = x.clone();
    y[first] = 7;
    EXPECT_TRUE(y.equal(tn::where(first.view({2, 1, 1}), tn::full_like(x, 7), x)));
    const Tensor value = tn::tensor(7.0, d).to(tn::float64).requires_grad_();
    const Tensor leaf = x.clone().requires_grad_();
    const Tensor z = tn::index_put(leaf, {Tensor(), Tensor(), last}, value);
    EXPECT_TRUE(z.detach().equal(tn::where(last, tn::full_like(x, 7), x)));
    z.sum().backward();
    expect_near(value.grad(), {6.0 * last.sum().to(tn::float64).item<double>()});
    EXPECT_TRUE(leaf.grad().equal((~last).to(tn::float64).expand({2, 3, 4})));
    expect_error([&] { tn::index_put(x, {tn::ones({3}, tn::bool_, d)}, value.detach()); }, "mask");
  }
}

}  // namespace
