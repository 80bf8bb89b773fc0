// The device ref made slow: each task of its streams waits first (TENON_REF_SLOW_US, from
// CTest), so that whatever the host forgets to order, to wait for or to keep shows in the values.
// Freed memory is poisoned by the backend, and overruns fail its shutdown.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <thread>

#include "ops_support.h"

namespace {

struct RefSlow : testing::Test {
  static void SetUpTestSuite() {
    ::setenv("TENON_REF_SLOW_US", "2000", 0);  // where the test is run by hand
    load_all();
  }
  void SetUp() override {
    zero = tn::Device(std::string(second_device()) + ":0");
    one = tn::Device(std::string(second_device()) + ":1");
  }
  void TearDown() override {
    zero.synchronize();
    one.synchronize();
  }
  // 0, 1, .. n - 1 in float32; made on the device, so that work is pending.
  Tensor count(int64_t n, tn::Device d) { return tn::arange(0, n, 1, tn::float32, d); }
  Tensor full(int64_t n, double value, tn::Device d) {
    return tn::full({n}, value, tn::float32, d);
  }

  tn::Device zero, one;
};

std::vector<double> times(int64_t n, double by, double plus = 0) {
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(double(i) * by + plus);
  return values;
}

TEST_F(RefSlow, IsSlow) {
  Tensor x = full(1000, 1, zero);
  zero.synchronize();
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) x = x + 1;
  auto launched = std::chrono::steady_clock::now() - start;
  zero.synchronize();
  auto done = std::chrono::steady_clock::now() - start;
  EXPECT_GE(done, std::chrono::milliseconds(20));
  EXPECT_LT(launched, done);
  expect_near(x, std::vector<double>(1000, 11));
}

TEST_F(RefSlow, CopiesGoFromDeviceToDeviceInOrder) {
  for (int round = 0; round < 3; ++round) {
    Tensor x = count(100, zero) * 2;
    Tensor y = x.to(one) + 1;
    Tensor z = (y.to(zero) * 10).to(one).to(tn::cpu);
    expect_near(z, times(100, 20, 10));
  }
  // Other dtypes and layouts, which are copied where they are first.
  Tensor x = (count(6, zero) * 3).view({2, 3});
  expect_near(x.t().to(one), {0, 9, 3, 12, 6, 15});
  expect_near(x.slice(1, 0, 3, 2).to(one, tn::float64) + 0.5, {0.5, 6.5, 9.5, 15.5});
  Tensor target = tn::zeros({3, 2}, tn::float32, one);
  target.t().copy_(x);
  expect_near(target, {0, 9, 3, 12, 6, 15});
}

// The source of a copy may be changed or freed at once: the copy has what was there.
TEST_F(RefSlow, ACopysSourceMayChangeAtOnce) {
  for (int round = 0; round < 3; ++round) {
    Tensor x = count(100, zero);
    Tensor y = x.to(one);
    tn::fill_(x, -1);
    Tensor z = y.to(tn::cpu);
    tn::mul_(y, 0);
    expect_near(z, times(100, 1));
    expect_near(x, std::vector<double>(100, -1));
    Tensor moved = (count(100, one) * 3).to(zero);  // the source is gone already
    Tensor filler = full(100, 7, one);
    expect_near(moved, times(100, 3));
    expect_near(filler, std::vector<double>(100, 7));
    // And its destination too: written, copied to, written again.
    Tensor into = full(100, 5, one);
    into.copy_(moved);
    tn::add_(into, 1);
    expect_near(into, times(100, 3, 1));
  }
}

