// SummaryWriter::add_graph: which calls and tensors it writes, in which folders, and which lead where.
#include <map>
#include <string>
#include <vector>

#include <tenon/tenon.hpp>
#include <tenon/tensorboard.hpp>

#include "event_files.h"
#include "files_support.h"

namespace tenon {
namespace {

using event_files::field_of, event_files::fields_of;

struct ModelGraph : files::FilesTest {
  static void SetUpTestSuite() { load_plugins(); }
};

struct GraphNode {
  std::string op;
  std::vector<std::string> inputs;
  std::vector<int64_t> sizes;
};
using Graph = std::map<std::string, GraphNode>;

Graph graph_in(const std::string& file) {
  const event_files::Events events = event_files::events_of(file);
  EXPECT_EQ(events.graphs.size(), 1u);
  Graph graph;
  for (const event_files::Field& field : fields_of(events.graphs.at(0))) {
    if (field.number != 1) continue;
    GraphNode node;
    for (const event_files::Field& part : fields_of(field.bytes)) {
      if (part.number == 2) node.op = part.bytes;
      if (part.number == 3) node.inputs.push_back(part.bytes);
      if (part.number != 5) continue;
      const std::string list = field_of(field_of(part.bytes, 2).bytes, 1).bytes;
      for (const event_files::Field& dim : fields_of(field_of(list, 7).bytes))
        node.sizes.push_back(int64_t(field_of(dim.bytes, 1).varint));
    }
    EXPECT_TRUE(graph.emplace(field_of(field.bytes, 1).bytes, node).second);
  }
  for (const auto& [name, node] : graph) {
    for (const std::string& input : node.inputs) EXPECT_TRUE(graph.contains(input)) << input;
  }
  return graph;
}

struct Residual : Module {
  Object fc = child("fc", nn::Linear(4, 4)), act = child("act", nn::GELU());
  Tensor forward(Tensor x) { return x + act(fc(x)); }
};
struct Net : Module {
  Object block = child("block", make<Residual>()), bn = child("bn", nn::BatchNorm1d(4)),
         drop = child("drop", nn::Dropout(0.5));
  std::tuple<Tensor, Tensor> forward(Tensor x, Tensor scale) {
    const Tensor y = drop(bn(block(block(x))));
    return {y * scale, y.sum()};
  }
};

TEST_F(ModelGraph, HasLayersAsFolders) {
  auto net = make<Net>();
  const auto before = net.state_dict();
  std::vector<Tensor> values;
  for (const auto& [name, t] : before) values.push_back(t.clone());
  const Tensor x = randn({3, 4}), scale = randn({3, 4});
  SummaryWriter writer(path("run"));
  writer.add_graph(net, x, scale);
  writer.close();
  const Graph graph = graph_in(writer.path());
  const auto is = [&](const char* name, const char* op, const std::vector<int64_t>& sizes = {}) {
    ASSERT_TRUE(graph.contains(name)) << name;
    EXPECT_EQ(graph.at(name).op, op) << name;
    EXPECT_EQ(graph.at(name).sizes, sizes) << name;
  };
  is("input/0", "Input", {3, 4});
  is("input/1", "Input", {3, 4});
  is("output/0", "Output", {3, 4});
  is("output/1", "Output");
  is("Net/block/fc/weight", "Parameter", {4, 4});
  is("Net/block/fc/bias", "Parameter", {4});
  is("Net/bn/weight", "Parameter", {4});
  is("Net/block/fc/linear", "linear");
  is("Net/block/fc/linear_1", "linear");
  is("Net/block/act/gelu", "gelu");
  is("Net/block/add", "add");
  is("Net/block/add_1", "add");
  is("Net/mul", "mul");
  is("Net/sum", "sum");
  EXPECT_EQ(graph.at("output/0").inputs, std::vector<std::string>{"Net/mul"});
  const auto& linears = {graph.at("Net/block/fc/linear").inputs,
                         graph.at("Net/block/fc/linear_1").inputs};
  int from_input = 0;
  for (const auto& inputs : linears) {
    from_input += std::ranges::find(inputs, "input/0") != inputs.end();
    EXPECT_NE(std::ranges::find(inputs, "Net/block/fc/weight"), inputs.end());
  }
  EXPECT_EQ(from_input, 1);
  for (const auto& [name, node] : graph) EXPECT_FALSE(name.starts_with("other")) << name;
  // The model is as it was.
  EXPECT_TRUE(net.training());
  EXPECT_TRUE(net->drop.training());
  size_t i = 0;
  for (const auto& [name, t] : before) EXPECT_TRUE(equal(t, values[i++])) << name;
  for (const Tensor& p : net.parameters()) EXPECT_FALSE(p.grad().defined());
  EXPECT_FALSE(x.requires_grad());
}

TEST_F(ModelGraph, OfIndicesAndWithinNoGrad) {
  const Object model = nn::Sequential(nn::Embedding(5, 3), nn::Linear(3, 2));
  SummaryWriter writer(path("run"));
  const NoGrad scope;
  writer.add_graph(model, tensor({0, 4}));
  writer.close();
  const Graph graph = graph_in(writer.path());
  EXPECT_EQ(graph.at("Sequential/0/weight").op, "Parameter");
  EXPECT_EQ(graph.at("Sequential/1/linear").inputs[0], "Sequential/0/embedding");
}

TEST_F(ModelGraph, Refuses) {
  SummaryWriter writer(path("run"));
  Object frozen = nn::Linear(2, 2);
  frozen.requires_grad_(false);
  EXPECT_SAYS(writer.add_graph(nn::Sequential(frozen), tensor({1, 2})), "linear");
  EXPECT_SAYS(writer.add_graph(nn::Sequential([](Tensor x) { return x + 1; }), tensor({1, 2})),
              "add_graph: nothing that Sequential gives has a history: none of its parameters asks "
              "for a gradient, and no input is of floats");
  EXPECT_SAYS(writer.add_graph(Object(), tensor({1., 2.})), "add_graph: the model is None");
  EXPECT_SAYS(writer.add_graph(frozen, randn({1, 3})), "linear");
  writer.add_graph(frozen, randn({1, 2}));
  writer.close();
  EXPECT_SAYS(writer.add_graph(frozen, randn({1, 2})), "is closed, expected an open one");
  EXPECT_TRUE(graph_in(writer.path()).contains("Linear/linear"));
}

}  // namespace
}  // namespace tenon
