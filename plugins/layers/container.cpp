// Layers that hold layers.
#include "layers.h"

namespace layers {

void add_containers() {
  layer("Sequential(object[] modules=[])",
        "The output of each module is the input of the next. Children 0, 1, ..",
        [](Object& self, std::vector<Object> modules) {
          for (size_t i = 0; i < modules.size(); ++i)
            self.child(std::to_string(i).c_str(), modules[i]);
          // Walks the children that are there at the call: an application may have replaced some.
          self.method("forward(Tensor x) -> Tensor", [](Object& self, Tensor x) {
            for (uint32_t i = 0; i < self.n_children(); ++i) {
              if (Object child = self.child_at(i)) x = child(x);
            }
            return x;
          });
        });
}

}  // namespace layers
