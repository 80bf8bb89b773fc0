// Policies of mixed precision: what each computes in, that master weights keep what half weights
// lose, and that a training under a policy is saved, resumed and compiled as any other.
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "message_of.h"
#include "second_device.h"
#include "tenon/checkpoint.hpp"
#include "tenon/precision.hpp"
#include "tenon/train.hpp"

#include <gtest/gtest.h>

#include "tenon/tenon.hpp"

namespace tn = tenon;

namespace {

class PrecisionTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { tn::load_plugins(); }
  void SetUp() override { tn::manual_seed(5); }

  static tn::Object network() {
    return tn::nn::Sequential(tn::nn::Linear(4, 16), tn::nn::LayerNorm(16), tn::nn::Tanh(),
                              tn::nn::Linear(16, 2));
  }
  // One weight w, and w * x.
  struct One : tn::Module {
    tn::Tensor w = parameter("w", tn::tensor({1.f}));
    tn::Tensor forward(tn::Tensor x) { return w * x; }
  };
  // Steps of one loop for all policies, each with a gradient of 1; gives w at the end.
  static float weight_after(const char* policy, tn::Dtype lower, int steps, const char* device) {
    const tn::Object model = tn::make<One>();
    model.to(device);
    tn::Precision precision(model, policy, {.lower = lower, .scaler = {.init_scale = 1024}});
    auto optimizer = tn::optim::SGD(model.parameters(), {.lr = 1.0 / 1024});
    const tn::Tensor x = tn::ones({1}, {}, device);
    for (int i = 0; i < steps; ++i) {
      optimizer.zero_grad();
      tn::Tensor loss;
      {
        const auto scope = precision.autocast();
        loss = model(x).mean();
      }
      precision.scaler().scale(loss).backward();
      precision.scaler().step(optimizer);
      precision.scaler().update();
    }
    return model.tensor("w").to(tn::float32).item<float>();
  }
};

TEST_F(PrecisionTest, EachPolicyHasItsDtypes) {
  struct Row {
    const char* policy;
    tn::Dtype weights, product, sum, softmax;
  };
  const tn::Dtype f = tn::float32, h = tn::float16;
  for (const std::string device : {"cpu", second_device()}) {
    for (const Row& row :
         {Row{"O0", f, f, f, f}, {"O1", f, h, f, f}, {"O2", f, h, h, f}, {"O3", h, h, h, h}}) {
      SCOPED_TRACE(device + " " + row.policy);
      const tn::Object model = network();
      model.to(device);
      const tn::Precision precision(model, row.policy, {.lower = h});
      for (const tn::Tensor& p : model.parameters()) EXPECT_EQ(p.dtype(), row.weights);
      EXPECT_EQ(precision.weights(), row.weights);
      const tn::Tensor x = tn::ones({4, 4}, {}, device);
      const auto scope = precision.autocast();
      EXPECT_EQ(tn::matmul(x, x).dtype(), row.product);
      EXPECT_EQ((x + x).dtype(), row.sum);
      EXPECT_EQ(tn::softmax(x, 1).dtype(), row.softmax);
      EXPECT_EQ(model(x).dtype(), row.product);
    }
  }
}

// Float16 needs a scaled loss where its gradients change float32 weights.
TEST_F(PrecisionTest, ScalesWhereFloat16NeedsIt) {
  const auto scales = [](const char* policy, tn::Dtype lower, std::optional<bool> wanted = {}) {
    return tn::Precision(network(), policy, {.lower = lower, .scales = wanted})
        .scaler()
        .is_enabled();
  };
  EXPECT_FALSE(scales("O0", tn::float16));
  EXPECT_TRUE(scales("O1", tn::float16));
  EXPECT_TRUE(scales("O2", tn::float16));
  EXPECT_FALSE(scales("O3", tn::float16));
  EXPECT_FALSE(scales("O2", tn::bfloat16));
  EXPECT_FALSE(scales("O1", {}));  // that of cpu is bfloat16
  EXPECT_TRUE(scales("O3", tn::float16, true));
  EXPECT_FALSE(scales("O2", tn::float16, false));
}

// 256 steps of 1/1024 go from 1 to 3/4 exactly. Between 1/2 and 1 a bfloat16 has steps of 1/256 and
// the number below 1 is nearer to it than half of that, so half weights never leave 1.
TEST_F(PrecisionTest, MasterWeightsKeepSmallUpdates) {
  for (const std::string device : {"cpu", second_device()}) {
    SCOPED_TRACE(device);
    for (const char* policy : {"O0", "O1", "O2"})
      EXPECT_EQ(weight_after(policy, tn::bfloat16, 256, device.c_str()), 0.75f) << policy;
    EXPECT_EQ(weight_after("O2", tn::float16, 256, device.c_str()), 0.75f);
    EXPECT_EQ(weight_after("O3", tn::bfloat16, 256, device.c_str()), 1.f);
  }
}

