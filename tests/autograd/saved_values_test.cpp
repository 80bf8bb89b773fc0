// What ops keep for their gradients: a value that the gradient does not read may be written before the
// backward, and its memory is free until then; one that it reads is named.
#include <functional>

#include "autograd_support.h"

namespace {

struct Call {
  const char* name;
  std::function<Tensor(const Tensor&)> run;  // of [4, 4]
  bool reads_input, reads_output;
};

const std::vector<Call> kCalls = {
    {"cat",
     [](const Tensor& x) {
       return tn::cat({x, x}, 1);
     },
     false, false},
    {"stack",
     [](const Tensor& x) {
       return tn::stack({x, x});
     },
     false, false},
    {"hstack",
     [](const Tensor& x) {
       return tn::hstack({x, x});
     },
     false, false},
    {"pad",
     [](const Tensor& x) {
       return tn::pad(x, {1, 2, 0, 1});
     },
     false, false},
    {"pad by reflection",
     [](const Tensor& x) {
       return tn::pad(x.unsqueeze(0), {1, 2, 0, 1}, "reflect");
     },
     false, false},
    {"flip", [](const Tensor& x) { return tn::flip(x, {0}); }, false, false},
    {"rot90", [](const Tensor& x) { return tn::rot90(x); }, false, false},
    {"diag_embed", [](const Tensor& x) { return tn::diag_embed(x); }, false, false},
    {"softmax", [](const Tensor& x) { return tn::softmax(x); }, false, true},
    {"log_softmax", [](const Tensor& x) { return tn::log_softmax(x); }, false, true},
    {"erfinv", [](const Tensor& x) { return tn::erfinv(x); }, false, true},
    {"var", [](const Tensor& x) { return tn::var(x, {1}); }, true, false},
    {"lgamma", [](const Tensor& x) { return tn::lgamma(x); }, true, false},
    {"digamma", [](const Tensor& x) { return tn::digamma(x); }, true, false}};

Tensor leaf_of(tn::Device device) {
  return (sample({4, 4}, device) * 0.3 + 0.5).detach().requires_grad_();
}

// The gradient of a weighted sum of the call's output, where `write` is done before the backward. A
// clone stands between what is written and what is summed.
std::vector<double> gradient(const Call& call, tn::Device device,
                             const std::function<void(Tensor& x, Tensor& y)>& write) {
  const Tensor leaf = leaf_of(device);
  Tensor x = leaf * 1, y = call.run(x);
  const Tensor sum = (y.clone() * sample({y.sizes().begin(), y.sizes().end()}, device, 1)).sum();
  write(x, y);
  return tn::grad(sum, leaf).to_vector<double>();
}

TEST(SavedValues, WhatIsNotReadMayBeWritten) {
  load_all();
  for (const tn::Device device : devices()) {
    for (const Call& call : kCalls) {
      SCOPED_TRACE(device.name() + " " + call.name);
      const std::vector<double> clean = gradient(call, device, [](Tensor&, Tensor&) {});
      const auto write_input = [](Tensor& x, Tensor&) { x.add_(1.0); };
      const auto write_output = [](Tensor&, Tensor& y) { y.mul_(2.0); };
      if (call.reads_input) {
        expect_error([&] { gradient(call, device, write_input); }, "was changed in place");
      } else {
        EXPECT_EQ(gradient(call, device, write_input), clean);
      }
      if (call.reads_output) {
        expect_error([&] { gradient(call, device, write_output); }, "was changed in place");
      } else {
        EXPECT_EQ(gradient(call, device, write_output), clean);
      }
    }
  }
}

// A write of the result goes on with its gradient.
TEST(SavedValues, AResultMayBeWrittenAndUsed) {
  load_all();
  for (const tn::Device device : devices()) {
    const Tensor a = leaf_of(device), b = leaf_of(device);
    Tensor y = tn::cat({a, b - 1}, 0);
    y.relu_();
    const auto gradients = tn::grad(TensorList{(y * y).sum()}, TensorList{a, b});
    expect_near(gradients[0], (2 * a.detach()).to_vector<double>());
    expect_near(gradients[1], (2 * tn::relu(b.detach() - 1)).to_vector<double>());
  }
}

// Gradients of gradients, and a gradient with respect to what was not kept.
TEST(SavedValues, OfHigherOrder) {
  load_all();
  for (const tn::Device device : devices()) {
    for (const Call& call : kCalls) {
      SCOPED_TRACE(device.name() + " " + call.name);
      gradcheck([&](const TensorList& in) { return call.run(in[0]).square(); },
                {leaf_of(device).detach()});
    }
  }
}

// What joins tensors does not hold them until the backward.
TEST(SavedValues, WhatIsNotReadIsNotHeld) {
  load_all();
  const Tensor a = tn::ones({1000, 1000}).requires_grad_();
  const auto allocated = [] { return tn::cpu.memory_stats().allocated; };
  const auto before = allocated();
  const Tensor sum = [&] {
    const Tensor x = a + 1;
    return tn::cat({x, x}, 0).sum();
  }();
  EXPECT_LT(allocated(), before + 1'000'000);
  sum.backward();
  EXPECT_EQ(a.grad().to(tn::float64).sum().item<double>(), 2e6);
  // Nor does a kernel pair what neither it nor the vjp reads: the softmax is held alone.
  const Tensor rows = [&] { return tn::softmax(a * 2); }();
  EXPECT_LT(allocated(), before + 4'000'000 + 4'000'000 + 1'000'000);  // a's gradient, and rows
  EXPECT_NO_THROW(tn::grad(rows.square().sum(), a, {.create_graph = true}).sum().backward());
}

}  // namespace
