// tn::Profiler: what it sees of a training step, and what it writes. Counts of operations are those of
// the products' definitions.
#include <filesystem>
#include <fstream>
#include <map>
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
  // A processor or a build without a kernel of it has the parts of its meaning instead.
  if (find(profiler, Kind::call, "matmul") == nullptr) {
    EXPECT_EQ(find(profiler, Kind::node, "conv2d backward")->flops, conv) << "to the image alone";
  }
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
    step();
  }
  profiler.stop();
  const std::string folder = testing::TempDir() + "/profiler_test." + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  profiler.save_trace(folder + "/trace.json");
  const Json trace = Json::parse(contents(folder + "/trace.json"));
  ASSERT_EQ(trace["traceEvents"].size(), profiler.events().size());
  EXPECT_EQ(trace["traceEvents"][0]["name"], "a \"step\" </script>\n");
  EXPECT_EQ(trace["traceEvents"][0]["ph"], "X");
  std::map<std::string, int> kinds;
  for (const Json& event : trace["traceEvents"]) ++kinds[event["cat"]];
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
