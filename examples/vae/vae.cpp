// A variational autoencoder (Kingma & Welling, arXiv:1312.6114) of handwritten digits: it learns to
// describe an image of 8 x 8 by eight numbers, and draws new digits from numbers that are random.
// What it prints is the bound of -log p(image) per image, in nats, on images that it does not learn.
//
//   vae [--small] [digits.csv]
#include <cstdio>
#include <cstring>
#include <string>
#include <tenon/tenon.hpp>
namespace tn = tenon;
using tn::Tensor;

struct VAE : tn::Module {
  tn::Object encoder =
      child("encoder", tn::nn::Sequential(tn::nn::Linear(64, 256), tn::nn::ReLU()));
  tn::Object mean = child("mean", tn::nn::Linear(256, 8));
  tn::Object logvar = child("logvar", tn::nn::Linear(256, 8));
  tn::Object decoder = child("decoder", tn::nn::Sequential(tn::nn::Linear(8, 256), tn::nn::ReLU(),
                                                           tn::nn::Linear(256, 64)));
  // Logits of the pixels, and the mean and the logarithm of the variance of what describes x.
  std::tuple<Tensor, Tensor, Tensor> forward(Tensor x) {
    const Tensor hidden = encoder(x), mu = mean(hidden), log_variance = logvar(hidden);
    const Tensor z = mu + tn::randn_like(mu) * (0.5 * log_variance).exp();
    return {decoder(z), mu, log_variance};
  }
};

// The bound for each image: what the pixels cost given z, and the divergence of z from a standard
// normal (appendix B of the paper).
Tensor bound(const tn::Made<VAE>& model, const Tensor& x) {
  auto [logits, mu, logvar] = model(x);
  const Tensor pixels = tn::binary_cross_entropy_with_logits(logits, x, {.reduction = "sum"});
  const Tensor divergence = -0.5 * (1 + logvar - mu.square() - logvar.exp()).sum();
  return (pixels + divergence) / x.size(0);
}

void show(const Tensor& digits) {
  const char shades[] = " .:-=+*#@";
  for (int64_t row = 0; row < 8; ++row) {
    for (const Tensor& digit : digits) {
      for (const float shade : digit.view({8, 8})[row].to_vector<float>())
        std::printf("%c", shades[int(shade * 8.99f)]);
      std::printf("  ");
    }
    std::printf("\n");
  }
}

int main(int argc, char** argv) {
  tn::load_plugins();
  tn::manual_seed(0);
  const bool small = argc > 1 && std::strcmp(argv[1], "--small") == 0;
  const std::string path = argc > 1 + small ? argv[1 + small] : "examples/digits/digits.csv";
  auto [train, test] = tn::data::csv(path, {.scale = 1 / 16.0}).hold_out(6);
  auto model = tn::make<VAE>();
  auto optimizer = tn::optim::Adam(model.parameters(), {.lr = 2e-3});
  tn::data::DataLoader batches(train, {.batch_size = 64, .shuffle = true});
  const auto held_out = [&, &test = test] {
    const tn::NoGrad off;
    return bound(model, test.x).item<double>();
  };
  std::printf("bound_before %.2f\n", held_out());
  for (int epoch = 1; epoch <= (small ? 15 : 200); ++epoch) {
    for (const auto& [x, label] : batches) {
      optimizer.zero_grad();
      bound(model, x).backward();
      optimizer.step();
    }
    if (epoch % 50 == 0) std::printf("epoch %d: bound %.2f\n", epoch, held_out());
  }
  std::printf("bound_after %.2f\n", held_out());
  const tn::NoGrad off;
  show(model->decoder(tn::randn({8, 8})).sigmoid());
}
