// The backend ref's evaluator of programs, under the small host of ref_host.h: every
// instruction at points whose results are known, conversions of dtypes, loops and reductions.
#include "ref_host.h"

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace ref_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

using Code = std::vector<tn_instruction>;

tn_instruction instruction(int opcode, tn_dtype dtype, int dst, int a = 0, int b = 0, int c = 0,
                           int flags = 0) {
  return {static_cast<uint16_t>(opcode), static_cast<uint8_t>(dtype),
          static_cast<uint8_t>(flags),   static_cast<uint16_t>(dst),
          static_cast<uint16_t>(a),      static_cast<uint16_t>(b),
          static_cast<uint16_t>(c),      0};
}

// A program with 8 registers; outlives its launches.
struct Program {
  Program(uint32_t n_outputs, uint32_t n_inputs, Code instructions,
          std::vector<tn_scalar> constant = {}, uint32_t n_params = 0)
      : code(std::move(instructions)), constants(std::move(constant)) {
    program = {sizeof(program),
               TN_INSTRUCTION_SET,
               1,
               code.data(),
               static_cast<uint32_t>(code.size()),
               8,
               constants.data(),
               static_cast<uint32_t>(constants.size()),
               n_inputs,
               n_outputs,
               n_params};
  }
  Code code;
  std::vector<tn_scalar> constants;
  tn_program program;
};

// Outputs first, then inputs; one dimension unless sizes and strides are given.
std::string run(Stream& stream, const Program& program, const std::vector<Tensor*>& operands,
                std::vector<int64_t> sizes = {}, std::vector<std::vector<int64_t>> strides = {},
                std::vector<tn_scalar> params = {}) {
  if (sizes.empty()) sizes = {operands[0]->tensor.numel};
  int64_t numel = 1;
  for (const int64_t size : sizes) numel *= size;
  if (strides.empty()) strides.assign(operands.size(), {1});
  std::vector<tn_operand> list;
  for (size_t i = 0; i < operands.size(); ++i)
    list.push_back(operands[i]->operand(strides[i].data()));
  const tn_loop loop = {sizeof(loop),
                        static_cast<int32_t>(sizes.size()),
                        numel,
                        sizes.data(),
                        &program.program,
                        list.data(),
                        params.data()};
  tn_value value = {TN_KIND_LOOP};
  value.as.loop = &loop;
  std::vector<tn_tensor*> outputs;
  for (uint32_t i = 0; i < program.program.n_outputs; ++i) outputs.push_back(&operands[i]->tensor);
  const std::string failed = stream.launch(TN_PRIM_ELEMENTWISE, {value}, outputs);
  return failed.empty() ? stream.synchronize() : failed;
}

class RefProgram : public testing::Test {
 protected:
  // opcode(a, b) in registers of `type`; the result comes from a register of `result`.
  template <class T, class R = T>
  R apply(int opcode, tn_dtype type, T a, T b, tn_dtype result) {
    const bool tests = result != type;
    const Program program(1, 2,
                          {instruction(TN_I_LOAD, type, 0, 0), instruction(TN_I_LOAD, type, 1, 1),
                           instruction(opcode, result, 2, 0, 1, 0, tests ? type : 0),
                           instruction(TN_I_STORE, result, 0, 2, 0)});
    Tensor x({1}, type), y({1}, type), z({1}, result);
    stream_.upload<T>(x, {a});
    stream_.upload<T>(y, {b});
    EXPECT_EQ(run(stream_, program, {&z, &x, &y}), "") << "opcode " << opcode;
    return stream_.download<R>(z)[0];
  }

  Stream stream_;
};

struct FloatCase {
  int opcode;
  double a, b, expected;
};

