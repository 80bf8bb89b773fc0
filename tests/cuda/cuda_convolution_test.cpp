// Convolutions of `cuda` by the tests' own cuDNN: values and gradients beside the meaning of the ops
// in float64 on `cpu`, in each dtype and layout, and what is not as cuDNN wants it.
#include <atomic>
#include <thread>

#include "ops_support.h"

namespace {

const char* const kCuda = "cuda:0";

struct CudaConvolution : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

struct Call {
  const char* name;
  std::vector<int64_t> x, weight;
  int64_t out;
  Tensor (*op)(const Tensor& x, const Tensor& weight, const Tensor& bias);
};

const Call kCalls[] = {
    // clang-format off
    {"conv1d", {3, 4, 9}, {6, 2, 3}, 6,
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return tn::conv1d(x, w, b, {.stride = 2, .padding = 1, .groups = 2}); }},
    {"conv1d without a batch", {4, 9}, {5, 4, 3}, 5,
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return tn::conv1d(x, w, b, {.dilation = 2}); }},
    {"conv2d", {2, 3, 7, 6}, {8, 3, 3, 2}, 8,
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return tn::conv2d(x, w, b, {.stride = {2, 1}, .padding = {1, 0}}); }},
    {"conv2d of eight channels", {2, 8, 8, 8}, {16, 8, 3, 3}, 16,
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return tn::conv2d(x, w, b, {.padding = 1}); }},
    {"conv2d a group a channel, dilation", {2, 6, 9, 9}, {12, 1, 3, 3}, 12,
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return tn::conv2d(x, w, b, {.padding = 2, .dilation = 2, .groups = 6}); }},
    {"conv2d of single pixels", {3, 5, 4, 4}, {7, 5, 1, 1}, 7,
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return tn::conv2d(x, w, b); }},
    {"conv2d without a batch", {3, 6, 5}, {4, 3, 2, 2}, 4,
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return tn::conv2d(x, w, b); }},
    {"conv3d", {2, 4, 5, 4, 6}, {6, 2, 2, 3, 3}, 6,
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return tn::conv3d(x, w, b, {.stride = {1, 2, 1}, .padding = {0, 1, 1}, .groups = 2}); }},
    {"conv_transpose1d", {2, 4, 5}, {4, 3, 4}, 3,
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return tn::conv_transpose1d(x, w, b, {.stride = 2, .padding = 1, .output_padding = 1}); }},
    {"conv_transpose2d", {2, 6, 4, 3}, {6, 4, 3, 3}, 8,
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return tn::conv_transpose2d(x, w, b, {.stride = 2, .groups = 2}); }},
    {"conv_transpose3d", {1, 2, 3, 2, 3}, {2, 4, 2, 2, 2}, 4,
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return tn::conv_transpose3d(x, w, b, {.stride = {2, 1, 1}, .dilation = 2}); }},
    // clang-format on
};

// Float32 is rounded to 11 bits where TENON_CUDA_TF32=1.
bool rounds() {
  const char* wish = std::getenv("TENON_CUDA_TF32");
  return wish && std::string(wish) == "1";
}
double float32_tolerance() { return rounds() ? 8e-3 : 1e-6; }

// y, and the gradients of x, weight and bias, where that of y has numbers of `dtype`.
std::vector<std::vector<double>> results(const Call& call, const TensorList& in, tn::Dtype dtype) {
  TensorList leaves;
  for (const Tensor& t : in) leaves.push_back(t.detach().requires_grad_());
  const Tensor y = call.op(leaves[0], leaves[1], leaves[2]);
  const Tensor g = sample({y.sizes().begin(), y.sizes().end()}, {}, 5).to(dtype);
  y.backward(g.to(y.dtype()).to(y.device()));
  std::vector<std::vector<double>> all{y.detach().to_vector<double>()};
  for (const Tensor& leaf : leaves) {
    EXPECT_EQ(leaf.grad().dtype(), leaf.dtype());
    all.push_back(leaf.grad().to_vector<double>());
  }
  return all;
}

