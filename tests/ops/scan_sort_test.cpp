// Scans and sorts.
#include <numeric>

#include "ops_support.h"

namespace {

// cpu has kernels for both; ref has none and gets what the host does without.
TEST(Scan, SumsAndProductsAlongADimension) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor<float>({{1, 2, 3}, {4, 5, 6}}, d);
    expect_near(tn::prim::scan(TN_REDUCE_SUM, x, 1), {1, 3, 6, 4, 9, 15});
    expect_near(tn::prim::scan(TN_REDUCE_SUM, x, 1, true), {6, 5, 3, 15, 11, 6});
    expect_near(tn::prim::scan(TN_REDUCE_SUM, x, -2), {1, 2, 3, 5, 7, 9});
    expect_near(tn::prim::scan(TN_REDUCE_PROD, x, 1), {1, 2, 6, 4, 20, 120});
    expect_near(tn::prim::scan(TN_REDUCE_PROD, x, 1, true), {6, 6, 3, 120, 30, 6});
    expect_near(tn::prim::scan(TN_REDUCE_SUM, x.t(), 0), {1, 4, 3, 9, 6, 15});
    // Integers and bool count in int64; halves fold wider than they are.
    Tensor ones = tn::ones({70}, tn::bool_, d);
    EXPECT_EQ(tn::prim::scan(TN_REDUCE_SUM, ones, 0).dtype(), tn::int64);
    EXPECT_EQ(tn::prim::scan(TN_REDUCE_SUM, ones, 0)[69].item<int64_t>(), 70);
    Tensor half = tn::full({3000}, 1.0, tn::float16, d);
    EXPECT_EQ(tn::prim::scan(TN_REDUCE_SUM, half, 0)[2999].item<float>(), 3000);
    expect_near(tn::prim::scan(TN_REDUCE_SUM, tn::full({}, 3.0, {}, d), 0), {3});
    EXPECT_EQ(tn::prim::scan(TN_REDUCE_SUM, tn::empty({0, 3}, tn::float32, d), 0).numel(), 0);
    EXPECT_EQ(tn::prim::scan(TN_REDUCE_SUM, tn::empty({3, 0}, tn::float32, d), 0).numel(), 0);
    expect_error([&] { tn::prim::scan(TN_REDUCE_MAX, x, 0); }, "kind 2 is no sum and no product");
    expect_error([&] { tn::prim::scan(TN_REDUCE_SUM, x, 2); }, "dimension 2 is out of range");
  }
}

// PyTorch's values: nothing behind the first zero but the zero itself.
TEST(Scan, GradientOfProductsWithZeros) {
  for (tn::Device d : devices()) {
    Tensor x = tn::tensor<double>({2, 0, 3, 0, 4}, d).requires_grad_();
    tn::prim::scan(TN_REDUCE_PROD, x, 0).sum().backward();
    expect_near(x.grad(), {1, 2 + 2 * 3, 0, 0, 0});
    // To second order, at zeros, from both ends.
    for (const bool reverse : {false, true}) {
      gradcheck(
          [=](const TensorList& in) { return tn::prim::scan(TN_REDUCE_PROD, in[0], 0, reverse); },
          {x.detach()});
    }
    gradcheck(
        [](const TensorList& in) {
          return tn::prod(in[0], {0, 2});
        },
        {float64_tensor({2, 0, -1, 3, 0.5, 0, 1, 2, 3, 0, 0, 1}, {2, 3, 2}, d)});
  }
}

// What is no number is the extreme from there on, as in PyTorch, and the last such counts.
TEST(Scan, ExtremesEndAtWhatIsNoNumber) {
  for (tn::Device d : devices()) {
    for (const double sign : {1.0, -1.0}) {
      Tensor row = tn::arange(40, tn::float64) * sign;
      row[20].fill_(std::nan(""));
      row[25].fill_(std::nan(""));
      const Tensor x = tn::stack({row, tn::arange(40, tn::float64) * sign}).to(d);
      for (const Tensor& of : {x, x.to(tn::float32), x.t().contiguous().t()}) {
        const auto [values, places] = sign > 0 ? tn::cummax(of, 1) : tn::cummin(of, 1);
        const auto v = values.to_vector<double>();
        const auto at = places.to_vector<int64_t>();
        for (int64_t i = 0; i < 40; ++i) {
          const int64_t place = i < 20 ? i : i < 25 ? 20 : 25;
          EXPECT_EQ(at[size_t(i)], place) << d.name() << " " << i;
          EXPECT_EQ(std::isnan(v[size_t(i)]), i >= 20);
          EXPECT_EQ(at[size_t(40 + i)], i);  // the row beside it
          EXPECT_EQ(v[size_t(40 + i)], sign * double(i));
        }
      }
    }
  }
}