// Values of the functions from tables: e, pi and their like to 17 digits.
// clang-format off
const FloatCase kFloatCases[] = {
    {TN_I_NEG, 1.5, 0, -1.5}, {TN_I_ABS, -2.5, 0, 2.5}, {TN_I_SIGN, -7, 0, -1},
    {TN_I_SIGN, 0, 0, 0}, {TN_I_SIGN, kNan, 0, 0}, {TN_I_FLOOR, -1.5, 0, -2},
    {TN_I_CEIL, -1.5, 0, -1}, {TN_I_ROUND, 2.5, 0, 2}, {TN_I_ROUND, 3.5, 0, 4},
    {TN_I_TRUNC, -1.5, 0, -1}, {TN_I_SQRT, 2, 0, 1.4142135623730950},
    {TN_I_EXP, 1, 0, 2.7182818284590452}, {TN_I_EXP2, -3, 0, 0.125},
    {TN_I_EXPM1, 1, 0, 1.7182818284590452}, {TN_I_LOG, 10, 0, 2.3025850929940457},
    {TN_I_LOG, 0, 0, -kInf}, {TN_I_LOG2, 8, 0, 3}, {TN_I_LOG10, 1000, 0, 3},
    {TN_I_LOG1P, 1, 0, 0.69314718055994531}, {TN_I_SIN, 1, 0, 0.84147098480789651},
    {TN_I_COS, 1, 0, 0.54030230586813972}, {TN_I_TAN, 1, 0, 1.5574077246549022},
    {TN_I_ASIN, 1, 0, 1.5707963267948966}, {TN_I_ACOS, -1, 0, 3.1415926535897932},
    {TN_I_ATAN, 1, 0, 0.78539816339744831}, {TN_I_SINH, 1, 0, 1.1752011936438015},
    {TN_I_COSH, 1, 0, 1.5430806348152438}, {TN_I_TANH, 1, 0, 0.76159415595576489},
    {TN_I_ASINH, 1, 0, 0.88137358701954303}, {TN_I_ACOSH, 2, 0, 1.3169578969248167},
    {TN_I_ATANH, 0.5, 0, 0.54930614433405485}, {TN_I_ERF, 1, 0, 0.84270079294971487},
    {TN_I_ERFC, 1, 0, 0.15729920705028513}, {TN_I_ADD, 1, 2, 3}, {TN_I_SUB, 1, 2, -1},
    {TN_I_MUL, 3, -2, -6}, {TN_I_DIV, 1, 0, kInf}, {TN_I_FLOORDIV, -7, 2, -4},
    {TN_I_FLOORDIV, 7, -2, -4}, {TN_I_FLOORDIV, -1, kInf, -1}, {TN_I_FLOORDIV, 1, 0, kInf},
    {TN_I_REM, -7, 3, 2}, {TN_I_REM, 7, -3, -2}, {TN_I_REM, 6, -3, 0}, {TN_I_FMOD, -7, 3, -1},
    {TN_I_POW, 2, -2, 0.25}, {TN_I_ATAN2, 1, -1, 2.3561944901923449}, {TN_I_MIN, 1, kNan, kNan},
    {TN_I_MIN, kNan, 1, kNan}, {TN_I_MIN, 2, 1, 1}, {TN_I_MAX, kNan, 1, kNan},
    {TN_I_MAX, 1, kNan, kNan}, {TN_I_MAX, 2, 1, 2},
};
// clang-format on

TEST_F(RefProgram, FloatInstructions) {
  for (const FloatCase& c : kFloatCases) {
    const double d = apply<double>(c.opcode, TN_FLOAT64, c.a, c.b, TN_FLOAT64);
    const float f = apply<float>(c.opcode, TN_FLOAT32, static_cast<float>(c.a),
                                 static_cast<float>(c.b), TN_FLOAT32);
    if (std::isnan(c.expected)) {
      EXPECT_TRUE(std::isnan(d) && std::isnan(f)) << "opcode " << c.opcode;
    } else {
      EXPECT_DOUBLE_EQ(d, c.expected) << "opcode " << c.opcode;
      EXPECT_FLOAT_EQ(f, static_cast<float>(c.expected)) << "opcode " << c.opcode;
    }
  }
}

TEST_F(RefProgram, DivisionRoundsTheExactQuotientDown) {
  EXPECT_EQ(apply<double>(TN_I_FLOORDIV, TN_FLOAT64, 1, 0.1, TN_FLOAT64), 9);  // Python: 1 // 0.1
  EXPECT_DOUBLE_EQ(apply<double>(TN_I_REM, TN_FLOAT64, 1, 0.1, TN_FLOAT64), 0.09999999999999995);
}