TEST_F(RefSlow, StreamsAreOrderedByWhatTheyShare) {
  tn::Stream side(zero), other(zero);
  for (int round = 0; round < 3; ++round) {
    Tensor x = count(50, zero);
    Tensor y, z;
    {
      tn::StreamGuard guard(side);
      y = x * 2;  // behind x on the default stream
      tn::StreamGuard again(other);
      z = y + x;
    }
    tn::fill_(x, 0);  // behind both readers
    expect_near(z, times(50, 3));
    expect_near(y, times(50, 2));
    // Kernels that get tensors, and those that get reductions.
    Tensor m = count(9, zero).view({3, 3}), product, sum, halves, picked;
    {
      tn::StreamGuard guard(side);
      product = tn::matmul(m, m);
      halves = m.to(tn::float64);
      picked = tn::gather(m, 1, tn::full({3, 1}, 2, {}, zero));
    }
    expect_near(product, {15, 18, 21, 42, 54, 66, 69, 90, 111});
    expect_near(halves, times(9, 1));
    expect_near(picked, {2, 5, 8});
    auto delay = [&] {
      for (int i = 0; i < 4; ++i) full(9, 0, zero);
    };
    delay();
    Tensor c = count(9, zero);
    {
      tn::StreamGuard guard(other);
      sum = c.sum();
    }
    expect_near(sum, {36});
    // A copy into what another stream reads, and into what it writes.
    Tensor late, into = full(9, 5, zero), from = full(9, -2, zero);
    {
      tn::StreamGuard guard(side);
      delay();
      tn::add_(into, 1);
    }
    into.copy_(from);
    side.synchronize();
    expect_near(into, std::vector<double>(9, -2));
    {
      tn::StreamGuard guard(side);
      delay();
      late = m.t() * 1;
    }
    m.t().copy_(from.view({3, 3}));
    expect_near(late, {0, 3, 6, 1, 4, 7, 2, 5, 8});
    expect_near(m, std::vector<double>(9, -2));
    // In place from one stream to the next.
    Tensor a = full(50, 1, zero);
    for (int i = 0; i < 4; ++i) {
      tn::StreamGuard guard(i % 2 ? side : other);
      tn::add_(a, count(50, zero));
    }
    expect_near(a, times(50, 4, 1));
  }
}

TEST_F(RefSlow, MemoryFreedWhileInUseIsNotGivenOutEarly) {
  for (int round = 0; round < 5; ++round) {
    Tensor x = count(500, zero);
    Tensor y = x * 2;
    x = Tensor();
    std::vector<Tensor> fillers;
    for (int i = 0; i < 4; ++i) fillers.push_back(full(500, -7, zero));
    expect_near(y, times(500, 2));
  }
  // Read by another stream when it is freed here.
  tn::Stream side(zero);
  for (int round = 0; round < 5; ++round) {
    Tensor x = count(500, zero), y;
    {
      tn::StreamGuard guard(side);
      full(500, 0, zero) + 1;  // the side stream is late
      y = x * 2;
    }
    x = Tensor();
    std::vector<Tensor> fillers;
    for (int i = 0; i < 4; ++i) fillers.push_back(full(500, -7, zero));
    for (const Tensor& t : fillers) tn::mul_(t, 2);
    expect_near(y, times(500, 2));
    for (const Tensor& t : fillers) expect_near(t.narrow(0, 0, 1), {-14});
  }
  // Written by another stream when it is freed here.
  for (int round = 0; round < 5; ++round) {
    Tensor x = count(500, zero);
    {
      tn::StreamGuard guard(side);
      for (int i = 0; i < 8; ++i) full(500, 0, zero);
      tn::add_(x, 1);
    }
    x = Tensor();
    std::vector<Tensor> fillers;
    for (int i = 0; i < 4; ++i) fillers.push_back(full(500, -7, zero));
    side.synchronize();
    for (const Tensor& t : fillers) expect_near(t, std::vector<double>(500, -7));
  }
  // Made on the side stream, freed and made anew on the default one.
  for (int round = 0; round < 5; ++round) {
    Tensor y;
    {
      tn::StreamGuard guard(side);
      Tensor x = count(500, zero);
      y = x * 3;
    }
    Tensor filler = full(500, -7, zero);
    expect_near(y, times(500, 3));
    expect_near(filler, std::vector<double>(500, -7));
  }
}

TEST_F(RefSlow, AStreamMayEndWithItsWorkPending) {
  tn_stream* ended = nullptr;
  Tensor x = count(50, zero), y;
  {
    tn::Stream side(zero);
    tn::StreamGuard guard(side);
    ended = side.get();
    y = x * 2;
    for (int i = 0; i < 5; ++i) y = y + 1;
  }
  expect_error([&] { tn::check(tn::detail::api.device->set_current_stream(zero.value, ended)); },
               "was destroyed");
  expect_near(y + 0, times(50, 2, 5));
}

