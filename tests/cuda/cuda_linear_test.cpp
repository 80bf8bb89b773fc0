// linear, linear_relu and feed_forward as products of cuBLASLt's, with biases, activations and their
// gradients as epilogues, and where it has none. Values are compared with `cpu`. The fake cuBLASLt has
// no epilogues for float64, nor for products of 7, 14, 21, ... columns.
#include <cmath>

#include "fake_launches.h"
#include "kernel_answers.h"
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

// ---- feed_forward

struct TwoMaps {
  std::vector<int64_t> x;  // sizes
  int64_t hidden, out;
  tn::Dtype dtype;
  const char* activation;
  bool has_biases;
  const char* answer = "taken";
};
constexpr const char* kNoAlgorithm = "cuBLASLt has no algorithm for it";
const std::vector<TwoMaps> kTwoMaps = {
    {{5, 6}, 8, 3, tn::float32, "relu", true},
    {{5, 6}, 130, 4, tn::float32, "relu", false},
    {{2, 3, 6}, 9, 5, tn::float16, "relu", true},
    {{33, 20}, 129, 6, tn::bfloat16, "gelu_tanh", true},
    {{5, 6}, 12, 4, tn::float16, "gelu_tanh", false},
    {{6}, 8, 3, tn::float16, "gelu_tanh", true},
    {{5, 6}, 7, 4, tn::float32, "relu", true, kNoAlgorithm},
    {{5, 6}, 8, 4, tn::float64, "relu", true, kNoAlgorithm},
    {{5, 6}, 8, 4, tn::float16, "gelu", true, "cuBLASLt has no GELU by erf"},
    {{5, 6},
     8,
     4,
     tn::float32,
     "gelu_tanh",
     true,
     "takes gelu_tanh of halves: how exactly cuBLASLt computes it is not known"},
    {{0, 6}, 8, 4, tn::float32, "relu", true, "there is nothing to multiply"},
};

TensorList leaves(const TwoMaps& c, tn::Device device, tn::Dtype dtype) {
  const auto leaf = [&](const std::vector<int64_t>& sizes, int64_t seed) {
    const Tensor rounded = (numbers(sizes, tn::float32, seed) / 2).to(c.dtype);
    return rounded.to(device).to(dtype).requires_grad_();
  };
  TensorList list = {leaf(c.x, 1), leaf({c.hidden, c.x.back()}, 2), leaf({c.hidden}, 3),
                     leaf({c.out, c.hidden}, 4), leaf({c.out}, 5)};
  if (!c.has_biases) list[2] = list[4] = Tensor();
  return list;
}

// The value, and the gradients of what there is.
TensorList two_maps(const TwoMaps& c, const TensorList& in) {
  const Tensor y = tn::feed_forward(in[0], in[1], in[2], in[3], in[4], c.activation);
  const Tensor g = numbers({y.sizes().begin(), y.sizes().end()}, c.dtype, 6);
  y.backward(g.to(y.device()).to(y.dtype()));
  TensorList results = {y.detach()};
  for (const Tensor& t : in) {
    if (t.defined()) results.push_back(t.grad());
  }
  return results;
}

TEST_F(CudaLinear, TwoMapsAgreeWithCpuInFloat64) {
  for (const TwoMaps& c : kTwoMaps) {
    SCOPED_TRACE(std::string(c.dtype.name()) + " " + c.activation + " " + std::to_string(c.hidden));
    TensorList found;
    const TensorList in = leaves(c, tn::Device("cuda:0"), c.dtype);
    EXPECT_EQ(kernel_answer("feed_forward", [&] { found = two_maps(c, in); }), c.answer);
    const TensorList expected = two_maps(c, leaves(c, tn::cpu, tn::float64));
    ASSERT_EQ(found.size(), expected.size());
    for (size_t k = 0; k < found.size(); ++k) {
      SCOPED_TRACE(k);
      const std::vector<double> want = expected[k].to_vector<double>();
      double largest = 0;
      for (const double v : want) largest = std::max(largest, std::fabs(v));
      const double share = c.dtype == tn::bfloat16 ? 3e-2 : c.dtype == tn::float16 ? 4e-3 : 1e-5;
      expect_near(found[k].to(tn::cpu).to(tn::float64), want, share * largest);
    }
  }
}

