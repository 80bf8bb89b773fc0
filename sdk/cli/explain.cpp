// tenon explain: what the calls of one training step did, and why not otherwise.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "amp_options.h"
#include "commands.h"
#include "explain_compiled.h"
#include "text.h"
#include "training.h"

namespace tenon::cli {
namespace {
namespace po = boost::program_options;
using OrderedJson = nlohmann::ordered_json;

// What `body` did: the list of calls in the host's document.
template <typename Body>
OrderedJson recorded(Body body) {
  return OrderedJson::parse(tenon::explain(body))["calls"];
}

OrderedJson record_step(const Training& training) {
  const auto [x, y] = first_batch(training);
  const Tensor input = x.to(training.device), target = y.to(training.device);
  OrderedJson phases;
  Tensor loss;
  phases["forward"] = recorded([&] {
    const auto scope = training.scope();
    loss = training.loss(training.model(input), target);
  });
  phases["backward"] = recorded([&] { loss.backward(); });
  phases["step"] = recorded([&] { training.optimizer.step(); });
  return phases;
}

const OrderedJson& member(const OrderedJson& json, const char* name) {
  static const OrderedJson kNone = OrderedJson::array();
  const auto found = json.find(name);
  return found == json.end() ? kNone : *found;
}

// "linear [64, 64]·[128, 64]·[128]"
std::string call_text(const OrderedJson& call) {
  std::vector<std::string> shapes;
  constexpr size_t kShown = 4;
  for (const OrderedJson& arg : member(call, "args")) {
    if (shapes.size() == kShown) {
      shapes.push_back(fmt::format("(+{})", member(call, "args").size() - kShown));
      break;
    }
    if (!arg.is_null())
      shapes.push_back(
          fmt::format("[{}]", fmt::join(arg["sizes"].get<std::vector<int64_t>>(), ", ")));
  }
  const auto name = call["call"].get<std::string>();
  return shapes.empty() ? name : name + " " + joined(shapes, "·");
}

// The same text twice is said once.
void add_once(std::vector<std::string>& list, std::string text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
}

std::string kernel_text(const OrderedJson& call) {
  std::vector<std::string> kernels;
  for (const OrderedJson& kernel : member(call, "kernels")) {
    add_once(kernels, fmt::format("{} {}{}", kernel["plugin"].get<std::string>(),
                                  kernel["kernel"].get<std::string>(),
                                  kernel["pair"].get<bool>() ? " (pair)" : ""));
  }
  if (!kernels.empty()) return joined(kernels);
  const OrderedJson& nested = member(call, "calls");
  if (nested.empty()) return "view";
  if (nested.size() > 3) return fmt::format("decomposed: {} calls", nested.size());
  std::vector<std::string> names;
  for (const OrderedJson& inner : nested) names.push_back(inner["call"].get<std::string>());
  return "decomposed: " + joined(names);
}

// Which ops have kernels on the device, and on others; by their names without the pack.
class Kernels {
 public:
  explicit Kernels(std::string type) : type_(std::move(type)) {
    for (const OrderedJson& op : OrderedJson::parse(ops_json())) {
      const auto schema = op.at("schema").get<std::string>();
      const std::string name = schema.substr(0, schema.find('('));
      for (const OrderedJson& kernel : op.at("kernels")) {
        if (kernel.at("device") == type_) {
          own_.insert(name);
        } else {
          add_once(others_[name],
                   fmt::format("{} {}: other device", kernel.at("plugin").get<std::string>(),
                               kernel.at("pair") == true ? "pair" : "kernel"));
        }
      }
    }
  }

  // Why no kernel of the device took a call that was decomposed, where there is none.
  std::vector<std::string> reasons(const std::string& op) const {
    if (own_.contains(op)) return {};
    std::vector<std::string> reasons = {fmt::format("{} has no {}", type_, op)};
    const auto found = others_.find(op);
    if (found != others_.end()) {
      reasons.insert(reasons.end(), found->second.begin(), found->second.end());
    }
    return reasons;
  }

 private:
  std::string type_;
  std::set<std::string> own_;
  std::map<std::string, std::vector<std::string>> others_;
};

std::string why_text(const OrderedJson& call, const Kernels& kernels) {
  std::vector<std::string> reasons;
  for (const OrderedJson& refusal : member(call, "refusals")) {
    add_once(reasons, fmt::format("{}: {}", refusal["plugin"].get<std::string>(),
                                  refusal["reason"].get<std::string>()));
  }
  if (reasons.empty() && call.value("decomposed", false)) {
    reasons = kernels.reasons(call["call"].get<std::string>());
  }
  for (const OrderedJson& note : member(call, "notes")) add_once(reasons, note.get<std::string>());
  return joined(reasons, "; ");
}

void add_rows(Table& table, const OrderedJson& calls, const Kernels& kernels, int depth,
              bool nested) {
  for (const OrderedJson& call : calls) {
    table.add({fmt::format("{:{}}{}", "", 2 * depth, call_text(call)), kernel_text(call),
               why_text(call, kernels)});
    if (nested) add_rows(table, member(call, "calls"), kernels, depth + 1, nested);
  }
}

int run_explain(const Line& line) {
  const bool compiled = line.flag("compiled");
  if (compiled && line.flag("nested"))
    throw UsageError("explain: --nested shows calls, --compiled launches; expected one of them");
  Overrides overrides{.device = name_of(line, "device"), .forward_alone = compiled};
  read_amp(line, "explain", &overrides);
  Training training;
  prepare(training, path_of(line, "FILE.json"), overrides);
  if (compiled) {
    explain_compiled(training, line.flag("json"));
    return 0;
  }
  const OrderedJson phases = record_step(training);
  if (line.flag("json")) {
    fmt::print("{}\n", phases.dump(2));
    return 0;
  }
  const Kernels kernels(training.device.type());
  Table table({"call", "kernel", "why not the others"});
  for (const auto& [phase, calls] : phases.items()) {
    table.add({fmt::format("-- {}", phase)});
    add_rows(table, calls, kernels, 0, line.flag("nested"));
  }
  fmt::print("{}", table.text());
  return 0;
}

}  // namespace

Command explain_command() {
  Command command{"explain",
                  "Runs one training step and tells, call by call, which kernel ran, why not "
                  "another, what was decomposed, copied and cast.",
                  "FILE.json", "the training (see tenon train)"};
  command.options.add_options()  //
      ("device", po::value<std::string>()->value_name("NAME"),
       "where to compute (tenon devices), instead of the file's, or the cpu")     //
      ("nested", po::bool_switch(), "also the calls that a decomposition makes")  //
      ("compiled", po::bool_switch(),
       "the step as a compiled function: its launches in order, its memory, what it leans on, or "
       "why it stays eager; of a file without optimizer the model's forward")  //
      ("json", po::bool_switch(), "as one JSON object")                        //
      ("help,h", "this text");
  add_amp_options(command.options, "run the step");
  command.run = run_explain;
  return command;
}

}  // namespace tenon::cli