TEST_F(RefProgram, Float32IsComputedInFloat32) {
  const Program program(
      1, 2,
      {instruction(TN_I_LOAD, TN_FLOAT32, 0, 0), instruction(TN_I_LOAD, TN_FLOAT32, 1, 1),
       instruction(TN_I_ADD, TN_FLOAT32, 2, 0, 1), instruction(TN_I_SUB, TN_FLOAT32, 3, 2, 0),
       instruction(TN_I_STORE, TN_FLOAT32, 0, 3, 0)});
  Tensor x({1}, TN_FLOAT32), y({1}, TN_FLOAT32), z({1}, TN_FLOAT32);
  stream_.upload<float>(x, {16777216});
  stream_.upload<float>(y, {1});
  EXPECT_EQ(run(stream_, program, {&z, &x, &y}), "");
  EXPECT_EQ(stream_.download<float>(z)[0], 0);  // 2^24 + 1 rounds to 2^24
}

TEST_F(RefProgram, IntegerInstructions) {
  const struct {
    int opcode;
    int64_t a, b, expected;
    // clang-format off
  } cases[] = {
      {TN_I_NEG, kMin, 0, kMin}, {TN_I_ABS, -5, 0, 5}, {TN_I_ABS, kMin, 0, kMin},
      {TN_I_SIGN, -5, 0, -1}, {TN_I_NOT, 0, 0, -1}, {TN_I_ADD, kMax, 1, kMin},
      {TN_I_SUB, kMin, 1, kMax}, {TN_I_MUL, kMax, 2, -2}, {TN_I_FLOORDIV, -7, 2, -4},
      {TN_I_FLOORDIV, 7, -2, -4}, {TN_I_FLOORDIV, 6, 3, 2}, {TN_I_FLOORDIV, 5, 0, 0},
      {TN_I_FLOORDIV, kMin, -1, kMin}, {TN_I_REM, -7, 3, 2}, {TN_I_REM, 7, -3, -2},
      {TN_I_REM, 5, 0, 0}, {TN_I_REM, kMin, -1, 0}, {TN_I_FMOD, -7, 3, -1}, {TN_I_FMOD, 7, 0, 0},
      {TN_I_POW, 3, 4, 81}, {TN_I_POW, 2, 64, 0}, {TN_I_POW, 2, -1, 0}, {TN_I_POW, 1, -5, 1},
      {TN_I_POW, -1, -5, -1}, {TN_I_POW, -1, -4, 1}, {TN_I_POW, 0, 0, 1}, {TN_I_MIN, -1, 1, -1},
      {TN_I_MAX, -1, 1, 1}, {TN_I_AND, 12, 10, 8}, {TN_I_OR, 12, 10, 14}, {TN_I_XOR, 12, 10, 6},
      {TN_I_SHL, 1, 63, kMin}, {TN_I_SHL, 1, 64, 0}, {TN_I_SHL, 1, -1, 0}, {TN_I_SHR, -8, 1, -4},
      {TN_I_SHR, -8, 64, -1}, {TN_I_SHR, 8, -1, 0},
      // clang-format on
  };
  for (const auto& c : cases) {
    EXPECT_EQ(apply<int64_t>(c.opcode, TN_INT64, c.a, c.b, TN_INT64), c.expected)
        << "opcode " << c.opcode;
  }
}

TEST_F(RefProgram, ComparisonsAndTestsGiveBool) {
  const auto holds = [&](int opcode, double a, double b) {
    const auto d = apply<double, uint8_t>(opcode, TN_FLOAT64, a, b, TN_BOOL);
    const auto f = apply<float, uint8_t>(opcode, TN_FLOAT32, static_cast<float>(a),
                                         static_cast<float>(b), TN_BOOL);
    EXPECT_EQ(d, f);
    return d;
  };
  EXPECT_EQ(holds(TN_I_EQ, 1, 1), 1);
  EXPECT_EQ(holds(TN_I_EQ, kNan, kNan), 0);
  EXPECT_EQ(holds(TN_I_NE, kNan, kNan), 1);
  EXPECT_EQ(holds(TN_I_LT, 1, 2), 1);
  EXPECT_EQ(holds(TN_I_LE, 2, 2), 1);
  EXPECT_EQ(holds(TN_I_GT, 1, kNan), 0);
  EXPECT_EQ(holds(TN_I_GE, 1, 2), 0);
  EXPECT_EQ(holds(TN_I_ISNAN, kNan, 0), 1);
  EXPECT_EQ(holds(TN_I_ISINF, -kInf, 0), 1);
  EXPECT_EQ(holds(TN_I_ISINF, 1e30, 0), 0);
  // Above 2^53, where doubles would not tell them apart.
  EXPECT_EQ((apply<int64_t, uint8_t>(TN_I_LT, TN_INT64, kMax - 1, kMax, TN_BOOL)), 1);
}

