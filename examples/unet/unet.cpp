// A U-Net (Ronneberger et al., arXiv:1505.04597) says of each pixel of a noisy picture whether it is
// ground, part of a disc or part of a box. The program draws the pictures; where shapes overlap the
// box lies on top. It prints the mean over the three classes of intersection over union.
//
//   unet [--small]
#include <cstdio>
#include <cstring>
#include <tenon/tenon.hpp>
namespace tn = tenon;
using tn::Tensor;

constexpr int64_t kGround = 0, kDisc = 1, kBox = 2, kClasses = 3;

// Pictures [n, 1, size, size] and the class of each pixel [n, size, size]: a disc and a box each,
// of random places, sizes and shades, under noise.
std::pair<Tensor, Tensor> draw(int64_t n, int64_t size) {
  const auto somewhere = [&](double low, double high) {
    return tn::uniform({n, 1, 1}, low * double(size), high * double(size));
  };
  const Tensor row = tn::arange(size).view({1, size, 1}),
               column = tn::arange(size).view({1, 1, size});
  const Tensor dx = column - somewhere(0.15, 0.85), dy = row - somewhere(0.15, 0.85);
  const Tensor disc = dx.square() + dy.square() < somewhere(0.1, 0.25).square();
  const Tensor box = ((column - somewhere(0.15, 0.85)).abs() < somewhere(0.08, 0.22)) &
                     ((row - somewhere(0.15, 0.85)).abs() < somewhere(0.08, 0.22));
  const Tensor classes = tn::where(box, kBox, tn::where(disc, kDisc, kGround));
  const Tensor shade = tn::uniform({n, 1, 1}, 0.4, 1), other = tn::uniform({n, 1, 1}, 0.4, 1);
  const Tensor picture = tn::where(box, shade, tn::where(disc, other, 0.0));
  return {(picture + 0.25 * tn::randn_like(picture)).unsqueeze(1), classes};
}

tn::Object convolutions(int64_t in, int64_t out) {
  using namespace tn::nn;
  return Sequential(Conv2d(in, out, 3, {.padding = 1, .bias = false}), BatchNorm2d(out), ReLU(),
                    Conv2d(out, out, 3, {.padding = 1, .bias = false}), BatchNorm2d(out), ReLU());
}

struct UNet : tn::Module {
  tn::nn::ModuleList down = child("down", tn::nn::ModuleList());
  tn::nn::ModuleList wider = child("wider", tn::nn::ModuleList());
  tn::nn::ModuleList up = child("up", tn::nn::ModuleList());
  tn::Object bottom, head;

  UNet(int64_t width, int depth) {
    int64_t in = 1;
    for (int level = 0; level < depth; ++level, in = width, width *= 2) {
      down.append(convolutions(in, width));
    }
    bottom = child("bottom", convolutions(in, width));
    for (int level = 0; level < depth; ++level, width /= 2) {
      wider.append(tn::nn::ConvTranspose2d(width, width / 2, 2, {.stride = 2}));
      up.append(convolutions(width, width / 2));
    }
    head = child("head", tn::nn::Conv2d(width, kClasses, 1));
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
};

double mean_iou(const Tensor& found, const Tensor& truth) {
  double sum = 0;
  for (int64_t c = 0; c < kClasses; ++c) {
    const Tensor a = found == c, b = truth == c;
    sum += (a & b).sum().item<double>() / (a | b).sum().item<double>();
  }
  return sum / double(kClasses);
}

int main(int argc, char** argv) {
  tn::load_plugins();
  tn::manual_seed(0);
  const bool small = argc > 1 && std::strcmp(argv[1], "--small") == 0;
  const int64_t size = small ? 24 : 64;
  const int steps = small ? 200 : 600;
  auto model = tn::make<UNet>(small ? 8 : 16, small ? 2 : 3);
  auto optimizer = tn::optim::AdamW(model.parameters(), {.lr = 3e-3});
  tn::optim::Scheduler schedule(optimizer, tn::optim::OneCycleLR(3e-3, steps));
  const auto [pictures, truth] = draw(64, size);
  const auto score = [&, &pictures = pictures, &truth = truth] {
    const tn::NoGrad off;
    model.eval();
    const double iou = mean_iou(tn::argmax(model(pictures), 1), truth);
    model.train();
    return iou;
  };
  std::printf("iou_before %.3f\n", score());
  for (int step = 1; step <= steps; ++step) {
    const auto [x, y] = draw(16, size);
    const Tensor loss = tn::cross_entropy(model(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    schedule.step();
    if (step % 100 == 0)
      std::printf("step %d: loss %.4f, iou %.3f\n", step, loss.item<double>(), score());
  }
  std::printf("iou_after %.3f\n", score());
}
