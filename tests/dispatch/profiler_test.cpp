// tn::Profiler: what it sees of a training step, and what it writes. Counts of operations are those of
// the products' definitions.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include <nlohmann/json.hpp>
#include <tenon/profiler.hpp>

#include "ops_support.h"

namespace {

using Json = nlohmann::json;
using Kind = tn::Profiler::Kind;
namespace nn = tn::nn;

struct Profiler : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

// Of a step of Linear(8, 4), ReLU on a batch of 16.
struct Step {
  tn::Object model = nn::Sequential(nn::Linear(8, 4), nn::ReLU());
  tn::optim::Optimizer optimizer = tn::optim::SGD(model.parameters(), {.lr = 0.1});
  Tensor x;

  explicit Step(const char* device = "cpu") {
    model.to(device);
    x = tn::randn({16, 8}, {}, device);
  }
  void operator()() {
    optimizer.zero_grad();
    model.invoke<Tensor>("forward", x).sum().backward();
    optimizer.step();
  }
};

const tn::Profiler::Event* find(const tn::Profiler& profiler, Kind kind, const std::string& name) {
  for (const auto& event : profiler.events()) {
    if (event.kind == kind && event.name == name) return &event;
  }
  return nullptr;
}

TEST_F(Profiler, SeesForwardBackwardAndTheStep) {
  Step step;
  step();
  tn::Profiler profiler;
  profiler.start();
  step();
  profiler.stop();
  tn::ones({2}) + 1;  // nobody sees it
  const auto& events = profiler.events();
  EXPECT_EQ(find(profiler, Kind::call, "ones"), nullptr);
  for (const auto& [kind, name] :
       std::vector<std::pair<Kind, std::string>>{{Kind::method, "Sequential.forward"},
                                                 {Kind::method, "Linear.forward"},
                                                 {Kind::call, "linear"},
                                                 {Kind::launch, "linear"},
                                                 {Kind::call, "relu"},
                                                 {Kind::node, "linear backward"},
                                                 {Kind::node, "relu backward"},
                                                 {Kind::node, "sum backward"},
                                                 {Kind::call, "sgd_step"}})
    EXPECT_NE(find(profiler, kind, name), nullptr) << name;
  for (const auto& event : events) {
    EXPECT_GE(event.end_ns, event.begin_ns);
    if (event.parent < 0) continue;
    const auto& parent = events[static_cast<size_t>(event.parent)];
    EXPECT_LE(parent.begin_ns, event.begin_ns) << event.name;
    EXPECT_GE(parent.end_ns, event.end_ns) << event.name;
  }
  const auto* launch = find(profiler, Kind::launch, "linear");
  ASSERT_NE(launch, nullptr);
  EXPECT_EQ(launch->kernel, "cpu");
  EXPECT_EQ(launch->shapes, "[16, 8] float32, [4, 8] float32, [4] float32");
  EXPECT_EQ(launch->flops, 2 * 16 * 8 * 4);
  EXPECT_EQ(find(profiler, Kind::method, "Sequential.forward")->flops, 2 * 16 * 8 * 4);
  // Backward: the gradient of the weight alone, since x asks for none.
  EXPECT_EQ(find(profiler, Kind::node, "linear backward")->flops, 2 * 16 * 8 * 4);
}

TEST_F(Profiler, TimesOfRowsAddUp) {
  Step step;
  tn::Profiler profiler;
  profiler.start();
  step();
  profiler.stop();
  uint64_t own = 0, count = 0;
  for (const auto& row : profiler.rows(true)) own += row.self_ns, count += row.count;
  EXPECT_EQ(own, profiler.total_ns());
  EXPECT_EQ(count, profiler.events().size());
  const auto rows = profiler.rows();
  for (size_t i = 1; i < rows.size(); ++i) EXPECT_GE(rows[i - 1].self_ns, rows[i].self_ns);
  const std::string table = profiler.table(3, true);
  EXPECT_NE(table.find(rows[0].name), std::string::npos) << table;
  EXPECT_NE(table.find("more rows\nin all "), std::string::npos) << table;
}

TEST_F(Profiler, CountsOperationsOfConvolutionsAndAttention) {
  const Tensor image = tn::randn({2, 3, 8, 8}).requires_grad_(), weight = tn::randn({6, 3, 3, 3});
  const Tensor q = tn::randn({2, 4, 16, 8});
  tn::Profiler profiler;
  profiler.start();
  tn::conv2d(image, weight, tn::Conv2dOptions{.padding = 1}).sum().backward();
  profiler.stop();
  const double conv = 2.0 * 2 * 6 * 8 * 8 * 3 * 3 * 3;
  EXPECT_EQ(find(profiler, Kind::call, "conv2d")->flops, conv);
  // One node where a kernel has the gradient; else one for each part of its meaning.
  double backward = 0;
  for (const auto& event : profiler.events()) {
    if (event.kind == Kind::node && event.name == "conv2d backward") backward += event.flops;
  }
  EXPECT_EQ(backward, conv) << "to the image alone";
  tn::Profiler others;
  others.start();
  tn::scaled_dot_product_attention(q, q, q);
  others.stop();
  EXPECT_EQ(find(others, Kind::call, "scaled_dot_product_attention")->flops,
            4.0 * 2 * 4 * 16 * 16 * 8);
  tn::Profiler products;
  products.start();
  tn::matmul(tn::ones({3, 5}), tn::ones({5, 7}));
  products.stop();
  EXPECT_EQ(find(products, Kind::call, "matmul")->flops, 2 * 3 * 5 * 7);
}

// A layer 5 to 4 with `gates`, forward and backward, of sequences of 6, 4 and 2 steps: padded, or
// packed. The operations of all launches, by kernels for whole layers or step by step.
double recurrent_operations(int gates, tn::Dtype dtype, const char* device, bool packed) {
  const auto leaf = [&](const std::vector<int64_t>& sizes) {
    return tn::randn(sizes).to(device, dtype).detach().requires_grad_();
  };
  const Tensor x = packed ? leaf({12, 5}) : leaf({6, 3, 5});
  const Tensor h = leaf({1, 3, 4}), c = leaf({1, 3, 4});
  const std::vector<Tensor> weights = {leaf({gates * 4, 5}), leaf({gates * 4, 4}),
                                       leaf({gates * 4}), leaf({gates * 4})};
  tn::LstmOptions options;
  if (packed) options.batch_sizes = {3, 3, 2, 2, 1, 1};
  tn::Profiler profiler;
  profiler.start();
  const Tensor y = gates == 4   ? std::get<0>(tn::lstm(x, {h, c}, weights, options))
                   : gates == 3 ? std::get<0>(tn::gru(x, h, weights, options))
                                : std::get<0>(tn::rnn_tanh(x, h, weights, options));
  y.sum().backward();
  profiler.stop();
  double flops = 0;
  for (const auto& event : profiler.events()) {
    if (event.kind == Kind::launch) flops += event.flops;
  }
  return flops;
}

// Forward a product with each weight for each row, backward two.
TEST_F(Profiler, RecurrentLayersComputeNothingForPadding) {
  for (const auto& [dtype, device] :
       {std::pair{tn::float32, "cpu"}, {tn::float64, "cpu"}, {tn::float32, "ref"}}) {
    for (const int gates : {4, 3, 1}) {
      const double of_a_row = 3 * 2 * gates * 4 * (5 + 4);
      const std::string what = std::to_string(gates) + " " + dtype.name() + " " + device;
      EXPECT_EQ(recurrent_operations(gates, dtype, device, false), 18 * of_a_row) << what;
      EXPECT_EQ(recurrent_operations(gates, dtype, device, true), 12 * of_a_row) << what;
    }
  }
}

TEST_F(Profiler, CountsMemory) {
  Tensor kept;
  tn::Profiler profiler({.memory = true});
  profiler.start();
  {
    const tn::Profiler::Range range("outer");
    kept = tn::zeros({1024}) + 1;
  }
  profiler.stop();
  EXPECT_GE(find(profiler, Kind::range, "outer")->bytes, 4096);
  EXPECT_LT(find(profiler, Kind::range, "outer")->bytes, 8192) << "one of two was freed";
  EXPECT_GE(find(profiler, Kind::call, "add")->bytes, 4096);
}

TEST_F(Profiler, WaitsForDevicesWithStreams) {
  Step step("ref");
  tn::Profiler profiler({.memory = true, .synchronize = true});
  profiler.start();
  step();
  profiler.stop();
  EXPECT_EQ(find(profiler, Kind::launch, "matmul")->kernel, "ref");
}

TEST_F(Profiler, RangesNestAndAreNothingWithoutAProfiler) {
  { const tn::Profiler::Range range("alone"); }
  tn::Profiler profiler({.shapes = false});
  profiler.start();
  {
    const tn::Profiler::Range range("outer");
    const tn::Profiler::Range inner("inner");
    tn::ones({2});
  }
  profiler.stop();
  ASSERT_GE(profiler.events().size(), 3u);
  EXPECT_EQ(profiler.events()[0].name, "outer");
  EXPECT_EQ(profiler.events()[1].name, "inner");
  EXPECT_EQ(profiler.events()[1].parent, 0);
  EXPECT_EQ(profiler.events()[2].name, "ones");
  EXPECT_EQ(profiler.events()[2].parent, 1);
  for (const auto& event : profiler.events()) EXPECT_EQ(event.shapes, "");
}

TEST_F(Profiler, StartsWithinWhatItSees) {
  struct Late : tn::Module {
    tn::Profiler* profiler = nullptr;
    Tensor forward(Tensor x) {
      profiler->start();
      return x + 1;
    }
  };
  tn::Profiler profiler;
  auto late = tn::make<Late>();
  late->profiler = &profiler;
  late(tn::ones({2}));
  tn::ones({3}) * 2;
  profiler.stop();
  EXPECT_NE(find(profiler, Kind::call, "mul"), nullptr);
  EXPECT_EQ(find(profiler, Kind::call, "mul")->parent, -1);
}

int64_t parent_of(const tn::Profiler& profiler, Kind kind, const std::string& name) {
  const auto* event = find(profiler, kind, name);
  return event == nullptr ? -2 : event->parent;
}

// A range ends with what began in it, and with the call that it began in.
TEST_F(Profiler, RangesEndInAnyOrder) {
  std::optional<tn::Profiler::Range> a, b, hooked;
  const auto model = nn::Sequential(nn::ReLU());
  const uint64_t hook = model.register_forward_pre_hook(
      [&](tn::Object&, Tensor) -> void { hooked.emplace("hooked"); });
  tn::Profiler profiler;
  profiler.start();
  a.emplace("a"), b.emplace("b");
  a.reset();
  tn::ones({2});
  b.reset();
  model.invoke<Tensor>("forward", tn::full({2}, 1.0));
  tn::zeros({2});
  hooked.reset();
  model.remove_forward_hook(hook);
  {
    const tn::Profiler::Range last("last");
    model.invoke<Tensor>("forward", tn::full({2}, 1.0));
  }
  profiler.stop();
  EXPECT_EQ(parent_of(profiler, Kind::range, "b"), 0);
  EXPECT_EQ(parent_of(profiler, Kind::call, "ones"), 1);
  EXPECT_EQ(find(profiler, Kind::range, "a")->end_ns, find(profiler, Kind::range, "b")->end_ns);
  EXPECT_EQ(find(profiler, Kind::range, "hooked")->end_ns,
            find(profiler, Kind::method, "Sequential.forward")->end_ns);
  EXPECT_EQ(parent_of(profiler, Kind::call, "zeros"), -1);
  EXPECT_EQ(parent_of(profiler, Kind::range, "last"), -1);
}

TEST_F(Profiler, WhatIsThrownEndsWhatItLeaves) {
  const auto model = nn::Sequential(nn::Linear(2, 2), nn::ReLU());
  const auto throws = [](auto&&...) -> Tensor { throw std::runtime_error("thrown by a hook"); };
  tn::Profiler profiler({.memory = true}, model);
  profiler.start();
  const Tensor y = model.invoke<Tensor>("forward", tn::ones({2, 2}));
  y.register_hook([&](Tensor g) -> Tensor { return throws(g); });
  expect_error([&] { y.sum().backward(); }, "thrown by a hook");
  model.children()[1].register_forward_hook(
      [&](tn::Object&, Tensor a, Tensor b) -> Tensor { return throws(a, b); });
  expect_error([&] { model.invoke<Tensor>("forward", tn::ones({2, 2})); }, "thrown by a hook");
  expect_error([&] { model.invoke<Tensor>("forward", tn::ones({2, 3})); }, "");
  tn::zeros({2});
  profiler.stop();
  EXPECT_EQ(parent_of(profiler, Kind::call, "zeros"), -1);
  for (const auto& event : profiler.events()) EXPECT_LE(event.begin_ns, event.end_ns);
  EXPECT_EQ(profiler.missed(), 0u);
}

// The thread's own part of a profiler is gone before it.
TEST_F(Profiler, MayRunAtTheEndOfTheProgram) {
  const pid_t child = ::fork();
  if (child == 0) {
    static tn::Profiler profiler({.memory = true});
    profiler.start();
    tn::ones({2});
    std::exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Profiler, NothingIsAProfileToo) {
  tn::Profiler profiler({.memory = true}, nn::Sequential());
  EXPECT_EQ(profiler.table(), profiler.table());
  profiler.start();
  profiler.stop();
  EXPECT_TRUE(profiler.events().empty());
  EXPECT_TRUE(Json::parse(profiler.trace_json()).contains("traceEvents"));
  EXPECT_NE(profiler.table().find("in all 0 ns"), std::string::npos) << profiler.table();
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_F(Profiler, WritesTracesAndPages) {
  Step step;
  tn::Profiler profiler;
  profiler.start();
  {
    const tn::Profiler::Range range("a \"step\" </script>\n");
    const tn::Profiler::Range odd("\xc3\xa4 \xe2\x82\x1f\xff\xc3");
    step();
  }
  profiler.stop();
  const std::string folder = testing::TempDir() + "/profiler_test." + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  profiler.save_trace(folder + "/trace.json");
  const Json trace = Json::parse(contents(folder + "/trace.json"));
  ASSERT_EQ(trace["traceEvents"].size(), profiler.events().size() + 1) << "and the thread's name";
  EXPECT_EQ(trace["traceEvents"][0]["name"], "a \"step\" </script>\n");
  EXPECT_EQ(trace["traceEvents"][0]["ph"], "X");
  EXPECT_EQ(trace["traceEvents"][1]["name"], "\u00e4 \ufffd\ufffd\u001f\ufffd\ufffd");
  std::map<std::string, int> kinds;
  for (const Json& event : trace["traceEvents"]) ++kinds[event.value("cat", "")];
  for (const char* kind : {"range", "method", "call", "launch", "backward"})
    EXPECT_GT(kinds[kind], 0) << kind;
  profiler.save_html(folder + "/page.html");
  const std::string page = contents(folder + "/page.html");
  EXPECT_EQ(page.find("@ROWS@"), std::string::npos);
  EXPECT_NE(page.find("\"linear backward\""), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos) << "nothing is loaded from elsewhere";
  // The one script has one end, whatever the names are.
  EXPECT_EQ(page.find("</script>"), page.rfind("</script>"));
  std::filesystem::remove_all(folder);
  expect_error([&] { profiler.save_html("/nowhere/page.html"); }, "/nowhere/page.html");
}

TEST_F(Profiler, IsOneOfAThread) {
  tn::Profiler a, b;
  a.start();
  expect_error([&] { b.start(); }, "Profiler: one runs on this thread already");
  expect_error([&] { a.start(); }, "Profiler: one runs on this thread already");
  b.stop();
  tn::ones({2});
  a.stop();
  a.stop();
  ASSERT_FALSE(a.events().empty());
  EXPECT_EQ(a.events()[0].name, "ones");
  b.start();
  b.stop();
  EXPECT_TRUE(b.events().empty());
}

}  // namespace
