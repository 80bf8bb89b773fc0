// Distances of all pairs of rows: of x1 [.., n, size] and x2 [.., m, size], and of those of one x [n,
// size] among each other. Sums of magnitudes and roots of sums of squares; other norms are made of ops.
#include <algorithm>
#include <cstdint>

#include "cpu.h"
#include "ops/norm.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kFactors = 1024;  // of one row, that are computed at a time

// What inner loops read behind the last column: the lanes of the widest vector.
constexpr int64_t kBehind = 16;

const DistanceFunctions<float>& functions(float) { return table().distance_f32; }
const DistanceFunctions<double>& functions(double) { return table().distance_f64; }

template <typename T>
T* data(const tn_tensor& t) {
  return static_cast<T*>(t.data);
}

// Transposes the rows [n, size] of each batch to [size, stride], with kBehind zeros behind each column.
template <typename T>
struct Columns {
  int64_t n, size, stride;
  T* elements;
  Columns(const tn_call* call, const T* rows, int64_t n_batches, int64_t n_rows, int64_t row_size)
      : n(n_rows), size(row_size), stride(n_rows + kBehind) {
    const int64_t count = n_batches * size * stride;
    elements = static_cast<T*>(Call(call).workspace(static_cast<uint64_t>(count) * sizeof(T)));
    parallel_for(call->host, 0, n_batches * size, 1 + kPieceElements / stride,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const T* const from = rows + i / size * n * size + i % size;
                     T* const to = elements + i * stride;
                     for (int64_t j = 0; j < n; ++j) {
                       to[j] = from[j * size];
                     }
                     std::fill_n(to + n, kBehind, T(0));
                   }
                 });
  }
  const T* of(int64_t batch) const { return elements + batch * size * stride; }
};

// What multiplies the difference of two elements, or its sign, in the gradient of their distance.
template <typename T>
T factor_of(bool squares, T g, T distance) {
  if (!squares) {
    return g;
  }
  return distance == 0 ? T(0) : g / distance;
}

// body(row) for all rows, each with as much work as a row of `columns`.
template <typename T, typename Body>
void each_row(const tn_call* call, int64_t n, const Columns<T>& columns, const Body& body) {
  const int64_t work = std::max<int64_t>(columns.n * columns.size, 1);
  parallel_for(call->host, 0, n, 1 + kPieceElements / work, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      body(i);
    }
  });
}

struct Shape {
  int64_t batches, n, m, size;
  Shape(const tn_tensor& x, const tn_tensor& y)
      : batches(product(x.sizes, x.ndim - 2)),
        n(x.sizes[x.ndim - 2]),
        m(y.sizes[y.ndim - 2]),
        size(x.sizes[x.ndim - 1]) {}
};

template <typename T>
void between(const tn_call* call, bool squares) {
  const tn_tensor &x = *call->args[0].as.tensor, &y = *call->args[1].as.tensor;
  const Shape s(x, y);
  const Columns<T> columns(call, data<T>(y), s.batches, s.m, s.size);
  T* const out = data<T>(*call->outputs[0]);
  each_row(call, s.batches * s.n, columns, [&](int64_t i) {
    functions(T()).distances[squares](out + i * s.m, data<T>(x) + i * s.size, columns.of(i / s.n),
                                      columns.stride, s.size, s.m);
  });
}

// dx of the rows x, where the gradient and distance of row i and column j of a batch are at i * row +
// j * column.
template <typename T>
void slopes_between(const tn_call* call, bool squares, const T* x, int64_t n, const T* y, int64_t m,
                    int64_t row, int64_t column, const T* g, const T* distance, const Shape& s,
                    T* dx) {
  const Columns<T> columns(call, y, s.batches, m, s.size);
  each_row(call, s.batches * n, columns, [&](int64_t i) {
    const int64_t batch = i / n, at = batch * n * m + i % n * row;
    std::fill_n(dx + i * s.size, s.size, T(0));
    T factors[kFactors + kBehind] = {};
    for (int64_t begin = 0; begin < m; begin += kFactors) {
      const int64_t count = std::min(kFactors, m - begin);
      for (int64_t j = 0; j < count; ++j) {
        const int64_t pair = at + (begin + j) * column;
        factors[j] = factor_of(squares, g[pair], distance[pair]);
      }
      functions(T()).slopes[squares](dx + i * s.size, x + i * s.size, columns.of(batch) + begin,
                                     columns.stride, s.size, count, factors);
    }
  });
}

template <typename T>
void between_backward(const tn_call* call, bool squares) {
  const tn_tensor &x = *call->args[1].as.tensor, &y = *call->args[2].as.tensor;
  const T *const g = data<T>(*call->args[0].as.tensor), *const distance =
                                                            data<T>(*call->args[4].as.tensor);
  const Shape s(x, y);
  if (call->outputs[0]) {
    slopes_between(call, squares, data<T>(x), s.n, data<T>(y), s.m, s.m, 1, g, distance, s,
                   data<T>(*call->outputs[0]));
  }
  if (call->outputs[1]) {
    slopes_between(call, squares, data<T>(y), s.m, data<T>(x), s.n, 1, s.m, g, distance, s,
                   data<T>(*call->outputs[1]));
  }
}

