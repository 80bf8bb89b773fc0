// Samples of the kernels of ops that networks and their training are made of, and of their gradients.
#pragma once

#include "kernel_samples.h"

namespace kernel_samples {

inline void loss(Samples& list) {
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < 37; ++i) classes.push_back(i * i % 53);
  Tensor x = sample({37, 53}) * 4, target = Tensor::from(classes);
  list.push_back(
      {"cross_entropy",
       "forward",
       kFloats,
       {x, target},
       {0, 0},
       {4},
       [](const TensorList& in, Dtype, tn::Device) { return tn::cross_entropy(in[0], in[1]); }});
  list.push_back({"cross_entropy",
                  "backward",
                  kFloats,
                  {x, target},
                  {0, 0},
                  {8},
                  [](const TensorList& in, Dtype, tn::Device) {
                    Tensor leaf = in[0].detach().requires_grad_();
                    return tn::grad(tn::cross_entropy(leaf, in[1]), leaf);
                  }});
}

// Rows with NaN and infinities among numbers, with nothing else, and without any.
inline Tensor special_rows() {
  const double inf = INFINITY, nan = NAN;
  std::vector<double> values;
  for (const std::vector<double>& some :
       {std::vector<double>{inf}, {-inf}, {nan}, {inf, -inf}, {-inf, nan}, {nan, inf, nan}, {}}) {
    for (size_t i = 0; i < 20; ++i) values.push_back(std::sin(double(i)));
    for (size_t i = 0; i < some.size(); ++i) values[values.size() - 9 + 3 * i] = some[i];
  }
  for (double all : {-inf, inf, nan}) values.insert(values.end(), 20, all);
  return Tensor::from(values, {10, 20});
}

inline void conv(Samples& list) {
  const std::vector<int64_t> batch = {0, -1, -1};
  auto add = [&](const char* kernel, const char* what, const TensorList& inputs, double length,
                 const std::function<Tensor(const TensorList&)>& f) {
    with_gradients(list, kernel, what, inputs, batch, products(length), 200, inputs.size(), f);
  };
  add("conv1d", "with a bias", {sample({3, 5, 17}), sample({7, 5, 3}, {}, 1), sample({7}, {}, 2)},
      15, [](const TensorList& in) {
        return tn::conv1d(in[0], in[1], in[2], {.stride = 2, .padding = 1});
      });
  add("conv2d", "with a bias",
      {sample({3, 5, 8, 9}), sample({18, 5, 3, 2}, {}, 1), sample({18}, {}, 2)}, 30,
      [](const TensorList& in) { return tn::conv2d(in[0], in[1], in[2]); });
  add("conv2d", "groups, dilation, strides", {sample({3, 4, 8, 9}), sample({6, 2, 3, 2}, {}, 1)},
      12, [](const TensorList& in) {
        return tn::conv2d(in[0], in[1],
                          {.stride = {1, 2}, .padding = {2, 1}, .dilation = {2, 1}, .groups = 2});
      });
  add("conv2d", "a group a channel", {sample({3, 6, 5, 5}), sample({6, 1, 3, 3}, {}, 1)}, 9,
      [](const TensorList& in) { return tn::conv2d(in[0], in[1], {.padding = 1, .groups = 6}); });
  add("conv2d", "special values",
      {special_rows().reshape({1, 2, 10, 10}), sample({3, 2, 3, 3}, {}, 1)}, 18,
      [](const TensorList& in) { return tn::conv2d(in[0], in[1], {.padding = 1}); });
  add("conv3d", "with a bias",
      {sample({3, 2, 3, 4, 5}), sample({4, 2, 2, 2, 3}, {}, 1), sample({4}, {}, 2)}, 24,
      [](const TensorList& in) {
        return tn::conv3d(in[0], in[1], in[2], {.padding = {0, 1, 1}});
      });
  add("conv_transpose1d", "with a bias",
      {sample({3, 5, 9}), sample({5, 7, 3}, {}, 1), sample({7}, {}, 2)}, 15,
      [](const TensorList& in) {
        return tn::conv_transpose1d(in[0], in[1], in[2],
                                    {.stride = 2, .padding = 1, .output_padding = 1});
      });
  add("conv_transpose2d", "groups, dilation, strides",
      {sample({3, 4, 5, 4}), sample({4, 3, 3, 2}, {}, 1), sample({6}, {}, 2)}, 20,
      [](const TensorList& in) {
        return tn::conv_transpose2d(in[0], in[1], in[2],
                                    {.stride = {1, 2},
                                     .padding = {1, 0},
                                     .output_padding = {1, 1},
                                     .groups = 2,
                                     .dilation = {2, 2}});
      });
  add("conv_transpose3d", "plain", {sample({3, 2, 3, 2, 4}), sample({2, 3, 2, 2, 2}, {}, 1)}, 16,
      [](const TensorList& in) { return tn::conv_transpose3d(in[0], in[1]); });
}

