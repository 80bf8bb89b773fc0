// Halves: float16 and bfloat16 are computed in float32 and rounded once at the results of an op,
// with and without gradients, on every device. Each case of tests/data/torch_values.json is called
// in both, and compared with float64 on the same halves.
#include <cmath>
#include <limits>
#include <map>

#include "tenon/halves.hpp"
#include "torch_cases.h"

namespace {

using namespace torch_cases;
using tn::Dtype;

// The distance of neighbours where |value| lies.
double unit(double value, Dtype dtype) {
  const int digits = dtype == tn::float16 ? 10 : 7, least = dtype == tn::float16 ? -14 : -126;
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::max(exponent - 1, least) - digits);
}

// Results of a case: outputs, what it wrote, then gradients of sum(output * weight).
struct Results {
  TensorList list;
  size_t n_values = 0;
};

Results results_of(json c, tn::Device device, Dtype half, Dtype dtype, bool gradients) {
  if (!gradients) c.erase("grad");
  const Arguments arguments(c, tn::cpu, [&](const Tensor& t) {
    return t.dtype().is_float() ? t.to(half).to(device, dtype) : t.to(device);
  });
  const TensorList outputs = called(c.at("op"), arguments.values, c.at("out"));
  Results results;
  for (const Tensor& t : outputs) results.list.push_back(t.detach().to(tn::cpu));
  if (c.contains("after")) {
    for (const auto& after : c.at("after").items())
      results.list.push_back(arguments.list[std::stoul(after.key())]->tensors[0].to(tn::cpu));
  }
  results.n_values = results.list.size();
  if (!c.contains("grad")) return results;
  TensorList differentiable, weights;
  for (const Tensor& t : outputs) {
    if (!t.requires_grad()) continue;
    differentiable.push_back(t);
    weights.push_back(weight_like(t.to(tn::cpu)).to(half).to(device, t.dtype()));
  }
  for (const Tensor& g :
       tn::grad(differentiable, arguments.leaves, {.grad_outputs = weights, .allow_unused = true}))
    if (g.defined()) results.list.push_back(g.to(tn::cpu));
  return results;
}

// What rounds more than once, how many units its results are from the exact ones, and why.
struct Exception {
  double units;
  const char* why;
  double with_cudnn = units;  // on `cuda`, where gradients are halves between the steps, too
};
constexpr const char* kFromOutput =
    "its derivative reads the output, which is a half, as PyTorch's does";
constexpr const char* kEachStep = "the state of each step is a half, as PyTorch's is";
constexpr const char* kHidden = "the values between its two linear maps are halves";
constexpr const char* kLogits = "its logits are halves, as those of linear are";
const std::map<std::string, Exception> kExceptions = {
    {"feed_forward", {256, kHidden}},
    {"gru", {16, kEachStep, 32}},
    {"linear_cross_entropy", {16, kLogits}},
    {"lstm", {64, kEachStep}},
    {"rnn_relu", {8, kEachStep, 16}},
    {"rnn_tanh", {128, kEachStep, 256}},
    {"div", {6, kFromOutput}},
    {"expm1", {16, kFromOutput}},
    {"reciprocal", {2, kFromOutput}},
    {"rsqrt", {2, kFromOutput}},
    {"sigmoid", {16, kFromOutput}},
    {"tanh", {128, kFromOutput}},
};

