#include "augment.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include <tenon/data/augment.hpp>

#include "config.h"
#include "text.h"

namespace tenon::cli {
namespace {

double number(Fields& fields, const char* name, double absent) {
  return fields.number(name, -kMostFloat, kMostFloat, absent);
}
double required(Fields& fields, const char* name) {
  fields.require(name);
  return number(fields, name, 0);
}

// Images keep their size, which is that of the items that are held out.
Transform crop(Fields& fields) {
  const data::RandomCropOptions options{.padding = fields.integer("padding", 1, kMostPadding),
                                        .fill = number(fields, "fill", 0)};
  return [=](const Tensor& image, data::Random& random) {
    if (image.dim() < 2) {
      fail(
          fmt::format("RandomCrop: it is for images [.., height, width], got sizes {}; `shape` in "
                      "\"data\" gives items others",
                      tenon::detail::sizes_text(image.sizes())));
    }
    return data::RandomCrop(image.size(-2), image.size(-1), options)(image, random);
  };
}
Transform horizontal_flip(Fields& fields) {
  return data::RandomHorizontalFlip(number(fields, "p", 0.5));
}
Transform vertical_flip(Fields& fields) {
  return data::RandomVerticalFlip(number(fields, "p", 0.5));
}
Transform rotation(Fields& fields) {
  return data::RandomRotation(required(fields, "degrees"), {.fill = number(fields, "fill", 0)});
}
Transform jitter(Fields& fields) {
  return data::ColorJitter({.brightness = number(fields, "brightness", 0),
                            .contrast = number(fields, "contrast", 0),
                            .saturation = number(fields, "saturation", 0)});
}
Transform cutout(Fields& fields) {
  return data::Cutout(
      fields.integer("size", 1, kMostPadding),
      {.holes = fields.integer("holes", 1, 1000, 1), .fill = number(fields, "fill", 0)});
}

struct TransformKind {
  const char* name;
  Transform (*read)(Fields& fields);
};
constexpr TransformKind kTransformKinds[] = {
    {"RandomCrop", crop},         {"RandomHorizontalFlip", horizontal_flip},
    {"RandomRotation", rotation}, {"RandomVerticalFlip", vertical_flip},
    {"ColorJitter", jitter},      {"Cutout", cutout},
};

Transform read_transform(const std::string& file, const Json& json) {
  Fields fields(file, json, "augment");
  const std::string name = fields.string("transform");
  std::vector<std::string> names;
  for (const TransformKind& kind : kTransformKinds) names.emplace_back(kind.name);
  const auto found = std::ranges::find(kTransformKinds, name, &TransformKind::name);
  const int line = fields.require("transform").line;
  if (found == std::end(kTransformKinds)) {
    fail_at(file, line,
            fmt::format("augment: there is no '{}'{} (known are {})", printable(name),
                        did_you_mean(name, names), joined(names)));
  }
  try {
    Transform transform = found->read(fields);
    fields.finish();
    return transform;
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.starts_with(shown(file))) throw;
    fail_at(file, line, fmt::format("augment: {}", what));
  }
}

}  // namespace

std::vector<Transform> read_augment(const std::string& file, const JsonMember& member) {
  if (member.value.kind != Json::Kind::kArray) {
    fail_at(file, member.line,
            "augment: a list of transforms [{\"transform\": ...}, ...] is expected");
  }
  std::vector<Transform> list;
  for (const Json& item : member.value.items) list.push_back(read_transform(file, item));
  return list;
}

}  // namespace tenon::cli
