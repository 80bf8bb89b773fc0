// Convolutions of one to three dimensions.
#include <cmath>

#include "layers.h"

namespace layers {
namespace {

// By number of dimensions.
const OpRef kConvolutions[] = {OpRef("conv1d"), OpRef("conv2d"), OpRef("conv3d")};
const OpRef kTransposed[] = {OpRef("conv_transpose1d"), OpRef("conv_transpose2d"),
                             OpRef("conv_transpose3d")};

void expect_channels(int64_t in_channels, int64_t out_channels, int64_t groups) {
  expect_size("in_channels", in_channels);
  expect_size("out_channels", out_channels);
  expect_positive("groups", groups);
  if (in_channels % groups != 0 || out_channels % groups != 0) {
    fail("in_channels is " + std::to_string(in_channels) + " and out_channels " +
         std::to_string(out_channels) + ", expected both divisible by groups, " +
         std::to_string(groups));
  }
}

// weight [first, second, kernel..] and bias. PyTorch's reset_parameters: kaiming_uniform(a =
// sqrt(5)) is this bound, for the weight as for the bias.
void add_parameters(Object& self, int64_t first, int64_t second, const std::vector<int64_t>& kernel,
                    int64_t out_channels, bool bias) {
  std::vector<int64_t> sizes{first, second};
  sizes.insert(sizes.end(), kernel.begin(), kernel.end());
  double fan_in = double(second);
  for (const int64_t k : kernel) fan_in *= double(k);
  const double bound = fan_in > 0 ? 1 / std::sqrt(fan_in) : 0;
  self.parameter("weight", uniform(sizes, -bound, bound));
  self.parameter("bias", bias ? uniform({out_channels}, -bound, bound) : Tensor());
}

// How the windows of a transposed convolution lie.
struct Transposed {
  std::vector<int64_t> kernel, stride, padding, output_padding, dilation;

  // What is added behind so that the output of x is [.., output_size..]; PyTorch's rule.
  std::vector<int64_t> padding_for(const Tensor& x, Ints output_size) const {
    const size_t n = kernel.size();
    if (output_size.empty()) return output_padding;
    const auto given = std::vector<int64_t>(output_size.begin(), output_size.end());
    if (given.size() != n && given.size() != n + 2) {
      fail("output_size has " + std::to_string(given.size()) + " numbers, expected " +
           std::to_string(n) + " or " + std::to_string(n + 2));
    }
    if (x.dim() < int64_t(n)) fail("x is " + sizes_text(x) + ", which has too few dimensions");
    std::vector<int64_t> more;
    for (size_t d = 0; d < n; ++d) {
      const int64_t wanted = given[given.size() - n + d];
      const int64_t least = (x.size(int64_t(d) - int64_t(n)) - 1) * stride[d] - 2 * padding[d] +
                            dilation[d] * (kernel[d] - 1) + 1;
      if (wanted < least || wanted > least + stride[d] - 1) {
        fail("output_size is " + std::to_string(wanted) + " in dimension " + std::to_string(d) +
             ", expected " + std::to_string(least) + " to " +
             std::to_string(least + stride[d] - 1) + " for x " + sizes_text(x));
      }
      more.push_back(wanted - least);
    }
    return more;
  }
};

constexpr const char* kOfTensorAndSize = "forward(Tensor x, int[] output_size=[]) -> Tensor";

void define_transposed(int64_t n) {
  const std::string schema = "ConvTranspose" + std::to_string(n) +
                             "d(int in_channels, int out_channels, int[] kernel_size, int[] "
                             "stride=[1], int[] padding=[0], int[] output_padding=[0], int "
                             "groups=1, bool bias=True, int[] dilation=[1])";
  layer(schema.c_str(),
        "The adjoint of a convolution, on x [n, in_channels, ..] or without n: weight "
        "[in_channels, out_channels / groups, kernel..], uniform in ±1/sqrt(out_channels / groups "
        "* kernel), as the bias. layer(x, output_size) chooses output_padding so that the output "
        "has these sizes, one a dimension.",
        [n](Object& self, int64_t in_channels, int64_t out_channels, Ints kernel_size, Ints stride,
            Ints padding, Ints output_padding, int64_t groups, bool bias, Ints dilation) {
          expect_channels(in_channels, out_channels, groups);
          const Transposed t{for_each_dim("kernel_size", kernel_size, n, 1),
                             for_each_dim("stride", stride, n, 1),
                             for_each_dim("padding", padding, n, 0),
                             for_each_dim("output_padding", output_padding, n, 0),
                             for_each_dim("dilation", dilation, n, 1)};
          add_parameters(self, in_channels, out_channels / groups, t.kernel, out_channels, bias);
          self.method(kOfTensorAndSize, [n, groups, t](Object& self, Tensor x, Ints output_size) {
            return call(kTransposed[n - 1], x, self.tensor("weight"), self.tensor("bias"), t.stride,
                        t.padding, t.padding_for(x, output_size), groups, t.dilation);
          });
        });
  define_lazy(schema, -(n + 1), kOfTensorAndSize);
}

struct Window {
  std::vector<int64_t> kernel, stride, dilation;

