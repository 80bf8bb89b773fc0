// A ViT of two layers has the losses that it has in PyTorch, step for step.
#include "parity_support.h"
#include "vit_model.h"

namespace {

TEST(ParityViT, HasPyTorchsLossesOnEveryDevice) {
  parity::Network n;
  n.expected = parity::network("vit");
  const auto option = [&](const char* name) { return n.expected.at(name).get<int64_t>(); };
  const int64_t batch = option("batch"), size = option("size");
  n.make = [&]() -> tn::Object {
    return tn::make<vit_model::ViT>(size, option("patch"), option("width"), option("heads"),
                                    option("layers"), 10);
  };
  n.inputs = [=](uint32_t key) { return parity::uniform({batch, 3, size, size}, key); };
  n.targets = [=](uint32_t key) { return parity::classes(batch, key, 10); };
  n.optimizer = [](const TensorList& parameters) {
    return tn::optim::SGD(parameters, {.lr = 0.01, .momentum = 0.9, .nesterov = true});
  };
  for (tn::Device device : devices()) {
    parity::check(n, device, tn::float64, 20);
    parity::check(n, device, tn::float32, 1);
  }
}

}  // namespace
