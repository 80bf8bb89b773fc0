// tenon check: calls of ops whose arguments have to fit together as no drawing finds them.
#include <tenon/linalg.hpp>

#include "check_given.h"

namespace tenon::cli::conformance {
namespace {

constexpr auto kLie = Layout::contiguous;

template <typename... T>
TensorList results(const T&... tensors) {
  return {tensors...};
}

Tensor lengths(Given& in, const std::vector<int64_t>& values) {
  return in.place().put(Tensor::from(values));
}

// Weights of one layer and direction as PyTorch has them: w_ih, w_hh, b_ih, b_hh.
TensorList recurrent_weights(Given& in, int64_t gates, int64_t width, int64_t hidden) {
  return {in.x({gates * hidden, width}), in.x({gates * hidden, hidden}), in.x({gates * hidden}),
          in.x({gates * hidden})};
}

TensorList lstm_of(Given& in) {
  const Tensor x = in.x({5, 3, 4}), h = in.x({2, 3, 6}), c = in.x({2, 3, 6});
  TensorList weights = recurrent_weights(in, 4, 4, 6);
  for (const Tensor& w : recurrent_weights(in, 4, 4, 6)) weights.push_back(w);
  const auto [y, h_n, c_n] = lstm(x, {h, c}, weights, {.bidirectional = true});
  return results(y, h_n, c_n);
}

TensorList gru_of(Given& in) {
  const Tensor x = in.x({3, 5, 4}), h = in.x({2, 3, 6});
  TensorList weights = recurrent_weights(in, 3, 4, 6);
  for (const Tensor& w : recurrent_weights(in, 3, 6, 6)) weights.push_back(w);
  const auto [y, h_n] = gru(x, h, weights, {.num_layers = 2, .batch_first = true});
  return results(y, h_n);
}

// Two sequences in one line: 3, 3, 1 rows of them are there at the steps.
TensorList packed_rnn_of(Given& in) {
  const auto [y, h_n] = rnn_tanh(in.x({7, 4}), in.x({1, 3, 6}), recurrent_weights(in, 1, 4, 6),
                                 {.batch_sizes = {3, 3, 1}});
  return results(y, h_n);
}

TensorList rnn_of(Given& in) {
  const auto [y, h_n] = rnn_relu(in.x({5, 3, 4}), in.x({1, 3, 6}), recurrent_weights(in, 1, 4, 6));
  return results(y, h_n);
}

TensorList lstm_cell_of(Given& in) {
  const Tensor x = in.x({3, 4}), h = in.x({3, 6}), c = in.x({3, 6});
  const TensorList w = recurrent_weights(in, 4, 4, 6);
  const auto [next, cell] = lstm_cell(x, {h, c}, w[0], w[1], w[2], w[3]);
  return results(next, cell);
}

TensorList ctc_of(Given& in) {
  const Tensor logits = in.x({7, 3, 5});
  const Tensor labels = in.place().indices({3, 3}, 4) + 1;  // 0 is the blank
  return results(ctc_loss(logits.log_softmax(-1), labels, lengths(in, {7, 6, 7}),
                          lengths(in, {3, 2, 0}), {.reduction = "none"}));
}

// Places a tenth of a pixel off the border of two, so that no rounding chooses the pixel.
Tensor places(Given& in, const Sizes& sizes) { return in.x(sizes) * 1.2; }

TensorList fractional_pool_of(Given& in) {
  const Tensor samples = in.place().tensor({2, 3, 3}, kLie, Range::positive);
  const auto [values, indices] = fractional_max_pool3d_with_indices(
      in.x({2, 3, 7, 6, 8}), {2, 2, 2}, {.output_size = {3, 3, 4}, .random_samples = samples});
  return results(values, indices);
}

TensorList fractional_pool_values_of(Given& in) {
  const Tensor samples = in.place().tensor({2, 3, 3}, kLie, Range::positive);
  return results(fractional_max_pool3d(in.x({2, 3, 7, 6, 8}), {2, 2, 2},
                                       {.output_size = {3, 3, 4}, .random_samples = samples}));
}

TensorList resized(Given& in, const char* mode, bool antialias) {
  return results(
      interpolate(in.x({2, 3, 5, 7}), {.size = {8, 4}, .mode = mode, .antialias = antialias}));
}

TensorList sparse_adam_of(Given& in) {
  const Tensor rows = in.place().indices({3}, 6, kLie, 0);
  const Tensor param = in.written({6, 4}), first = in.written({6, 4}), second = in.written({6, 4}),
               step = in.counted(3);
  sparse_adam_step(param, first, second, step, rows, in.x({3, 4}), 0.1);
  return {};
}

TensorList adagrad_rows_of(Given& in) {
  const Tensor rows = in.place().indices({3}, 6, kLie, 0);
  const Tensor param = in.written({6, 4}), sum = in.written({6, 4}), step = in.counted(3);
  adagrad_rows_step(param, sum, step, rows, in.x({3, 4}), 0.1, {.lr_decay = 0.01});
  return {};
}

TensorList adafactor_of(Given& in) {
  const Tensor param = in.written({6, 4}), rows = in.written({6, 1}), columns = in.written({1, 4}),
               step = in.counted(3);
  adafactor_step({param}, {in.x({6, 4})}, {rows}, {columns}, {}, {step}, 0.1, {.eps1 = 1e-6});
  return {};
}

// Found without and with an inf: it grows, and shrinks.
TensorList update_scale_of(Given& in) {
  for (const double found : {0.0, 1.0}) {
    const Tensor scale = in.held(Tensor::from({65536.0f}).reshape(Ints())),
                 steps = in.held(Tensor::from({int64_t{1}}).reshape(Ints()));
    const Tensor inf = in.place().put(Tensor::from({float(found)}).reshape(Ints()));
    update_scale_(scale, steps, inf, {.growth_interval = 2});
  }
  return {};
}

TensorList lu_of(Given& in) {
  const Tensor a = in.matrix(4), b = in.x({4, 2});
  const auto [lu, pivots] = linalg::lu_factor(a);
  const auto [p, l, u] = linalg::lu_unpack(lu, pivots);
  return results(linalg::lu_solve(lu, pivots, b), p.matmul(l).matmul(u));
}

TensorList ldl_of(Given& in) {
  const Tensor a = in.matrix(4), b = in.x({4, 2});
  const auto [ld, pivots] = linalg::ldl_factor(a);
  return results(linalg::ldl_solve(ld, pivots, b));
}

}  // namespace

const std::vector<GivenCall>& given_calls() {
  static const std::vector<GivenCall> calls = {
      {{"ops.dot"}, [](Given& in) { return results(dot(in.x({7}), in.x({7}))); }},
      {{"ops.addmv"},
       [](Given& in) {
         return results(addmv(in.x({3}), in.x({3, 4}), in.x({4})));
       }},
      {{"ops.addbmm"},
       [](Given& in) {
         return results(addbmm(in.x({3, 5}), in.x({2, 3, 4}), in.x({2, 4, 5})));
       }},
      {{"ops.diagonal_scatter"},
       [](Given& in) {
         return results(diagonal_scatter(in.x({4, 6}), in.x({4}), 1));
       }},
      {{"ops.gradient_at"},
       [](Given& in) {
         return gradient_at(in.x({4, 5}), {in.place().put(Tensor::from({0.0, 1.0, 3.0, 4.5, 5.0}))},
                            {1});
       }},
      {{"ops.segment_reduce"},
       [](Given& in) {
         return results(segment_reduce(in.x({6, 3}), "mean", lengths(in, {2, 0, 3, 1})),
                        segment_reduce(in.x({6, 3}), "max", lengths(in, {1, 5})));
       }},
      {{"ops.ctc_loss"}, ctc_of},
      {{"ops.conv_transpose2d"},
       [](Given& in) {
         return results(conv_transpose2d(in.x({2, 4, 5, 3}), in.x({4, 3, 3, 2}), in.x({6}),
                                         {.stride = {2, 1}, .padding = {1, 0}, .groups = 2}));
       }},
      {{"ops.conv_transpose3d"},
       [](Given& in) {
         return results(conv_transpose3d(in.x({1, 2, 3, 4, 3}), in.x({2, 3, 2, 2, 2}), {},
                                         {.stride = {2, 1, 1}}));
       }},
      {{"ops.fractional_max_pool3d_with_indices"}, fractional_pool_of},
      {{"ops.fractional_max_pool3d"}, fractional_pool_values_of},
      {{"ops.interpolate", "ops._resample"},
       [](Given& in) { return resized(in, "bilinear", false); }},
      {{"ops.interpolate"}, [](Given& in) { return resized(in, "bicubic", true); }},
      {{"ops.interpolate"}, [](Given& in) { return resized(in, "nearest", false); }},
      {{"ops.grid_sample"},
       [](Given& in) {
         return results(grid_sample(in.x({2, 3, 5, 6}), places(in, {2, 4, 3, 2})));
       }},
      {{"ops.affine_grid"},
       [](Given& in) {
         return results(affine_grid(in.x({2, 2, 3}), {2, 3, 4, 5}));
       }},
      {{"ops.rotary_embedding"},
       [](Given& in) {
         return results(rotary_embedding(in.x({2, 3, 5, 8}), in.x({5, 4}), in.x({5, 4})));
       }},
      {{"ops.lstm", "ops._lstm_layer"}, lstm_of},
      {{"ops.gru", "ops._gru_layer"}, gru_of},
      {{"ops.rnn_tanh", "ops._rnn_layer"}, packed_rnn_of},
      {{"ops.rnn_relu"}, rnn_of},
      {{"ops.lstm_cell"}, lstm_cell_of},
      {{"ops.sparse_adam_step"}, sparse_adam_of},
      {{"ops.adagrad_rows_step"}, adagrad_rows_of},
      {{"ops.adafactor_step"}, adafactor_of},
      {{"ops.update_scale_"}, update_scale_of},
      {{"linalg.lu_solve", "linalg.lu_unpack", "linalg._permutation"}, lu_of},
      {{"linalg.ldl_solve", "linalg._ldl_solve"}, ldl_of},
  };
  return calls;
}

Tensor Given::x(const Sizes& sizes) {
  const Tensor made = place_.tensor(sizes);
  if (takes_gradients_ && made.dtype().is_float()) leaves_.push_back(made.requires_grad_());
  return made;
}

Tensor Given::held(const Tensor& host) {
  written_.push_back(place_.put(host));
  return written_.back();
}

Tensor Given::written(const Sizes& sizes) {
  written_.push_back(place_.tensor(sizes, Layout::contiguous, Range::positive));
  return written_.back();
}

Tensor Given::counted(double steps) { return held(Tensor::from({float(steps)}).reshape(Ints())); }

Tensor Given::matrix(int64_t n) {
  const Tensor host = place_.tensor({n, n}).to(cpu, float64);
  const Tensor made = place_.put((matmul(host, host.t()) + eye(n, float64) * 2).to(place_.dtype()));
  if (takes_gradients_) leaves_.push_back(made.requires_grad_());
  return made;
}

}  // namespace tenon::cli::conformance
