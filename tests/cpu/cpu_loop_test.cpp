// How the cpu kernels walk a loop, under the small host of cpu_host.h: dtypes, strides,
// broadcasting, tails, in-place use, several outputs, threads. What is computed is plain, so that
// every expected value is exact. CTest runs it once for each instruction set.
#include <cmath>
#include <cstdint>
#include <limits>

#include "cpu_host.h"

#include <gtest/gtest.h>

namespace cpu_test {
namespace {

constexpr tn_dtype kAll[] = {TN_FLOAT32, TN_FLOAT64, TN_FLOAT16, TN_BFLOAT16, TN_INT64,
                             TN_INT32,   TN_UINT8,   TN_BOOL,    TN_INT8,     TN_INT16};
constexpr tn_dtype F = TN_FLOAT32;

tn_dtype register_of(tn_dtype dtype) {
  switch (dtype) {
    case TN_FLOAT16:
    case TN_BFLOAT16:
      return TN_FLOAT32;
    case TN_INT32:
    case TN_INT16:
    case TN_INT8:
    case TN_UINT8:
      return TN_INT64;
    default:
      return dtype;
  }
}

tn_scalar f(double value) {
  tn_scalar s;
  s.f = value;
  return s;
}
tn_scalar i(int64_t value) {
  tn_scalar s;
  s.i = value;
  return s;
}

const Program& add() {
  static const Program& p = Program::make(1, 2,
                                          {in(TN_I_LOAD, F, 0, 0), in(TN_I_LOAD, F, 1, 1),
                                           in(TN_I_ADD, F, 2, 0, 1), in(TN_I_STORE, F, 0, 2, 0)});
  return p;
}

TEST(CpuLoop, EveryLengthOfTailIsWhole) {
  for (int64_t n = 1; n <= 70; ++n) {
    Tensor a({n}, F), b({n}, F), y({n}, F);
    a.fill([](int64_t k) { return k; });
    b.fill([](int64_t k) { return 1000 * k; });
    ASSERT_EQ(run(add(), {&y, &a, &b}), "");
    for (int64_t k = 0; k < n; ++k) {
      ASSERT_EQ(y.get(k), 1001 * k) << "of " << n;
    }
    ASSERT_TRUE(y.is_guarded());
  }
  const Program& exp = Program::make(
      1, 1, {in(TN_I_LOAD, F, 0, 0), in(TN_I_EXP, F, 1, 0), in(TN_I_STORE, F, 0, 1, 0)});
  for (const int64_t n : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 511, 512, 513, 1025}) {
    Tensor a({n}, F), y({n}, F);
    a.fill([](int64_t k) { return k % 2; });
    ASSERT_EQ(run(exp, {&y, &a}), "");
    for (int64_t k = 0; k < n; ++k) {
      ASSERT_NEAR(y.get(k), k % 2 ? 2.718281828 : 1, 1e-6) << "of " << n;
    }
    ASSERT_TRUE(y.is_guarded());
  }
}

// LOAD from every dtype to every register type, and STORE from there to every dtype: small integers
// survive all of them.
TEST(CpuLoop, LoadsAndStoresEveryDtype) {
  for (const tn_dtype from : kAll) {
    for (const tn_dtype type : {TN_FLOAT32, TN_FLOAT64, TN_INT64, TN_BOOL}) {
      for (const tn_dtype to : kAll) {
        const Program& p =
            Program::make(1, 1, {in(TN_I_LOAD, type, 0, 0), in(TN_I_STORE, type, 0, 0, 0)});
        const bool boolean = from == TN_BOOL || type == TN_BOOL || to == TN_BOOL;
        for (const int64_t stride : {1, 3}) {
          Tensor x({37}, from, {stride}), y({37}, to, {stride});
          x.fill([](int64_t k) { return k % 5; });
          ASSERT_EQ(run(p, {&y, &x}), "");
          for (int64_t k = 0; k < 37; ++k) {
            const double want = boolean ? k % 5 != 0 : k % 5;
            ASSERT_EQ(y.get(k), want)
                << "dtype " << from << " by " << type << " to " << to << ", stride " << stride;
          }
        }
      }
    }
  }
}

TEST(CpuLoop, HalvesAreExactAndRoundToNearestEven) {
  Tensor halves({65536}, TN_FLOAT16), floats({65536}, F), back({65536}, TN_FLOAT16);
  for (int64_t k = 0; k < 65536; ++k) {
    halves.data<uint16_t>()[k] = static_cast<uint16_t>(k);
  }
  const Program& copy = Program::make(1, 1, {in(TN_I_LOAD, F, 0, 0), in(TN_I_STORE, F, 0, 0, 0)});
  ASSERT_EQ(run(copy, {&floats, &halves}), "");
  ASSERT_EQ(run(copy, {&back, &floats}), "");
  for (int64_t k = 0; k < 65536; ++k) {
    const float want = half_value(static_cast<uint16_t>(k));
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(floats.get(k)) && std::isnan(back.get(k))) << k;
    } else {
      ASSERT_EQ(floats.get(k), want) << k;
      ASSERT_EQ(back.data<uint16_t>()[k], k);
    }
  }
  // Halfway cases of both formats, the largest numbers, and what overflows.
  const float values[] = {1 + 0x1p-11f, 1 + 3 * 0x1p-11f, 1 + 0x1.8p-11f, 65504,    65519, 65520,
                          1e9f,         0x1p-25f,         0x1.8p-25f,     -0x1p-14f};
  const double f16[] = {1,        1 + 0x1p-9, 1 + 0x1p-10, 65504,   65504,
                        INFINITY, INFINITY,   0,           0x1p-24, -0x1p-14};
  const float values_b[] = {1 + 0x1p-8f, 1 + 3 * 0x1p-8f, 1 + 0x1.8p-8f, 3.3895e38f,
                            3.4e38f,     -0.0f,           1e-40f};
  const double bf16[] = {1, 1 + 0x1p-6, 1 + 0x1p-7, 0x1.fep127, INFINITY, 0, 0x1p-133};
  Tensor x({10}, F), y({10}, TN_FLOAT16), xb({7}, F), yb({7}, TN_BFLOAT16);
  x.fill([&](int64_t k) { return values[k]; });
  xb.fill([&](int64_t k) { return values_b[k]; });
  ASSERT_EQ(run(copy, {&y, &x}), "");
  ASSERT_EQ(run(copy, {&yb, &xb}), "");
  for (int64_t k = 0; k < 10; ++k) {
    EXPECT_EQ(y.get(k), f16[k]) << values[k];
  }
  for (int64_t k = 0; k < 7; ++k) {
    EXPECT_EQ(yb.get(k), bf16[k]) << values_b[k];
  }
}

