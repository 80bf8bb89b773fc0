// Linear: y = x Wᵀ + b. Bilinear: y = x1ᵀ W x2 + b.
#include <algorithm>
#include <cmath>

#include "layers.h"

namespace layers {
namespace {

std::string text(const Tensor& x) {
  std::string list;
  for (const int64_t size : x.sizes()) list += (list.empty() ? "" : ", ") + std::to_string(size);
  return "[" + list + "]";
}

Tensor bilinear_of(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias) {
  const std::vector<int64_t> sizes(x1.sizes().begin(), x1.sizes().end());
  const std::vector<int64_t> others(x2.sizes().begin(), x2.sizes().end());
  const bool fits = !sizes.empty() && sizes.size() == others.size() &&
                    std::equal(sizes.begin(), sizes.end() - 1, others.begin()) &&
                    sizes.back() == weight.size(1) && others.back() == weight.size(2);
  if (!fits) {
    fail("x1 is " + text(x1) + " and x2 " + text(x2) + ", expected [.., " +
         std::to_string(weight.size(1)) + "] and [.., " + std::to_string(weight.size(2)) +
         "], alike but for the last");
  }
  return bilinear(x1, x2, weight, bias);
}

}  // namespace

void add_linear_layers() {
  constexpr const char* kLinear = "Linear(int in_features, int out_features, bool bias=True)";
  layer(kLinear,
        "y = x W^T + b on x [.., in_features]: weight [out_features, in_features] and bias "
        "[out_features], both uniform in ±1/sqrt(in_features).",
        [](Object& self, int64_t in_features, int64_t out_features, bool bias) {
          expect_size("in_features", in_features);
          expect_size("out_features", out_features);
          // PyTorch's reset_parameters: kaiming_uniform(a = sqrt(5)) is this bound, for the weight
          // as for the bias, which is 0 where there is nothing to weigh.
          const double bound = in_features > 0 ? 1 / std::sqrt(double(in_features)) : 0;
          self.parameter("weight", uniform({out_features, in_features}, -bound, bound));
          self.parameter("bias", bias ? uniform({out_features}, -bound, bound) : Tensor());
          self.method(kOfTensor, [](Object& self, Tensor x) {
            return linear(x, self.tensor("weight"), self.tensor("bias"));
          });
        });
  define_lazy(kLinear, -1);
  layer("Bilinear(int in1_features, int in2_features, int out_features, bool bias=True)",
        "layer(x1, x2) = x1^T W x2 + b: weight [out_features, in1_features, in2_features], uniform "
        "in ±1/sqrt(in1_features), as the bias.",
        [](Object& self, int64_t in1_features, int64_t in2_features, int64_t out_features,
           bool bias) {
          expect_positive("in1_features", in1_features);
          expect_size("in2_features", in2_features);
          expect_size("out_features", out_features);
          const double bound = 1 / std::sqrt(double(in1_features));
          self.parameter("weight",
                         uniform({out_features, in1_features, in2_features}, -bound, bound));
          self.parameter("bias", bias ? uniform({out_features}, -bound, bound) : Tensor());
          self.method("forward(Tensor x1, Tensor x2) -> Tensor",
                      [=](Object& self, Tensor x1, Tensor x2) {
                        return bilinear_of(x1, x2, self.tensor("weight"), self.tensor("bias"));
                      });
        });
}

}  // namespace layers
