// COPY, FILL and IOTA: values from one layout and dtype to another, and values from nothing. And the
// pair of flip, which is a copy from backwards.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <utility>

#include "copy_bytes.h"
#include "cpu.h"
#include "ops/copy.h"
#include "ops/dims.h"
#include "programs/loop.h"
#include "programs/plan.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kPieceBytes = 1 << 18;
constexpr int64_t kBand = 64;  // rows of a transposition that one piece of it has
constexpr int64_t kLine = 64;  // bytes of a cache line

// y[i, j] = x[j, i] of a square of 16 bytes a row. Half of the rows and the other half, element by element
// in turn, are the transposed ones after as many times as 2 has to be multiplied to be their number.
template <typename T>
void transpose_square(T* y, int64_t y_row, const T* x, int64_t x_row) {
  constexpr int kLanes = 16 / static_cast<int>(sizeof(T));
  typedef T Some __attribute__((vector_size(16)));
  const auto mixed = []<int... I>(Some a, Some b, int from, std::integer_sequence<int, I...>) {
    return from == 0 ? __builtin_shufflevector(a, b, (I / 2 + I % 2 * kLanes)...)
                     : __builtin_shufflevector(a, b, (kLanes / 2 + I / 2 + I % 2 * kLanes)...);
  };
  constexpr std::make_integer_sequence<int, kLanes> kPlaces;
  Some rows[kLanes], turned[kLanes];
  for (int k = 0; k < kLanes; ++k) std::memcpy(&rows[k], x + k * x_row, sizeof(Some));
  for (int done = 1; done < kLanes; done *= 2) {
    for (int k = 0; k < kLanes / 2; ++k) {
      turned[2 * k] = mixed(rows[k], rows[k + kLanes / 2], 0, kPlaces);
      turned[2 * k + 1] = mixed(rows[k], rows[k + kLanes / 2], 1, kPlaces);
    }
    std::copy_n(turned, kLanes, rows);
  }
  for (int k = 0; k < kLanes; ++k) std::memcpy(y + k * y_row, &rows[k], sizeof(Some));
}

// y[i, j] = x[j, i] of a cache line a row. Lines that are a power of two apart share few places of the
// first cache, so each is read and written once, whole.
template <typename T>
void transpose_lines(T* y, int64_t y_row, const T* x, int64_t x_row) {
  constexpr int64_t kSide = kLine / static_cast<int64_t>(sizeof(T)), kLanes = kSide / 4;
  alignas(kLine) T lines[kSide * kSide];
  for (int64_t j = 0; j < kSide; ++j) std::memcpy(lines + j * kSide, x + j * x_row, kLine);
  for (int64_t i = 0; i < kSide; i += kLanes)
    for (int64_t j = 0; j < kSide; j += kLanes)
      transpose_square(y + i * y_row + j, y_row, lines + j * kSide + i, kSide);
}

// y[i, j] = x[i, j] in blocks; x is dense along i, forwards or backwards, and y along j or along none.
template <typename T>
void transpose(T* y, const T* x, int64_t rows, int64_t columns, int64_t y_row, int64_t y_column,
               int64_t x_row, int64_t x_column) {
  constexpr int64_t kSide = kLine / static_cast<int64_t>(sizeof(T));
  for (int64_t j0 = 0; j0 < columns; j0 += kSide) {
    const int64_t j1 = std::min(j0 + kSide, columns);
    for (int64_t i0 = 0; i0 < rows; i0 += kSide) {
      const int64_t i1 = std::min(i0 + kSide, rows);
      if (x_row == 1 && y_column == 1 && i1 - i0 == kSide && j1 - j0 == kSide) {
        transpose_lines(y + i0 * y_row + j0, y_row, x + i0 + j0 * x_column, x_column);
        continue;
      }
      for (int64_t i = i0; i < i1; ++i) {
        for (int64_t j = j0; j < j1; ++j) {
          y[i * y_row + j * y_column] = x[i * x_row + j * x_column];
        }
      }
    }
  }
}

// y[j] = x[-j], by 16 bytes.
template <typename T>
void copy_backwards(T* y, const T* x, int64_t n) {
  constexpr int64_t kLanes = 16 / static_cast<int64_t>(sizeof(T));
  typedef T Some __attribute__((vector_size(16)));
  const auto turned = []<int... I>(Some some, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(some, some, (static_cast<int>(kLanes) - 1 - I)...);
  };
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    Some some;
    std::memcpy(&some, x - j - (kLanes - 1), sizeof some);
    some = turned(some, std::make_integer_sequence<int, static_cast<int>(kLanes)>());
    std::memcpy(y + j, &some, sizeof some);
  }
  for (; j < n; ++j) y[j] = x[-j];
}

