// From JSON to a TrainingConfig: see config.h.
#include "config.h"

#include <filesystem>

#include <fmt/format.h>

namespace tenon::cli {
namespace {

// The label's column: "last", "first", or a number.
int64_t label_column(const std::string& file, Fields& fields) {
  const JsonMember* member = fields.find("label");
  if (member == nullptr) return -1;
  const Json& value = member->value;
  if (value.kind == Json::Kind::kString && value.text == "last") return -1;
  if (value.kind == Json::Kind::kString && value.text == "first") return 0;
  if (value.kind == Json::Kind::kInt && value.integer >= 0) return value.integer;
  fail_at(file, member->line,
          "data: label is the column of the class: \"last\", \"first\" or a number from 0");
}

DataConfig read_data(const std::string& file, const Json& json) {
  Fields fields(file, json, "data");
  DataConfig data;
  const JsonMember& csv = fields.require("csv");
  data.line = csv.line;
  data.csv = fields.string("csv");
  if (data.csv.empty()) fail_at(file, csv.line, "data: csv is empty, expected the path of a file");
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  data.csv = (folder / data.csv).string();  // an absolute one stays
  data.label = label_column(file, fields);
  data.scale = fields.number("scale", 1);
  data.header = fields.boolean("header", false);
  data.test_every = fields.integer("test_every", 2, kMostCounted);
  fields.finish();
  return data;
}

// `kind` is the field with the factory's name: "layer", "optimizer".
FactoryCall read_factory(const std::string& file, const Json& json, const std::string& kind) {
  Fields fields(file, json, kind);
  FactoryCall call;
  call.kind = kind;
  call.name = fields.string(kind);
  call.line = fields.require(kind).line;
  for (const JsonMember& member : json.members) {
    if (member.name != kind) call.options.push_back(member);
  }
  return call;
}

}  // namespace

TrainingConfig read_config(const std::string& file) {
  const Json json = read_json(file);
  Fields fields(file, json, "training");
  TrainingConfig config;
  config.file = file;
  config.data = read_data(file, fields.require("data").value);

  const JsonMember& model = fields.require("model");
  config.model_line = model.line;
  if (model.value.kind != Json::Kind::kArray || model.value.items.empty()) {
    fail_at(file, model.line, "model: a list of layers [{\"layer\": ...}, ...] is expected");
  }
  for (const Json& item : model.value.items) {
    config.model.push_back(read_factory(file, item, "layer"));
  }
  config.optimizer = read_factory(file, fields.require("optimizer").value, "optimizer");
  config.loss = fields.string("loss");
  config.loss_line = fields.require("loss").line;
  config.epochs = fields.integer("epochs", 1, kMostCounted);
  config.batch_size = fields.integer("batch_size", 1, kMostCounted);
  config.seed = static_cast<uint64_t>(fields.integer("seed", 0, INT64_MAX, 0));
  fields.finish();
  return config;
}

}  // namespace tenon::cli
