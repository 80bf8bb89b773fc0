// Walks over an index for each element, of one dimension of a tensor, for gather and scatter.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "cpu.h"
#include "ops/walk.h"
#include "tenon/dtype.hpp"

namespace tenon::cpu_backend {

inline constexpr int64_t kIndexedPiece = 16384;  // elements of a task

// What gather and scatter have in common: `far` is indexed along `dim`, `near` has the index's
// sizes. A row is what the last dimensions hold that move as a whole, or the last dimension alone.
struct Indexed {
  const char* name;
  const tn_tensor& far;
  const tn_tensor& near;
  const tn_tensor& index;
  int32_t
      ndim;  // without last ones of size 1; a tensor without dimensions counts as one of size one
  int32_t dim;
  int64_t size_;        // of far along dim
  int32_t n_outer = 0;  // dimensions in front of those of a row
  int64_t row_size = 1, n_rows = 0;

  Indexed(const char* n, const tn_tensor& f, const tn_tensor& s, const tn_tensor& i, int64_t d)
      : name(n),
        far(f),
        near(s),
        index(i),
        ndim(i.ndim),
        dim(static_cast<int32_t>(d < 0 ? d + i.ndim : d)) {
    // Behind `dim`, those have nothing to move as a whole.
    while (ndim - 1 > dim && index.sizes[ndim - 1] == 1) --ndim;
    size_ = ndim > 0 ? far.sizes[dim] : 1;
    if (ndim > 0) {
      n_outer = ndim - 1;
      row_size = index.sizes[n_outer];
      while (moves_rows() && n_outer - 1 > dim && continues_row(n_outer - 1))
        row_size *= index.sizes[--n_outer];
    }
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
  int64_t grain() const { return 1 + kIndexedPiece / (row_size > 0 ? row_size : 1); }

  struct Row {
    int64_t far, near, index;  // offsets of its first element; far's without its dimension `dim`
  };

  // f(row) for the rows from begin to end, in row-major order.
  template <typename F>
  void each_row(int64_t begin, int64_t end, const F& f) const {
    int64_t far_strides[TN_MAX_RANK];
    for (int32_t d = 0; d < n_outer; ++d) far_strides[d] = d == dim ? 0 : far.strides[d];
    walk<3>(n_outer, index.sizes, {far_strides, near.strides, index.strides}, begin, end,
            [&](const std::array<int64_t, 3>& at, const int64_t*) {
              f(Row{at[0], at[1], at[2]});
            });
  }

  // Finds an index that is out of range, if there is one. What an expanded index repeats is looked
  // at once.
  void check_values(const tn_host* host) const {
    int64_t sizes[TN_MAX_RANK];
    tn_tensor once = index;
    once.sizes = sizes;
    once.numel = 1;
    bool is_dense = true;
    for (int32_t d = index.ndim - 1; d >= 0; --d) {
      sizes[d] = index.strides[d] == 0 ? 1 : index.sizes[d];
      is_dense = is_dense && (sizes[d] == 1 || index.strides[d] == once.numel);
      once.numel *= sizes[d];
    }
    const Indexed all(name, far, near, once, dim);
    const auto* const indices = static_cast<const int64_t*>(index.data);
    std::atomic<bool> bad = false;
    if (is_dense) {
      parallel_for(host, 0, once.numel, kIndexedPiece, [&](int64_t begin, int64_t end) {
        if (!all.are_in_range(indices + begin, end - begin, 1)) bad = true;
      });
    } else {
      parallel_for(host, 0, all.n_rows, all.grain(), [&](int64_t begin, int64_t end) {
        all.each_row(begin, end, [&](const Row& row) {
          if (!all.are_in_range(indices + row.index, all.row_size, all.last_stride(index)))
            bad = true;
        });
      });
    }
    if (bad) all.refuse(host);
  }

 private:
  // Whether the elements of dimension d lie behind those of the row, with the same index.
  bool continues_row(int32_t d) const {
    return index.strides[d] == 0 && far.strides[d] == row_size && near.strides[d] == row_size;
  }

  // The highest bit of i or of last - i says that i is below 0 or above last, without a branch.
  bool are_in_range(const int64_t* at, int64_t n, int64_t stride) const {
    const uint64_t last = static_cast<uint64_t>(size_) - 1;
    uint64_t outside = 0;
    const auto look = [&](int64_t i) {
      outside |= static_cast<uint64_t>(i) | (last - static_cast<uint64_t>(i));
    };
    if (stride == 1) {
      for (int64_t j = 0; j < n; ++j) look(at[j]);
    } else {
      for (int64_t j = 0; j < n; ++j) look(at[j * stride]);
    }
    return outside >> 63 == 0;
  }

  // Names the first index that is out of range, and where among the indices it is.
  void refuse(const tn_host* host) const {
    int64_t element = -1, value = 0, i = 0;
    each_row(0, n_rows, [&](const Row& row) {
      const int64_t* const at = static_cast<const int64_t*>(index.data) + row.index;
      for (int64_t j = 0; j < row_size && element < 0; ++j) {
        value = at[j * last_stride(index)];
        if (value < 0 || value >= size_) element = i * row_size + j;
      }
      ++i;
    });
    check(error(host, TN_INVALID_ARGUMENT,
                "%s: index %lld (element %lld of index) is out of range for dimension %d of size "
                "%lld (%s, cpu)",
                name, static_cast<long long>(value), static_cast<long long>(element), dim,
                static_cast<long long>(size_), Dtype{far.dtype}.name()));
  }
};

// Along a row that does not move as a whole: of `far` that of what the index counts, too.
struct Steps {
  int64_t far, near, index, along;
  bool are_dense;  // the last dimension is the one that is indexed, and lies dense everywhere
  bool are_one;    // the same, and of near it is one element for all, as where things are counted
  bool are_whole;  // a row moves as a whole

  explicit Steps(const Indexed& x)
      : far(x.along_last() ? 0 : x.last_stride(x.far)),
        near(x.last_stride(x.near)),
        index(x.last_stride(x.index)),
        along(x.dim_stride()),
        are_dense(near == 1 && index == 1 && along == 1 && far == 0),
        are_one(near == 0 && index == 1 && along == 1 && far == 0),
        are_whole(x.moves_rows()) {}
};

}  // namespace tenon::cpu_backend
