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
// not aligned, or is of bools, of unsigned integers or of floats of 8 bits, which have to be looked at, a
// copy.
Tensor map_tensor(const std::string& path, const SafetensorsReader& reader,
                  const std::string& name) {
  const TensorEntry& entry = reader.find(name);
  if (entry.dtype == TN_DTYPE_NONE || entry.dtype == TN_BOOL || entry.begin == entry.end ||
      entry.element_bytes != element_bytes(entry.dtype) || entry.dtype_name == "U64" ||
      entry.begin % entry.element_bytes != 0) {
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

Tensor saved_bytes(const std::string& name, const tn_value& names, const Tensors& tensors) {
  std::vector<TensorEntry> entries = named_entries<TensorEntry>(name, names, tensors);
  Values values(tensors);
  Tensor bytes;
  write_safetensors(name, std::move(entries), values, [&](uint64_t n) {
    bytes = naming(name, [&] { return Tensor::empty({static_cast<int64_t>(n)}, uint8); });
    return data_of(bytes);
  });
  return bytes;
}

StringList names_of(const SafetensorsReader& reader) {
  StringList names;
  for (const TensorEntry& entry : reader.entries()) names.strings.push_back(entry.name);
  return names;
}

// How many bytes the tensor has in the file, and its sizes.
Tensor sizes_of(const TensorEntry& entry) {
  std::vector<int64_t> sizes{static_cast<int64_t>(entry.end - entry.begin)};
  sizes.insert(sizes.end(), entry.shape.begin(), entry.shape.end());
  return Tensor::from(sizes);
}

// What is read in the place of a file: bytes [n] on the cpu.
Tensor expect_bytes(const Tensor& bytes) {
  if (bytes.dtype() == uint8 && bytes.dim() == 1 && bytes.device().is_cpu() &&
      bytes.is_contiguous()) {
    return bytes;
  }
  raise(TN_INVALID_ARGUMENT, "SafetensorsBytes: expected bytes [n] of uint8 on the cpu");
}

void add_safetensors() {
  // call: how its messages begin.
  plugin::object("SafetensorsBytes(Tensor bytes, str call=\"load_bytes\")",
                 [](Object& self, Tensor given, std::string name) {
                   const Tensor bytes = expect_bytes(given);
                   const char* const data = static_cast<const char*>(bytes.get()->data);
                   auto reader = std::make_shared<const SafetensorsReader>(
                       InputFile(name, {data, static_cast<size_t>(bytes.numel())}));
                   self.method("names() -> str[]", [=] { return names_of(*reader); });
                   // `bytes` lives as long as the reader.
                   self.method("tensor(str name) -> Tensor",
                               [reader, bytes, name](std::string tensor) {
                                 return read_tensor(name, *reader, tensor);
                               });
                 });
  plugin::object("SafetensorsFile(str path)", [](Object& self, std::string path) {
    auto reader = std::make_shared<const SafetensorsReader>(path);
    self.method("names() -> str[]", [=] { return names_of(*reader); });
    self.method("dtypes() -> str[]", [=] {
      StringList dtypes;
      for (const TensorEntry& entry : reader->entries()) dtypes.strings.push_back(entry.dtype_name);
      return dtypes;
    });
    self.method("sizes(str name) -> Tensor",
                [=](std::string name) { return sizes_of(reader->find(name)); });
    self.method("tensor(str name) -> Tensor",
                [=](std::string name) { return read_tensor(path, *reader, name); });
    self.method("mapped(str name) -> Tensor",
                [=](std::string name) { return map_tensor(path, *reader, name); });
  });
  plugin::object("SafetensorsWriter(str path)", [](Object& self, std::string path) {
    self.method("save(str[] names, Tensor[] tensors)",
                [=](tn_value names, Tensors tensors) { save(path, names, tensors); });
    self.method("bytes(str[] names, Tensor[] tensors) -> Tensor",
                [=](tn_value names, Tensors tensors) { return saved_bytes(path, names, tensors); });
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
