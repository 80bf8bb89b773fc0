// The cpu kernels' evaluator of programs, under the small host of cpu_host.h: every instruction on
// every register type against the C library in a wider type, conversions of dtypes, strides, tails,
// in-place use, threads. CTest runs it once for each instruction set (TENON_CPU_ISA).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>

#include "cpu_host.h"

#include <gtest/gtest.h>

namespace cpu_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
using Real = long double;

// How many units in the last place `got` is from `want`; infinity where one of them is special and
// they differ.
template <typename T>
double ulps(T got, Real want) {
  const T rounded = static_cast<T>(want);
  if (std::isnan(got) || std::isnan(rounded)) {
    return std::isnan(got) == std::isnan(rounded) ? 0 : kInf;
  }
  if (std::isinf(got) || std::isinf(rounded)) {
    // One of them may just have overflowed.
    const T other = std::isinf(got) ? rounded : got;
    return got == rounded                                                  ? 0
           : std::abs(other) > std::numeric_limits<T>::max() * T(0.999999) ? 1
                                                                           : kInf;
  }
  const T up = std::abs(rounded);
  const Real unit = std::max<Real>(std::nextafter(up, std::numeric_limits<T>::infinity()) - up,
                                   std::numeric_limits<T>::denorm_min());
  return static_cast<double>(std::abs(static_cast<Real>(got) - want) / unit);
}

template <typename T>
constexpr tn_dtype kDtype = TN_FLOAT32;
template <>
constexpr tn_dtype kDtype<double> = TN_FLOAT64;
template <>
constexpr tn_dtype kDtype<int64_t> = TN_INT64;
template <>
constexpr tn_dtype kDtype<uint8_t> = TN_BOOL;

// One instruction from memory to memory.
template <typename T, typename R>
std::vector<R> apply(int opcode, const std::vector<std::vector<T>>& operands) {
  const int64_t n = static_cast<int64_t>(operands[0].size());
  std::vector<tn_instruction> code;
  std::vector<std::unique_ptr<Tensor>> tensors;
  tensors.push_back(std::make_unique<Tensor>(std::vector<int64_t>{n}, kDtype<R>));
  for (size_t k = 0; k < operands.size(); ++k) {
    tensors.push_back(std::make_unique<Tensor>(std::vector<int64_t>{n}, kDtype<T>));
    std::copy(operands[k].begin(), operands[k].end(), tensors.back()->template data<T>());
    code.push_back(in(TN_I_LOAD, kDtype<T>, static_cast<int>(k), static_cast<int>(k)));
  }
  code.push_back(in(opcode, kDtype<R>, 3, 0, 1, 2, kDtype<T>));
  code.push_back(in(TN_I_STORE, kDtype<R>, 0, 3, 0));
  const Program& program = Program::make(1, static_cast<uint32_t>(operands.size()), code);
  std::vector<Tensor*> list;
  for (const auto& tensor : tensors) {
    list.push_back(tensor.get());
  }
  EXPECT_EQ(run(program, list), "");
  return std::vector<R>(tensors[0]->data<R>(), tensors[0]->data<R>() + n);
}

template <typename T>
std::vector<T> samples(double low, double high) {
  std::vector<T> x = {T(0),
                      T(-0.0),
                      T(kInf),
                      T(-kInf),
                      T(kNan),
                      std::numeric_limits<T>::max(),
                      std::numeric_limits<T>::lowest(),
                      std::numeric_limits<T>::min(),
                      std::numeric_limits<T>::denorm_min(),
                      T(1),
                      T(-1),
                      T(0.5),
                      T(-0.5),
                      T(1.5),
                      T(2.5),
                      T(-2.5)};
  std::mt19937 random(7);
  std::uniform_real_distribution<double> even(low, high), exponent(-30, 30), sign(-1, 1);
  for (int i = 0; i < 3000; ++i) {
    x.push_back(static_cast<T>(even(random)));
    x.push_back(static_cast<T>(std::copysign(std::pow(2, exponent(random)), sign(random))));
  }
  return x;
}

