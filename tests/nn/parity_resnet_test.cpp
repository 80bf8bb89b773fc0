// A ResNet-18 (He et al., arXiv:1512.03385; its CIFAR form) has the losses that it has in PyTorch,
// step for step.
#include <tenon/module.hpp>

#include "parity_support.h"

namespace {

tn::Object conv(int64_t inputs, int64_t outputs, int64_t kernel, int64_t stride) {
  return tn::nn::Conv2d(inputs, outputs, kernel,
                        {.stride = stride, .padding = kernel / 2, .bias = false});
}

struct BasicBlock : tn::Module {
  BasicBlock(int64_t inputs, int64_t width, int64_t stride) {
    conv1 = child("conv1", conv(inputs, width, 3, stride));
    bn1 = child("bn1", tn::nn::BatchNorm2d(width));
    conv2 = child("conv2", conv(width, width, 3, 1));
    bn2 = child("bn2", tn::nn::BatchNorm2d(width));
    if (stride == 1 && inputs == width) return;
    downsample = child("downsample", tn::nn::Sequential(conv(inputs, width, 1, stride),
                                                        tn::nn::BatchNorm2d(width)));
  }
  Tensor forward(Tensor x) {
    Tensor y = bn2(conv2(tn::relu(bn1(conv1(x)))));
    return tn::relu(y + (downsample ? downsample(x) : x));
  }
  tn::Object conv1, bn1, conv2, bn2, downsample;
};

struct ResNet18 : tn::Module {
  explicit ResNet18(int64_t width) {
    stem = child("conv1", conv(3, width, 3, 1));
    norm = child("bn1", tn::nn::BatchNorm2d(width));
    int64_t inputs = width;
    for (int i = 0; i < 4; ++i) {
      const int64_t outputs = width << i;
      stages.push_back(
          child(("layer" + std::to_string(i + 1)).c_str(),
                tn::nn::Sequential(tn::make<BasicBlock>(inputs, outputs, i == 0 ? 1 : 2),
                                   tn::make<BasicBlock>(outputs, outputs, 1))));
      inputs = outputs;
    }
    fc = child("fc", tn::nn::Linear(inputs, 10));
  }
  Tensor forward(Tensor x) {
    x = tn::relu(norm(stem(x)));
    for (const tn::Object& stage : stages) x = stage(x);
    return fc(tn::adaptive_avg_pool2d(x, 1).flatten(1));
  }
  tn::Object stem, norm, fc;
  std::vector<tn::Object> stages;
};

parity::Network network(const char* name) {
  parity::Network n;
  n.expected = parity::network(name);
  const int64_t width = n.expected.at("width"), batch = n.expected.at("batch");
  n.make = [=]() -> tn::Object { return tn::make<ResNet18>(width); };
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
