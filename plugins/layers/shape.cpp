// Layers that are views.
#include "layers.h"

namespace layers {

void add_shape_layers() {
  layer("Flatten(int start_dim=1, int end_dim=-1)",
        [](Object& self, int64_t start_dim, int64_t end_dim) {
          self.method("forward(Tensor x) -> Tensor",
                      [=](Tensor x) { return flatten(x, start_dim, end_dim); });
        });
}

}  // namespace layers