class Units {
 public:
  // found, exact: on the cpu; `device` made the first.
  void compare(const std::string& op, tn::Device device, const Tensor& found, const Tensor& exact,
               Dtype dtype, bool gradient) {
    if (!found.dtype().is_float()) {
      EXPECT_EQ(found.to_vector<int64_t>(), exact.to_vector<int64_t>());
      return;
    }
    // their values are those of the dtype
    if (op == "nan_to_num" || op == "nextafter") return;
    const std::vector<double> a = found.to_vector<double>(), b = exact.to_vector<double>();
    ASSERT_EQ(a.size(), b.size());
    const auto known = kExceptions.find(op);
    const bool with_cudnn = device.type() == "cuda";
    const double bound = known == kExceptions.end() ? 1
                         : with_cudnn               ? known->second.with_cudnn
                                                    : known->second.units;
    // Where terms cancel, float32 leaves what is small beside them: sums of up to 60 terms of about
    // 1, or as large as the results.
    double largest = 1;
    for (double v : b) largest = std::max(largest, std::isfinite(v) ? std::fabs(v) : 0);
    for (size_t i = 0; i < a.size(); ++i) {
      if (!std::isfinite(b[i]) || !std::isfinite(a[i])) {
        const double top = dtype == tn::float16 ? 65504 : 3.3895313892515355e38;
        const bool beyond = std::isinf(a[i]) && std::fabs(b[i]) >= top;
        EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) || beyond || gradient)
            << a[i] << " for " << b[i];
        continue;
      }
      const double u = std::fabs(a[i] - b[i]) / (unit(b[i], dtype) + 0x1p-20 * largest);
      EXPECT_LE(u, bound) << a[i] << " for " << b[i] << " at " << i
                          << (gradient ? " of a gradient" : "");
      double& worst = worst_[op];
      worst = std::max(worst, u);
    }
  }
  ~Units() {
    if (std::getenv("TENON_PRINT_UNITS") == nullptr) return;
    for (const auto& [op, u] : worst_)
      if (u > 0.6) std::printf("%-40s %.3g\n", op.c_str(), u);
  }

 private:
  std::map<std::string, double> worst_;
};

// What the bits of a format with this many digits behind the point mean, but for the sign; beyond
// the largest number goes on as if there were no infinity.
double magnitude(uint32_t bits, int digits, int bias) {
  const int exponent = static_cast<int>(bits >> digits);
  const uint32_t fraction = bits & ((1u << digits) - 1);
  return exponent == 0 ? std::ldexp(fraction, 1 - bias - digits)
                       : std::ldexp(fraction + (1u << digits), exponent - bias - digits);
}

template <typename T>
void check_every_pattern(int digits, int bias) {
  const uint32_t infinity = 0x7fffu >> digits << digits;
  for (uint32_t bits = 0; bits < infinity; ++bits) {
    for (const uint32_t sign : {0u, 0x8000u}) {
      const double factor = sign ? -1 : 1;
      T x;
      x.bits = static_cast<uint16_t>(bits | sign);
      const auto value = static_cast<float>(factor * magnitude(bits, digits, bias));
      ASSERT_EQ(float(x), value) << bits;
      ASSERT_EQ(std::signbit(float(x)), sign != 0) << bits;
      ASSERT_EQ(T(value).bits, x.bits);
      const double next = magnitude(bits + 1, digits, bias);
      const auto middle = static_cast<float>(factor * (magnitude(bits, digits, bias) + next) / 2);
      ASSERT_EQ(T(middle).bits, (bits + bits % 2) | sign) << bits;  // to even
      ASSERT_EQ(T(std::nextafter(middle, 0.0f)).bits, bits | sign) << bits;
      ASSERT_EQ(T(std::nextafter(middle, static_cast<float>(2 * factor * next))).bits,
                (bits + 1) | sign)
          << bits;
    }
  }
  constexpr float kInf = std::numeric_limits<float>::infinity();
  T x;
  x.bits = static_cast<uint16_t>(infinity);
  EXPECT_EQ(float(x), kInf);
  EXPECT_EQ(T(kInf).bits, infinity);
  EXPECT_EQ(T(-kInf).bits, infinity | 0x8000u);
  for (uint32_t bits = infinity + 1; bits < 0x8000u; ++bits) {
    x.bits = static_cast<uint16_t>(bits);
    ASSERT_TRUE(std::isnan(float(x))) << bits;
    ASSERT_GT(T(float(x)).bits, infinity) << bits;
  }
}

TEST(Half, EveryPatternIsWhatTheFormatSaysAndNumbersGoToTheNearest) {
  check_every_pattern<tenon::halves::Float16>(10, 15);
  check_every_pattern<tenon::halves::BFloat16>(7, 127);
}

