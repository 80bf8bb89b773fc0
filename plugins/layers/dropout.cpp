// Dropout (Srivastava et al., 2014): active in training only.
#include "layers.h"

namespace layers {
namespace {

// Whole channels of x [channels, ..n] or [samples, channels, ..n]. Tompson et al., arXiv:1411.4280.
void add_channel_dropout(int64_t n) {
  layer(("Dropout" + std::to_string(n) + "d(float p=0.5)").c_str(),
        ("In training zeroes whole channels of x with probability p; the others times 1 / (1 - p): "
         "dropout" +
         std::to_string(n) + "d(x, p). Tompson et al., arXiv:1411.4280.")
            .c_str(),
        [n](Object& self, double p) {
          expect_probability("p", p);
          self.method(kOfTensor, [=](Object& self, Tensor x) {
            if (n == 1) return dropout1d(x, p, self.training());
            return n == 2 ? dropout2d(x, p, self.training()) : dropout3d(x, p, self.training());
          });
        });
}

}  // namespace

void add_dropout_layers() {
  layer("Dropout(float p=0.5)",
        "In training zero with probability p, the others times 1 / (1 - p); else the identity. "
        "Srivastava et al., 2014.",
        [](Object& self, double p) {
          expect_probability("p", p);
          self.method(kOfTensor,
                      [=](Object& self, Tensor x) { return dropout(x, p, self.training()); });
        });
  for (int64_t n = 1; n <= 3; ++n) add_channel_dropout(n);
  layer(
      "AlphaDropout(float p=0.5)",
      "In training selu's lower limit with probability p, and all scaled and shifted so that mean "
      "0 and variance 1 stay; else the identity. Klambauer et al., arXiv:1706.02515.",
      [](Object& self, double p) {
        expect_probability("p", p);
        self.method(kOfTensor,
                    [=](Object& self, Tensor x) { return alpha_dropout(x, p, self.training()); });
      });
  layer("FeatureAlphaDropout(float p=0.5)",
        "AlphaDropout of whole channels of x [n, channels, ..].", [](Object& self, double p) {
          expect_probability("p", p);
          self.method(kOfTensor, [=](Object& self, Tensor x) {
            return feature_alpha_dropout(x, p, self.training());
          });
        });
}

}  // namespace layers
