// The group 'recurrent' of the plugin 'layers', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/object.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace nn {

// rnn(input, hx) gives the output and the last state: input [t, n, input_size], with batch_first
// [n, t, input_size], or without n; hx [num_layers * directions, n, hidden_size], zeros where it is
// left out. nonlinearity: tanh or relu. dropout is between layers. Elman, 1990.
struct RNNOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int num_layers = 1;
  std::string nonlinearity = "tanh";
  bool bias = true;
  bool batch_first = false;
  Float dropout = 0.0;
  bool bidirectional = false;
};
inline Object RNN(Int input_size, Int hidden_size, const RNNOptions& options = {}) { return Object::create("RNN", {input_size, hidden_size, options.num_layers, options.nonlinearity, options.bias, options.batch_first, options.dropout, options.bidirectional}); }
template <detail::Placed<Int> P>
Object RNN(Int input_size, Int hidden_size, const P& num_layers, TextRef nonlinearity = "tanh", Bool bias = true, Bool batch_first = false, Float dropout = 0.0, Bool bidirectional = false) { return Object::create("RNN", {input_size, hidden_size, Int(num_layers), nonlinearity, bias, batch_first, dropout, bidirectional}); }
template <detail::Placed<Int> P1, detail::PlacedOr<std::string, RNNOptions> P2 = RNNOptions, detail::PlacedOr<Bool, RNNOptions> P3 = RNNOptions, detail::PlacedOr<Bool, RNNOptions> P4 = RNNOptions, detail::PlacedOr<Float, RNNOptions> P5 = RNNOptions, detail::PlacedOr<Bool, RNNOptions> P6 = RNNOptions>
Object RNN(Int input_size, Int hidden_size, const P1& num_layers, const P2& nonlinearity, const P3& bias = detail::unset<P3>(), const P4& batch_first = detail::unset<P4>(), const P5& dropout = detail::unset<P5>(), const P6& bidirectional = detail::unset<P6>()) { return RNN(input_size, hidden_size, detail::behind<RNNOptions, 7, 1>("RNN", num_layers, nonlinearity, bias, batch_first, dropout, bidirectional)); }
// gru(input, hx) gives the output and the last state; sizes as RNN's. Cho et al., arXiv:1406.1078.
struct GRUOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int num_layers = 1;
  bool bias = true;
  bool batch_first = false;
  Float dropout = 0.0;
  bool bidirectional = false;
};
inline Object GRU(Int input_size, Int hidden_size, const GRUOptions& options = {}) { return Object::create("GRU", {input_size, hidden_size, options.num_layers, options.bias, options.batch_first, options.dropout, options.bidirectional}); }
template <detail::Placed<Int> P>
Object GRU(Int input_size, Int hidden_size, const P& num_layers, Bool bias = true, Bool batch_first = false, Float dropout = 0.0, Bool bidirectional = false) { return Object::create("GRU", {input_size, hidden_size, Int(num_layers), bias, batch_first, dropout, bidirectional}); }
template <detail::Placed<Int> P1, detail::PlacedOr<Bool, GRUOptions> P2 = GRUOptions, detail::PlacedOr<Bool, GRUOptions> P3 = GRUOptions, detail::PlacedOr<Float, GRUOptions> P4 = GRUOptions, detail::PlacedOr<Bool, GRUOptions> P5 = GRUOptions>
Object GRU(Int input_size, Int hidden_size, const P1& num_layers, const P2& bias, const P3& batch_first = detail::unset<P3>(), const P4& dropout = detail::unset<P4>(), const P5& bidirectional = detail::unset<P5>()) { return GRU(input_size, hidden_size, detail::behind<GRUOptions, 6, 1>("GRU", num_layers, bias, batch_first, dropout, bidirectional)); }
// lstm(input, h_0, c_0) gives the output and the last states h and c; sizes as RNN's. With
// proj_size h is projected to that width. Hochreiter & Schmidhuber, 1997; Sak et al.,
// arXiv:1402.1128.
struct LSTMOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int num_layers = 1;
  bool bias = true;
  bool batch_first = false;
  Float dropout = 0.0;
  bool bidirectional = false;
  Int proj_size = 0;
};
inline Object LSTM(Int input_size, Int hidden_size, const LSTMOptions& options = {}) { return Object::create("LSTM", {input_size, hidden_size, options.num_layers, options.bias, options.batch_first, options.dropout, options.bidirectional, options.proj_size}); }
template <detail::Placed<Int> P>
Object LSTM(Int input_size, Int hidden_size, const P& num_layers, Bool bias = true, Bool batch_first = false, Float dropout = 0.0, Bool bidirectional = false, Int proj_size = 0) { return Object::create("LSTM", {input_size, hidden_size, Int(num_layers), bias, batch_first, dropout, bidirectional, proj_size}); }
template <detail::Placed<Int> P1, detail::PlacedOr<Bool, LSTMOptions> P2 = LSTMOptions, detail::PlacedOr<Bool, LSTMOptions> P3 = LSTMOptions, detail::PlacedOr<Float, LSTMOptions> P4 = LSTMOptions, detail::PlacedOr<Bool, LSTMOptions> P5 = LSTMOptions, detail::PlacedOr<Int, LSTMOptions> P6 = LSTMOptions>
Object LSTM(Int input_size, Int hidden_size, const P1& num_layers, const P2& bias, const P3& batch_first = detail::unset<P3>(), const P4& dropout = detail::unset<P4>(), const P5& bidirectional = detail::unset<P5>(), const P6& proj_size = detail::unset<P6>()) { return LSTM(input_size, hidden_size, detail::behind<LSTMOptions, 7, 1>("LSTM", num_layers, bias, batch_first, dropout, bidirectional, proj_size)); }
// cell(input, hx) gives the next state: input [n, input_size], hx [n, hidden_size], or without n;
// hx is zeros where it is left out. nonlinearity: tanh or relu. Elman, 1990.
struct RNNCellOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool bias = true;
  std::string nonlinearity = "tanh";
};
inline Object RNNCell(Int input_size, Int hidden_size, const RNNCellOptions& options = {}) { return Object::create("RNNCell", {input_size, hidden_size, options.bias, options.nonlinearity}); }
template <detail::Placed<Bool> P>
Object RNNCell(Int input_size, Int hidden_size, const P& bias, TextRef nonlinearity = "tanh") { return Object::create("RNNCell", {input_size, hidden_size, Bool(bias), nonlinearity}); }
template <detail::Placed<Bool> P1, detail::PlacedOr<std::string, RNNCellOptions> P2 = RNNCellOptions>
Object RNNCell(Int input_size, Int hidden_size, const P1& bias, const P2& nonlinearity) { return RNNCell(input_size, hidden_size, detail::behind<RNNCellOptions, 3, 1>("RNNCell", bias, nonlinearity)); }
// cell(input, hx) gives the next state; sizes as RNNCell's. Cho et al., arXiv:1406.1078.
struct GRUCellOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool bias = true;
};
inline Object GRUCell(Int input_size, Int hidden_size, const GRUCellOptions& options = {}) { return Object::create("GRUCell", {input_size, hidden_size, options.bias}); }
template <detail::Placed<Bool> P>
Object GRUCell(Int input_size, Int hidden_size, const P& bias) { return Object::create("GRUCell", {input_size, hidden_size, Bool(bias)}); }
// cell(input, h_0, c_0) gives the next states h and c; sizes as RNNCell's. Hochreiter &
// Schmidhuber, 1997.
using LSTMCellOptions = GRUCellOptions;
inline Object LSTMCell(Int input_size, Int hidden_size, const LSTMCellOptions& options = {}) { return Object::create("LSTMCell", {input_size, hidden_size, options.bias}); }
template <detail::Placed<Bool> P>
Object LSTMCell(Int input_size, Int hidden_size, const P& bias) { return Object::create("LSTMCell", {input_size, hidden_size, Bool(bias)}); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
