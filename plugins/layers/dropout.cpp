// Dropout (Srivastava et al., 2014): active in training only.
#include "layers.h"

namespace layers {

void add_dropout_layers() {
  layer("Dropout(float p=0.5)", [](Object& self, double p) {
    if (!(p >= 0 && p <= 1)) fail("p is " + std::to_string(p) + ", expected a probability, 0 to 1");
    self.method("forward(Tensor x) -> Tensor",
                [=](Object& self, Tensor x) { return dropout(x, p, self.training()); });
  });
}

}  // namespace layers