struct Unary {
  const char* name;
  int opcode;
  Real (*f)(Real);
  double low, high;
  double ulp;
};
Real sign_of(Real x) { return (x > 0) - (x < 0); }
const Unary kUnaries[] = {
    {"neg", TN_I_NEG, [](Real x) { return -x; }, -9, 9, 0},
    {"abs", TN_I_ABS, [](Real x) { return std::abs(x); }, -9, 9, 0},
    {"sign", TN_I_SIGN, sign_of, -9, 9, 0},
    {"floor", TN_I_FLOOR, [](Real x) { return std::floor(x); }, -9, 9, 0},
    {"ceil", TN_I_CEIL, [](Real x) { return std::ceil(x); }, -9, 9, 0},
    {"round", TN_I_ROUND, [](Real x) { return std::nearbyint(x); }, -9, 9, 0},
    {"trunc", TN_I_TRUNC, [](Real x) { return std::trunc(x); }, -9, 9, 0},
    {"sqrt", TN_I_SQRT, [](Real x) { return std::sqrt(x); }, 0, 9, 0.5},
    {"exp", TN_I_EXP, [](Real x) { return std::exp(x); }, -110, 95, 4},
    {"exp2", TN_I_EXP2, [](Real x) { return std::exp2(x); }, -150, 129, 4},
    {"expm1", TN_I_EXPM1, [](Real x) { return std::expm1(x); }, -20, 90, 4},
    {"log", TN_I_LOG, [](Real x) { return std::log(x); }, 0, 3, 4},
    {"log2", TN_I_LOG2, [](Real x) { return std::log2(x); }, 0, 3, 4},
    {"log10", TN_I_LOG10, [](Real x) { return std::log10(x); }, 0, 3, 4},
    {"log1p", TN_I_LOG1P, [](Real x) { return std::log1p(x); }, -1, 3, 4},
    {"sin", TN_I_SIN, [](Real x) { return std::sin(x); }, -50, 50, 4},
    {"cos", TN_I_COS, [](Real x) { return std::cos(x); }, -50, 50, 4},
    {"tan", TN_I_TAN, [](Real x) { return std::tan(x); }, -50, 50, 4},
    {"asin", TN_I_ASIN, [](Real x) { return std::asin(x); }, -1, 1, 4},
    {"acos", TN_I_ACOS, [](Real x) { return std::acos(x); }, -1, 1, 4},
    {"atan", TN_I_ATAN, [](Real x) { return std::atan(x); }, -9, 9, 4},
    {"sinh", TN_I_SINH, [](Real x) { return std::sinh(x); }, -80, 80, 4},
    {"cosh", TN_I_COSH, [](Real x) { return std::cosh(x); }, -80, 80, 4},
    {"tanh", TN_I_TANH, [](Real x) { return std::tanh(x); }, -10, 10, 4},
    {"asinh", TN_I_ASINH, [](Real x) { return std::asinh(x); }, -99, 99, 4},
    {"acosh", TN_I_ACOSH, [](Real x) { return std::acosh(x); }, 1, 99, 4},
    {"atanh", TN_I_ATANH, [](Real x) { return std::atanh(x); }, -1, 1, 4},
    {"erf", TN_I_ERF, [](Real x) { return std::erf(x); }, -5, 5, 4},
    {"erfc", TN_I_ERFC, [](Real x) { return std::erfc(x); }, -5, 9, 4},
};

template <typename T>
void check_unary(const Unary& u) {
  const std::vector<T> x = samples<T>(u.low, u.high);
  const std::vector<T> y = apply<T, T>(u.opcode, {x});
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = ulps(y[i], u.f(static_cast<Real>(x[i])));
    worst = std::max(worst, error);
    EXPECT_LE(error, u.ulp) << u.name << "(" << x[i] << ") is " << y[i] << ", not " << u.f(x[i]);
    if (error > u.ulp) {
      return;
    }
  }
  testing::Test::RecordProperty(u.name, std::to_string(worst));
}

TEST(CpuProgram, UnaryFunctionsAreWithinTheirUlps) {
  for (const Unary& u : kUnaries) {
    check_unary<float>(u);
    check_unary<double>(u);
  }
}

