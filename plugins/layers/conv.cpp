// Convolutions of one to three dimensions.
#include <cmath>

#include "layers.h"

namespace layers {
namespace {

// By number of dimensions.
const OpRef kForward[] = {OpRef("conv1d"), OpRef("conv2d"), OpRef("conv3d")};
const OpRef kTransposed[] = {OpRef("conv_transpose1d"), OpRef("conv_transpose2d"),
                             OpRef("conv_transpose3d")};

void expect_channels(int64_t in_channels, int64_t out_channels, int64_t groups) {
  expect_positive("in_channels", in_channels);
  expect_positive("out_channels", out_channels);
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
  const double bound = 1 / std::sqrt(fan_in);
  self.parameter("weight", uniform(sizes, -bound, bound));
  self.parameter("bias", bias ? uniform({out_channels}, -bound, bound) : Tensor());
}

void define_transposed(int64_t n) {
  const std::string schema = "ConvTranspose" + std::to_string(n) +
                             "d(int in_channels, int out_channels, int[] kernel_size, int[] "
                             "stride=[1], int[] padding=[0], int[] output_padding=[0], int "
                             "groups=1, bool bias=True, int[] dilation=[1])";
  layer(schema.c_str(),
        "The adjoint of a convolution, on x [n, in_channels, ..] or without n: weight "
        "[in_channels, out_channels / groups, kernel..], uniform in ±1/sqrt(out_channels / groups "
        "* kernel), as the bias.",
        [n](Object& self, int64_t in_channels, int64_t out_channels, Ints kernel_size, Ints stride,
            Ints padding, Ints output_padding, int64_t groups, bool bias, Ints dilation) {
          expect_channels(in_channels, out_channels, groups);
          add_parameters(self, in_channels, out_channels / groups,
                         for_each_dim("kernel_size", kernel_size, n, 1), out_channels, bias);
          self.method(
              "forward(Tensor x) -> Tensor",
              [n, groups, stride = for_each_dim("stride", stride, n, 1),
               padding = for_each_dim("padding", padding, n, 0),
               output_padding = for_each_dim("output_padding", output_padding, n, 0),
               dilation = for_each_dim("dilation", dilation, n, 1)](Object& self, Tensor x) {
                return call(kTransposed[n - 1], x, self.tensor("weight"), self.tensor("bias"),
                            stride, padding, output_padding, groups, dilation);
              });
        });
}

void define(int64_t n) {
  const std::string schema = "Conv" + std::to_string(n) +
                             "d(int in_channels, int out_channels, int[] kernel_size, int[] "
                             "stride=[1], int[] padding=[0], int[] dilation=[1], int groups=1, "
                             "bool bias=True, str padding_mode=\"zeros\")";
  layer(schema.c_str(),
        "A convolution of x [n, in_channels, ..], or without n: weight [out_channels, in_channels "
        "/ groups, kernel..] and bias [out_channels], both uniform in ±1/sqrt(in_channels / groups "
        "* kernel). padding_mode: zeros, reflect, replicate or circular.",
        [n](Object& self, int64_t in_channels, int64_t out_channels, Ints kernel_size, Ints stride,
            Ints padding, Ints dilation, int64_t groups, bool bias, std::string padding_mode) {
          expect_channels(in_channels, out_channels, groups);
          add_parameters(self, out_channels, in_channels / groups,
                         for_each_dim("kernel_size", kernel_size, n, 1), out_channels, bias);
          std::vector<int64_t> zeros = for_each_dim("padding", padding, n, 0), others;
          if (padding_mode != "zeros") {  // those of `pad`: the last dimension first, both sides
            if (padding_mode != "reflect" && padding_mode != "replicate" &&
                padding_mode != "circular") {
              fail("padding_mode is '" + padding_mode +
                   "', expected zeros, reflect, replicate or circular");
            }
            for (size_t d = zeros.size(); d-- > 0;) others.insert(others.end(), 2, zeros[d]);
            zeros.assign(size_t(n), 0);
          }
          self.method(
              "forward(Tensor x) -> Tensor",
              [=, stride = for_each_dim("stride", stride, n, 1),
               dilation = for_each_dim("dilation", dilation, n, 1)](Object& self, Tensor x) {
                if (!others.empty()) x = pad(x, others, padding_mode.c_str());
                return call(kForward[n - 1], x, self.tensor("weight"), self.tensor("bias"), stride,
                            zeros, dilation, groups);
              });
        });
}

}  // namespace

void add_conv_layers() {
  for (int64_t n = 1; n <= 3; ++n) {
    define(n);
    define_transposed(n);
  }
}

}  // namespace layers
