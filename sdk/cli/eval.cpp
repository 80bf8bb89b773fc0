// tenon eval: the accuracy of saved weights.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "training.h"

namespace tenon::cli {
namespace {
namespace po = boost::program_options;

int run(const Line& line) {
  if (!line.has("weights")) throw UsageError("eval: --weights FILE is missing");
  const std::string weights = path_of(line, "--weights");
  Training training;
  prepare(training, path_of(line, "FILE.json"), line.get("device"));
  const NamedTensors state = tenon::load(weights);
  try {
    training.model.load_state_dict(state);
  } catch (const Error& error) {
    fail(fmt::format("{}: does not fit the model of {}: {}", weights, training.config.file,
                     error.what()),
         error.code());
  }
  const double accuracy = test_accuracy(training);
  if (line.flag("json")) {
    fmt::print("{}\n", nlohmann::ordered_json{{"test_accuracy", accuracy},
                                              {"device", training.device.name()}}
                           .dump(2));
  } else {
    fmt::print("{}\n", accuracy_line(accuracy));
  }
  return 0;
}

}  // namespace

Command eval_command() {
  Command command{"eval", "Tests saved weights on the test set of a training.", "FILE.json",
                  "the training that made them"};
  command.options.add_options()  //
      ("weights", po::value<std::string>()->value_name("FILE"),
       "the safetensors file (tenon train --save)")  //
      ("device", po::value<std::string>()->value_name("NAME")->default_value("cpu"),
       "where to compute (tenon devices)")                          //
      ("json", po::bool_switch(), "the result as one JSON object")  //
      ("help,h", "this text");
  command.run = run;
  return command;
}

}  // namespace tenon::cli
