// New tensors.
#include "ops_support.h"

namespace {

TEST(Create, ValuesAndDtypes) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    expect_near(tn::zeros({2, 2}, {}, d), {0, 0, 0, 0});
    EXPECT_EQ(tn::zeros({1}).dtype(), tn::float32);
    expect_near(tn::ones({3}, tn::int64, d), {1, 1, 1});
    expect_near(tn::full({2}, 2.5, {}, d), {2.5, 2.5});
    EXPECT_EQ(tn::full({2}, 3, {}, d).dtype(), tn::int64);
    EXPECT_EQ(tn::full({2}, true, {}, d).dtype(), tn::bool_);
    expect_near(tn::full({2}, 1.5, tn::float16, d), {1.5, 1.5});
    expect_near(tn::arange(5), {0, 1, 2, 3, 4});
    expect_near(tn::arange(2, 9, 3, {}, d), {2, 5, 8});
    expect_near(tn::arange(false, true, 1, {}, d), {0});  // as PyTorch, whole numbers
    EXPECT_EQ(tn::arange(false, true, 1, {}, d).dtype(), tn::int64);
    expect_near(tn::arange(3, 0, -1, {}, d), {3, 2, 1});
    expect_near(tn::arange(0, 1, 0.25, {}, d), {0, 0.25, 0.5, 0.75});
    // PyTorch's values: an integer dtype counts in integers, as many as there are steps of numbers.
    expect_near(tn::arange(0, 10, 2.5, tn::int64, d), {0, 2, 4, 6});
    expect_near(tn::arange(-0.9, 2.1, 2.0, tn::int64, d), {0, 2});
    EXPECT_EQ(tn::arange(0, 3, 1, {}, d).dtype(), tn::int64);
    EXPECT_EQ(tn::arange(0, 1, 0.25, {}, d).dtype(), tn::float32);
    expect_sizes(tn::arange(0, 0), {0});
    Tensor x = tn::ones({2, 3}, tn::float64, d);
    EXPECT_EQ(tn::zeros_like(x).dtype(), tn::float64);
    EXPECT_EQ(tn::ones_like(x).device(), d);
    expect_sizes(tn::empty({2, 0, 3}, tn::float32, d), {2, 0, 3});
    EXPECT_FALSE(tn::zeros_like(x.requires_grad_()).requires_grad());
    EXPECT_EQ(tn::call("empty", tn::Ints{4}).numel(), 4);
  }
}

