// The plugin `images`: pictures and folders of them as objects. The face over them is
// data/images.hpp.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "image.h"
#include "plugin_tensors.h"

namespace tenon::images {
namespace {

namespace fs = std::filesystem;
using files::printable;
using files::raise;

Mode mode_of(const std::string& text) {
  if (text == "RGB") return Mode::kRgb;
  if (text == "L") return Mode::kGray;
  raise(TN_INVALID_ARGUMENT, "a picture's mode is '{}', expected 'RGB' or 'L'", printable(text));
}

Tensor tensor_of(const std::string& path, const std::string& mode) {
  const Image image = decode(path, mode_of(mode));
  return files::naming(path, [&] {
    return Tensor::from(image.values, {image.channels, image.height, image.width});
  });
}

struct Folder {
  std::string root;
  std::vector<std::string> classes;
  std::vector<std::pair<std::string, int64_t>> items;  // path and class

  const std::pair<std::string, int64_t>& at(int64_t index) const {
    if (index >= 0 && index < static_cast<int64_t>(items.size())) {
      return items[static_cast<size_t>(index)];
    }
    raise(TN_INVALID_ARGUMENT, "{}: picture {} of {}", root, index, items.size());
  }
};

bool is_picture(const fs::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

// What is in a folder, sorted by name.
std::vector<fs::path> entries_of(const std::string& path) {
  std::error_code error;
  std::vector<fs::path> list;
  for (fs::directory_iterator at(path, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    list.push_back(at->path());
  }
  if (error) raise(TN_NOT_FOUND, "{}: cannot be read as a folder: {}", path, error.message());
  std::ranges::sort(list);
  return list;
}

Folder read_folder(const std::string& root) {
  Folder folder{root, {}, {}};
  std::error_code ignored;
  for (const fs::path& of_class : entries_of(root)) {
    if (!fs::is_directory(of_class, ignored)) continue;
    for (const fs::path& file : entries_of(of_class.string())) {
      if (is_picture(file)) {
        folder.items.emplace_back(file.string(), static_cast<int64_t>(folder.classes.size()));
      }
    }
    folder.classes.push_back(of_class.filename().string());
  }
  if (folder.items.empty()) {
    raise(TN_NOT_FOUND, "{}: has no .png, .jpg or .jpeg in folders of its own, one for each class",
          root);
  }
  return folder;
}

}  // namespace

void add() {
  plugin::object("ImageFile(str path)", [](Object& self, std::string path) {
    self.method("tensor(str mode='RGB') -> Tensor",
                [=](std::string mode) { return tensor_of(path, mode); });
  });
  plugin::object("ImageFolder(str root)", [](Object& self, std::string root) {
    auto folder = std::make_shared<const Folder>(read_folder(root));
    self.method("classes() -> str[]", [=] { return files::StringList{folder->classes}; });
    self.method("size() -> int", [=] { return static_cast<int64_t>(folder->items.size()); });
    self.method("path(int index) -> str[]",
                [=](int64_t index) { return files::StringList{{folder->at(index).first}}; });
    self.method("label(int index) -> int", [=](int64_t index) { return folder->at(index).second; });
    self.method("image(int index, str mode='RGB') -> Tensor", [=](int64_t index, std::string mode) {
      return tensor_of(folder->at(index).first, mode);
    });
  });
}

}  // namespace tenon::images

TENON_PLUGIN(images) { images::add(); }
