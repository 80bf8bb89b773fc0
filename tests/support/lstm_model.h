// A classifier of sequences of different lengths, as an application writes one; PyTorch's twin is in
// tests/data/torch_recurrent.py.
#pragma once

#include <vector>

#include <tenon/module.hpp>
#include <tenon/nn.hpp>
#include <tenon/ops.hpp>

namespace lstm_model {

namespace tn = tenon;
using tn::Tensor;

// ids [n, t], of which those behind a sequence's end are 0, to logits [n, classes].
struct Classifier : tn::Module {
  Classifier(int64_t vocabulary, int64_t width, int64_t hidden, int64_t classes) {
    tokens = child("tokens", tn::nn::Embedding(vocabulary, width));
    lstm = child(
        "lstm", tn::nn::LSTMLayer(tn::nn::LSTM(
                    width, hidden, {.num_layers = 2, .batch_first = true, .bidirectional = true})));
    head = child("head", tn::nn::Linear(2 * hidden, classes));
  }
  Tensor forward(Tensor ids) {
    const Tensor lengths = tn::sum((ids != 0).to(tn::int64), {1});
    auto [y, h, c] = lstm(tn::nn::utils::pack_padded_sequence(
        tokens(ids), lengths, /*batch_first=*/true, /*enforce_sorted=*/false));
    return head(tn::cat({h[-2], h[-1]}, 1));
  }
  tn::Object tokens, head;
  tn::nn::LSTMLayer lstm;
};

}  // namespace lstm_model
