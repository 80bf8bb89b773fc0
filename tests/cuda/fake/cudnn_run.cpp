// The graphs of the fake cuDNN, and its convolutions, in plain loops that add in double.
#include <array>
#include <bit>

#include "cudnn_run.h"

namespace fake {
namespace {

double rounded_to_tf32(double value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  return std::bit_cast<float>((bits + 0xFFF + (bits >> 13 & 1)) & ~0x1FFFu);
}

// Sizes with three dimensions of a window.
std::array<int64_t, 5> widened(const std::vector<int64_t>& sizes) {
  std::array<int64_t, 5> all = {sizes[0], sizes[1], 1, 1, 1};
  for (size_t d = 2; d < sizes.size(); ++d) all[d + 5 - sizes.size()] = sizes[d];
  return all;
}
std::array<int64_t, 3> widened(const std::vector<int64_t>& options, int64_t of_first) {
  std::array<int64_t, 3> all = {of_first, of_first, of_first};
  for (size_t d = 0; d < options.size(); ++d) all[d + 3 - options.size()] = options[d];
  return all;
}

// body(x, weight, y, n, x_step): a row of y and of x that meet one element of the weight. Of x each
// element is x_step behind the one before.
template <class Body>
void for_each_row(const std::array<int64_t, 5>& x, const std::array<int64_t, 5>& w,
                  const std::array<int64_t, 5>& y, const std::array<int64_t, 3>& stride,
                  const std::array<int64_t, 3>& padding, const std::array<int64_t, 3>& dilation,
                  const Body& body) {
  const int64_t groups = x[1] / w[1], each = y[1] / groups;
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t k = 0; k < y[1]; ++k)
      for (int64_t c = 0; c < w[1]; ++c)
        for (int64_t window = 0; window < w[2] * w[3] * w[4]; ++window) {
          const int64_t in_channel = k / each * w[1] + c;
          const int64_t a = window / (w[3] * w[4]), b = window / w[4] % w[3], e = window % w[4];
          // Places of y along the last dimension whose window lies in x here.
          const int64_t shift = e * dilation[2] - padding[2];
          int64_t first = 0, last = y[4];
          while (first < last && first * stride[2] + shift < 0) ++first;
          while (last > first && (last - 1) * stride[2] + shift >= x[4]) --last;
          for (int64_t row = 0; row < y[2] * y[3]; ++row) {
            const int64_t i = row / y[3] * stride[0] + a * dilation[0] - padding[0];
            const int64_t j = row % y[3] * stride[1] + b * dilation[1] - padding[1];
            if (i < 0 || i >= x[2] || j < 0 || j >= x[3] || first == last) continue;
            body((((n * x[1] + in_channel) * x[2] + i) * x[3] + j) * x[4] + first * stride[2] +
                     shift,
                 (k * w[1] + c) * w[2] * w[3] * w[4] + window,
                 ((n * y[1] + k) * y[2] * y[3] + row) * y[4] + first, last - first, stride[2]);
          }
        }
}

void convolve(Run& run, const Descriptor& operation, const ConvolutionNames& names) {
  const Descriptor& c = operation.child(names.convolution);
  const Descriptor* const descriptors[] = {
      &operation.child(names.x), &operation.child(names.weight), &operation.child(names.y)};
  const size_t result =
      operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR         ? 2
      : operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ? 0
                                                                                       : 1;
  std::vector<double> values[3];
  for (size_t k = 0; k < 3; ++k) {
    const Tensor t(*descriptors[k]);
    if (k == result) {
      values[k].assign(static_cast<size_t>(t.numel()), 0.0);
      continue;
    }
    values[k] = run.get(*descriptors[k]);
    if (run.rounds && t.type == CUDNN_DATA_FLOAT) {
      for (double& value : values[k]) value = rounded_to_tf32(value);
    }
  }
  double *const x = values[0].data(), *const w = values[1].data(), *const y = values[2].data();
  for_each_row(widened(Tensor(*descriptors[0]).sizes), widened(Tensor(*descriptors[1]).sizes),
               widened(Tensor(*descriptors[2]).sizes),
               widened(c.list(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES), 1),
               widened(c.list(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS), 0),
               widened(c.list(CUDNN_ATTR_CONVOLUTION_DILATIONS), 1),
               [&](int64_t xi, int64_t wi, int64_t yi, int64_t n, int64_t step) {
                 if (result == 2) {
                   for (int64_t i = 0; i < n; ++i) y[yi + i] += x[xi + i * step] * w[wi];
                 } else if (result == 0) {
                   for (int64_t i = 0; i < n; ++i) x[xi + i * step] += y[yi + i] * w[wi];
                 } else {
                   double sum = 0;
                   for (int64_t i = 0; i < n; ++i) sum += x[xi + i * step] * y[yi + i];
                   w[wi] += sum;
                 }
               });
  run.set(*descriptors[result], values[result]);
}

}  // namespace

void run_graph(const Descriptor& graph, const Memory& memory,
               const std::map<int64_t, double>& numbers, bool rounds) {
  Run run{memory, numbers, rounds, {}};
  for (const Child& operation : graph.values.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).children) {
    if (const ConvolutionNames* names = convolution_names(operation->type)) {
      convolve(run, *operation, *names);
    } else if (operation->type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) {
      run_pointwise(run, *operation);
    } else if (operation->type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR) {
      run_product(run, *operation);
    } else if (operation->type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) {
      run_reduction(run, *operation);
    } else {
      run_reshape(run, *operation);
    }
  }
}

}  // namespace fake
