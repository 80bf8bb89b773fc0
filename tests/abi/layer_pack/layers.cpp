// A layer made of others.
#include <tenon/plugin.hpp>

TENON_PLUGIN(trial_layers) {
  layer("Gated(int dim, float p=0.1)", [](Object& self, int64_t dim, double p) {
    self.child("proj", nn::Linear(dim, 2 * dim));
    self.method("forward(Tensor x) -> Tensor", [=](Object& self, Tensor x) {
      auto [a, b] = chunk<2>(self.child("proj")(x), -1);
      return dropout(a * sigmoid(b), p, self.training());
    });
  });
}