TEST(Create, LinesTrianglesAndLikes) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    expect_near(tn::linspace(0, 1, 5, {}, d), {0, 0.25, 0.5, 0.75, 1});
    expect_near(tn::linspace(3, -1.5, 4, tn::float64, d), {3, 1.5, 0, -1.5}, 1e-15);
    expect_near(tn::linspace(0, 10, 4, tn::int64, d), {0, 3, 6, 10});  // truncated, as PyTorch's
    expect_near(tn::linspace(4.3, -3, 8, tn::int64, d), {4, 3, 2, 1, 0, -1, -2, -3});
    expect_near(tn::logspace(0, 1.2, 2, 10, tn::int64, d), {1, 10});
    expect_near(tn::linspace(2, 5, 1, {}, d), {2});
    expect_sizes(tn::linspace(2, 5, 0, {}, d), {0});
    EXPECT_EQ(tn::linspace(0, 1, 2, {}, d).dtype(), tn::float32);
    Tensor tenth = tn::linspace(0, 0.1, 1000, tn::float64, d);
    EXPECT_EQ(tenth[999].item<double>(), 0.1);
    // to even, once
    EXPECT_EQ(tn::linspace(0, 4000, 4001, tn::float16, d)[2049].item<float>(), 2048);
    expect_near(tn::eye(2, {}, {}, d), {1, 0, 0, 1});
    expect_near(tn::eye(2, 3, tn::int64, d), {1, 0, 0, 0, 1, 0});
    expect_sizes(tn::eye(0, 3, {}, d), {0, 3});
    EXPECT_EQ(tn::eye(2, {}, {}, d).dtype(), tn::float32);
    expect_near(tn::tril_indices(2, 3, 0, d), {0, 1, 1, 0, 0, 1});
    expect_near(tn::tril_indices(3, 2, -1, d), {1, 2, 2, 0, 0, 1});
    expect_near(tn::triu_indices(2, 3, 1, d), {0, 0, 1, 1, 2, 2});
    expect_sizes(tn::triu_indices(2, 3, INT64_MAX, d), {2, 0});
    expect_sizes(tn::tril_indices(2, 3, INT64_MAX, d), {2, 6});
    EXPECT_EQ(tn::tril_indices(2, 2, 0, d).dtype(), tn::int64);
    EXPECT_EQ(tn::tril_indices(2, 2, 0, d).device(), d);
    Tensor x = tn::ones({2, 3}, tn::float64, d).requires_grad_();
    expect_near(tn::full_like(x, 2.5), std::vector<double>(6, 2.5));
    EXPECT_EQ(tn::full_like(x, 2).dtype(), tn::float64);
    EXPECT_EQ(tn::full_like(x, 2, tn::int32).dtype(), tn::int32);
    EXPECT_EQ(tn::zeros_like(x, tn::bool_).dtype(), tn::bool_);
    EXPECT_EQ(tn::ones_like(x, tn::int64).sum().item<int>(), 6);
    EXPECT_EQ(tn::empty_like(x).dtype(), tn::float64);
    EXPECT_EQ(tn::empty_like(x, tn::uint8).device(), d);
    expect_sizes(tn::empty_like(x), {2, 3});
    EXPECT_FALSE(tn::full_like(x, 1).requires_grad());
    EXPECT_FALSE(tn::empty_like(x).requires_grad());
  }
}

// Strides as PyTorch's preserve_format gives them.
TEST(Create, WhatIsLikeAnotherLiesInItsOrder) {
  for (tn::Device d : devices()) {
    const Tensor x = tn::ones({2, 3, 4, 5}, tn::float32, d);
    const Tensor last = x.contiguous("channels_last");
    const std::pair<Tensor, std::vector<int64_t>> cases[] = {
        {x, {60, 20, 5, 1}},
        {last, {60, 1, 15, 3}},
        {x.permute({3, 0, 2, 1}), {1, 60, 5, 20}},
        {last.slice(2, 0, 4, 2), {30, 1, 15, 3}},
        {x.select(0, 0).select(0, 0).t().slice(0, 0, 5, 2), {1, 3}},
        {tn::arange(3).unsqueeze(1).expand({3, 4}), {4, 1}}};
    for (const auto& [like, strides] : cases) {
      SCOPED_TRACE(::testing::PrintToString(strides));
      for (const Tensor& made :
           {tn::zeros_like(like), tn::ones_like(like, tn::int64), tn::empty_like(like),
            tn::full_like(like, 2), tn::rand_like(like, tn::float64),
            tn::randn_like(like, tn::float32), tn::randint_like(like, 3)}) {
        EXPECT_EQ(made.strides(), strides);
        EXPECT_EQ(made.sizes(), like.sizes());
      }
      EXPECT_EQ(tn::ones_like(like).sum().item<int64_t>(), like.numel());
    }
    Tensor w = tn::zeros_like(last).requires_grad_();
    EXPECT_TRUE(w.is_leaf());
    (w * 2).sum().backward();
    expect_near(w.grad(), std::vector<double>(120, 2));
  }
}

