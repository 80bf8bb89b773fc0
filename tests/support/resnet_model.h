// A ResNet-18 in its CIFAR form (He et al., arXiv:1512.03385) as an application writes one, for
// tests that train it: parity with PyTorch, and compiled steps.
#pragma once

#include <string>
#include <vector>

#include <tenon/module.hpp>
#include <tenon/nn.hpp>
#include <tenon/ops.hpp>

namespace resnet_model {

namespace tn = tenon;
using tn::Tensor;

inline tn::Object conv(int64_t inputs, int64_t outputs, int64_t kernel, int64_t stride) {
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

// Images [n, 3, h, w] to logits [n, 10].
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

}  // namespace resnet_model
