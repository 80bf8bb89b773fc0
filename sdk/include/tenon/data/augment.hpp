// What is drawn anew for each image that a model learns from: crops, flips, rotations, colours, holes;
// and Resize and CenterCrop, which draw nothing. Names and meanings are torchvision's, but for Cutout.
// Each is a function object over images [.., height, width] of uint8 or float32 on the cpu, made once and
// called by workers at the same time; what it draws comes from the sample's own Random, so the number of
// workers changes nothing.
//
//   auto images = data::map(folder, data::Augment(data::RandomCrop(32, 32, {.padding = 4}),
//                                                 data::RandomHorizontalFlip(), data::Cutout(8)));
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/data/collate.hpp"
#include "tenon/data/random.hpp"
#include "tenon/lists.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {

namespace detail {

using tenon::detail::joined;

inline void refuse_image(const char* name, const Tensor& image, const std::string& expected) {
  fail(joined({name, ": it is for ", expected, ", got ", shown(image)}));
}
inline void expect_size(const char* name, const char* what, int64_t size, int64_t least = 1) {
  if (size >= least) return;
  fail(joined({name, ": ", what, " is ", std::to_string(size), ", expected at least ",
               std::to_string(least)}));
}
inline void expect_probability(const char* name, double p) {
  if (p >= 0 && p <= 1) return;
  fail(joined({name, ": p is ", tenon::detail::number_text(p), ", expected 0 to 1"}));
}

// f(const T* from, T* to) for each plane of an image; the result has planes of height * width.
template <typename F>
Tensor each_plane(const char* name, const Tensor& given, int64_t height, int64_t width, F f) {
  const Tensor image = on_host(given);
  const bool is_bytes = image.dtype() == uint8;
  if (image.dim() < 2 || image.numel() == 0 || (!is_bytes && image.dtype() != float32))
    refuse_image(name, image, "images [.., height, width] of uint8 or float32");
  std::vector<int64_t> sizes = image.sizes();
  const int64_t from_size = sizes[sizes.size() - 2] * sizes.back();
  sizes[sizes.size() - 2] = height;
  sizes.back() = width;
  Tensor result = Tensor::empty(sizes, image.dtype());
  const auto run = [&](const auto* from, auto* to) {
    for (int64_t i = 0; i < image.numel() / from_size; ++i)
      f(from + i * from_size, to + i * height * width);
  };
  if (is_bytes) {
    run(image.data<uint8_t>(), result.mutable_data<uint8_t>());
  } else {
    run(image.data<float>(), result.mutable_data<float>());
  }
  return result;
}
template <typename T>
T pixel_of(double value) {
  if constexpr (std::is_same_v<T, uint8_t>)
    return uint8_t(std::clamp(std::nearbyint(value), 0.0, 255.0));
  return T(value);
}
template <typename T>
constexpr double kWhite = std::is_same_v<T, uint8_t> ? 255 : 1;

// The part of height * width whose first pixel is at (top, left), which may lie outside: `fill` there.
inline Tensor cropped(const char* name, const Tensor& image, int64_t top, int64_t left,
                      int64_t height, int64_t width, double fill) {
  const int64_t h = image.dim() < 2 ? 0 : image.size(-2), w = image.dim() < 2 ? 0 : image.size(-1);
  return each_plane(name, image, height, width, [=]<typename T>(const T* from, T* to) {
    for (int64_t y = 0; y < height; ++y, to += width) {
      const int64_t begin = std::clamp<int64_t>(-left, 0, width),
                    end = std::clamp<int64_t>(w - left, begin, width);
      const bool inside = top + y >= 0 && top + y < h;
      std::fill(to, to + width, pixel_of<T>(fill));
      if (inside) std::copy_n(from + (top + y) * w + left + begin, end - begin, to + begin);
    }
  });
}

}  // namespace detail

// Bilinear, with each pixel of a smaller image the mean of those that it stands for (antialias), as
// torch.nn.functional.interpolate(mode="bilinear", antialias=True).
class Resize {
 public:
  Resize(int64_t height, int64_t width) : height_(height), width_(width) {
    detail::expect_size("Resize", "height", height);
    detail::expect_size("Resize", "width", width);
  }
  Tensor operator()(const Tensor& image) const {
    if (image.dim() < 2 || image.numel() == 0)
      detail::refuse_image("Resize", image, "images [.., height, width]");
    const int64_t h = image.size(-2), w = image.size(-1);
    const std::vector<Taps> rows = taps(h, height_), columns = taps(w, width_);
    return detail::each_plane(
        "Resize", image, height_, width_, [&]<typename T>(const T* from, T* to) {
          std::vector<float> wide(size_t(h * width_));  // resized along its rows
          for (int64_t y = 0; y < h; ++y) {
            for (int64_t x = 0; x < width_; ++x)
              wide[size_t(y * width_ + x)] = columns[size_t(x)].sum(from + y * w, 1);
          }
          for (int64_t y = 0; y < height_; ++y) {
            for (int64_t x = 0; x < width_; ++x)
              *to++ = detail::pixel_of<T>(rows[size_t(y)].sum(wide.data() + x, width_));
          }
        });
  }

