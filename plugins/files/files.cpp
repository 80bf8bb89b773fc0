// The plugin `files`: the formats as objects. The face over them is data.hpp and io.hpp.
#include <memory>
#include <string>
#include <vector>

#include "idx.h"
#include "plugin_tensors.h"
#include "safetensors.h"

namespace tenon::files {
namespace {

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
  files::add_tables();
  files::add_idx();
  files::add_safetensors();
  files::add_arrays();
  files::add_texts();
}
