// A pair of convolutional nets against each other (Radford et al., arXiv:1511.06434): one draws
// digits of 16 x 16, the other tells them from true ones. Losses say little of such a pair, so it
// prints how far the drawn images are from images that were held out, as an energy distance
// (Székely & Rizzo, 2013), which is 0 where both come from one distribution.
//
//   dcgan [--small] [digits.csv]
#include <cstdio>
#include <cstring>
#include <string>
#include <tenon/tenon.hpp>
namespace tn = tenon;
using tn::Tensor;

constexpr int64_t kNoise = 32;

tn::Object make_generator(int64_t width) {
  using namespace tn::nn;
  return Sequential(
      ConvTranspose2d(kNoise, 2 * width, 4, {.bias = false}),  // to 4 x 4
      BatchNorm2d(2 * width), ReLU(),
      ConvTranspose2d(2 * width, width, 4, {.stride = 2, .padding = 1, .bias = false}),
      BatchNorm2d(width), ReLU(), ConvTranspose2d(width, 1, 4, {.stride = 2, .padding = 1}),
      Tanh());
}

tn::Object make_discriminator(int64_t width) {
  using namespace tn::nn;
  return Sequential(Conv2d(1, width, 4, {.stride = 2, .padding = 1}), LeakyReLU(0.2),
                    Conv2d(width, 2 * width, 4, {.stride = 2, .padding = 1, .bias = false}),
                    BatchNorm2d(2 * width), LeakyReLU(0.2), Conv2d(2 * width, 1, 4), Flatten());
}

// The first values of the paper.
void init_weights(tn::Object& layer) {
  const std::string type = layer.type_name();
  if (type.starts_with("Conv")) tn::nn::init::normal_(layer.tensor("weight"), 0, 0.02);
  if (type.starts_with("BatchNorm")) tn::nn::init::normal_(layer.tensor("weight"), 1, 0.02);
}

// 2 E|x - y| - E|x - x'| - E|y - y'| over the images of both sets.
double energy_distance(const Tensor& x, const Tensor& y) {
  const auto mean_distance = [](const Tensor& a, const Tensor& b, double pairs) {
    return tn::cdist(a.flatten(1), b.flatten(1)).sum().item<double>() / pairs;
  };
  const auto n = double(x.size(0)), m = double(y.size(0));
  return 2 * mean_distance(x, y, n * m) - mean_distance(x, x, n * (n - 1)) -
         mean_distance(y, y, m * (m - 1));
}

// Images in [-1, 1], as tanh gives them, of [n, 1, 16, 16].
Tensor images(const Tensor& pixels) {
  const Tensor small = pixels.view({-1, 1, 8, 8}) * 2 - 1;
  return tn::interpolate(small, {.size = {16, 16}, .mode = "bilinear", .align_corners = false});
}

int main(int argc, char** argv) {
  tn::load_plugins();
  tn::manual_seed(0);
  const bool small = argc > 1 && std::strcmp(argv[1], "--small") == 0;
  const std::string path = argc > 1 + small ? argv[1 + small] : "examples/digits/digits.csv";
  auto [train, test] = tn::data::csv(path, {.scale = 1 / 16.0}).hold_out(6);
  const Tensor held_out = images(test.x);

  auto generator = make_generator(small ? 16 : 48),
       discriminator = make_discriminator(small ? 16 : 48);
  generator.apply(init_weights);
  discriminator.apply(init_weights);
  auto of_generator = tn::optim::Adam(generator.parameters(), {.lr = 1e-3, .betas = {0.5, 0.999}});
  auto of_discriminator =
      tn::optim::Adam(discriminator.parameters(), {.lr = 5e-4, .betas = {0.5, 0.999}});
  const auto distance = [&] {
    const tn::NoGrad off;
    generator.eval();
    const Tensor drawn = generator(tn::randn({300, kNoise, 1, 1}));
    generator.train();
    return energy_distance(drawn, held_out);
  };
  const auto says = [&](const Tensor& x, double truth) {
    const Tensor logits = discriminator(x);
    return tn::binary_cross_entropy_with_logits(logits, tn::full_like(logits, truth));
  };

  tn::data::DataLoader batches({images(train.x), train.y},
                               {.batch_size = 64, .shuffle = true, .drop_last = true});
  std::printf("distance_before %.3f\n", distance());
  for (int epoch = 1; epoch <= (small ? 8 : 60); ++epoch) {
    double loss_d = 0, loss_g = 0;
    for (const auto& [real, label] : batches) {
      const Tensor drawn = generator(tn::randn({real.size(0), kNoise, 1, 1}));
      of_discriminator.zero_grad();
      const Tensor d = says(real, 0.9) + says(drawn.detach(), 0);  // 0.9: Salimans et al., 2016
      d.backward();
      of_discriminator.step();
      of_generator.zero_grad();
      const Tensor g = says(drawn, 1);
      g.backward();
      of_generator.step();
      loss_d = d.item<double>(), loss_g = g.item<double>();
    }
    if (epoch % 10 == 0)
      std::printf("epoch %d: losses %.3f %.3f, distance %.3f\n", epoch, loss_d, loss_g, distance());
  }
  std::printf("distance_after %.3f\n", distance());
  std::printf("distance_of_true_images %.3f\n",
              energy_distance(images(train.x.slice(0, 0, 300)), held_out));
}