  // Those of `pad`: the last dimension first, before and behind.
  std::vector<int64_t> pads(const IntsOrText& padding) const {
    const int64_t n = int64_t(kernel.size());
    std::vector<int64_t> before(kernel.size(), 0), list;
    if (!padding.is_text()) before = for_each_dim("padding", padding.ints(), n, 0);
    std::vector<int64_t> behind = before;
    for (size_t d = 0; d < kernel.size() && padding.text() == "same"; ++d) {
      const int64_t all = dilation[d] * (kernel[d] - 1);
      before[d] = all / 2;
      behind[d] = all - before[d];
    }
    for (size_t d = before.size(); d-- > 0;) list.insert(list.end(), {before[d], behind[d]});
    return list;
  }
};

void check_padding(const IntsOrText& padding, const Window& window, const std::string& mode) {
  if (mode != "zeros" && mode != "reflect" && mode != "replicate" && mode != "circular")
    fail("padding_mode is '" + mode + "', expected zeros, reflect, replicate or circular");
  if (!padding.is_text()) {
    for_each_dim("padding", padding.ints(), int64_t(window.kernel.size()), 0);
    return;
  }
  if (padding.text() != "same" && padding.text() != "valid")
    fail("padding is '" + padding.text() + "', expected same, valid or numbers");
  for (const int64_t step : window.stride) {
    if (padding.text() == "same" && step != 1)
      fail("padding is 'same' and stride " + std::to_string(step) + ", expected a stride of 1");
  }
}

void add_convolutions(int64_t n) {
  const std::string schema = "Conv" + std::to_string(n) +
                             "d(int in_channels, int out_channels, int[] kernel_size, int[] "
                             "stride=[1], int[]|str padding=[0], int[] dilation=[1], int groups=1, "
                             "bool bias=True, str padding_mode=\"zeros\")";
  layer(
      schema.c_str(),
      "A convolution of x [n, in_channels, ..], or without n: weight [out_channels, in_channels "
      "/ groups, kernel..] and bias [out_channels], both uniform in ±1/sqrt(in_channels / groups "
      "* kernel). padding is numbers, \"valid\" or \"same\", which is for a stride of 1; "
      "padding_mode: zeros, reflect, replicate or circular.",
      [n](Object& self, int64_t in_channels, int64_t out_channels, Ints kernel_size, Ints stride,
          IntsOrText padding, Ints dilation, int64_t groups, bool bias, std::string padding_mode) {
        expect_channels(in_channels, out_channels, groups);
        const Window window{for_each_dim("kernel_size", kernel_size, n, 1),
                            for_each_dim("stride", stride, n, 1),
                            for_each_dim("dilation", dilation, n, 1)};
        add_parameters(self, out_channels, in_channels / groups, window.kernel, out_channels, bias);
        check_padding(padding, window, padding_mode);
        // The op pads with zeros, `pad` in the other modes.
        std::vector<int64_t> others;
        if (padding_mode != "zeros") {
          others = window.pads(padding);
          padding = IntsOrText(0);
        }
        self.method(kOfTensor, [=](Object& self, Tensor x) {
          if (!others.empty()) x = pad(x, others, padding_mode);
          return call(kConvolutions[n - 1], x, self.tensor("weight"), self.tensor("bias"),
                      window.stride, padding, window.dilation, groups);
        });
      });
  define_lazy(schema, -(n + 1));
}

}  // namespace

void add_conv_layers() {
  for (int64_t n = 1; n <= 3; ++n) {
    add_convolutions(n);
    define_transposed(n);
  }
}

}  // namespace layers
