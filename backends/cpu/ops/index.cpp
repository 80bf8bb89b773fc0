// GATHER, SCATTER and NONZERO. All walk the index's elements row by row; a row whose index does not
// change (an embedding) is moved as a whole.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu.h"
#include "vector/convert.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kPieceElements = 16384;

// What gather and scatter have in common: `far` is indexed along `dim`, `near` has the index's
// sizes.
struct Indexed {
  const char* name;
  const tn_tensor& far;
  const tn_tensor& near;
  const tn_tensor& index;
  int32_t ndim;  // a tensor without dimensions counts as one of size one
  int32_t dim;
  int64_t size_;  // of far along dim
  int64_t row_size, n_rows;

  Indexed(const char* n, const tn_tensor& f, const tn_tensor& s, const tn_tensor& i, int64_t d)
      : name(n),
        far(f),
        near(s),
        index(i),
        ndim(i.ndim),
        dim(static_cast<int32_t>(d < 0 ? d + i.ndim : d)) {
    size_ = ndim > 0 ? far.sizes[dim] : 1;
    row_size = ndim > 0 ? index.sizes[ndim - 1] : 1;
    n_rows = row_size == 0 ? 0 : index.numel / row_size;
  }
  int64_t last_stride(const tn_tensor& t) const { return ndim > 0 ? t.strides[ndim - 1] : 0; }
  int64_t dim_stride() const { return ndim > 0 ? far.strides[dim] : 0; }
  bool along_last() const { return ndim == 0 || dim == ndim - 1; }
  // One index for the whole row, and elements behind each other.
  bool moves_rows() const {
    return !along_last() && last_stride(index) == 0 && last_stride(far) == 1 &&
           last_stride(near) == 1;
  }
  int64_t grain() const { return 1 + kPieceElements / (row_size > 0 ? row_size : 1); }

  struct Row {
    int64_t far, near, index;  // offsets of its first element; far's without its dimension `dim`
  };
  Row row(int64_t flat) const {
    Row r = {0, 0, 0};
    for (int32_t d = ndim - 2; d >= 0; --d) {
      const int64_t i = flat % index.sizes[d];
      flat /= index.sizes[d];
      r.far += d == dim ? 0 : i * far.strides[d];
      r.near += i * near.strides[d];
      r.index += i * index.strides[d];
    }
    return r;
  }

  // Finds an index that is out of range, if there is one.
  void check_values(const tn_host* host) const {
    const int64_t* const indices = static_cast<const int64_t*>(index.data);
    const int64_t stride = last_stride(index);
    const int64_t n = stride == 0 ? 1 : row_size;
    std::atomic<int64_t> bad = -1;
    parallel_for(host, 0, n_rows, grain(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t* at = indices + row(i).index;
        for (int64_t j = 0; j < n; ++j) {
          if (static_cast<uint64_t>(at[j * stride]) >= static_cast<uint64_t>(size_)) {
            bad = i * row_size + j;
            return;
          }
        }
      }
    });
    if (bad < 0) {
      return;
    }
    const int64_t value = indices[row(bad / row_size).index + bad % row_size * stride];
    check(error(host, TN_INVALID_ARGUMENT,
                "%s: index %lld (element %lld of index) is out of range for dimension %d of size "
                "%lld (%s, cpu)",
                name, static_cast<long long>(value), static_cast<long long>(bad.load()), dim,
                static_cast<long long>(size_), Dtype{far.dtype}.name()));
  }
};

// f(far element, near element) for each element of a row.
template <typename T, typename F>
void each_element(const Indexed& x, int64_t i, const F& f) {
  const Indexed::Row row = x.row(i);
  T* const far = static_cast<T*>(x.far.data) + row.far;
  T* const near = static_cast<T*>(x.near.data) + row.near;
  const int64_t* const index = static_cast<const int64_t*>(x.index.data) + row.index;
  const int64_t far_step = x.along_last() ? 0 : x.last_stride(x.far);
  const int64_t near_step = x.last_stride(x.near);
  const int64_t index_step = x.last_stride(x.index);
  const int64_t along = x.dim_stride();
  for (int64_t j = 0; j < x.row_size; ++j) {
    f(far[j * far_step + index[j * index_step] * along], near[j * near_step]);
  }
}

// The first elements of a row that moves as a whole.
template <typename T>
T* far_row(const Indexed& x, const Indexed::Row& row) {
  return static_cast<T*>(x.far.data) + row.far +
         static_cast<const int64_t*>(x.index.data)[row.index] * x.dim_stride();
}

