// Plugins come while other threads compute: every value and gradient is right meanwhile, and what
// came is there at once. A test of its own, because what is loaded stays loaded.
#include <array>
#include <atomic>
#include <thread>

#include "ops_support.h"
#include "plugin_folder.h"

namespace {

// Threads that run forward and backward on a device each, over and over, until told to stop.
class Workers {
 public:
  explicit Workers(const std::vector<tn::Device>& devices) {
    for (size_t i = 0; i < rounds_.size(); ++i) {
      threads_.emplace_back([this, i, device = devices[i % devices.size()]] {
        try {
          while (!stop_) {
            compute(device, static_cast<double>(i + 1));
            ++rounds_[i];
          }
        } catch (const std::exception& e) {
          ADD_FAILURE() << e.what();
          stop_ = true;
        }
      });
    }
  }
  ~Workers() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  // Waits until each has gone once more from beginning to end.
  void wait_for_a_round() {
    std::array<int, kWorkers> before;
    for (size_t i = 0; i < before.size(); ++i) before[i] = rounds_[i];
    for (size_t i = 0; i < before.size(); ++i) {
      while (!stop_ && rounds_[i] < before[i] + 2) std::this_thread::yield();
    }
  }
  bool failed() const { return stop_; }

 private:
  static constexpr size_t kWorkers = 3;

  // Small integers: all is exact. float64, which the kernels that come for `mul` do not take.
  static void compute(tn::Device device, double k) {
    Tensor x = tn::tensor({1.0, 2.0, 3.0, 4.0}, tn::float64, device).view({2, 2}).requires_grad_();
    Tensor w = tn::tensor({k, 0.0, 1.0, 2.0}, tn::float64, device).view({2, 2});
    Tensor y = tn::relu(tn::matmul(x, w)) + x * x * k;
    expect_near(y, {k + 2 + k, 4 + 4 * k, 3 * k + 4 + 9 * k, 8 + 16 * k}, 0);
    y.sum().backward();
    expect_near(x.grad(), {k + 2 * k, 3 + 4 * k, k + 6 * k, 3 + 8 * k}, 0);
  }

  std::array<std::atomic<int>, kWorkers> rounds_{};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

TEST(LoadBesideCalls, LeavesValuesAndGradientsRight) {
  const std::vector<tn::Device> all = devices();
  const Tensor x = tn::tensor({1.0, 3.0}, tn::float64);
  tn::testing::Folder folder;
  Workers workers(all);
  const auto load = [&](const tn::testing::fs::path& library) {
    workers.wait_for_a_round();
    tn::load_plugin(library.string());
  };
  for (int i = 1; i <= 25; ++i) {
    const std::string pack = "pack" + std::to_string(i);
    load(folder.place(pack));
    expect_near(tn::call((pack + ".twice").c_str(), x), {2, 6}, 0);
  }
  for (const char* name : {"kernel_mul_cpu", "kernel_mul_ref", "kernel_later", "device_later",
                           "factory_first", "policy_first"}) {
    load(folder.place(name));
  }
  load(tn::testing::fs::path(std::getenv("TENON_BUILD_DIR")) / "tests" / "face_plugins" /
       "libhello_ops.so");
  expect_near(tn::call("hello_ops.squash", x), {0.5, 0.75});
  workers.wait_for_a_round();
  EXPECT_FALSE(workers.failed());
}

}  // namespace
