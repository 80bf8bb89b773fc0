// A U-Net of two levels has the losses that it has in PyTorch, step for step.
#include "parity_support.h"
#include "unet_model.h"

namespace {

TEST(ParityUNet, HasPyTorchsLossesOnEveryDevice) {
  parity::Network n;
  n.expected = parity::network("unet");
  const auto option = [&](const char* name) { return n.expected.at(name).get<int64_t>(); };
  const int64_t batch = option("batch"), size = option("size"), classes = option("classes");
  n.make = [&]() -> tn::Object {
    return tn::make<unet_model::UNet>(option("width"), option("depth"), classes);
  };
  n.inputs = [=](uint32_t key) { return parity::uniform({batch, 1, size, size}, key); };
  n.targets = [=](uint32_t key) {
    return parity::classes({batch, size, size}, key, uint32_t(classes));
  };
  n.optimizer = [](const TensorList& parameters) {
    return tn::optim::Adam(parameters, {.lr = 3e-3});
  };
  for (tn::Device device : devices()) {
    parity::check(n, device, tn::float64, 20);
    parity::check(n, device, tn::float32, 1);
  }
}

}  // namespace