TEST(CpuLoop, CastsWrapRoundAndTruncate) {
  const auto cast = [](tn_dtype from, tn_dtype to, double value) {
    const tn_dtype type = register_of(to);
    const Program& p =
        Program::make(1, 1,
                      {in(TN_I_LOAD, from, 0, 0), in(TN_I_CAST, to, 1, 0, 0, 0, from),
                       in(TN_I_STORE, type, 0, 1, 0)});
    Tensor x({9}, from), y({9}, type);
    x.fill([&](int64_t) { return value; });
    EXPECT_EQ(run(p, {&y, &x}), "");
    return y.get(8);
  };
  EXPECT_EQ(cast(TN_INT64, TN_INT32, 4294967296.0 + 5), 5);
  EXPECT_EQ(cast(TN_INT64, TN_INT32, 2147483648.0), -2147483648.0);
  EXPECT_EQ(cast(TN_INT64, TN_UINT8, -1), 255);
  EXPECT_EQ(cast(TN_INT64, TN_INT16, 32768), -32768);
  EXPECT_EQ(cast(TN_INT64, TN_INT16, -32769), 32767);
  EXPECT_EQ(cast(TN_INT64, TN_INT8, 128), -128);
  EXPECT_EQ(cast(TN_INT64, TN_INT8, -129), 127);
  EXPECT_EQ(cast(TN_INT64, TN_INT8, 255), -1);
  EXPECT_EQ(cast(TN_FLOAT32, TN_INT64, -2.9), -2);
  EXPECT_EQ(cast(TN_FLOAT64, TN_INT64, 2.9), 2);
  EXPECT_EQ(cast(TN_FLOAT32, TN_BOOL, 0.25), 1);
  EXPECT_EQ(cast(TN_FLOAT64, TN_BOOL, 0), 0);
  EXPECT_EQ(cast(TN_FLOAT64, TN_FLOAT32, 0.1), static_cast<double>(0.1f));
  EXPECT_EQ(cast(TN_FLOAT32, TN_FLOAT64, 0.1f), static_cast<double>(0.1f));
  EXPECT_EQ(cast(TN_INT64, TN_FLOAT32, 16777217), 16777216);
  EXPECT_EQ(cast(TN_BOOL, TN_INT64, 1), 1);
  EXPECT_EQ(cast(TN_FLOAT32, TN_FLOAT16, 2049), 2048);
  EXPECT_EQ(cast(TN_FLOAT32, TN_BFLOAT16, 257), 256);
}