void expect_results(const std::vector<std::vector<double>>& found,
                    const std::vector<std::vector<double>>& expected, double tolerance) {
  static constexpr const char* kParts[] = {"y", "gradient of x", "of weight", "of bias"};
  for (size_t k = 0; k < 4; ++k) {
    SCOPED_TRACE(kParts[k]);
    ASSERT_EQ(found[k].size(), expected[k].size());
    double most = 1;  // what sums are rounded at
    for (const double value : expected[k]) most = std::max(most, std::fabs(value));
    for (size_t i = 0; i < found[k].size(); ++i)
      ASSERT_NEAR(found[k][i], expected[k][i], tolerance * most) << "at " << i;
  }
}

TensorList inputs(const Call& call, tn::Dtype dtype) {
  return {sample(call.x, {}, 0).to(dtype), sample(call.weight, {}, 1).to(dtype),
          sample({call.out}, {}, 2).to(dtype)};
}

TensorList widened(const TensorList& in) {
  TensorList wide;
  for (const Tensor& t : in) wide.push_back(t.to(tn::float64));
  return wide;
}

// [n, channels, ..] with the channels innermost.
Tensor with_channels_last(const Tensor& t) {
  std::vector<int64_t> there{0}, back{0, t.dim() - 1};
  for (int64_t d = 2; d < t.dim(); ++d) {
    there.push_back(d);
    back.push_back(d - 1);
  }
  there.push_back(1);
  return t.permute(there).contiguous().permute(back);
}

TEST_F(CudaConvolution, AgreesWithItsMeaningInEachDtypeAndLayout) {
  const std::pair<tn::Dtype, double> dtypes[] = {{tn::float32, float32_tolerance()},
                                                 {tn::float64, 1e-14},
                                                 {tn::float16, 2e-3},
                                                 {tn::bfloat16, 1.6e-2}};
  for (const Call& call : kCalls) {
    for (const auto& [dtype, tolerance] : dtypes) {
      SCOPED_TRACE(std::string(call.name) + " " + dtype.name());
      const TensorList in = inputs(call, dtype);
      const auto expected = results(call, widened(in), dtype);
      for (const bool last : {false, true}) {
        SCOPED_TRACE(last ? "channels-last" : "row-major");
        TensorList there;
        for (const Tensor& t : in) there.push_back(t.to(tn::Device(kCuda)));
        if (last) there[0] = with_channels_last(there[0]);
        const uint64_t before = tn::counter("decompositions");
        const auto found = results(call, there, dtype);
        EXPECT_EQ(tn::counter("decompositions"), before);
        expect_results(found, expected, tolerance);
      }
    }
  }
}

// So large an output that the sums over it are cut into pieces, which need memory of the call.
TEST_F(CudaConvolution, GivesTheGradientOfTheBiasOfALargeOutput) {
  for (const char* layout : {"contiguous", "channels_last"}) {
    SCOPED_TRACE(layout);
    const Tensor x = tn::zeros({8, 2, 32, 32}, tn::float32, kCuda).contiguous(layout);
    const Tensor weight = tn::zeros({3, 2, 1, 1}, tn::float32, kCuda);
    const Tensor bias = tn::zeros({3}, tn::float32, kCuda).requires_grad_();
    tn::conv2d(x, weight, bias).sum().backward();
    EXPECT_EQ(bias.grad().to_vector<double>(), std::vector<double>(3, 8 * 32 * 32.0));
  }
}

// Channels-last goes in and comes out, and its gradient lies so, too.
TEST_F(CudaConvolution, KeepsTheLayoutOfItsInput) {
  const Tensor weight = sample({6, 4, 3, 3}, kCuda).to(tn::float32);
  const Tensor x =
      sample({2, 4, 5, 5}, kCuda).to(tn::float32).contiguous("channels_last").requires_grad_();
  const Tensor y = tn::conv2d(x, weight, {.padding = 1});
  EXPECT_EQ(y.strides()[1], 1);
  y.sum().backward();
  EXPECT_EQ(x.grad().strides()[1], 1);
}