// What a whole vector is computed by may be chosen for all of it, and the bits stay.
TEST(CpuProgram, UnaryFunctionsDoNotDependOnNeighbours) {
  std::vector<float> near;
  for (int i = -200; i < 200; ++i) {
    near.push_back(static_cast<float>(i) / 64);
  }
  std::vector<float> mixed;
  for (size_t i = 0; i < near.size(); ++i) {
    mixed.push_back(near[i]);
    mixed.push_back(i % 3 == 0 ? 9.5f : i % 3 == 1 ? -200.0f : near[near.size() - 1 - i]);
  }
  for (const Unary& u : kUnaries) {
    if (u.low >= -1) {
      continue;
    }
    const auto alone = apply<float, float>(u.opcode, {near});
    const auto among = apply<float, float>(u.opcode, {mixed});
    for (size_t i = 0; i < near.size(); ++i) {
      EXPECT_EQ(alone[i], among[2 * i]) << u.name << "(" << near[i] << ")";
    }
  }
}

Real python_mod(Real a, Real b) {
  const Real r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
Real min_of(Real a, Real b) { return std::isnan(a) ? a : std::isnan(b) ? b : std::min(a, b); }
Real max_of(Real a, Real b) { return std::isnan(a) ? a : std::isnan(b) ? b : std::max(a, b); }

template <typename T>
void check_binary(const char* name, int opcode, Real (*f)(Real, Real), double ulp, double low,
                  double high) {
  std::vector<T> a = samples<T>(low, high);
  std::vector<T> b = a;
  std::shuffle(b.begin() + 16, b.end(), std::mt19937(3));
  const std::vector<T> special(a.begin(), a.begin() + 16);
  for (const T x : special) {
    for (const T y : special) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const std::vector<T> y = apply<T, T>(opcode, {a, b});
  for (size_t i = 0; i < a.size(); ++i) {
    const Real want = f(static_cast<Real>(a[i]), static_cast<Real>(b[i]));
    if (ulps(y[i], want) > ulp) {
      ADD_FAILURE() << name << "(" << a[i] << ", " << b[i] << ") is " << y[i] << ", not " << want
                    << ", " << ulps(y[i], want) << " ulp";
      return;
    }
  }
}

TEST(CpuProgram, BinaryFunctionsAreWithinTheirUlps) {
  const auto both = [](const char* name, int opcode, Real (*f)(Real, Real), double ulp,
                       double low = -9, double high = 9) {
    check_binary<float>(name, opcode, f, ulp, low, high);
    check_binary<double>(name, opcode, f, ulp, low, high);
  };
  // A result that is rounded twice, to long double and then to T, may be a hair beyond half an ulp.
  both(
      "add", TN_I_ADD, [](Real a, Real b) { return a + b; }, 0.501);
  both(
      "sub", TN_I_SUB, [](Real a, Real b) { return a - b; }, 0.501);
  both(
      "mul", TN_I_MUL, [](Real a, Real b) { return a * b; }, 0.501);
  both(
      "div", TN_I_DIV, [](Real a, Real b) { return a / b; }, 0.501);
  both(
      "fmod", TN_I_FMOD, [](Real a, Real b) { return std::fmod(a, b); }, 0);
  both("rem", TN_I_REM, python_mod, 0.501);
  both("min", TN_I_MIN, min_of, 0);
  both("max", TN_I_MAX, max_of, 0);
  both(
      "pow", TN_I_POW, [](Real a, Real b) { return std::pow(a, b); }, 4, 0, 9);
  both(
      "atan2", TN_I_ATAN2, [](Real a, Real b) { return std::atan2(a, b); }, 4);
}

// By a quotient where that is small, else bit by bit: the same bits, at each side of the border and
// on multiples of what is divided by.
template <typename T>
void expect_exact_rests(int most_exponent) {
  std::mt19937_64 random(7);
  std::vector<T> a, b;
  const auto number = [&](int exponent) {
    const T part = static_cast<T>(random() >> 11) * static_cast<T>(0x1p-53);
    return std::ldexp((random() & 1) != 0 ? T(1) + part : -T(1) - part, exponent);
  };
  for (int i = 0; i < 20000; ++i) {
    const int low = static_cast<int>(random() % 40) - 60;
    b.push_back(number(low));
    const int up = static_cast<int>(random() % static_cast<uint64_t>(most_exponent + 3)) - 2;
    const T multiple = std::trunc(number(std::min(up, 20))) * b.back();
    const T near[] = {number(low + up), multiple, std::nextafter(multiple, T(0)),
                      std::nextafter(multiple, multiple * 2)};
    a.push_back(near[random() % 4]);
  }
  const std::vector<T> rests = apply<T, T>(TN_I_FMOD, {a, b});
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(ulps(rests[i], std::fmod(a[i], b[i])), 0) << a[i] << " and " << b[i];
  // Elements beside one of a large quotient go the other way.
  std::vector<T> slow_a = a, slow_b = b;
  for (size_t i = 0; i < a.size(); i += 64) slow_a[i] = std::numeric_limits<T>::max();
  for (const int opcode : {TN_I_REM, TN_I_FLOORDIV}) {
    const std::vector<T> quick = apply<T, T>(opcode, {a, b}),
                         slow = apply<T, T>(opcode, {slow_a, slow_b});
    for (size_t i = 0; i < a.size(); ++i) {
      if (i % 64 == 0) continue;
      ASSERT_EQ(ulps(quick[i], slow[i]), 0) << a[i] << " and " << b[i];
    }
  }
}
TEST(CpuProgram, RestsOfDivisionsAreExact) {
  expect_exact_rests<float>(26);
  expect_exact_rests<double>(48);
  expect_exact_rests<float>(40);
}

TEST(CpuProgram, FloorDivisionFitsTheRemainder) {
  // Python's: 1 // 0.1 is 9, for 0.1 is a little more than a tenth.
  const std::vector<double> a = {7, -7, 7, -7, 1, 0, -0.0, 5, -5, kInf, 3, kNan, 6, -1e-20};
  const std::vector<double> b = {2, 2, -2, -2, 0.1, 3, 3, 0, 0, 2, kInf, 1, 3, 1};
  const std::vector<double> want = {3, -4, -4, 3, 9, 0, -0.0, kInf, -kInf, kNan, 0, kNan, 2, -1};
  const std::vector<double> got = apply<double, double>(TN_I_FLOORDIV, {a, b});
  const std::vector<float> got32 =
      apply<float, float>(TN_I_FLOORDIV, {std::vector<float>(a.begin(), a.end()),
                                          {2, 2, -2, -2, 0.1f, 3, 3, 0, 0, 2, INFINITY, 1, 3, 1}});
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(ulps(got[i], want[i]), 0) << a[i] << " // " << b[i] << " is " << got[i];
    EXPECT_EQ(ulps(got32[i], want[i]), 0) << a[i] << " // " << b[i] << " is " << got32[i];
  }
}

TEST(CpuProgram, IntegersWrapAndTheirDivisionsAreTotal) {
  const std::vector<int64_t> a = {7, -7, 7, -7, 5, kMin, kMin, kMax, 0, 6, -6, 3, 1, -1};
  const std::vector<int64_t> b = {2, 2, -2, -2, 0, -1, 1, 1, 5, 3, 3, 70, -1, 63};
  const auto expect = [&](int opcode, const std::vector<int64_t>& want) {
    const std::vector<int64_t> got = apply<int64_t, int64_t>(opcode, {a, b});
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(got[i], want[i]) << "instruction " << opcode << " of " << a[i] << ", " << b[i];
    }
  };
  expect(TN_I_ADD, {9, -5, 5, -9, 5, kMax, kMin + 1, kMin, 5, 9, -3, 73, 0, 62});
  expect(TN_I_SUB, {5, -9, 9, -5, 5, kMin + 1, kMax, kMax - 1, -5, 3, -9, -67, 2, -64});
  expect(TN_I_MUL, {14, -14, -14, 14, 0, kMin, kMin, kMax, 0, 18, -18, 210, -1, -63});
  expect(TN_I_FLOORDIV, {3, -4, -4, 3, 0, kMin, kMin, kMax, 0, 2, -2, 0, -1, -1});
  expect(TN_I_REM, {1, 1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 62});
  expect(TN_I_FMOD, {1, -1, 1, -1, 0, 0, 0, 0, 0, 0, 0, 3, 0, -1});
  expect(TN_I_POW, {49, 49, 0, 0, 1, 0, kMin, kMax, 0, 216, -216,
                    [] {
                      uint64_t p = 1;
                      for (int i = 0; i < 70; ++i) p *= 3;
                      return static_cast<int64_t>(p);
                    }(),
                    1, -1});
  expect(TN_I_MIN, {2, -7, -2, -7, 0, kMin, kMin, 1, 0, 3, -6, 3, -1, -1});
  expect(TN_I_MAX, {7, 2, 7, -2, 5, -1, 1, kMax, 5, 6, 3, 70, 1, 63});
  expect(TN_I_AND, {2, 0, 6, -8, 0, kMin, 0, 1, 0, 2, 2, 2, 1, 63});
  expect(TN_I_OR, {7, -5, -1, -1, 5, -1, kMin + 1, kMax, 5, 7, -5, 71, -1, -1});
  expect(TN_I_XOR, {5, -5, -7, 7, 5, kMax, kMin + 1, kMax - 1, 5, 5, -7, 69, -2, -64});
  expect(TN_I_SHL, {28, -28, 0, 0, 5, 0, 0, -2, 0, 48, -48, 0, 0, kMin});
  expect(TN_I_SHR, {1, -2, 0, -1, 5, -1, kMin / 2, kMax / 2, 0, 0, -1, 0, 0, -1});
  EXPECT_EQ((apply<int64_t, int64_t>(TN_I_NEG, {{5, kMin, 0}})),
            (std::vector<int64_t>{-5, kMin, 0}));
  EXPECT_EQ((apply<int64_t, int64_t>(TN_I_ABS, {{-5, kMin, 4}})),
            (std::vector<int64_t>{5, kMin, 4}));
  EXPECT_EQ((apply<int64_t, int64_t>(TN_I_SIGN, {{-5, kMin, 0, 9}})),
            (std::vector<int64_t>{-1, -1, 0, 1}));
  EXPECT_EQ((apply<int64_t, int64_t>(TN_I_NOT, {{0, 5}})), (std::vector<int64_t>{-1, -6}));
}

