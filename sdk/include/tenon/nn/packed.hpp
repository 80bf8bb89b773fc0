// Sequences of different lengths as one tensor, as PyTorch's torch.nn.utils.rnn has them, and
// recurrent layers as functions of them. For applications; the layers themselves are in
// nn/recurrent.hpp.
//
//   tenon::nn::LSTMLayer lstm = tenon::nn::LSTM(8, 16);
//   auto [y, h, c] = lstm(nn::utils::pack_padded_sequence(x, lengths, false, false));
//   auto [padded, its_lengths] = nn::utils::pad_packed_sequence(y);
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/object.hpp"
#include "tenon/ops/methods_by_hand.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/index.hpp"
#include "tenon/ops/shape.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace nn {
namespace utils {

// The steps of several sequences, the longest first: `data` [steps, ..] has the first step of each,
// then the second of those that have one, and so on. `batch_sizes` [t] (int64, on the cpu) says how
// many there are of each step. Where the sequences were not sorted, `sorted_indices` [n] are their
// places in the order of lengths, and `unsorted_indices` [n] lead back; else both are null.
struct PackedSequence {
  Tensor data, batch_sizes, sorted_indices, unsorted_indices;

  std::vector<int64_t> sizes() const { return batch_sizes.to_vector<int64_t>(); }
  PackedSequence to(Device device) const {
    const auto moved = [&](const Tensor& t) { return t.defined() ? t.to(device) : t; };
    return {data.to(device), batch_sizes, moved(sorted_indices), moved(unsorted_indices)};
  }
};

namespace packing {

inline Tensor indices(const std::vector<int64_t>& list, Device device) {
  return Tensor::from(list, {int64_t(list.size())}).to(device);
}

// States [layers, n, width] in another order of the sequences; a null order changes nothing. Others
// stay as they are, for the layer says what it expects.
inline Tensor permuted(const Tensor& state, const Tensor& order) {
  if (!state.defined() || !order.defined()) return state;
  const bool fits = state.dim() == 3 && state.size(1) == order.size(0);
  return fits ? index_select(state, 1, order) : state;
}

// Lengths in order, the longest first, and where each comes from.
struct Order {
  std::vector<int64_t> lengths, places;
  bool sorted;
};
inline Order order_of(const char* function, const std::vector<int64_t>& lengths,
                      bool enforce_sorted) {
  if (lengths.empty()) fail(std::string(function) + ": there are no sequences");
  Order o;
  for (size_t i = 0; i < lengths.size(); ++i) o.places.push_back(int64_t(i));
  o.sorted = enforce_sorted;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 1) {
      fail(std::string(function) + ": lengths[" + std::to_string(i) + "] is " +
           std::to_string(lengths[i]) + ", expected at least 1");
    }
    if (enforce_sorted && i > 0 && lengths[i] > lengths[i - 1]) {
      fail(std::string(function) + ": lengths[" + std::to_string(i) + "] is " +
           std::to_string(lengths[i]) + " behind " + std::to_string(lengths[i - 1]) +
           "; expected the longest first, or enforce_sorted false");
    }
  }
  if (!enforce_sorted) {
    std::stable_sort(o.places.begin(), o.places.end(),
                     [&](int64_t a, int64_t b) { return lengths[size_t(a)] > lengths[size_t(b)]; });
  }
  for (const int64_t place : o.places) o.lengths.push_back(lengths[size_t(place)]);
  return o;
}

// rows [n, ..] has step t of sequence i at place(i, t).
template <typename Place>
PackedSequence packed(const Tensor& rows, const Order& o, const Place& place) {
  std::vector<int64_t> batch_sizes, index;
  size_t n = o.lengths.size();
  for (int64_t t = 0; t < o.lengths[0]; ++t) {
    while (o.lengths[n - 1] <= t) --n;
    batch_sizes.push_back(int64_t(n));
    for (size_t i = 0; i < n; ++i) index.push_back(place(o.places[i], t));
  }
  PackedSequence p;
  p.data = index_select(rows, 0, indices(index, rows.device()));
  p.batch_sizes = Tensor::from(batch_sizes, {int64_t(batch_sizes.size())});
  if (!o.sorted) {
    std::vector<int64_t> back(o.places.size());
    for (size_t i = 0; i < o.places.size(); ++i) back[size_t(o.places[i])] = int64_t(i);
    p.sorted_indices = indices(o.places, rows.device());
    p.unsorted_indices = indices(back, rows.device());
  }
  return p;
}

}  // namespace packing

