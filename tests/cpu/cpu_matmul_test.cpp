// MATMUL, linear and linear_relu of the cpu kernels, under the small host of cpu_host.h. Integers
// small enough make every product exact in each dtype, whatever the order of its sums.
#include <array>
#include <cmath>
#include <cstdint>

#include "cpu_host.h"

#include <gtest/gtest.h>

namespace cpu_test {
namespace {

constexpr tn_dtype F = TN_FLOAT32;

int a_of(int64_t k) { return static_cast<int>(k * 7 % 5) - 2; }
int b_of(int64_t k) { return static_cast<int>(k * 11 % 3) - 1; }

// Strides of [b, m, n] by kind: rows dense, columns dense, neither, and a batch that is repeated.
std::vector<int64_t> layout(int kind, int64_t m, int64_t n) {
  switch (kind) {
    case 0:
      return {m * n, n, 1};
    case 1:
      return {m * n, 1, m};
    case 2:
      return {3 * m * n, 3 * n, 3};
    default:
      return {0, n, 1};
  }
}

void check(tn_dtype dtype, int64_t batch, int64_t m, int64_t k, int64_t n, int ka, int kb, int kc) {
  Tensor a({batch, m, k}, dtype, layout(ka, m, k)), b({batch, k, n}, dtype, layout(kb, k, n)),
      c({batch, m, n}, dtype, layout(kc, m, n));
  std::vector<int> x(batch * m * k), y(batch * k * n);
  // A repeated batch is written several times, with the values of its last.
  const auto fill = [batch](Tensor& t, std::vector<int>& values, int (*value)(int64_t),
                            int64_t size, bool repeats) {
    for (int64_t i = 0; i < batch * size; ++i) {
      values[i] = value(repeats ? i % size : i);
      t.set(i, values[i]);
    }
  };
  fill(a, x, a_of, m * k, ka == 3);
  fill(b, y, b_of, k * n, kb == 3);
  ASSERT_EQ(launch(TN_PRIM_MATMUL, {a, b}, {&c.tensor}), "");
  std::vector<int> sum(n);
  for (int64_t i = 0; i < batch * m; ++i) {
    std::fill(sum.begin(), sum.end(), 0);
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t j = 0; j < n; ++j) {
        sum[j] += x[i * k + p] * y[i / m * k * n + p * n + j];
      }
    }
    for (int64_t j = 0; j < n; ++j) {
      // Halves hold integers up to 2048 and 256; the sums of these shapes stay below, or round as
      // float32 does.
      const double want = sum[j];
      const double slack = dtype == TN_BFLOAT16  ? std::abs(want) / 256
                           : dtype == TN_FLOAT16 ? std::abs(want) / 2048
                                                 : 0;
      ASSERT_NEAR(c.get(i * n + j), want, slack)
          << "dtype " << dtype << " [" << batch << ", " << m << ", " << k << "] x " << n << " at "
          << i << ", " << j << ", layouts " << ka << kb << kc;
    }
  }
  ASSERT_TRUE(c.is_guarded());
}

TEST(CpuMatmul, EverySmallSizeInEveryLayout) {
  for (const tn_dtype dtype : {TN_FLOAT32, TN_FLOAT64, TN_FLOAT16, TN_BFLOAT16}) {
    for (const int64_t m : {1, 2, 5, 13, 25}) {
      for (const int64_t n : {1, 3, 16, 33, 70}) {
        for (const int64_t k : {1, 4, 19}) {
          for (int ka = 0; ka < 4; ++ka) {
            for (int kb = 0; kb < 4; ++kb) {
              check(dtype, 2, m, k, n, ka, kb, (ka + kb) % 3);
              if (testing::Test::HasFatalFailure()) {
                return;
              }
            }
          }
        }
      }
    }
  }
}

TEST(CpuMatmul, BlocksOfDepthRowsAndColumns) {
  for (const tn_dtype dtype : {TN_FLOAT32, TN_FLOAT64, TN_BFLOAT16}) {
    for (int kind = 0; kind < 3; ++kind) {
      check(dtype, 1, 200, 500, 130, kind, (kind + 1) % 3, kind % 2);
      check(dtype, 1, 3, 1000, 1100, kind, kind, 0);
      check(dtype, 1, 30, 260, 4200, kind, 0, 0);
      check(dtype, 7, 30, 41, 50, kind, 3, 0);
    }
  }
}

// Few columns are computed by rows of a that are read in place; dense rows are of kinds 0 and 3.
TEST(CpuMatmul, FewColumns) {
  for (const tn_dtype dtype : {TN_FLOAT32, TN_FLOAT64, TN_FLOAT16, TN_BFLOAT16}) {
    for (const int64_t n : {1, 7, 16, 17, 33, 48, 50, 64, 65, 97, 255, 256, 257}) {
      for (const int64_t m : {47, 48, 53, 200}) {
        check(dtype, 1, m, 37, n, 0, n % 3, 0);
      }
    }
    check(dtype, 1, 50, 1030, 33, 0, 0, 0);
    check(dtype, 1, 49, 520, 250, 0, 1, 0);
    check(dtype, 3, 100, 40, 40, 3, 3, 0);
    check(dtype, 1, 100, 0, 40, 0, 0, 0);
  }
}

// Results of few parts have sums of several parts, whose last is shorter or longer.
TEST(CpuMatmul, LongSumsInParts) {
  for (const tn_dtype dtype : {TN_FLOAT32, TN_FLOAT64, TN_BFLOAT16}) {
    for (int kind = 0; kind < 3; ++kind) {
      check(dtype, 1, 1, 20011, 1, kind, 1, 0);
      check(dtype, 2, 3, 8195, 5, kind, kind, kind);
      check(dtype, 1, 60, 4097, 70, kind, (kind + 1) % 3, 0);
      check(dtype, 1, 60, 6143, 70, (kind + 1) % 3, kind, 1);
    }
  }
}

