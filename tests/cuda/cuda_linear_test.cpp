// linear and linear_relu as one product of cuBLASLt's, with the bias and ReLU as its epilogue, and where
// it has none. Values are compared with `cpu`. The fake cuBLASLt has no epilogues for float64, nor for
// products of 7, 14, 21, ... columns.
#include <cmath>

#include "ops_support.h"

namespace {

struct CudaLinear : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

struct Case {
  std::vector<int64_t> x;  // sizes
  int64_t out;
  tn::Dtype dtype;
  bool has_bias, has_epilogue;
};

Tensor numbers(const std::vector<int64_t>& sizes, tn::Dtype dtype, int64_t seed) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(static_cast<float>((i * 7919 + seed * 31) % 23 - 11) / 8.f);
  return Tensor::from(values, sizes).to(dtype);
}

const std::vector<Case> kCases = {
    {{5, 6}, 8, tn::float32, true, true},    {{5, 6}, 8, tn::float32, false, true},
    {{2, 3, 6}, 8, tn::float16, true, true}, {{33, 70}, 65, tn::bfloat16, true, true},
    {{6}, 8, tn::float32, true, true},       {{5, 6}, 7, tn::float32, true, false},
    {{5, 6}, 8, tn::float64, true, false},   {{0, 6}, 8, tn::float32, true, false},
};

// Sums of so small multiples of 1/64 are exact in float32, so only halves round.
void expect_close(const Tensor& found, const Tensor& expected) {
  expect_near(found.to(tn::cpu).to(tn::float64), expected.to(tn::float64).to_vector<double>(),
              expected.dtype() == tn::float16    ? 1e-3
              : expected.dtype() == tn::bfloat16 ? 1e-2
                                                 : 0);
}

void expect_case(const Case& c) {
  std::vector<Tensor> results[2];
  uint64_t decomposed = 0;
  for (const bool there : {false, true}) {
    const tn::Device device(there ? "cuda:0" : "cpu");
    const auto leaf = [&](const std::vector<int64_t>& sizes, int64_t seed) {
      return numbers(sizes, c.dtype, seed).to(device).requires_grad_();
    };
    const Tensor x = leaf(c.x, 1), weight = leaf({c.out, c.x.back()}, 2);
    const Tensor bias = c.has_bias ? leaf({c.out}, 3) : Tensor();
    const uint64_t before = tn::counter("decompositions");
    const Tensor y = tn::linear(x, weight, bias);
    decomposed = tn::counter("decompositions") - before;
    const Tensor positive =
        tn::linear_relu(x.detach(), weight.detach(), c.has_bias ? bias.detach() : Tensor());
    y.backward(numbers({y.sizes().begin(), y.sizes().end()}, c.dtype, 4).to(device));
    results[there] = {y.detach(), positive, x.grad(), weight.grad()};
    if (c.has_bias) results[there].push_back(bias.grad());
  }
  EXPECT_EQ(decomposed == 0, c.has_epilogue);
  for (size_t k = 0; k < results[0].size(); ++k) {
    SCOPED_TRACE(k);
    expect_close(results[1][k], results[0][k]);
  }
}

TEST_F(CudaLinear, AgreesWithCpuWithAndWithoutEpilogues) {
  for (size_t k = 0; k < kCases.size(); ++k) {
    SCOPED_TRACE(k);
    expect_case(kCases[k]);
  }
}

// A bias that is a part of another tensor may begin anywhere.
TEST_F(CudaLinear, TakesABiasThatIsNotAligned) {
  const tn::Device cuda("cuda:0");
  const Tensor x = numbers({5, 6}, tn::float32, 1), weight = numbers({8, 6}, tn::float32, 2);
  const Tensor biases = numbers({12}, tn::float32, 3), there = biases.to(cuda);
  for (const int64_t first : {0, 1, 2, 4}) {
    SCOPED_TRACE(first);
    expect_close(tn::linear(x.to(cuda), weight.to(cuda), there.narrow(0, first, 8)),
                 tn::linear(x, weight, biases.narrow(0, first, 8)));
  }
}

// What cuBLASLt's header says of its ReLU, max(x, 0), does not say it: a GPU does.
TEST_F(CudaLinear, ReluKeepsNaN) {
  const tn::Device cuda("cuda:0");
  const float nan = std::nanf("");
  const Tensor x = tn::tensor({{1.f, nan}, {-1.f, 0.f}}).to(cuda);
  const Tensor weight = tn::ones({8, 2}, tn::float32, cuda), bias = tn::zeros({8}, {}, cuda);
  const std::vector<double> y = tn::linear_relu(x, weight, bias).to_vector<double>();
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_TRUE(std::isnan(y[i]));
    EXPECT_EQ(y[8 + i], 0);
  }
}

// The sums of the gradient's columns come with the product for the weight; alone they are a reduction.
TEST_F(CudaLinear, GivesTheGradientOfTheBiasAlone) {
  const tn::Device cuda("cuda:0");
  const Tensor x = numbers({5, 6}, tn::float32, 1).to(cuda);
  const Tensor weight = numbers({8, 6}, tn::float32, 2).to(cuda);
  const Tensor bias = tn::zeros({8}, tn::float32, cuda).requires_grad_();
  tn::linear(x, weight, bias).sum().backward();
  EXPECT_EQ(bias.grad().to(tn::cpu).to_vector<double>(), std::vector<double>(8, 5.0));
}

// So many rows that the reduction is cut into pieces, which need memory of the call.
TEST_F(CudaLinear, GivesTheGradientOfTheBiasOfManyRows) {
  const tn::Device cuda("cuda:0");
  const Tensor x = tn::zeros({5000, 2}, tn::float32, cuda);
  const Tensor weight = tn::zeros({3, 2}, tn::float32, cuda);
  const Tensor bias = tn::zeros({3}, tn::float32, cuda).requires_grad_();
  tn::linear(x, weight, bias).sum().backward();
  EXPECT_EQ(bias.grad().to(tn::cpu).to_vector<double>(), std::vector<double>(3, 5000.0));
}

}  // namespace
