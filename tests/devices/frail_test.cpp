// A device that fails for good at any call of a training step: the error names it, the others go
// on, what it holds goes back, and plugins shut down.
#include <dlfcn.h>

#include <optional>

#include "ops_support.h"
#include "plugin_folder.h"

namespace {

constexpr int32_t kTypes = 8, kDevices = 64;

struct Frail : testing::Test {
  static void SetUpTestSuite() {
    load_all();
    static tn::testing::Folder folder;
    const std::string library = folder.place("frail").string();
    tn::check(tn::detail::api.plugin->load(library.c_str()));
    handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(handle, nullptr);
  }
  template <typename F>
  static F* function(const char* name) {
    return reinterpret_cast<F*>(::dlsym(handle, name));
  }
  static void fail_from(int32_t type, int32_t index, int64_t n) {
    function<void(int32_t, int32_t, int64_t)>("frail_fail_from")(type, index, n);
  }
  static int64_t calls(int32_t type, int32_t index) {
    return function<int64_t(int32_t, int32_t)>("frail_calls")(type, index);
  }
  static int64_t live(int32_t type, int32_t index) {
    return function<int64_t(int32_t, int32_t)>("frail_live")(type, index);
  }
  static tn::Device device(int32_t type, int32_t index) {
    return tn::Device("frail" + std::to_string(type) + ":" + std::to_string(index));
  }
  static inline void* handle = nullptr;
};

double train(tn::Device d) {
  tn::manual_seed(3);
  tn::Object model = tn::nn::Sequential(tn::nn::Linear(3, 5), tn::nn::ReLU(), tn::nn::Linear(5, 2));
  model.to(d);
  auto optimizer = tn::optim::SGD(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  Tensor x = sample({4, 3}).to(tn::float32).to(d);
  Tensor target = Tensor::from(std::vector<int64_t>{0, 1, 1, 0}, -1, d);
  std::optional<tn::Stream> side;
  std::optional<tn::StreamGuard> guard;
  if (d.type() != "cpu") side.emplace(d);
  Tensor loss = tn::cross_entropy(model(x), target);
  loss.backward();
  if (side) guard.emplace(*side);
  optimizer.step();
  return loss.item<double>();
}

TEST_F(Frail, FailsAtEachCallOfATrainingStepAndNothingElseDoes) {
  const double expected = train(tn::cpu);
  fail_from(0, 0, 0);
  EXPECT_NEAR(train(device(0, 0)), expected, 1e-6);
  const int64_t all = calls(0, 0);
  ASSERT_GT(all, 30);
  // A device is lost each time. Under sanitizers nothing is cached, and there are more calls than
  // devices: some are left out.
  const int64_t step = all / ((kTypes - 1) * kDevices - 1) + 1;
  int lost = 0, tried = 0, told = 0;
  for (int64_t n = 1; n <= all; n += step) {
    ++tried;
    const auto type = static_cast<int32_t>(tried / kDevices),
               index = static_cast<int32_t>(tried % kDevices);
    const tn::Device d = device(type, index);
    SCOPED_TRACE(n);
    fail_from(type, index, n);
    std::string text;
    try {
      train(d);
    } catch (const tn::Error& e) {
      text = e.what();
    }
    if (text.empty()) {
      // Nobody was there to be told, at the stream's end; or the step asked for events less often
      // this time: how often it does depends on how soon the work is done.
      fail_from(type, index, 1);
    } else {
      ++told;
      EXPECT_NE(text.find("the bus is gone"), std::string::npos) << text;
    }
    // From now on each use is refused by name, with the first error.
    try {
      tn::ones({2}, tn::float32, d).to_vector<float>();
      FAIL() << "a lost device computed";
    } catch (const tn::Error& e) {
      const std::string refused = e.what();
      EXPECT_NE(refused.find(d.name() + " is lost: "), std::string::npos) << refused;
      EXPECT_NE(refused.find("the bus is gone"), std::string::npos) << refused;
      ++lost;
    }
    d.empty_cache();
    EXPECT_EQ(d.memory_stats().allocated, 0u);
    EXPECT_EQ(live(type, index), 0);
    if (tried % 16 == 0) {
      const tn::Device other = device(kTypes - 1, static_cast<int32_t>(tried / 16 % kDevices));
      EXPECT_NEAR(train(other), expected, 1e-6);
      EXPECT_NEAR(train(tn::cpu), expected, 1e-6);
    }
  }
  EXPECT_EQ(lost, tried);
  EXPECT_GT(told, 25);  // a step has more calls that do not depend on that
  tn_status* status = tn::detail::api.plugin->shutdown();
  EXPECT_EQ(status, nullptr) << tn::host()->status_message(status);
}

}  // namespace