// Through the trainer, eagerly and compiled: the same losses, and weights that are float32 or not.
TEST_F(PrecisionTest, TrainersTakePolicies) {
  const tn::Tensor x = tn::randn({32, 4});
  const tn::Tensor y = (x.slice(1, 0, 1) > 0).reshape({32}).to(tn::int64);
  for (const char* policy : {"O0", "O1", "O2", "O3"}) {
    SCOPED_TRACE(policy);
    std::vector<float> losses[2];
    for (const bool compile : {false, true}) {
      tn::manual_seed(7);
      const tn::Object model = network();
      const tn::Precision precision(model, policy, {.lower = tn::float16});
      const auto adam = tn::optim::Adam(model.parameters(), {.lr = 0.02, .eps = 1e-4});
      tn::Trainer trainer(model, adam, tn::nn::CrossEntropyLoss(),
                          {.autocast = precision.lower(),
                           .policy = precision.policy(),
                           .scaler = &precision.scaler(),
                           .compile = compile});
      for (int i = 0; i < 40; ++i) losses[compile].push_back(trainer.step(x, y).loss.item<float>());
      EXPECT_EQ(model.parameters()[0].dtype(), precision.weights());
    }
    EXPECT_EQ(losses[0], losses[1]);
    EXPECT_LT(losses[0].back(), 0.3f);
  }
}

// What a checkpoint has of O2 are the master weights and the scaler; a training that goes on from it
// makes the same steps, bit for bit.
TEST_F(PrecisionTest, MasterWeightsAndScalerAreInACheckpoint) {
  const std::string file = ::testing::TempDir() + "precision_test.safetensors";
  const tn::Tensor x = tn::randn({16, 4}), y = tn::randn({16, 2});
  struct Run {
    tn::Object model = network();
    tn::Precision precision{model, "O2", {.lower = tn::float16, .scaler = {.growth_interval = 3}}};
    tn::optim::Optimizer optimizer = tn::optim::AdamW(model.parameters(), {.lr = 1e-3});
    tn::Checkpoint checkpoint{.model = model, .optimizer = optimizer, .scaler = precision.scaler()};

    void step(const tn::Tensor& input, const tn::Tensor& target) {
      optimizer.zero_grad();
      tn::Tensor loss;
      {
        const auto scope = precision.autocast();
        loss = tn::mse_loss(model(input), target);
      }
      precision.scaler().scale(loss).backward();
      precision.scaler().step(optimizer);
      precision.scaler().update();
    }
  };
  Run whole;
  for (int i = 0; i < 5; ++i) whole.step(x, y);
  whole.checkpoint.save(file, 5);
  for (const auto& [name, tensor] : tn::load(file)) {
    if (name.starts_with("model.")) {
      EXPECT_EQ(tensor.dtype(), tn::float32) << name;
    }
  }
  Run resumed;
  EXPECT_EQ(resumed.checkpoint.load(file), 5);
  EXPECT_EQ(resumed.precision.scaler().state(), whole.precision.scaler().state());
  for (int i = 0; i < 4; ++i) {
    whole.step(x, y);
    resumed.step(x, y);
  }
  const auto left = whole.model.parameters(), right = resumed.model.parameters();
  for (size_t i = 0; i < left.size(); ++i)
    EXPECT_EQ(left[i].to_vector<float>(), right[i].to_vector<float>());
  EXPECT_EQ(resumed.precision.scaler().get_scale(), whole.precision.scaler().get_scale());
}

TEST_F(PrecisionTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(message_of([] { tn::Precision(network(), "O"); }),
            "autocast: unknown policy 'O'; did you mean 'O0'?");
  EXPECT_EQ(message_of([] { tn::Precision(network(), "O1", {.lower = tn::float32}); }),
            "autocast: float32 is no lower precision; expected float16 or bfloat16");
  const tn::Object model = network();
  const auto sgd = tn::optim::SGD(model.parameters(), {.lr = 1});
  EXPECT_EQ(
      message_of([&] { tn::Trainer(model, sgd, tn::nn::CrossEntropyLoss(), {.policy = "02"}); }),
      "autocast: unknown policy '02'; did you mean 'O2'?");
}

}  // namespace
