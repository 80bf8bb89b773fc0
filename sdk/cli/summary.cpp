// tenon summary: what the model of a training is made of.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tenon/summary.hpp>

#include "commands.h"
#include "training.h"

namespace tenon::cli {
namespace {
namespace po = boost::program_options;

nlohmann::ordered_json json_of(const Summary& summary) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const Summary::Layer& layer : summary.layers) {
    layers.push_back({{"path", layer.path},
                      {"type", layer.type},
                      {"outputs", layer.outputs},
                      {"same_as", layer.same_as},
                      {"calls", layer.calls},
                      {"parameters", layer.parameters},
                      {"parameter_bytes", layer.parameter_bytes},
                      {"output_bytes", layer.output_bytes},
                      {"flops", layer.flops}});
  }
  return {{"parameters", summary.parameters},
          {"trainable", summary.trainable},
          {"parameter_bytes", summary.parameter_bytes},
          {"output_bytes", summary.output_bytes},
          {"flops", summary.flops},
          {"layers", std::move(layers)}};
}

int run_summary(const Line& line) {
  Training training;
  prepare(training, path_of(line, "FILE.json"),
          {.device = name_of(line, "device"), .forward_alone = true});
  const auto scope = training.scope();
  const Summary result = summary(training.model, first_batch(training).first.to(training.device));
  if (line.flag("json")) {
    fmt::print("{}\n", json_of(result).dump(2));
  } else {
    fmt::print("{}", result.text());
  }
  return 0;
}

}  // namespace

Command summary_command() {
  Command command{
      "summary",
      "Tells the layers of a model: sizes, parameters, operations and memory of a batch.",
      "FILE.json", "a training, or its data and model alone"};
  command.options.add_options()  //
      ("device", po::value<std::string>()->value_name("NAME"),
       "where to compute (tenon devices), instead of the file's, or the cpu")  //
      ("json", po::bool_switch(), "as one JSON object")                        //
      ("help,h", "this text");
  command.run = run_summary;
  return command;
}

}  // namespace tenon::cli
