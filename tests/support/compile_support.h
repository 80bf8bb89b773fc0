// For tests of compiled functions: the same bits, and what a function says of itself.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "message_of.h"
#include "ops_support.h"
#include "second_device.h"

// Bit for bit, NaNs and signs of zeros too.
inline void expect_same_bits(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.defined(), b.defined());
  if (!a.defined()) return;
  ASSERT_EQ(std::vector<int64_t>(a.sizes().begin(), a.sizes().end()),
            std::vector<int64_t>(b.sizes().begin(), b.sizes().end()));
  ASSERT_EQ(a.dtype(), b.dtype());
  const Tensor x = a.detach().to(tn::cpu).contiguous(), y = b.detach().to(tn::cpu).contiguous();
  std::vector<unsigned char> bytes_of_x(size_t(x.numel() * x.dtype().itemsize())),
      bytes_of_y(bytes_of_x.size());
  tn::check(tn::detail::api.tensor->read(x.get(), bytes_of_x.data(), bytes_of_x.size()));
  tn::check(tn::detail::api.tensor->read(y.get(), bytes_of_y.data(), bytes_of_y.size()));
  EXPECT_EQ(bytes_of_x, bytes_of_y) << a << " and " << b;
}

// Memory of somebody else, who is told whenever a tensor over it is let go.
struct Owner {
  std::vector<float> values;
  std::function<void()> on_release;

  explicit Owner(
      int64_t n, std::function<void()> told = [] {})
      : values(size_t(n), 1.f), on_release(std::move(told)) {}
  Tensor lend(int64_t from, int64_t n) {
    tn_tensor* t = nullptr;
    tn::check(tn::detail::api.tensor->from_memory(
        values.data() + from, 1, &n, nullptr, TN_FLOAT32,
        [](void* owner) { static_cast<Owner*>(owner)->on_release(); }, this, &t));
    return Tensor::take(t);
  }
};

// A model, its optimizer, and the step of both.
struct Trained {
  tn::Object model;
  tn::optim::Optimizer optimizer;
  Tensor step(const Tensor& x, const Tensor& target) {
    Tensor loss = tn::cross_entropy(model(x), target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss.detach() * 1;
  }
};

inline void expect_same_state(const Trained& a, const Trained& b) {
  const auto x = a.model.state_dict(), y = b.model.state_dict();
  ASSERT_EQ(x.size(), y.size());
  for (size_t k = 0; k < x.size(); ++k) expect_same_bits(x[k].second, y[k].second);
}

template <typename F>
void expect_described(const tn::CompiledFunction<F>& f, const std::string& part) {
  EXPECT_NE(f.describe().find(part), std::string::npos) << f.describe();
}