TEST(Create, EndsMayBeTensorsWithoutDimensions) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor one = tn::full({}, 1, tn::int64, d), half = tn::full({}, 2.5, {}, d);
    EXPECT_EQ(tn::linspace(one, half, 4).to_vector<float>(), (std::vector<float>{1, 1.5, 2, 2.5}));
    EXPECT_EQ(tn::linspace(one, 3, 4, tn::int64).to_vector<int64_t>(),
              (std::vector<int64_t>{1, 1, 2, 3}));
    EXPECT_EQ(tn::linspace(0, half, 2, {.dtype = tn::float64}).dtype(), tn::float64);
    EXPECT_EQ(tn::logspace(one, 2, 2, 2.0).to_vector<float>(), (std::vector<float>{2, 4}));
    EXPECT_EQ(tn::logspace(0, one, 2).to_vector<float>(), (std::vector<float>{1, 10}));
    EXPECT_EQ(tn::arange(one + 2).to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 2}));
    EXPECT_EQ(tn::arange(half).dtype(), tn::float32);
    EXPECT_EQ(tn::arange(one, 2.5).to_vector<float>(), (std::vector<float>{1, 2}));
    EXPECT_EQ(tn::arange(1, half, {.step = 0.5}).to_vector<float>(),
              (std::vector<float>{1, 1.5, 2}));
  }
  expect_error([] { tn::arange(tn::ones({1})); },
               "arange: an end is [1], expected a number, or a tensor without dimensions");
  expect_error([] { tn::linspace(tn::ones({1}), 2, 4); },
               "linspace: an end is [1], expected a number, or a tensor without dimensions");
}

TEST(Create, ElementsLieAsThePhysicalLayoutSays) {
  const Tensor x = tn::empty_permuted({2, 3, 4}, {1, 2, 0}, tn::float64);
  EXPECT_EQ(x.sizes(), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(x.strides(), (std::vector<int64_t>{1, 8, 2}));
  EXPECT_EQ(x.dtype(), tn::float64);
  EXPECT_EQ(tn::empty_permuted({}, {}).numel(), 1);
  for (const std::vector<int64_t>& layout :
       std::vector<std::vector<int64_t>>{{0, 0, 1}, {0, 1}, {0, 1, 3}, {-1, 0, 1}}) {
    std::string list;
    for (const int64_t d : layout) list += (list.empty() ? "" : ", ") + std::to_string(d);
    expect_error(
        [&] {
          tn::empty_permuted({2, 3, 4}, layout);
        },
        "empty_permuted: physical_layout is [" + list +
            "], expected each dimension of [2, 3, 4] once");
  }
}

TEST(Create, Errors) {
  expect_error([] { tn::linspace(0, 1, -1); }, "linspace: steps is -1");
  expect_error([] { tn::eye(-1); }, "eye: -1 rows and -1 columns");
  expect_error([] { tn::eye(2, -3); }, "eye: 2 rows and -3 columns");
  expect_error([] { tn::tril_indices(-1, 2); }, "tril_indices: -1 rows and 2 columns");
  expect_error([] { tn::triu_indices(1, -2); }, "triu_indices: 1 rows and -2 columns");
  expect_error([] { tn::full_like(tn::zeros({1}, tn::uint8), 300); },
               "full: value is 300, which is no uint8");
  expect_error([] { tn::arange(0, 5, 0); }, "step is 0");
  expect_error([] { tn::arange(0, 5, 0.5, tn::int64); },
               "arange: step is 0.5, which is 0 in int64");
  expect_error([] { tn::arange(0, 5, -1); }, "cannot be reached");
  expect_error([] { tn::arange(0.0, 3.0, -4.0); }, "cannot be reached");
  expect_error([] { tn::arange(0.0, 3.0, INFINITY); }, "step is inf, expected a finite number");
  expect_error([] { tn::zeros({-1}); }, "-1");
  expect_error([] { tn::zeros({INT64_MAX, 4}); }, "");
  expect_error([] { tn::Device("acme"); }, "acme");
}

// As torch.full: "value cannot be converted to type uint8_t without overflow".
TEST(Create, FullRefusesValuesThatTheDtypeHasNot) {
  load_all();
  expect_error([] { tn::full({2}, 300, tn::uint8); },
               "full: value is 300, which is no uint8; expected -255 to 255");
  expect_error([] { tn::full({2}, -256, tn::uint8); }, "value is -256");
  expect_error([] { tn::full({2}, NAN, tn::int64); }, "full: value is nan, which is no int64");
  expect_error([] { tn::full({2}, INFINITY, tn::int32); }, "value is inf, which is no int32");
  expect_error([] { tn::full({2}, 0x1p63, tn::int64); }, "which is no int64");
  expect_error([] { tn::full({2}, int64_t(1) << 31, tn::int32); }, "which is no int32");
  expect_error([] { tn::full({2}, 1e39); }, "full: value is 1e+39, which is no float32");
  expect_error([] { tn::full({2}, 70000, tn::float16); }, "expected -65504 to 65504");
  expect_error([] { tn::full({2}, -3.4e38, tn::bfloat16); }, "which is no bfloat16");
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    expect_near(tn::full({1}, -1, tn::uint8, d), {255});
    expect_near(tn::full({1}, 255, tn::uint8, d), {255});
    expect_near(tn::full({1}, NAN, tn::bool_, d), {1});
    expect_near(tn::full({1}, NAN, tn::float16, d), {NAN});
    expect_near(tn::full({1}, -INFINITY, {}, d), {-INFINITY});
    expect_near(tn::full({1}, 2.7, tn::int32, d), {2});
    EXPECT_EQ(tn::full({1}, INT64_MAX, {}, d).item<int64_t>(), INT64_MAX);
    EXPECT_EQ(tn::full({1}, INT64_MIN, tn::int64, d).item<int64_t>(), INT64_MIN);
  }
}