// What lies otherwise is copied: views, expanded tensors, addresses that are not aligned.
TEST_F(CudaConvolution, TakesTensorsThatLieOtherwise) {
  const Call& call = kCalls[3];
  const TensorList in = inputs(call, tn::float32);
  const auto expected = results(call, widened(in), tn::float32);
  const auto on_cuda = [](const Tensor& t) { return t.to(tn::Device(kCuda)); };
  const TensorList plain{on_cuda(in[0]), on_cuda(in[1]), on_cuda(in[2])};
  const auto shifted = [&](const Tensor& t) {  // one element behind the begin of its memory
    return tn::cat({tn::zeros({1}, t.dtype(), kCuda), t.reshape({-1})}, 0)
        .narrow(0, 1, t.numel())
        .reshape(std::vector<int64_t>(t.sizes().begin(), t.sizes().end()));
  };
  const auto turned = [](const Tensor& t) {
    return t.transpose(2, 3).contiguous().transpose(2, 3);
  };
  const Tensor spread = tn::stack({plain[2], plain[2]}, 1).select(1, 0);
  const TensorList off{shifted(plain[0]), shifted(plain[1]), shifted(plain[2])};
  expect_results(results(call, off, tn::float32), expected, float32_tolerance());
  const TensorList around{turned(plain[0]), turned(plain[1]), spread};
  expect_results(results(call, around, tn::float32), expected, float32_tolerance());
  // A gradient that is one number everywhere.
  Tensor x = plain[0].detach().requires_grad_(), wide = in[0].to(tn::float64).requires_grad_();
  call.op(x, plain[1], plain[2]).sum().backward();
  call.op(wide, in[1].to(tn::float64), in[2].to(tn::float64)).sum().backward();
  expect_near(x.grad(), wide.grad().to_vector<double>(), float32_tolerance() * 10);
}

TEST_F(CudaConvolution, RefusesWhatItDoesNotTake) {
  const std::string empty = tn::explain([&] {
    tn::conv2d(tn::ones({0, 2, 3, 3}, tn::float32, kCuda),
               tn::ones({2, 2, 2, 2}, tn::float32, kCuda));
  });
  EXPECT_NE(empty.find("cuDNN takes no empty tensors"), std::string::npos) << empty;
}

// Recorded once, and replayed as one graph of the device with other values.
TEST_F(CudaConvolution, IsPartOfAGraph) {
  const Call& call = kCalls[3];
  TensorList in;
  for (const Tensor& t : inputs(call, tn::float32)) in.push_back(t.to(tn::Device(kCuda)));
  const auto step = [&](Tensor x, Tensor w) {
    const Tensor leaf = x.detach().requires_grad_(), weight = w.detach().requires_grad_();
    const Tensor y = call.op(leaf, weight, in[2]);
    (y * y).sum().backward();
    return leaf.grad() + weight.grad().sum();
  };
  auto compiled = tn::compile(step);
  for (int i = 0; i < 4; ++i) {
    const Tensor x = in[0] * (i + 1);
    EXPECT_EQ(compiled(x, in[1]).to_vector<double>(), step(x, in[1]).to_vector<double>());
  }
  const std::string said = compiled.describe();
  EXPECT_NE(said.find("as one graph of cuda:0"), std::string::npos) << said;
}

// Threads share plans, each with a handle and a stream of its own.
TEST_F(CudaConvolution, OfEightThreadsIsTheSame) {
  const Call& call = kCalls[3];
  TensorList in;
  for (const Tensor& t : inputs(call, tn::float32)) in.push_back(t.to(tn::Device(kCuda)));
  const std::vector<double> expected = call.op(in[0], in[1], in[2]).to_vector<double>();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        wrong += call.op(in[0], in[1], in[2]).to_vector<double>() != expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// The fake has an engine for it; without TENON_CUDA_TF32=1 none may round.
TEST_F(CudaConvolution, RoundsFloat32WhereItIsAskedTo) {
  const Tensor x = tn::full({1, 1, 2, 2}, 1 + 0x1p-12, tn::float32, kCuda);
  const Tensor y = tn::conv2d(x, tn::ones({1, 1, 1, 1}, tn::float32, kCuda));
  EXPECT_EQ(y.to_vector<float>()[0], rounds() ? 1.0f : 1 + 0x1p-12f);
}

}  // namespace
