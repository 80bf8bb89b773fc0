// Training in mixed precision on the device `cuda`: as on `cpu`, in bfloat16 and in float16, with a
// GradScaler that decides on the device whether a step is passed over.
#include <cmath>

#include "fake_launches.h"
#include "ops_support.h"

namespace {

const char* const kCuda = "cuda:0";

struct CudaAmp : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

// A small network with everything that a training loop has around it.
struct Training {
  tn::Device device;
  tn::Dtype lower;
  tn::Object model = tn::nn::Sequential(
      tn::nn::Conv2d(1, 4, 3, {.padding = 1}), tn::nn::BatchNorm2d(4), tn::nn::ReLU(),
      tn::nn::MaxPool2d(2), tn::nn::Flatten(), tn::nn::Linear(64, 16), tn::nn::GELU(),
      tn::nn::LayerNorm(16), tn::nn::Dropout(0.1), tn::nn::Linear(16, 3));
  tn::Object optimizer;
  tn::GradScaler scaler{{.init_scale = 1024}};
  Tensor x, target;

  Training(tn::Device d, tn::Dtype dtype) : device(d), lower(dtype) {
    model.to(device);
    optimizer = tn::optim::AdamW(model.parameters(), {.lr = 0.01});
    x = sample({12, 1, 8, 8}).to(tn::float32).to(device);
    target = (tn::arange(0, 12) % 3).to(device);
  }
  Tensor step(double factor = 1) {
    optimizer.zero_grad();
    Tensor loss;
    {
      tn::Autocast guard(device, lower);
      loss = tn::cross_entropy(model(x), target) * factor;
    }
    scaler.scale(loss).backward();
    scaler.unscale_(optimizer);
    tn::optim::clip_grad_norm_(model.parameters(), 1.0);
    scaler.step(optimizer);
    scaler.update();
    return loss.detach();
  }
};

// From the same numbers: the seed decides them on every device.
Training training(tn::Device device, tn::Dtype lower) {
  tn::manual_seed(3);
  return Training(device, lower);
}

TEST_F(CudaAmp, TrainsAsOnCpu) {
  for (const tn::Dtype lower : {tn::bfloat16, tn::float16}) {
    SCOPED_TRACE(lower.name());
    const auto losses = [&](tn::Device device) {
      Training t = training(device, lower);
      std::vector<double> list;
      for (int i = 0; i < 12; ++i) list.push_back(t.step().item<double>());
      EXPECT_EQ(t.scaler.state().good_steps, 12);
      return list;
    };
    const std::vector<double> here = losses(tn::cpu), there = losses(kCuda);
    for (size_t i = 0; i < here.size(); ++i)
      EXPECT_NEAR(there[i], here[i], lower == tn::float16 ? 0.005 : 0.02) << i;
    EXPECT_LT(there.back(), 0.7 * there.front());
  }
}

TEST_F(CudaAmp, PassesAStepOverOnTheDevice) {
  Training t = training(kCuda, tn::float16);
  t.step();
  std::vector<std::vector<float>> before;
  for (const Tensor& p : t.model.parameters()) before.push_back(p.to_vector<float>());
  t.step(INFINITY);
  size_t i = 0;
  for (const Tensor& p : t.model.parameters()) EXPECT_EQ(p.to_vector<float>(), before[i++]);
  EXPECT_EQ(t.scaler.state(), (tn::GradScaler::State{512, 0}));
}

// From the gradients to the new scale, nothing waits for the device, and the work on lists is a few
// launches, however many parameters there are.
TEST_F(CudaAmp, WaitsForNothingInAStep) {
  Training t = training(kCuda, tn::bfloat16);
  t.step();
  const auto lines = fake_trace([&] { t.step(); });
  if (!lines) GTEST_SKIP() << "not the driver of the tests";
  const auto count = [&](const char* line) { return std::ranges::count(*lines, line); };
  for (const std::string& line : *lines) EXPECT_FALSE(line.starts_with("wait")) << line;
  for (const char* kernel : {"launch unscale_chunks", "launch fold_chunks", "launch scale_chunks",
                             "launch step", "launch next_scale"})
    EXPECT_EQ(count(kernel), 1) << kernel;
}

// In each dtype that a scale may have, against `cpu`, which goes by the meaning.
TEST_F(CudaAmp, FindsTheNextScale) {
  for (const tn::Dtype dtype : {tn::float32, tn::float64, tn::float16}) {
    for (const double found : {0.0, 1.0}) {
      for (const int64_t good : {0, 2}) {
        for (const double start : {8.0, 65504.0, 3e38}) {
          SCOPED_TRACE(std::string(dtype.name()) + " " + std::to_string(start));
          const auto next = [&](tn::Device d) {
            const Tensor scale = tn::full({1}, start, tn::float64, d).to(dtype);
            const Tensor count = tn::full({}, good, tn::int64, d);
            tn::update_scale_(scale, count, tn::full({1}, found, tn::float32, d),
                              {.growth_factor = 4, .backoff_factor = 0.25, .growth_interval = 3});
            return std::pair{scale.item<double>(), count.item<int64_t>()};
          };
          EXPECT_EQ(next(kCuda), next(tn::cpu));
        }
      }
    }
  }
}

}  // namespace
