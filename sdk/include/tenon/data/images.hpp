// Pictures and folders of them as data, by the plugin `images`. Not part of tenon.hpp.
//
//   data::ImageFolder photos("photos");  // photos/cat/1.jpg, photos/dog/7.png, ...
//   data::DataLoader batches(photos, {.batch_size = 32, .shuffle = true, .num_workers = 4});
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "tenon/data/class_folder.hpp"
#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {

// A PNG or JPEG file: uint8 [3, height, width] of red, green and blue, or with mode "L" [1, height,
// width] of gray. Transparency is left out. Thread-safe.
inline Tensor load_image(const std::string& path, const char* mode = "RGB") {
  return Object::create("ImageFile", path).invoke("tensor", mode);
}

// As torchvision's: each folder in `root` is a class, by name from 0, and its pictures are the
// samples, by name. A sample is the picture, as load_image gives it, and its class. Copies share
// one list.
class ImageFolder : public ClassFolder {
 public:
  explicit ImageFolder(const std::string& root, const std::string& mode = "RGB")
      : ClassFolder("ImageFolder", root), mode_(mode) {}

  std::pair<Tensor, int64_t> get(int64_t index) const {
    return {folder().invoke("image", index, mode_.c_str()), label(index)};
  }

 private:
  std::string mode_;
};

}  // namespace data
}  // namespace v0
}  // namespace tenon
