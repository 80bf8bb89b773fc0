// Mixed precision: what autocast casts and keeps.
#include <cstdlib>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>

#include "ops_support.h"
#include "tenon/checkpoint_call.hpp"

namespace {

using Json = nlohmann::json;

// How often a note of f's calls, however deep, begins so.
int count_notes(const Json& entries, const std::string& begin) {
  int n = 0;
  for (const Json& e : entries) {
    for (const std::string note : e.value("notes", Json::array())) n += note.rfind(begin, 0) == 0;
    n += count_notes(e.value("calls", Json::array()), begin);
  }
  return n;
}
template <typename F>
int notes(const std::string& begin, F&& f) {
  return count_notes(Json::parse(tn::explain(f))["calls"], begin);
}

TEST(Autocast, EachClassHasItsDtype) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::ones({2, 3}, {}, d), w = tn::ones({3, 2}, {}, d);
    Tensor half = x.to(tn::bfloat16), wide = x.to(tn::float64), ints = x.to(tn::int64);
    Tensor target = tn::zeros({2}, tn::int64, d);
    tn::Autocast guard(d);  // the lower precision of both devices is bfloat16
    EXPECT_EQ(tn::matmul(x, w).dtype(), tn::bfloat16);
    EXPECT_EQ(tn::linear(x, w.t(), tn::ones({2}, {}, d)).dtype(), tn::bfloat16);
    EXPECT_EQ(tn::linear_relu(x, w.t()).dtype(), tn::bfloat16);
    EXPECT_EQ(tn::softmax(half).dtype(), tn::float32);
    EXPECT_EQ(tn::cross_entropy(half, target).dtype(), tn::float32);
    EXPECT_EQ(half.sum().dtype(), tn::float32);
    EXPECT_EQ(tn::exp(half).dtype(), tn::float32);
    EXPECT_EQ(tn::pow(half, 2).dtype(), tn::float32);
    EXPECT_EQ((half + half).dtype(), tn::bfloat16);
    EXPECT_EQ((half + x).dtype(), tn::float32);
    EXPECT_EQ(tn::relu(half).dtype(), tn::bfloat16);
    EXPECT_EQ(tn::cat({half, x}).dtype(), tn::float32);
    // float64 is never lowered, and what is no float is left alone.
    EXPECT_EQ(tn::matmul(wide, w.to(tn::float64)).dtype(), tn::float64);
    EXPECT_EQ(tn::softmax(wide).dtype(), tn::float64);
    EXPECT_EQ((ints + ints).dtype(), tn::int64);
    // In place, the tensor keeps what it is.
    Tensor y = x.clone();
    tn::add_(y, half);
    EXPECT_EQ(y.dtype(), tn::float32);
    expect_near(tn::matmul(x, w), {3, 3, 3, 3});
  }
}

TEST(Autocast, IsOfOneDeviceAndOneThread) {
  Tensor x = tn::ones({2, 2});
  for (tn::Device d : devices()) {
    if (d.is_cpu()) continue;
    tn::Autocast guard(d);
    EXPECT_EQ(tn::matmul(x, x).dtype(), tn::float32);
    EXPECT_EQ(tn::matmul(x.to(d), x.to(d)).dtype(), tn::bfloat16);
    tn::Autocast both(tn::cpu);
    EXPECT_EQ(tn::matmul(x, x).dtype(), tn::bfloat16);
  }
  tn::Autocast guard(tn::cpu);
  tn::Dtype elsewhere;
  std::thread([&] { elsewhere = tn::matmul(x, x).dtype(); }).join();
  EXPECT_EQ(elsewhere, tn::float32);
}

TEST(Autocast, ScopesNest) {
  load_all();
  Tensor x = tn::ones({2, 2});
  {
    tn::Autocast outer(tn::cpu);
    {
      tn::Autocast inner(tn::cpu, tn::float16);
      EXPECT_EQ(tn::matmul(x, x).dtype(), tn::float16);
      EXPECT_EQ((x + x).dtype(), tn::float32);
    }
    EXPECT_EQ(tn::matmul(x, x).dtype(), tn::bfloat16);
    EXPECT_TRUE(tn::autocast_enabled());
  }
  EXPECT_FALSE(tn::autocast_enabled());
  EXPECT_EQ(tn::matmul(x, x).dtype(), tn::float32);
}

