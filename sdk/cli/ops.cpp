// tenon ops: every op, and how it would run on a device.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tenon/tenon.hpp>

#include "commands.h"
#include "plugin_list.h"
#include "process.h"
#include "text.h"
#include "training.h"

namespace tenon::cli {
namespace {
namespace po = boost::program_options;
using Json = nlohmann::ordered_json;

// How a call on a device of this type would run: the kernels that are asked first, then what the op
// is without one.
std::string runs_as(const Json& op, const std::string& type) {
  std::vector<std::string> ways;
  for (const Json& kernel : op.at("kernels")) {
    if (kernel.at("device") != type) continue;
    ways.push_back(fmt::format("{} of {}", kernel.at("pair") == true ? "pair" : "kernel",
                               kernel.at("plugin").get<std::string>()));
  }
  const std::string kind = op.at("kind");
  if (kind == "expression") {
    ways.push_back("program");
  } else if (kind == "primitive") {
    ways.push_back("primitive " + op.at("primitive").get<std::string>());
  } else if (kind == "view") {
    ways.push_back("view");
  } else if (kind == "decomposition") {
    ways.push_back("decomposed");
  } else if (ways.empty()) {
    const Json& flags = op.at("flags");
    const bool library = std::ranges::find(flags, "library") != flags.end();
    ways.push_back(library ? "absent (library)" : "absent");
  }
  return joined(ways, ", else ");
}

int run(const Line& line) {
  load_all_plugins();
  const std::string type = find_device(line.get("device")).type();
  const Json ops = Json::parse(ops_json());
  if (line.flag("json")) {
    Json list = Json::array();
    for (Json op : ops) {
      op["device"] = type;
      op["runs_as"] = runs_as(op, type);
      list.push_back(std::move(op));
    }
    fmt::print("{}\n", list.dump(2));
    return 0;
  }
  Table table({"op", "on " + type, "gradient", "autocast", "schema"});
  for (const Json& op : ops) {
    table.add({op.at("name"), runs_as(op, type), op.at("gradient"), op.at("amp"), op.at("schema")});
  }
  fmt::print("{}", table.text());
  for (const std::string& device : list_plugins().incomplete) {
    if (device.starts_with("device " + type + " ")) fmt::print("incomplete: {}\n", device);
  }
  return 0;
}

}  // namespace

Command ops_command() {
  Command command{
      "ops",
      "Lists the ops: how each would run on a device, its gradient, its class under autocast.", "",
      ""};
  command.options.add_options()  //
      ("device", po::value<std::string>()->value_name("NAME")->default_value("cpu"),
       "of this device (tenon devices)")             //
      ("json", po::bool_switch(), "as a JSON list")  //
      ("help,h", "this text");
  command.run = run;
  return command;
}

}  // namespace tenon::cli
