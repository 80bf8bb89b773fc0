// Linear: y = x Wᵀ + b.
#include <cmath>

#include "layers.h"

namespace layers {

void add_linear_layers() {
  layer("Linear(int in_features, int out_features, bool bias=True)",
        [](Object& self, int64_t in_features, int64_t out_features, bool bias) {
          expect_positive("in_features", in_features);
          expect_positive("out_features", out_features);
          // PyTorch's reset_parameters: kaiming_uniform(a = sqrt(5)) is this bound, for the weight
          // as for the bias.
          const double bound = 1 / std::sqrt(double(in_features));
          self.parameter("weight", uniform({out_features, in_features}, -bound, bound));
          self.parameter("bias", bias ? uniform({out_features}, -bound, bound) : Tensor());
          self.method("forward(Tensor x) -> Tensor", [](Object& self, Tensor x) {
            return linear(x, self.tensor("weight"), self.tensor("bias"));
          });
        });
}

}  // namespace layers