// The library's loops are of the processor's widest vectors; std::fill's are of single elements.
template <typename T>
void fill_dense(T* y, int64_t n, T value) {
  if (value == T{0}) {
    std::memset(y, 0, static_cast<size_t>(n) * sizeof(T));
  } else if constexpr (sizeof(T) == sizeof(wchar_t)) {
    std::wmemset(reinterpret_cast<wchar_t*>(y), static_cast<wchar_t>(value),
                 static_cast<size_t>(n));
  } else {
    std::fill_n(y, n, value);
  }
}

template <typename T>
void copy_row(T* y, const T* x, int64_t n, int64_t y_stride, int64_t x_stride) {
  if (y_stride == 1 && x_stride == 1) {
    copy_bytes(y, x, static_cast<size_t>(n) * sizeof(T));
    return;
  }
  if (y_stride == 1 && x_stride == -1) return copy_backwards(y, x, n);
  if (y_stride == 1 && x_stride == 0) return fill_dense(y, n, *x);
  for (int64_t j = 0; j < n; ++j) {
    y[j * y_stride] = x[j * x_stride];
  }
}

template <typename T>
void copy_typed(const tn_host* host, void* to, const void* from, Dims dims) {
  T* const y = static_cast<T*>(to);
  const T* const x = static_cast<const T*>(from);
  const int32_t last = dims.n - 1;
  for (int32_t d = 0; d < last; ++d) {
    if (std::abs(dims.second[d]) == 1 && std::abs(dims.second[last]) != 1 && dims.sizes[d] >= 4) {
      dims.move_before_last(d);
      const int32_t row = last - 1;
      const int64_t bands = (dims.sizes[row] + kBand - 1) / kBand;
      const int64_t outer = product(dims.sizes, row);
      const int64_t grain =
          1 + kPieceBytes / (kBand * dims.sizes[last] * static_cast<int64_t>(sizeof(T)));
      parallel_for(host, 0, outer * bands, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          int64_t at_y, at_x;
          dims.offsets(row, i / bands, &at_y, &at_x);
          const int64_t first = i % bands * kBand;
          transpose(y + at_y + first * dims.first[row], x + at_x + first * dims.second[row],
                    std::min(kBand, dims.sizes[row] - first), dims.sizes[last], dims.first[row],
                    dims.first[last], dims.second[row], dims.second[last]);
        }
      });
      return;
    }
  }
  if (dims.n == 1) {
    const int64_t grain = kPieceBytes / static_cast<int64_t>(sizeof(T));
    parallel_for(host, 0, dims.sizes[0], grain, [&](int64_t begin, int64_t end) {
      copy_row(y + begin * dims.first[0], x + begin * dims.second[0], end - begin, dims.first[0],
               dims.second[0]);
    });
    return;
  }
  const int64_t grain = 1 + kPieceBytes / (dims.sizes[last] * static_cast<int64_t>(sizeof(T)));
  parallel_for(host, 0, product(dims.sizes, last), grain, [&](int64_t begin, int64_t end) {
    const int64_t n = dims.sizes[last], y_stride = dims.first[last], x_stride = dims.second[last];
    dims.each(last, begin, end, [=](int64_t at_y, int64_t at_x) {
      copy_row(y + at_y, x + at_x, n, y_stride, x_stride);
    });
  });
}

// A loop of the program that only loads and stores.
void copy_casting(const tn_host* host, const tn_tensor& y, const tn_tensor& x, const Dims& dims) {
  const tn_operand operands[] = {{y.data, dims.first, y.storage, y.byte_offset, y.dtype},
                                 {x.data, dims.second, x.storage, x.byte_offset, x.dtype}};
  tn_loop loop = {};
  loop.size = sizeof loop;
  loop.ndim = dims.n;
  loop.numel = y.numel;
  loop.sizes = dims.sizes;
  // Whole numbers that floats hold, or are rounded to once, are read as those.
  const bool is_short = type_of(x.dtype) == kI64 && item_size(x.dtype) <= 4;
  const bool to_floats = type_of(y.dtype) == kF32 || type_of(y.dtype) == kF64;
  loop.program = &identity_program(type_of(is_short && to_floats ? y.dtype : x.dtype));
  loop.operands = operands;
  return run_loop(host, loop);
}

void launch_copy(const tn_call* call) {
  return run_copy(call->host, *call->outputs[0], *call->args[0].as.tensor);
}

// A number as an element of the dtype.
void number_to_element(const tn_value& number, tn_dtype dtype, void* element) {
  tn_value source = number;
  const RegisterType type = number.kind == TN_KIND_FLOAT ? kF64 : kI64;
  const Cell cells[] = {{static_cast<char*>(element)}, {reinterpret_cast<char*>(&source.as)}};
  const Step step = {table().store[type][dtype], 0, 1, 0, 0};
  step.fn(cells, step, 1);
}

