// Learns a sum of products through the ops of the pack, on the device that is named; says the loss
// at the end.
#include <cstdio>
#include <tenon/tenon.hpp>

namespace tn = tenon;

struct Net : tn::Module {
  tn::Object value = child("value", tn::nn::Linear(4, 32));
  tn::Object gate = child("gate", tn::nn::Linear(4, 32));
  tn::Object head = child("head", tn::nn::Linear(32, 1));
  tn::Tensor forward(tn::Tensor x) {
    x = tn::call("trial_ops.unit", x);
    return head(tn::call("trial_ops.swiglu", value(x), gate(x)));
  }
};

int main(int, char** argv) try {
  tn::load_plugins();
  tn::Device device = argv[1];
  tn::manual_seed(0);
  auto net = tn::make<Net>().to(device);
  auto optimizer = tn::optim::Adam(net.parameters(), {.lr = 1e-2});
  auto x = tn::randn({256, 4}, {}, device);
  auto unit = x / (x * x).sum({-1}, true).sqrt();
  auto y =
      (unit.select(1, 0) * unit.select(1, 1) + unit.select(1, 2) * unit.select(1, 3)).unsqueeze(1);
  double loss = 0;
  for (int step = 0; step < 200; ++step) {
    auto error = (net(x) - y).square().mean();
    optimizer.zero_grad();
    error.backward();
    optimizer.step();
    loss = error.item<double>();
  }
  auto ran = tn::explain([&] { tn::call("trial_ops.unit", x); });
  std::printf("%s loss %.5f, unit %s\n", argv[1], loss,
              ran.find(R"("plugin":"trial_ops")") != ran.npos ? "by its kernel" : "by its meaning");
  return loss < 0.002 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