TEST(Autocast, IsOffInAScopeOfItsOwn) {
  load_all();
  const Tensor x = tn::ones({2, 2});
  const auto dtype = [&] { return tn::matmul(x, x).dtype(); };
  {
    const tn::NoAutocast nothing_to_switch_off;
    EXPECT_EQ(dtype(), tn::float32);
  }
  tn::Autocast outer(tn::cpu);
  {
    const tn::NoAutocast off;
    EXPECT_FALSE(tn::autocast_enabled());
    EXPECT_EQ(dtype(), tn::float32);
    {
      tn::Autocast inner(tn::cpu, tn::float16);
      EXPECT_EQ(dtype(), tn::float16);
    }
    EXPECT_EQ(dtype(), tn::float32);
  }
  EXPECT_TRUE(tn::autocast_enabled());
  EXPECT_EQ(dtype(), tn::bfloat16);
}

// A part that ran without is repeated without, wherever backward is called.
TEST(Autocast, CheckpointsRepeatWhatWasOff) {
  load_all();
  Tensor w = tn::full({2, 2}, 1.00390625).requires_grad_();  // beyond bfloat16's digits
  const auto gradient = [&](bool is_off) {
    w.zero_grad();
    tn::Autocast outer(tn::cpu);
    Tensor y;
    {
      std::optional<tn::NoAutocast> off;
      if (is_off) off.emplace();
      y = tn::checkpoint_call([](const Tensor& t) { return tn::matmul(t, t); }, w);
    }
    EXPECT_EQ(y.dtype(), is_off ? tn::float32 : tn::bfloat16);
    y.to(tn::float32).sum().backward();
    return w.grad().to_vector<float>();
  };
  EXPECT_EQ(gradient(true), std::vector<float>(4, 4.015625f));
  EXPECT_EQ(gradient(false), std::vector<float>(4, 4.f));
}

// Backward is outside of all scopes. One that a gradient of one's own opens ends with it: what comes
// then is computed as before, and its casts are its own, as its graph is.
struct OpensAScope : tn::Function<OpensAScope> {
  static inline Tensor weight;
  static Tensor forward(tn::Context&, Tensor x) { return x * 1.f; }
  static Tensor backward(tn::Context&, Tensor g) {
    EXPECT_FALSE(tn::autocast_enabled());
    {
      const tn::EnableGrad grad;
      const tn::Autocast scope(tn::cpu);
      const Tensor y = tn::matmul(g, weight);
      EXPECT_EQ(y.dtype(), tn::bfloat16);
      tn::grad(y.sum(), weight);  // uses up the cast of this scope
    }
    EXPECT_FALSE(tn::autocast_enabled());
    EXPECT_EQ(tn::matmul(g, weight).dtype(), tn::float32);
    return g;
  }
};
TEST(Autocast, ScopesOfBackwardAreTheirOwn) {
  load_all();
  const Tensor weight = tn::ones({2, 2}).requires_grad_();
  OpensAScope::weight = weight;
  const tn::Autocast scope(tn::cpu);
  const Tensor y = tn::matmul(tn::ones({2, 2}), weight);
  OpensAScope::apply(y.to(tn::float32)).sum().backward();
  EXPECT_TRUE(tn::autocast_enabled());
  expect_near(weight.grad(), {2, 2, 2, 2});
  EXPECT_EQ(tn::matmul(weight, weight).dtype(), tn::bfloat16);
  OpensAScope::weight = {};
}

TEST(Autocast, RefusesWhatItDoesNotKnow) {
  load_all();
  expect_error([] { tn::Autocast guard(tn::cpu, {}, "no such policy"); },
               "autocast: unknown policy 'no such policy'");
  expect_error([] { tn::Autocast guard(tn::cpu, tn::float32); },
               "autocast: float32 is no lower precision; expected float16 or bfloat16");
  expect_error([] { tn::Autocast guard(tn::Device("ref:7")); }, "index out of range");
  EXPECT_FALSE(tn::autocast_enabled());
  tn_status* status = tn::detail::api.amp->leave();
  ASSERT_NE(status, nullptr);
  EXPECT_STREQ(tn::host()->status_message(status), "autocast: leave without enter");
  tn::host()->status_free(status);
}

// Kernels or not, a dtype is the same: an op without a class is what it is made of.
TEST(Autocast, AnOpWithoutClassExpands) {
  load_all();
  tn::load_plugin(std::string(std::getenv("TENON_BUILD_DIR")) +
                  "/tests/face_plugins/libdispatch_kernels.so");
  Tensor x = tn::ones({2});
  if (!std::getenv("TENON_KERNELS")) {
    expect_near(tn::call("dispatch_kernels.scaled", x), {102, 102});
  }
  tn::Autocast guard(tn::cpu);
  expect_near(tn::call("dispatch_kernels.scaled", x), {2, 2});
  EXPECT_EQ(tn::embedding(tn::ones({3, 2}), tn::zeros({1}, tn::int64)).dtype(), tn::float32);
}

