// tenon devices: what computes here.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tenon/tenon.hpp>

#include "commands.h"
#include "process.h"
#include "text.h"

namespace tenon::cli {
namespace {
namespace po = boost::program_options;

int run_devices(const Line& line) {
  load_all_plugins();
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  Table table({"device", "description"});
  for (const Device& device : Device::all()) {
    const char* text = detail::api.device->type_description(device.value.type);
    const std::string description = text == nullptr ? "" : text;
    table.add({device.name(), description});
    list.push_back({{"name", device.name()},
                    {"type", device.type()},
                    {"index", device.index()},
                    {"description", description}});
  }
  // Types without a device are in the table alone: the list has what can be computed on.
  for (int32_t type = 0; type < detail::api.device->n_types(); ++type) {
    const char* absence = detail::api.device->type_absence(type);
    if (absence == nullptr) continue;
    table.add({detail::api.device->type_name(type), std::string("not available: ") + absence});
  }
  if (line.flag("json")) {
    fmt::print("{}\n", list.dump(2));
  } else {
    fmt::print("{}", table.text());
  }
  return 0;
}

}  // namespace

Command devices_command() {
  Command command{"devices", "Lists the devices that plugins brought.", "", ""};
  command.options.add_options()                      //
      ("json", po::bool_switch(), "as a JSON list")  //
      ("help,h", "this text");
  command.run = run_devices;
  return command;
}

}  // namespace tenon::cli