// Of input [t, n, ..], with batch_first [n, t, ..], whose sequence i has lengths[i] steps. Without
// enforce_sorted the sequences may be in any order. What is behind a sequence's end is not read.
inline PackedSequence pack_padded_sequence(const Tensor& input, Ints lengths,
                                           bool batch_first = false, bool enforce_sorted = true) {
  const char* const name = "pack_padded_sequence";
  if (input.dim() < 2) {
    fail(std::string(name) + ": input is " + tenon::detail::sizes_text(input.sizes()) +
         ", expected " + (batch_first ? "[n, t, ..]" : "[t, n, ..]"));
  }
  const int64_t steps = input.size(batch_first ? 1 : 0), n = input.size(batch_first ? 0 : 1);
  const std::vector<int64_t> list(lengths.begin(), lengths.end());
  if (int64_t(list.size()) != n) {
    fail(std::string(name) + ": " + std::to_string(list.size()) + " lengths for input " +
         tenon::detail::sizes_text(input.sizes()) + ", expected " + std::to_string(n));
  }
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] <= steps) continue;
    fail(std::string(name) + ": lengths[" + std::to_string(i) + "] is " + std::to_string(list[i]) +
         ", the input has " + std::to_string(steps) + " steps");
  }
  const packing::Order order = packing::order_of(name, list, enforce_sorted);
  return packing::packed(flatten(input, 0, 1), order, [&](int64_t i, int64_t t) {
    return batch_first ? i * steps + t : t * n + i;
  });
}
inline PackedSequence pack_padded_sequence(const Tensor& input, const Tensor& lengths,
                                           bool batch_first = false, bool enforce_sorted = true) {
  if (lengths.dim() != 1 || lengths.dtype().is_float()) {
    fail("pack_padded_sequence: lengths is " + tenon::detail::sizes_text(lengths.sizes()) + " (" +
         lengths.dtype().name() + "), expected [n] of integers");
  }
  return pack_padded_sequence(input, lengths.to_vector<int64_t>(), batch_first, enforce_sorted);
}
struct PackPaddedSequenceOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  bool batch_first = false;
  bool enforce_sorted = true;
};
// {} is batch_first, as in the functions above: these are templates.
template <std::same_as<PackPaddedSequenceOptions> O = PackPaddedSequenceOptions>
PackedSequence pack_padded_sequence(const Tensor& input, const Ints& lengths, const O& options) {
  return pack_padded_sequence(input, lengths, options.batch_first, options.enforce_sorted);
}
template <std::same_as<PackPaddedSequenceOptions> O = PackPaddedSequenceOptions>
PackedSequence pack_padded_sequence(const Tensor& input, const Tensor& lengths, const O& options) {
  return pack_padded_sequence(input, lengths, options.batch_first, options.enforce_sorted);
}

// Of sequences [t_i, ..], one behind the other.
inline PackedSequence pack_sequence(const std::vector<Tensor>& sequences,
                                    bool enforce_sorted = true) {
  std::vector<int64_t> lengths, starts;
  int64_t rows = 0;
  for (const Tensor& s : sequences) {
    if (s.dim() < 1) fail("pack_sequence: a sequence has no dimension, expected [t, ..]");
    lengths.push_back(s.size(0));
    starts.push_back(rows);
    rows += s.size(0);
  }
  const packing::Order order = packing::order_of("pack_sequence", lengths, enforce_sorted);
  return packing::packed(cat(sequences, 0), order,
                         [&](int64_t i, int64_t t) { return starts[size_t(i)] + t; });
}