// Three operands that are dense, broadcast along either dimension, transposed, or a single number:
// all 6^2 pairs of them.
TEST(CpuLoop, OperandsOfAnyStridesBroadcast) {
  const int64_t rows = 13, columns = 77;
  const std::vector<std::vector<int64_t>> layouts = {{77, 1}, {1, 13}, {0, 1},
                                                     {1, 0},  {0, 0},  {200, 2}};
  Tensor a({13 * 200}, F), b({13 * 200}, F);
  a.fill([](int64_t k) { return k; });
  b.fill([](int64_t k) { return 10000 + 3 * k; });
  for (const auto& sa : layouts) {
    for (const auto& sb : layouts) {
      for (const auto& sy : {layouts[0], layouts[1], layouts[5]}) {
        Tensor y({rows, columns}, F, sy);
        ASSERT_EQ(run(add(), {&y, &a, &b}, {rows, columns}, {sy, sa, sb}), "");
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t c = 0; c < columns; ++c) {
            const double want = a.get(r * sa[0] + c * sa[1]) + b.get(r * sb[0] + c * sb[1]);
            ASSERT_EQ(y.get(r * columns + c), want) << r << " " << c;
          }
        }
      }
    }
  }
}

TEST(CpuLoop, SixteenDimensions) {
  std::vector<int64_t> sizes(16, 1), sy(16), sx(16);
  for (const int d : {1, 4, 7, 11, 15}) {
    sizes[d] = d % 3 + 2;
  }
  int64_t n = 1;
  for (int d = 15; d >= 0; --d) {
    sy[d] = n;
    n *= sizes[d];
  }
  int64_t m = 1;
  for (int d = 0; d < 16; ++d) {  // the other way around
    sx[d] = m;
    m *= sizes[d];
  }
  Tensor x({n}, F), y({n}, F);
  x.fill([](int64_t k) { return k; });
  const Program& copy = Program::make(1, 1, {in(TN_I_LOAD, F, 0, 0), in(TN_I_STORE, F, 0, 0, 0)});
  ASSERT_EQ(run(copy, {&y, &x}, sizes, {sy, sx}), "");
  for (int64_t k = 0; k < n; ++k) {
    int64_t rest = k, at = 0;
    for (int d = 15; d >= 0; --d) {
      at += rest % sizes[d] * sx[d];
      rest /= sizes[d];
    }
    ASSERT_EQ(y.get(k), at);
  }
}

