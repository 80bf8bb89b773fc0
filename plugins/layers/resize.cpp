// Images of other sizes, pixels from channels and back, and columns of windows.
#include "layers.h"

namespace layers {
namespace {

using List = std::vector<int64_t>;

List kept(Ints list) { return List(list.begin(), list.end()); }

void add_windows() {
  layer("Unfold(int[] kernel_size, int[] dilation=[1], int[] padding=[0], int[] stride=[1])",
        "x [n, channels, h, w] to columns [n, channels * kernel, places].",
        [](Object& self, Ints kernel_size, Ints dilation, Ints padding, Ints stride) {
          self.method(kOfTensor, [kernel = for_each_dim("kernel_size", kernel_size, 2, 1),
                                  dilation = for_each_dim("dilation", dilation, 2, 1),
                                  padding = for_each_dim("padding", padding, 2, 0),
                                  stride = for_each_dim("stride", stride, 2, 1)](Tensor x) {
            return im2col(x, kernel, {.dilation = dilation, .padding = padding, .stride = stride});
          });
        });
  layer(
      "Fold(int[] output_size, int[] kernel_size, int[] dilation=[1], int[] padding=[0], int[] "
      "stride=[1])",
      "Columns [n, channels * kernel, places] summed at their places: [n, channels, h, w].",
      [](Object& self, Ints output_size, Ints kernel_size, Ints dilation, Ints padding,
         Ints stride) {
        self.method(kOfTensor, [size = for_each_dim("output_size", output_size, 2, 1),
                                kernel = for_each_dim("kernel_size", kernel_size, 2, 1),
                                dilation = for_each_dim("dilation", dilation, 2, 1),
                                padding = for_each_dim("padding", padding, 2, 0),
                                stride = for_each_dim("stride", stride, 2, 1)](Tensor x) {
          return fold(x, size, kernel,
                      {.dilation = dilation, .padding = padding, .stride = stride});
        });
      });
}

}  // namespace

void add_resize_layers() {
  layer(
      "Upsample(int[] size=[], float[] scale_factor=[], str mode=\"nearest\", bool "
      "align_corners=False, bool recompute_scale_factor=False)",
      "x [n, channels, ..] at another size, or scaled by scale_factor. mode: nearest, "
      "nearest-exact, linear, bilinear, bicubic, trilinear or area.",
      [](Object& self, Ints size, Floats scale_factor, std::string mode, bool align_corners,
         bool recompute_scale_factor) {
        if (size.empty() == scale_factor.empty())
          fail("either size or scale_factor is needed, and not both");
        const std::vector<double> factors(scale_factor.begin(), scale_factor.end());
        self.method(kOfTensor, [=, size = kept(size)](Tensor x) {
          return interpolate(x, {.size = size,
                                 .scale_factor = factors,
                                 .mode = mode,
                                 .align_corners = align_corners,
                                 .recompute_scale_factor = recompute_scale_factor});
        });
      });
  layer("PixelShuffle(int upscale_factor)",
        "x [.., channels * r * r, h, w] to [.., channels, h * r, w * r]. Shi et al., "
        "arXiv:1609.05158.",
        [](Object& self, int64_t factor) {
          expect_positive("upscale_factor", factor);
          self.method(kOfTensor, [=](Tensor x) { return pixel_shuffle(x, factor); });
        });
  layer("PixelUnshuffle(int downscale_factor)",
        "x [.., channels, h * r, w * r] to [.., channels * r * r, h, w].",
        [](Object& self, int64_t factor) {
          expect_positive("downscale_factor", factor);
          self.method(kOfTensor, [=](Tensor x) { return pixel_unshuffle(x, factor); });
        });
  add_windows();
}

}  // namespace layers
