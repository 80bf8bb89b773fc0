#include "explain_compiled.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiled_text.h"
#include "text.h"

namespace tenon::cli {
namespace {
using Document = nlohmann::ordered_json;

// A function is recorded at its first call, or behind calls that make what stays, and replayed at
// the next.
constexpr int kCalls = 5;

struct Seen {
  const char* what;    // "training step"
  size_t eager_calls;  // of ops in forward and update, and of nodes in backward
  CompiledText text;
};

// `step` runs compiled, and eagerly while explain is on.
template <typename Step, typename Describe>
Seen see(const char* what, Step step, Describe describe) {
  for (int i = 0; i < kCalls; ++i) step();
  const CompiledText text(describe());
  const Document calls = Document::parse(tenon::explain(step))["calls"];
  return {what, calls.size(), text};
}

Seen see_training(const Training& training, const Tensor& x, const Tensor& y) {
  Trainer trainer = make_trainer(training, /*compile=*/true);
  return see(
      "training step", [&] { trainer.step(x, y); }, [&] { return trainer.describe(); });
}

Seen see_forward(const Training& training, const Tensor& x) {
  const NoGrad no_grad;
  training.model.eval();
  const auto forward = compile([&training](Tensor input) {
    const auto scope = training.scope();
    return training.model(input);
  });
  return see(
      "forward", [&] { forward(x); }, [&] { return forward.describe(); });
}

Document json_of(const CompiledGraph& graph, size_t eager_calls) {
  Document steps = Document::array();
  for (const CompiledStep& step : graph.steps) {
    steps.push_back({{"op", step.op},
                     {"kernel", step.kernel},
                     {"operands", step.operands},
                     {"results", step.results},
                     {"notes", step.notes}});
  }
  return {{"arguments", graph.arguments},
          {"calls", eager_calls},
          {"launches", graph.launches},
          {"copies", graph.copies},
          {"constants", graph.constants},
          {"dropped", graph.dropped},
          {"random", graph.random},
          {"bits", graph.bits},
          {"device_graph", graph.device_graph},
          {"memory",
           {{"own", graph.own_bytes},
            {"left", graph.left_bytes},
            {"eager_peak", graph.eager_bytes},
            {"eager_asked_inside", graph.asked_bytes}}},
          {"leans_on",
           {{"objects", graph.objects},
            {"leaves", graph.leaves},
            {"tensors", graph.outside},
            {"bytes", graph.outside_bytes}}},
          {"steps", std::move(steps)}};
}

// "[64, 64] float32; [128, 64] float32 (+3)"
std::string few(const std::vector<std::string>& list) {
  constexpr size_t kShown = 4;
  if (list.size() <= kShown) return joined(list, "; ");
  return fmt::format("{} (+{})", joined({list.begin(), list.begin() + kShown}, "; "),
                     list.size() - kShown);
}

std::string text_of(const CompiledGraph& graph, size_t eager_calls) {
  Table counts({});
  counts.add({"arguments", joined(graph.arguments, "; ")});
  const std::string as_graph =
      graph.device_graph.empty() ? "" : " as one graph of " + graph.device_graph;
  counts.add(
      {"launches", fmt::format("{}{}, {} of them random, for the {} ops that an eager run calls",
                               graph.launches, as_graph, graph.random, eager_calls)});
  counts.add({"dropped", fmt::format("{} launches whose results nobody reads", graph.dropped)});
  counts.add(
      {"copies", fmt::format("{} of bytes, {} of constants", graph.copies, graph.constants)});
  counts.add({"bits", graph.bits});
  counts.add({"memory", fmt::format("{} bytes of its own, and {} of results and gradients; what an "
                                    "eager run makes takes {} at most",
                                    graph.own_bytes, graph.left_bytes, graph.eager_bytes)});
  counts.add({"leans on",
              fmt::format("{} objects, {} leaves, {} tensors that were there before ({} bytes)",
                          graph.objects, graph.leaves, graph.outside, graph.outside_bytes)});
  Table steps({"launch", "kernel", "operands", "results", "notes"});
  for (const CompiledStep& step : graph.steps)
    steps.add({step.op, step.kernel, few(step.operands), few(step.results), step.notes});
  return fmt::format("{}\n{}", counts.text(), steps.text());
}

}  // namespace

void explain_compiled(const Training& training, bool json) {
  const auto [x, y] = first_batch(training);
  const Tensor input = x.to(training.device), target = y.to(training.device);
  const Seen seen = training.config.trains() ? see_training(training, input, target)
                                             : see_forward(training, input);
  const std::vector<CompiledGraph>& graphs = seen.text.graphs;
  if (json) {
    Document document{
        {"what", seen.what},
        {"device", training.device.name()},
        {"recorded", seen.text.recorded},
        {"replayed", seen.text.replayed},
        {"stays_eager", graphs.empty() ? Document(seen.text.reasons) : Document::array()}};
    if (!graphs.empty()) document.update(json_of(graphs[0], seen.eager_calls));
    fmt::print("{}\n", document.dump(2));
    return;
  }
  if (graphs.empty()) {
    fmt::print("the {} stays eager on {}: {}\n", seen.what, training.device.name(),
               joined(seen.text.reasons, "; "));
    return;
  }
  fmt::print("the {} on {}: {} calls recorded, {} replayed\n{}", seen.what, training.device.name(),
             seen.text.recorded, seen.text.replayed, text_of(graphs[0], seen.eager_calls));
}

}  // namespace tenon::cli
