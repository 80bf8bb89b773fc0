// Whole trainings of small networks, compiled and eager side by side: the same losses, gradients,
// parameters, running values and states of optimizers, bit for bit, with batches of another size,
// an evaluation and a checkpoint in between. On streams that are slow (compile_models_test_slow)
// there are fewer steps.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <tuple>

#include "compile_support.h"
#include "resnet_model.h"

namespace {

namespace nn = tn::nn;

// ---- Models and their batches

// An LSTM as the book has it: a step of time is a call of the cell.
struct Lstm : tn::Module {
  Lstm(int64_t in, int64_t width) : width_(width) {
    gates = child("gates", nn::Linear(in + width, 4 * width));
    head = child("head", nn::Linear(width, 4));
  }
  Tensor forward(Tensor x) {  // [n, t, in]
    Tensor h = tn::zeros({x.size(0), width_}, {}, x.device()), c = tn::zeros_like(h);
    for (int64_t t = 0; t < x.size(1); ++t) {
      std::vector<Tensor> g = tn::split(gates(tn::cat({tn::select(x, 1, t), h}, 1)), width_, 1);
      c = tn::sigmoid(g[0]) * c + tn::sigmoid(g[1]) * tn::tanh(g[2]);
      h = tn::sigmoid(g[3]) * tn::tanh(c);
    }
    return head(h);
  }
  int64_t width_;
  tn::Object gates, head;
};

struct Model {
  const char* name;
  std::function<tn::Object()> make;
  std::vector<int64_t> item;  // sizes of one; of a text, so many indices
  int64_t classes;
  bool of_text;
  int64_t rows;
  int steps;
};
// clang-format off
std::vector<Model> models() {
  return {
      {"mlp",
       [] {
         return nn::Sequential(nn::Linear(12, 16), nn::ReLU(), nn::Dropout(0.2), nn::Linear(16, 4));
       },
       {12}, 4, false, 8, 200},
      {"resnet",
       [] { return tn::Object(tn::make<resnet_model::ResNet18>(2)); },
       {3, 16, 16}, 10, false, 4, 12},
      {"gpt",
       [] {
         const auto block = [] {
           return nn::TransformerEncoderLayer(16, 2,
                                              {.dim_feedforward = 32,
                                               .dropout = 0.1,
                                               .activation = "gelu",
                                               .batch_first = true,
                                               .norm_first = true,
                                               .is_causal = true});
         };
         return nn::Sequential(nn::Embedding(11, 16), nn::PositionalEmbedding(6, 16), block(),
                               block(), nn::LayerNorm(16), nn::Linear(16, 11),
                               nn::Flatten({.start_dim = 0, .end_dim = 1}));
       },
       {6}, 11, true, 4, 60},
      {"lstm", [] { return tn::Object(tn::make<Lstm>(5, 8)); }, {6, 5}, 4, false, 4, 200},
  };
}
// clang-format on

// ---- Ways to train

enum class Way { kSgd, kAdam, kAdamWSchedule, kBfloat16, kScaledFloat16, kAccumulated };
const char* const kWayNames[] = {"sgd",      "adam",           "adamw_schedule",
                                 "bfloat16", "float16_scaled", "accumulated"};

struct Training {
  Way way;
  tn::Object model;
  tn::optim::Optimizer optimizer;
  tn::GradScaler scaler{{.init_scale = 0x1p10, .growth_interval = 3}};

  Training(const Model& of, Way w, tn::Device d) : way(w), model(of.make()) {
    model.to(d);
    const auto parameters = model.parameters();
    if (way == Way::kAdam) {
      optimizer = tn::optim::Adam(parameters, {.lr = 0.01});
    } else if (way == Way::kAdamWSchedule) {
      optimizer = tn::optim::AdamW(parameters, {.lr = 0.01});
    } else {
      optimizer = tn::optim::SGD(parameters, {.lr = 0.05, .momentum = 0.9});
    }
  }

