// Hooks of one tensor while other threads go backward through it: each is called whole or not at all, and
// none is lost. The long form does it more often.
#include <atomic>
#include <thread>

#include "autograd_support.h"
#include "long_form.h"

namespace {

int rounds() { return long_form() ? 2000 : 200; }

// Runs f in some threads at once, with their numbers.
template <typename F>
void at_once(int n, F f) {
  std::vector<std::thread> threads;
  for (int t = 0; t < n; ++t) threads.emplace_back([&f, t] { f(t); });
  for (std::thread& thread : threads) thread.join();
}

TEST(HookThreads, HooksComeAndGoWhileOthersGoBackward) {
  load_all();
  const Tensor x = leaf({1, 2});
  const Tensor shared = x * 3.0;
  std::atomic<int> calls{0}, kept{0};
  x.register_hook([&](Tensor) { ++kept; });
  at_once(4, [&](int t) {
    for (int i = 0; i < rounds(); ++i) {
      if (t < 2) {
        shared.sum().backward({}, /*retain_graph=*/true);
      } else {
        const Tensor& hooked = i % 2 == 0 ? x : shared;
        // What the hook holds lives as long as a call of it.
        const auto number = std::make_shared<int>(7);
        const auto hook = hooked.register_hook([&, number](Tensor g) {
          EXPECT_EQ(*number, 7);
          ++calls;
          return g * 1.0;
        });
        std::this_thread::yield();
        hook.remove();
      }
    }
  });
  const double all = 2.0 * rounds();
  EXPECT_EQ(kept, int(all));
  expect_near(x.grad(), {3 * all, 3 * all});
  // All are gone, so none is called any more.
  const int before = calls;
  shared.sum().backward();
  EXPECT_EQ(calls, before);
}

TEST(HookThreads, NoHookIsLost) {
  load_all();
  const Tensor x = leaf({1});
  const Tensor y = x * 2.0;
  std::atomic<int> on_x{0}, on_y{0}, behind{0};
  std::vector<std::vector<tn::TensorHook>> hooks(4);
  at_once(4, [&](int t) {
    for (int i = 0; i < 20; ++i) {
      hooks[t].push_back(x.register_hook([&](Tensor) { ++on_x; }));
      y.register_hook([&](Tensor) { ++on_y; });
      x.register_post_accumulate_grad_hook([&](Tensor p) {
        EXPECT_TRUE(p.grad().defined());
        ++behind;
      });
    }
  });
  y.sum().backward({}, /*retain_graph=*/true);
  EXPECT_EQ(on_x, 80);
  EXPECT_EQ(on_y, 80);
  EXPECT_EQ(behind, 80);
  at_once(4, [&](int t) {
    for (const tn::TensorHook& hook : hooks[t]) hook.remove();
  });
  y.sum().backward();
  EXPECT_EQ(on_x, 80);
  EXPECT_EQ(behind, 160);
}

// A hook may hang on what hooks hang on: what it destroys when it goes needs no lock that is held.
TEST(HookThreads, AHookThatHoldsAnotherTensorMayGo) {
  load_all();
  const Tensor x = leaf({1});
  at_once(4, [&](int) {
    for (int i = 0; i < rounds(); ++i) {
      Tensor other = leaf({2});
      other.register_hook([](Tensor) {});
      const auto hook = x.register_hook([held = std::exchange(other, {})](Tensor) {});
      hook.remove();
    }
  });
  x.sum().backward();
  expect_near(x.grad(), {1});
}

}  // namespace
