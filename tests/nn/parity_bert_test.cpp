// A BERT of two layers has the losses that it has in PyTorch, step for step.
#include "bert_model.h"
#include "parity_support.h"

namespace {

TEST(ParityBert, HasPyTorchsLossesOnEveryDevice) {
  parity::Network n;
  n.expected = parity::network("bert");
  const auto option = [&](const char* name) { return n.expected.at(name).get<int64_t>(); };
  const int64_t batch = option("batch"), context = option("context"),
                vocabulary = option("vocabulary");
  n.make = [&]() -> tn::Object {
    return tn::make<bert_model::Bert>(vocabulary, context, option("width"), option("heads"),
                                      option("layers"));
  };
  n.inputs = [=](uint32_t key) {
    return parity::classes({batch, context}, key, uint32_t(vocabulary));
  };
  n.targets = [=](uint32_t key) {
    return parity::classes(batch * context, key, uint32_t(vocabulary));
  };
  n.optimizer = [](const TensorList& parameters) {
    return tn::optim::AdamW(parameters, {.lr = 1e-3, .weight_decay = 0.1});
  };
  for (tn::Device device : devices()) {
    parity::check(n, device, tn::float64, 20);
    parity::check(n, device, tn::float32, 1);
  }
}

}  // namespace
