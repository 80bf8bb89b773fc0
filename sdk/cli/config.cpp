#include "config.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include <tenon/metrics.hpp>

#include "description.h"
#include "text.h"

namespace tenon::cli {
namespace {

// A column by its number from 0, or by its name where there is a header.
std::optional<data::Column> column_of(const Json& value, const DataConfig& data) {
  if (value.kind == Json::Kind::kInt && value.integer >= 0) return value.integer;
  if (value.kind == Json::Kind::kString && data.csv.header) return value.text;
  return {};
}

// The label's column; "last" and "first" are no names.
data::Column label_column(const std::string& file, Fields& fields, const DataConfig& data) {
  const JsonMember* member = fields.find("label");
  if (member == nullptr) return -1;
  const Json& value = member->value;
  if (value.kind == Json::Kind::kString && value.text == "last") return -1;
  if (value.kind == Json::Kind::kString && value.text == "first") return 0;
  if (const auto column = column_of(value, data)) return *column;
  fail_at(file, member->line,
          "data: label is the column of the class: \"last\", \"first\", a number from 0, or with "
          "\"header\": true a name");
}

// A path as the file has it, from the working directory; that the field has paths is noted.
std::string path_from(const std::string& file, const JsonMember& member, const Json& value,
                      DataConfig* data) {
  data->path_fields.insert(member.name);
  if (value.kind != Json::Kind::kString) {
    fail_at(file, value.line,
            fmt::format("data: {} is {}, expected a path", member.name, value.kind_name()));
  }
  if (value.text.empty()) {
    fail_at(file, value.line,
            fmt::format("data: {} is empty, expected the path of a file", member.name));
  }
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return (folder / value.text).string();  // an absolute one stays
}

// What all tables have.
void read_split(const std::string& file, Fields& fields, DataConfig& data) {
  data.scale = fields.number("scale", -kMostFloat, kMostFloat, 1);
  data.test_every = fields.integer("test_every", 2, kMostCounted);
  if (const JsonMember* shape = fields.find("shape")) {
    if (shape->value.kind == Json::Kind::kArray) {
      for (const Json& size : shape->value.items) {
        if (size.kind == Json::Kind::kInt && size.integer >= 1 && size.integer <= kMostCounted)
          data.shape.push_back(size.integer);
      }
    }
    if (data.shape.empty() || data.shape.size() != shape->value.items.size() ||
        data.shape.size() > 8)
      fail_at(file, shape->line, "data: shape is a list of 1 to 8 sizes from 1, as [1, 28, 28]");
  }
}

// One column, or a list of them; `what` says what they are for.
std::vector<data::Column> columns_of(const std::string& file, Fields& fields,
                                     const DataConfig& data, const char* name, const char* what) {
  const JsonMember* member = fields.find(name);
  if (member == nullptr) return {};
  const bool is_list = member->value.kind == Json::Kind::kArray;
  std::vector<data::Column> columns;
  for (const Json& item : is_list ? member->value.items : std::vector<Json>{member->value}) {
    const auto column = column_of(item, data);
    if (!column)
      fail_at(file, member->line,
              fmt::format("data: {} are columns {}: a number from 0, or with \"header\": true a "
                          "name, or a list of these",
                          name, what));
    columns.push_back(*column);
  }
  return columns;
}

void read_csv_data(const std::string& file, Fields& fields, DataConfig& data) {
  const JsonMember& csv = fields.require("csv");
  data.paths = {path_from(file, csv, csv.value, &data)};
  data.csv.header = fields.boolean("header", false);
  data.csv.label = label_column(file, fields, data);
  data.csv.targets = columns_of(file, fields, data, "targets", "of numbers");
  if (const JsonMember* targets = fields.find("targets")) {
    if (fields.find("label") != nullptr)
      fail_at(file, targets->line, "data: label and targets are there, expected one of them");
    if (data.csv.targets.empty())
      fail_at(file, targets->line, "data: targets are columns of numbers, expected one at least");
  }
  data.csv.skip = columns_of(file, fields, data, "skip", "that are not read");
  data.csv.one_hot = columns_of(file, fields, data, "one_hot", "of texts");
  if (fields.find("missing") != nullptr)
    data.csv.missing = fields.number("missing", -kMostFloat, kMostFloat, 0);
  if (const JsonMember* separator = fields.find("separator")) {
    const std::string text = fields.string("separator");
    if (text.size() != 1)
      fail_at(file, separator->line,
              fmt::format("data: separator is '{}', expected one character, as \",\"",
                          printable(text)));
    data.csv.separator = text[0];
  }
  read_split(file, fields, data);
}

void read_idx_data(const std::string& file, Fields& fields, DataConfig& data) {
  for (const char* name : {"images", "labels"}) {
    const JsonMember& member = fields.require(name);
    data.paths.push_back(path_from(file, member, member.value, &data));
  }
  read_split(file, fields, data);
}

void read_safetensors_data(const std::string& file, Fields& fields, DataConfig& data) {
  const JsonMember& member = fields.require("safetensors");
  data.paths = {path_from(file, member, member.value, &data)};
  data.input = fields.string("input");
  data.target = fields.string("target");
  read_split(file, fields, data);
}

void read_text_data(const std::string& file, Fields& fields, DataConfig& data) {
  const JsonMember& text = fields.require("text");
  if (text.value.kind == Json::Kind::kArray) {
    for (const Json& path : text.value.items)
      data.paths.push_back(path_from(file, text, path, &data));
    if (data.paths.empty()) fail_at(file, text.line, "data: text is empty, expected paths");
  } else {
    data.paths = {path_from(file, text, text.value, &data)};
  }
  if (const JsonMember* tokenizer = fields.find("tokenizer"))
    data.tokenizer = path_from(file, *tokenizer, tokenizer->value, &data);
  data.context = fields.integer("context", 1, kMostContext);
  data.validation = fields.number("validation", -kMostFloat, kMostFloat, 0.1);
  if (!(data.validation > 0 && data.validation < 1)) {
    fail_at(file, fields.require("validation").line,
            fmt::format("data: validation is {}, expected a part of the text between 0 and 1",
                        data.validation));
  }
}

void read_text_folder_data(const std::string& file, Fields& fields, DataConfig& data) {
  const JsonMember& folder = fields.require("text_folder");
  data.paths = {path_from(file, folder, folder.value, &data)};
  if (const JsonMember* tokenizer = fields.find("tokenizer"))
    data.tokenizer = path_from(file, *tokenizer, tokenizer->value, &data);
  data.length = fields.integer("length", 1, kMostContext);
  data.test_every = fields.integer("test_every", 2, kMostCounted);
}

// Height and width: one number for both, or a list of two.
std::vector<int64_t> image_size(const std::string& file, const JsonMember& member) {
  const Json& value = member.value;
  std::vector<int64_t> sizes;
  const auto add = [&](const Json& item) {
    if (item.kind == Json::Kind::kInt) sizes.push_back(item.integer);
    return item.kind == Json::Kind::kInt && item.integer >= 1 && item.integer <= kMostSide;
  };
  if (value.kind == Json::Kind::kArray) {
    if (value.items.size() == 2 && std::ranges::all_of(value.items, add)) return sizes;
  } else if (add(value)) {
    return {value.integer, value.integer};
  }
  fail_at(file, member.line,
          fmt::format("data: {} is a height and width, one number from 1 to {} or a list of two",
                      member.name, kMostSide));
}

// A number for each channel of the images.
std::vector<double> for_channels(const std::string& file, Fields& fields, const char* name,
                                 const DataConfig& data, double absent) {
  const size_t n = data.is_gray ? 1 : 3;
  const JsonMember* member = fields.find(name);
  if (member == nullptr) return std::vector<double>(n, absent);
  std::vector<double> list;
  for (const Json& item : member->value.items) {
    if (item.kind == Json::Kind::kInt || item.kind == Json::Kind::kFloat) list.push_back(item.real);
  }
  if (list.size() != n || member->value.items.size() != n) {
    fail_at(file, member->line,
            fmt::format("data: {} is a list of {} {}: of each channel of the images", name, n,
                        n == 1 ? "number" : "numbers"));
  }
  return list;
}

void read_image_folder_data(const std::string& file, Fields& fields, DataConfig& data) {
  const JsonMember& folder = fields.require("image_folder");
  data.paths = {path_from(file, folder, folder.value, &data)};
  if (const JsonMember* mode = fields.find("mode")) {
    const std::string name = fields.string("mode");
    if (name != "RGB" && name != "L")
      fail_at(file, mode->line,
              fmt::format("data: mode is '{}', expected 'RGB' or 'L', gray", printable(name)));
    data.is_gray = name == "L";
  }
  data.resize = image_size(file, fields.require("resize"));
  if (const JsonMember* crop = fields.find("crop")) {
    data.crop = image_size(file, *crop);
    if (data.crop[0] > data.resize[0] || data.crop[1] > data.resize[1])
      fail_at(file, crop->line,
              fmt::format("data: crop is [{}], expected a part of the resized image, [{}]",
                          fmt::join(data.crop, ", "), fmt::join(data.resize, ", ")));
  }
  data.scale = fields.number("scale", -kMostFloat, kMostFloat, 1 / 255.0);
  data.mean = for_channels(file, fields, "mean", data, 0);
  data.std = for_channels(file, fields, "std", data, 1);
  for (const double deviation : data.std) {
    if (!(deviation > 0))
      fail_at(file, fields.require("std").line,
              fmt::format("data: std has {}, expected numbers above 0", deviation));
  }
  data.workers = fields.integer("workers", 0, kMostWorkers, -1);
  data.test_every = fields.integer("test_every", 2, kMostCounted);
}

struct DataKind {
  const char* field;
  DataConfig::Kind kind;
  void (*read)(const std::string& file, Fields& fields, DataConfig& data);
};
constexpr DataKind kDataKinds[] = {
    {"csv", DataConfig::Kind::kCsv, read_csv_data},
    {"images", DataConfig::Kind::kIdx, read_idx_data},
    {"safetensors", DataConfig::Kind::kSafetensors, read_safetensors_data},
    {"text", DataConfig::Kind::kText, read_text_data},
    {"text_folder", DataConfig::Kind::kTextFolder, read_text_folder_data},
    {"image_folder", DataConfig::Kind::kImageFolder, read_image_folder_data},
};

DataConfig read_data(const std::string& file, const Json& json) {
  const DataKind* kind = nullptr;
  int line = 0;
  std::vector<std::string> names;
  for (const DataKind& known : kDataKinds) {
    names.emplace_back(known.field);
    const JsonMember* member = Fields(file, json, "data").find(known.field);
    if (member == nullptr) continue;
    if (kind != nullptr) {
      fail_at(file, member->line,
              fmt::format("data: {} and {} are there, expected one kind of data", kind->field,
                          known.field));
    }
    kind = &known;
    line = member->line;
  }
  if (kind == nullptr) {
    for (const JsonMember& member : json.members) {
      const std::string hint = did_you_mean(member.name, names);
      if (hint.empty()) continue;
      fail_at(file, member.line,
              fmt::format("data: unknown field '{}'{}", printable(member.name), hint));
    }
    fail_at(file, json.line, fmt::format("data: one of the fields {} is expected", joined(names)));
  }
  Fields fields(file, json, "data");
  DataConfig data;
  data.kind = kind->kind;
  data.line = line;
  kind->read(file, fields, data);
  fields.finish();
  return data;
}

void read_metrics(Fields& fields, TrainingConfig& config) {
  const JsonMember* metrics = fields.find("metrics");
  if (metrics == nullptr) return;
  config.metrics_line = metrics->line;
  if (metrics->value.kind != Json::Kind::kArray) {
    fail_at(config.file, metrics->line, "metrics: a list of names is expected, as [\"f1\"]");
  }
  for (const Json& item : metrics->value.items) {
    if (item.kind != Json::Kind::kString) {
      fail_at(config.file, item.line,
              fmt::format("metrics: a name is expected, this is {}", item.kind_name()));
    }
    try {
      const std::string name = metrics::make_metric(item.text)->name();
      if (std::ranges::find(config.metrics, name) != config.metrics.end())
        fail(fmt::format("'{}' is there twice", name));
      config.metrics.push_back(name);
    } catch (const Error& error) {
      fail_at(config.file, item.line, fmt::format("metrics: {}", error.what()));
    }
  }
}

void read_early_stopping(Fields& fields, TrainingConfig& config) {
  const JsonMember* member = fields.find("early_stopping");
  if (member == nullptr) return;
  Fields own(config.file, member->value, "early_stopping");
  EarlyStoppingOptions options;
  options.patience = own.integer("patience", 0, kMostCounted, 5);
  options.min_delta = own.number("min_delta", 0, kMostFloat, 0);
  own.finish();
  config.early_stopping = options;
}

// "O2", or {"policy": "O2", "dtype": "float16"}.
void read_amp(Fields& fields, TrainingConfig& config) {
  const JsonMember* member = fields.find("amp");
  if (member == nullptr) return;
  config.amp.line = member->line;
  if (member->value.kind == Json::Kind::kString) {
    config.amp.policy = member->value.text;
  } else if (member->value.kind == Json::Kind::kObject) {
    Fields own(config.file, member->value, "amp");
    config.amp.policy = own.string("policy");
    if (const JsonMember* dtype = own.find("dtype")) {
      config.amp.dtype = own.string("dtype");
      if (config.amp.dtype.empty())
        fail_at(config.file, dtype->line, "amp: dtype is empty, expected float16 or bfloat16");
    }
    own.finish();
  }
  if (config.amp.policy.empty()) {
    fail_at(config.file, member->line,
            "amp: the name of a policy is expected, as \"O1\", or {\"policy\": \"O1\", \"dtype\": "
            "\"float16\"}");
  }
}

// `kind`: what it is a name of.
std::string name_of(const std::string& file, Fields& fields, const char* field, const char* kind) {
  std::string name = fields.string(field);
  if (name.empty()) {
    fail_at(file, fields.require(field).line,
            fmt::format("training: {} is empty, expected a name {}", field, kind));
  }
  return name;
}

}  // namespace

TrainingConfig read_config(const std::string& file, bool forward_alone) {
  const Json json = read_json(file);
  Fields fields(file, json, "training");
  TrainingConfig config;
  config.file = file;
  config.data = read_data(file, fields.require("data").value);

  const JsonMember& model = fields.require("model");
  config.model_line = model.line;
  config.model = read_layers(file, model, "model");
  const bool whole = !forward_alone || fields.find("optimizer") != nullptr;
  if (whole) {
    const JsonMember& optimizer = fields.require("optimizer");
    config.optimizer = read_description(file, optimizer.value, "optimizer");
    if (config.optimizer.name.empty())
      fail_at(file, optimizer.line, "optimizer: its name is empty, expected one as \"Adam\"");
  }
  if (whole || fields.find("loss") != nullptr) {
    const JsonMember& loss = fields.require("loss");
    config.loss_line = loss.line;
    if (loss.value.kind == Json::Kind::kObject) {
      config.loss_layer = read_description(file, loss.value, "loss");
    } else if (loss.value.kind != Json::Kind::kString) {
      fail_at(
          file, loss.line,
          fmt::format("loss: the name of an op is expected, or {{\"loss\": \"CrossEntropyLoss\", "
                      "..}}, a layer with options; this is {}",
                      loss.value.kind_name()));
    } else {
      config.loss = name_of(config.file, fields, "loss", "of an op, as \"cross_entropy\"");
    }
  }
  if (const JsonMember* schedule = fields.find("schedule")) {
    config.schedule = read_schedule(file, *schedule);
  }
  config.clip_grad_norm = fields.positive("clip_grad_norm", kMostFloat, 0);
  config.accumulate = fields.integer("accumulate", 1, kMostInBatch, 1);
  config.compile = fields.boolean("compile", false);
  if (const JsonMember* augment = fields.find("augment")) {
    config.augment = read_augment(file, *augment);
    config.augment_line = augment->line;
  }
  read_amp(fields, config);
  read_metrics(fields, config);
  read_early_stopping(fields, config);
  if (const JsonMember* device = fields.find("device")) {
    config.device = name_of(config.file, fields, "device", "as \"cpu\"");
    config.device_line = device->line;
  }
  // A table has passes; text is read at random places.
  const bool of_text = config.data.kind == DataConfig::Kind::kText;
  const char* count = of_text ? "steps" : "epochs";
  if (whole || fields.find(count) != nullptr)
    (of_text ? config.steps : config.epochs) = fields.integer(count, 1, kMostCounted);
  const int64_t most = of_text ? kMostInBatch / config.data.context : kMostCounted;
  if (whole || fields.find("batch_size") != nullptr) {
    config.batch_size = fields.integer("batch_size", 1, most);
    config.batch_line = fields.require("batch_size").line;
  } else {
    config.batch_size = 1;
  }
  for (const char* of_tables : {"augment", "metrics"}) {
    const JsonMember* member = fields.find(of_tables);
    if (of_text && member != nullptr)
      fail_at(file, member->line,
              fmt::format("{}: a text has none, only tables and folders have", of_tables));
  }
  if (!of_text) config.drop_last = fields.boolean("drop_last", false);
  config.seed = static_cast<uint64_t>(fields.integer("seed", 0, INT64_MAX, 0));
  fields.finish();
  return config;
}

}  // namespace tenon::cli
