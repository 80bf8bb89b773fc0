#include "description.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "text.h"

namespace tenon::cli {
namespace {

Description read_layer(const std::string& file, const Json& item);

// Ints where all are; the factory's schema decides whether they are floats.
Description::Value list_of(const std::string& file, const std::string& factory,
                           const JsonMember& option) {
  std::vector<int64_t> ints;
  std::vector<double> floats;
  for (const Json& item : option.value.items) {
    if (item.kind != Json::Kind::kInt && item.kind != Json::Kind::kFloat) {
      fail_at(file, item.line,
              fmt::format("{}: option '{}': a list of numbers is expected, this is {}",
                          printable(factory), printable(option.name), item.kind_name()));
    }
    if (item.kind == Json::Kind::kInt) ints.push_back(item.integer);
    floats.push_back(item.real);
  }
  if (ints.size() == floats.size()) return ints;
  return floats;
}

Description::Value value_of(const std::string& file, const std::string& factory,
                            const JsonMember& option) {
  const Json& json = option.value;
  switch (json.kind) {
    case Json::Kind::kNull:
      return none;
    case Json::Kind::kBool:
      return json.boolean;
    case Json::Kind::kInt:
      return json.integer;
    case Json::Kind::kFloat:
      return json.real;
    case Json::Kind::kString:
      return json.text;
    case Json::Kind::kArray:
      return list_of(file, factory, option);
    case Json::Kind::kObject:
      break;
  }
  fail_at(file, option.line,
          fmt::format("{}: option '{}' is {}", printable(factory), printable(option.name),
                      json.kind_name()));
}

// At most one more than kMostLayers, however many it stands for.
int64_t layers_in(const Description& layer) {
  int64_t all = 1;
  for (const Description& child : layer.children)
    all = std::min(all + layers_in(child), kMostLayers + 1);
  return std::min(all * layer.repeat, kMostLayers + 1);
}

Description read_residual(const std::string& file, const JsonMember& member, Fields& fields) {
  Description layer = read_layers(file, member, "residual");
  layer.name = "Residual";
  fields.find("residual");
  return layer;
}

Description read_branches(const std::string& file, const JsonMember& member, Fields& fields) {
  if (member.value.kind != Json::Kind::kObject || member.value.members.empty()) {
    fail_at(file, member.line,
            "branches: an object of lists of layers {\"left\": [...], ...} is expected");
  }
  Description layer{.name = "Branches", .where = place_at(file, member.line)};
  std::string names;
  for (const JsonMember& branch : member.value.members) {
    if (branch.name.empty() || branch.name.find_first_of(",. ") != branch.name.npos) {
      fail_at(file, branch.line,
              fmt::format("branches: '{}' is no name: it is empty, or has a comma, a point or a "
                          "blank",
                          printable(branch.name)));
    }
    layer.children.push_back(read_layers(file, branch, printable(branch.name)));
    names += (names.empty() ? "" : ",") + branch.name;
  }
  layer.options.push_back({"names", names, layer.where});
  if (const JsonMember* join = fields.find("join")) {
    layer.options.push_back({"join", fields.string("join"), place_at(file, join->line)});
  }
  if (const JsonMember* dim = fields.find("dim")) {
    if (fields.find("join") == nullptr || fields.string("join") != "concat")
      fail_at(file, dim->line, "branches: dim is of the join 'concat'");
    layer.options.push_back({"dim", fields.integer("dim", -64, 64), place_at(file, dim->line)});
  }
  return layer;
}

Description read_layer(const std::string& file, const Json& item) {
  Fields fields(file, item, "layer");
  Description layer;
  if (const JsonMember* shared = fields.find("shared")) {
    layer = {.where = place_at(file, shared->line), .shares = fields.string("shared")};
    if (layer.shares.empty())
      fail_at(file, shared->line, "layer: shared is empty, expected a name");
    fields.finish();
    return layer;
  }
  const JsonMember* residual = fields.find("residual");
  const JsonMember* branches = fields.find("branches");
  if (residual != nullptr && branches != nullptr)
    fail_at(file, branches->line, "layer: residual and branches are there, expected one of them");
  if (residual != nullptr) {
    layer = read_residual(file, *residual, fields);
  } else if (branches != nullptr) {
    layer = read_branches(file, *branches, fields);
  } else {
    layer = read_description(file, item, "layer", {"layers", "repeat", "name"});
    if (const JsonMember* layers = fields.find("layers"))
      layer.children = read_layers(file, *layers, "layers").children;
  }
  layer.repeat = fields.integer("repeat", 1, kMostLayers, 1);
  if (const JsonMember* name = fields.find("name")) {
    layer.label = fields.string("name");
    if (layer.label.empty()) fail_at(file, name->line, "layer: name is empty, expected a name");
  }
  // What is left over of a layer by its factory's name are options, which the factory knows.
  if (residual != nullptr || branches != nullptr) fields.finish();
  return layer;
}

}  // namespace

Description read_description(const std::string& file, const Json& json, const std::string& kind,
                             const std::vector<std::string>& skipped) {
  Fields fields(file, json, kind);
  Description description;
  description.name = fields.string(kind);
  description.where = place_at(file, fields.require(kind).line);
  for (const JsonMember& member : json.members) {
    if (member.name == kind || std::ranges::find(skipped, member.name) != skipped.end()) continue;
    description.options.push_back(
        {member.name, value_of(file, description.name, member), place_at(file, member.line)});
  }
  return description;
}

Description read_layers(const std::string& file, const JsonMember& member,
                        const std::string& what) {
  if (member.value.kind != Json::Kind::kArray || member.value.items.empty()) {
    fail_at(file, member.line,
            fmt::format("{}: a list of layers [{{\"layer\": ...}}, ...] is expected", what));
  }
  Description list{.name = "Sequential", .where = place_at(file, member.line)};
  int64_t layers = 0;
  for (const Json& item : member.value.items) {
    list.children.push_back(read_layer(file, item));
    layers += layers_in(list.children.back());
    if (layers > kMostLayers) {
      fail(fmt::format("{}: {}: more than {} layers", list.children.back().where, what,
                       kMostLayers));
    }
  }
  return list;
}

std::string place_at(const std::string& file, int line) {
  return fmt::format("{}:{}", shown(file), line);
}

}  // namespace tenon::cli