inline void norm(Samples& list) {
  for (const bool logarithm : {false, true}) {
    with_gradients(list, logarithm ? "log_softmax" : "softmax", "special values", {special_rows()},
                   {0}, {12, 8}, 20, 1, [logarithm](const TensorList& in) {
                     return logarithm ? tn::log_softmax(in[0], -1) : tn::softmax(in[0], -1);
                   });
  }
  with_gradients(list, "layer_norm", "special values", {special_rows()}, {0}, {8, 8}, 40, 1,
                 [](const TensorList& in) { return tn::layer_norm(in[0], 20); });
  const Tensor rows = sample({37, 53}) * 4;
  // x and the largest element are rounded once more before exp, which multiplies that by up to 8.
  const Error of_softmax = {12};
  with_gradients(list, "softmax", "rows", {rows}, {0}, of_softmax, 53, 1,
                 [](const TensorList& in) { return tn::softmax(in[0], -1); });
  with_gradients(list, "log_softmax", "rows", {rows}, {0}, {4, 8}, 53, 1,
                 [](const TensorList& in) { return tn::log_softmax(in[0], -1); });
  // Values below 2 in units of a deviation, after a sum and a sum of squares.
  const Error of_norm = {4 + std::sqrt(60.0), std::sqrt(60.0)};
  const Tensor weight = sample({53}, {}, 1), bias = sample({53}, {}, 2);
  with_gradients(list, "layer_norm", "weight and bias", {sample({37, 53}), weight, bias},
                 {0, -1, -1}, of_norm, 100, 3,
                 [](const TensorList& in) { return tn::layer_norm(in[0], 53, in[1], in[2]); });
  with_gradients(list, "layer_norm", "two dimensions", {sample({37, 4, 5})}, {0}, of_norm, 40, 1,
                 [](const TensorList& in) {
                   return tn::layer_norm(in[0], {4, 5});
                 });
  const Tensor image = sample({5, 6, 3, 7});
  const TensorList planes = {image, sample({6}, {}, 1), sample({6}, {}, 2)};
  // An empty batch has no mean.
  with_gradients(list, "_batch_norm", "weight and bias", planes, {-1, -1, -1}, of_norm, 120, 3,
                 [](const TensorList& in) {
                   return tn::batch_norm(in[0], {}, {}, in[1], in[2], {.training = true});
                 });
  with_gradients(list, "_batch_norm", "plain", {sample({2, 3, 5})}, {-1}, of_norm, 20, 1,
                 [](const TensorList& in) { return tn::batch_norm(in[0], {.training = true}); });
  const Tensor of_channels = sample({6}, {}, 3);
  const TensorList given = {sample({6}, {}, 4), of_channels * of_channels + 0.5, planes[1],
                            planes[2]};
  for (const Tensor& x : {image, sample({37, 6}), sample({4, 6, 4, 4})}) {
    with_gradients(
        list, "_batch_norm_given", std::to_string(x.dim()) + " dimensions",
        {x, given[0], given[1], given[2], given[3]}, {0, -1, -1, -1, -1}, {8, 8}, 120, 1,
        [](const TensorList& in) { return tn::batch_norm(in[0], in[1], in[2], in[3], in[4]); });
  }
  with_gradients(list, "group_norm", "weight and bias", planes, {0, -1, -1}, of_norm, 120, 3,
                 [](const TensorList& in) { return tn::group_norm(in[0], 3, in[1], in[2]); });
  with_gradients(list, "group_norm", "plain", {image}, {0}, of_norm, 120, 1,
                 [](const TensorList& in) { return tn::group_norm(in[0], 2); });
}

