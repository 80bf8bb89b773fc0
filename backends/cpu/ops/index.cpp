// GATHER, SCATTER and NONZERO, and the pairs of _scatter_extreme and _bag_sums. What has an index for each
// element walks them row by row; a row whose index does not change (an embedding) is moved as a whole.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "copy_bytes.h"
#include "cpu.h"
#include "ops/add_row.h"
#include "ops/copy.h"
#include "ops/indexed.h"
#include "vector/convert.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

// f(far element, near element) for each element of a row.
template <typename T, typename F>
void each_element(const Indexed& x, const Steps& step, const Indexed::Row& row, const F& f) {
  T* const far = static_cast<T*>(x.far.data) + row.far;
  T* const near = static_cast<T*>(x.near.data) + row.near;
  const int64_t* const index = static_cast<const int64_t*>(x.index.data) + row.index;
  if (step.are_dense) {
    for (int64_t j = 0; j < x.row_size; ++j) f(far[index[j]], near[j]);
    return;
  }
  if (step.are_one) {
    const T value = *near;
    for (int64_t j = 0; j < x.row_size; ++j) f(far[index[j]], value);
    return;
  }
  if (step.are_whole) {
    T* const there = far + index[0] * step.along;
    TENON_INDEPENDENT
    for (int64_t j = 0; j < x.row_size; ++j) f(there[j], near[j]);
    return;
  }
  const auto [far_step, near_step, index_step, along, dense, one, whole] = step;
  for (int64_t j = 0; j < x.row_size; ++j)
    f(far[j * far_step + index[j * index_step] * along], near[j * near_step]);
}

// The first elements of a row that moves as a whole.
template <typename T>
T* far_row(const Indexed& x, const Indexed::Row& row) {
  return static_cast<T*>(x.far.data) + row.far +
         static_cast<const int64_t*>(x.index.data)[row.index] * x.dim_stride();
}

// Reads the elements of a row. False: up to one whose index is out of range.
template <typename T>
bool gather_elements(const Indexed& x, const Steps& step, const Indexed::Row& row) {
  const T* const far = static_cast<const T*>(x.far.data) + row.far;
  T* const near = static_cast<T*>(x.near.data) + row.near;
  const int64_t* const index = static_cast<const int64_t*>(x.index.data) + row.index;
  const int64_t n = x.row_size;
  const auto size = static_cast<uint64_t>(x.size_);
  if (step.are_dense) {
    for (int64_t j = 0; j < n; ++j) {
      if (static_cast<uint64_t>(index[j]) >= size) return false;
      near[j] = far[index[j]];
    }
    return true;
  }
  const auto [far_step, near_step, index_step, along, dense, one, whole] = step;
  for (int64_t j = 0; j < n; ++j) {
    const int64_t i = index[j * index_step];
    if (static_cast<uint64_t>(i) >= size) return false;
    near[j * near_step] = far[j * far_step + i * along];
  }
  return true;
}

// Rows of a table by a list of indices, as embeddings are read: of kBytes, or of `bytes` where that is
// 0. Rows lie anywhere in memory, so they are asked for before they are needed.
template <size_t kBytes>
void pick_rows(const Indexed& x, int64_t begin, int64_t end, size_t bytes) {
  constexpr int64_t kAhead = 8;
  constexpr size_t kLine = 64, kMost = 512;  // of a longer row the processor asks by itself
  if (kBytes != 0) bytes = kBytes;
  const auto size = static_cast<int64_t>(item_size(x.near.dtype));
  const auto* const index = static_cast<const int64_t*>(x.index.data);
  const auto* const from = static_cast<const char*>(x.far.data);
  char* const to = static_cast<char*>(x.near.data);
  const int64_t step = x.index.strides[0], row = x.dim_stride() * size,
                to_row = x.near.strides[0] * size;
  for (int64_t i = begin; i < end; ++i) {
    if (i + kAhead < end) {
      const char* const next = from + index[(i + kAhead) * step] * row;
      for (size_t at = 0; at < std::min(bytes, kMost); at += kLine) __builtin_prefetch(next + at);
    }
    const char* const here = from + index[i * step] * row;
    if constexpr (kBytes == 0) {
      copy_bytes(to + i * to_row, here, bytes);
    } else {
      std::memcpy(to + i * to_row, here, kBytes);
    }
  }
}
void pick_rows(const Indexed& x, int64_t begin, int64_t end) {
  const auto bytes = static_cast<size_t>(x.row_size * item_size(x.near.dtype));
  if (bytes == 16) return pick_rows<16>(x, begin, end, bytes);
  if (bytes == 32) return pick_rows<32>(x, begin, end, bytes);
  if (bytes == 64) return pick_rows<64>(x, begin, end, bytes);
  pick_rows<0>(x, begin, end, bytes);
}