  Tensor loss_of(const Tensor& x, const Tensor& target, const Tensor& factor) {
    std::optional<tn::Autocast> scope;
    if (way == Way::kBfloat16) scope.emplace(x.device(), tn::bfloat16);
    if (way == Way::kScaledFloat16) scope.emplace(x.device(), tn::float16);
    return tn::cross_entropy(model(x), target) * factor;
  }
  // Forward, backward, and but for accumulation the update. An infinite factor makes a scaler skip.
  Tensor step(const Tensor& x, const Tensor& target, const Tensor& factor) {
    Tensor loss = loss_of(x, target, factor);
    const bool scales = way == Way::kScaledFloat16;
    if (way != Way::kAccumulated) optimizer.zero_grad();
    (scales ? scaler.scale(loss) : loss).backward();
    if (way != Way::kAccumulated) update();
    return loss.detach();
  }
  void update() {
    const bool scales = way == Way::kScaledFloat16;
    if (scales) scaler.unscale_(optimizer);
    tn::optim::clip_grad_norm_(model.parameters(), 0.5);
    if (!scales) return optimizer.step();
    scaler.step(optimizer);
    scaler.update();
  }
};

// What of a run is to be the same.
tn::NamedTensors state_of(const Training& run) {
  tn::NamedTensors all = run.model.state_dict();
  for (auto& entry : run.optimizer.state_dict()) all.push_back(std::move(entry));
  for (const Tensor& parameter : run.model.parameters()) {
    if (Tensor grad = parameter.grad(); grad.defined()) all.emplace_back("gradient", grad);
  }
  return all;
}

int counted(const std::string& described, const char* format) {
  int n = -1;
  std::sscanf(described.c_str(), format, &n);
  return n;
}

class CompiledModels : public ::testing::TestWithParam<std::tuple<std::string, size_t, Way>> {
 protected:
  void SetUp() override {
    load_all();
    d = tn::Device(std::get<0>(GetParam()));
    model = models()[std::get<1>(GetParam())];
    way = std::get<2>(GetParam());
    const bool slow = std::getenv("TENON_REF_SLOW_US") != nullptr;
    const bool small = model.name == std::string("mlp");
    if (!d.is_cpu() && (slow || !small)) model.steps = std::min(model.steps, slow ? 12 : 24);
  }
  Tensor batch(int64_t n, int i) const {
    std::vector<int64_t> sizes{n};
    sizes.insert(sizes.end(), model.item.begin(), model.item.end());
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    if (model.of_text) return (tn::arange(0, count) * (i + 3) % 11).view(sizes).to(d);
    return (tn::arange(0, count).to(tn::float32) * (0.37 + 0.01 * i)).sin().view(sizes).to(d);
  }
  Tensor target(int64_t n, int i) const {
    const int64_t rows = model.of_text ? n * model.item[0] : n;
    return (tn::arange(0, rows) * (i + 1) % model.classes).to(d);
  }
  // Saves it, spoils it, and loads what was saved.
  void through_a_file(Training& run) const {
    const std::string file = ::testing::TempDir() + "compile_models_" + std::to_string(::getpid());
    const auto go = [&](const tn::Object& object) {
      tn::save(object.state_dict(), file);
      tn::NoGrad no_grad;
      for (auto& [name, tensor] : object.state_dict()) tensor.zero_();
      object.load_state_dict(tn::load(file));
    };
    go(run.model);
    go(run.optimizer);
    std::filesystem::remove(file);
  }
  void evaluate(Training& run, int i) const {
    run.model.eval();
    const tn::NoGrad no_grad;
    run.model(batch(3, i));
    run.model.train();
  }
  void expect_same_state(const Training& a, const Training& b) const {
    const auto x = state_of(a), y = state_of(b);
    ASSERT_EQ(x.size(), y.size());
    for (size_t k = 0; k < x.size(); ++k) expect_same_bits(y[k].second, x[k].second);
    EXPECT_EQ(a.scaler.state(), b.scaler.state());
  }
  tn::Device d{};
  Model model;
  Way way{};
};
INSTANTIATE_TEST_SUITE_P(
    All, CompiledModels,
    ::testing::Combine(::testing::Values("cpu", second_device()),
                       ::testing::Range(size_t{0}, size_t{4}),
                       ::testing::Values(Way::kSgd, Way::kAdam, Way::kAdamWSchedule, Way::kBfloat16,
                                         Way::kScaledFloat16, Way::kAccumulated)),
    [](const auto& info) {
      return std::get<0>(info.param) + "_" + models()[std::get<1>(info.param)].name + "_" +
             kWayNames[static_cast<int>(std::get<2>(info.param))];
    });

TEST_P(CompiledModels, TrainAsEagerOnes) {
  tn::manual_seed(3);
  Training eager(model, way, d);
  tn::manual_seed(3);
  Training compiled(model, way, d);
  auto step =
      tn::compile([&](Tensor x, Tensor t, Tensor factor) { return compiled.step(x, t, factor); });
  auto update = tn::compile([&] { compiled.update(); });
  const bool accumulates = way == Way::kAccumulated;
  const auto schedule = tn::optim::Warmup(4, tn::optim::CosineAnnealingLR(model.steps - 4, 1e-4));

  for (int i = 0; i < model.steps; ++i) {
    const int64_t n = i / 4 % 3 == 2 ? model.rows / 2 : model.rows;  // a part of the groups of 4
    const Tensor x = batch(n, i), t = target(n, i);
    const bool overflows = way == Way::kScaledFloat16 && i % 5 == 3;
    const Tensor factor = tn::full({},
                                   overflows     ? INFINITY
                                   : accumulates ? 0.25
                                                 : 1.0,
                                   tn::float32, d);
    if (i % 7 == 4) evaluate(eager, i), evaluate(compiled, i);
    if (i == model.steps / 2) through_a_file(eager), through_a_file(compiled);
    if (way == Way::kAdamWSchedule) {
      for (Training* run : {&eager, &compiled})
        tn::optim::Scheduler(run->optimizer, schedule).go_to(i);
    }
    const Tensor before = compiled.model.parameters()[0].clone();
    const tn::RandomState random = tn::random_state();
    const Tensor expected = eager.step(x, t, factor);
    const tn::RandomState after = tn::random_state();
    tn::set_random_state(random);
    expect_same_bits(step(x, t, factor), expected);
    EXPECT_EQ(tn::random_state(), after);
    if (overflows) expect_same_bits(compiled.model.parameters()[0], before);  // it was passed over
    if (accumulates && i % 4 == 3) {
      eager.update();
      update();
      eager.optimizer.zero_grad();
      compiled.optimizer.zero_grad();
    }
    if (i % 10 == 9 || i + 1 == model.steps) expect_same_state(eager, compiled);
    if (HasFatalFailure() || HasNonfatalFailure()) FAIL() << "at step " << i << step.describe();
  }
  // Two sizes of batch; the first call makes what stays, a checkpoint may be another recording, and
  // accumulation finds gradients or none.
  const std::string said = step.describe();
  const int recordings = counted(said, "%d recordings"), replays = model.steps - recordings;
  EXPECT_LE(recordings, 6) << said;
  EXPECT_EQ(counted(said, "%*d recordings, %d replays"), replays) << said;
  EXPECT_LE(counted(update.describe(), "%d recordings"), accumulates ? 3 : 0) << update.describe();
}

}  // namespace