TEST_F(RefProgram, BoolLogicAndWhereAndConstants) {
  // out0 = (x > p ? x : -1) where p is a parameter; out1 = !(x > p) ^ true, as a number
  const Program program(
      2, 1,
      {instruction(TN_I_LOAD, TN_FLOAT32, 0, 0), instruction(TN_I_PARAM, TN_FLOAT32, 1, 0),
       instruction(TN_I_CONST, TN_FLOAT32, 2, 0), instruction(TN_I_CONST, TN_BOOL, 3, 1),
       instruction(TN_I_GT, TN_BOOL, 4, 0, 1, 0, TN_FLOAT32),
       instruction(TN_I_WHERE, TN_FLOAT32, 5, 4, 0, 2),
       instruction(TN_I_STORE, TN_FLOAT32, 0, 5, 0), instruction(TN_I_NOT, TN_BOOL, 4, 4),
       instruction(TN_I_XOR, TN_BOOL, 4, 4, 3),
       instruction(TN_I_CAST, TN_INT64, 6, 4, 0, 0, TN_BOOL),
       instruction(TN_I_MOVE, TN_INT64, 7, 6), instruction(TN_I_STORE, TN_INT64, 0, 7, 1)},
      {{.f = -1}, {.i = 1}}, 1);
  Tensor x({3}, TN_FLOAT32), y({3}, TN_INT32);
  stream_.upload<float>(x, {1, 2, 3});
  EXPECT_EQ(run(stream_, program, {&x, &y, &x}, {3}, {{1}, {1}, {1}}, {{.f = 1.5}}),
            "");  // in place
  EXPECT_EQ(stream_.download<float>(x), (std::vector<float>{-1, 2, 3}));
  EXPECT_EQ(stream_.download<int32_t>(y), (std::vector<int32_t>{0, 1, 1}));
}

TEST_F(RefProgram, CastsWrapTruncateAndRound) {
  const auto cast = [&](double value, tn_dtype from, tn_dtype to, tn_dtype result) {
    const Program program(
        1, 1,
        {instruction(TN_I_LOAD, from, 0, 0), instruction(TN_I_CAST, to, 1, 0, 0, 0, from),
         instruction(TN_I_CAST, TN_FLOAT64, 2, 1, 0, 0, result),
         instruction(TN_I_STORE, TN_FLOAT64, 0, 2, 0)});
    Tensor x({1}, TN_FLOAT64), y({1}, TN_FLOAT64);
    stream_.upload<double>(x, {value});
    EXPECT_EQ(run(stream_, program, {&y, &x}), "");
    return stream_.download<double>(y)[0];
  };
  EXPECT_EQ(cast(-2.9, TN_FLOAT64, TN_INT64, TN_INT64), -2);
  EXPECT_EQ(cast(2147483648.0, TN_INT64, TN_INT32, TN_INT64), -2147483648.0);
  EXPECT_EQ(cast(-1, TN_INT64, TN_UINT8, TN_INT64), 255);
  EXPECT_EQ(cast(0.5, TN_FLOAT32, TN_BOOL, TN_BOOL), 1);
  EXPECT_EQ(cast(kNan, TN_FLOAT64, TN_BOOL, TN_BOOL), 1);
  EXPECT_EQ(cast(2049, TN_FLOAT32, TN_FLOAT16, TN_FLOAT32), 2048);  // a tie, to even
  EXPECT_EQ(cast(2051, TN_FLOAT32, TN_FLOAT16, TN_FLOAT32), 2052);
  EXPECT_EQ(cast(257, TN_FLOAT32, TN_BFLOAT16, TN_FLOAT32), 256);
  EXPECT_EQ(cast(1.0 + 0x1p-30, TN_FLOAT64, TN_FLOAT32, TN_FLOAT32), 1);
}