inline void pool(Samples& list) {
  const Tensor x = sample({3, 4, 9, 7}), line = sample({3, 4, 11});
  const auto add = [&](const char* kernel, const char* what, const Tensor& input, double length,
                       const std::function<Tensor(const TensorList&)>& f) {
    with_gradients(list, kernel, what, {input}, {0}, length > 1 ? sum_of(length) : Error(), 9, 1,
                   f);
  };
  add("max_pool1d", "plain", line, 1,
      [](const TensorList& in) { return tn::max_pool1d(in[0], 3); });
  add("max_pool2d", "plain", x, 1, [](const TensorList& in) { return tn::max_pool2d(in[0], 2); });
  add("max_pool2d", "overlapping", x, 1, [](const TensorList& in) {
    return tn::max_pool2d(in[0], {3, 2}, {.stride = {1, 3}, .padding = {1, 0}});
  });
  add("max_pool2d", "dilation, ceil_mode, without a batch", x.select(0, 1), 1,
      [](const TensorList& in) {
        return tn::max_pool2d(in[0], 3,
                              {.stride = 2, .padding = 1, .dilation = 2, .ceil_mode = true});
      });
  add("max_pool2d", "equal ones", (x * 2.0).to(tn::int64).to(tn::float64), 1,
      [](const TensorList& in) { return tn::max_pool2d(in[0], 3, {.stride = 1, .padding = 1}); });
  const Tensor special = special_rows().reshape({2, 10, 10});
  add("max_pool2d", "special values", special, 1,
      [](const TensorList& in) { return tn::max_pool2d(in[0], 3, {.stride = 2, .padding = 1}); });
  add("avg_pool2d", "special values", special, 9,
      [](const TensorList& in) { return tn::avg_pool2d(in[0], 3, {.stride = 2, .padding = 1}); });
  add("avg_pool1d", "padding", line, 3,
      [](const TensorList& in) { return tn::avg_pool1d(in[0], 3, {.stride = 2, .padding = 1}); });
  add("avg_pool2d", "plain", x, 4, [](const TensorList& in) { return tn::avg_pool2d(in[0], 2); });
  add("avg_pool2d", "padding that does not count", x, 6, [](const TensorList& in) {
    return tn::avg_pool2d(
        in[0], {3, 2},
        {.stride = {1, 2}, .padding = {1, 1}, .ceil_mode = true, .count_include_pad = false});
  });
  add("avg_pool2d", "ceil_mode", x, 9, [](const TensorList& in) {
    return tn::avg_pool2d(in[0], 3, {.stride = 2, .padding = 1, .ceil_mode = true});
  });
  add("avg_pool2d", "a divisor", x, 9, [](const TensorList& in) {
    return tn::avg_pool2d(in[0], 3,
                          {.stride = 2, .padding = 1, .ceil_mode = true, .divisor_override = 5});
  });
  add("adaptive_avg_pool1d", "uneven", line, 4,
      [](const TensorList& in) { return tn::adaptive_avg_pool1d(in[0], 4); });
  add("adaptive_avg_pool2d", "uneven", x, 12, [](const TensorList& in) {
    return tn::adaptive_avg_pool2d(in[0], {4, 3});
  });
  add("adaptive_avg_pool2d", "to one", x, 63,
      [](const TensorList& in) { return tn::adaptive_avg_pool2d(in[0], 1); });
}

