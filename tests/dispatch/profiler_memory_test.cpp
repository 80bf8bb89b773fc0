// tn::Profiler's memory: what is alive, who made it, and the peak by layer. Sizes are those that the
// definitions of the layers give.
#include <fstream>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>
#include <tenon/checkpoint_call.hpp>
#include <tenon/profiler.hpp>

#include "ops_support.h"

namespace {

using Json = nlohmann::json;
namespace nn = tn::nn;
using MemoryRow = tn::Profiler::MemoryRow;

struct ProfilerMemory : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

uint64_t allocated() { return tn::cpu.memory_stats().allocated; }
std::string text_of(const std::vector<MemoryRow>& rows) {
  std::string text;
  for (const MemoryRow& r : rows)
    text += r.op + " | " + r.layer + " | " + r.tensor + " | " + std::to_string(r.count) + " | " +
            std::to_string(r.bytes) + "\n";
  return text;
}

constexpr uint64_t kHidden = 128 * 256 * 4, kOut = 128 * 16 * 4;

// Linear(64, 256), ReLU, Linear(256, 16) on 128 items, without gradients. The most is there when ReLU has
// its input and its result.
struct Inference {
  tn::Object model = nn::Sequential(nn::Linear(64, 256), nn::ReLU(), nn::Linear(256, 16));
  Tensor x = tn::randn({128, 64}), y;
  tn::Profiler profiler;
  uint64_t before = 0;

  explicit Inference(bool named = true) : profiler({.memory = true}, named ? model : tn::Object()) {
    const tn::NoGrad guard;
    before = allocated();
    profiler.start();
    y = model.invoke<Tensor>("forward", x);
    profiler.stop();
  }
};

TEST_F(ProfilerMemory, SaysWhoMadeWhatIsAliveAtThePeakAndAtTheEnd) {
  const Inference run;
  EXPECT_EQ(run.profiler.peak_bytes(), run.before + 2 * kHidden);
  EXPECT_EQ(text_of(run.profiler.alive_at_peak()),
            "linear | 0 (Linear) | [128, 256] float32 | 1 | 131072\n"
            "relu | 1 (ReLU) | [128, 256] float32 | 1 | 131072\n");
  EXPECT_EQ(text_of(run.profiler.alive_at_end()),
            "linear | 2 (Linear) | [128, 16] float32 | 1 | 8192\n");
  const auto layers = run.profiler.layers();
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0].layer, "0 (Linear)");
  EXPECT_EQ(layers[0].peak_bytes, kHidden);
  EXPECT_EQ(layers[0].at_peak_bytes, kHidden);
  EXPECT_EQ(layers[0].at_end_bytes, 0u);
  EXPECT_EQ(layers[1].layer, "1 (ReLU)");
  EXPECT_EQ(layers[2].layer, "2 (Linear)");
  EXPECT_EQ(layers[2].peak_bytes, kOut);
  EXPECT_EQ(layers[2].at_peak_bytes, 0u);
  EXPECT_EQ(layers[2].at_end_bytes, kOut);
}

TEST_F(ProfilerMemory, LayersWithoutAModelHaveTheirTypes) {
  const Inference run(/*named=*/false);
  ASSERT_EQ(run.profiler.layers().size(), 2u);
  EXPECT_EQ(run.profiler.layers()[0].layer, "Linear");
  EXPECT_EQ(run.profiler.layers()[0].peak_bytes, kHidden);
  EXPECT_EQ(run.profiler.layers()[0].at_end_bytes, kOut);
}

TEST_F(ProfilerMemory, TheModelIsAfterwardsAsItWas) {
  Inference run;
  auto compiled = tn::compile([&](Tensor x) {
    const tn::NoGrad guard;
    return run.model.invoke<Tensor>("forward", x);
  });
  compiled(run.x);
  compiled(run.x);
  EXPECT_EQ(compiled.describe().find("hook"), std::string::npos) << compiled.describe();
}