// One element of each row of a matrix. False: up to one whose index is out of range.
template <typename T>
bool pick_elements(const Indexed& x, int64_t begin, int64_t end) {
  const auto* const index = static_cast<const int64_t*>(x.index.data);
  const T* const from = static_cast<const T*>(x.far.data);
  T* const to = static_cast<T*>(x.near.data);
  const int64_t step = x.index.strides[0], row = x.far.strides[0], to_row = x.near.strides[0],
                along = x.dim_stride();
  const auto size = static_cast<uint64_t>(x.far.sizes[x.dim]);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t at = index[i * step];
    if (static_cast<uint64_t>(at) >= size) return false;
    to[i * to_row] = from[i * row + at * along];
  }
  return true;
}

void launch_gather(const tn_call* call) {
  const tn_tensor& y = *call->outputs[0];
  const Indexed x("gather", *call->args[0].as.tensor, y, *call->args[2].as.tensor,
                  call->args[1].as.i);
  if (y.numel == 0) {
    return;
  }
  const bool rows = x.moves_rows();
  const Steps step(x);
  if (rows) x.check_values(call->host);
  if (rows && x.n_outer == 1) {
    parallel_for(call->host, 0, x.n_rows, x.grain(),
                 [&](int64_t begin, int64_t end) { pick_rows(x, begin, end); });
    return;
  }
  std::atomic<bool> bad = false;
  with_bits(y.dtype, [&](auto bits) {
    using T = decltype(bits);
    parallel_for(call->host, 0, x.n_rows, x.grain(), [&](int64_t begin, int64_t end) {
      if (!rows && x.n_outer == 1 && x.row_size == 1) {
        if (!pick_elements<T>(x, begin, end)) bad = true;
        return;
      }
      x.each_row(begin, end, [&](const Indexed::Row& row) {
        if (rows) {
          copy_bytes(static_cast<T*>(y.data) + row.near, far_row<T>(x, row),
                     static_cast<size_t>(x.row_size) * sizeof(T));
        } else if (!gather_elements<T>(x, step, row)) {
          bad = true;
        }
      });
    });
  });
  if (bad) x.check_values(call->host);  // says which
}