TEST(Autocast, GradientsHaveTheDtypeOfTheirParameter) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::ones({2, 3}, {}, d);
    Tensor w = tn::full({4, 3}, 0.5, {}, d).requires_grad_();
    Tensor b = tn::zeros({4}, tn::bfloat16, d).requires_grad_();
    Tensor y;
    {
      tn::Autocast guard(d);
      y = tn::softmax(tn::linear(x, w, b), 1).sum() + tn::linear(x, w).sum();
    }
    y.backward();
    EXPECT_EQ(w.grad().dtype(), tn::float32);
    EXPECT_EQ(b.grad().dtype(), tn::bfloat16);
    expect_near(w.grad(), std::vector<double>(12, 2), 1e-2);  // softmax's share is 0
    expect_near(b.grad(), std::vector<double>(4, 0), 1e-2);
  }
}

TEST(Autocast, KeepsTheCastsOfParametersToTheEndOfTheScope) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::ones({2, 3}, {}, d), w = tn::ones({3, 3}, {}, d).requires_grad_();
    const std::string cast = "cast float32 [3, 3] to bfloat16";
    auto use = [&] { return tn::matmul(x, w).sum(); };
    auto in_scope = [&](auto f) {
      return notes(cast, [&] {
        tn::Autocast guard(d);
        f();
      });
    };
    EXPECT_EQ(in_scope([&] {
                use();
                use();
              }),
              1);
    EXPECT_EQ(in_scope([&] {
                {
                  tn::Autocast inner(d);
                  use();
                }
                use();
              }),
              1);
    // A parameter that changed is cast anew, and so it is where nothing is recorded.
    EXPECT_EQ(in_scope([&] {
                use();
                {
                  tn::NoGrad guard;
                  w *= 2;
                }
                expect_near(use(), {36});
              }),
              2);
    EXPECT_EQ(in_scope([&] {
                tn::NoGrad guard;
                use();
                use();
              }),
              2);
    // The gradients of all uses come through the one cast, in one backward or in two.
    {
      tn::Autocast guard(d);
      (use() + use()).backward();
      expect_near(w.grad(), std::vector<double>(9, 4));
      use().backward();
      use().backward();
      expect_near(w.grad(), std::vector<double>(9, 8));
    }
    // What is no parameter is not kept.
    Tensor v = w.detach();
    EXPECT_EQ(in_scope([&] {
                tn::matmul(x, v);
                tn::matmul(x, v);
              }),
              2);
  }
}

TEST(Autocast, TrainsAsWellAsFloat32) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    tn::manual_seed(1);
    tn::Object model =
        tn::nn::Sequential(tn::nn::Linear(4, 8), tn::nn::ReLU(), tn::nn::Linear(8, 2));
    model.to(d);
    auto optimizer = tn::optim::Adam(model.parameters(), {.lr = 0.02});
    Tensor x = sample({16, 4}).to(tn::float32).to(d);
    Tensor target = (x.slice(1, 0, 1) > 0).reshape({16}).to(tn::int64);
    tn::GradScaler scaler;
    float loss = 0;
    for (int i = 0; i < 60; ++i) {
      optimizer.zero_grad();
      Tensor y;
      {
        tn::Autocast guard(d);
        y = tn::cross_entropy(model(x), target);
      }
      scaler.scale(y).backward();
      scaler.step(optimizer);
      scaler.update();
      loss = y.item<float>();
    }
    EXPECT_LT(loss, 0.1f);
    for (const Tensor& p : model.parameters()) EXPECT_EQ(p.dtype(), tn::float32);
  }
}

TEST(Autocast, LossesOfOneScopeHaveBackwardsOfTheirOwn) {
  load_all();
  const Tensor weight = tn::ones({2, 3}).requires_grad_(), x = tn::ones({4, 3});
  const auto run = [&](bool inside) {
    weight.zero_grad();
    std::optional<tn::Autocast> scope(std::in_place, tn::cpu, tn::bfloat16);
    const Tensor a = tn::linear(x, weight).sum(), b = tn::linear(x * 2, weight).sum();
    if (!inside) scope.reset();
    a.backward();
    b.backward();
    expect_near(weight.grad(), std::vector<double>(6, 12));
  };
  run(true);
  run(false);
}

}  // namespace
