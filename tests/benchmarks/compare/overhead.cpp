// What `tenon bench overhead` measures, through PyTorch's C++ libraries: built and run by
// overhead.py. The same tensors and the same clock: the smallest mean of 50 slices of 2 ms.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

using Clock = std::chrono::steady_clock;

template <typename F>
double nanoseconds(F f) {
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  };
  int64_t n = 1;
  for (;; n = n * 2 + 1) {
    const auto start = Clock::now();
    for (int64_t i = 0; i < n; ++i) f();
    if (since(start) >= 2e6) break;
  }
  double best = 1e300;
  for (int slice = 0; slice < 50; ++slice) {
    const auto start = Clock::now();
    for (int64_t i = 0; i < n; ++i) f();
    best = std::min(best, since(start) / double(n));
  }
  return best;
}

int main() {
  torch::set_num_threads(1);
  constexpr int kChain = 1000;
  const auto x = torch::ones(8), y = torch::ones(8), one = torch::ones(8);
  auto a = torch::ones(8).requires_grad_(), w = torch::ones(8).requires_grad_();
  {
    torch::NoGradGuard off;
    std::printf("add %.1f\n", nanoseconds([&] { torch::add(x, y); }));
  }
  std::printf("add_grad %.1f\n", nanoseconds([&] { torch::add(a, w); }));
  std::printf("view %.1f\n", nanoseconds([&] { x.view({2, 4}); }));
  std::printf("empty %.1f\n", nanoseconds([&] { torch::empty(8); }));
  const auto forget = [&] {
    a.mutable_grad() = torch::Tensor();
    w.mutable_grad() = torch::Tensor();
  };
  std::printf("mul_chain %.1f\n", nanoseconds([&] {
                                    auto z = a;
                                    for (int i = 0; i < kChain; ++i) z = z * w;
                                    z.backward(one);
                                    forget();
                                  }) / kChain);
  std::printf("mul_sum_backward %.1f\n", nanoseconds([&] {
                (a * w).sum().backward();
                forget();
              }));
}
