// Reads the document that docs/abi.md describes.
#include "plugin_list.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tenon/tenon.hpp>

#include "text.h"

namespace tenon::cli {
namespace {

using nlohmann::json;

std::string counted(int64_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string named(const json& names, const char* what, const char* several) {
  const auto list = names.get<std::vector<std::string>>();
  return fmt::format("{} {}", list.size() == 1 ? what : several, joined(list));
}

// "device ref, 10 kernels"
std::string brings_text(const json& plugin) {
  const json& brings = plugin.at("brings");
  std::vector<std::string> parts;
  if (!brings.at("devices").empty())
    parts.push_back(named(brings.at("devices"), "device", "devices"));
  if (brings.at("ops") > 0) parts.push_back(counted(brings.at("ops"), "op"));
  if (brings.at("kernels") > 0) parts.push_back(counted(brings.at("kernels"), "kernel"));
  if (brings.at("vjps") > 0) parts.push_back(counted(brings.at("vjps"), "gradient"));
  const auto factories = brings.at("factories").get<std::vector<std::string>>();
  if (factories.size() > 4) {
    parts.push_back(fmt::format("{} factories", factories.size()));
  } else if (!factories.empty()) {
    parts.push_back(joined(factories));
  }
  if (!brings.at("policies").empty())
    parts.push_back(named(brings.at("policies"), "policy", "policies"));
  if (brings.at("threads") == true) parts.push_back("threads");
  if (!brings.at("compilers").empty())
    parts.push_back(named(brings.at("compilers"), "compiler", "compilers"));
  return joined(parts);
}

}  // namespace

PluginList list_plugins() {
  const json document = json::parse(plugins_json());
  PluginList list;
  for (const json& plugin : document.at("plugins")) {
    PluginRow row;
    row.id = plugin.at("id");
    row.version = plugin.at("version");
    row.abi = plugin.at("abi");
    row.from = plugin.at("from");
    row.reason = plugin.value("reason", "");
    row.loaded = plugin.at("state") == "loaded";
    row.failed = plugin.at("state") == "failed";
    row.loading = plugin.at("state") == "loading";
    row.brings = brings_text(plugin);
    list.rows.push_back(std::move(row));
  }
  for (const json& factory : document.at("factories")) {
    list.factories.push_back({factory.at("name"), factory.at("kind"), factory.at("schema")});
  }
  for (const json& folder : document.at("searched")) list.folders.push_back(folder);
  for (const json& folder : document.at("ignored")) {
    list.ignored.push_back(fmt::format("{} ({})", folder.at("folder").get<std::string>(),
                                       folder.at("reason").get<std::string>()));
  }
  for (const json& kernel : document.at("waiting")) {
    list.waiting.push_back(
        fmt::format("kernel of {} for {} on {}: {}", kernel.at("plugin").get<std::string>(),
                    kernel.at("kernel").get<std::string>(), kernel.at("device").get<std::string>(),
                    kernel.at("reason").get<std::string>()));
  }
  for (const json& device : document.at("incomplete")) {
    list.incomplete.push_back(fmt::format(
        "device {} has no kernel for {}: ops that need one fail there",
        device.at("device").get<std::string>(), device.at("missing").get<std::string>()));
  }
  return list;
}

std::string not_loaded(const PluginList& list) {
  std::string text;
  for (const PluginRow& plugin : list.rows) {
    if (!plugin.failed) continue;
    // One without a manifest has no id, and its reason names the file.
    text += fmt::format("\n  not loaded: {}{}{}", messages::escaped(plugin.id),
                        plugin.id.empty() ? "" : ": ", messages::escaped(plugin.reason));
  }
  return text;
}

}  // namespace tenon::cli
