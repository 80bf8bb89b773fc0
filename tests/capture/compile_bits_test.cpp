// What a compiled function promises of its bits: those of the eager call on any number of threads,
// where all its kernels promise theirs.
#include <dlfcn.h>

#include "compile_support.h"

namespace {

namespace nn = tn::nn;

// How many threads of OpenMP calls from this thread get, until it ends. The library is the one that
// the plugin cpu opened; with a sanitizer there is none, and then all is as before.
class Threads {
 public:
  Threads() : before_(omp_get_max_threads_ ? omp_get_max_threads_() : 1) {}
  ~Threads() { set(before_); }
  void set(int n) {
    if (omp_set_num_threads_) omp_set_num_threads_(n);
  }

 private:
  void* library_ = ::dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
  int (*omp_get_max_threads_)() = function<int (*)()>("omp_get_max_threads");
  void (*omp_set_num_threads_)(int) = function<void (*)(int)>("omp_set_num_threads");
  int before_;

  template <typename F>
  F function(const char* name) {
    return library_ ? reinterpret_cast<F>(::dlsym(library_, name)) : nullptr;
  }
};

class CompiledBitsOn : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, CompiledBitsOn, ::testing::Values("cpu", second_device()),
                         [](const auto& info) { return std::string(info.param); });

// The threads are those of the host, whatever the device is. Simulated devices are slow, and take fewer
// and smaller steps.
TEST_P(CompiledBitsOn, AreTheEagerOnesOnAnyNumberOfThreads) {
  load_all();
  const tn::Device device(GetParam());
  const int64_t n = device.is_cpu() ? 40 : 16;
  const int steps = device.is_cpu() ? 8 : 4;
  Threads threads;
  const auto make = [&]() -> Trained {
    tn::manual_seed(7);
    tn::Object model =
        nn::Sequential(nn::Conv2d(3, 32, 3, {.padding = 1}), nn::BatchNorm2d(32), nn::ReLU(),
                       nn::Conv2d(32, 64, 3, {.stride = 2}), nn::GroupNorm(8, 64), nn::Flatten(),
                       nn::Linear(64 * 7 * 7, 256), nn::LayerNorm({256}), nn::Linear(256, 10));
    model.to(device);
    return {model, tn::optim::SGD(model.parameters(), {.lr = 0.05, .momentum = 0.9})};
  };
  Trained eager = make(), compiled = make();
  auto f = tn::compile([&](Tensor x, Tensor t) { return compiled.step(x, t); });
  const Tensor target = (tn::arange(0, n) % 10).to(device);
  for (int i = 0; i < steps; ++i) {
    const Tensor x = tn::randn({n, 3, 16, 16}).to(device);
    threads.set(1);
    const Tensor expected = eager.step(x, target);
    threads.set(1 + i % 5);
    expect_same_bits(f(x, target), expected);
  }
  expect_same_state(compiled, eager);
  EXPECT_EQ(f.describe().find("not deterministic"), std::string::npos) << f.describe();
  expect_described(f, "  bits: those of an eager call, on any number of threads\n");
}

TEST(CompiledBits, AKernelThatDoesNotPromiseThemIsNamed) {
  load_all();
  tn::load_plugin(std::string(std::getenv("TENON_BUILD_DIR")) +
                  "/tests/face_plugins/libface_plugin.so");
  auto f = tn::compile([](Tensor x) { return tn::exp(tn::call("face_plugin.reversed", x)); });
  for (int i = 0; i < 2; ++i) expect_same_bits(f(tn::ones({5})), tn::exp(tn::ones({5})));
  expect_described(f,
                   "  reversed | face_plugin face_plugin.reversed | "
                   "[5] float32 -> [5] float32 | not deterministic\n");
  expect_described(f,
                   "  bits: those of an eager call, on any number of threads, but for 1 steps "
                   "that are not deterministic and 0 that round otherwise\n");
}

}  // namespace