template <typename T>
void fill_typed(const tn_host* host, const tn_tensor& tensor, const void* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  const Dims dims(tensor, tensor);
  const int32_t last = dims.n - 1;
  const int64_t stride = dims.first[last];
  T* const y = static_cast<T*>(tensor.data);
  if (dims.n == 1) {
    parallel_for(host, 0, dims.sizes[0], kPieceBytes / static_cast<int64_t>(sizeof(T)),
                 [&](int64_t begin, int64_t end) {
                   if (stride == 1) {
                     fill_dense(y + begin, end - begin, value);
                   } else {
                     for (int64_t i = begin; i < end; ++i) {
                       y[i * stride] = value;
                     }
                   }
                 });
    return;
  }
  dims.each(last, 0, product(dims.sizes, last), [&](int64_t at, int64_t) {
    for (int64_t j = 0; j < dims.sizes[last]; ++j) y[at + j * stride] = value;
  });
}

void launch_fill(const tn_call* call) {
  const tn_tensor& y = *call->outputs[0];
  if (y.numel == 0) {
    return;
  }
  alignas(16) char element[16];
  number_to_element(call->args[0], y.dtype, element);
  switch (item_size(y.dtype)) {
    case 1:
      fill_typed<uint8_t>(call->host, y, element);
      break;
    case 2:
      fill_typed<uint16_t>(call->host, y, element);
      break;
    case 4:
      fill_typed<uint32_t>(call->host, y, element);
      break;
    default:
      fill_typed<uint64_t>(call->host, y, element);
  }
}

double real_of(const tn_value& number) {
  return number.kind == TN_KIND_FLOAT ? number.as.f : static_cast<double>(number.as.i);
}

// Integers where both numbers are, else float64: each element from its index, so that nothing adds
// up.
void launch_iota(const tn_call* call) {
  constexpr int64_t kTile = 512;
  const tn_tensor& y = *call->outputs[0];
  const tn_value& start = call->args[0];
  const tn_value& step = call->args[1];
  const bool real = start.kind == TN_KIND_FLOAT || step.kind == TN_KIND_FLOAT;
  const Step store = {table().store[real ? kF64 : kI64][y.dtype], 0, 1, 0, 0};
  parallel_for(call->host, 0, y.numel, kPieceBytes / 8, [&](int64_t begin, int64_t end) {
    union {
      double f[kTile];
      int64_t i[kTile];
    } values;
    for (; begin < end; begin += kTile) {
      const int64_t n = std::min(kTile, end - begin);
      for (int64_t j = 0; j < n; ++j) {
        if (real) {
          values.f[j] = real_of(start) + static_cast<double>(begin + j) * real_of(step);
        } else {
          values.i[j] = static_cast<int64_t>(static_cast<uint64_t>(start.as.i) +
                                             static_cast<uint64_t>(begin + j) *
                                                 static_cast<uint64_t>(step.as.i));
        }
      }
      const Cell cells[] = {{static_cast<char*>(y.data) + begin * item_size(y.dtype)},
                            {reinterpret_cast<char*>(&values)}};
      store.fn(cells, store, n);
    }
  });
}

}  // namespace

void run_copy(const tn_host* host, const tn_tensor& y, const tn_tensor& x) {
  if (y.numel == 0) {
    return;
  }
  const Dims dims(y, x);
  if (x.dtype != y.dtype) {
    return copy_casting(host, y, x, dims);
  }
  switch (item_size(y.dtype)) {
    case 1:
      copy_typed<uint8_t>(host, y.data, x.data, dims);
      break;
    case 2:
      copy_typed<uint16_t>(host, y.data, x.data, dims);
      break;
    case 4:
      copy_typed<uint32_t>(host, y.data, x.data, dims);
      break;
    default:
      copy_typed<uint64_t>(host, y.data, x.data, dims);
  }
}

// x read backwards along the dimensions: from its last element there, with the strides negated.
void launch_flip(const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const tn_value& dims = call->args[1];
  if (x.numel == 0) return;
  int64_t strides[TN_MAX_RANK];
  std::copy_n(x.strides, x.ndim, strides);
  int64_t last = 0;
  for (uint32_t i = 0; x.ndim > 0 && i < dims.count; ++i) {
    const int64_t d = dims.as.ints[i] < 0 ? dims.as.ints[i] + x.ndim : dims.as.ints[i];
    last += (x.sizes[d] - 1) * x.strides[d];
    strides[d] = -x.strides[d];
  }
  tn_tensor backwards = x;
  backwards.strides = strides;
  backwards.data = static_cast<char*>(x.data) + last * item_size(x.dtype);
  run_copy(call->host, *call->outputs[0], backwards);
}

void add_shape() {
  kernel(TN_PRIM_COPY, "cpu", {.traits = kUsualPromises}, fn<launch_copy>);
  kernel(TN_PRIM_FILL, "cpu", {.traits = kUsualPromises}, fn<launch_fill>);
  kernel(TN_PRIM_IOTA, "cpu", {.traits = kUsualPromises}, fn<launch_iota>);
  kernel("flip", "cpu", {.traits = kUsualPromises}, fn<launch_flip>);
}

}  // namespace tenon::cpu_backend
