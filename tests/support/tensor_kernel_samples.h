// Samples of the kernels of ops on tensors of any meaning and on images, and of their gradients.
#pragma once

#include "kernel_samples.h"
#include "long_form.h"

namespace kernel_samples {

inline void flip(Samples& list) {
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{2}, {0}, {-2}, {0, -1}, {2, 0, 1}}) {
    list.push_back(
        {"flip",
         std::to_string(dims.size()) + " from " + std::to_string(dims[0]),
         kAll,
         {sample({5, 9, 37})},
         {dims.size() == 1 && dims[0] == 0 ? 1 : -1},
         {},
         [dims](const TensorList& in, Dtype, tn::Device) { return tn::flip(in[0], dims); }});
  }
}

// Rows that move by a few elements.
inline void roll(Samples& list) {
  for (const int64_t shift : {3, -1, 700}) {
    list.push_back(
        {"copy",
         "rolled by " + std::to_string(shift),
         kAll,
         {sample({3, 2200})},
         {0},
         {},
         [shift](const TensorList& in, Dtype, tn::Device) { return tn::roll(in[0], shift, 1); }});
  }
}

// Of rows that are long, short and none, and beside a tensor [0].
inline void join(Samples& list) {
  for (const int64_t dim : {0, 1, -1}) {
    for (const bool beside_none : {false, true}) {
      list.push_back({"cat",
                      "along " + std::to_string(dim) + (beside_none ? ", beside none" : ""),
                      kAll,
                      {sample({3, 5, 37}), sample({3, 5, 37}, {}, 1), sample({3, 5, 37}, {}, 2)},
                      {dim == 0 ? 1 : 0, dim == 0 ? 1 : 0, dim == 0 ? 1 : 0},
                      {},
                      [=](const TensorList& in, Dtype dtype, tn::Device d) {
                        TensorList all = {in[0], in[1].narrow(dim, 1, in[1].size(dim) - 1),
                                          in[2].narrow(dim, 1, 0), in[2]};
                        for (Tensor& x : all) x = x.contiguous();
                        if (beside_none) all.insert(all.begin() + 1, tn::zeros({0}, dtype, d));
                        return tn::cat(all, dim);
                      }});
    }
  }
}

inline void border(Samples& list) {
  const std::vector<std::vector<int64_t>> pads = {
      {2, 1}, {0, 3, 2, 0}, {1, 2, 3, 1, 2, 1}, {5, 0, 0, 4, 1, 0, 2, 0}};
  for (const std::vector<int64_t>& pad : pads) {
    for (const char* mode : {"reflect", "replicate", "circular"}) {
      list.push_back(
          {"_border",
           mode + std::to_string(pad.size()),
           kAll,
           {sample({3, 4, 5, 6})},
           {-1},
           {},
           [=](const TensorList& in, Dtype, tn::Device) { return tn::pad(in[0], pad, mode); }});
    }
  }
  list.push_back({"_border",
                  "of a line",
                  kAll,
                  {sample({9})},
                  {-1},
                  {},
                  [](const TensorList& in, Dtype, tn::Device) {
                    return tn::pad(in[0], {8, 7}, "reflect");
                  }});
}

// Around 1, with no, one and several zeros in a row.
inline void product_gradient(Samples& list) {
  Tensor x = 1 + sample({5, 41, 70}) / 16;
  x.index_fill_(1, tn::tensor({7}), 0);
  x.narrow(0, 1, 2).narrow(1, 20, 2).fill_(0);
  x.narrow(2, 0, 30).fill_(1.25);
  for (const int64_t dim : {0, 1, 2}) {
    list.push_back(
        {"_product_gradient",
         "gradient along " + std::to_string(dim),
         {tn::float32, tn::float64},
         {x},
         {dim == 0 ? 1 : 0},
         {40, 4},
         gradient_of([dim](const TensorList& in) { return tn::prod(in[0], {dim}); }, 0)});
  }
  list.push_back({"_product_gradient",
                  "gradient of all",
                  {tn::float32, tn::float64},
                  {x.narrow(1, 8, 2)},
                  {-1},
                  {400, 4},
                  gradient_of([](const TensorList& in) { return tn::prod(in[0]); }, 0)});
}