// As the standard library's stable sort has it, NaN being the greatest.
void expect_sorted(const Tensor& x) {
  const int64_t n = x.numel();
  const std::vector<double> keys = x.to_vector<double>();
  std::vector<int64_t> whole;
  if (x.dtype() == tn::int64) whole = x.to_vector<int64_t>();
  const auto less = [&](int64_t i, int64_t j) {
    if (!whole.empty()) return whole[size_t(i)] < whole[size_t(j)];
    const double a = keys[size_t(i)], b = keys[size_t(j)];
    return a < b || (std::isnan(b) && !std::isnan(a));
  };
  for (const bool descending : {false, true}) {
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t i, int64_t j) { return descending ? less(j, i) : less(i, j); });
    const auto [values, at] = tn::prim::sort(x, 0, descending);
    EXPECT_EQ(at.to_vector<int64_t>(), order);
    EXPECT_TRUE(tn::equal(values.nan_to_num(), x[{at}].nan_to_num()));
    EXPECT_EQ(tn::argsort(x, 0, descending).to_vector<int64_t>(), order);
    for (const int64_t k : {n, n / 2, int64_t{181}, int64_t{40}, int64_t{16}, int64_t{1}}) {
      order.resize(size_t(k));
      EXPECT_EQ(std::get<1>(tn::topk(x, k, 0, descending)).to_vector<int64_t>(), order) << k;
    }
  }
}

// Long rows are sorted by digits.
TEST(Sort, LongRowsAgreeWithTheStandardLibrary) {
  for (const int64_t n : {363, 3000, 20000}) {
    const Tensor random = tn::randn({n}).to(tn::float64);
    Tensor special = random.clone();
    const double values[] = {std::nan(""), INFINITY, -INFINITY, 0.0, -0.0, -1e-310};
    for (int64_t i = 0; i < n / 10; ++i) special[7 * i].fill_(values[i % 6]);
    const Tensor few = tn::randint(-3, 4, {n}),
                 wide = tn::randint(INT64_MIN / 2, INT64_MAX / 2, {n});
    const Tensor rows[] = {random, special,
                           random * 1e-13 + 1.0,  // the highest digits are those of all
                           few.to(tn::float64), few, wide, wide % 1000,
                           // Many have all but the last bits in common.
                           few * (int64_t{1} << 60) + tn::randint(0, 100, {n})};
    for (const Tensor& row : rows) {
      for (const tn::Dtype dtype :
           {tn::float64, tn::float32, tn::bfloat16, tn::int64, tn::int32, tn::uint8}) {
        if (!dtype.is_float() && row.is_same(rows[1])) continue;  // NaN is no integer
        SCOPED_TRACE(std::to_string(n) + " of " + std::string(dtype.name()));
        expect_sorted(row.to(dtype));
      }
    }
  }
}

// Beyond 32,768 elements by parts, of which each is sorted by itself.
TEST(Sort, RowsThatNoCacheHoldsAgreeWithTheStandardLibrary) {
  const int64_t n = 70000;
  expect_sorted(tn::randn({n}).to(tn::float64));
  expect_sorted(tn::randint(INT64_MIN / 2, INT64_MAX / 2, {n}));
  expect_sorted(tn::randint(0, 3, {n}) * (int64_t{1} << 40) + tn::randint(0, 100, {n}));
  expect_sorted(tn::randn({n}).to(tn::float16));
}

// However few of however many, they are the first of all in order.
TEST(Sort, TopIsTheBeginOfTheOrder) {
  const auto expect_begin = [](const Tensor& x, int64_t dim) {
    for (const bool descending : {false, true}) {
      const auto [values, at] = tn::prim::sort(x, dim, descending);
      for (const int64_t k : {1, 2, 3, 16, 17, 31, 64, 200}) {
        if (k > x.size(dim)) break;
        const auto [top, where] = tn::topk(x, k, dim, descending);
        EXPECT_TRUE(tn::equal(where, at.narrow(dim, 0, k))) << k << " of " << x.size(dim);
        EXPECT_TRUE(tn::equal(top.nan_to_num(), values.narrow(dim, 0, k).nan_to_num())) << k;
      }
    }
  };
  for (const int64_t n : {1, 3, 16, 31, 32, 33, 100, 300, 700}) {
    const Tensor x = tn::randn({5, n}), ties = tn::round(x * 2.0);
    const Tensor rising = std::get<0>(tn::sort(x, 1));
    const Tensor nans = tn::where(x > 1.0, std::nan(""), ties);
    for (const Tensor& each : {x, ties, rising, rising.flip({1}), nans, tn::zeros({5, n})}) {
      expect_begin(each, 1);
      expect_begin(each.t().contiguous(), 0);
      expect_begin(each.to(tn::bfloat16), 1);
      expect_begin(each.to(tn::float64).t(), 0);
    }
    expect_begin((ties * 3.0).to(tn::int64), 1);
    expect_begin((ties * 3.0).to(tn::int8).reshape({5, n, 1}).expand({5, n, 3}), 1);
  }
}

