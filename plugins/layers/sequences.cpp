// Sequences: a row of layers over sequences of different lengths, of which it computes the steps that
// there are.
#include "layers.h"
#include "tenon/nn/packed.hpp"

namespace layers {
namespace {

using nn::utils::PackedSequence;

enum class Take { kLast, kAll };

// A layer whose forward gives several results, of which the second is the last state.
bool is_recurrent(const Object& layer) {
  const std::string name = layer.type_name();
  return name == "RNN" || name == "GRU" || name == "LSTM";
}

// The first layer of the tree that computes a step from others. With a padding the steps of all
// sequences lie in one table, in which it would take those of one for those of another.
std::string looks_across_steps(const Object& layer) {
  const std::string name = layer.type_name();
  for (const char* kind : {"Conv", "MaxPool", "AvgPool", "AdaptiveAvgPool", "AdaptiveMaxPool",
                           "LPPool", "MultiheadAttention", "Transformer", "PositionalEmbedding"}) {
    if (name.starts_with(kind)) return name;
  }
  for (uint32_t i = 0; i < layer.n_children(); ++i) {
    const Object child = layer.child_at(i);
    if (std::string found = child ? looks_across_steps(child) : ""; !found.empty()) return found;
  }
  return "";
}

// How many steps each row of ids [n, t] has: what is `padding` at its end is none. One at least.
std::vector<int64_t> lengths_of(const Tensor& ids, int64_t padding) {
  const std::vector<int64_t> list = ids.to_vector<int64_t>();
  const int64_t n = ids.size(0), t = ids.size(1);
  std::vector<int64_t> lengths(static_cast<size_t>(n), t);
  for (int64_t i = 0; i < n; ++i) {
    int64_t& length = lengths[static_cast<size_t>(i)];
    while (length > 1 && list[static_cast<size_t>(i * t + length - 1)] == padding) --length;
  }
  return lengths;
}

PackedSequence packed(const Tensor& ids, int64_t padding) {
  if (ids.dim() != 2 || ids.dtype().is_float()) {
    fail("x is " + sizes_text(ids) + " (" + ids.dtype().name() + "), expected ids [n, t], " +
         "integers, of which padding is one");
  }
  return nn::utils::pack_padded_sequence(ids, lengths_of(ids, padding), /*batch_first=*/true,
                                         /*enforce_sorted=*/false);
}

// A recurrent layer's output and its last states.
template <typename Steps>
std::pair<Steps, Tensor> step_by_step(const Object& layer, const Steps& x) {
  if (layer.type_name() != "LSTM") {
    auto [y, h] = nn::RNNLayer(layer)(x);
    return {y, h};
  }
  auto [y, h, c] = nn::LSTMLayer(layer)(x);
  return {y, h};
}

// The states [layers * directions, n, width] of the last layer's directions, side by side.
Tensor last_state(const Tensor& h, int64_t features) {
  const int64_t directions = features / h.size(2);
  std::vector<Tensor> list;
  for (int64_t d = h.size(0) - directions; d < h.size(0); ++d) list.push_back(select(h, 0, d));
  return list.size() == 1 ? list[0] : cat(list, 1);
}

// The layers in a row over steps; `run` does the recurrent ones. The states of the last of these where
// it ends the row, null otherwise.
template <typename Run>
Tensor in_a_row(const Object& self, Tensor* steps, const Run& run) {
  Tensor states;
  for (uint32_t i = 0; i < self.n_children(); ++i) {
    const Object layer = self.child_at(i);
    if (!layer) continue;
    states = is_recurrent(layer) ? run(layer) : Tensor();
    if (!states.defined()) *steps = layer(*steps);
  }
  return states;
}

Tensor forward(const Object& self, Tensor x, std::optional<int64_t> padding, Take take) {
  if (x.dim() < 2 || x.size(0) == 0 || x.size(1) == 0)
    fail("x is " + sizes_text(x) + ", expected [n, t, ..] with a sequence and a step at least");
  const int64_t t = x.size(1);
  Tensor states;
  if (padding) {
    PackedSequence p = packed(x, *padding);
    states = in_a_row(self, &p.data, [&](const Object& layer) {
      auto [y, h] = step_by_step(layer, p);
      p = y;
      return h;
    });
    x = take == Take::kLast
            ? p.data
            : std::get<0>(nn::utils::pad_packed_sequence(p, /*batch_first=*/true, 0.0, t));
  } else {
    states = in_a_row(self, &x, [&](const Object& layer) {
      const bool batch_first = layer.option<bool>("batch_first");
      auto [y, h] = step_by_step(layer, batch_first ? x : transpose(x, 0, 1));
      x = batch_first ? y : transpose(y, 0, 1);
      return h;
    });
  }
  if (take == Take::kAll) return x;
  if (!states.defined()) {
    fail(
        "output is 'last', which is the state of a recurrent layer at the end of the modules "
        "(RNN, GRU or LSTM), and there is none");
  }
  return last_state(states, x.size(-1));
}

}  // namespace

void add_sequences() {
  layer("Sequences(object[] modules=[], int? padding=None, str output='last')",
        "The modules in a row over sequences x [n, t, ..], step by step: [n, width], the state of "
        "the recurrent module at the end (RNN, GRU, LSTM) behind each sequence's own last step "
        "(output 'last'), or [n, t, ..], zeros behind it ('all'). With padding x are ids, which "
        "end where only this id follows: no step of it is computed. Children 0, 1, ..",
        [](Object& self, std::vector<Object> modules, std::optional<int64_t> padding,
           std::string output) {
          if (output != "last" && output != "all")
            fail("output is '" + output + "', expected 'last' or 'all'");
          const Take take = output == "last" ? Take::kLast : Take::kAll;
          for (const Object& module : modules) {
            const std::string found = padding && module ? looks_across_steps(module) : "";
            if (!found.empty())
              fail("padding is given, with which modules see single steps, and " + found +
                   " computes a step from others; expected recurrent layers and layers of a step");
          }
          for (size_t i = 0; i < modules.size(); ++i) self.child(std::to_string(i), modules[i]);
          self.method(kOfTensor, [padding, take](Object& self, Tensor x) {
            return forward(self, x, padding, take);
          });
        });
}

}  // namespace layers
