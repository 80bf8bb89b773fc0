// The plugin `files`: the formats as objects. The face over them is data.hpp and io.hpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "csv.h"
#include "idx.h"
#include "plugin_tensors.h"
#include "safetensors.h"

namespace tenon::files {
namespace {

// ---- CSV ----

// A column counted from the end where negative.
int64_t column_of(const std::string& path, const Table& table, int64_t column) {
  const int64_t wrapped = column < 0 ? column + table.columns : column;
  if (wrapped < 0 || wrapped >= table.columns) {
    raise(TN_INVALID_ARGUMENT, "{}: there is no column {} among its {}", path, column,
          table.columns);
  }
  return wrapped;
}

// The columns that are left.
Tensor features(const std::string& path, const Table& table, const std::vector<int64_t>& skipped,
                double scale) {
  std::vector<bool> is_skipped(static_cast<size_t>(table.columns));
  for (const int64_t column : skipped) is_skipped[column_of(path, table, column)] = true;
  const int64_t columns = std::ranges::count(is_skipped, false);
  std::vector<float> values;
  values.reserve(static_cast<size_t>(table.rows * columns));
  for (size_t i = 0; i < table.values.size(); ++i) {
    if (is_skipped[i % table.columns]) continue;
    const auto value = static_cast<float>(table.values[i] * scale);
    if (!std::isfinite(value)) {
      raise(TN_DATA_LOSS, "{}:{}: column {}: {} times the scale {} is more than float32 holds ({})",
            path, table.lines[i / table.columns], i % table.columns + 1, table.values[i], scale,
            std::numeric_limits<float>::max());
    }
    values.push_back(value);
  }
  return naming(path, [&] { return Tensor::from(values, {table.rows, columns}); });
}

// Numbers to learn, in the order of `columns`.
Tensor targets(const std::string& path, const Table& table, const std::vector<int64_t>& columns) {
  std::vector<float> values;
  std::vector<int64_t> places;
  for (const int64_t column : columns) places.push_back(column_of(path, table, column));
  for (int64_t row = 0; row < table.rows; ++row) {
    for (const int64_t column : places) {
      const double value = table.values[row * table.columns + column];
      values.push_back(static_cast<float>(value));
      if (!std::isfinite(values.back())) {
        raise(TN_DATA_LOSS, "{}:{}: column {}: {} is more than float32 holds ({})", path,
              table.lines[row], column + 1, value, std::numeric_limits<float>::max());
      }
    }
  }
  return naming(path, [&] {
    return Tensor::from(values, {table.rows, static_cast<int64_t>(places.size())});
  });
}

Tensor labels(const std::string& path, const Table& table, int64_t label) {
  const int64_t column = column_of(path, table, label);
  std::vector<int64_t> values(static_cast<size_t>(table.rows));
  for (size_t row = 0; row < values.size(); ++row) {
    const double value = table.values[row * table.columns + column];
    if (!(value >= 0 && value <= 1e15) || std::trunc(value) != value) {
      raise(TN_DATA_LOSS, "{}:{}: column {}: {} is not a class, expected 0, 1, 2, ...", path,
            table.lines[row], column + 1, value);
    }
    values[row] = static_cast<int64_t>(value);
  }
  return naming(path, [&] { return Tensor::from(values); });
}

void add_csv() {
  plugin::object(
      "CsvFile(str path, bool header=False)", [](Object& self, std::string path, bool header) {
        auto table = std::make_shared<const Table>(read_csv(path, header));
        self.method(
            "features(int label=-1, float scale=1) -> Tensor",
            [=](int64_t label, double scale) { return features(path, *table, {label}, scale); });
        self.method("labels(int label=-1) -> Tensor",
                    [=](int64_t label) { return labels(path, *table, label); });
        // Several columns to learn, as float32, and the others.
        self.method("inputs(int[] targets, float scale=1) -> Tensor",
                    [=](std::vector<int64_t> skipped, double scale) {
                      return features(path, *table, skipped, scale);
                    });
        self.method("targets(int[] columns) -> Tensor",
                    [=](std::vector<int64_t> columns) { return targets(path, *table, columns); });
      });
}

// ---- IDX ----

void add_idx() {
  plugin::object("IdxFile(str path)", [](Object& self, std::string path) {
    auto reader = std::make_shared<const IdxReader>(path);
    self.method("tensor() -> Tensor", [=] {
      Tensor tensor =
          naming(path, [&] { return Tensor::empty(reader->shape(), Dtype{reader->dtype()}); });
      if (tensor.numel() > 0) reader->read(data_of(tensor));
      return tensor;
    });
  });
}

// ---- safetensors ----

Tensor read_tensor(const std::string& path, const SafetensorsReader& reader,
                   const std::string& name) {
  const TensorEntry& entry = reader.find(name);
  if (entry.dtype == TN_DTYPE_NONE) {
    raise(TN_UNSUPPORTED, "{}: tensor '{}' is of dtype {}, which Tenon has not", path,
          printable(name), entry.dtype_name);
  }
  Tensor tensor = naming(fmt::format("{}: tensor '{}'", path, printable(name)),
                         [&] { return Tensor::empty(entry.shape, Dtype{entry.dtype}); });
  if (tensor.numel() > 0) reader.read(entry, data_of(tensor));
  return tensor;
}

// The tensor where it lies in the file, which stays open as long as the tensor lives. Where it is
// not aligned, or is of bools, which have to be looked at, a copy.
Tensor map_tensor(const std::string& path, const SafetensorsReader& reader,
                  const std::string& name) {
  const TensorEntry& entry = reader.find(name);
  if (entry.dtype == TN_DTYPE_NONE || entry.dtype == TN_BOOL || entry.begin == entry.end ||
      entry.begin % element_bytes(entry.dtype) != 0) {
    return read_tensor(path, reader, name);
  }
  auto kept = std::make_unique<std::shared_ptr<const disk::Mapping>>(reader.mapping());
  void* const data = static_cast<char*>((*kept)->memory()) + entry.begin;
  const auto release = [](void* mapping) {
    delete static_cast<std::shared_ptr<const disk::Mapping>*>(mapping);
  };
  tn_tensor* tensor = nullptr;
  naming(fmt::format("{}: tensor '{}'", path, printable(name)), [&] {
    check(detail::api.tensor->from_memory(data, static_cast<int32_t>(entry.shape.size()),
                                          entry.shape.data(), nullptr, entry.dtype, release,
                                          kept.get(), &tensor));
  });
  static_cast<void>(kept.release());
  return Tensor::take(tensor);
}

void save(const std::string& path, const tn_value& names, const Tensors& tensors) {
  std::vector<TensorEntry> entries = named_entries<TensorEntry>(path, names, tensors);
  Values values(tensors);
  write_safetensors(path, std::move(entries), values);
}

void add_safetensors() {
  plugin::object("SafetensorsFile(str path)", [](Object& self, std::string path) {
    auto reader = std::make_shared<const SafetensorsReader>(path);
    self.method("names() -> str[]", [=] {
      StringList names;
      for (const TensorEntry& entry : reader->entries()) names.strings.push_back(entry.name);
      return names;
    });
    self.method("tensor(str name) -> Tensor",
                [=](std::string name) { return read_tensor(path, *reader, name); });
    self.method("mapped(str name) -> Tensor",
                [=](std::string name) { return map_tensor(path, *reader, name); });
  });
  plugin::object("SafetensorsWriter(str path)", [](Object& self, std::string path) {
    self.method("save(str[] names, Tensor[] tensors)",
                [=](tn_value names, Tensors tensors) { save(path, names, tensors); });
    // Fails where save would find no place for the file: for work that is saved at its end.
    self.method("check()", [=] { const OutputFile file(path); });
  });
}

}  // namespace
}  // namespace tenon::files

TENON_PLUGIN(files) {
  files::add_csv();
  files::add_idx();
  files::add_safetensors();
  files::add_arrays();
  files::add_texts();
}
