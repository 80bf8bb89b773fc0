// What is done to images before a model sees them. Each is a function object over tensors on the
// cpu, made once and called by workers at the same time; it runs on the thread that calls it, since
// the workers of a loader are as many as there is to do. Names and meanings are torchvision's.
//
//   auto images = data::map(folder, [normal = data::Normalize({0.1307}, {0.3081}, {.scale = 1 / 255.0})](auto batch) {
//     batch.first = normal(batch.first);
//     return batch;
//   });
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tenon/data/collate.hpp"
#include "tenon/lists.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {

struct NormalizeOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  double scale = 1;  // 1 / 255.0 makes bytes numbers from 0 to 1
};

// (x * scale - mean) / std, as float32, of uint8 or float32. One mean and one std: of all values;
// several: of each channel of images [..., channels, height, width].
class Normalize {
 public:
  Normalize(const std::vector<double>& mean, const std::vector<double>& std,
            const NormalizeOptions& options = {}) {
    using tenon::detail::joined;
    if (mean.empty() || mean.size() != std.size()) {
      fail(joined({"Normalize: ", std::to_string(mean.size()), " means and ",
                   std::to_string(std.size()), " deviations, expected as many, at least one"}));
    }
    for (size_t i = 0; i < mean.size(); ++i) {
      const double factor = options.scale / std[i], shift = -mean[i] / std[i];
      if (!(std[i] > 0) || !std::isfinite(factor) || !std::isfinite(shift)) {
        fail(joined({"Normalize: mean ", tenon::detail::number_text(mean[i]), ", deviation ",
                     tenon::detail::number_text(std[i]), " and scale ",
                     tenon::detail::number_text(options.scale), " of channel ", std::to_string(i),
                     ", expected finite numbers and a deviation above 0"}));
      }
      channels_.push_back({float(factor), float(shift)});
    }
  }

  Tensor operator()(const Tensor& image) const {
    const Tensor x = detail::on_host(image);
    const auto n = int64_t(channels_.size());
    if (n > 1 && (x.dim() < 3 || x.size(-3) != n)) {
      fail(tenon::detail::joined({"Normalize: it is for images [..., ", std::to_string(n),
                                  ", height, width], got ", detail::shown(x)}));
    }
    Tensor result = Tensor::empty(x.sizes(), float32);
    auto* to = result.mutable_data<float>();
    if (x.dtype() == uint8) {
      run(x.data<uint8_t>(), to, x);
    } else if (x.dtype() == float32) {
      run(x.data<float>(), to, x);
    } else {
      fail(tenon::detail::joined(
          {"Normalize: it is for uint8 and float32, got ", detail::shown(x)}));
    }
    return result;
  }

 private:
  struct Channel {
    float factor, shift;
  };

  template <typename T>
  void run(const T* from, float* to, const Tensor& x) const {
    const int64_t plane = channels_.size() == 1 ? x.numel() : x.size(-1) * x.size(-2);
    for (int64_t done = 0, i = 0; done < x.numel(); done += plane, ++i) {
      const Channel c = channels_[size_t(i) % channels_.size()];
      scaled(from + done, to + done, plane, c);
    }
  }
  // In pieces of a fixed size, which compilers make vector instructions of at -O2 too.
  template <typename T>
  static void scaled(const T* __restrict from, float* __restrict to, int64_t n, Channel c) {
    constexpr int64_t kPiece = 16;
    int64_t i = 0;
    for (; i + kPiece <= n; i += kPiece) {
      for (int64_t k = 0; k < kPiece; ++k) to[i + k] = float(from[i + k]) * c.factor + c.shift;
    }
    for (; i < n; ++i) to[i] = float(from[i]) * c.factor + c.shift;
  }

  std::vector<Channel> channels_;
};

}  // namespace data
}  // namespace v0
}  // namespace tenon
