// Statistics, counts and products: what PyTorch has no values for, and errors. Values and gradients
// are in torch_values_test.
#include "ops_support.h"

namespace {

TEST(Statistics, MedianOfAllGivesAFlatIndex) {
  for (tn::Device d : devices()) {
    const Tensor x = tn::tensor({{5.f, 1.f, 4.f}, {2.f, 3.f, 6.f}}, d).requires_grad_();
    const auto [value, index] = tn::median(x);
    expect_near(value.detach(), {3});
    EXPECT_EQ(index.item<int64_t>(), 4);
    value.backward();
    expect_near(x.grad(), {0, 0, 0, 0, 1, 0});
    const auto [kept, at] = tn::median(x, {}, true);
    expect_sizes(kept, {1, 1});
    expect_sizes(at, {1, 1});
    const Tensor nan = tn::tensor({NAN, 1.f, NAN}, d);
    EXPECT_EQ(std::get<1>(tn::median(nan)).item<int64_t>(), 0);
    EXPECT_EQ(std::get<1>(tn::nanmedian(nan)).item<int64_t>(), 1);
  }
}

TEST(Statistics, MedianErrors) {
  const Tensor x = tn::ones({2, 3}), none = tn::ones({2, 0});
  expect_error([&] { tn::median(x, 2); }, "median: dimension 2 is out of range; expected -2 to 1");
  expect_error([&] { tn::median(none, 1); },
               "median: x is [2, 0], which has nothing along dimension 1; expected an element");
  expect_error([&] { tn::nanmedian(none, 1); },
               "nanmedian: x is [2, 0], which has nothing along dimension 1; expected an element");
  expect_error([&] { tn::mode(none); }, "mode: x is [2, 0]");
  expect_error([&] { tn::kthvalue(x, 4); },
               "kthvalue: k is 4, expected 1 to 3, the size of dimension 1");
  expect_error([&] { tn::kthvalue(x, 0, 0); }, "kthvalue: k is 0, expected 1 to 2");
}

// Ranks are of q as float32 has it, which lies beside a tenth: PyTorch 2.15's values.
TEST(Statistics, QuantilesOfFloatsHaveExactRanks) {
  struct Row {
    double q;
    float lower, higher, midpoint, nearest;
  };
  const Row rows[] = {{0.2, 1, 2, 1.5, 1}, {0.1, 0, 1, 0.5, 1}, {0.4, 2, 3, 2.5, 2},
                      {0.6, 3, 4, 3.5, 3}, {0.3, 1, 2, 1.5, 2}, {1, 5, 5, 5, 5}};
  for (const tn::Device d : devices()) {
    const Tensor x = tn::arange(0, 6).to(tn::float32).to(d);
    for (const Row& row : rows) {
      SCOPED_TRACE(row.q);
      const auto of = [&](const char* interpolation) {
        const Tensor by_number = tn::quantile(x, row.q, {.interpolation = interpolation});
        const Tensor q = tn::tensor({float(row.q)}, d);
        EXPECT_EQ(tn::quantile(x, q, {.interpolation = interpolation}).item<float>(),
                  by_number.item<float>());
        return by_number.item<float>();
      };
      EXPECT_EQ(of("lower"), row.lower);
      EXPECT_EQ(of("higher"), row.higher);
      EXPECT_EQ(of("midpoint"), row.midpoint);
      EXPECT_EQ(of("nearest"), row.nearest);
    }
  }
}

// float32 does not have the ranks of so many.
TEST(Statistics, QuantilesOfManyElementsAreExact) {
  const int64_t n = (int64_t{1} << 24) + 1;
  const Tensor x = tn::arange(n, tn::int32).bitwise_and(1).to(tn::float32);
  const Tensor y = tn::cat({x, tn::full({1}, 5.0)});
  EXPECT_EQ(tn::quantile(y, 1.0).item<float>(), 5);
}

TEST(Statistics, QuantileErrors) {
  const Tensor x = tn::ones({2, 3});
  expect_error([&] { tn::quantile(x, 1.5); }, "quantile: q is 1.5, expected 0 to 1");
  expect_error(
      [&] {
        tn::quantile(x, tn::tensor({0.5f, -0.5f}));
      },
      "quantile: an element of q is not within 0 to 1");
  expect_error(
      [&] {
        tn::quantile(x, tn::ones({2, 2}));
      },
      "quantile: q is [2, 2] float32, expected at most 1 dimension, and float32 as x");
  expect_error([&] { tn::nanquantile(x, tn::ones({2}, tn::float64)); },
               "nanquantile: q is [2] float64, expected at most 1 dimension, and float32 as x");
  expect_error([&] { tn::quantile(x.to(tn::int64), 0.5); },
               "quantile: x is int64, expected a floating dtype");
  expect_error([&] { tn::call("quantile", x, 0.5, 1, false, "cubic"); },
               "quantile: interpolation is 'cubic', expected 'linear', 'lower', 'higher', "
               "'midpoint' or 'nearest'");
}

TEST(Statistics, FoldErrors) {
  const Tensor x = tn::ones({2, 3}), whole = tn::ones({2}, tn::int64);
  expect_error([&] { tn::nanmean(whole); }, "nanmean: x is int64, expected a floating dtype");
  expect_error([&] { tn::std_mean(whole); }, "std_mean: x is int64, expected a floating dtype");
  expect_error([&] { tn::renorm(tn::ones({3}), 2, 0, 1); },
               "renorm: x is [3], expected 2 dimensions at least");
  expect_error([&] { tn::renorm(x, 0, 0, 1); }, "renorm: p is 0, expected a number above 0");
  expect_error([&] { tn::renorm(x, 2, 0, -1); }, "renorm: maxnorm is -1, expected 0 or more");
  expect_error([&] { tn::diff(tn::ones({})); }, "diff: x is [], expected 1 dimension at least");
  expect_error([&] { tn::diff(x, {.n = -1}); }, "diff: n is -1, expected 0 or more");
}

// Each expectation is what PyTorch 2.15 gives.
TEST(Statistics, ANumberIsComparedInTheDtypeOfTheBoundaries) {
  const auto found = [](const Tensor& t) { return t.item<int64_t>(); };
  for (tn::Device d : devices()) {
    for (tn::Dtype dtype : {tn::float32, tn::float16}) {
      const Tensor b = tn::tensor({0.1, 0.2}).to(dtype).to(d);
      EXPECT_EQ(found(tn::bucketize(0.1, b)), 0);
      EXPECT_EQ(found(tn::bucketize(0.1, b, {.right = true})), 1);
      EXPECT_EQ(found(tn::searchsorted(b, 0.1)), 0);
      EXPECT_EQ(found(tn::searchsorted(b, 0.1, {.right = true})), 1);
      EXPECT_EQ(found(tn::searchsorted(b, 0.1 + 1e-6)), dtype == tn::float32 ? 1 : 0);
      EXPECT_EQ(found(tn::searchsorted(b, 1e300)), 2);
      EXPECT_EQ(found(tn::searchsorted(b, NAN)), 2);
    }
    const Tensor wide = tn::tensor({0.1, 0.2}, tn::float64).to(d);
    EXPECT_EQ(found(tn::bucketize(0.1, wide)), 0);
    EXPECT_EQ(found(tn::bucketize(0.1 + 1e-12, wide)), 1);
    const Tensor whole = tn::tensor({16777216, 16777217, 16777218}).to(d);
    EXPECT_EQ(found(tn::bucketize(16777217, whole)), 1);
    EXPECT_EQ(found(tn::bucketize(16777217.0, whole)), 0);
    EXPECT_EQ(found(tn::bucketize(16777217.0, whole, {.right = true})), 2);
    EXPECT_EQ(found(tn::bucketize(2.5, tn::tensor({1, 2, 3}).to(d))), 2);
  }
}

// NaN is behind all numbers, as sort() leaves it.
TEST(Statistics, BoundariesMayEndInNaN) {
  for (tn::Device d : devices()) {
    for (tn::Dtype dtype : {tn::float32, tn::float64, tn::float16, tn::bfloat16}) {
      const Tensor x = tn::tensor({0.f, 1.f, 2.f, 3.f, INFINITY, NAN}).to(dtype).to(d);
      for (const int n : {1, 2, 5}) {
        std::vector<float> edges(size_t(n) + 2, NAN);
        edges[0] = 1, edges[1] = 2;
        const Tensor b = tn::tensor(edges).to(dtype).to(d);
        const double all = n + 2;
        expect_near(tn::searchsorted(b, x), {0, 0, 1, 2, 2, all});
        expect_near(tn::searchsorted(b, x, {.right = true}), {0, 1, 2, 2, 2, all});
        expect_near(tn::bucketize(x, b), {0, 0, 1, 2, 2, all});
        expect_near(tn::bucketize(x, b, {.right = true}), {0, 1, 2, 2, 2, all});
      }
      const Tensor unsorted = tn::tensor({NAN, 2.f, 1.f}).to(dtype).to(d);
      expect_near(tn::searchsorted(unsorted, x, {.sorter = unsorted.argsort()}),
                  {0, 0, 1, 2, 2, 3});
      const Tensor none = tn::full({4}, NAN, dtype, d);
      expect_near(tn::searchsorted(none, x), {0, 0, 0, 0, 0, 4});
    }
  }
}

TEST(Statistics, ADimensionOfANumberTwice) {
  const Tensor one = tn::tensor(2.f), x = tn::ones({2, 3});
  expect_error([&] { tn::sum(one, {0, 0}); }, "sum: dimension 0 stands twice in dims");
  expect_error([&] { tn::prod(one, {0, -1}); }, "prod: dimension -1 stands twice in dims");
  expect_error([&] { tn::amax(one, {0, 0}); }, "dimension 0 stands twice in dims");
  expect_error([&] { tn::norm(one, 2, {0, 0}); }, "norm: dimension 0 appears twice");
  expect_error([&] { tn::sum(x, {1, -1}); }, "sum: dimension -1 stands twice in dims");
  EXPECT_EQ(tn::sum(one, {0}).item(), 2);
}

// What autograd through steps could make NaN of: the exponentials of nothing.
TEST(Statistics, LogcumsumexpOfMaskedElementsHasAGradient) {
  for (tn::Device d : devices()) {
    const Tensor x = tn::tensor({-INFINITY, -INFINITY, 1.f, 1.f}, d).requires_grad_();
    const Tensor y = tn::logcumsumexp(x, 0);
    EXPECT_EQ(y.to_vector<float>()[1], -INFINITY);
    y[3].backward();
    expect_near(x.grad(), {0, 0, 0.5, 0.5}, 1e-6);
  }
}

TEST(Statistics, CountErrors) {
  const Tensor whole = tn::tensor({1, 2}).to(tn::int64), x = tn::ones({2});
  expect_error([&] { tn::bincount(x); }, "bincount: x is float32, expected integers");
  expect_error(
      [&] {
        tn::bincount(whole.reshape({1, 2}));
      },
      "bincount: x is [1, 2], expected 1 dimension");
  expect_error([&] { tn::bincount(whole - 3); },
               "bincount: an element of x is -2, expected 0 or more");
  expect_error([&] { tn::bincount(whole, tn::ones({3})); },
               "bincount: weights are [3], expected [2] as x");
  expect_error([&] { tn::bincount(whole, Tensor(), -1); },
               "bincount: minlength is -1, expected 0 or more");
  expect_error([&] { tn::histc(x, {.bins = 0}); }, "histc: bins is 0, expected 1 or more");
  expect_error([&] { tn::histc(x, {.bins = 3, .min = 2, .max = 1}); },
               "histc: min is 2, above max, 1");
  expect_error([&] { tn::histogram(x, {.bins = 0}); }, "histogram: bins is 0, expected 1 or more");
  expect_error([&] { tn::histogram(x, {.range = {1.0}}); },
               "histogram: range has 1 numbers, expected the least and the greatest");
  expect_error(
      [&] {
        tn::histogram(x, {.range = {2.0, 1.0}});
      },
      "histogram: the range is from 2 to 1, expected finite numbers, of which the second is not "
      "below the first");
  expect_error([&] { tn::histogram(x / 0); }, "histogram: the range is from inf to inf, expected");
  expect_error([&] { tn::histogram(x, {.weight = tn::ones({1})}); },
               "histogram: weight is [1], expected [2] as x");
  expect_error([&] { tn::histogram(x, tn::ones({1})); },
               "histogram: bins are [1] float32, expected two edges at least, in one dimension and "
               "as x of float32");
  expect_error([&] { tn::histogram(x.to(tn::int64)); },
               "histogram: x is int64, expected a floating");
  expect_error([&] { tn::histc(x / 0); },
               "histc: the range is from inf to inf, expected finite numbers");
  const Tensor far = tn::tensor(std::vector<double>{-1.7e308, 0, 1.7e308});
  expect_error([&] { tn::histogram(far); },
               "histogram: the range is from -1.7e+308 to 1.7e+308, expected a finite difference");
  expect_error([&] { tn::histc(whole); }, "histc: x is int64, expected a floating dtype");
  expect_error(
      [&] {
        tn::searchsorted(tn::ones({2, 3}), tn::ones({3, 2}));
      },
      "searchsorted: the boundaries are [2, 3], the values [3, 2]; expected boundaries "
      "[n], or the sizes of the values but for the last");
  expect_error([&] { tn::call("searchsorted", x, x, false, false, "middle"); },
               "searchsorted: side is 'middle', expected 'left' or 'right'");
  expect_error([&] { tn::call("searchsorted", x, x, false, true, "left"); },
               "searchsorted: side is 'left' and right is True, expected them to agree");
  expect_error([&] { tn::call("searchsorted", x, x, false, false, tn::none, x); },
               "searchsorted: sorter is [2] float32, expected int64 [2] as sorted_sequence");
  expect_error(
      [&] {
        tn::bucketize(x, tn::ones({1, 2}));
      },
      "bucketize: boundaries are [1, 2], expected 1 dimension");
}

TEST(Statistics, ProductErrors) {
  const Tensor a = tn::ones({2, 3}), b = tn::ones({4, 5});
  expect_error([&] { tn::tensordot(a, b); },
               "tensordot: dimensions [0, 1] of a [2, 3] and [0, 1] of b [4, 5] differ, expected "
               "as many, of the same sizes or of size 1");
  expect_error(
      [&] {
        tn::tensordot(a, b, {0, 0}, {0, 1});
      },
      "tensordot: dimension 0 appears twice");
  expect_error([&] { tn::cross(a, b); },
               "cross: a is [2, 3] and b [4, 5], expected as many dimensions, and size 3 along one "
               "of them");
  expect_error([&] { tn::cross(a, a, 0); },
               "cross: a is [2, 3] and b [2, 3], expected as many dimensions, and size 3 along "
               "dimension 0");
  expect_error([&] { tn::trace(tn::ones({3})); }, "trace: x is [3], expected 2 dimensions");
  expect_error(
      [] {
        const Tensor deep = tn::ones({1, 1, 1, 1, 1, 1, 1, 1, 1});
        tn::kron(deep, deep);
      },
      "kron: a is [1, 1, 1, 1, 1, 1, 1, 1, 1] and b");
}

}  // namespace