// PyTorch's are truncated too, and refused where they do not fit.
TEST(Fill, TakesTheDtypeOfWhatItFills) {
  for (tn::Device d : devices()) {
    for (tn::Dtype dtype : {tn::float32, tn::float64, tn::float16, tn::bfloat16, tn::int64,
                            tn::int32, tn::int16, tn::int8, tn::uint8, tn::bool_}) {
      SCOPED_TRACE(d.name() + " " + dtype.name());
      const double three = dtype == tn::bool_ ? 1 : 3, cut = dtype == tn::bool_ ? 1
                                                             : dtype.is_float() ? 2.5
                                                                                : 2;
      Tensor x = tn::ones({5}, dtype, d).slice(0, 0, 5, 2);
      expect_near(x.zero_(), {0, 0, 0}, 0);
      expect_near(x.fill_(3), {three, three, three}, 0);
      expect_near(x.fill_(2.5), {cut, cut, cut}, 0);
      expect_near(x.fill_(true), {1, 1, 1}, 0);
      EXPECT_EQ(x.dtype(), dtype);
      if (dtype.is_float()) expect_near(x.fill_(-INFINITY), {-INFINITY, -INFINITY, -INFINITY}, 0);
    }
    const int64_t odd = (int64_t{1} << 53) + 1;  // no double
    EXPECT_EQ(tn::zeros({1}, tn::int64, d).fill_(odd).item<int64_t>(), odd);
    expect_near(tn::zeros({1}, tn::uint8, d).fill_(-1), {255}, 0);
    expect_near(tn::zeros({1}, tn::int32, d).fill_(-2.9), {-2}, 0);
    expect_error([&] { tn::zeros({1}, tn::uint8, d).fill_(256); },
                 "fill_: value is 256, which is no uint8; expected -255 to 255");
    expect_error([&] { tn::zeros({1}, tn::int64, d).fill_(NAN); },
                 "fill_: value is nan, which is no int64");
    expect_error([&] { tn::zeros({1}, tn::int32, d).fill_(int64_t{1} << 31); },
                 "fill_: value is 2.14748e+09, which is no int32");
    expect_error([&] { tn::zeros({1}, tn::float16, d).fill_(1e6); },
                 "fill_: value is 1e+06, which is no float16");
  }
}