 private:
  // What a pixel is the weighted sum of.
  struct Taps {
    int64_t first;
    std::vector<float> weights;

    template <typename T>
    float sum(const T* line, int64_t stride) const {
      float total = 0;
      for (size_t i = 0; i < weights.size(); ++i)
        total += weights[i] * float(line[(first + int64_t(i)) * stride]);
      return total;
    }
  };
  static std::vector<Taps> taps(int64_t from, int64_t to) {
    const double scale = double(from) / double(to), support = std::max(scale, 1.0);
    std::vector<Taps> all;
    for (int64_t i = 0; i < to; ++i) {
      const double center = (double(i) + 0.5) * scale;
      const auto first = std::max<int64_t>(int64_t(center - support + 0.5), 0),
                 end = std::min<int64_t>(int64_t(center + support + 0.5), from);
      Taps taps{first, {}};
      double total = 0;
      for (int64_t k = first; k < end; ++k) {
        const double distance = std::fabs(double(k) - center + 0.5) / support;
        taps.weights.push_back(float(std::max(0.0, 1 - distance)));
        total += double(taps.weights.back());
      }
      for (float& weight : taps.weights) weight = float(double(weight) / total);
      all.push_back(std::move(taps));
    }
    return all;
  }
  int64_t height_, width_;
};

// The middle. An image that is smaller is refused.
class CenterCrop {
 public:
  explicit CenterCrop(int64_t size) : CenterCrop(size, size) {}
  CenterCrop(int64_t height, int64_t width) : height_(height), width_(width) {
    detail::expect_size("CenterCrop", "height", height);
    detail::expect_size("CenterCrop", "width", width);
  }
  Tensor operator()(const Tensor& image) const {
    if (image.dim() < 2 || image.size(-2) < height_ || image.size(-1) < width_) {
      detail::refuse_image("CenterCrop", image,
                           "images [.., height, width] of at least " + std::to_string(height_) +
                               " and " + std::to_string(width_));
    }
    return detail::cropped("CenterCrop", image, half(image.size(-2) - height_),
                           half(image.size(-1) - width_), height_, width_, 0);
  }

 private:
  // As torchvision, which rounds as Python does: 1.5 and 2.5 to 2.
  static int64_t half(int64_t rest) { return rest / 2 + (rest % 4 == 3); }

  int64_t height_, width_;
};

struct RandomCropOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  Int padding = 0;  // pixels around the image first, of this value
  Float fill = 0.0;
};
class RandomCrop {
 public:
  explicit RandomCrop(int64_t size, const RandomCropOptions& options = {})
      : RandomCrop(size, size, options) {}
  RandomCrop(int64_t height, int64_t width, const RandomCropOptions& options = {})
      : height_(height), width_(width), options_(options) {
    detail::expect_size("RandomCrop", "height", height);
    detail::expect_size("RandomCrop", "width", width);
    detail::expect_size("RandomCrop", "padding", options.padding, 0);
  }
  Tensor operator()(const Tensor& image, Random& random) const {
    const int64_t padding = options_.padding;
    if (image.dim() < 2 || image.size(-2) + 2 * padding < height_ ||
        image.size(-1) + 2 * padding < width_) {
      detail::refuse_image("RandomCrop", image,
                           "images [.., height, width] that have, with their padding, at least " +
                               std::to_string(height_) + " and " + std::to_string(width_));
    }
    const int64_t top = random.below(image.size(-2) + 2 * padding - height_ + 1) - padding;
    const int64_t left = random.below(image.size(-1) + 2 * padding - width_ + 1) - padding;
    return detail::cropped("RandomCrop", image, top, left, height_, width_, options_.fill);
  }

 private:
  int64_t height_, width_;
  RandomCropOptions options_;
};

