// Layers that are one elementwise op.
#include "layers.h"

namespace layers {

void add_activation_layers() {
  layer("ReLU()", [](Object& self) {
    self.method("forward(Tensor x) -> Tensor", [](Tensor x) { return relu(x); });
  });
}

}  // namespace layers