template <tn_dtype D>
void scatter_add(const tn_host* host, const Indexed& x, int64_t grain) {
  using T = typename Format<D>::Element;
  const Steps step(x);
  parallel_for(host, 0, x.n_rows, grain, [&](int64_t begin, int64_t end) {
    x.each_row(begin, end, [&](const Indexed::Row& row) {
      if (D == TN_FLOAT32 && x.moves_rows()) {
        char* const to = reinterpret_cast<char*>(far_row<T>(x, row));
        const Cell cells[] = {{to},
                              {reinterpret_cast<char*>(static_cast<T*>(x.near.data) + row.near)}};
        const Step add = {table().binary[TN_I_ADD][kF32][kVV], 0, 0, 1, 0};
        add.fn(cells, add, x.row_size);
        return;
      }
      each_element<T>(x, step, row, [](T& far, const T& near) {
        if constexpr (D == TN_BOOL) {
          far = far | near;
        } else {
          far = Format<D>::narrow(Add::of(Format<D>::widen(far), Format<D>::widen(near)));
        }
      });
    });
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
  const Steps step(x);
  if (call->args[3].as.i == 0) {
    with_bits(y.dtype, [&](auto bits) {
      using T = decltype(bits);
      parallel_for(call->host, 0, x.n_rows, grain, [&](int64_t begin, int64_t end) {
        x.each_row(begin, end, [&](const Indexed::Row& row) {
          each_element<T>(x, step, row, [](T& far, const T& near) { far = near; });
        });
      });
    });
    return;
  }
  dtype_table::visit(y.dtype,
                     [&]<typename Tag>(Tag) { scatter_add<Tag::dtype>(call->host, x, grain); });
}

// The register that elements are computed in where that is of their own type, else -1.
template <tn_dtype D>
constexpr int kRegister = D == TN_FLOAT32   ? int{kF32}
                          : D == TN_FLOAT64 ? int{kF64}
                          : D == TN_INT64   ? int{kI64}
                                            : -1;

// y = x, and at each place the largest or smallest of what index sends there, with that of x or
// without. A NaN is beyond every number.
template <tn_dtype D>
void scatter_extreme(const tn_host* host, const Indexed& x, int64_t grain, bool largest,
                     bool include_self) {
  using T = typename Format<D>::Element;
  const Steps step(x);
  parallel_for(host, 0, x.n_rows, grain, [&](int64_t begin, int64_t end) {
    // Any of those that meet takes the place of what does not count.
    if (!include_self) {
      x.each_row(begin, end, [&](const Indexed::Row& row) {
        each_element<T>(x, step, row, [](T& far, const T& near) { far = near; });
      });
    }
    x.each_row(begin, end, [&](const Indexed::Row& row) {
      if constexpr (kRegister<D> >= 0) {
        if (step.are_whole) {
          Cell cells[2];
          cells[0].p = reinterpret_cast<char*>(static_cast<T*>(x.near.data) + row.near);
          cells[1].p = reinterpret_cast<char*>(far_row<T>(x, row));
          const int opcode = largest ? TN_I_MAX : TN_I_MIN;
          const StepFn fold = table().binary[opcode][kRegister<D>][kVV];
          return fold(cells, {fold, 1, 0, 1, 0}, x.row_size);
        }
      }
      each_element<T>(x, step, row, [largest](T& far, const T& near) {
        const auto there = Format<D>::widen(far), here = Format<D>::widen(near);
        if (here != here || (largest ? here > there : here < there)) far = near;
      });
    });
  });
}

void launch_scatter_extreme(const tn_call* call) {
  const tn_tensor& y = *call->outputs[0];
  run_copy(call->host, y, *call->args[0].as.tensor);
  const Indexed x("scatter_reduce", y, *call->args[3].as.tensor, *call->args[2].as.tensor,
                  call->args[1].as.i);
  if (x.index.numel == 0) return;
  x.check_values(call->host);
  const int64_t grain = x.along_last() ? x.grain() : x.n_rows;
  dtype_table::visit(y.dtype, [&]<typename Tag>(Tag) {
    if constexpr (Tag::dtype != TN_BOOL) {
      scatter_extreme<Tag::dtype>(call->host, x, grain, call->args[4].as.i != 0,
                                  call->args[5].as.i != 0);
    }
  });
}

bool supports_scatter_extreme(const tn_call* call, Refusal why) {
  const tn_tensor& x = *call->args[0].as.tensor;
  if (call->args[2].as.tensor->dtype != TN_INT64) return why("takes int64 as index");
  return (x.ndim > 0 && x.dtype != TN_BOOL) || why("takes numbers of at least 1 dimension");
}

constexpr int64_t kAhead = 16;  // rows that are asked for before they are added: the table is large

template <typename T>
void sum_bags(const tn_call* call) {
  const tn_tensor& weight = *call->args[0].as.tensor;
  const tn_tensor& index = *call->args[1].as.tensor;
  const tn_tensor& offsets = *call->args[2].as.tensor;
  const tn_tensor& y = *call->outputs[0];
  const int64_t n = index.numel, width = weight.sizes[1], n_bags = offsets.numel;
  const auto at = [&](int64_t i) {
    return static_cast<const int64_t*>(index.data)[i * index.strides[0]];
  };
  const auto row_of = [&](int64_t i) {
    return static_cast<const T*>(weight.data) + i * weight.strides[0];
  };
  const auto begin_of = [&](int64_t bag) {
    return bag < n_bags ? static_cast<const int64_t*>(offsets.data)[bag * offsets.strides[0]] : n;
  };
  for (int64_t bag = 0, last = 0; bag < n_bags; last = begin_of(bag++)) {
    const int64_t begin = begin_of(bag);
    if (begin >= last && begin <= (bag == 0 ? 0 : n)) continue;
    check(error(
        call->host, TN_INVALID_ARGUMENT,
        "_bag_sums: offsets[%lld] is %lld: offsets begin with 0, do not fall, and index has "
        "%lld (cpu)",
        static_cast<long long>(bag), static_cast<long long>(begin), static_cast<long long>(n)));
  }
  for (int64_t i = 0; i < n; ++i) {
    if (static_cast<uint64_t>(at(i)) < static_cast<uint64_t>(weight.sizes[0])) continue;
    check(error(call->host, TN_INVALID_ARGUMENT,
                "embedding_bag: index %lld (element %lld of index) is out of range for a table of "
                "%lld rows (cpu)",
                static_cast<long long>(at(i)), static_cast<long long>(i),
                static_cast<long long>(weight.sizes[0])));
  }
  const int64_t grain = 1 + kIndexedPiece / (1 + n / n_bags * width);
  parallel_for(call->host, 0, n_bags, grain, [&](int64_t first, int64_t last) {
    for (int64_t bag = first; bag < last; ++bag) {
      T* const to = static_cast<T*>(y.data) + bag * y.strides[0];
      std::fill_n(to, width, T{0});
      for (int64_t i = begin_of(bag), end = begin_of(bag + 1); i < end; ++i) {
        if (i + kAhead < n) ask_for_row<false>(row_of(at(i + kAhead)), width);
        add_row(to, row_of(at(i)), width, T{1});
      }
    }
  });
}
void launch_bag_sums(const tn_call* call) {
  return call->outputs[0]->dtype == TN_FLOAT64 ? sum_bags<double>(call) : sum_bags<float>(call);
}
bool supports_bag_sums(const tn_call* call, Refusal why) {
  const tn_tensor& weight = *call->args[0].as.tensor;
  if (weight.dtype != TN_FLOAT32 && weight.dtype != TN_FLOAT64)
    return why("takes float32 and float64");
  if (call->args[1].as.tensor->dtype != TN_INT64 || call->args[2].as.tensor->dtype != TN_INT64)
    return why("takes int64 as index and offsets");
  if (weight.numel == 0 || call->args[2].as.tensor->numel == 0)
    return why("takes no empty tensors");
  return weight.strides[1] == 1 || why("takes rows whose elements lie behind each other");
}

// f(offset, index) for the rows of x along its last dimension, in row-major order; of the index the
// last dimension is left out.
template <typename F>
void each_line(const tn_tensor& x, const F& f) {
  const int32_t outer = x.ndim - 1;
  walk<1>(outer, x.sizes, {x.strides}, 0, x.numel / x.sizes[outer],
          [&](const std::array<int64_t, 1>& at, const int64_t* index) { f(at[0], index); });
}

template <tn_dtype D>
struct Nonzero {
  using T = typename Format<D>::Element;

  static int64_t count(const tn_tensor& x) {
    const T* const data = static_cast<const T*>(x.data);
    if (x.ndim == 0) return Format<D>::widen(*data) != 0 ? 1 : 0;
    const int64_t n = x.sizes[x.ndim - 1], stride = x.strides[x.ndim - 1];
    int64_t count = 0;
    each_line(x, [&](int64_t offset, const int64_t*) {
      for (int64_t j = 0; j < n; ++j) count += Format<D>::widen(data[offset + j * stride]) != 0;
    });
    return count;
  }

  // Writes the indices without a branch that nobody can foresee: each takes the place of the one
  // before, unless that was of an element that is not zero. At the last one there is no place left.
  static void write(const tn_tensor& x, int64_t count, int64_t* out) {
    const T* const data = static_cast<const T*>(x.data);
    const int32_t outer = x.ndim - 1;
    const int64_t n = x.sizes[outer], stride = x.strides[outer];
    int64_t found = 0;
    each_line(x, [&](int64_t offset, const int64_t* row) {
      for (int64_t j = 0; j < n && found < count; ++j) {
        int64_t* const to = out + found * x.ndim;
        for (int32_t d = 0; d < outer; ++d) to[d] = row[d];
        to[outer] = j;
        found += Format<D>::widen(data[offset + j * stride]) != 0;
      }
    });
  }
};

void launch_nonzero(const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  dtype_table::visit(x.dtype, [&]<typename Tag>(Tag) {
    const int64_t count = x.numel == 0 ? 0 : Nonzero<Tag::dtype>::count(x);
    const int64_t sizes[] = {count, x.ndim};
    check(call->host->set_output(call, 0, 2, sizes));
    if (count == 0 || x.ndim == 0) return;
    Nonzero<Tag::dtype>::write(x, count, static_cast<int64_t*>(call->outputs[0]->data));
  });
}

}  // namespace

void add_index() {
  kernel(TN_PRIM_GATHER, "cpu", {.traits = kUsualPromises}, fn<launch_gather>);
  kernel(TN_PRIM_SCATTER, "cpu", {.traits = kUsualPromises | TN_KERNEL_STRIDED_OUTPUT},
         fn<launch_scatter>);
  kernel("_scatter_extreme", "cpu", {.traits = kUsualPromises}, fn<launch_scatter_extreme>)
      .supports(fn<supports_scatter_extreme>);
  kernel("_bag_sums", "cpu", {.traits = kUsualPromises}, fn<launch_bag_sums>)
      .supports(fn<supports_bag_sums>);
  kernel(TN_PRIM_NONZERO, "cpu", {.traits = TN_KERNEL_DETERMINISTIC}, fn<launch_nonzero>);
}

}  // namespace tenon::cpu_backend