inline void pool_volumes(Samples& list) {
  const Tensor x = sample({3, 2, 5, 9, 7});
  const auto add = [&](const char* kernel, const char* what, const Tensor& input, double length,
                       const std::function<Tensor(const TensorList&)>& f) {
    with_gradients(list, kernel, what, {input}, {0}, length > 1 ? sum_of(length) : Error(), 27, 1,
                   f);
  };
  const Tensor special = special_rows().reshape({2, 4, 5, 5}),
               equal = (x * 2.0).to(tn::int64).to(tn::float64);
  add("max_pool3d", "plain", x, 1, [](const TensorList& in) { return tn::max_pool3d(in[0], 2); });
  for (const Tensor& input : {x, special, equal}) {
    add("max_pool3d", "overlapping", input, 1, [](const TensorList& in) {
      return tn::max_pool3d(in[0], {3, 2, 3}, {.stride = {1, 2, 2}, .padding = {1, 0, 1}});
    });
    add("avg_pool3d", "overlapping", input, 18, [](const TensorList& in) {
      return tn::avg_pool3d(in[0], {3, 2, 3}, {.stride = {1, 2, 2}, .padding = {1, 0, 1}});
    });
    add("adaptive_max_pool2d", "uneven", input.select(1, 1), 1, [](const TensorList& in) {
      return tn::adaptive_max_pool2d(in[0], {4, 3});
    });
    add("adaptive_max_pool3d", "uneven", input, 1, [](const TensorList& in) {
      return tn::adaptive_max_pool3d(in[0], {3, 4, 3});
    });
  }
  add("max_pool3d", "dilation, ceil_mode, without a batch", x.select(0, 1), 1,
      [](const TensorList& in) {
        return tn::max_pool3d(in[0], {2, 3, 3},
                              {.stride = 2, .padding = 1, .dilation = 2, .ceil_mode = true});
      });
  add("avg_pool3d", "padding that does not count", x, 12, [](const TensorList& in) {
    return tn::avg_pool3d(
        in[0], {2, 3, 2},
        {.stride = {2, 1, 2}, .padding = {1, 1, 0}, .ceil_mode = true, .count_include_pad = false});
  });
  add("avg_pool3d", "a divisor", x, 27, [](const TensorList& in) {
    return tn::avg_pool3d(in[0], 3,
                          {.stride = 2, .padding = 1, .ceil_mode = true, .divisor_override = 5});
  });
  add("adaptive_avg_pool3d", "uneven", x, 60, [](const TensorList& in) {
    return tn::adaptive_avg_pool3d(in[0], {3, 4, 3});
  });
  add("adaptive_max_pool1d", "uneven", x.flatten(1, 3), 1,
      [](const TensorList& in) { return tn::adaptive_max_pool1d(in[0], 4); });
}

inline void attention(Samples& list) {
  // Weights that add up to one, of scores that are sums of e products; exp magnifies their error.
  const Error error = {16, 16};
  const auto add = [&](const char* what, const TensorList& inputs,
                       const std::vector<int64_t>& batch,
                       const std::function<Tensor(const TensorList&)>& f) {
    with_gradients(list, "_attention", what, inputs, batch, error, 80, 3, f);
  };
  const TensorList inputs = {sample({2, 3, 17, 8}) * 2, sample({2, 3, 21, 8}, {}, 1),
                             sample({2, 3, 21, 5}, {}, 2)};
  const Tensor numbers = sample({17, 21}, {}, 3), mask = numbers > -0.5;
  const std::vector<int64_t> batch = {0, 0, 0};
  add("plain", inputs, batch,
      [](const TensorList& in) { return tn::scaled_dot_product_attention(in[0], in[1], in[2]); });
  add("causal", inputs, batch, [](const TensorList& in) {
    return tn::scaled_dot_product_attention(in[0], in[1], in[2],
                                            {.is_causal = true, .scale = -0.7});
  });
  add("a mask of bool", inputs, batch, [mask](const TensorList& in) {
    return tn::scaled_dot_product_attention(in[0], in[1], in[2], mask.to(in[0].device()));
  });
  add("a query that looks at nothing, a mask a key", inputs, batch, [mask](const TensorList& in) {
    Tensor some = (tn::arange(17) > 3).reshape({17, 1}).to(in[0].device());
    return tn::scaled_dot_product_attention(in[0], in[1], in[2], some);
  });
  add("a mask of numbers", inputs, batch, [numbers](const TensorList& in) {
    Tensor mask = numbers.to(in[0].dtype()).to(in[0].device());
    return tn::scaled_dot_product_attention(in[0], in[1], in[2], mask);
  });
  add("shared heads",
      {sample({2, 6, 9, 4}), sample({2, 2, 7, 4}, {}, 1), sample({2, 2, 7, 4}, {}, 2)}, batch,
      [](const TensorList& in) {
        return tn::scaled_dot_product_attention(in[0], in[1], in[2], {.enable_gqa = true});
      });
  // Several blocks of rows.
  add("long and causal", {sample({150, 4}), sample({150, 4}, {}, 1), sample({150, 4}, {}, 2)}, {},
      [](const TensorList& in) {
        return tn::scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = true});
      });
}