// All elements of every small matrix, by the definition.
TEST(Create, TriangleIndicesAreThoseOfTheTriangle) {
  for (bool lower : {true, false}) {
    for (int64_t row = 0; row < 5; ++row) {
      for (int64_t col = 0; col < 5; ++col) {
        for (int64_t offset = -6; offset <= 6; ++offset) {
          std::vector<int64_t> rows, columns;
          for (int64_t i = 0; i < row; ++i) {
            for (int64_t k = 0; k < col; ++k) {
              if (lower ? k - i > offset : k - i < offset) continue;
              rows.push_back(i);
              columns.push_back(k);
            }
          }
          const Tensor found = lower ? tn::tril_indices(row, col, offset, {})
                                     : tn::triu_indices(row, col, offset, {});
          expect_sizes(found, {2, int64_t(rows.size())});
          rows.insert(rows.end(), columns.begin(), columns.end());
          EXPECT_EQ(found.to_vector<int64_t>(), rows) << row << " " << col << " " << offset;
        }
      }
    }
  }
}

// Their time follows from what they hold, not from the sizes that are named; what no memory holds
// is refused before.
TEST(Create, TriangleIndicesOfGreatMatrices) {
  const int64_t most = INT64_MAX;
  for (tn::Device d : devices()) {
    const Tensor some = tn::triu_indices(most - 1, 5, -1, d);
    expect_sizes(some, {2, 20});
    EXPECT_EQ(some.to_vector<int64_t>().at(19), 5);
    EXPECT_EQ(some.to_vector<int64_t>().at(39), 4);
    EXPECT_EQ(tn::tril_indices(most, 5, -most + 2, d).to_vector<int64_t>(),
              (std::vector<int64_t>{most - 2, most - 1, most - 1, 0, 0, 1}));
    EXPECT_EQ(tn::triu_indices(5, most, most - 1, d).to_vector<int64_t>(),
              (std::vector<int64_t>{0, most - 1}));
    for (int64_t offset : {-most - 1, -most, most}) {
      EXPECT_EQ(tn::tril_indices(most, 0, offset, d).numel(), 0);
      EXPECT_EQ(tn::triu_indices(0, most, offset, d).numel(), 0);
    }
    expect_sizes(tn::tril_indices(most, most, -most - 1, d), {2, 0});
    expect_sizes(tn::triu_indices(most, most, most, d), {2, 0});
    expect_error([&] { tn::tril_indices(most, most, 0, d); },
                 "tril_indices: the shape [2, 9223372036854775807] (int64) overflows");
    expect_error([&] { tn::triu_indices(most, 5, -most, d); }, "triu_indices: the shape [2, ");
  }
}

TEST(Create, OfMoreElementsThan63BitsCountIsRefused) {
  const int64_t most = INT64_MAX;
  expect_error([&] { tn::arange(-most - 1, most); }, "arange: more elements than memory holds");
  expect_error([&] { tn::arange(0, most); },
               "arange: the shape [9223372036854775807] (int64) overflows");
  expect_error([&] { tn::linspace(0, 1, most); }, "linspace: the shape [9223372036854775807]");
  expect_error([&] { tn::eye(int64_t{1} << 32); },
               "eye: the shape [4294967296, 4294967296] (float32) overflows");
  expect_error([&] { tn::one_hot(tn::zeros({4}, tn::int64), most); },
               "one_hot: the shape [4, 9223372036854775807]");
  expect_error(
      [&] {
        tn::repeat(tn::zeros({2}), {int64_t{1} << 62, 2});
      },
      "repeat: the shape [4611686018427387904, 4]");
  expect_error(
      [&] {
        tn::pad(tn::zeros({2}), {int64_t{1} << 62, 0});
      },
      "pad: the shape [4611686018427387906] (float32) overflows");
}

}  // namespace
