// Matrix products.
#include "ops_support.h"

namespace {

Tensor counted(std::vector<int64_t> sizes, tn::Device d) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return tn::arange(0, n).to(tn::float32).to(d).view(sizes);
}

TEST(Matmul, Values) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor a = counted({2, 3}, d), b = counted({3, 2}, d);
    expect_near(tn::matmul(a, b), {10, 13, 28, 40});
    expect_near(tn::matmul(a, a.t()), {5, 14, 14, 50});
    Tensor v = counted({3}, d);
    expect_near(tn::matmul(v, v), {5});
    expect_sizes(tn::matmul(v, v), {});
    expect_near(tn::matmul(a, v), {5, 14});
    expect_near(tn::matmul(v, b), {10, 13});
    expect_sizes(tn::matmul(counted({4, 2, 3}, d), v), {4, 2});
    expect_sizes(tn::matmul(v, counted({4, 3, 2}, d)), {4, 2});
    expect_sizes(tn::matmul(counted({4, 2, 3}, d), b), {4, 2, 2});
    expect_near(tn::matmul(counted({2, 2, 3}, d), b), {10, 13, 28, 40, 46, 67, 64, 94});
    expect_sizes(tn::matmul(counted({5, 1, 2, 3}, d), counted({4, 3, 2}, d)), {5, 4, 2, 2});
    // Broadcast batches: each with the same b.
    Tensor batched = tn::matmul(counted({2, 2, 3}, d), counted({1, 3, 2}, d));
    expect_near(batched, {10, 13, 28, 40, 46, 67, 64, 94});
  }
}

TEST(Matmul, EmptyAndOne) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    expect_near(tn::matmul(tn::zeros({2, 0}, {}, d), tn::zeros({0, 2}, {}, d)), {0, 0, 0, 0});
    expect_sizes(tn::matmul(tn::zeros({0, 3}, {}, d), tn::zeros({3, 4}, {}, d)), {0, 4});
    expect_sizes(tn::matmul(tn::zeros({0, 2, 3}, {}, d), tn::zeros({3, 4}, {}, d)), {0, 2, 4});
    expect_near(tn::matmul(tn::full({1, 1}, 3.0, {}, d), tn::full({1, 1}, 2.0, {}, d)), {6});
  }
}

TEST(Linear, IsAMatmulAndABias) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = counted({2, 3}, d), w = counted({2, 3}, d), b = tn::tensor({-20.f, 1.f}, d);
    expect_near(tn::linear(x, w), {5, 14, 14, 50});
    expect_near(tn::linear(x, w, b), {-15, 15, -6, 51});
    expect_near(tn::linear_relu(x, w, b), {0, 15, 0, 51});
    expect_near(tn::linear_relu(x, w), {5, 14, 14, 50});
    expect_near(tn::linear(x[1], w, b), {-6, 51});
    expect_sizes(tn::linear(counted({4, 2, 3}, d), w, b), {4, 2, 2});
  }
}

TEST(Matmul, ErrorsSayWhatWouldFit) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor a = tn::zeros({64, 100}, {}, d), b = tn::zeros({128, 100}, {}, d);
    auto wrong = [&] { tn::matmul(a, b); };
    expect_error(wrong,
                 "matmul: inner dimensions differ: a is [64, 100], b is [128, 100] (float32, " +
                     d.name() + ")");
    expect_error(wrong, "expected b's dimension 0 to be 100; did you mean matmul(a, b.t())?");
    expect_error([&] { tn::matmul(a, tn::zeros({7}, {}, d)); }, "b is [7]");
    expect_error([&] { tn::matmul(a, tn::tensor(1.f, d)); }, "at least 1 dimension");
    expect_error([&] { tn::matmul(a, tn::zeros({100, 2}, tn::float64, d)); }, "float64");
    expect_error([&] { tn::linear(a, tn::zeros({5, 99}, {}, d)); }, "weight is [5, 99]");
    expect_error([&] { tn::linear(a, b, tn::zeros({5}, {}, d)); }, "bias is [5]");
  }
}

}  // namespace