// The sequences [t, n, ..], with batch_first [n, t, ..], in their first order, padding_value behind
// their ends; and their lengths [n], int64 on the cpu. t is total_length, or the longest length.
inline std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& p,
                                                      bool batch_first = false,
                                                      Number padding_value = 0.0,
                                                      std::optional<int64_t> total_length = {}) {
  const std::vector<int64_t> sizes = p.sizes();
  const int64_t n = sizes.empty() ? 0 : sizes[0], rows = p.data.size(0);
  const int64_t steps = total_length.value_or(int64_t(sizes.size()));
  if (steps < int64_t(sizes.size())) {
    fail("pad_packed_sequence: total_length is " + std::to_string(steps) +
         ", the longest sequence has " + std::to_string(sizes.size()) + " steps");
  }
  std::vector<int64_t> back, lengths(static_cast<size_t>(n), 0);
  for (int64_t i = 0; i < n; ++i) back.push_back(i);
  if (p.unsorted_indices.defined()) back = p.unsorted_indices.to_vector<int64_t>();
  // The row behind all others is the padding.
  std::vector<int64_t> index(static_cast<size_t>(steps * n), rows);
  int64_t start = 0;
  for (int64_t t = 0; t < int64_t(sizes.size()); ++t) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = back[size_t(i)];
      if (from >= sizes[size_t(t)]) continue;
      index[size_t(batch_first ? i * steps + t : t * n + i)] = start + from;
      ++lengths[size_t(i)];
    }
    start += sizes[size_t(t)];
  }
  std::vector<int64_t> row(p.data.sizes().begin(), p.data.sizes().end());
  row[0] = 1;
  const Tensor padding = full(row, padding_value, p.data.dtype(), p.data.device());
  Tensor y = index_select(cat({p.data, padding}, 0), 0, packing::indices(index, p.data.device()));
  row[0] = batch_first ? n : steps;
  row.insert(row.begin() + 1, batch_first ? steps : n);
  return {reshape(y, row), Tensor::from(lengths, {n})};
}
struct PadPackedSequenceOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  bool batch_first = false;
  Number padding_value = 0.0;
  std::optional<int64_t> total_length = {};
};
template <std::same_as<PadPackedSequenceOptions> O = PadPackedSequenceOptions>
std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& p, const O& options) {
  return pad_packed_sequence(p, options.batch_first, options.padding_value, options.total_length);
}

// Sequences [t_i, ..] side by side, [t, n, ..] or with batch_first [n, t, ..].
inline Tensor pad_sequence(const std::vector<Tensor>& sequences, bool batch_first = false,
                           Number padding_value = 0.0, const std::string& padding_side = "right") {
  if (padding_side != "right" && padding_side != "left")
    fail("pad_sequence: padding_side is '" + padding_side + "', expected right or left");
  if (sequences.empty()) fail("pad_sequence: there are no sequences");
  int64_t steps = 0;
  for (const Tensor& s : sequences) {
    if (s.dim() < 1) fail("pad_sequence: a sequence has no dimension, expected [t, ..]");
    steps = std::max(steps, s.size(0));
  }
  std::vector<Tensor> padded;
  for (const Tensor& s : sequences) {
    std::vector<int64_t> borders(size_t(2 * s.dim()), 0);
    borders[borders.size() - (padding_side == "right" ? 1 : 2)] = steps - s.size(0);
    padded.push_back(pad(s, borders, "constant", padding_value));
  }
  return stack(padded, batch_first ? 0 : 1);
}
struct PadSequenceOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  bool batch_first = false;
  Number padding_value = 0.0;
  std::string padding_side = "right";
};
template <std::same_as<PadSequenceOptions> O = PadSequenceOptions>
Tensor pad_sequence(const std::vector<Tensor>& sequences, const O& options) {
  return pad_sequence(sequences, options.batch_first, options.padding_value, options.padding_side);
}

