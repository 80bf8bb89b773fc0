// tenon eval: how good saved weights are.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "amp_options.h"
#include "commands.h"
#include "scores.h"
#include "text.h"
#include "training.h"

namespace tenon::cli {
namespace {
namespace po = boost::program_options;

void print_scores(const std::vector<Score>& scores, const Training& training, bool json) {
  if (!json) {
    for (const Score& s : scores) fmt::print("{}\n", s.line());
    return;
  }
  nlohmann::ordered_json document;
  for (const Score& s : scores) document[s.json_key()] = s.value;
  document["device"] = training.device.name();
  fmt::print("{}\n", document.dump(2));
}

int run_eval(const Line& line) {
  if (!line.has("weights")) throw UsageError("eval: --weights FILE is missing");
  const std::string weights = path_of(line, "--weights");
  Overrides overrides{.device = name_of(line, "device")};
  read_amp(line, "eval", &overrides);
  Training training;
  prepare(training, path_of(line, "FILE.json"), overrides);
  NamedTensors state = read_weights(weights);
  if (training.of_text()) {
    const Vocabulary there = take_vocabulary(state, weights);
    const std::string other = Vocabulary::difference(there, training.vocabulary);
    if (!other.empty()) {
      fail(fmt::format("{}: its vocabulary is not that of the text of {}: {}", shown(weights),
                       shown(training.config.file), other));
    }
  }
  load_weights(training, state, weights);
  print_scores(final_scores(training), training, line.flag("json"));
  return 0;
}

}  // namespace

Command eval_command() {
  Command command{"eval", "Tests saved weights on what a training holds out.", "FILE.json",
                  "the training that made them"};
  command.options.add_options()  //
      ("weights", po::value<std::string>()->value_name("FILE"),
       "the safetensors file (tenon train --save)")  //
      ("device", po::value<std::string>()->value_name("NAME"),
       "where to compute (tenon devices), instead of the file's, or the cpu")  //
      ("json", po::bool_switch(), "the result as one JSON object")             //
      ("help,h", "this text");
  add_amp_options(command.options, "evaluate");
  command.run = run_eval;
  return command;
}

}  // namespace tenon::cli
