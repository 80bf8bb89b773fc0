// REDUCE of the cpu kernels, under the small host of cpu_host.h: kinds, dtypes, layouts, prologues
// and epilogues, NaN, error bounds, threads. Expected values are exact sums of small integers, or
// folded here in long double.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "cpu_host.h"

#include <gtest/gtest.h>

namespace cpu_test {
namespace {

constexpr tn_dtype F = TN_FLOAT32;
const double kNan = std::numeric_limits<double>::quiet_NaN();

struct Problem {
  tn_reduce_kind kind = TN_REDUCE_SUM;
  tn_dtype accumulate = F;
  std::vector<int64_t> sizes;  // kept, then reduced
  int32_t n_reduced = 1;
  std::vector<std::vector<int64_t>> strides;  // of the output and the inputs
  const Program* prologue = nullptr;
  const Program* epilogue = nullptr;
  std::vector<tn_scalar> prologue_params, epilogue_params;
};

std::string reduce(const Problem& p, const std::vector<Tensor*>& operands) {
  tn_reduction r = {};
  r.size = sizeof r;
  r.kind = p.kind;
  r.accumulate = p.accumulate;
  r.ndim = static_cast<int32_t>(p.sizes.size());
  r.n_reduced = p.n_reduced;
  r.n_kept = 1;
  for (size_t d = 0; d + p.n_reduced < p.sizes.size(); ++d) {
    r.n_kept *= p.sizes[d];
  }
  std::vector<tn_operand> list;
  for (size_t k = 0; k < operands.size(); ++k) {
    list.push_back(operands[k]->operand(p.strides[k].data()));
  }
  r.sizes = p.sizes.data();
  r.operands = list.data();
  r.prologue = p.prologue ? &p.prologue->program : nullptr;
  r.epilogue = p.epilogue ? &p.epilogue->program : nullptr;
  r.prologue_params = p.prologue_params.data();
  r.epilogue_params = p.epilogue_params.data();
  tn_value value = {TN_KIND_REDUCTION, 0, {}};
  value.as.reduction = &r;
  return launch(TN_PRIM_REDUCE, {value});
}

// All of a vector to one number of `to`.
double fold(Tensor& x, tn_reduce_kind kind, tn_dtype accumulate, tn_dtype to, int64_t stride = 1) {
  Tensor y({1}, to);
  Problem p = {kind, accumulate, {x.tensor.numel}, 1, {{0}, {stride}}};
  EXPECT_EQ(reduce(p, {&y, &x}), "");
  return y.get(0);
}

TEST(CpuReduce, EveryKindAndDtype) {
  struct Row {
    tn_dtype dtype, accumulate;
  };
  for (const auto& [dtype, accumulate] :
       {Row{TN_FLOAT32, F}, Row{TN_FLOAT16, F}, Row{TN_BFLOAT16, F}, Row{TN_FLOAT64, TN_FLOAT64},
        Row{TN_INT64, TN_INT64}, Row{TN_INT32, TN_INT64}, Row{TN_UINT8, TN_INT64},
        Row{TN_INT16, TN_INT64}, Row{TN_INT8, TN_INT64}}) {
    for (const int64_t stride : {1, 2}) {
      for (const int64_t n : {1, 2, 7, 8, 16, 37}) {
        Tensor x({n}, dtype, {stride});
        x.fill([&](int64_t k) { return k * 3 % 7; });
        double sum = 0, product = 1, top = 0, bottom = 9;
        int64_t first_top = 0, first_bottom = 0;
        for (int64_t k = 0; k < n; ++k) {
          const double v = k * 3 % 7;
          sum += v;
          product *= v;
          if (v > top) {
            top = v;
            first_top = k;
          }
          if (v < bottom) {
            bottom = v;
            first_bottom = k;
          }
        }
        const tn_dtype to = accumulate;
        EXPECT_EQ(fold(x, TN_REDUCE_SUM, accumulate, to, stride), sum) << dtype << " " << n;
        EXPECT_EQ(fold(x, TN_REDUCE_PROD, accumulate, to, stride), product) << dtype << " " << n;
        EXPECT_EQ(fold(x, TN_REDUCE_MAX, accumulate, dtype, stride), top) << dtype << " " << n;
        EXPECT_EQ(fold(x, TN_REDUCE_MIN, accumulate, dtype, stride), bottom) << dtype << " " << n;
        EXPECT_EQ(fold(x, TN_REDUCE_ARGMAX, accumulate, TN_INT64, stride), first_top)
            << dtype << " " << n;
        EXPECT_EQ(fold(x, TN_REDUCE_ARGMIN, accumulate, TN_INT64, stride), first_bottom)
            << dtype << " " << n;
      }
    }
  }
  Tensor flags({5}, TN_BOOL);
  flags.fill([](int64_t k) { return k % 2; });
  EXPECT_EQ(fold(flags, TN_REDUCE_SUM, TN_INT64, TN_INT64), 2);
  EXPECT_EQ(fold(flags, TN_REDUCE_MAX, TN_INT64, TN_BOOL), 1);
  EXPECT_EQ(fold(flags, TN_REDUCE_MIN, TN_INT64, TN_BOOL), 0);
}

TEST(CpuReduce, IntegersWrap) {
  Tensor x({3}, TN_INT64);
  x.data<int64_t>()[0] = std::numeric_limits<int64_t>::max();
  x.data<int64_t>()[1] = 2;
  x.data<int64_t>()[2] = 0;
  Tensor y({1}, TN_INT64);
  EXPECT_EQ(reduce({TN_REDUCE_SUM, TN_INT64, {3}, 1, {{0}, {1}}}, {&y, &x}), "");
  EXPECT_EQ(y.data<int64_t>()[0], std::numeric_limits<int64_t>::min() + 1);
}

TEST(CpuReduce, NanWins) {
  for (const tn_dtype dtype : {TN_FLOAT32, TN_FLOAT64}) {
    for (const int64_t n : {1, 5, 16, 63, 64, 200, 1000, 5000}) {
      for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
        Tensor x({n}, dtype);
        x.fill([&](int64_t k) { return k == at || (k == n - 1 && at == n / 2) ? kNan : 10.0 + k; });
        for (const tn_reduce_kind kind : {TN_REDUCE_MAX, TN_REDUCE_MIN}) {
          EXPECT_TRUE(std::isnan(fold(x, kind, dtype, dtype))) << n << " " << at;
        }
        for (const tn_reduce_kind kind : {TN_REDUCE_ARGMAX, TN_REDUCE_ARGMIN}) {
          EXPECT_EQ(fold(x, kind, dtype, TN_INT64), at) << n;
        }
      }
    }
  }
  Tensor x({9}, F);
  x.fill([](int64_t k) { return k == 4 ? -INFINITY : INFINITY; });
  EXPECT_TRUE(std::isnan(fold(x, TN_REDUCE_SUM, F, F)));
  x.fill([](int64_t) { return INFINITY; });
  EXPECT_EQ(fold(x, TN_REDUCE_SUM, F, F), INFINITY);
}

TEST(CpuReduce, ArgumentsAreTheFirstAmongEquals) {
  const int64_t n = 400'000;
  Tensor x({n}, F);
  x.fill([](int64_t k) { return k % 1000 == 999 ? 5 : k % 3; });
  EXPECT_EQ(fold(x, TN_REDUCE_ARGMAX, F, TN_INT64), 999);
  EXPECT_EQ(fold(x, TN_REDUCE_ARGMIN, F, TN_INT64), 0);
  x.set(333'333, 6);
  EXPECT_EQ(fold(x, TN_REDUCE_ARGMAX, F, TN_INT64), 333'333);
}

// Rows, columns, the middle of three dimensions, two dimensions around a kept one; contiguous and
// not.
TEST(CpuReduce, AnyDimensions) {
  for (const auto& [a, b, c] : {std::array<int64_t, 3>{3, 5, 7},
                                {17, 4, 33},
                                {2, 300, 5},
                                {1, 9, 600},
                                {40, 50, 60},
                                {6, 1, 4}}) {
    Tensor x({a, b, c}, F);
    x.fill([](int64_t k) { return (k * 7) % 11 - 3; });
    const int64_t sa = b * c, sb = c, sc = 1;
    struct Case {
      std::vector<int64_t> sizes, strides, out;
      int32_t n_reduced;
    };
    for (const Case& t :
         {Case{{a, b, c}, {sa, sb, sc}, {b, 1, 0}, 1}, Case{{a, c, b}, {sa, sc, sb}, {c, 1, 0}, 1},
          Case{{b, c, a}, {sb, sc, sa}, {c, 1, 0}, 1}, Case{{b, a, c}, {sb, sa, sc}, {1, 0, 0}, 2},
          Case{{c, a, b}, {sc, sa, sb}, {1, 0, 0}, 2}, Case{{a * b, c}, {sb, sc}, {1, 0}, 1},
          Case{{c, a * b}, {sc, sb}, {1, 0}, 1}, Case{{a, b, c}, {sa, sb, sc}, {0, 0, 0}, 3},
          Case{{b, a, c}, {sb, sa, sc}, {1, b, 0}, 1} /* a transposed output */}) {
      int64_t n_kept = 1;
      for (size_t d = 0; d + t.n_reduced < t.sizes.size(); ++d) {
        n_kept *= t.sizes[d];
      }
      for (const tn_reduce_kind kind :
           {TN_REDUCE_SUM, TN_REDUCE_MAX, TN_REDUCE_ARGMAX, TN_REDUCE_MIN, TN_REDUCE_PROD}) {
        Tensor y({n_kept}, kind == TN_REDUCE_ARGMAX ? TN_INT64 : F);
        ASSERT_EQ(reduce({kind, F, t.sizes, t.n_reduced, {t.out, t.strides}}, {&y, &x}), "");
        int64_t numel = 1;
        for (const int64_t size : t.sizes) {
          numel *= size;
        }
        std::vector<double> want(n_kept, 0), best(n_kept, 0);
        for (int64_t flat = 0; flat < numel; ++flat) {
          int64_t rest = flat, from = 0, to = 0;
          for (int d = static_cast<int>(t.sizes.size()) - 1; d >= 0; --d) {
            const int64_t index = rest % t.sizes[d];
            rest /= t.sizes[d];
            from += index * t.strides[d];
            to += index * t.out[d];
          }
          const double v = x.get(from);
          const int64_t at = flat % (numel / n_kept);
          if (kind == TN_REDUCE_SUM) {
            want[to] += v;
          } else if (kind == TN_REDUCE_PROD) {
            want[to] = at == 0 ? v : want[to] * v;
          } else if (at == 0 || (kind == TN_REDUCE_MIN ? v < best[to] : v > best[to])) {
            best[to] = v;
            want[to] = kind == TN_REDUCE_ARGMAX ? at : v;
          }
        }
        for (int64_t k = 0; k < n_kept; ++k) {
          if (kind == TN_REDUCE_PROD) {
            const double scale = std::max(1e-30, std::abs(want[k]));
            ASSERT_TRUE(std::abs(want[k]) > 3e38 || std::abs(y.get(k) - want[k]) < 1e-4 * scale)
                << a << b << c;
          } else {
            ASSERT_EQ(y.get(k), want[k]) << "kind " << kind << " of " << a << "x" << b << "x" << c;
          }
        }
        ASSERT_TRUE(y.is_guarded());
      }
    }
  }
}

TEST(CpuReduce, PrologueAndEpilogueAreApplied) {
  // sum((x - p)^2 * w) over rows and over columns, with w [columns] broadcast; then sqrt(s * q) to
  // float64.
  const Program& before =
      Program::make(1, 2,
                    {in(TN_I_LOAD, F, 0, 0), in(TN_I_LOAD, F, 1, 1), in(TN_I_PARAM, F, 2, 0),
                     in(TN_I_SUB, F, 3, 0, 2), in(TN_I_MUL, F, 3, 3, 3), in(TN_I_MUL, F, 3, 3, 1),
                     in(TN_I_STORE, F, 0, 3, 0)},
                    {}, 1);
  const Program& after =
      Program::make(1, 1,
                    {in(TN_I_LOAD, F, 0, 0), in(TN_I_PARAM, F, 1, 0), in(TN_I_MUL, F, 0, 0, 1),
                     in(TN_I_SQRT, F, 0, 0), in(TN_I_STORE, F, 0, 0, 0)},
                    {}, 1);
  tn_scalar two, four;
  two.f = 2;
  four.f = 4;
  for (const auto& [m, n] :
       {std::pair<int64_t, int64_t>{3, 5}, {70, 9}, {9, 700}, {1000, 300}, {5000, 3}}) {
    Tensor x({m, n}, F), w({n}, F);
    x.fill([](int64_t k) { return k % 5; });
    w.fill([](int64_t k) { return k % 3; });
    for (const bool columns : {false, true}) {
      Tensor y({columns ? n : m}, TN_FLOAT64);
      Problem p = {TN_REDUCE_SUM, F,      {m, n}, 1,     {{1, 0}, {n, 1}, {0, 1}},
                   &before,       &after, {two},  {four}};
      if (columns) {
        p.sizes = {n, m};
        p.strides = {{1, 0}, {1, n}, {1, 0}};
      }
      ASSERT_EQ(reduce(p, {&y, &x, &w}), "");
      for (int64_t i = 0; i < (columns ? n : m); ++i) {
        double sum = 0;
        for (int64_t j = 0; j < (columns ? m : n); ++j) {
          const int64_t r = columns ? j : i, c = columns ? i : j;
          const double d = (r * n + c) % 5 - 2;
          sum += d * d * (c % 3);
        }
        ASSERT_NEAR(y.get(i), std::sqrt(4 * sum), 1e-6 * std::sqrt(4 * sum) + 1e-12);
      }
    }
  }
  // A prologue that is one number everywhere: the count.
  const Program& one = Program::make(
      1, 1, {in(TN_I_CONST, TN_INT64, 0, 0), in(TN_I_STORE, TN_INT64, 0, 0, 0)}, {{.i = 1}});
  Tensor x({777}, F), y({1}, TN_INT64);
  ASSERT_EQ(reduce({TN_REDUCE_SUM, TN_INT64, {777}, 1, {{0}, {1}}, &one}, {&y, &x}), "");
  EXPECT_EQ(y.get(0), 777);
}

// No worse than pairwise: |error| <= (log2(n) + 1) * eps * sum|x|, and much better than one running
// sum.
TEST(CpuReduce, SumsAreAsExactAsPairwise) {
  for (const int64_t n : {1000, 100'000, 4'000'000}) {
    for (const tn_dtype dtype : {TN_FLOAT32, TN_FLOAT64}) {
      Tensor x({n}, dtype);
      std::mt19937 random(5);
      std::uniform_real_distribution<double> values(0, 1);
      x.fill([&](int64_t) { return values(random); });
      long double sum = 0;
      for (int64_t k = 0; k < n; ++k) {
        sum += x.get(k);
      }
      const double eps = dtype == TN_FLOAT32 ? 0x1p-24 : 0x1p-53;
      const double bound = (std::log2(n) + 1) * eps * static_cast<double>(sum);
      EXPECT_LE(std::abs(static_cast<double>(fold(x, TN_REDUCE_SUM, dtype, dtype) - sum)), bound)
          << n;
      // Columns: [n / 8, 8] and [n / 100, 100].
      for (const int64_t columns : {8, 100}) {
        const int64_t rows = n / columns;
        Tensor y({columns}, dtype);
        ASSERT_EQ(
            reduce({TN_REDUCE_SUM, dtype, {columns, rows}, 1, {{1, 0}, {1, columns}}}, {&y, &x}),
            "");
        for (int64_t c = 0; c < columns; ++c) {
          long double want = 0;
          for (int64_t r = 0; r < rows; ++r) {
            want += x.get(r * columns + c);
          }
          EXPECT_LE(std::abs(static_cast<double>(y.get(c) - want)),
                    (std::log2(rows) + 1) * eps * static_cast<double>(want));
        }
      }
    }
  }
  // Ones beyond 2^24, where a float32 that counts stands still.
  Tensor ones({20'000'000}, TN_UINT8);
  ones.fill([](int64_t) { return 1; });
  const Program& load = Program::make(1, 1, {in(TN_I_LOAD, F, 0, 0), in(TN_I_STORE, F, 0, 0, 0)});
  Tensor y({1}, F);
  ASSERT_EQ(reduce({TN_REDUCE_SUM, F, {20'000'000}, 1, {{0}, {1}}, &load}, {&y, &ones}), "");
  EXPECT_EQ(y.get(0), 20'000'000);
}

TEST(CpuReduce, LargeOnesOnThreadsAreExact) {
  struct Row {
    int64_t kept, reduced;
    bool columns;
  };
  for (const auto& [kept, reduced, columns] :
       {Row{1, 3'000'001, false}, Row{3, 1'000'001, false}, Row{5, 400'003, true},
        Row{1000, 1001, false}, Row{1001, 1000, true}, Row{100'003, 9, false},
        Row{9, 100'003, true}, Row{300'001, 5, true}}) {
    Tensor x({kept * reduced}, F), y({kept}, F), top({kept}, F);
    x.fill([](int64_t k) { return k % 13; });
    const std::vector<int64_t> strides =
        columns ? std::vector<int64_t>{1, kept} : std::vector<int64_t>{reduced, 1};
    ASSERT_EQ(reduce({TN_REDUCE_SUM, F, {kept, reduced}, 1, {{1, 0}, strides}}, {&y, &x}), "");
    ASSERT_EQ(reduce({TN_REDUCE_MAX, F, {kept, reduced}, 1, {{1, 0}, strides}}, {&top, &x}), "");
    for (int64_t i = 0; i < kept; ++i) {
      int64_t want = 0, most = 0;
      for (int64_t j = 0; j < reduced; ++j) {
        const int64_t v = (i * strides[0] + j * strides[1]) % 13;
        want += v;
        most = std::max(most, v);
      }
      ASSERT_EQ(y.get(i), static_cast<float>(want)) << kept << " " << reduced;
      ASSERT_EQ(top.get(i), most);
    }
  }
}

}  // namespace
}  // namespace cpu_test