TEST(CpuLoop, ScalarsStandOnEitherSide) {
  // y = (p - x) * c - (x - p) / (p - c), where(x > p, x, c), x ** 2, x ** p, p ** x
  const Program& p =
      Program::make(5, 1, {in(TN_I_LOAD, F, 0, 0),        in(TN_I_PARAM, F, 1, 0),
                           in(TN_I_CONST, F, 2, 0),       in(TN_I_CONST, F, 3, 1),
                           in(TN_I_SUB, F, 4, 1, 0),      in(TN_I_MUL, F, 4, 4, 2),
                           in(TN_I_SUB, F, 5, 0, 1),      in(TN_I_SUB, F, 6, 1, 2),
                           in(TN_I_DIV, F, 5, 5, 6),      in(TN_I_SUB, F, 4, 4, 5),
                           in(TN_I_STORE, F, 0, 4, 0),    in(TN_I_GT, TN_BOOL, 5, 0, 1, 0, F),
                           in(TN_I_WHERE, F, 4, 5, 0, 2), in(TN_I_STORE, F, 0, 4, 1),
                           in(TN_I_POW, F, 4, 0, 3),      in(TN_I_STORE, F, 0, 4, 2),
                           in(TN_I_POW, F, 4, 0, 1),      in(TN_I_STORE, F, 0, 4, 3),
                           in(TN_I_POW, F, 4, 1, 0),      in(TN_I_STORE, F, 0, 4, 4)},
                    {f(4), f(2)}, 1);
  for (const int64_t n : {1, 9, 1300}) {
    Tensor x({n}, F), y0({n}, F), y1({n}, F), y2({n}, F), y3({n}, F), y4({n}, F);
    x.fill([](int64_t k) { return k % 7; });
    ASSERT_EQ(run(p, {&y0, &y1, &y2, &y3, &y4, &x}, {}, {}, {f(3)}), "");
    for (int64_t k = 0; k < n; ++k) {
      const double v = k % 7;
      ASSERT_EQ(y0.get(k), (3 - v) * 4 - (v - 3) / (3 - 4));
      ASSERT_EQ(y1.get(k), v > 3 ? v : 4);
      ASSERT_EQ(y2.get(k), v * v);
      ASSERT_NEAR(y3.get(k), v * v * v, 1e-4);
      ASSERT_NEAR(y4.get(k), std::pow(3, v), 1e-3);
    }
  }
}

TEST(CpuLoop, WhereOnEveryTypeAndMixOfScalars) {
  for (const tn_dtype type : {TN_FLOAT32, TN_FLOAT64, TN_INT64, TN_BOOL}) {
    for (int mix = 0; mix < 8; ++mix) {  // bits: the condition, b, c are a single number
      const Program& p = Program::make(
          1, 3,
          {in(TN_I_LOAD, TN_BOOL, 0, 0), in(TN_I_LOAD, type, 1, 1), in(TN_I_LOAD, type, 2, 2),
           in(TN_I_WHERE, type, 3, 0, 1, 2), in(TN_I_STORE, type, 0, 3, 0)});
      Tensor condition({100}, TN_BOOL), b({100}, type), c({100}, type), y({100}, type);
      condition.fill([](int64_t k) { return k % 3 == 0; });
      b.fill([](int64_t k) { return k % 2; });
      c.fill([](int64_t k) { return k + 1; });
      const auto stride = [&](int bit) { return std::vector<int64_t>{mix >> bit & 1 ? 0 : 1}; };
      ASSERT_EQ(run(p, {&y, &condition, &b, &c}, {100}, {{1}, stride(0), stride(1), stride(2)}),
                "");
      for (int64_t k = 0; k < 100; ++k) {
        const auto at = [&](int bit) { return mix >> bit & 1 ? 0 : k; };
        ASSERT_EQ(y.get(k), condition.get(at(0)) ? b.get(at(1)) : c.get(at(2))) << mix;
      }
    }
  }
}