TEST(CpuMatmul, LargeProducts) {
  for (int ka = 0; ka < 3; ++ka) {
    for (int kb = 0; kb < 3; ++kb) {
      check(F, 1, 401, 403, 405, ka, kb, 0);
    }
  }
  check(F, 1, 401, 403, 405, 0, 0, 1);
  check(F, 3, 300, 300, 300, 0, 1, 0);
  check(F, 3, 300, 300, 300, 3, 0, 0);
  check(F, 1, 1, 3000, 3001, 0, 0, 0);
  check(F, 1, 3001, 3000, 1, 0, 0, 0);
  check(F, 1, 3001, 3000, 1, 1, 0, 0);
  check(TN_FLOAT64, 1, 301, 303, 305, 0, 0, 0);
}

TEST(CpuMatmul, EmptyOnes) {
  Tensor a({2, 3, 0}, F), b({2, 0, 4}, F), c({2, 3, 4}, F);
  ASSERT_EQ(launch(TN_PRIM_MATMUL, {a, b}, {&c.tensor}), "");
  for (int64_t i = 0; i < 24; ++i) {
    EXPECT_EQ(c.get(i), 0);
  }
  Tensor d({0, 3, 5}, F), e({0, 5, 4}, F), g({0, 3, 4}, F);
  EXPECT_EQ(launch(TN_PRIM_MATMUL, {d, e}, {&g.tensor}), "");
  for (const int64_t m : {1, 40}) {
    Tensor x({1, m, 0}, TN_FLOAT64), w({1, 0, 3}, TN_FLOAT64, {0, 1, 1}), y({1, m, 3}, TN_FLOAT64);
    ASSERT_EQ(launch(TN_PRIM_MATMUL, {x, w}, {&y.tensor}), "");
    EXPECT_EQ(y.get(0), 0);
  }
}

// Of halves, too, whose sums may be made of pairs: what stands behind an odd depth is no part of them.
TEST(CpuMatmul, NanAndInfinityStay) {
  for (const tn_dtype dtype : {F, tn_dtype{TN_FLOAT16}, tn_dtype{TN_BFLOAT16}}) {
    Tensor a({1, 5, 5}, dtype), b({1, 5, 40}, dtype), c({1, 5, 40}, dtype);
    a.fill([](int64_t k) { return k == 7 ? NAN : k == 14 ? INFINITY : 1; });
    b.fill([](int64_t) { return 1; });
    ASSERT_EQ(launch(TN_PRIM_MATMUL, {a, b}, {&c.tensor}), "");
    EXPECT_EQ(c.get(0), 5);
    EXPECT_TRUE(std::isnan(c.get(40)));
    EXPECT_EQ(c.get(80), INFINITY);
    EXPECT_EQ(c.get(120), 5);
    EXPECT_TRUE(c.is_guarded());
  }
}

TEST(CpuLinear, WithAndWithoutBiasAndRelu) {
  plugin();
  for (const tn_dtype dtype : {TN_FLOAT32, TN_FLOAT64, TN_BFLOAT16}) {
    for (const auto& [m, in, out] : {std::array<int64_t, 3>{1, 64, 10},
                                     {3, 7, 130},
                                     {64, 64, 128},
                                     {64, 128, 10},
                                     {400, 410, 420}}) {
      for (const bool relu : {false, true}) {
        for (const bool has_bias : {false, true}) {
          Tensor x({2, m, in}, dtype), w({out, in}, dtype), bias({out}, dtype, {2}),
              y({2, m, out}, dtype);
          x.fill([](int64_t k) { return a_of(k); });
          w.fill([](int64_t k) { return b_of(k); });
          bias.fill([](int64_t k) { return k % 7 - 3; });
          const tn_value none = {TN_KIND_NONE, 0, {}};
          const tn_kernel_def& def =
              relu ? record().ops.at("linear_relu") : record().pairs.at("linear").forward;
          tn_value args[] = {x, w, none};
          if (has_bias) {
            args[2] = bias;
          }
          ASSERT_EQ(launch(def.launch, def.self, {args[0], args[1], args[2]}, {&y.tensor}), "");
          for (int64_t i = 0; i < 2 * m; i += 1 + m / 50) {
            for (int64_t j = 0; j < out; j += 1 + out / 50) {
              double want = has_bias ? j % 7 - 3 : 0;
              for (int64_t k = 0; k < in; ++k) {
                want += a_of(i * in + k) * b_of(j * in + k);
              }
              want = relu && want < 0 ? 0 : want;
              ASSERT_NEAR(y.get(i * out + j), want, dtype == TN_BFLOAT16 ? std::abs(want) / 256 : 0)
                  << m << " " << i << " " << j;
            }
          }
        }
      }
    }
  }
}

TEST(CpuLinear, SaysWhyNot) {
  plugin();
  Tensor x({3, 4}, F), w({5, 4}, TN_FLOAT64);
  const tn_value args[] = {x, w};
  tn_call call = {};
  call.args = args;
  call.n_args = 2;
  char reason[200];
  const tn_kernel_def& linear = record().pairs.at("linear").forward;
  EXPECT_EQ(linear.supports(linear.self, &call, reason, sizeof reason), 0);
  EXPECT_STREQ(reason, "dtypes differ: x is float32, weight is float64");
}

}  // namespace
}  // namespace cpu_test
