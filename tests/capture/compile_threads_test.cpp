// Threads that call one compiled function, and functions of several threads that share a model.
#include <thread>

#include "compile_support.h"

namespace {

namespace nn = tn::nn;

Tensor numbers(int i) {
  return tn::sin(tn::arange(0, 32).to(tn::float32) * (0.1 + 0.01 * i)).view({4, 8});
}

template <typename F>
void on_threads(int n, F f) {
  std::vector<std::thread> threads;
  for (int t = 0; t < n; ++t) threads.emplace_back([&, t] { f(t); });
  for (std::thread& thread : threads) thread.join();
}

TEST(CompileThreads, OneFunctionIsCalledByMany) {
  load_all();
  const Tensor w = numbers(50).t().contiguous();
  const auto eager = [&](Tensor x) { return tn::softmax(x.matmul(w) * 2, 1) + 1; };
  auto f = tn::compile(eager);
  on_threads(4, [&](int t) {
    for (int i = 0; i < 50; ++i) {
      const Tensor x = numbers(i % 7 + t);
      expect_same_bits(f(x), eager(x));
    }
  });
  expect_described(f, "1 recordings");
}

TEST(CompileThreads, FunctionsOfThreadsShareAModel) {
  load_all();
  tn::manual_seed(1);
  const tn::Object model = nn::Sequential(nn::Linear(8, 16), nn::GELU(), nn::Linear(16, 3));
  on_threads(4, [&](int t) {
    const tn::NoGrad no_grad;
    auto f = tn::compile([&](Tensor x) { return model(x) * (t + 1); });
    for (int i = 0; i < 30; ++i) {
      const Tensor x = numbers(i + t);
      expect_same_bits(f(x), model(x) * (t + 1));
    }
    expect_described(f, "1 recordings, 29 replays");
  });
}

// Each trains a model of its own; the numbers of a thread do not depend on the others.
TEST(CompileThreads, StepsOfThreadsAreTheirOwn) {
  load_all();
  on_threads(3, [&](int t) {
    const Tensor w = numbers(t).requires_grad_(), v = numbers(t).requires_grad_();
    const auto step = [](const Tensor& weight, const Tensor& x) {
      weight.zero_grad();
      (weight * x).tanh().sum().backward();
      const tn::NoGrad no_grad;
      tn::sub_(weight, weight.grad() * 0.1);
    };
    auto f = tn::compile([&](Tensor x) { step(w, x); });
    for (int i = 0; i < 30; ++i) {
      f(numbers(i));
      step(v, numbers(i));
      expect_same_bits(w, v);
    }
    expect_described(f, "1 recordings, 29 replays");
  });
}

}  // namespace