// All results of a layer, one behind the other: of plain sequences in both directions, the number of
// which is the batch, and of packed ones. Several blocks of depth and of columns.
inline void recurrent(Samples& list) {
  const auto joined = [](const auto& results) {
    return std::apply([](const auto&... t) { return tn::cat({tn::flatten(t, 0, -1)...}, 0); },
                      results);
  };
  const auto inputs_of = [](int64_t gates, int64_t hidden, std::vector<int64_t> sizes, int64_t n) {
    TensorList in = {sample(sizes), sample({1, n, hidden}, {}, 1), sample({1, n, hidden}, {}, 2)};
    const double scale = 1 / std::sqrt(double(hidden));
    in.push_back(sample({gates * hidden, sizes.back()}, {}, 3) * scale);
    in.push_back(sample({gates * hidden, hidden}, {}, 4) * scale);
    in.push_back(sample({gates * hidden}, {}, 5));
    in.push_back(sample({gates * hidden}, {}, 6));
    return in;
  };
  const auto params = [](const TensorList& in) { return TensorList{in[3], in[4], in[5], in[6]}; };
  const auto twice = [](const TensorList& list) {  // the same weights in both directions
    TensorList both = list;
    both.insert(both.end(), list.begin(), list.end());
    return both;
  };
  const auto add = [&](const std::string& what, int64_t hidden, std::vector<int64_t> sizes,
                       int64_t n, const std::vector<int64_t>& batch,
                       std::vector<int64_t> batch_sizes) {
    const Error error = {100, 200};
    const auto lstm = [=](const TensorList& in) {
      const auto two = [](const Tensor& t) { return tn::cat({t, t * 0.5}, 0); };
      return joined(tn::lstm(in[0], {two(in[1]), two(in[2])}, twice(params(in)),
                             {.bidirectional = true, .batch_sizes = batch_sizes}));
    };
    const auto gru = [=](const TensorList& in) {
      return joined(tn::gru(in[0], tn::cat({in[1], in[2]}, 0), twice(params(in)),
                            {.bidirectional = true, .batch_sizes = batch_sizes}));
    };
    with_gradients(list, "_lstm_layer", what, inputs_of(4, hidden, sizes, n), batch, error, 3000, 7,
                   lstm);
    with_gradients(list, "_gru_layer", what, inputs_of(3, hidden, sizes, n), batch, error, 3000, 7,
                   gru);
  };
  add("plain", 9, {4, 5, 3}, 5, {1, 1, 1, -1, -1, -1, -1}, {});
  add("wide", 250, {2, 3, 70}, 3, {}, {});
  add("packed", 8, {21, 3}, 14, {}, {14, 4, 2, 1});
}

// What a step leaves of the parameter and of its state, one behind the other.
inline void optim(Samples& list) {
  const Tensor v = sample({3, 50}, {}, 4);
  const TensorList inputs = {sample({3, 50}), sample({3, 50}, {}, 2), sample({3, 50}, {}, 3),
                             v * v};
  const std::vector<int64_t> batch = {0, 0, 0, 0};
  list.push_back(
      {"adam_step",
       "with decay",
       kFloats,
       inputs,
       batch,
       {8, 8},
       [](const TensorList& in, Dtype, tn::Device) {
         const Tensor p = in[0].clone(), m = in[2].clone(), v = in[3].clone();
         tn::adam_step(
             {p}, {in[1]}, {m}, {v}, 0.25, 3,
             {.beta1 = 0.5, .beta2 = 0.75, .eps = 0.125, .weight_decay = 0.5, .decoupled = true});
         return tn::cat({p, m, v});
       }});
  list.push_back({"sgd_step",
                  "with momentum",
                  kFloats,
                  inputs,
                  batch,
                  {8, 8},
                  [](const TensorList& in, Dtype, tn::Device) {
                    const Tensor p = in[0].clone(), b = in[2].clone();
                    tn::sgd_step({p}, {in[1]}, {b}, 0.25,
                                 {.momentum = 0.5, .weight_decay = 0.5, .nesterov = true});
                    return tn::cat({p, b});
                  }});
  list.push_back({"add_rows_",
                  "rows that meet",
                  kFloats,
                  {sample({6, 50}), sample({6, 50}, {}, 2)},
                  {0, 0},
                  {8, 8},
                  [](const TensorList& in, Dtype, tn::Device) {
                    const Tensor x = in[0].clone();
                    const int64_t n = x.size(0);
                    tn::add_rows_(x, tn::clamp(tn::arange(n), 0, n / 2).to(x.device()), in[1],
                                  0.75);
                    return x;
                  }});
}

}  // namespace kernel_samples