TEST_F(RefProgram, HalvesAreRoundedToNearestEven) {
  const Program program(
      2, 1,
      {instruction(TN_I_LOAD, TN_FLOAT32, 0, 0), instruction(TN_I_STORE, TN_FLOAT32, 0, 0, 0),
       instruction(TN_I_STORE, TN_FLOAT32, 0, 0, 1)});
  const std::vector<float> values = {1,
                                     65504,
                                     65519.996f,
                                     65520,
                                     0x1p-24f,
                                     0x1p-25f,
                                     0x1.8p-25f,
                                     0x1p-14f,
                                     0x1.ffcp-15f,
                                     1 + 0x1p-11f,
                                     1 + 0x1.8p-10f,
                                     -0.0f,
                                     static_cast<float>(-kInf),
                                     static_cast<float>(kNan),
                                     3.4e38f,
                                     1 + 0x1p-8f};
  const std::vector<uint16_t> halves = {0x3C00, 0x7BFF, 0x7BFF, 0x7C00, 0x0001, 0x0000,
                                        0x0001, 0x0400, 0x0400, 0x3C00, 0x3C02, 0x8000,
                                        0xFC00, 0x7E00, 0x7C00, 0x3C04};
  const auto n = static_cast<int64_t>(values.size());
  Tensor x({n}, TN_FLOAT32), h({n}, TN_FLOAT16), b({n}, TN_BFLOAT16);
  stream_.upload(x, values);
  EXPECT_EQ(run(stream_, program, {&h, &b, &x}), "");
  EXPECT_EQ(stream_.download<uint16_t>(h), halves);
  const std::vector<uint16_t> rounded = stream_.download<uint16_t>(b);
  EXPECT_EQ(rounded[0], 0x3F80);
  EXPECT_EQ(rounded[1], 0x4780);   // 65536
  EXPECT_EQ(rounded[12], 0xFF80);  // -inf
  EXPECT_EQ(rounded[13], 0x7FC0);
  EXPECT_EQ(rounded[14], 0x7F80);  // above the largest, 3.3895e38
  EXPECT_EQ(rounded[15], 0x3F80);  // a tie, to even
}

#ifdef __FLT16_MAX__
TEST_F(RefProgram, EveryFloat16AgreesWithTheCompilers) {
  const Program program(
      2, 1,
      {instruction(TN_I_LOAD, TN_FLOAT32, 0, 0), instruction(TN_I_STORE, TN_FLOAT32, 0, 0, 0),
       instruction(TN_I_STORE, TN_FLOAT32, 0, 0, 1)});
  std::vector<uint16_t> all(65536);
  for (uint32_t i = 0; i < 65536; ++i) all[i] = static_cast<uint16_t>(i);
  Tensor x({65536}, TN_FLOAT16), f({65536}, TN_FLOAT32), h({65536}, TN_FLOAT16);
  stream_.upload(x, all);
  EXPECT_EQ(run(stream_, program, {&f, &h, &x}), "");
  const std::vector<float> floats = stream_.download<float>(f);
  const std::vector<uint16_t> back = stream_.download<uint16_t>(h);
  for (uint32_t i = 0; i < 65536; ++i) {
    const auto expected = static_cast<float>(std::bit_cast<_Float16>(all[i]));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(floats[i])) << i;
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(floats[i]), std::bit_cast<uint32_t>(expected)) << i;
      ASSERT_EQ(back[i], all[i]);
    }
  }
  std::vector<float> between(65536);  // between two halves, and at ties
  for (uint32_t i = 0; i < 65536; ++i) between[i] = std::bit_cast<float>(0x33000000u + i * 0x1800u);
  stream_.upload(f, between);
  EXPECT_EQ(run(stream_, program, {&h, &x, &f}), "");
  const std::vector<uint16_t> rounded = stream_.download<uint16_t>(h);
  for (uint32_t i = 0; i < 65536; ++i) {
    ASSERT_EQ(rounded[i], std::bit_cast<uint16_t>(static_cast<_Float16>(between[i]))) << between[i];
  }
}
#endif