template <typename T>
void check_comparisons(const std::vector<T>& values) {
  std::vector<T> a, b;
  for (const T x : values) {
    for (const T y : values) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const auto expect = [&](int opcode, const std::function<bool(T, T)>& f) {
    const std::vector<uint8_t> got = apply<T, uint8_t>(opcode, {a, b});
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(got[i], f(a[i], b[i]) ? 1 : 0) << opcode << " of " << +a[i] << ", " << +b[i];
    }
  };
  expect(TN_I_EQ, [](T x, T y) { return x == y; });
  expect(TN_I_NE, [](T x, T y) { return x != y; });
  expect(TN_I_LT, [](T x, T y) { return x < y; });
  expect(TN_I_LE, [](T x, T y) { return x <= y; });
  expect(TN_I_GT, [](T x, T y) { return x > y; });
  expect(TN_I_GE, [](T x, T y) { return x >= y; });
}

TEST(CpuProgram, ComparisonsAndLogic) {
  check_comparisons<float>({0.f, -0.f, 1.f, -1.f, INFINITY, -INFINITY, NAN, 1e-45f});
  check_comparisons<double>({0., -0., 1., -1., kInf, -kInf, kNan, 5e-324});
  check_comparisons<int64_t>({0, 1, -1, kMin, kMax});
  check_comparisons<uint8_t>({0, 1});
  const std::vector<std::vector<uint8_t>> truth = {{0, 0, 1, 1}, {0, 1, 0, 1}};
  EXPECT_EQ((apply<uint8_t, uint8_t>(TN_I_AND, truth)), (std::vector<uint8_t>{0, 0, 0, 1}));
  EXPECT_EQ((apply<uint8_t, uint8_t>(TN_I_OR, truth)), (std::vector<uint8_t>{0, 1, 1, 1}));
  EXPECT_EQ((apply<uint8_t, uint8_t>(TN_I_XOR, truth)), (std::vector<uint8_t>{0, 1, 1, 0}));
  EXPECT_EQ((apply<uint8_t, uint8_t>(TN_I_NOT, {{0, 1}})), (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ((apply<float, uint8_t>(TN_I_ISNAN, {{0.f, NAN, INFINITY}})),
            (std::vector<uint8_t>{0, 1, 0}));
  EXPECT_EQ((apply<double, uint8_t>(TN_I_ISNAN, {{0., kNan, kInf}})),
            (std::vector<uint8_t>{0, 1, 0}));
  EXPECT_EQ((apply<float, uint8_t>(TN_I_ISINF, {{0.f, NAN, -INFINITY}})),
            (std::vector<uint8_t>{0, 0, 1}));
  EXPECT_EQ((apply<double, uint8_t>(TN_I_ISINF, {{1e308, kNan, kInf}})),
            (std::vector<uint8_t>{0, 0, 1}));
}

}  // namespace
}  // namespace cpu_test
