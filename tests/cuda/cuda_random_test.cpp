// Dropout on the device `cuda`: the numbers of `cpu`, drawn where they are needed, and again for the
// gradient.
#include "fake_launches.h"
#include "kernel_answers.h"
#include "ops_support.h"

namespace {

const char* const kCuda = "cuda:0";

struct CudaRandom : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

TEST_F(CudaRandom, DropoutDrawsTheNumbersOfCpu) {
  for (const tn::Dtype dtype : {tn::float32, tn::float64, tn::float16, tn::bfloat16}) {
    for (const int64_t n : {1, 3, 4, 1000, 1027}) {
      for (const int64_t offset : {0, 1}) {
        SCOPED_TRACE(std::string(dtype.name()) + " " + std::to_string(n));
        const Tensor whole = sample({n + offset}).to(dtype);
        const auto run = [&](const Tensor& x) {
          Tensor leaf = x.narrow(0, offset, n).detach().requires_grad_();
          tn::manual_seed(5);
          const Tensor y = tn::dropout(leaf, 0.3);
          y.backward(tn::full({n}, 2.0, dtype, x.device()));
          const Tensor other = tn::dropout(leaf.detach(), 0.3);  // the gradient drew nothing
          return std::vector<Tensor>{y.detach(), leaf.grad(), other};
        };
        const std::vector<Tensor> here = run(whole), there = run(whole.to(kCuda));
        for (size_t i = 0; i < here.size(); ++i)
          EXPECT_EQ(there[i].to(tn::cpu).to_vector<double>(), here[i].to_vector<double>()) << i;
      }
    }
  }
}

TEST_F(CudaRandom, DropoutIsAKernelEachWayAndKeepsNoMask) {
  Tensor x = tn::ones({1 << 16}, tn::float32, kCuda).requires_grad_(), y;
  EXPECT_EQ(kernel_answer("dropout", [&] { tn::dropout(x, 0.5); }), "taken");
  const tn::Device device(kCuda);
  const Tensor g = tn::ones({1 << 16}, tn::float32, kCuda);
  const uint64_t before = device.memory_stats().allocated;
  const auto forward = fake_launches([&] { y = tn::dropout(x, 0.5); });
  EXPECT_LT(device.memory_stats().allocated - before, (4u << 16) + 4096);  // y alone
  const auto backward = fake_launches([&] { y.backward(g); });
  if (!forward) GTEST_SKIP() << "not the driver of the tests";
  EXPECT_EQ(*forward, std::vector<std::string>{"dropout"});
  EXPECT_EQ(backward->front(), "dropout");
}

TEST_F(CudaRandom, DropoutOfNothingIsItself) {
  const Tensor x = tn::ones({4}, tn::float32, kCuda);
  EXPECT_EQ(kernel_answer("dropout", [&] { tn::dropout(x, 0.5, false); }), "gives x itself");
  expect_near(tn::dropout(x, 0).to(tn::cpu), {1, 1, 1, 1});
  expect_near(tn::dropout(x, 1).to(tn::cpu), {0, 0, 0, 0});
  expect_error([&] { tn::dropout(x, 1.5); }, "dropout: p is 1.5");
}

}  // namespace
