#include "items.h"

#include <tenon/ops/shape.hpp>

namespace tenon::cli {

Pictures::Pictures(const DataConfig& data)
    : folder_(data.paths[0], data.is_gray ? "L" : "RGB"),
      resize_(data.resize[0], data.resize[1]),
      crop_(data.crop),
      normalize_(data.mean, data.std, {.scale = data.scale}) {}

std::vector<int64_t> Pictures::labels() const {
  std::vector<int64_t> list;
  for (int64_t i = 0; i < size(); ++i) list.push_back(folder_.label(i));
  return list;
}

Tensor Pictures::get(int64_t number, data::Random* random,
                     const std::vector<Transform>& transforms) const {
  Tensor image = resize_(folder_.get(number).first);
  if (!crop_.empty()) {
    image = random != nullptr ? data::RandomCrop(crop_[0], crop_[1])(image, *random)
                              : data::CenterCrop(crop_[0], crop_[1])(image);
  }
  if (random != nullptr) {
    for (const Transform& transform : transforms) image = transform(image, *random);
  }
  return normalize_(image);
}

std::pair<Tensor, Tensor> Items::get(int64_t index, data::Random& random) const {
  const Tensor label = select(rows.y, 0, index);
  Tensor image = select(rows.x, 0, index);
  if (pictures != nullptr) {
    const auto number = image.item<int64_t>();
    return {pictures->get(number, is_trained ? &random : nullptr, transforms), label};
  }
  for (const Transform& transform : transforms) image = transform(image, random);
  return {image, label};
}

}  // namespace tenon::cli
