// Arrays of NumPy and images of CIFAR as objects of the plugin `files`.
#include <memory>
#include <string>

#include "cifar.h"
#include "npy.h"
#include "plugin_tensors.h"

namespace tenon::files {
namespace {

Tensor tensor_of(const std::string& name, const NpyReader& reader) {
  Tensor tensor =
      naming(name, [&] { return Tensor::empty(reader.shape(), Dtype{reader.dtype()}); });
  if (tensor.numel() > 0) reader.read(data_of(tensor));
  return tensor;
}

void add_npy() {
  plugin::object("NpyFile(str path)", [](Object& self, std::string path) {
    auto reader = std::make_shared<const NpyReader>(path);
    self.method("tensor() -> Tensor", [=] { return tensor_of(path, *reader); });
  });
  plugin::object("NpyWriter(str path)", [](Object& self, std::string path) {
    self.method("save(Tensor tensor)", [=](Tensor tensor) {
      const Tensors list(&tensor, 1);
      Values values(list);
      write_npy(path, {"", tensor.dtype().value, {tensor.sizes().begin(), tensor.sizes().end()}},
                values);
    });
  });
  plugin::object("NpzWriter(str path)", [](Object& self, std::string path) {
    self.method("save(str[] names, Tensor[] tensors)", [=](tn_value names, Tensors tensors) {
      Values values(tensors);
      write_npz(path, named_entries<ArrayEntry>(path, names, tensors), values);
    });
  });
  plugin::object("NpzFile(str path)", [](Object& self, std::string path) {
    auto reader = std::make_shared<const NpzReader>(path);
    self.method("names() -> str[]", [=] { return StringList{reader->names()}; });
    self.method("tensor(str name) -> Tensor", [=](std::string name) {
      return tensor_of(fmt::format("{}: array '{}'", path, printable(name)), reader->array(name));
    });
  });
}

void add_cifar() {
  plugin::object(
      "CifarFile(str path, int classes=10)", [](Object& self, std::string path, int64_t classes) {
        auto reader = std::make_shared<const CifarReader>(path, classes);
        self.method("images() -> Tensor", [=] {
          Tensor images = naming(path, [&] {
            return Tensor::empty({reader->size(), 3, 32, 32}, uint8);
          });
          reader->read_images(static_cast<uint8_t*>(data_of(images)));
          return images;
        });
        self.method("labels(bool coarse=False) -> Tensor", [=](bool coarse) {
          Tensor labels = naming(path, [&] { return Tensor::empty({reader->size()}, int64); });
          reader->read_labels(static_cast<int64_t*>(data_of(labels)), coarse);
          return labels;
        });
      });
}

}  // namespace

void add_arrays() {
  add_npy();
  add_cifar();
}

}  // namespace tenon::files