TEST_F(RefSlow, ValuesAreReadBehindTheWork) {
  Tensor x = full(10, 1, zero);
  for (int i = 0; i < 5; ++i) x = x + x;
  EXPECT_EQ(x.narrow(0, 3, 1).item<float>(), 32);
  // Sizes that depend on values too.
  Tensor mask = tn::where(count(10, zero) > 6, full(10, 1, zero), full(10, 0, zero));
  Tensor found = tn::nonzero(mask);
  expect_sizes(found, {3, 1});
  expect_near(found, {7, 8, 9});
  tn::Stream side(zero);
  Tensor y = x * 2;
  tn::StreamGuard guard(side);
  expect_near(tn::nonzero(y - 64), {});
  EXPECT_EQ(y.sum().item<float>(), 640);
  // 0-dimensional tensors of the cpu are read at the call.
  Tensor s = tn::tensor(2.f);
  Tensor z = y * s;
  tn::fill_(s, 0);
  EXPECT_EQ(z.sum().item<float>(), 1280);
}

// Backward goes where the forward went, and leaves sum what comes from several streams.
TEST_F(RefSlow, BackwardFollowsTheStreamsOfTheForward) {
  tn::Stream side(zero), other(zero);
  for (int round = 0; round < 3; ++round) {
    Tensor w = count(20, zero).requires_grad_();
    Tensor a, b;
    {
      tn::StreamGuard guard(side);
      a = (w * w).sum();
    }
    {
      tn::StreamGuard guard(other);
      b = (w * 3).sum();
    }
    (a + b).backward();
    expect_near(w.grad(), times(20, 2, 3));
    {
      tn::StreamGuard guard(other);
      (w * 2).sum().backward();  // accumulates on another stream than before
    }
    tn::mul_(w.grad(), 2);
    expect_near(w.grad(), times(20, 4, 10));
  }
  // Over two devices.
  Tensor w = count(20, zero).requires_grad_();
  Tensor y = (w * 2).to(one);
  (y * y).sum().to(tn::cpu).backward();
  expect_near(w.grad(), times(20, 8));
}

struct Thrice : tn::Function<Thrice> {
  static Tensor forward(Context&, Tensor x) { return x * 3; }
  static Tensor backward(Context&, Tensor g) { return g * 3; }
};

// It does not wait for what the caller's stream has to do: whatever node runs there instead comes
// behind all of it.
TEST_F(RefSlow, BackwardRunsBesideTheStreamOfTheCaller) {
  struct Case {
    const char* name;
    std::function<Tensor(const Tensor&)> forward;
    std::vector<double> gradient;
    Tensor w, y, seed;
  };
  const std::vector<double> ones(9, 1), threes(9, 3);
  std::vector<Case> cases = {
      {"elementwise", [](const Tensor& w) { return w * 3; }, threes},
      {"sum of all", [](const Tensor& w) { return w.sum(); }, ones},
      {"primitive", [](const Tensor& w) { return w.sum(1); }, ones},
      {"view", [](const Tensor& w) { return w.t(); }, ones},
      {"as_strided",
       [](const Tensor& w) {
         return tn::as_strided(w, {3, 3}, {1, 3});
       },
       ones},
      {"op with a gradient of its own",
       [](const Tensor& w) {
         return tn::cross_entropy(w, tn::full({3}, 0, tn::int64, w.device()));
       },
       {}},
      {"custom function", [](const Tensor& w) { return Thrice::apply(w); }, threes},
      {"copy to another dtype", [](const Tensor& w) { return w.detach().to(tn::float64).copy_(w); },
       ones},
      {"write through a view",
       [](const Tensor& w) {
         Tensor base = tn::empty_like(w).copy_(w);
         tn::mul_(base.t(), 3);
         return base;
       },
       threes},
  };
  tn::Stream side(zero);
  {
    tn::StreamGuard guard(side);
    for (Case& c : cases) {
      c.w = count(9, zero).view({3, 3}).detach().requires_grad_();
      c.y = c.forward(c.w);
      c.seed = tn::ones_like(c.y);
    }
  }
  const auto current = [this] {
    tn_stream* stream = nullptr;
    tn::check(tn::detail::api.device->current_stream(zero.value, &stream));
    return stream;
  };
  tn_stream* main = current();
  std::atomic<bool> over = false;
  const auto backward = [&](bool again) {
    for (Case& c : cases) {
      SCOPED_TRACE(c.name);
      Tensor gradient = tn::grad(c.y, c.w, {.grad_outputs = {c.seed}, .retain_graph = again});
      EXPECT_EQ(current(), main);
      tn::StreamGuard guard(side);
      std::vector<double> values = gradient.to(tn::float64).to_vector<double>();
      EXPECT_FALSE(over);
      if (!c.gradient.empty()) {
        EXPECT_EQ(values, c.gradient);
      }
    }
  };
  zero.synchronize();
  auto start = std::chrono::steady_clock::now();
  backward(true);
  // Work for three times as long: each task takes 2 ms and more.
  auto once = std::chrono::steady_clock::now() - start;
  Tensor busy = full(9, 0, zero);
  for (int i = 0; i < 50 + 3 * (once / std::chrono::milliseconds(2)); ++i) tn::add_(busy, 1);
  std::thread watcher([&] {
    tn::ignore(tn::detail::api.device->stream_synchronize(main));
    over = true;
  });
  backward(false);
  watcher.join();
}