TEST_F(RefProgram, LoopsBroadcastAndStride) {
  const Program program(
      1, 2,
      {instruction(TN_I_LOAD, TN_INT64, 0, 0), instruction(TN_I_LOAD, TN_INT64, 1, 1),
       instruction(TN_I_SUB, TN_INT64, 2, 0, 1), instruction(TN_I_STORE, TN_INT64, 0, 2, 0)});
  Tensor x({3}, TN_UINT8), y({2}, TN_INT32), z({2, 3}, TN_INT64);
  stream_.upload<uint8_t>(x, {10, 20, 200});
  stream_.upload<int32_t>(y, {1, -1});
  EXPECT_EQ(run(stream_, program, {&z, &x, &y}, {2, 3}, {{3, 1}, {0, 1}, {1, 0}}), "");
  EXPECT_EQ(stream_.download<int64_t>(z), (std::vector<int64_t>{9, 19, 199, 11, 21, 201}));
  EXPECT_EQ(run(stream_, program, {&z, &x, &y}, {2, 3}, {{1, 2}, {0, 1}, {1, 0}}),
            "");  // written transposed
  EXPECT_EQ(stream_.download<int64_t>(z), (std::vector<int64_t>{9, 11, 19, 21, 199, 201}));
}

TEST_F(RefProgram, UnknownInstructionsAreRefused) {
  const Program reserved(1, 0, {instruction(TN_I_COORD, TN_INT64, 0, 0)});
  const Program divides(1, 0, {instruction(TN_I_DIV, TN_INT64, 0, 0)});
  const Program narrow(1, 0, {instruction(TN_I_ADD, TN_INT32, 0, 0)});
  Tensor x({1}, TN_INT64);
  EXPECT_EQ(run(stream_, reserved, {&x}), "ref: opcode 5 is not known for dtype 4");
  EXPECT_EQ(run(stream_, divides, {&x}), "ref: opcode 63 is not known for dtype 4");
  EXPECT_EQ(run(stream_, narrow, {&x}), "ref: opcode 60 is not known for dtype 5");
}

// Reduces the last n_reduced of the sizes; x is row-major, and so is y.
std::string reduce(Stream& stream, tn_reduce_kind kind, tn_dtype accumulate, Tensor& y, Tensor& x,
                   std::vector<int64_t> sizes, int32_t n_reduced, const Program* prologue = nullptr,
                   const Program* epilogue = nullptr) {
  const auto ndim = static_cast<int32_t>(sizes.size());
  std::vector<int64_t> x_strides(sizes.size()), y_strides(sizes.size());
  int64_t n_kept = 1, numel = 1;
  for (int32_t d = ndim; d-- > 0; numel *= sizes[d]) {
    x_strides[d] = numel;
    if (d >= ndim - n_reduced) continue;
    y_strides[d] = n_kept;
    n_kept *= sizes[d];
  }
  const tn_operand operands[] = {y.operand(y_strides.data()), x.operand(x_strides.data())};
  const tn_scalar half = {.f = 0.5};
  const tn_reduction reduction = {sizeof(reduction),
                                  kind,
                                  accumulate,
                                  ndim,
                                  n_reduced,
                                  0,
                                  n_kept,
                                  sizes.data(),
                                  operands,
                                  prologue ? &prologue->program : nullptr,
                                  epilogue ? &epilogue->program : nullptr,
                                  nullptr,
                                  &half};
  tn_value value = {TN_KIND_REDUCTION};
  value.as.reduction = &reduction;
  const std::string failed = stream.launch(TN_PRIM_REDUCE, {value}, {&y.tensor});
  return failed.empty() ? stream.synchronize() : failed;
}

TEST_F(RefProgram, SumKeepsTheDigitsOfLongSums) {
  Tensor x({1'000'000}, TN_FLOAT32), y({1}, TN_FLOAT32);
  stream_.launch(TN_PRIM_FILL, {number(0.1)}, {&x.tensor});
  EXPECT_EQ(reduce(stream_, TN_REDUCE_SUM, TN_FLOAT32, y, x, {1'000'000}, 1), "");
  EXPECT_EQ(stream_.download<float>(y)[0],
            100000.0f);  // float(0.1) * 1e6 is 100000.00149; adding in turn gives 100958.34
}

