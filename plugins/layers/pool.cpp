// Pools of one to three dimensions.
#include <algorithm>
#include <cmath>

#include "layers.h"

namespace layers {
namespace {

// By number of dimensions.
const OpRef kMax[] = {OpRef("max_pool1d"), OpRef("max_pool2d"), OpRef("max_pool3d")};
const OpRef kMaxWithIndices[] = {OpRef("max_pool1d_with_indices"), OpRef("max_pool2d_with_indices"),
                                 OpRef("max_pool3d_with_indices")};
const OpRef kAdaptiveMaxWithIndices[] = {OpRef("adaptive_max_pool1d_with_indices"),
                                         OpRef("adaptive_max_pool2d_with_indices"),
                                         OpRef("adaptive_max_pool3d_with_indices")};
const OpRef kUnpool[] = {OpRef("max_unpool1d"), OpRef("max_unpool2d"), OpRef("max_unpool3d")};
const OpRef kFractional[] = {OpRef("fractional_max_pool2d"), OpRef("fractional_max_pool3d")};
const OpRef kFractionalWithIndices[] = {OpRef("fractional_max_pool2d_with_indices"),
                                        OpRef("fractional_max_pool3d_with_indices")};
using Adaptive = Tensor (*)(const Tensor&, Ints);
constexpr Adaptive kAdaptiveAvg[] = {adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d};
constexpr Adaptive kAdaptiveMax[] = {adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d};

struct Options {
  std::vector<int64_t> kernel_size, stride, padding;
  Options(int64_t n, Ints kernel, Ints step, Ints pad)
      : kernel_size(for_each_dim("kernel_size", kernel, n, 1)),
        stride(step.empty() ? kernel_size : for_each_dim("stride", step, n, 1)),
        padding(for_each_dim("padding", pad, n, 0)) {}
};

Tensor average(int64_t n, const Tensor& x, const Options& o, bool ceil_mode, bool count_include_pad,
               std::optional<int64_t> divisor_override) {
  if (n == 1) {
    return avg_pool1d(x, o.kernel_size,
                      {.stride = o.stride,
                       .padding = o.padding,
                       .ceil_mode = ceil_mode,
                       .count_include_pad = count_include_pad});
  }
  const AvgPool2dOptions options{.stride = o.stride,
                                 .padding = o.padding,
                                 .ceil_mode = ceil_mode,
                                 .count_include_pad = count_include_pad,
                                 .divisor_override = divisor_override};
  return n == 2 ? avg_pool2d(x, o.kernel_size, options) : avg_pool3d(x, o.kernel_size, options);
}

void define_average(int64_t n) {
  const std::string schema = "AvgPool" + std::to_string(n) +
                             "d(int[] kernel_size, int[] stride=[], int[] padding=[0], bool "
                             "ceil_mode=False, bool count_include_pad=True";
  const auto make = [n](Object& self, Ints kernel_size, Ints stride, Ints padding, bool ceil_mode,
                        bool count_include_pad, std::optional<int64_t> divisor_override) {
    if (divisor_override) expect_positive("divisor_override", *divisor_override);
    self.method(kOfTensor, [=, o = Options(n, kernel_size, stride, padding)](Tensor x) {
      return average(n, x, o, ceil_mode, count_include_pad, divisor_override);
    });
  };
  if (n > 1) {
    layer(
        (schema + ", int? divisor_override=None)").c_str(),
        "The mean of each window of x [n, channels, ..], or without n. stride empty: kernel_size. "
        "count_include_pad: borders count as zeros; divisor_override divides the sum instead.",
        make);
    return;
  }
  layer((schema + ")").c_str(),
        "The mean of each window of x [n, channels, ..], or without n. stride empty: kernel_size. "
        "count_include_pad: borders count as zeros.",
        [make](Object& self, Ints kernel_size, Ints stride, Ints padding, bool ceil_mode,
               bool count_include_pad) {
          make(self, kernel_size, stride, padding, ceil_mode, count_include_pad, {});
        });
}

void define_max(int64_t n) {
  layer(
      ("MaxPool" + std::to_string(n) +
       "d(int[] kernel_size, int[] stride=[], int[] padding=[0], int[] "
       "dilation=[1], bool return_indices=False, bool ceil_mode=False)")
          .c_str(),
      "The maximum of each window of x [n, channels, ..], or without n. stride empty: kernel_size. "
      "return_indices: forward gives the indices too, as max_pool with indices does.",
      [n](Object& self, Ints kernel_size, Ints stride, Ints padding, Ints dilation,
          bool return_indices, bool ceil_mode) {
        const Options o(n, kernel_size, stride, padding);
        const auto steps = for_each_dim("dilation", dilation, n, 1);
        if (return_indices) {
          self.method("forward(Tensor x) -> (Tensor values, Tensor indices)", [=](Tensor x) {
            return tenon::detail::call<std::tuple<Tensor, Tensor>>(
                kMaxWithIndices[n - 1], x, o.kernel_size, o.stride, o.padding, steps, ceil_mode);
          });
          return;
        }
        self.method(kOfTensor, [n, ceil_mode, o, dilation = steps](Tensor x) {
          return call(kMax[n - 1], x, o.kernel_size, o.stride, o.padding, dilation, ceil_mode);
        });
      });
}

// (Σ x^p)^(1/p) of each window.
void define_power_average(int64_t n) {
  layer(
      ("LPPool" + std::to_string(n) +
       "d(float norm_type, int[] kernel_size, int[] stride=[], bool ceil_mode=False)")
          .c_str(),
      "(sum x^norm_type)^(1 / norm_type) of each window of x [n, channels, ..], or without n. "
      "stride empty: kernel_size.",
      [n](Object& self, double norm_type, Ints kernel_size, Ints stride, bool ceil_mode) {
        if (norm_type == 0) fail("norm_type is 0, expected another number");
        const Options o(n, kernel_size, stride, 0);
        double count = 1;
        for (const int64_t k : o.kernel_size) count *= double(k);
        self.method(kOfTensor, [=](Tensor x) {
          if (std::isinf(norm_type)) {
            const double sign = norm_type > 0 ? 1 : -1;
            return call(kMax[n - 1], x.abs() * sign, o.kernel_size, o.stride, Ints(0), Ints(1),
                        ceil_mode) *
                   sign;
          }
          return (average(n, x.pow(norm_type), o, ceil_mode, true, {}) * count).pow(1 / norm_type);
        });
      });
}

// -1 is what x has there.
std::vector<int64_t> adaptive_size(Ints list, int64_t n) {
  std::vector<int64_t> known(list.begin(), list.end());
  std::replace(known.begin(), known.end(), int64_t{-1}, int64_t{1});
  for_each_dim("output_size", known, n, 0);
  return list.size() == 1 ? std::vector<int64_t>(size_t(n), list[0])
                          : std::vector<int64_t>(list.begin(), list.end());
}

void define_adaptive_average(int64_t n) {
  layer(("AdaptiveAvgPool" + std::to_string(n) + "d(int[] output_size)").c_str(),
        "The means of windows that together cover x [n, channels, ..], output_size of them; -1: as "
        "many as x has there.",
        [n](Object& self, Ints output_size) {
          self.method(kOfTensor, [=, size = adaptive_size(output_size, n)](Tensor x) {
            return kAdaptiveAvg[n - 1](x, size);
          });
        });
}

void define_adaptive_max(int64_t n) {
  layer(("AdaptiveMaxPool" + std::to_string(n) + "d(int[] output_size, bool return_indices=False)")
            .c_str(),
        "The maxima of windows that together cover x [n, channels, ..], output_size of them; -1: "
        "as many as x has there. "
        "return_indices: forward gives the indices too.",
        [n](Object& self, Ints output_size, bool return_indices) {
          const auto size = adaptive_size(output_size, n);
          if (return_indices) {
            self.method("forward(Tensor x) -> (Tensor values, Tensor indices)", [=](Tensor x) {
              return tenon::detail::call<std::tuple<Tensor, Tensor>>(kAdaptiveMaxWithIndices[n - 1],
                                                                     x, Ints(size));
            });
            return;
          }
          self.method(kOfTensor, [=](Tensor x) { return kAdaptiveMax[n - 1](x, size); });
        });
}

void define_unpool(int64_t n) {
  layer(
      ("MaxUnpool" + std::to_string(n) + "d(int[] kernel_size, int[] stride=[], int[] padding=[0])")
          .c_str(),
      "layer(x, indices): planes with x at the indices that MaxPool gave with return_indices, and "
      "zeros elsewhere; layer(x, indices, output_size) where the size is not the smallest.",
      [n](Object& self, Ints kernel_size, Ints stride, Ints padding) {
        self.method("forward(Tensor x, Tensor indices, int[] output_size=[]) -> Tensor",
                    [n, o = Options(n, kernel_size, stride, padding)](Tensor x, Tensor indices,
                                                                      Ints output_size) {
                      return call(kUnpool[n - 1], x, indices, o.kernel_size, o.stride, o.padding,
                                  output_size);
                    });
      });
}

// Of images and volumes.
void define_fractional(int64_t n) {
  layer(("FractionalMaxPool" + std::to_string(n) +
         "d(int[] kernel_size, int[] output_size=[], float[] output_ratio=[], bool "
         "return_indices=False)")
            .c_str(),
        "The maxima of overlapping windows at drawn places, output_size of them or output_ratio of "
        "the size. return_indices: forward gives the indices too. Graham, arXiv:1412.6071.",
        [n](Object& self, Ints kernel_size, Ints output_size, Floats output_ratio,
            bool return_indices) {
          if (output_size.empty() == output_ratio.empty())
            fail("either output_size or output_ratio is needed, and not both");
          const auto kernel = for_each_dim("kernel_size", kernel_size, n, 1);
          const std::vector<int64_t> size(output_size.begin(), output_size.end());
          const std::vector<double> ratio(output_ratio.begin(), output_ratio.end());
          if (return_indices) {
            self.method("forward(Tensor x) -> (Tensor values, Tensor indices)", [=](Tensor x) {
              return tenon::detail::call<std::tuple<Tensor, Tensor>>(
                  kFractionalWithIndices[n - 2], x, Ints(kernel), Ints(size), Floats(ratio));
            });
            return;
          }
          self.method(kOfTensor, [=](Tensor x) {
            return call(kFractional[n - 2], x, Ints(kernel), Ints(size), Floats(ratio));
          });
        });
}

}  // namespace

void add_pool_layers() {
  for (int64_t n = 1; n <= 3; ++n) {
    define_max(n);
    define_average(n);
    define_power_average(n);
    define_adaptive_average(n);
    define_adaptive_max(n);
    define_unpool(n);
    if (n > 1) define_fractional(n);
  }
}

}  // namespace layers
