// Running sums and products on the device `cuda`, at sizes, layouts and addresses where the shape of
// their launches changes: against a loop on the host, with values of which no sum is rounded.
#include <cmath>

#include "fake_launches.h"
#include "ops_support.h"

namespace {

const char* const kCuda = "cuda:0";

struct CudaScan : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

// Of [outer, n, inner], along n. Sums of any part are small, and products are 0.5, 1 or 2 with a sign.
struct Sample {
  int64_t outer, n, inner;
  bool is_product, reverse;

  double value(int64_t row, int64_t i) const {
    if (!is_product) return static_cast<double>((i + row) % 7 - 3);
    const double sign = (i * 5 + row) % 3 == 0 ? -1 : 1;
    return sign * (i % 4 == 1 ? 2 : i % 4 == 3 ? 0.5 : 1);
  }
  std::vector<double> values() const {
    std::vector<double> all(static_cast<size_t>(outer * n * inner));
    for (int64_t e = 0; e < outer * n * inner; ++e)
      all[static_cast<size_t>(e)] = value(e / (n * inner) * inner + e % inner, e / inner % n);
    return all;
  }
  std::vector<double> expected() const {
    std::vector<double> all = values();
    for (int64_t row = 0; row < outer * inner; ++row) {
      double carry = is_product ? 1 : 0;
      for (int64_t k = 0; k < n; ++k) {
        const int64_t i = reverse ? n - 1 - k : k;
        double& x = all[static_cast<size_t>((row / inner * n + i) * inner + row % inner)];
        carry = x = is_product ? carry * x : carry + x;
      }
    }
    return all;
  }
};

tn_reduce_kind kind_of(const Sample& s) { return s.is_product ? TN_REDUCE_PROD : TN_REDUCE_SUM; }

// `offset`: elements between an address that every device aligns and the first of the input.
void check(const Sample& s, tn::Dtype dtype, int64_t offset = 0) {
  SCOPED_TRACE(std::string(dtype.name()) + " [" + std::to_string(s.outer) + ", " +
               std::to_string(s.n) + ", " + std::to_string(s.inner) + "]" +
               (s.reverse ? " reversed" : "") + " + " + std::to_string(offset));
  const std::vector<double> values = s.values();
  const auto numel = static_cast<int64_t>(values.size());
  const Tensor memory = Tensor::empty({numel + offset}, dtype, kCuda);
  const Tensor x = memory.narrow(0, offset, numel).view({s.outer, s.n, s.inner});
  x.copy_(Tensor::from(values, {s.outer, s.n, s.inner}));
  const Tensor y = tn::prim::scan(kind_of(s), x, 1, s.reverse).to(tn::cpu).to(tn::float64);
  ASSERT_EQ(y.to_vector<double>(), s.expected());
}

TEST_F(CudaScan, RowsOfAnyLength) {
  for (const int64_t n : {1,   2,   7,   8,   9,    15,   16,   17,   63,   64,   65,   255,
                          256, 257, 511, 513, 1024, 2047, 2048, 2049, 4095, 4097, 16385}) {
    for (const bool reverse : {false, true}) {
      check({3, n, 1, false, reverse}, tn::float32);
      if (n < 3000) check({2, n, 1, true, reverse}, tn::float32, 1);
    }
  }
}

TEST_F(CudaScan, NumbersOfRowsWhereTheLaunchChanges) {
  for (const int64_t rows : {1, 2, 31, 32, 33, 255, 256, 257, 700}) {
    check({rows, 5, 1, false, false}, tn::float32);
    check({rows, 20, 1, false, true}, tn::float32);
    check({1, 9, rows, false, false}, tn::float32);
    check({2, 70, rows, false, rows % 2 == 1}, tn::float32);
  }
}

// As many bytes an element as there are; addresses at which there are packs, and others.
TEST_F(CudaScan, DtypesAndAddresses) {
  for (const tn::Dtype dtype : {tn::float16, tn::bfloat16, tn::float64, tn::int64}) {
    for (const int64_t offset : {0, 1, 4, 8}) {
      for (const bool reverse : {false, true}) {
        check({2, 96, 1, false, reverse}, dtype, offset);
        check({2, 12, 17, false, reverse}, dtype, offset);
      }
    }
  }
}

// Few long rows and columns are cut into pieces.
TEST_F(CudaScan, Pieces) {
  const auto launches = [](const Sample& s) {
    const Tensor x = tn::ones({s.outer, s.n, s.inner}, tn::float32, kCuda);
    return fake_launches([&] { tn::prim::scan(kind_of(s), x, 1, s.reverse); });
  };
  const Sample row = {1, 40000, 1, false, false}, column = {1, 1000, 33, false, true};
  if (const auto found = launches(row))  // none by NVIDIA's own driver
    EXPECT_EQ(*found, (std::vector<std::string>{"fold_pieces", "scan"}));
  if (const auto found = launches(column))
    EXPECT_EQ(*found, (std::vector<std::string>{"fold_columns", "scan_columns"}));
  for (const bool reverse : {false, true}) {
    for (const bool is_product : {false, true}) {
      check({1, row.n, 1, is_product, reverse}, tn::float32, 3);
      check({2, 12345, 1, is_product, reverse}, tn::float32);
      check({1, column.n, column.inner, is_product, reverse}, tn::float32);
      check({3, 130, 40, is_product, reverse}, tn::float32, 1);
    }
  }
}

// Views: columns whose sums lie in rows, and the other way around; every other element; one element
// that stands for a row, and a row that stands for all.
TEST_F(CudaScan, Views) {
  const auto same = [](const Tensor& x, int64_t dim, bool reverse) {
    const Tensor y = tn::prim::scan(TN_REDUCE_SUM, x, dim, reverse);
    const Tensor expected = tn::prim::scan(TN_REDUCE_SUM, x.to(tn::cpu).contiguous(), dim, reverse);
    EXPECT_EQ(y.to(tn::cpu).contiguous().to_vector<double>(), expected.to_vector<double>());
  };
  const Sample s = {1, 40, 50, false, false};
  const Tensor x = Tensor::from(s.values(), {s.n, s.inner}).to(tn::float32).to(tn::Device(kCuda));
  for (const bool reverse : {false, true}) {
    for (const int64_t dim : {0, 1}) {
      same(x.t(), dim, reverse);
      same(x.narrow(1, 3, 40).t(), dim, reverse);
      same(tn::slice(x, 1, 1, 50, 2), dim, reverse);
      same(x.narrow(1, 7, 1).expand({s.n, 30}), dim, reverse);
      same(x.narrow(0, 7, 1).expand({30, s.inner}), dim, reverse);
    }
    same(x.reshape({5, 8, 50}).permute({1, 0, 2}), 0, reverse);
    same(x.reshape({5, 8, 10, 5}).permute({2, 1, 0, 3}), 1, reverse);
  }
}

// The same values have the same bits wherever they lie in memory: in rows, pieces of rows, columns.
TEST_F(CudaScan, TheSameBitsAtAnyAddress) {
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{2, 3000, 1}, {1, 30000, 1}, {2, 100, 24}}) {
    for (const tn::Dtype dtype : {tn::float32, tn::bfloat16}) {
      for (const bool reverse : {false, true}) {
        const Tensor x = sample(sizes).to(dtype);
        const Tensor memory = Tensor::empty({x.numel() + 8}, dtype, kCuda);
        std::vector<double> first;
        for (const int64_t offset : {0, 1, 3, 8}) {
          const Tensor there = memory.narrow(0, offset, x.numel()).view(sizes).copy_(x);
          const Tensor sums = tn::prim::scan(TN_REDUCE_SUM, there, 1, reverse).to(tn::cpu);
          if (first.empty()) first = sums.to_vector<double>();
          EXPECT_EQ(sums.to_vector<double>(), first) << offset;
        }
      }
    }
  }
}

TEST_F(CudaScan, KeepsNaNInfinityAndTheSignOfZero) {
  const double nan = std::nan(""), inf = INFINITY;
  std::vector<double> values(300, 1), zeros(300, -0.0);
  values[100] = inf, values[200] = nan;
  const Tensor x = Tensor::from(values, {300}).to(tn::Device(kCuda));
  const std::vector<double> sums = tn::cumsum(x, 0).to(tn::cpu).to_vector<double>();
  EXPECT_EQ(sums[99], 100);
  EXPECT_EQ(sums[100], inf);
  EXPECT_EQ(sums[199], inf);
  EXPECT_TRUE(std::isnan(sums[200]) && std::isnan(sums[299]));
  const Tensor z = Tensor::from(zeros, {300}).to(tn::Device(kCuda));
  for (const double sum : tn::cumsum(z, 0).to(tn::cpu).to_vector<double>())
    EXPECT_TRUE(sum == 0 && std::signbit(sum));
}

}  // namespace