TEST(CpuLoop, ParametersAndConstantsOfEveryType) {
  const Program& p =
      Program::make(4, 0,
                    {in(TN_I_PARAM, TN_FLOAT64, 0, 0), in(TN_I_STORE, TN_FLOAT64, 0, 0, 0),
                     in(TN_I_PARAM, TN_INT64, 1, 1), in(TN_I_STORE, TN_INT64, 0, 1, 1),
                     in(TN_I_CONST, TN_BOOL, 2, 0), in(TN_I_STORE, TN_BOOL, 0, 2, 2),
                     in(TN_I_PARAM, F, 3, 0), in(TN_I_STORE, F, 0, 3, 3)},
                    {i(7)}, 2);
  Tensor y0({600}, TN_FLOAT64), y1({600}, TN_INT32), y2({600}, TN_BOOL),
      y3({600}, TN_BFLOAT16, {2});
  ASSERT_EQ(run(p, {&y0, &y1, &y2, &y3}, {}, {}, {f(2.5), i(-4)}), "");
  for (int64_t k = 0; k < 600; ++k) {
    ASSERT_EQ(y0.get(k), 2.5);
    ASSERT_EQ(y1.get(k), -4);
    ASSERT_EQ(y2.get(k), 1);
    ASSERT_EQ(y3.get(k), 2.5);
  }
}

TEST(CpuLoop, OneOutputInPlace) {
  for (const tn_dtype dtype : {TN_FLOAT32, TN_FLOAT16, TN_INT32}) {
    const tn_dtype type = register_of(dtype);
    const Program& p = Program::make(
        1, 2,
        {in(TN_I_LOAD, type, 0, 0), in(TN_I_LOAD, type, 1, 1), in(TN_I_MUL, type, 2, 0, 1),
         in(TN_I_SUB, type, 2, 2, 0), in(TN_I_ADD, type, 2, 2, 1), in(TN_I_STORE, type, 0, 2, 0)});
    Tensor x({1111}, dtype), w({1111}, dtype);
    x.fill([](int64_t k) { return k % 9; });
    w.fill([](int64_t k) { return k % 4; });
    ASSERT_EQ(run(p, {&x, &x, &w}), "");
    for (int64_t k = 0; k < 1111; ++k) {
      ASSERT_EQ(x.get(k), (k % 9) * (k % 4) - k % 9 + k % 4);
    }
  }
}

// As optimizers do: each output is an input, and is stored before others are computed.
TEST(CpuLoop, SeveralOutputsInPlaceReadBeforeTheyWrite) {
  const Program& p =
      Program::make(3, 3,
                    {in(TN_I_LOAD, F, 0, 0), in(TN_I_LOAD, F, 1, 1), in(TN_I_LOAD, F, 2, 2),
                     in(TN_I_ADD, F, 3, 0, 1), in(TN_I_STORE, F, 0, 3, 0), in(TN_I_SUB, F, 3, 0, 2),
                     in(TN_I_STORE, F, 0, 3, 1), in(TN_I_STORE, F, 0, 0, 2)});
  for (const int64_t n : {5, 2000}) {
    Tensor a({n}, F), b({n}, F), c({n}, F);
    a.fill([](int64_t k) { return k; });
    b.fill([](int64_t k) { return 2 * k; });
    c.fill([](int64_t k) { return 5 * k; });
    ASSERT_EQ(run(p, {&a, &b, &c, &a, &b, &c}), "");
    for (int64_t k = 0; k < n; ++k) {
      ASSERT_EQ(a.get(k), 3 * k);
      ASSERT_EQ(b.get(k), -4 * k);
      ASSERT_EQ(c.get(k), k);
    }
  }
  const Program& swap = Program::make(2, 2,
                                      {in(TN_I_LOAD, F, 0, 0), in(TN_I_LOAD, F, 1, 1),
                                       in(TN_I_STORE, F, 0, 1, 0), in(TN_I_STORE, F, 0, 0, 1)});
  Tensor a({700}, F), b({700}, F);
  a.fill([](int64_t k) { return k; });
  b.fill([](int64_t k) { return -k; });
  ASSERT_EQ(run(swap, {&a, &b, &a, &b}), "");
  EXPECT_EQ(a.get(699), -699);
  EXPECT_EQ(b.get(699), 699);
}