// An unsigned type of the same size, to move elements without looking at them.
template <typename F>
void with_bits(tn_dtype dtype, const F& f) {
  switch (item_size(dtype)) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

void launch_gather(const tn_call* call) {
  const tn_tensor& y = *call->outputs[0];
  const Indexed x("gather", *call->args[0].as.tensor, y, *call->args[2].as.tensor,
                  call->args[1].as.i);
  if (y.numel == 0) {
    return;
  }
  x.check_values(call->host);
  const bool rows = x.moves_rows();
  with_bits(y.dtype, [&](auto bits) {
    using T = decltype(bits);
    parallel_for(call->host, 0, x.n_rows, x.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (rows) {
          const Indexed::Row row = x.row(i);
          std::memcpy(static_cast<T*>(y.data) + row.near, far_row<T>(x, row),
                      static_cast<size_t>(x.row_size) * sizeof(T));
        } else {
          each_element<T>(x, i, [](const T& far, T& near) { near = far; });
        }
      }
    });
  });
}

template <tn_dtype D>
void scatter_add(const tn_host* host, const Indexed& x, int64_t grain) {
  using T = typename Format<D>::Element;
  parallel_for(host, 0, x.n_rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (D == TN_FLOAT32 && x.moves_rows()) {
        const Indexed::Row row = x.row(i);
        char* const to = reinterpret_cast<char*>(far_row<T>(x, row));
        const Cell cells[] = {{to},
                              {reinterpret_cast<char*>(static_cast<T*>(x.near.data) + row.near)}};
        const Step add = {table().binary[TN_I_ADD][kF32][kVV], 0, 0, 1, 0};
        add.fn(cells, add, x.row_size);
        continue;
      }
      each_element<T>(x, i, [](T& far, const T& near) {
        if constexpr (D == TN_BOOL) {
          far = far | near;
        } else {
          far = Format<D>::narrow(Add::of(Format<D>::widen(far), Format<D>::widen(near)));
        }
      });
    }
  });
}

void launch_scatter(const tn_call* call) {
  const tn_tensor& y = *call->outputs[0];
  const Indexed x("scatter", y, *call->args[2].as.tensor, *call->args[0].as.tensor,
                  call->args[1].as.i);
  if (x.index.numel == 0) {
    return;
  }
  x.check_values(call->host);
  // Rows meet in y unless each has its own; they are then taken in order, which is deterministic as
  // well.
  const int64_t grain = x.along_last() ? x.grain() : x.n_rows;
  if (call->args[3].as.i == 0) {
    with_bits(y.dtype, [&](auto bits) {
      using T = decltype(bits);
      parallel_for(call->host, 0, x.n_rows, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          each_element<T>(x, i, [](T& far, const T& near) { far = near; });
        }
      });
    });
    return;
  }
  dtype_table::visit(y.dtype,
                     [&]<typename Tag>(Tag) { scatter_add<Tag::dtype>(call->host, x, grain); });
}

template <tn_dtype D>
bool nonzero_at(const void* p, int64_t i) {
  return Format<D>::widen(static_cast<const typename Format<D>::Element*>(p)[i]) != 0;
}

using NonzeroFn = bool (*)(const void*, int64_t);
NonzeroFn nonzero_function(tn_dtype dtype) {
  return dtype_table::visit(dtype,
                            []<typename Tag>(Tag) -> NonzeroFn { return nonzero_at<Tag::dtype>; });
}

// f(index) for the elements of x that are not zero, in row-major order.
template <typename F>
void each_nonzero(const tn_tensor& x, const F& f) {
  const auto nonzero = nonzero_function(x.dtype);
  int64_t index[TN_MAX_RANK] = {};
  int64_t offset = 0;
  for (int64_t i = 0; i < x.numel; ++i) {
    if (nonzero(x.data, offset)) {
      f(index);
    }
    for (int32_t d = x.ndim - 1; d >= 0; --d) {
      offset += x.strides[d];
      if (++index[d] < x.sizes[d]) {
        break;
      }
      offset -= index[d] * x.strides[d];
      index[d] = 0;
    }
  }
}

void launch_nonzero(const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  int64_t count = 0;
  each_nonzero(x, [&](const int64_t*) { ++count; });
  const int64_t sizes[] = {count, x.ndim};
  check(call->host->set_output(call, 0, 2, sizes));
  if (count == 0 || x.ndim == 0) {
    return;
  }
  int64_t* out = static_cast<int64_t*>(call->outputs[0]->data);
  each_nonzero(x, [&](const int64_t* index) {
    std::memcpy(out, index, static_cast<size_t>(x.ndim) * sizeof(int64_t));
    out += x.ndim;
  });
}

}  // namespace

void add_index() {
  kernel(TN_PRIM_GATHER, "cpu", {.traits = kUsualPromises}, fn<launch_gather>);
  kernel(TN_PRIM_SCATTER, "cpu", {.traits = kUsualPromises}, fn<launch_scatter>);
  kernel(TN_PRIM_NONZERO, "cpu", {.traits = TN_KERNEL_DETERMINISTIC}, fn<launch_nonzero>);
}

}  // namespace tenon::cpu_backend
