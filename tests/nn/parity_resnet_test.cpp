// A ResNet-18 (He et al., arXiv:1512.03385; its CIFAR form) has the losses that it has in PyTorch,
// step for step.
#include "parity_support.h"
#include "resnet_model.h"

namespace {

parity::Network network(const char* name) {
  parity::Network n;
  n.expected = parity::network(name);
  const int64_t width = n.expected.at("width"), batch = n.expected.at("batch");
  n.make = [=]() -> tn::Object { return tn::make<resnet_model::ResNet18>(width); };
  n.inputs = [=](uint32_t key) { return parity::uniform({batch, 3, 32, 32}, key); };
  n.targets = [=](uint32_t key) { return parity::classes(batch, key, 10); };
  n.optimizer = [](const TensorList& parameters) {
    return tn::optim::SGD(parameters, {.lr = 0.002, .momentum = 0.9, .weight_decay = 5e-4});
  };
  return n;
}

TEST(ParityResNet, HasPyTorchsLosses) {
  load_all();
  const parity::Network n = network("resnet");
  parity::check(n, tn::cpu, tn::float64, 20);
  parity::check(n, tn::cpu, tn::float32, 1);
}

// An eighth of the width, for devices of plain kernels.
TEST(ParityResNet, NarrowOnEveryDevice) {
  const parity::Network n = network("resnet_narrow");
  for (tn::Device device : devices()) {
    parity::check(n, device, tn::float64, 20);
    parity::check(n, device, tn::float32, 1);
  }
}

}  // namespace