TEST(Half, EveryOpRoundsOnce) {
  Units units;
  const json all = all_cases();
  for (tn::Device device : devices()) {
    for (Dtype dtype : {tn::float16, tn::bfloat16}) {
      for (const json& c : all) {
        const std::string op = c.at("op");
        for (bool gradients : {false, true}) {
          if (gradients && !c.contains("grad")) continue;
          SCOPED_TRACE(device.name() + " " + dtype.name() + (gradients ? " gradient " : " ") + op +
                       c.at("args").dump().substr(0, 160));
          try {
            const Results exact = results_of(c, tn::cpu, dtype, tn::float64, gradients);
            const Results found = results_of(c, device, dtype, dtype, gradients);
            ASSERT_EQ(found.list.size(), exact.list.size());
            for (size_t i = 0; i < found.list.size(); ++i)
              units.compare(op, device, found.list[i], exact.list[i], dtype, i >= found.n_values);
          } catch (const std::exception& e) {
            ADD_FAILURE() << e.what();
          }
        }
      }
    }
  }
}

TEST(Half, NormOfHalvesRoundsOnce) {
  for (tn::Device device : devices()) {
    Tensor x = tn::full({1000}, 300.0, tn::float16, device);
    const double exact = 300 * std::sqrt(1000.0);
    EXPECT_NEAR(tn::norm(x).item<double>(), exact, 4);
    x.requires_grad_();
    Tensor y = tn::norm(x);
    EXPECT_EQ(y.dtype(), tn::float16);
    EXPECT_NEAR(y.item<double>(), exact, 4);
    y.backward();
    EXPECT_NEAR(x.grad().to(tn::float64).sum().item<double>() / 1000, 1 / std::sqrt(1000.0), 1e-5);
  }
}

TEST(Half, RowsOfSoftmaxSumToOne) {
  for (tn::Device device : devices()) {
    for (bool gradient : {false, true}) {
      Tensor x = sample({4, 1000}, device).to(tn::float16);
      x.requires_grad_(gradient);
      // The weights' roundings go both ways: each is at most 2^-11 of a weight, and there are a
      // thousand of them.
      Tensor rows = tn::softmax(x, -1).detach().to(tn::float64).sum(-1);
      expect_near(rows, {1, 1, 1, 1}, 1e-4);
    }
  }
}

TEST(Half, ResultsAreOfTheDtypeThatHalvesHave) {
  for (tn::Device device : devices()) {
    Tensor x = sample({2, 3}, device).to(tn::bfloat16), w = sample({3}, device).to(tn::float32);
    EXPECT_EQ(tn::softmax(x, -1).dtype(), tn::bfloat16);
    EXPECT_EQ(tn::sum(x, {}, false, tn::float32).dtype(), tn::float32);
    EXPECT_EQ(tn::rms_norm(x, w).dtype(), x.dtype());  // as layer_norm, and PyTorch 2.15
    EXPECT_EQ(tn::mse_loss(x, x.to(tn::float64)).dtype(), tn::float64);
    EXPECT_EQ(tn::rand_like(x).dtype(), tn::bfloat16);
    expect_error(
        [&] {
          tn::conv1d(tn::ones({1, 1, 3}, tn::bfloat16, device), tn::ones({1, 1, 2}, {}, device));
        },
        "weight is [1, 1, 2] (float32");  // not widened into what fits
    EXPECT_TRUE(tn::dropout(x, 0.5, false).is_same(x));
  }
}

// A tensor that comes twice gets one gradient, whose parts are not rounded before they are added
// up.
TEST(Half, GradientsOfOneTensorAreRoundedOnce) {
  for (tn::Device device : devices()) {
    Tensor x = sample({2, 8, 16}, device).to(tn::bfloat16).requires_grad_();
    tn::scaled_dot_product_attention(x, x, x).to(tn::float64).square().sum().backward();
    Tensor y = x.detach().to(tn::float64).requires_grad_();
    Tensor z = tn::scaled_dot_product_attention(y, y, y);
    // The forward is rounded once, the gradient again.
    (z.square()).sum().backward();
    Tensor off = tn::max(tn::abs(x.grad().to(tn::float64) - y.grad()) / (tn::abs(y.grad()) + 0.1));
    EXPECT_LT(off.item<double>(), 0x1p-6);
  }
}

}  // namespace
