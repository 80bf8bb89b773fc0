// A U-Net (Ronneberger et al., arXiv:1505.04597) with batch norms as an application writes one;
// PyTorch's twin is in tests/data/torch_network_models.py.
#pragma once

#include <vector>

#include <tenon/containers.hpp>
#include <tenon/module.hpp>
#include <tenon/nn.hpp>
#include <tenon/ops.hpp>

namespace unet_model {

namespace tn = tenon;
using tn::Tensor;

inline tn::Object convolutions(int64_t inputs, int64_t outputs) {
  using namespace tn::nn;
  return Sequential(Conv2d(inputs, outputs, 3, {.padding = 1, .bias = false}), BatchNorm2d(outputs),
                    ReLU(), Conv2d(outputs, outputs, 3, {.padding = 1, .bias = false}),
                    BatchNorm2d(outputs), ReLU());
}

// Images [n, 1, h, w] to logits [n, classes, h, w]; h and w are multiples of 2 to the power of
// depth, and `width` doubles with each level.
struct UNet : tn::Module {
  UNet(int64_t width, int64_t depth, int64_t classes) {
    int64_t inputs = 1;
    for (int64_t level = 0; level < depth; ++level, inputs = width, width *= 2)
      down.append(convolutions(inputs, width));
    bottom = child("bottom", convolutions(inputs, width));
    child("wider", wider);
    child("up", up);
    for (int64_t level = 0; level < depth; ++level, width /= 2) {
      wider.append(tn::nn::ConvTranspose2d(width, width / 2, 2, {.stride = 2}));
      up.append(convolutions(width, width / 2));
    }
    head = child("head", tn::nn::Conv2d(width, classes, 1));
  }
  Tensor forward(Tensor x) {
    std::vector<Tensor> skipped;
    for (const tn::Object& level : down) {
      skipped.push_back(level(x));
      x = tn::max_pool2d(skipped.back(), 2);
    }
    x = bottom(x);
    for (size_t level = 0; level < up.size(); ++level) {
      x = up[level](tn::cat({skipped.back(), wider[level](x)}, 1));
      skipped.pop_back();
    }
    return head(x);
  }
  tn::nn::ModuleList down = child("down", tn::nn::ModuleList()), wider, up;
  tn::Object bottom, head;
};

}  // namespace unet_model
