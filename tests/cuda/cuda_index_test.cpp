// Sums at indices on the device `cuda`, where runs of equal indices are cut into pieces: against sums
// in float64 on the host.
#include "fake_launches.h"
#include "kernel_answers.h"
#include "ops_support.h"

namespace {

const char* const kCuda = "cuda:0";

struct CudaIndex : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

// n indices below `size`, in no order: of `distinct` different ones.
std::vector<int64_t> indices_of(int64_t n, int64_t size, int64_t distinct) {
  std::vector<int64_t> list;
  for (int64_t i = 0; i < n; ++i) list.push_back(i * 7919 % 104729 % distinct * 31 % size);
  return list;
}

// Whole pieces, parts of them, tiles of the sort and more; one run, few and many.
TEST_F(CudaIndex, AddsRunsOfAnyLength) {
  constexpr int64_t kRows = 101, kColumns = 3;
  for (const int64_t n : {1, 2, 31, 32, 33, 64, 65, 96, 1000, 1025, 3000}) {
    for (const int64_t distinct : {1, 2, 7, 100}) {
      SCOPED_TRACE(std::to_string(n) + " " + std::to_string(distinct));
      const std::vector<int64_t> index = indices_of(n, kRows, distinct);
      const Tensor source = sample({n, kColumns});
      std::vector<double> expected(kRows * kColumns, 0.5);
      const std::vector<double> values = source.to_vector<double>();
      for (int64_t i = 0; i < n * kColumns; ++i)
        expected[size_t(index[size_t(i / kColumns)] * kColumns + i % kColumns)] +=
            values[size_t(i)];
      const Tensor x = tn::full({kRows, kColumns}, 0.5, tn::float64, kCuda);
      const Tensor at = Tensor::from(index, {n}).to(kCuda);
      expect_near(tn::index_add(x, 0, at, source.to(kCuda)).to(tn::cpu), expected, 1e-12);
      const Tensor columns = tn::index_add(x.t(), 1, at, source.to(kCuda).t());
      expect_near(columns.t().to(tn::cpu), expected, 1e-12);
    }
  }
}

// Each row has indices of its own, also where the index is expanded along one of two dimensions.
TEST_F(CudaIndex, AddsInEachRow) {
  constexpr int64_t kRows = 4, kDepth = 2, kN = 70, kSize = 9;
  const std::vector<int64_t> index = indices_of(kRows * kN, kSize, 9);
  const Tensor source = sample({kRows, kDepth, kN});
  const std::vector<double> values = source.to_vector<double>();
  std::vector<double> expected(kRows * kDepth * kSize, 0);
  for (int64_t i = 0; i < kRows * kDepth * kN; ++i) {
    const int64_t row = i / (kDepth * kN), place = index[size_t(row * kN + i % kN)];
    expected[size_t(i / kN * kSize + place)] += values[size_t(i)];
  }
  const Tensor at = Tensor::from(index, {kRows, 1, kN}).to(kCuda).expand({kRows, kDepth, kN});
  for (const bool is_copied : {false, true}) {
    const Tensor zeros = tn::zeros({kRows, kDepth, kSize}, tn::float64, kCuda);
    const Tensor sums =
        tn::scatter_add(zeros, 2, is_copied ? at.contiguous() : at, source.to(kCuda));
    expect_near(sums.to(tn::cpu), expected, 1e-12);
  }
}

// Halves are added in float32 and rounded once: 4,096 ones are 4,096, though 2,048 + 1 is 2,048.
TEST_F(CudaIndex, RoundsHalvesOnce) {
  const Tensor at = tn::zeros({4096}, tn::int64, kCuda);
  for (const tn::Dtype dtype : {tn::float16, tn::bfloat16}) {
    const Tensor sums =
        tn::index_add(tn::zeros({2}, dtype, kCuda), 0, at, tn::ones({4096}, dtype, kCuda));
    EXPECT_EQ(sums.to(tn::cpu).to_vector<double>(), (std::vector<double>{4096, 0}));
  }
}

// Rows go in pieces of 16 bytes, or of 8 where they are set, if they can.
TEST_F(CudaIndex, MovesRowsOfAnyLength) {
  for (const tn::Dtype dtype : {tn::float32, tn::float64, tn::float16, tn::int8}) {
    for (const int64_t columns : {1, 2, 4, 6, 8, 16, 48}) {
      for (const int64_t offset : {0, 1}) {
        SCOPED_TRACE(std::string(dtype.name()) + " " + std::to_string(columns));
        const Tensor whole = tn::floor(sample({20, columns + offset}) * 50).to(dtype);
        const Tensor x = whole.narrow(1, offset, columns);
        const Tensor y = whole.to(kCuda).narrow(1, offset, columns);
        const Tensor index = Tensor::from(indices_of(30, 20, 20), {30});
        const Tensor there = index.to(kCuda);
        const auto values = [](const Tensor& t) { return t.to(tn::cpu).to_vector<double>(); };
        EXPECT_EQ(values(tn::index_select(y, 0, there)), values(tn::index_select(x, 0, index)));
        EXPECT_EQ(values(tn::index_select(y.t(), 1, there)),
                  values(tn::index_select(x.t(), 1, index)));
        const Tensor order = tn::arange(0, 20).flip({0}), rows = order.reshape({20, 1});
        EXPECT_EQ(values(tn::scatter(y, 0, rows.expand({20, columns}).to(kCuda), y)),
                  values(x.flip({0})));
      }
    }
  }
}

TEST_F(CudaIndex, TheGradientOfAnEmbeddingIsSorted) {
  const Tensor weight = sample({50, 8}).to(tn::float32).to(kCuda).requires_grad_();
  const Tensor index = Tensor::from(indices_of(300, 50, 12), {10, 30}).to(kCuda);
  const Tensor y = tn::embedding(weight, index);
  const auto launches = fake_launches([&] { y.sum().backward(); });
  if (launches) {
    EXPECT_EQ(std::ranges::count(*launches, "sort_tile"), 1);
    EXPECT_EQ(std::ranges::count(*launches, "add_pieces"), 1);
    EXPECT_EQ(std::ranges::count(*launches, "join_pieces"), 1);
  }
  std::vector<double> expected(50 * 8, 0);
  for (const int64_t i : indices_of(300, 50, 12)) {
    for (int64_t k = 0; k < 8; ++k) expected[size_t(i * 8 + k)] += 1;
  }
  expect_near(weight.grad().to(tn::cpu), expected, 0);
}

// The rows of a table are added in place.
TEST_F(CudaIndex, AddsRowsOfATable) {
  for (const tn::Dtype dtype : {tn::float32, tn::float64, tn::bfloat16}) {
    SCOPED_TRACE(dtype.name());
    const Tensor table = sample({60, 2, 5}).to(dtype), rows = sample({90, 2, 5}, {}, 1).to(dtype);
    const Tensor index = Tensor::from(indices_of(90, 60, 20), {90});
    const Tensor there = table.to(kCuda), bits = there.clone();
    const auto add = [&](const Tensor& x) {
      tn::add_rows_(x, index.to(kCuda), rows.to(kCuda), -0.25);
    };
    EXPECT_EQ(kernel_answer("add_rows_", [&] { add(there); }), "taken");
    add(bits);
    EXPECT_EQ(there.to(tn::cpu).to_vector<double>(), bits.to(tn::cpu).to_vector<double>());
    tn::add_rows_(table, index, rows, -0.25);
    expect_near(there.to(tn::cpu), table.to_vector<double>(), dtype == tn::bfloat16 ? 1e-2 : 1e-6);
  }
  const Tensor x = tn::zeros({4, 2}, tn::float32, kCuda);
  const Tensor at = tn::zeros({2}, tn::int64, kCuda);
  EXPECT_EQ(kernel_answer("add_rows_", [&] { tn::add_rows_(x, at, x.narrow(0, 0, 2)); }),
            "x and rows share memory");
  EXPECT_EQ(kernel_answer("add_rows_",
                          [&] {
                            tn::add_rows_(x, at, tn::ones({2, 2}, tn::float16, kCuda));
                          }),
            "takes x and rows of one float dtype");
}

TEST_F(CudaIndex, ReportsAnIndexOfARunThatIsOutOfRange) {
  const Tensor x = tn::zeros({5}, tn::float32, kCuda), source = tn::ones({40}, tn::float32, kCuda);
  const Tensor at = tn::full({40}, 7, tn::int64, kCuda);
  expect_error([&] { tn::index_add(x, 0, at, source).to_vector<float>(); },
               "scatter: index 7 is out of range for dimension 0 of size 5 (cuda:0)");
  expect_error([&] { tn::index_add(x, 0, at - 8, source).to_vector<float>(); },
               "scatter: index -1 is out of range for dimension 0 of size 5 (cuda:0)");
}

}  // namespace
