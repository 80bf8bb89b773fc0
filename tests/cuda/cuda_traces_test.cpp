// What one training step launches, copies and waits for on the device `cuda`, eagerly and compiled:
// tests/cuda/golden/traces.txt, which TENON_UPDATE_GOLDEN=1 writes anew. Whatever stands there, an eager
// step waits for nothing, and a compiled one is a single launch of a graph, and a copy for each argument,
// for the numbers that change, and for the result.
#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

#include "fake_launches.h"
#include "ops_support.h"
#include "resnet_model.h"

namespace {

namespace nn = tn::nn;

// ---- What the driver is told to do

// A line a kind, with how often it came.
using Trace = std::map<std::string, int>;

Trace trace_of(const std::function<void()>& work) {
  const auto lines = fake_trace(work);
  Trace trace;
  for (const std::string& line : lines.value()) ++trace[line];
  return trace;
}

int count(const Trace& trace, const std::string& beginning) {
  int n = 0;
  for (const auto& [line, times] : trace) n += line.starts_with(beginning) ? times : 0;
  return n;
}

std::string text_of(const std::string& title, const Trace& trace) {
  std::ostringstream text;
  text << title << ": " << count(trace, "launch ") << " launches, " << count(trace, "copy ")
       << " copies, " << count(trace, "wait ") << " waits\n";
  for (const auto& [line, times] : trace) text << "  " << times << " " << line << "\n";
  return text.str();
}

// ---- Models

tn::Object perceptron() {
  return nn::Sequential(nn::Linear(12, 16), nn::ReLU(), nn::Dropout(0.2), nn::Linear(16, 4));
}

tn::Object gpt() {
  const auto block = [] {
    return nn::TransformerEncoderLayer(16, 2,
                                       {.dim_feedforward = 32,
                                        .dropout = 0.1,
                                        .activation = "gelu",
                                        .batch_first = true,
                                        .norm_first = true,
                                        .is_causal = true});
  };
  return nn::Sequential(nn::Embedding(11, 16), nn::PositionalEmbedding(6, 16), block(), block(),
                        nn::LayerNorm(16), nn::Linear(16, 11),
                        nn::Flatten({.start_dim = 0, .end_dim = 1}));
}

struct Model {
  const char* name;
  std::function<tn::Object()> make;
  std::function<tn::optim::Optimizer(const tn::Tensors&)> optimizer;
  std::function<Tensor()> batch;
  int64_t targets, classes;
  bool is_scaled = false;  // float16, with a scaler, and the norm of gradients clipped
};

Tensor loss_of(const Model& model, const tn::Object& network, Tensor x, Tensor target) {
  std::optional<tn::Autocast> scope;
  if (model.is_scaled) scope.emplace(x.device(), tn::float16);
  return tn::cross_entropy(network(x), target);
}

std::vector<Model> models() {
  const auto sgd = [](const tn::Tensors& p) -> tn::optim::Optimizer {
    return tn::optim::SGD(p, {.lr = 0.1, .momentum = 0.9});
  };
  const auto adamw = [](const tn::Tensors& p) -> tn::optim::Optimizer {
    return tn::optim::AdamW(p, {.lr = 0.01});
  };
  const auto numbers = [](std::vector<int64_t> sizes) {
    int64_t n = 1;
    for (const int64_t size : sizes) n *= size;
    return tn::sin(tn::arange(0, n).to(tn::float32)).view(sizes);
  };
  return {
      {"MLP, SGD", perceptron, sgd,
       [=] {
         return numbers({8, 12});
       },
       8, 4},
      {"MLP in float16, AdamW", perceptron, adamw,
       [=] {
         return numbers({8, 12});
       },
       8, 4, true},
      {"ResNet-18 of 2 to 16 channels, SGD",
       [] { return tn::Object(tn::make<resnet_model::ResNet18>(2)); }, sgd,
       [=] {
         return numbers({2, 3, 16, 16});
       },
       2, 10},
      {"GPT of 2 blocks, AdamW", gpt, adamw,
       [] {
         return (tn::arange(0, 24) * 3 % 11).view({4, 6});
       },
       24, 11},
  };
}

// ---- The table

struct Traces {
  Trace eager, recorded, captured;
};

Traces traces_of(const Model& model, tn::Device d) {
  Traces traces;
  const Tensor x = model.batch().to(d), t = (tn::arange(0, model.targets) % model.classes).to(d);
  const auto train =
      [&](const std::function<void(const std::function<Tensor(Tensor, Tensor)>&)>& f) {
        tn::manual_seed(3);
        const tn::Object network = model.make();
        network.to(d);
        tn::optim::Optimizer optimizer = model.optimizer(network.parameters());
        tn::GradScaler scaler({.init_scale = 1024});
        f([&](Tensor input, Tensor target) {
          Tensor loss = loss_of(model, network, input, target);
          optimizer.zero_grad();
          if (!model.is_scaled) {
            loss.backward();
            optimizer.step();
            return loss.detach() * 1;
          }
          scaler.scale(loss).backward();
          scaler.unscale_(optimizer);
          tn::optim::clip_grad_norm_(network.parameters(), 1);
          scaler.step(optimizer);
          scaler.update();
          return loss.detach() * 1;
        });
        d.synchronize();
      };
  train([&](const auto& step) {
    for (int i = 0; i < 2; ++i) step(x, t);
    traces.eager = trace_of([&] { step(x, t); });
  });
  train([&](const auto& step) {
    auto compiled = tn::compile(step);
    Trace one;
    for (int i = 0; i < 5; ++i) {
      one = trace_of([&] { compiled(x, t); });
      if (count(one, "record ") > 0) traces.recorded = one;
    }
    traces.captured = one;
  });
  return traces;
}

std::string golden_file() {
  return std::string(std::getenv("TENON_SOURCE_DIR")) + "/tests/cuda/golden/traces.txt";
}

TEST(CudaTraces, OfTrainingStepsAreThoseOfTheTable) {
  load_all();
  const tn::Device d("cuda:0");
  std::string table =
      "# What the third eager step and the fifth call of a compiled one are for the driver; what "
      "its\n"
      "# graph is made of. Written by cuda_traces_test with TENON_UPDATE_GOLDEN=1.\n";
  for (const Model& model : models()) {
    SCOPED_TRACE(model.name);
    const Traces traces = traces_of(model, d);
    EXPECT_EQ(count(traces.eager, "wait "), 0);
    EXPECT_EQ(count(traces.captured, "launch "), 1);
    EXPECT_EQ(count(traces.captured, "launch a graph"), 1);
    EXPECT_EQ(count(traces.captured, "copy on a device"), 3);  // x, t and the loss
    EXPECT_LE(count(traces.captured, "copy host to device"), 1);
    EXPECT_EQ(count(traces.captured, ""), 4 + count(traces.captured, "copy host to device"));
    EXPECT_GT(count(traces.recorded, "record launch "), 10);
    Trace graph;
    for (const auto& [line, times] : traces.recorded) {
      if (line.starts_with("record ")) graph[line.substr(7)] = times;
    }
    table += std::string("\n== ") + model.name + "\n" + text_of("eager", traces.eager) +
             text_of("compiled", traces.captured) + text_of("its graph", graph);
  }
  if (!::dlopen("libcudnn.so.9", RTLD_NOW)) GTEST_SKIP() << "the table is one with cuDNN";
  if (std::getenv("TENON_UPDATE_GOLDEN")) std::ofstream(golden_file()) << table;
  std::ifstream file(golden_file());
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(table, golden)
      << "if that is meant, run this test with TENON_UPDATE_GOLDEN=1, and look at "
         "what changed";
}

}  // namespace