class RandomHorizontalFlip {
 public:
  explicit RandomHorizontalFlip(double p = 0.5) : p_(p) {
    detail::expect_probability("RandomHorizontalFlip", p);
  }
  Tensor operator()(const Tensor& image, Random& random) const {
    if (!random.chance(p_)) return image;
    const int64_t h = image.dim() < 2 ? 0 : image.size(-2), w = h == 0 ? 0 : image.size(-1);
    return detail::each_plane("RandomHorizontalFlip", image, h, w,
                              [=]<typename T>(const T* from, T* to) {
                                for (int64_t y = 0; y < h; ++y)
                                  std::reverse_copy(from + y * w, from + (y + 1) * w, to + y * w);
                              });
  }

 private:
  double p_;
};

class RandomVerticalFlip {
 public:
  explicit RandomVerticalFlip(double p = 0.5) : p_(p) {
    detail::expect_probability("RandomVerticalFlip", p);
  }
  Tensor operator()(const Tensor& image, Random& random) const {
    if (!random.chance(p_)) return image;
    const int64_t h = image.dim() < 2 ? 0 : image.size(-2), w = h == 0 ? 0 : image.size(-1);
    return detail::each_plane("RandomVerticalFlip", image, h, w,
                              [=]<typename T>(const T* from, T* to) {
                                for (int64_t y = 0; y < h; ++y)
                                  std::copy_n(from + (h - 1 - y) * w, w, to + y * w);
                              });
  }

 private:
  double p_;
};

struct RandomRotationOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  Float fill = 0.0;  // where there is no image
};
// Counter-clockwise about the middle by an angle between -degrees and degrees; the nearest pixel.
class RandomRotation {
 public:
  explicit RandomRotation(double degrees, const RandomRotationOptions& options = {})
      : degrees_(degrees), options_(options) {
    if (!(degrees >= 0 && std::isfinite(degrees))) {
      fail(detail::joined({"RandomRotation: degrees is ", tenon::detail::number_text(degrees),
                           ", expected 0 or more"}));
    }
  }
  Tensor operator()(const Tensor& image, Random& random) const {
    return rotated(image, random.uniform(-degrees_, degrees_));
  }
  Tensor rotated(const Tensor& image, double degrees) const {
    const int64_t h = image.dim() < 2 ? 0 : image.size(-2), w = h == 0 ? 0 : image.size(-1);
    const double angle = degrees * std::numbers::pi / 180, cosine = std::cos(angle),
                 sine = std::sin(angle), cx = double(w - 1) / 2, cy = double(h - 1) / 2;
    const double fill = options_.fill;
    return detail::each_plane("RandomRotation", image, h, w, [=]<typename T>(const T* from, T* to) {
      for (int64_t y = 0; y < h; ++y) {
        for (int64_t x = 0; x < w; ++x) {
          const double dx = double(x) - cx, dy = double(y) - cy;
          const auto sx = int64_t(std::floor(cosine * dx - sine * dy + cx + 0.5)),
                     sy = int64_t(std::floor(sine * dx + cosine * dy + cy + 0.5));
          const bool inside = sx >= 0 && sx < w && sy >= 0 && sy < h;
          *to++ = inside ? from[sy * w + sx] : detail::pixel_of<T>(fill);
        }
      }
    });
  }

 private:
  double degrees_;
  RandomRotationOptions options_;
};

struct ColorJitterOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  // Each is multiplied by a factor between max(0, 1 - v) and 1 + v, in an order that is drawn.
  Float brightness = 0.0;
  Float contrast = 0.0;
  Float saturation = 0.0;
};
// Of images [3, height, width], or [1, ..] and [height, width], which are grey. Floats are between 0 and
// 1. The hue stays.
class ColorJitter {
 public:
  explicit ColorJitter(const ColorJitterOptions& options) : options_(options) {
    const std::pair<const char*, double> all[] = {{"brightness", options.brightness},
                                                  {"contrast", options.contrast},
                                                  {"saturation", options.saturation}};
    for (const auto& [name, value] : all) {
      if (value >= 0 && std::isfinite(value)) continue;
      fail(detail::joined({"ColorJitter: ", name, " is ", tenon::detail::number_text(value),
                           ", expected 0 or more"}));
    }
  }
  Tensor operator()(const Tensor& given, Random& random) const {
    const Tensor image = detail::on_host(given);
    const int64_t channels = image.dim() == 3 ? image.size(0) : 1;
    if (image.dim() < 2 || image.dim() > 3 || (channels != 1 && channels != 3) ||
        image.numel() == 0) {
      detail::refuse_image("ColorJitter", image, "images [3, height, width] or [1, height, width]");
    }
    std::vector<int> order = {0, 1, 2};
    random.shuffle(order);
    double factors[3];
    const double spread[3] = {options_.brightness, options_.contrast, options_.saturation};
    for (int k = 0; k < 3; ++k)
      factors[k] = random.uniform(std::max(0.0, 1 - spread[k]), 1 + spread[k]);
    const int64_t plane = image.numel() / channels;
    Tensor result = Tensor::empty(image.sizes(), image.dtype());
    if (image.dtype() == uint8) {
      std::copy_n(image.data<uint8_t>(), image.numel(), result.mutable_data<uint8_t>());
      for (const int k : order)
        change(result.mutable_data<uint8_t>(), channels, plane, k, factors[k]);
    } else if (image.dtype() == float32) {
      std::copy_n(image.data<float>(), image.numel(), result.mutable_data<float>());
      for (const int k : order)
        change(result.mutable_data<float>(), channels, plane, k, factors[k]);
    } else {
      detail::refuse_image("ColorJitter", image, "images of uint8 or float32");
    }
    return result;
  }