TEST_F(ProfilerMemory, GradientsAndStatesStay) {
  const auto model = nn::Sequential(nn::Linear(64, 256), nn::ReLU(), nn::Linear(256, 16));
  uint64_t parameters = 0;
  for (const Tensor& p : model.parameters()) parameters += 4 * static_cast<uint64_t>(p.numel());
  const auto optimizer = tn::optim::SGD(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  const Tensor x = tn::randn({128, 64});
  tn::Profiler profiler({.memory = true}, model);
  profiler.start();
  for (int step = 0; step < 2; ++step) {
    model.invoke<Tensor>("forward", x).sum().backward();
    optimizer.step();
  }
  profiler.stop();
  uint64_t gradients = 0, states = 0, others = 0;
  for (const MemoryRow& row : profiler.alive_at_end())
    (row.layer == "SGD" ? states : row.op.ends_with(" backward") ? gradients : others) += row.bytes;
  EXPECT_EQ(gradients, parameters) << text_of(profiler.alive_at_end());
  EXPECT_EQ(states, parameters) << text_of(profiler.alive_at_end());
  EXPECT_EQ(others, 0u) << text_of(profiler.alive_at_end());
}

uint64_t at_end(const tn::Profiler& profiler, const std::string& layer) {
  for (const auto& row : profiler.layers()) {
    if (row.layer == layer) return row.at_end_bytes;
  }
  return UINT64_MAX;
}
// The layers of nodes, each once, in the order in which they ran.
std::string node_layers(const tn::Profiler& profiler) {
  std::string text;
  for (const auto& event : profiler.events()) {
    if (event.kind == tn::Profiler::Kind::node) text += event.name + ": " + event.layer + "\n";
  }
  return text;
}

TEST_F(ProfilerMemory, WhatBackwardMakesIsOfTheLayerWhoseForwardItIs) {
  const auto model = nn::Sequential(nn::Linear(64, 256), nn::Tanh(), nn::Linear(256, 16));
  const Tensor x = tn::randn({128, 64});
  tn::Profiler profiler({.memory = true}, model);
  profiler.start();
  model.invoke<Tensor>("forward", x).sum().backward();
  profiler.stop();
  EXPECT_EQ(node_layers(profiler),
            "sum backward: \nlinear backward: 2 (Linear) backward\ntanh backward: 1 (Tanh) "
            "backward\nlinear backward: 0 (Linear) backward\n");
  EXPECT_EQ(at_end(profiler, "0 (Linear) backward"), 4u * (64 * 256 + 256));
  EXPECT_EQ(at_end(profiler, "2 (Linear) backward"), 4u * (256 * 16 + 16));
  EXPECT_EQ(at_end(profiler, "0 (Linear)"), 0u);
  EXPECT_NE(profiler.table().find("2 (Linear) backward"), std::string::npos);
}

// A forward of its own around a layer that is there twice, on a tensor with a history.
struct Around : tn::Module {
  tn::Object inner = child("inner", nn::Linear(4, 4));
  tn::Object again = child("again", inner);
  Tensor forward(Tensor x) { return (again(inner(x * 2).tanh()) + 1).exp(); }
};

TEST_F(ProfilerMemory, NodesBetweenLayersAreOfTheOneAround) {
  const auto model = tn::make<Around>();
  const Tensor leaf = tn::ones({2, 4}).requires_grad_();
  const std::string expected =
      "sum backward: \nexp backward: Around backward\nadd backward: Around backward\n"
      "linear backward: inner (Linear) backward\ntanh backward: Around backward\n"
      "linear backward: inner (Linear) backward\nmul backward: Around backward\n"
      "neg backward: \n";
  tn::Profiler profiler({.memory = true}, model);
  for (int i = 0; i < 2; ++i) {
    profiler.start();
    const Tensor loss = model(-leaf).sum();
    loss.backward({}, /*retain_graph=*/true);
    profiler.stop();
    EXPECT_EQ(node_layers(profiler), expected);
    // A graph lives longer, and is walked without a profiler and in the next run.
    loss.backward({}, /*retain_graph=*/true);
    profiler.start();
    loss.backward();
    profiler.stop();
    EXPECT_EQ(node_layers(profiler), expected);
  }
}

// Nodes that a checkpointed call makes in backward.
TEST_F(ProfilerMemory, WhatIsComputedAgainIsOfItsLayersToo) {
  const auto model = nn::Sequential(nn::Linear(4, 4), nn::Tanh());
  tn::Profiler profiler({.memory = true}, model);
  profiler.start();
  tn::checkpoint_call(model, tn::ones({2, 4}).requires_grad_()).sum().backward();
  profiler.stop();
  const std::string nodes = node_layers(profiler);
  EXPECT_NE(nodes.find("tanh backward: 1 (Tanh) backward\n"), std::string::npos) << nodes;
  EXPECT_NE(nodes.find("linear backward: 0 (Linear) backward\n"), std::string::npos) << nodes;
}

TEST_F(ProfilerMemory, WhatIsWrittenInPlaceIsNotNew) {
  const Tensor x = tn::zeros({1000}), y = tn::ones({1000});
  tn::Profiler profiler({.memory = true});
  profiler.start();
  x.add_(y);
  x.mul_(2);
  x.fill_(3);
  x.view({10, 100}).relu_();
  profiler.stop();
  EXPECT_EQ(text_of(profiler.alive_at_end()), "");
}

// A kernel that looks for the packed form of a changed weight drops it, and the profiler's mark with it.
TEST_F(ProfilerMemory, AChangedWeightIsStillAlive) {
  const tn::NoGrad guard;
  const Tensor x = tn::randn({64, 128});
  tn::Profiler profiler({.memory = true});
  profiler.start();
  const Tensor weight = tn::ones({128, 128});
  for (int i = 0; i < 3; ++i) {
    tn::linear(x, weight);
    weight.mul_(2);
  }
  profiler.stop();
  EXPECT_EQ(text_of(profiler.alive_at_end()), "ones |  | [128, 128] float32 | 1 | 65536\n");
}

TEST_F(ProfilerMemory, AFreeOnAnotherThreadIsSeen) {
  tn::Profiler profiler({.memory = true});
  profiler.start();
  Tensor kept = tn::ones({10}), moved = tn::ones({1000});
  std::thread([held = std::move(moved)]() mutable { held = Tensor(); }).join();
  profiler.stop();
  EXPECT_EQ(text_of(profiler.alive_at_end()), "ones |  | [10] float32 | 1 | 40\n");
  kept = Tensor();  // afterwards nobody looks
  EXPECT_EQ(profiler.alive_at_end().size(), 1u);
  EXPECT_EQ(profiler.allocations().size(), 2u);
}

TEST_F(ProfilerMemory, OfDevicesToo) {
  const Tensor x = tn::randn({32, 32}).to("ref");
  tn::Profiler profiler({.memory = true, .synchronize = true});
  profiler.start();
  const Tensor y = tn::matmul(x, x);
  profiler.stop();
  // As the kernel gets it: a batch of one.
  EXPECT_EQ(text_of(profiler.alive_at_end()), "matmul |  | [1, 32, 32] float32 | 1 | 4096\n");
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_F(ProfilerMemory, IsInTheTableTheTraceAndThePage) {
  const Inference run;
  const std::string table = run.profiler.table();
  for (const char* part : {"memory: at most ", " is from before the start or of no launch",
                           "alive at the peak", "alive at the end", "made in layer", "1 (ReLU)"})
    EXPECT_NE(table.find(part), std::string::npos) << part << "\n" << table;
  uint64_t peak = 0;
  const Json trace = Json::parse(run.profiler.trace_json());
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "C") continue;
    EXPECT_EQ(event["name"], "memory");
    peak = std::max(peak, event["args"]["allocated"].get<uint64_t>());
  }
  EXPECT_EQ(peak, run.profiler.peak_bytes());
  const std::string path =
      testing::TempDir() + "/profiler_memory." + std::to_string(getpid()) + ".html";
  run.profiler.save_html(path);
  const std::string page = contents(path);
  EXPECT_NE(page.find(R"x("at_end":[["linear","2 (Linear)",1,8192,"[128, 16] float32"]])x"),
            std::string::npos);
  std::remove(path.c_str());
}

}  // namespace