// More values alive at once than the tiles of 512 elements have room for, and more operands than a
// short key holds.
TEST(CpuLoop, WideProgramsOfManyOperands) {
  constexpr int kInputs = 30;
  std::vector<tn_instruction> code;
  for (int k = 0; k < kInputs; ++k) {
    code.push_back(in(TN_I_LOAD, F, k, k));
  }
  for (int k = 0; k < kInputs; ++k) {
    code.push_back(in(TN_I_MUL, F, kInputs + k, k, k));
  }
  for (int k = 1; k < kInputs; ++k) {
    code.push_back(in(TN_I_ADD, F, kInputs, kInputs, kInputs + k));
  }
  code.push_back(in(TN_I_STORE, F, 0, kInputs, 0));
  const Program& p = Program::make(1, kInputs, code);
  std::vector<std::unique_ptr<Tensor>> tensors;
  std::vector<Tensor*> operands;
  double want = 0;
  for (int k = 0; k <= kInputs; ++k) {
    tensors.push_back(std::make_unique<Tensor>(std::vector<int64_t>{1000}, k % 2 ? F : TN_FLOAT64));
    tensors.back()->fill([&](int64_t) { return k; });
    operands.push_back(tensors.back().get());
    want += k * k;
  }
  ASSERT_EQ(run(p, operands), "");
  ASSERT_EQ(run(p, operands), "");  // the plan is found again
  for (const int64_t k : {0, 511, 999}) {
    EXPECT_EQ(tensors[0]->get(k), want);
  }
}

TEST(CpuLoop, ThreadsShareLargeLoops) {
  const int64_t n = 3'000'017;
  Tensor a({n}, F), b({n}, F), y({n}, F);
  a.fill([](int64_t k) { return k % 1000; });
  b.fill([](int64_t k) { return k % 777; });
  ASSERT_EQ(run(add(), {&y, &a, &b}), "");
  for (int64_t k = 0; k < n; ++k) {
    ASSERT_EQ(y.data<float>()[k], static_cast<float>(k % 1000 + k % 777)) << k;
  }
  // Rows that pieces cut.
  const int64_t rows = 1001, columns = 1003;
  Tensor m({rows, columns}, F), v({columns}, F), z({rows, columns}, F);
  m.fill([](int64_t k) { return k % 1000; });
  v.fill([](int64_t k) { return k; });
  ASSERT_EQ(run(add(), {&z, &m, &v}, {rows, columns}, {{columns, 1}, {columns, 1}, {0, 1}}), "");
  for (int64_t k = 0; k < rows * columns; ++k) {
    ASSERT_EQ(z.data<float>()[k], static_cast<float>(k % 1000 + k % columns)) << k;
  }
}

TEST(CpuLoop, RefusesWhatItDoesNotKnow) {
  Tensor x({4}, F), y({4}, F);
  const auto one = [&](tn_instruction middle) {
    return run(Program::make(1, 1, {in(TN_I_LOAD, F, 0, 0), middle, in(TN_I_STORE, F, 0, 1, 0)}),
               {&y, &x});
  };
  EXPECT_EQ(one(in(TN_I_SHL, F, 1, 0, 0)), "cpu: instruction 74 is not there for float32");
  EXPECT_EQ(one(in(200, F, 1, 0)), "cpu: unknown instruction 200");
  EXPECT_NE(one(in(TN_I_EXP, TN_FLOAT64, 1, 0)).find("operand types differ"), std::string::npos);
  EXPECT_NE(one(in(TN_I_COORD, TN_INT64, 1, 0)).find("instruction 5"), std::string::npos);
}

}  // namespace
}  // namespace cpu_test
