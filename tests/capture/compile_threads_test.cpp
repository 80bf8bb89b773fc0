// Threads that call one compiled function, and functions of several threads that share a model: eight of
// them, on each device. What depends on when the host lets memory go is looked at on `cpu` alone.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

#include "compile_support.h"

namespace {

namespace nn = tn::nn;

Tensor numbers(int i) {
  return tn::sin(tn::arange(0, 32).to(tn::float32) * (0.1 + 0.01 * i)).view({4, 8});
}

constexpr int kThreads = 8;

template <typename F>
void on_threads(F f) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back([&, t] { f(t); });
  for (std::thread& thread : threads) thread.join();
}

// A place where n threads meet. They wait far longer for one another than they need to.
class Meeting {
 public:
  explicit Meeting(int n) : n_missing_(n) {}
  void come() {
    std::unique_lock lock(mutex_);
    --n_missing_;
    all_are_here_.notify_all();
    EXPECT_TRUE(
        all_are_here_.wait_for(lock, std::chrono::seconds(60), [&] { return n_missing_ <= 0; }))
        << n_missing_ << " threads did not come";
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_are_here_;
  int n_missing_;
};

// Of Linux: does this thread of the process sleep, as one does that waits for another?
bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.find(") S ") != std::string::npos;
}

class CompileThreadsOn : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    load_all();
    device = tn::Device(GetParam());
  }
  Tensor there(int i) const { return numbers(i).to(device); }
  tn::Device device;
};
INSTANTIATE_TEST_SUITE_P(Devices, CompileThreadsOn, ::testing::Values("cpu", second_device()),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(CompileThreadsOn, OneFunctionIsCalledByMany) {
  const Tensor w = there(50).t().contiguous();
  const auto eager = [&](Tensor x) { return tn::softmax(x.matmul(w) * 2, 1) + 1; };
  auto f = tn::compile(eager);
  on_threads([&](int t) {
    for (int i = 0; i < 50; ++i) {
      const Tensor x = there(i % 7 + t);
      expect_same_bits(f(x), eager(x));
    }
  });
  expect_described(f, "1 recordings");
}

TEST_P(CompileThreadsOn, FunctionsOfThreadsShareAModel) {
  tn::manual_seed(1);
  const tn::Object model = nn::Sequential(nn::Linear(8, 16), nn::GELU(), nn::Linear(16, 3));
  model.to(device);
  on_threads([&](int t) {
    const tn::NoGrad no_grad;
    auto f = tn::compile([&](Tensor x) { return model(x) * (t + 1); });
    for (int i = 0; i < 30; ++i) {
      const Tensor x = there(i + t);
      expect_same_bits(f(x), model(x) * (t + 1));
    }
    expect_described(f, "1 recordings, 29 replays");
  });
}

// Two calls wait for the replay of a third. Then one of them records a function that goes on when the
// other has come into it as well.
TEST(CompileThreads, ACallDoesNotWaitForARecordingThatBeginsAsItComes) {
  load_all();
  const Tensor w = tn::zeros({4}).requires_grad_();
  Meeting in_function(2);
  auto f = tn::compile([&](Tensor x) {
    w.zero_grad();
    if (x.numel() == 8) in_function.come();
    return x * 2;
  });
  const Tensor x = tn::ones({4}), y = tn::ones({8});
  f(x);
  std::atomic<pid_t> waiting[2] = {0, 0};
  std::vector<std::thread> threads;
  Owner owner(4);
  owner.on_release = [&] {  // in the middle of the replay
    for (std::atomic<pid_t>& thread : waiting) {
      threads.emplace_back([&] {
        thread = ::gettid();
        expect_same_bits(f(y), y * 2);
      });
    }
    for (const std::atomic<pid_t>& thread : waiting) {
      while (thread == 0 || !sleeps(thread)) std::this_thread::yield();
    }
  };
  w.set_grad(owner.lend(0, 4));
  expect_same_bits(f(x), x * 2);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(threads.size(), 2u);
  expect_described(f, "2 recordings, 1 replays");
}

// The replay drops a gradient, whose owner calls the function.
TEST(CompileThreads, AReplayMayLeadToACallOfItsFunction) {
  load_all();
  const Tensor w = tn::zeros({4}).requires_grad_(), x = tn::ones({4});
  auto f = tn::compile([&](Tensor t) {
    w.zero_grad();
    return t * 2;
  });
  f(x);
  Owner owner(4);
  Tensor found;
  owner.on_release = [&] { found = f(x + 1); };
  w.set_grad(owner.lend(0, 4));
  expect_same_bits(f(x), x * 2);
  expect_same_bits(found, (x + 1) * 2);
  expect_described(f, "1 recordings, 1 replays");
}

// As above, where a recording that fits no more is thrown away, with a tensor that it alone holds.
TEST(CompileThreads, ARecordingThatGoesMayLeadToACallOfItsFunction) {
  load_all();
  Owner owner(4);
  Tensor held = owner.lend(0, 4), found;
  const Tensor x = tn::ones({4});
  auto f = tn::compile([&](Tensor t) { return t * held; });
  owner.on_release = [&] { found = f(x); };
  f(x);
  held.requires_grad_();
  held = x + 1;
  expect_same_bits(f(x), x * 2);
  expect_same_bits(found, x * 2);
  expect_described(f, "2 recordings, 0 replays");
}

// Each trains a model of its own; the numbers of a thread do not depend on the others.
TEST_P(CompileThreadsOn, StepsOfThreadsAreTheirOwn) {
  on_threads([&](int t) {
    const Tensor w = there(t).requires_grad_(), v = there(t).requires_grad_();
    const auto step = [](const Tensor& weight, const Tensor& x) {
      weight.zero_grad();
      (weight * x).tanh().sum().backward();
      const tn::NoGrad no_grad;
      tn::sub_(weight, weight.grad() * 0.1);
    };
    auto f = tn::compile([&](Tensor x) { step(w, x); });
    for (int i = 0; i < 30; ++i) {
      f(there(i));
      step(v, there(i));
      expect_same_bits(w, v);
    }
    expect_described(f, "1 recordings, 29 replays");
  });
}

}  // namespace