// What pad_sequence was made of: the first lengths[i] steps of each.
inline std::vector<Tensor> unpad_sequence(const Tensor& padded, const Tensor& lengths,
                                          bool batch_first = false) {
  const std::vector<int64_t> list = lengths.to_vector<int64_t>();
  std::vector<Tensor> sequences;
  for (size_t i = 0; i < list.size(); ++i)
    sequences.push_back(narrow(select(padded, batch_first ? 0 : 1, int64_t(i)), 0, 0, list[i]));
  return sequences;
}
inline std::vector<Tensor> unpack_sequence(const PackedSequence& p) {
  auto [padded, lengths] = pad_packed_sequence(p, true);
  return unpad_sequence(padded, lengths, true);
}

// Where PyTorch has them.
namespace rnn {
using utils::pack_padded_sequence;
using utils::pack_sequence;
using utils::PackedSequence;
using utils::pad_packed_sequence;
using utils::pad_sequence;
using utils::unpack_sequence;
using utils::unpad_sequence;
}  // namespace rnn

}  // namespace utils

// An RNN or a GRU as a function: the output, and the last state of each layer and direction. Of a
// packed sequence the output is packed as well, and states are in the order in which the sequences
// were before they were packed.
class RNNLayer : public Object {
 public:
  RNNLayer() = default;
  RNNLayer(Object layer) : Object(std::move(layer)) {}
  std::tuple<Tensor, Tensor> operator()(const Tensor& input, const Tensor& hx = {}) const {
    return invoke<std::tuple<Tensor, Tensor>>("forward", input, hx);
  }
  std::tuple<utils::PackedSequence, Tensor> operator()(const utils::PackedSequence& p,
                                                       const Tensor& hx = {}) const {
    auto [y, h] = invoke<std::tuple<Tensor, Tensor>>(
        "forward", p.data, utils::packing::permuted(hx, p.sorted_indices), Ints(p.sizes()));
    return {{y, p.batch_sizes, p.sorted_indices, p.unsorted_indices},
            utils::packing::permuted(h, p.unsorted_indices)};
  }
  template <typename... Args>
  auto forward(const Args&... args) const {
    return (*this)(args...);
  }
};

using GRULayer = RNNLayer;

// The same of an LSTM, which has two states.
class LSTMLayer : public Object {
 public:
  LSTMLayer() = default;
  LSTMLayer(Object layer) : Object(std::move(layer)) {}
  std::tuple<Tensor, Tensor, Tensor> operator()(const Tensor& input, const Tensor& h_0 = {},
                                                const Tensor& c_0 = {}) const {
    return invoke<std::tuple<Tensor, Tensor, Tensor>>("forward", input, h_0, c_0);
  }
  std::tuple<utils::PackedSequence, Tensor, Tensor> operator()(const utils::PackedSequence& p,
                                                               const Tensor& h_0 = {},
                                                               const Tensor& c_0 = {}) const {
    auto [y, h, c] = invoke<std::tuple<Tensor, Tensor, Tensor>>(
        "forward", p.data, utils::packing::permuted(h_0, p.sorted_indices),
        utils::packing::permuted(c_0, p.sorted_indices), Ints(p.sizes()));
    return {{y, p.batch_sizes, p.sorted_indices, p.unsorted_indices},
            utils::packing::permuted(h, p.unsorted_indices),
            utils::packing::permuted(c, p.unsorted_indices)};
  }
  template <typename... Args>
  auto forward(const Args&... args) const {
    return (*this)(args...);
  }
};

// An LSTMCell as a function: the next h and c.
class LSTMCellLayer : public Object {
 public:
  LSTMCellLayer() = default;
  LSTMCellLayer(Object layer) : Object(std::move(layer)) {}
  std::tuple<Tensor, Tensor> operator()(const Tensor& input, const Tensor& h_0 = {},
                                        const Tensor& c_0 = {}) const {
    return invoke<std::tuple<Tensor, Tensor>>("forward", input, h_0, c_0);
  }
  template <typename... Args>
  auto forward(const Args&... args) const {
    return (*this)(args...);
  }
};

}  // namespace nn
}  // namespace v0
}  // namespace tenon