TEST_F(RefProgram, ReducesTheLastDimensions) {
  Tensor x({2, 3}, TN_INT32), y({2}, TN_INT64);
  stream_.upload<int32_t>(x, {1, 2, 3, -4, -5, -6});
  const auto result = [&](tn_reduce_kind kind) {
    EXPECT_EQ(reduce(stream_, kind, TN_INT64, y, x, {2, 3}, 1), "");
    return stream_.download<int64_t>(y);
  };
  using Two = std::vector<int64_t>;
  EXPECT_EQ(result(TN_REDUCE_SUM), (Two{6, -15}));
  EXPECT_EQ(result(TN_REDUCE_PROD), (Two{6, -120}));
  EXPECT_EQ(result(TN_REDUCE_MAX), (Two{3, -4}));
  EXPECT_EQ(result(TN_REDUCE_MIN), (Two{1, -6}));
  EXPECT_EQ(result(TN_REDUCE_ARGMAX), (Two{2, 0}));
  EXPECT_EQ(result(TN_REDUCE_ARGMIN), (Two{0, 2}));
}

TEST_F(RefProgram, ExtremesTakeNanAndTheFirstAmongEquals) {
  Tensor x({3, 4}, TN_FLOAT64), y({3}, TN_FLOAT64), i({3}, TN_INT64);
  stream_.upload<double>(x, {1, 2, 2, 1, kNan, 5, kNan, 9, kInf, -kInf, kInf, 0});
  EXPECT_EQ(reduce(stream_, TN_REDUCE_ARGMAX, TN_FLOAT64, i, x, {3, 4}, 1), "");
  EXPECT_EQ(stream_.download<int64_t>(i), (std::vector<int64_t>{1, 0, 0}));
  EXPECT_EQ(reduce(stream_, TN_REDUCE_ARGMIN, TN_FLOAT64, i, x, {3, 2, 2}, 2), "");
  EXPECT_EQ(stream_.download<int64_t>(i), (std::vector<int64_t>{0, 0, 1}));
  for (const tn_reduce_kind kind : {TN_REDUCE_MAX, TN_REDUCE_MIN}) {
    EXPECT_EQ(reduce(stream_, kind, TN_FLOAT64, y, x, {3, 4}, 1), "");
    const std::vector<double> extremes = stream_.download<double>(y);
    EXPECT_EQ(extremes[0], kind == TN_REDUCE_MAX ? 2 : 1);
    EXPECT_TRUE(std::isnan(extremes[1]));
    EXPECT_EQ(extremes[2], kind == TN_REDUCE_MAX ? kInf : -kInf);
  }
}

TEST_F(RefProgram, PrologueAndEpilogueFrameTheFold) {
  // sqrt(0.5 * sum(x * x)) of halves
  const Program square(
      1, 1,
      {instruction(TN_I_LOAD, TN_FLOAT32, 0, 0), instruction(TN_I_MUL, TN_FLOAT32, 1, 0, 0),
       instruction(TN_I_STORE, TN_FLOAT32, 0, 1, 0)});
  const Program root(
      1, 1,
      {instruction(TN_I_LOAD, TN_FLOAT32, 0, 0), instruction(TN_I_PARAM, TN_FLOAT32, 1, 0),
       instruction(TN_I_MUL, TN_FLOAT32, 2, 0, 1), instruction(TN_I_SQRT, TN_FLOAT32, 3, 2),
       instruction(TN_I_STORE, TN_FLOAT32, 0, 3, 0)},
      {}, 1);
  Tensor x({2, 2}, TN_FLOAT16), y({2}, TN_FLOAT32);
  stream_.upload<uint16_t>(x, {0x4200, 0x4200, 0x3C00, 0x4700});  // 3, 3, 1, 7
  EXPECT_EQ(reduce(stream_, TN_REDUCE_SUM, TN_FLOAT32, y, x, {2, 2}, 1, &square, &root), "");
  EXPECT_EQ(stream_.download<float>(y), (std::vector<float>{3, 5}));
}

}  // namespace
}  // namespace ref_test