 private:
  // Rec. 601's weights, as torchvision has them.
  template <typename T>
  static double grey(const T* pixels, int64_t channels, int64_t plane, int64_t i) {
    if (channels == 1) return double(pixels[i]);
    return 0.2989 * double(pixels[i]) + 0.587 * double(pixels[plane + i]) +
           0.114 * double(pixels[2 * plane + i]);
  }
  template <typename T>
  static void change(T* pixels, int64_t channels, int64_t plane, int kind, double factor) {
    if (factor == 1 || (kind == 2 && channels == 1)) return;
    double mean = 0;
    if (kind == 1) {
      for (int64_t i = 0; i < plane; ++i) mean += grey(pixels, channels, plane, i);
      mean /= double(plane);
    }
    for (int64_t i = 0; i < plane; ++i) {
      const double other = kind == 0 ? 0 : kind == 1 ? mean : grey(pixels, channels, plane, i);
      for (int64_t c = 0; c < channels; ++c) {
        T& pixel = pixels[c * plane + i];
        const double value = factor * double(pixel) + (1 - factor) * other;
        pixel = detail::pixel_of<T>(std::clamp(value, 0.0, detail::kWhite<T>));
      }
    }
  }
  ColorJitterOptions options_;
};

struct CutoutOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  Int holes = 1;
  Float fill = 0.0;
};
// Squares of `size` pixels, whose middles lie anywhere in the image, are filled. DeVries & Taylor,
// arXiv:1708.04552.
class Cutout {
 public:
  explicit Cutout(int64_t size, const CutoutOptions& options = {})
      : size_(size), options_(options) {
    detail::expect_size("Cutout", "size", size);
    detail::expect_size("Cutout", "holes", options.holes);
  }
  Tensor operator()(const Tensor& image, Random& random) const {
    const int64_t h = image.dim() < 2 ? 0 : image.size(-2), w = h == 0 ? 0 : image.size(-1);
    std::vector<std::pair<int64_t, int64_t>> corners;
    for (int64_t i = 0; i < options_.holes && h > 0 && w > 0; ++i) {
      const int64_t top = random.below(h) - size_ / 2;
      corners.emplace_back(top, random.below(w) - size_ / 2);
    }
    const double fill = options_.fill;
    return detail::each_plane("Cutout", image, h, w, [&]<typename T>(const T* from, T* to) {
      std::copy_n(from, h * w, to);
      for (const auto& [top, left] : corners) {
        const int64_t begin = std::max<int64_t>(left, 0), end = std::min(left + size_, w);
        for (int64_t y = std::max<int64_t>(top, 0); y < std::min(top + size_, h); ++y)
          std::fill(to + y * w + begin, to + y * w + end, detail::pixel_of<T>(fill));
      }
    });
  }

 private:
  int64_t size_;
  CutoutOptions options_;
};

// Transforms one after the other, of an image, or of the first part of a sample that is a pair or a
// tuple.
template <typename... Transforms>
class Augment {
 public:
  explicit Augment(Transforms... transforms) : transforms_(std::move(transforms)...) {}

  template <typename Sample>
  Sample operator()(Sample sample, Random& random) const {
    if constexpr (std::is_same_v<Sample, Tensor>) {
      run(sample, random);
    } else {
      run(std::get<0>(sample), random);
    }
    return sample;
  }

 private:
  void run(Tensor& image, Random& random) const {
    const auto one = [&](const auto& transform) {
      if constexpr (std::is_invocable_v<decltype(transform), const Tensor&, Random&>) {
        image = transform(image, random);
      } else {
        image = transform(image);
      }
    };
    std::apply([&](const auto&... transform) { (one(transform), ...); }, transforms_);
  }
  std::tuple<Transforms...> transforms_;
};

}  // namespace data
}  // namespace v0
}  // namespace tenon
