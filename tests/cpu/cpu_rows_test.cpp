// Short rows of the cpu kernels, which are taken several at once, under the small host of cpu_host.h:
// loops and reductions of random shapes, layouts and dtypes, computed of small integers, so that every
// expected value is exact. The long form draws ten times as many. CTest runs it once for each
// instruction set.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "cpu_host.h"
#include "long_form.h"

#include <gtest/gtest.h>

namespace cpu_test {
namespace {

constexpr tn_dtype F = TN_FLOAT32;
constexpr tn_dtype kDtypes[] = {TN_FLOAT32, TN_FLOAT16, TN_BFLOAT16, TN_FLOAT64,
                                TN_INT64,   TN_INT16,   TN_UINT8,    TN_BOOL};

int draws() { return long_form() ? 6000 : 600; }

struct Draw {
  std::mt19937 engine;
  explicit Draw(int seed) : engine(static_cast<uint32_t>(seed)) {}
  int64_t upto(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(engine); }
  bool one_in(int64_t n) { return upto(n) == 0; }

  // Mostly a short row, behind a few dimensions.
  std::vector<int64_t> sizes() {
    std::vector<int64_t> result(static_cast<size_t>(1 + upto(4)));
    for (int64_t& size : result) size = 1 + upto(7);
    result.back() = one_in(8) ? 200 + upto(200) : 1 + upto(40);
    if (one_in(2)) result.front() = 1 + upto(70);
    return result;
  }
  // Strides in any order of the dimensions, with gaps, and 0 along some where elements may repeat.
  std::vector<int64_t> strides(const std::vector<int64_t>& sizes, bool may_repeat) {
    std::vector<size_t> order(sizes.size());
    for (size_t d = 0; d < order.size(); ++d) order[d] = order.size() - 1 - d;
    const bool dense = one_in(2);
    if (!dense) std::shuffle(order.begin(), order.end(), engine);
    std::vector<int64_t> result(sizes.size());
    int64_t n = !dense && one_in(3) ? 2 : 1;
    for (const size_t d : order) {
      if (may_repeat && !dense && one_in(3)) continue;
      result[d] = n;
      n *= sizes[d] + (!dense && one_in(4) ? 1 + upto(2) : 0);
    }
    if (may_repeat && one_in(9)) std::fill(result.begin(), result.end(), 0);
    return result;
  }
};

// y0 = x0 + 2 x1 + 3 x2 ..; y1 = x0 - x(last)
const Program& program(uint32_t n_outputs, uint32_t n_inputs) {
  static std::map<std::pair<uint32_t, uint32_t>, const Program*> made;
  const Program*& p = made[{n_outputs, n_inputs}];
  if (p) return *p;
  std::vector<tn_instruction> code = {in(TN_I_CONST, F, 0, 0)};
  std::vector<tn_scalar> constants;
  const int sum = static_cast<int>(n_inputs) + 1;
  for (uint32_t k = 0; k < n_inputs; ++k) {
    tn_scalar c;
    c.f = k + 1;
    constants.push_back(c);
    const int x = static_cast<int>(k) + 1;
    code.push_back(in(TN_I_LOAD, F, x, static_cast<int>(k)));
    code.push_back(in(TN_I_CONST, F, sum + 2, static_cast<int>(k)));
    code.push_back(in(TN_I_MUL, F, k == 0 ? sum : sum + 1, x, sum + 2));
    if (k > 0) code.push_back(in(TN_I_ADD, F, sum, sum, sum + 1));
  }
  code.push_back(in(TN_I_STORE, F, 0, sum, 0));
  if (n_outputs > 1) {
    code.push_back(in(TN_I_SUB, F, sum, 1, static_cast<int>(n_inputs)));
    code.push_back(in(TN_I_STORE, F, 0, sum, 1));
  }
  p = &Program::make(n_outputs, n_inputs, code, constants);
  return *p;
}

TEST(CpuRows, LoopsOfAnyLayout) {
  for (int seed = 0; seed < draws(); ++seed) {
    Draw draw(seed);
    const std::vector<int64_t> sizes = draw.sizes();
    const auto n_inputs = static_cast<uint32_t>(1 + draw.upto(draw.one_in(4) ? 8 : 3));
    const uint32_t n_outputs = draw.one_in(4) ? 2 : 1;
    std::vector<std::unique_ptr<Tensor>> all;
    for (uint32_t k = 0; k < n_outputs + n_inputs; ++k) {
      const bool is_output = k < n_outputs;
      // 36 of 8 inputs times 3 is the most, which each of these holds.
      const tn_dtype dtype = is_output ? kDtypes[draw.upto(6)] : kDtypes[draw.upto(8)];
      all.push_back(std::make_unique<Tensor>(sizes, dtype, draw.strides(sizes, !is_output)));
      const int64_t salt = draw.upto(7);
      all.back()->fill([&](int64_t i) { return (i * 5 + salt) % (dtype == TN_BOOL ? 2 : 4); });
    }
    std::vector<Tensor*> operands;
    for (const auto& tensor : all) operands.push_back(tensor.get());
    if (draw.one_in(3)) operands[n_outputs] = operands[0];  // in place
    const int64_t numel = all[0]->tensor.numel;
    std::vector<double> sums, differences;
    for (int64_t i = 0; i < numel; ++i) {
      double sum = 0;
      for (uint32_t k = 0; k < n_inputs; ++k) sum += (k + 1) * operands[n_outputs + k]->get(i);
      sums.push_back(sum);
      differences.push_back(operands[n_outputs]->get(i) - operands.back()->get(i));
    }
    std::vector<std::vector<int64_t>> strides;
    for (Tensor* t : operands) strides.emplace_back(t->strides(), t->strides() + sizes.size());
    ASSERT_EQ(run(program(n_outputs, n_inputs), operands, sizes, strides), "") << seed;
    for (int64_t i = 0; i < numel; ++i) {
      ASSERT_EQ(operands[0]->get(i), sums[static_cast<size_t>(i)])
          << "seed " << seed << " at " << i;
      if (n_outputs == 1) continue;
      ASSERT_EQ(operands[1]->get(i), differences[static_cast<size_t>(i)]) << seed << " at " << i;
    }
  }
}

TEST(CpuRows, ReductionsOfAnyLayout) {
  // x0 + x1
  const Program& prologue = Program::make(1, 2,
                                          {in(TN_I_LOAD, F, 0, 0), in(TN_I_LOAD, F, 1, 1),
                                           in(TN_I_ADD, F, 2, 0, 1), in(TN_I_STORE, F, 0, 2, 0)});
  for (int seed = 0; seed < draws(); ++seed) {
    Draw draw(seed);
    const tn_reduce_kind kind = static_cast<tn_reduce_kind>(draw.upto(6));
    const bool has_prologue = draw.one_in(2);
    std::vector<int64_t> sizes = draw.sizes();
    if (sizes.size() == 1) sizes.insert(sizes.begin(), 1 + draw.upto(300));
    const auto n_reduced = static_cast<int32_t>(draw.one_in(4) ? 1 + draw.upto(2) : 1);
    if (static_cast<size_t>(n_reduced) >= sizes.size()) continue;
    const std::vector<int64_t> kept(sizes.begin(), sizes.end() - n_reduced);
    tn_reduction r = {};
    r.size = sizeof r;
    r.kind = kind;
    r.ndim = static_cast<int32_t>(sizes.size());
    r.n_reduced = n_reduced;
    r.sizes = sizes.data();
    r.n_kept = 1;
    for (const int64_t size : kept) r.n_kept *= size;
    const bool of_doubles = draw.one_in(4),
               of_ints = !of_doubles && !has_prologue && draw.one_in(3);
    r.accumulate = of_doubles && !has_prologue ? TN_FLOAT64 : of_ints ? TN_INT64 : F;
    r.prologue = has_prologue ? &prologue.program : nullptr;

    const tn_dtype to = kind >= TN_REDUCE_ARGMAX ? TN_INT64 : r.accumulate;
    Tensor y(kept, to, draw.strides(kept, false));
    std::vector<std::unique_ptr<Tensor>> xs;
    for (int k = 0; k < (has_prologue ? 2 : 1); ++k) {
      const tn_dtype dtype = of_ints ? kDtypes[4 + draw.upto(3)] : kDtypes[draw.upto(3)];
      xs.push_back(std::make_unique<Tensor>(sizes, of_doubles ? TN_FLOAT64 : dtype,
                                            draw.strides(sizes, true)));
      const int64_t salt = draw.upto(7);
      const bool is_product = kind == TN_REDUCE_PROD;  // of ones, and -1 where there are no others
      xs.back()->fill([&](int64_t i) -> double {
        const int64_t v = (i * 5 + i / 7 + salt) % 9;
        if (!is_product) return static_cast<double>(v);
        if (k == 1) return 0;
        return v == 4 && xs.back()->tensor.dtype != TN_UINT8 ? -1 : 1;
      });
    }
    std::vector<int64_t> strides_y(y.strides(), y.strides() + kept.size());
    strides_y.resize(sizes.size());
    std::vector<tn_operand> operands = {y.operand(strides_y.data())};
    for (const auto& x : xs) operands.push_back(x->operand(x->strides()));
    r.operands = operands.data();
    tn_value value = {TN_KIND_REDUCTION, 0, {}};
    value.as.reduction = &r;
    ASSERT_EQ(launch(TN_PRIM_REDUCE, {value}), "") << seed;

    const int64_t n = xs[0]->tensor.numel / r.n_kept;
    for (int64_t i = 0; i < r.n_kept; ++i) {
      double want = 0, best = 0;
      for (int64_t j = 0; j < n; ++j) {
        const double v = xs[0]->get(i * n + j) + (has_prologue ? xs[1]->get(i * n + j) : 0);
        const bool largest = kind == TN_REDUCE_MAX || kind == TN_REDUCE_ARGMAX;
        const bool wins = j == 0 || (largest ? v > best : v < best);
        if (wins) best = v;
        if (kind == TN_REDUCE_SUM) {
          want += v;
        } else if (kind == TN_REDUCE_PROD) {
          want = j == 0 ? v : want * v;
        } else if (wins) {
          want = kind >= TN_REDUCE_ARGMAX ? static_cast<double>(j) : v;
        }
      }
      ASSERT_EQ(y.get(i), want) << "seed " << seed << ", kind " << kind << ", output " << i;
    }
  }
}

// Folds n_fold elements of x to each of y, which is dense; `strides` are those of x along both.
void reduce_rows(tn_reduce_kind kind, Tensor& x, const std::vector<int64_t>& strides,
                 int64_t n_fold, Tensor& y) {
  const std::vector<int64_t> sizes = {y.tensor.numel, n_fold}, kept = {1, 0};
  const tn_operand operands[] = {y.operand(kept.data()), x.operand(strides.data())};
  tn_reduction r = {};
  r.size = sizeof r;
  r.kind = kind;
  r.accumulate = x.tensor.dtype;
  r.ndim = 2;
  r.n_reduced = 1;
  r.n_kept = y.tensor.numel;
  r.sizes = sizes.data();
  r.operands = operands;
  tn_value value = {TN_KIND_REDUCTION, 0, {}};
  value.as.reduction = &r;
  ASSERT_EQ(launch(TN_PRIM_REDUCE, {value}), "");
}

TEST(CpuRows, NanWinsInEachRow) {
  for (const int64_t n : {2, 3, 9, 16, 17, 40, 100, 255}) {
    for (const tn_dtype dtype : {TN_FLOAT32, TN_FLOAT64}) {
      const int64_t rows = 37;
      Tensor x({rows, n}, dtype), top({rows}, dtype), at({rows}, TN_INT64);
      // In each third row, at a place of its own, and once more at the end.
      const auto is_nan = [&](int64_t i) {
        return i / n % 3 == 1 && (i % n == i / n % n || i % n == n - 1);
      };
      x.fill([&](int64_t i) { return is_nan(i) ? std::nan("") : static_cast<double>(i * 7 % 31); });
      reduce_rows(TN_REDUCE_MAX, x, {n, 1}, n, top);
      reduce_rows(TN_REDUCE_ARGMAX, x, {n, 1}, n, at);
      for (int64_t i = 0; i < rows; ++i) {
        int64_t best = 0;
        for (int64_t j = 1; j < n; ++j) {
          const double v = x.get(i * n + j), before = x.get(i * n + best);
          if (!std::isnan(before) && (v > before || std::isnan(v))) best = j;
        }
        const double want = x.get(i * n + best);
        EXPECT_EQ(at.get(i), best) << n << " " << i;
        EXPECT_TRUE(top.get(i) == want || (std::isnan(want) && std::isnan(top.get(i)))) << n << i;
      }
    }
  }
}

// A reduction of dense x [n_kept, n] or, along the columns, [n, n_kept], all elements of which are `value`.
double reduced(tn_reduce_kind kind, tn_dtype dtype, int64_t n_kept, int64_t n, bool columns,
               double value) {
  Tensor x({n_kept, n}, dtype), y({n_kept}, dtype);
  x.fill([&](int64_t) { return value; });
  reduce_rows(kind, x, columns ? std::vector{int64_t{1}, n_kept} : std::vector{n, int64_t{1}}, n,
              y);
  return y.get(n_kept - 1);
}

// As in IEEE arithmetic, whichever way is taken: 0 + -0 is 0, and the largest of -0 is -0.
TEST(CpuRows, SignsOfZero) {
  for (const tn_dtype dtype : {TN_FLOAT32, TN_FLOAT64}) {
    for (const bool columns : {false, true}) {
      for (const int64_t n_kept : {1, 3, 16, 40, 300, 2000}) {
        for (const int64_t n : {1, 3, 5, 9, 16, 17, 64, 401}) {
          const auto sign = [&](tn_reduce_kind kind) {
            return std::signbit(reduced(kind, dtype, n_kept, n, columns, -0.0));
          };
          EXPECT_FALSE(sign(TN_REDUCE_SUM)) << n_kept << " " << n << columns;
          EXPECT_TRUE(sign(TN_REDUCE_MAX)) << n_kept << " " << n << columns;
          EXPECT_TRUE(sign(TN_REDUCE_MIN)) << n_kept << " " << n << columns;
          EXPECT_EQ(sign(TN_REDUCE_PROD), n % 2 == 1) << n_kept << " " << n << columns;
        }
      }
    }
  }
}

}  // namespace
}  // namespace cpu_test
