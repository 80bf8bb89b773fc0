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

TEST(Index, Errors) {
  Tensor x = tn::zeros({2, 3});
  expect_error([&] { tn::gather(x, 1, tn::zeros({2, 2})); }, "int64");
  expect_error([&] { tn::gather(x, 1, indices({5, 0}, {2, 1}, {})); }, "5");
  expect_error([&] { tn::embedding(x, tn::zeros({2})); },
               "embedding: index is float32, expected int64");
  expect_error([&] { tn::embedding(x, indices({2}, {1}, {})); }, "2");
  expect_error([&] { tn::one_hot(indices({2}, {1}, {}), 0); }, "at least 1");
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

}  // namespace