// What is not wanted is not computed, what lies anywhere is copied, and a kept graph is gone through again.
TEST_F(CudaLinear, TwoMapsGiveEachGradientAlone) {
  const TwoMaps& c = kTwoMaps[3];
  const TensorList in = leaves(c, tn::Device("cuda:0"), c.dtype);
  const TensorList all = two_maps(c, in);
  const Tensor y = tn::feed_forward(in[0], in[1], in[2], in[3], in[4], c.activation);
  const Tensor numbers_of_g = numbers({y.sizes().begin(), y.sizes().end()}, c.dtype, 6);
  for (const int64_t offset : {0, 1}) {
    const Tensor memory = Tensor::empty({y.numel() + 1}, c.dtype, "cuda:0");
    const Tensor g = memory.narrow(0, offset, y.numel()).view(y.sizes()).copy_(numbers_of_g);
    for (size_t k = 0; k < in.size(); ++k) {
      SCOPED_TRACE(k);
      const Tensor alone = tn::grad(TensorList{y}, TensorList{in[k]},
                                    {.grad_outputs = TensorList{g}, .retain_graph = true})[0];
      EXPECT_EQ(alone.to(tn::cpu).to_vector<double>(), all[k + 1].to(tn::cpu).to_vector<double>());
    }
  }
  // Biases anywhere, and inputs that are not contiguous.
  TensorList moved = in;
  for (const size_t k : {2, 4}) {
    const Tensor memory = tn::zeros({in[k].numel() + 1}, c.dtype, tn::Device("cuda:0"));
    memory.narrow(0, 1, in[k].numel()).copy_(in[k].detach());
    moved[k] = memory.narrow(0, 1, in[k].numel());
  }
  for (const size_t k : {0, 1, 3}) moved[k] = in[k].detach().t().contiguous().t();
  const Tensor again =
      tn::feed_forward(moved[0], moved[1], moved[2], moved[3], moved[4], c.activation);
  EXPECT_EQ(again.to(tn::cpu).to_vector<double>(), all[0].to(tn::cpu).to_vector<double>());
}

TEST_F(CudaLinear, TwoMapsInACompiledFunctionAndToSecondOrder) {
  const TwoMaps& c = kTwoMaps[3];
  const TensorList in = leaves(c, tn::Device("cuda:0"), c.dtype);
  const auto step = [&](const TensorList& given) {
    const Tensor y =
        tn::feed_forward(given[0], given[1], given[2], given[3], given[4], c.activation);
    const Tensor first =
        tn::grad(TensorList{(y * y).sum()}, TensorList{given[0]}, {.create_graph = true})[0];
    const TensorList second =
        tn::grad(TensorList{(first * first).sum()}, TensorList{given[1], given[2]});
    return TensorList{y, first, second[0], second[1]};
  };
  const TensorList eager = step(in);
  const TensorList exact = step(leaves(c, tn::cpu, tn::float64));
  for (size_t k = 0; k < eager.size(); ++k) {
    const std::vector<double> want = exact[k].detach().to_vector<double>();
    double largest = 0;
    for (const double v : want) largest = std::max(largest, std::fabs(v));
    expect_near(eager[k].detach().to(tn::cpu).to(tn::float64), want, 6e-2 * largest);
  }
  const auto compiled = tn::compile(
      [&](const Tensor& x, const Tensor& w1, const Tensor& b1, const Tensor& w2, const Tensor& b2) {
        return tn::feed_forward(x, w1, b1, w2, b2, c.activation);
      });
  for (int call = 0; call < 3; ++call) {
    const Tensor y = compiled(in[0], in[1], in[2], in[3], in[4]);
    EXPECT_EQ(y.detach().to(tn::cpu).to_vector<double>(),
              eager[0].detach().to(tn::cpu).to_vector<double>());
  }
}

// What cuBLASLt's epilogues make of NaN its documentation does not say: a GPU does.
TEST_F(CudaLinear, TwoMapsKeepNaN) {
  const tn::Device cuda("cuda:0");
  const Tensor x = tn::tensor({{1.f, std::nanf("")}, {1.f, 0.f}}).to(cuda).requires_grad_();
  const Tensor w1 = tn::ones({8, 2}, {}, cuda), w2 = tn::ones({4, 8}, {}, cuda);
  const Tensor y = tn::feed_forward(x, w1, {}, w2, {}, "relu");
  y.sum().backward();
  const std::vector<double> found = y.detach().to(tn::cpu).to_vector<double>();
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(std::isnan(found[i]));
    EXPECT_EQ(found[4 + i], 8);
  }
  expect_near(x.grad().to(tn::cpu),
              {32, 32, 32, 32});  // as `cpu` has it: the gradient goes through
}

// Each product has its activation, bias or sums with it: nothing else is launched.
TEST_F(CudaLinear, TwoMapsAreTwoProductsAndFourBackward) {
  const TwoMaps& c = kTwoMaps[3];
  const TensorList in = leaves(c, tn::Device("cuda:0"), c.dtype);
  const auto call = [&] {
    return tn::feed_forward(in[0], in[1], in[2], in[3], in[4], c.activation);
  };
  Tensor y = call();
  const Tensor g = tn::ones_like(y);
  y.backward(g);
  const auto forward = fake_launches([&] { y = call(); });
  if (!forward) return;  // NVIDIA's own driver
  EXPECT_EQ(*forward, std::vector<std::string>(2, "cublasLtMatmul"));
  TensorList gradients;
  const TensorList wanted(in.begin(), in.end());
  const auto backward =
      fake_launches([&] { gradients = tn::grad(TensorList{y}, wanted, {.grad_outputs = {{g}}}); });
  EXPECT_EQ(*backward, std::vector<std::string>(4, "cublasLtMatmul"));
  // Where no gradient is needed the activation leaves nothing.
  const tn::NoGrad guard;
  EXPECT_EQ(*fake_launches([&] { y = call(); }), std::vector<std::string>(2, "cublasLtMatmul"));
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
