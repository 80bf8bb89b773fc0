// What the operations of the fake cuDNN compute, in plain loops that add in double.
#include <array>
#include <bit>

#include "cudnn_descriptor.h"
#include "tenon/halves.hpp"

namespace fake {
namespace {

using tenon::halves::BFloat16;
using tenon::halves::Float16;

double number(const char* at, cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_DOUBLE:
      return *reinterpret_cast<const double*>(at);
    case CUDNN_DATA_FLOAT:
      return *reinterpret_cast<const float*>(at);
    case CUDNN_DATA_HALF:
      return *reinterpret_cast<const Float16*>(at);
    default:
      return *reinterpret_cast<const BFloat16*>(at);
  }
}

void put(char* at, cudnnDataType_t type, double value) {
  switch (type) {
    case CUDNN_DATA_DOUBLE:
      *reinterpret_cast<double*>(at) = value;
      break;
    case CUDNN_DATA_FLOAT:
      *reinterpret_cast<float*>(at) = static_cast<float>(value);
      break;
    case CUDNN_DATA_HALF:
      *reinterpret_cast<Float16*>(at) = Float16(static_cast<float>(value));
      break;
    default:
      *reinterpret_cast<BFloat16*>(at) = BFloat16(static_cast<float>(value));
  }
}

double rounded_to_tf32(double value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  return std::bit_cast<float>((bits + 0xFFF + (bits >> 13 & 1)) & ~0x1FFFu);
}

// each(i, place): the elements in row-major order, and where each lies, in bytes.
template <class Each>
void for_each(const Tensor& t, const Each& each) {
  std::vector<int64_t> at(t.sizes.size(), 0);
  const auto bytes = static_cast<int64_t>(bytes_of(t.type));
  const int64_t n = t.numel();
  for (int64_t i = 0; i < n; ++i) {
    int64_t place = 0;
    for (size_t d = 0; d < at.size(); ++d) place += at[d] * t.strides[d];
    each(static_cast<size_t>(i), place * bytes);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < t.sizes[d]) break;
      at[d] = 0;
    }
  }
}

// The values of tensors while a graph is run, in row-major order.
struct Run {
  const Memory& memory;
  const bool rounds;
  std::map<int64_t, std::vector<double>> between;  // of virtual tensors

  std::vector<double> get(const Descriptor& descriptor) const {
    const Tensor t(descriptor);
    if (descriptor.is_virtual()) return between.at(t.id);
    const char* data = memory.at(t.id);
    std::vector<double> all(static_cast<size_t>(t.numel()));
    for_each(t, [&](size_t i, int64_t place) { all[i] = number(data + place, t.type); });
    return all;
  }
  void set(const Descriptor& descriptor, const std::vector<double>& values) {
    const Tensor t(descriptor);
    if (descriptor.is_virtual()) {
      std::vector<double>& kept = between[t.id];
      kept.resize(values.size());
      for (size_t i = 0; i < values.size(); ++i) {
        char element[8];
        put(element, t.type, values[i]);
        kept[i] = number(element, t.type);
      }
      return;
    }
    char* data = memory.at(t.id);
    for_each(t, [&](size_t i, int64_t place) { put(data + place, t.type, values[i]); });
  }
};

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

// Where the element of an operand is that broadcasts to element i of `to`.
size_t broadcast(const Tensor& operand, const Tensor& to, size_t i) {
  size_t at = 0, step = 1;
  for (size_t d = to.sizes.size(); d-- > 0;) {
    const auto size = static_cast<size_t>(to.sizes[d]);
    const auto own = static_cast<size_t>(operand.sizes[d]);
    if (own > 1) at += i % size * step;
    i /= size;
    step *= own;
  }
  return at;
}

void add(Run& run, const Descriptor& operation) {
  const Descriptor& x = operation.child(CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
  const Descriptor& b = operation.child(CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
  const Descriptor& y = operation.child(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  const std::vector<double> left = run.get(x), right = run.get(b);
  const Tensor of_x(x), of_b(b), to(y);
  std::vector<double> sums(static_cast<size_t>(to.numel()));
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = left[broadcast(of_x, to, i)] + right[broadcast(of_b, to, i)];
  run.set(y, sums);
}

}  // namespace

void run_graph(const Descriptor& graph, const Memory& memory, bool rounds) {
  Run run{memory, rounds, {}};
  for (const Child& operation : graph.values.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).children) {
    if (const ConvolutionNames* names = convolution_names(operation->type)) {
      convolve(run, *operation, *names);
    } else {
      add(run, *operation);
    }
  }
}

}  // namespace fake
