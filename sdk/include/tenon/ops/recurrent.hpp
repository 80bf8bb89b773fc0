// The group 'recurrent' of the plugin 'ops', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/ops/results.hpp"
#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// One step of an LSTM: input [n, in] and the states hx, h and c [n, hidden], or without n. w_ih is
// [4 hidden, in], w_hh [4 hidden, hidden], biases [4 hidden]: gates input, forget, new, output.
// Hochreiter & Schmidhuber, 1997.
inline results::HC lstm_cell(const Tensor& input, const Tensors& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = {}, const Tensor& b_hh = {}) { return detail::call<results::HC>(detail::op<"lstm_cell">, {input, hx, w_ih, w_hh, b_ih, b_hh}); }
struct LstmCellOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor b_ih = {};
  Tensor b_hh = {};
};
template <std::same_as<LstmCellOptions> O = LstmCellOptions>
inline results::HC lstm_cell(const Tensor& input, const Tensors& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const O& options) { return detail::call<results::HC>(detail::op<"lstm_cell">, {input, hx, w_ih, w_hh, detail::one_of("lstm_cell", "b_ih", b_ih, options.b_ih), options.b_hh}); }
template <std::same_as<LstmCellOptions> O = LstmCellOptions>
inline results::HC lstm_cell(const Tensor& input, const Tensors& hx, const Tensor& w_ih, const Tensor& w_hh, const O& options) { return detail::call<results::HC>(detail::op<"lstm_cell">, {input, hx, w_ih, w_hh, options.b_ih, options.b_hh}); }
// One step of a GRU: input [n, in] and the state hx [n, hidden], or without n. w_ih is [3 hidden,
// in], w_hh [3 hidden, hidden], biases [3 hidden]: gates reset, update, new. Cho et al.,
// arXiv:1406.1078.
inline Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = {}, const Tensor& b_hh = {}) { return detail::call<Tensor>(detail::op<"gru_cell">, {input, hx, w_ih, w_hh, b_ih, b_hh}); }
using GruCellOptions = LstmCellOptions;
template <std::same_as<GruCellOptions> O = GruCellOptions>
inline Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const O& options) { return detail::call<Tensor>(detail::op<"gru_cell">, {input, hx, w_ih, w_hh, detail::one_of("gru_cell", "b_ih", b_ih, options.b_ih), options.b_hh}); }
template <std::same_as<GruCellOptions> O = GruCellOptions>
inline Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const O& options) { return detail::call<Tensor>(detail::op<"gru_cell">, {input, hx, w_ih, w_hh, options.b_ih, options.b_hh}); }
// tanh(input w_ih^T + b_ih + hx w_hh^T + b_hh): input [n, in], hx [n, hidden], or without n. Elman,
// 1990.
inline Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = {}, const Tensor& b_hh = {}) { return detail::call<Tensor>(detail::op<"rnn_tanh_cell">, {input, hx, w_ih, w_hh, b_ih, b_hh}); }
using RnnTanhCellOptions = LstmCellOptions;
template <std::same_as<RnnTanhCellOptions> O = RnnTanhCellOptions>
inline Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const O& options) { return detail::call<Tensor>(detail::op<"rnn_tanh_cell">, {input, hx, w_ih, w_hh, detail::one_of("rnn_tanh_cell", "b_ih", b_ih, options.b_ih), options.b_hh}); }
template <std::same_as<RnnTanhCellOptions> O = RnnTanhCellOptions>
inline Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const O& options) { return detail::call<Tensor>(detail::op<"rnn_tanh_cell">, {input, hx, w_ih, w_hh, options.b_ih, options.b_hh}); }
// As rnn_tanh_cell, with relu in place of tanh.
inline Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = {}, const Tensor& b_hh = {}) { return detail::call<Tensor>(detail::op<"rnn_relu_cell">, {input, hx, w_ih, w_hh, b_ih, b_hh}); }
using RnnReluCellOptions = LstmCellOptions;
template <std::same_as<RnnReluCellOptions> O = RnnReluCellOptions>
inline Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const O& options) { return detail::call<Tensor>(detail::op<"rnn_relu_cell">, {input, hx, w_ih, w_hh, detail::one_of("rnn_relu_cell", "b_ih", b_ih, options.b_ih), options.b_hh}); }
template <std::same_as<RnnReluCellOptions> O = RnnReluCellOptions>
inline Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const O& options) { return detail::call<Tensor>(detail::op<"rnn_relu_cell">, {input, hx, w_ih, w_hh, options.b_ih, options.b_hh}); }
// An LSTM of num_layers: input [t, n, features], with batch_first [n, t, features], and hx, its
// states h and c [layers * directions, n, hidden]. params has for each layer and direction w_ih,
// w_hh, with has_biases b_ih and b_hh, and where h is narrower than c its projection. batch_sizes:
// input has the rows of packed sequences. dropout is between layers, in train. Hochreiter &
// Schmidhuber, 1997.
struct LstmOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool has_biases = true;
  Int num_layers = 1;
  Float dropout = 0.0;
  bool train = false;
  bool bidirectional = false;
  bool batch_first = false;
  KeptInts batch_sizes = {};
};
inline results::OutputHNCN lstm(const Tensor& input, const Tensors& hx, const Tensors& params, const LstmOptions& options = {}) { return detail::call<results::OutputHNCN>(detail::op<"lstm">, {input, hx, params, options.has_biases, options.num_layers, options.dropout, options.train, options.bidirectional, options.batch_first, options.batch_sizes}); }
template <detail::Placed<Bool> P>
results::OutputHNCN lstm(const Tensor& input, const Tensors& hx, const Tensors& params, const P& has_biases, Int num_layers = 1, Float dropout = 0.0, Bool train = false, Bool bidirectional = false, Bool batch_first = false, Ints batch_sizes = {}) { return detail::call<results::OutputHNCN>(detail::op<"lstm">, {input, hx, params, Bool(has_biases), num_layers, dropout, train, bidirectional, batch_first, batch_sizes}); }
template <detail::Placed<Bool> P1, detail::PlacedOr<Int, LstmOptions> P2 = LstmOptions, detail::PlacedOr<Float, LstmOptions> P3 = LstmOptions, detail::PlacedOr<Bool, LstmOptions> P4 = LstmOptions, detail::PlacedOr<Bool, LstmOptions> P5 = LstmOptions, detail::PlacedOr<Bool, LstmOptions> P6 = LstmOptions, detail::PlacedOr<KeptInts, LstmOptions> P7 = LstmOptions>
results::OutputHNCN lstm(const Tensor& input, const Tensors& hx, const Tensors& params, const P1& has_biases, const P2& num_layers, const P3& dropout = detail::unset<P3>(), const P4& train = detail::unset<P4>(), const P5& bidirectional = detail::unset<P5>(), const P6& batch_first = detail::unset<P6>(), const P7& batch_sizes = detail::unset<P7>()) { return lstm(input, hx, params, detail::behind<LstmOptions, 8, 1>("lstm", has_biases, num_layers, dropout, train, bidirectional, batch_first, batch_sizes)); }
// A GRU of num_layers; hx is its state [layers * directions, n, hidden], the rest as lstm's. Cho et
// al., arXiv:1406.1078.
using GruOptions = LstmOptions;
inline results::OutputHN gru(const Tensor& input, const Tensor& hx, const Tensors& params, const GruOptions& options = {}) { return detail::call<results::OutputHN>(detail::op<"gru">, {input, hx, params, options.has_biases, options.num_layers, options.dropout, options.train, options.bidirectional, options.batch_first, options.batch_sizes}); }
template <detail::Placed<Bool> P>
results::OutputHN gru(const Tensor& input, const Tensor& hx, const Tensors& params, const P& has_biases, Int num_layers = 1, Float dropout = 0.0, Bool train = false, Bool bidirectional = false, Bool batch_first = false, Ints batch_sizes = {}) { return detail::call<results::OutputHN>(detail::op<"gru">, {input, hx, params, Bool(has_biases), num_layers, dropout, train, bidirectional, batch_first, batch_sizes}); }
template <detail::Placed<Bool> P1, detail::PlacedOr<Int, GruOptions> P2 = GruOptions, detail::PlacedOr<Float, GruOptions> P3 = GruOptions, detail::PlacedOr<Bool, GruOptions> P4 = GruOptions, detail::PlacedOr<Bool, GruOptions> P5 = GruOptions, detail::PlacedOr<Bool, GruOptions> P6 = GruOptions, detail::PlacedOr<KeptInts, GruOptions> P7 = GruOptions>
results::OutputHN gru(const Tensor& input, const Tensor& hx, const Tensors& params, const P1& has_biases, const P2& num_layers, const P3& dropout = detail::unset<P3>(), const P4& train = detail::unset<P4>(), const P5& bidirectional = detail::unset<P5>(), const P6& batch_first = detail::unset<P6>(), const P7& batch_sizes = detail::unset<P7>()) { return gru(input, hx, params, detail::behind<GruOptions, 8, 1>("gru", has_biases, num_layers, dropout, train, bidirectional, batch_first, batch_sizes)); }
// tanh(x w_ih^T + b_ih + h w_hh^T + b_hh), step by step; the arguments as gru's. Elman, 1990.
using RnnTanhOptions = LstmOptions;
inline results::OutputHN rnn_tanh(const Tensor& input, const Tensor& hx, const Tensors& params, const RnnTanhOptions& options = {}) { return detail::call<results::OutputHN>(detail::op<"rnn_tanh">, {input, hx, params, options.has_biases, options.num_layers, options.dropout, options.train, options.bidirectional, options.batch_first, options.batch_sizes}); }
template <detail::Placed<Bool> P>
results::OutputHN rnn_tanh(const Tensor& input, const Tensor& hx, const Tensors& params, const P& has_biases, Int num_layers = 1, Float dropout = 0.0, Bool train = false, Bool bidirectional = false, Bool batch_first = false, Ints batch_sizes = {}) { return detail::call<results::OutputHN>(detail::op<"rnn_tanh">, {input, hx, params, Bool(has_biases), num_layers, dropout, train, bidirectional, batch_first, batch_sizes}); }
template <detail::Placed<Bool> P1, detail::PlacedOr<Int, RnnTanhOptions> P2 = RnnTanhOptions, detail::PlacedOr<Float, RnnTanhOptions> P3 = RnnTanhOptions, detail::PlacedOr<Bool, RnnTanhOptions> P4 = RnnTanhOptions, detail::PlacedOr<Bool, RnnTanhOptions> P5 = RnnTanhOptions, detail::PlacedOr<Bool, RnnTanhOptions> P6 = RnnTanhOptions, detail::PlacedOr<KeptInts, RnnTanhOptions> P7 = RnnTanhOptions>
results::OutputHN rnn_tanh(const Tensor& input, const Tensor& hx, const Tensors& params, const P1& has_biases, const P2& num_layers, const P3& dropout = detail::unset<P3>(), const P4& train = detail::unset<P4>(), const P5& bidirectional = detail::unset<P5>(), const P6& batch_first = detail::unset<P6>(), const P7& batch_sizes = detail::unset<P7>()) { return rnn_tanh(input, hx, params, detail::behind<RnnTanhOptions, 8, 1>("rnn_tanh", has_biases, num_layers, dropout, train, bidirectional, batch_first, batch_sizes)); }
// As rnn_tanh, with relu in place of tanh.
using RnnReluOptions = LstmOptions;
inline results::OutputHN rnn_relu(const Tensor& input, const Tensor& hx, const Tensors& params, const RnnReluOptions& options = {}) { return detail::call<results::OutputHN>(detail::op<"rnn_relu">, {input, hx, params, options.has_biases, options.num_layers, options.dropout, options.train, options.bidirectional, options.batch_first, options.batch_sizes}); }
template <detail::Placed<Bool> P>
results::OutputHN rnn_relu(const Tensor& input, const Tensor& hx, const Tensors& params, const P& has_biases, Int num_layers = 1, Float dropout = 0.0, Bool train = false, Bool bidirectional = false, Bool batch_first = false, Ints batch_sizes = {}) { return detail::call<results::OutputHN>(detail::op<"rnn_relu">, {input, hx, params, Bool(has_biases), num_layers, dropout, train, bidirectional, batch_first, batch_sizes}); }
template <detail::Placed<Bool> P1, detail::PlacedOr<Int, RnnReluOptions> P2 = RnnReluOptions, detail::PlacedOr<Float, RnnReluOptions> P3 = RnnReluOptions, detail::PlacedOr<Bool, RnnReluOptions> P4 = RnnReluOptions, detail::PlacedOr<Bool, RnnReluOptions> P5 = RnnReluOptions, detail::PlacedOr<Bool, RnnReluOptions> P6 = RnnReluOptions, detail::PlacedOr<KeptInts, RnnReluOptions> P7 = RnnReluOptions>
results::OutputHN rnn_relu(const Tensor& input, const Tensor& hx, const Tensors& params, const P1& has_biases, const P2& num_layers, const P3& dropout = detail::unset<P3>(), const P4& train = detail::unset<P4>(), const P5& bidirectional = detail::unset<P5>(), const P6& batch_first = detail::unset<P6>(), const P7& batch_sizes = detail::unset<P7>()) { return rnn_relu(input, hx, params, detail::behind<RnnReluOptions, 8, 1>("rnn_relu", has_biases, num_layers, dropout, train, bidirectional, batch_first, batch_sizes)); }

}  // namespace v0
}  // namespace tenon