TEST(Sort, IsStableAndPutsNanLast) {
  const double nan = std::nan("");
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (tn::Dtype dtype : {tn::float32, tn::float64, tn::float16, tn::bfloat16}) {
      Tensor x = Tensor::from<double>({3, nan, 1, 3, -INFINITY, 2, 1, nan}).to(d, dtype);
      auto [up, at] = tn::prim::sort(x, 0);
      expect_near(up, {-INFINITY, 1, 1, 2, 3, 3, nan, nan});
      expect_near(at, {4, 2, 6, 5, 0, 3, 1, 7});
      auto [down, from] = tn::prim::sort(x, 0, true);
      expect_near(down, {nan, nan, 3, 3, 2, 1, 1, -INFINITY});
      expect_near(from, {1, 7, 0, 3, 5, 2, 6, 4});
      EXPECT_EQ(up.dtype(), dtype);
      EXPECT_EQ(at.dtype(), tn::int64);
    }
    for (tn::Dtype dtype : {tn::int64, tn::int32, tn::int16, tn::int8, tn::uint8}) {
      auto [values, indices] =
          tn::prim::sort(tn::tensor<int64_t>({{3, 1, 2}, {0, 9, 0}}).to(d, dtype), 1);
      expect_near(values, {1, 2, 3, 0, 0, 9});
      expect_near(indices, {1, 2, 0, 0, 2, 1});
    }
    auto [flags, places] = tn::prim::sort(tn::tensor<int64_t>({1, 0, 1}).to(d, tn::bool_), 0);
    expect_near(flags, {0, 1, 1});
    expect_near(places, {1, 0, 2});
    auto [columns, rows] =
        tn::prim::sort(tn::tensor<float>({{3, 1}, {2, 5}, {1, 4}}, d).t(), 1, true);
    expect_near(columns, {3, 2, 1, 5, 4, 1});
    expect_near(rows, {0, 1, 2, 1, 2, 0});
    auto [one, zero] = tn::prim::sort(tn::full({}, 7.0, {}, d), 0);
    expect_near(one, {7});
    expect_near(zero, {0});
    EXPECT_EQ(std::get<0>(tn::prim::sort(tn::empty({2, 0}, tn::float32, d), 1)).numel(), 0);
    expect_error([&] { tn::prim::sort(tn::ones({2}, {}, d), 1); }, "dimension 1 is out of range");
  }
}

// Longer than what is compared at once.
TEST(Sort, LongRowsWithoutAKernelComeInParts) {
  std::vector<float> numbers;
  for (int i = 0; i < 3000; ++i) numbers.push_back(static_cast<float>(i * 7919 % 3001));
  Tensor x = Tensor::from<float>(numbers);
  for (tn::Device d : devices()) {
    auto [values, indices] = tn::prim::sort(x.to(d), 0);
    Tensor steps = values.slice(0, 1) - values.slice(0, 0, 2999);
    EXPECT_GE(tn::prim::reduce(TN_REDUCE_MIN, steps).item<float>(), 0);
    expect_near(tn::prim::gather(x.to(d), 0, indices) - values, std::vector<double>(3000, 0.0));
  }
}

// Of rows that are taken eight at a time, by pieces of 64, and of those that are left; whole numbers below
// 2^24, so that every way of adding has the same bits.
TEST(Scan, OfManyRowsAndLengths) {
  for (tn::Device d : devices()) {
    for (const tn::Dtype dtype : {tn::float32, tn::float64, tn::int64}) {
      for (const int64_t rows : {1, 7, 8, 9, 19}) {
        for (const int64_t n : {1, 63, 64, 65, 128, 200}) {
          SCOPED_TRACE(d.name() + " " + dtype.name() + " " + std::to_string(rows) + " " +
                       std::to_string(n));
          const Tensor x = (tn::arange(rows * n).reshape({rows, n}) % 13 - 5).to(d, dtype);
          const auto from = x.to(tn::cpu, tn::int64).to_vector<int64_t>();
          std::vector<int64_t> forward(from), backward(from);
          for (int64_t r = 0; r < rows; ++r) {
            for (int64_t i = 1; i < n; ++i) {
              forward[size_t(r * n + i)] += forward[size_t(r * n + i - 1)];
              const int64_t at = r * n + n - 1 - i;
              backward[size_t(at)] += backward[size_t(at + 1)];
            }
          }
          const auto values = [](const Tensor& t) {
            return t.to(tn::cpu, tn::int64).to_vector<int64_t>();
          };
          EXPECT_EQ(values(tn::cumsum(x, 1)), forward);
          EXPECT_EQ(values(tn::prim::scan(TN_REDUCE_SUM, x, 1, true)), backward);
          // A product of signs.
          const auto signs = values(tn::cumprod(tn::where(x > 2, -1, 1).to(dtype), 1));
          for (int64_t r = 0; r < rows; ++r) {
            int64_t sign = 1;
            for (int64_t i = 0; i < n; ++i) {
              sign *= from[size_t(r * n + i)] > 2 ? -1 : 1;
              ASSERT_EQ(signs[size_t(r * n + i)], sign);
            }
          }
        }
      }
    }
  }
}

}  // namespace
