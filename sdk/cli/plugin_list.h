// The host's list of plugins (plugin/1), read.
#pragma once

#include <string>
#include <vector>

namespace tenon::cli {

struct PluginRow {
  std::string id, version, abi, brings, from;
  std::string reason;  // why it is not loaded
  bool loaded = false;
  bool failed = false;   // neither loaded nor loading, and no other one has its place
  bool loading = false;  // its code runs for the first time just now
};

struct FactoryRow {
  std::string name, kind, schema;  // kind: "layer", "optimizer", "other"
};

struct PluginList {
  std::vector<PluginRow> rows;
  std::vector<FactoryRow> factories;
  std::vector<std::string> folders;     // that were searched
  std::vector<std::string> ignored;     // that were not, each with the reason
  std::vector<std::string> waiting;     // what waits for an op or device that is not there
  std::vector<std::string> incomplete;  // devices without a kernel that every backend must bring
};

PluginList list_plugins();
// "\n  not loaded: layers: needs plugin 'ops', which is not there", a line for each that failed.
std::string not_loaded(const PluginList& list);

}  // namespace tenon::cli
