// Convolutions of one to three dimensions.
#include <cmath>

#include "layers.h"

namespace layers {
namespace {

using Forward = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, Ints, Ints, Ints, int64_t);
constexpr Forward kForward[] = {conv1d, conv2d, conv3d};

void define(int64_t n) {
  const std::string schema = "Conv" + std::to_string(n) +
                             "d(int in_channels, int out_channels, int[] kernel_size, int[] "
                             "stride=[1], int[] padding=[0], int[] dilation=[1], int groups=1, "
                             "bool bias=True)";
  layer(
      schema.c_str(), [n](Object& self, int64_t in_channels, int64_t out_channels, Ints kernel_size,
                          Ints stride, Ints padding, Ints dilation, int64_t groups, bool bias) {
        expect_positive("in_channels", in_channels);
        expect_positive("out_channels", out_channels);
        expect_positive("groups", groups);
        if (in_channels % groups != 0 || out_channels % groups != 0) {
          fail("in_channels is " + std::to_string(in_channels) + " and out_channels " +
               std::to_string(out_channels) + ", expected both divisible by groups, " +
               std::to_string(groups));
        }
        const std::vector<int64_t> kernel = for_each_dim("kernel_size", kernel_size, n, 1);
        std::vector<int64_t> sizes{out_channels, in_channels / groups};
        sizes.insert(sizes.end(), kernel.begin(), kernel.end());
        // PyTorch's reset_parameters: kaiming_uniform(a = sqrt(5)) is this bound, for the weight as
        // for the bias.
        double fan_in = double(sizes[1]);
        for (const int64_t k : kernel) fan_in *= double(k);
        const double bound = 1 / std::sqrt(fan_in);
        self.parameter("weight", uniform(sizes, -bound, bound));
        self.parameter("bias", bias ? uniform({out_channels}, -bound, bound) : Tensor());
        self.method("forward(Tensor x) -> Tensor",
                    [n, groups, stride = for_each_dim("stride", stride, n, 1),
                     padding = for_each_dim("padding", padding, n, 0),
                     dilation = for_each_dim("dilation", dilation, n, 1)](Object& self, Tensor x) {
                      return kForward[n - 1](x, self.tensor("weight"), self.tensor("bias"), stride,
                                             padding, dilation, groups);
                    });
      });
}

}  // namespace

void add_conv_layers() {
  for (int64_t n = 1; n <= 3; ++n) define(n);
}

}  // namespace layers
