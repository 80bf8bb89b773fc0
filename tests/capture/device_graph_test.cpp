// Compiled functions as one graph of a device: what differs from launching the calls one by one.
#include <atomic>
#include <thread>

#include "compile_support.h"

namespace {

namespace nn = tn::nn;

class DeviceGraph : public ::testing::Test {
 protected:
  void SetUp() override {
    load_all();
    d = tn::Device(second_device());
  }
  Tensor numbers(std::vector<int64_t> sizes, double from = 0) const {
    int64_t n = 1;
    for (const int64_t size : sizes) n *= size;
    return tn::sin(tn::arange(0, n).to(tn::float32) * 0.37 + from).view(sizes).to(d);
  }
  uint64_t allocations() const {
    tn_memory_stats stats{};
    stats.size = sizeof(stats);
    tn::check(tn::detail::api.device->memory_stats(d.value, &stats));
    return stats.n_allocations;
  }
  // Replays take the random numbers that eager calls take.
  void expect_numbers_go_on(const std::function<Tensor(const Tensor&)>& eager) const {
    auto f = tn::compile([&](Tensor x) { return eager(x); });
    const Tensor x = numbers({4});
    std::vector<Tensor> found;
    tn::manual_seed(5);
    for (int i = 0; i < 4; ++i) found.push_back(f(x));
    tn::manual_seed(5);
    for (const Tensor& t : found) expect_same_bits(t, eager(x));
    expect_one_graph(f);
  }
  template <typename F>
  static void expect_one_graph(const tn::CompiledFunction<F>& f) {
    expect_described(f, std::string("as one graph of ") + second_device() + ":0");
  }
  tn::Device d{};
};

TEST_F(DeviceGraph, ATrainingStepIsOne) {
  tn::manual_seed(1);
  const tn::Object model =
      nn::Sequential(nn::Linear(6, 8), nn::GELU(), nn::Dropout(0.3), nn::Linear(8, 3));
  model.to(d);
  const auto optimizer = tn::optim::AdamW(model.parameters(), {.lr = 0.01});
  auto f = tn::compile([&](Tensor x, Tensor t) {
    Tensor loss = tn::cross_entropy(model(x), t);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss.detach() * 1;
  });
  const Tensor x = numbers({4, 6}), t = (tn::arange(0, 4) % 3).to(d);
  for (int i = 0; i < 4; ++i) f(x, t);
  expect_one_graph(f);
  // Nothing but the result is allocated.
  const uint64_t before = allocations();
  for (int i = 0; i < 5; ++i) f(x, t);
  EXPECT_EQ(allocations() - before, 5u);
}

TEST_F(DeviceGraph, ResultsAreTheCallersAlone) {
  auto f = tn::compile([](Tensor x) {
    const Tensor y = x * 2;
    return std::tuple(y, y.narrow(0, 1, 1), x + 1);
  });
  std::vector<Tensor> given, copies;
  for (int i = 0; i < 4; ++i) {
    const auto [a, b, c] = f(numbers({3}, i));
    EXPECT_TRUE(tn::detail::api.tensor->same_storage(a.get(), b.get()) != 0);
    for (const Tensor& t : {a, b, c}) {
      given.push_back(t);
      copies.push_back(t.clone());
    }
  }
  for (size_t i = 0; i < given.size(); ++i) expect_same_bits(given[i], copies[i]);
  expect_one_graph(f);
}

TEST_F(DeviceGraph, ArgumentsThatAreWrittenAreWrittenBack) {
  auto f = tn::compile([](Tensor x, Tensor y) {
    tn::mul_(x, 2.0);
    tn::add_(y.narrow(0, 0, 2), 1.0);
  });
  for (int i = 0; i < 4; ++i) {
    const Tensor whole = numbers({8}, i), same = whole.clone(), y = numbers({3}, i + 1),
                 other = y.clone();
    const uint64_t version = tn::detail::api.tensor->version(whole.get());
    f(whole.narrow(0, 2, 4), y);
    EXPECT_GT(tn::detail::api.tensor->version(whole.get()), version);
    tn::mul_(same.narrow(0, 2, 4), 2.0);
    tn::add_(other.narrow(0, 0, 2), 1.0);
    expect_same_bits(whole, same);
    expect_same_bits(y, other);
  }
  expect_one_graph(f);
}

// Parts of one memory, of which the second begins first.
TEST_F(DeviceGraph, ArgumentsMayLieInOneMemory) {
  auto f = tn::compile([](Tensor x, Tensor y) {
    tn::add_(x, y);
    return x.t().sum({0}) + y.sum();
  });
  for (int i = 0; i < 4; ++i) {
    const Tensor memory = numbers({64}, i), same = memory.clone();
    const auto parts = [](const Tensor& of) {
      return std::pair(of.narrow(0, 32, 12).view({3, 4}), of.narrow(0, 16, 12).view({3, 4}));
    };
    const auto [x, y] = parts(memory);
    const auto [a, b] = parts(same);
    const Tensor found = f(x, y);
    tn::add_(a, b);
    expect_same_bits(found, a.t().sum({0}) + b.sum());
    expect_same_bits(memory, same);
  }
  expect_one_graph(f);
}

TEST_F(DeviceGraph, AGradientThatIsHeldIsNotWrittenAgain) {
  const Tensor w = numbers({4}).requires_grad_(), v = numbers({4}).requires_grad_();
  const auto step = [](const Tensor& leaf, const Tensor& x) {
    leaf.zero_grad();
    (leaf * x).sum().backward();
  };
  auto f = tn::compile([&](Tensor x) { step(w, x); });
  std::vector<Tensor> held, copies;
  for (int i = 0; i < 8; ++i) {
    const Tensor x = numbers({4}, i);
    f(x);
    step(v, x);
    expect_same_bits(w.grad(), v.grad());
    if (i % 3 == 2) {
      held.push_back(w.grad());
      copies.push_back(w.grad().clone());
    }
  }
  for (size_t i = 0; i < held.size(); ++i) expect_same_bits(held[i], copies[i]);
  expect_one_graph(f);
}

// The gradient that was there is read after the new one was made.
TEST_F(DeviceGraph, TheOldGradientIsNotOverwritten) {
  const Tensor w = numbers({4}).requires_grad_(), v = numbers({4}).requires_grad_();
  const auto step = [](const Tensor& leaf, const Tensor& x) {
    const Tensor old = leaf.grad();
    leaf.set_grad({});
    (leaf * x).sum().backward();
    return (old.defined() ? old * 2 : x * 1) + leaf.grad();
  };
  auto f = tn::compile([&](Tensor x) { return step(w, x); });
  for (int i = 0; i < 7; ++i) {
    const Tensor x = numbers({4}, i);
    expect_same_bits(f(x), step(v, x));
    expect_same_bits(w.grad(), v.grad());
  }
  expect_one_graph(f);
}

// Random numbers that the cpu makes for the device are those of the process, too.
TEST_F(DeviceGraph, RandomNumbersOfTheCpuGoOn) {
  expect_numbers_go_on([&](const Tensor& x) {
    const Tensor a = tn::rand({4}).to(d), b = tn::rand({4}, {}, d);
    return x * tn::randn({}, tn::float64) + a * b;
  });
}

// Numbers of the cpu are found out before the launch, whatever they come from.
TEST_F(DeviceGraph, NumbersChangeFromLaunchToLaunch) {
  const Tensor lr = tn::tensor(0.5, tn::float64), p = numbers({5}).to(tn::float64), q = p.clone();
  auto f = tn::compile([&](Tensor g, Tensor n) {
    tn::sgd_step({p}, {g}, {}, tn::dynamic(lr), {.weight_decay = tn::dynamic(lr)});
    return g * (n * 2 + 1) - tn::tensor(1.5f).to(d);
  });
  for (int i = 0; i < 5; ++i) {
    lr.fill_(0.1 * (i + 1));
    const Tensor g = numbers({5}, i).to(tn::float64), n = tn::tensor(0.25 * i, tn::float64);
    const Tensor found = f(g, n);
    tn::sgd_step({q}, {g}, {}, 0.1 * (i + 1), {.weight_decay = 0.1 * (i + 1)});
    expect_same_bits(p, q);
    expect_same_bits(found, g * (n * 2 + 1) - tn::tensor(1.5f).to(d));
  }
  expect_one_graph(f);
}

// What the cpu does for the graph fails as it does in a list.
TEST_F(DeviceGraph, ACallOfTheCpuThatFailsIsNamed) {
  const Tensor table = tn::arange(0, 3).to(tn::float64), at = tn::zeros({1}, tn::int64);
  auto f = tn::compile([&](Tensor x) { return x * table.gather(0, at).view({}) + 1; });
  const Tensor x = numbers({4});
  for (int i = 0; i < 2; ++i) f(x);
  expect_one_graph(f);
  at.fill_(7);
  const std::string message = message_of([&] { f(x); });
  EXPECT_EQ(message.find("a replay of the compiled function failed at call 1 of 3 (gather | cpu "
                         "gather): "),
            0u)
      << message;
  at.fill_(2);
  expect_same_bits(f(x), x * 2 + 1);
}

TEST_F(DeviceGraph, RandomNumbersGoOn) {
  expect_numbers_go_on([&](const Tensor& x) {
    return x + tn::rand({4}, {}, d) * tn::dropout(tn::ones({4}, {}, d), 0.5, true);
  });
}

// While one thread records, what another one puts on the same stream is done, and no part of the graph.
TEST_F(DeviceGraph, WorkOfOtherThreadsIsNotRecorded) {
  const Tensor sum = tn::zeros({8}, tn::float32, d);
  std::atomic<bool> is_over = false;
  int n = 0;
  std::thread other([&] {
    for (; !is_over; ++n) {
      tn::add_(sum, 1.0);
      if (n % 50 == 49) d.synchronize();
    }
  });
  const Tensor x = numbers({8});
  for (int i = 0; i < 50; ++i) {
    auto f = tn::compile([](Tensor a) { return (a * 2 + 1).exp().sum() * a; });
    for (int call = 0; call < 3; ++call) expect_same_bits(f(x), (x * 2 + 1).exp().sum() * x);
    expect_one_graph(f);
  }
  is_over = true;
  other.join();
  expect_same_bits(sum, tn::full({8}, n, tn::float32, d));
}

// The graph runs on the stream of its call, behind what others do with the memory.
TEST_F(DeviceGraph, StreamsAreOrdered) {
  const Tensor w = numbers({64}), v = w.clone();
  auto f = tn::compile([&](Tensor x) {
    tn::add_(w, x);
    return w * 2;
  });
  tn::Stream streams[2] = {tn::Stream(d), tn::Stream(d)};
  for (int i = 0; i < 8; ++i) {
    Tensor found;
    {
      const tn::StreamGuard guard(streams[i % 2]);
      found = f(numbers({64}, i));
    }
    tn::add_(v, numbers({64}, i));
    expect_same_bits(found, v * 2);
    tn::mul_(w, 0.5);  // on the default stream
    tn::mul_(v, 0.5);
  }
  expect_same_bits(w, v);
  expect_one_graph(f);
}

}  // namespace
