// tenon plugins: what was loaded, from where, what it brought; and what was not, and why.
#include <fmt/format.h>

#include <tenon/tenon.hpp>

#include "commands.h"
#include "plugin_list.h"
#include "process.h"
#include "text.h"

namespace tenon::cli {
namespace {
namespace po = boost::program_options;

std::string or_dash(const std::string& text) { return text.empty() ? "–" : text; }

int run_plugins(const Line& line) {
  if (line.flag("json") && line.flag("factories")) {
    throw UsageError("plugins: --json has the factories, too; give one of --json and --factories");
  }
  load_all_plugins();
  if (line.flag("json")) {
    fmt::print("{}\n", plugins_json());
    return 0;
  }
  const PluginList list = list_plugins();
  if (line.flag("factories")) {
    Table table({"kind", "schema"});
    for (const FactoryRow& row : list.factories) table.add({row.kind, row.schema});
    fmt::print("{}", table.text());
    return 0;
  }
  Table table({"id", "version", "abi", "brings", "from"});
  for (const PluginRow& row : list.rows) {
    if (row.loaded) {
      table.add({row.id, row.version, row.abi, or_dash(row.brings), row.from});
    } else {
      table.add({or_dash(row.id), or_dash(row.version), or_dash(row.abi),
                 fmt::format("not loaded: {} ({})", row.reason, row.from)});
    }
  }
  fmt::print("{}", table.text());
  for (const std::string& kernel : list.waiting)
    fmt::print("waiting: {}\n", messages::escaped(kernel));
  for (const std::string& device : list.incomplete)
    fmt::print("incomplete: {}\n", messages::escaped(device));
  fmt::print("searched: {}\n", or_dash(messages::escaped(joined(list.folders))));
  for (const std::string& folder : list.ignored)
    fmt::print("not searched: {}\n", messages::escaped(folder));
  return 0;
}

}  // namespace

Command plugins_command() {
  Command command{
      "plugins",
      "Lists the plugins: what they brought, from where, and why others were not loaded.", "", ""};
  command.options.add_options()  //
      ("factories", po::bool_switch(),
       "the layers, optimizers and other objects that they make, each with its options")  //
      ("json", po::bool_switch(), "as one JSON object")                                   //
      ("help,h", "this text");
  command.run = run_plugins;
  return command;
}

}  // namespace tenon::cli