// Where the pair of rows i < j of n is.
int64_t place_of_pair(int64_t i, int64_t j, int64_t n) {
  return i * (2 * n - i - 1) / 2 + j - i - 1;
}

template <typename T>
void within(const tn_call* call, bool squares) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const int64_t n = x.sizes[0], size = x.sizes[1];
  const Columns<T> columns(call, data<T>(x), 1, n, size);
  T* const out = data<T>(*call->outputs[0]);
  each_row(call, n - 1, columns, [&](int64_t i) {
    functions(T()).distances[squares](out + place_of_pair(i, i + 1, n), data<T>(x) + i * size,
                                      columns.elements + i + 1, columns.stride, size, n - 1 - i);
  });
}

template <typename T>
void within_backward(const tn_call* call, bool squares) {
  const tn_tensor& x = *call->args[1].as.tensor;
  const int64_t n = x.sizes[0], size = x.sizes[1];
  const T *const g = data<T>(*call->args[0].as.tensor), *const distance =
                                                            data<T>(*call->args[3].as.tensor);
  T* const dx = data<T>(*call->outputs[0]);
  const Columns<T> columns(call, data<T>(x), 1, n, size);
  each_row(call, n, columns, [&](int64_t i) {
    std::fill_n(dx + i * size, size, T(0));
    T factors[kFactors + kBehind] = {};
    const auto add = [&](int64_t first, int64_t end) {
      for (int64_t begin = first; begin < end; begin += kFactors) {
        const int64_t count = std::min(kFactors, end - begin);
        for (int64_t j = 0; j < count; ++j) {
          const int64_t other = begin + j;
          const int64_t pair = other < i ? place_of_pair(other, i, n) : place_of_pair(i, other, n);
          factors[j] = factor_of(squares, g[pair], distance[pair]);
        }
        functions(T()).slopes[squares](dx + i * size, data<T>(x) + i * size,
                                       columns.elements + begin, columns.stride, size, count,
                                       factors);
      }
    };
    add(0, i);
    add(i + 1, n);
  });
}

template <typename F>
void with_type(const tn_tensor& t, const F& f) {
  t.dtype == TN_FLOAT64 ? f(double()) : f(float());
}

void launch_between(const tn_call* call) {
  if (call->outputs[0]->numel == 0) {
    return;
  }
  with_type(*call->outputs[0], [&]<typename T>(T) { between<T>(call, call->args[2].as.f == 2); });
}

// args: g, then the forward's, the distances.
void launch_between_backward(const tn_call* call) {
  const tn_tensor& distances = *call->args[4].as.tensor;
  if (call->args[0].kind != TN_KIND_TENSOR || distances.numel == 0) {
    return clear_outputs(call);
  }
  with_type(distances, [&]<typename T>(T) { between_backward<T>(call, call->args[3].as.f == 2); });
}

void launch_within(const tn_call* call) {
  if (call->outputs[0]->numel == 0) {
    return;
  }
  with_type(*call->outputs[0], [&]<typename T>(T) { within<T>(call, call->args[1].as.f == 2); });
}

void launch_within_backward(const tn_call* call) {
  if (!call->outputs[0]) {
    return;
  }
  const tn_tensor& distances = *call->args[3].as.tensor;
  if (call->args[0].kind != TN_KIND_TENSOR || distances.numel == 0) {
    return clear_outputs(call);
  }
  with_type(distances, [&]<typename T>(T) { within_backward<T>(call, call->args[2].as.f == 2); });
}

bool is_known(const tn_value& order, Refusal why) {
  return order.as.f == 1 || order.as.f == 2 ||
         why("takes the 1-norm and the 2-norm, not p = %g", order.as.f);
}

bool supports_between(const tn_call* call, Refusal why) {
  const tn_tensor &x = *call->args[0].as.tensor, &y = *call->args[1].as.tensor;
  const bool fits = x.ndim == y.ndim && x.ndim >= 2 && x.dtype == y.dtype &&
                    std::equal(x.sizes, x.sizes + x.ndim - 2, y.sizes) &&
                    x.sizes[x.ndim - 1] == y.sizes[x.ndim - 1];
  if (!fits) {
    return why("takes x1 [.., n, size] and x2 [.., m, size] of one dtype and as many batches");
  }
  return is_known(call->args[2], why);
}

bool supports_within(const tn_call* call, Refusal why) {
  if (call->args[0].as.tensor->ndim != 2) {
    return why("takes x [n, size]");
  }
  return is_known(call->args[1], why);
}

}  // namespace

void add_distance() {
  const KernelOptions options = {
      .dtypes = floats, .layout = Layout::contiguous, .traits = kUsualPromises};
  kernel("_distances", "cpu", options, fn<launch_between>)
      .supports(fn<supports_between>)
      .backward(fn<launch_between_backward>, {.saves_args = 0b011, .saves_outputs = 0b1});
  kernel("pdist", "cpu", options, fn<launch_within>)
      .supports(fn<supports_within>)
      .backward(fn<launch_within_backward>, {.saves_args = 0b01, .saves_outputs = 0b1});
}

}  // namespace tenon::cpu_backend