TEST_F(RefSlow, ErrorsOfTheWorkReachWhoWaits) {
  Tensor x = count(6, zero).view({2, 3}), index = tn::full({2, 1}, 9, {}, zero);
  Tensor bad = tn::gather(x, 1, index);
  expect_error([&] { bad.to_vector<float>(); }, "gather: index 9");
  expect_near(x * 2, {0, 2, 4, 6, 8, 10});
  Tensor again = tn::gather(x, 1, index);
  expect_error([&] { zero.synchronize(); }, "gather: index 9");
  EXPECT_NO_THROW(zero.synchronize());
}

TEST_F(RefSlow, ThreadsWithStreamsOfTheirOwn) {
  Tensor shared = count(50, zero);
  std::vector<std::thread> threads;
  std::vector<Tensor> results(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      tn::Stream stream(t % 2 ? zero : one);
      tn::StreamGuard guard(stream);
      Tensor x = t % 2 ? shared : shared.to(one);
      for (int i = 0; i <= t; ++i) x = x + i;
      Tensor w = x.detach().requires_grad_();
      (w * w).sum().backward();
      results[size_t(t)] = w.grad();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double sums[] = {0, 1, 3, 6};
  for (size_t t = 0; t < 4; ++t) expect_near(results[t], times(50, 2, 2 * sums[t]));
}

// The steps of an MLP, with the optimizer's on a stream of its own.
std::vector<double> train(tn::Device d, bool streams) {
  tn::manual_seed(3);
  tn::Object model = tn::nn::Sequential(tn::nn::Linear(3, 5), tn::nn::ReLU(), tn::nn::Linear(5, 2));
  model.to(d);
  auto optimizer = tn::optim::SGD(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  Tensor x = sample({8, 3}).to(tn::float32).to(d);
  Tensor target = Tensor::from(std::vector<int64_t>{0, 1, 1, 0, 1, 0, 0, 1}, -1, d);
  std::optional<tn::Stream> side;
  if (streams) side.emplace(d);
  std::vector<double> trace;
  for (int step = 0; step < 5; ++step) {
    Tensor loss = tn::cross_entropy(model(x), target);
    optimizer.zero_grad();
    loss.backward();
    std::optional<tn::StreamGuard> guard;
    if (streams) guard.emplace(*side);
    optimizer.step();
    guard.reset();
    trace.push_back(loss.item<double>());
  }
  for (const Tensor& p : model.parameters()) {
    for (double v : p.to_vector<double>()) trace.push_back(v);
  }
  return trace;
}

TEST_F(RefSlow, TrainsToWhatTheCpuTrainsTo) {
  std::vector<double> expected = train(tn::cpu, false);
  EXPECT_LT(expected[4], expected[0]);
  for (bool streams : {false, true}) {
    for (tn::Device d : {zero, one}) {
      SCOPED_TRACE(d.name() + (streams ? " with streams" : ""));
      std::vector<double> trace = train(d, streams);
      ASSERT_EQ(trace.size(), expected.size());
      for (size_t i = 0; i < trace.size(); ++i) EXPECT_NEAR(trace[i], expected[i], 1e-6) << i;
    }
  }
}

// Last: what is left is given back, and the backend has seen no write outside of its blocks.
TEST_F(RefSlow, ShutdownFindsEverythingInOrder) {
  zero.empty_cache();
  one.empty_cache();
  EXPECT_EQ(zero.memory_stats().allocated, 0u);
  EXPECT_EQ(one.memory_stats().allocated, 0u);
  tn_status* status = tn::detail::api.plugin->shutdown();
  EXPECT_EQ(status, nullptr) << tn::host()->status_message(status);
}

}  // namespace
