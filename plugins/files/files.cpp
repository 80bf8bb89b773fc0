// The plugin `files`: the formats as objects. The face over them is data.hpp and io.hpp.
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tenon/plugin.hpp"

#include "csv.h"
#include "idx.h"
#include "safetensors.h"

namespace tenon::files {
namespace {

// What a method gives for "str[]".
struct StringList {
  std::vector<std::string> strings;
};

void give(tn_value& value, const StringList& list) {
  std::vector<const char*> pointers;
  for (const std::string& text : list.strings) pointers.push_back(text.c_str());
  tn_value borrowed = detail::make_value(TN_KIND_STRINGS, static_cast<uint32_t>(pointers.size()));
  borrowed.as.strings = pointers.data();
  check(host()->value_copy(&borrowed, &value));
}

void* data_of(const Tensor& tensor) {
  void* data = nullptr;
  check(detail::api.tensor->mutable_data(tensor.get(), &data));
  return data;
}

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

Tensor features(const std::string& path, const Table& table, int64_t label, double scale) {
  const int64_t skipped = column_of(path, table, label);
  std::vector<float> values;
  values.reserve(static_cast<size_t>(table.rows * (table.columns - 1)));
  for (size_t i = 0; i < table.values.size(); ++i) {
    if (static_cast<int64_t>(i) % table.columns == skipped) continue;
    const auto value = static_cast<float>(table.values[i] * scale);
    if (!std::isfinite(value)) {
      raise(TN_DATA_LOSS, "{}:{}: column {}: {} times the scale {} is more than float32 holds ({})",
            path, table.lines[i / table.columns], i % table.columns + 1, table.values[i], scale,
            std::numeric_limits<float>::max());
    }
    values.push_back(value);
  }
  return naming(path, [&] { return Tensor::from(values, {table.rows, table.columns - 1}); });
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
  plugin::object("CsvFile(str path, bool header=False)", [](Object& self, std::string path,
                                                            bool header) {
    auto table = std::make_shared<const Table>(read_csv(path, header));
    self.method("features(int label=-1, float scale=1) -> Tensor",
                [=](int64_t label, double scale) { return features(path, *table, label, scale); });
    self.method("labels(int label=-1) -> Tensor",
                [=](int64_t label) { return labels(path, *table, label); });
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

// The values of each tensor in turn, in row-major order on the host.
class Values : public TensorSource {
 public:
  explicit Values(const Tensors& tensors) : tensors_(tensors) {}

  const void* bytes_of(size_t i) override {
    const Tensor tensor = tensors_[i];
    buffer_.resize(static_cast<size_t>(tensor.numel() * tensor.dtype().itemsize()));
    check(detail::api.tensor->read(tensor.get(), buffer_.data(), buffer_.size()));
    return buffer_.data();
  }

 private:
  const Tensors& tensors_;
  std::vector<char> buffer_;
};

void save(const std::string& path, const tn_value& names, const Tensors& tensors) {
  if (names.count != tensors.size()) {
    raise(TN_INVALID_ARGUMENT, "{}: {} names for {} tensors", path, names.count, tensors.size());
  }
  std::vector<TensorEntry> entries(names.count);
  for (uint32_t i = 0; i < names.count; ++i) {
    const Tensor tensor = tensors[i];
    entries[i].name = names.as.strings[i];
    entries[i].dtype = tensor.dtype().value;
    entries[i].shape.assign(tensor.sizes().begin(), tensor.sizes().end());
  }
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
}