inline void distance(Samples& list) {
  for (const double p : {1.0, 2.0}) {
    const std::string what = "p = " + std::to_string(int(p));
    // More short rows than lie in a block of factors, and a few long ones.
    const std::pair<int64_t, int64_t> shapes[] = {{1043, 3}, {37, 77}};
    for (const auto& [rows, size] : shapes) {
      with_gradients(list, "_distances", what,
                     {sample({1, 5, size}), sample({1, rows, size}, {}, 1)}, {1, -1},
                     products(double(size)), double(rows), 2, [p](const TensorList& in) {
                       return tn::cdist(in[0], in[1], p, "donot_use_mm_for_euclid_dist");
                     });
    }
    with_gradients(list, "pdist", what, {sample({37, 19})}, {0}, products(19), 37, 1,
                   [p](const TensorList& in) { return tn::pdist(in[0], p); });
  }
}

inline void cumprod(Samples& list) {
  // Around 1, so that products of many are numbers, with zeros among them.
  Tensor x = 1 + sample({5, 41, 70}) / 16;
  x.index_fill_(1, tn::tensor({7, 30}), 0);
  for (const int64_t dim : {0, 1, 2}) {
    with_gradients(list, "cumprod", "dim " + std::to_string(dim), {x}, {-1}, {2, 0}, 140, 1,
                   [dim](const TensorList& in) { return in[0].cumprod(dim); });
  }
  // Parts of the gradient that are beyond float32, times 0 and next to nothing.
  const Tensor large = tn::tensor({{1e-30, 0.0, 1e20, 1e20}, {0.0, 0.0, 1e30, 1e30}}, tn::float64);
  with_gradients(list, "cumprod", "large factors", {large}, {-1}, {2, 0}, 8, 1,
                 [](const TensorList& in) { return in[0].cumprod(1); });
}

// Long rows with equal elements, whose last counts; few of them, and many that lie side by side.
inline void running_extremes(Samples& list) {
  const Tensor x = tn::round(sample({3, 41, 140}) * 8) / 8;
  for (const bool largest : {true, false}) {
    const char* const name = largest ? "cummax" : "cummin";
    for (const int64_t dim : {0, 1, 2}) {
      const std::string along = " along " + std::to_string(dim);
      const auto call = [=](const Tensor& in) {
        return largest ? tn::cummax(in, dim) : tn::cummin(in, dim);
      };
      list.push_back(
          {name,
           "values" + along,
           kAll,
           {x},
           {0},
           {},
           [=](const TensorList& in, Dtype, tn::Device) { return std::get<0>(call(in[0])); }});
      list.push_back(
          {name,
           "places" + along,
           kAll,
           {x},
           {0},
           {},
           [=](const TensorList& in, Dtype, tn::Device) { return std::get<1>(call(in[0])); }});
      list.push_back(
          {name,
           "gradient" + along,
           kFloats,
           {x},
           {0},
           Error{6, 70, true},
           gradient_of([=](const TensorList& in) { return std::get<0>(call(in[0])); }, 0)});
    }
  }
}

inline void grid_sample(Samples& list) {
  const auto add = [&](const std::string& what, const Tensor& x, const Tensor& grid) {
    for (const char* mode : {"bilinear", "nearest", "bicubic"}) {
      for (const char* border : {"zeros", "border", "reflection"}) {
        for (const bool corners : {false, true}) {
          with_gradients(list, "grid_sample",
                         std::string(mode) + ", " + border + (corners ? ", corners" : "") + what,
                         {x, grid}, {0, 0}, {16, 16}, 300, 2, [=](const TensorList& in) {
                           return tn::grid_sample(
                               in[0], in[1],
                               {.mode = mode, .padding_mode = border, .align_corners = corners});
                         });
        }
      }
    }
  };
  const Tensor grid = sample({3, 23, 17, 2}, {}, 1) * 1.6;
  add("", sample({3, 4, 7, 5}), grid);
  // Planes that are smaller than what a place takes, and places far outside; in the long form at more
  // of them.
  const Tensor far = grid.narrow(1, 0, long_form() ? 23 : 5) * 4.1;
  for (const std::vector<int64_t>& plane :
       {std::vector<int64_t>{1, 1}, {1, 6}, {2, 1}, {3, 2}, {4, 4}}) {
    add(" of " + std::to_string(plane[0]) + " x " + std::to_string(plane[1]),
        sample({3, 2, plane[0], plane[1]}), far);
  }
  // In the middle between two elements, where the nearest one is a choice.
  list.push_back({"grid_sample",
                  "nearest of the middle",
                  kFloat32,
                  {sample({2, 3, 8, 16}), tn::round(sample({2, 31, 17, 2}, {}, 1) * 24) / 16},
                  {0, 0},
                  {},
                  [](const TensorList& in, Dtype, tn::Device) {
                    return tn::grid_sample(in[0], in[1],
                                           {.mode = "nearest", .align_corners = false});
                  }});
}

}  // namespace kernel_samples
