// The plugin `images`: pictures and folders of them as objects. The face over them is
// data/images.hpp.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "class_folder.h"
#include "image.h"
#include "plugin_tensors.h"

namespace tenon::images {
namespace {

using files::printable;
using files::raise;

Mode mode_of(const std::string& text) {
  if (text == "RGB") return Mode::kRgb;
  if (text == "L") return Mode::kGray;
  raise(TN_INVALID_ARGUMENT, "a picture's mode is '{}', expected 'RGB' or 'L'", printable(text));
}

Tensor tensor_of(const std::string& path, const std::string& mode) {
  Image image = decode(path, mode_of(mode));
  return files::naming(path, [&] {
    // The tensor has the decoded memory itself: two copies would be more than a picture may take.
    auto held = std::make_unique<std::vector<uint8_t>>(std::move(image.values));
    const int64_t sizes[] = {image.channels, image.height, image.width};
    tn_tensor* tensor = nullptr;
    check(detail::api.tensor->from_memory(
        held->data(), 3, sizes, nullptr, TN_UINT8,
        [](void* values) { delete static_cast<std::vector<uint8_t>*>(values); }, held.get(),
        &tensor));
    held.release();
    return Tensor::take(tensor);
  });
}

const files::ClassFolderKind kPictures = {"picture", {".png", ".jpg", ".jpeg"}};

}  // namespace

void add() {
  plugin::object("ImageFile(str path)", [](Object& self, std::string path) {
    self.method("tensor(str mode='RGB') -> Tensor",
                [=](std::string mode) { return tensor_of(path, mode); });
  });
  plugin::object("ImageFolder(str root)", [](Object& self, std::string root) {
    auto folder = std::make_shared<const files::ClassFolder>(root, kPictures);
    self.method("classes() -> str[]", [=] { return files::StringList{folder->classes()}; });
    self.method("size() -> int", [=] { return folder->size(); });
    self.method("path(int index) -> str",
                [=](int64_t index) { return files::Text{folder->path(index)}; });
    self.method("label(int index) -> int", [=](int64_t index) { return folder->label(index); });
    self.method("image(int index, str mode='RGB') -> Tensor", [=](int64_t index, std::string mode) {
      return tensor_of(folder->path(index), mode);
    });
  });
}

}  // namespace tenon::images

TENON_PLUGIN(images) { images::add(); }
