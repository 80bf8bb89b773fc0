// add_rows_(x, index, rows, scale): the step of SGD with the row-sparse gradient of a large table.
#include <algorithm>
#include <cstdint>

#include "cpu.h"
#include "ops/add_row.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kPieces = 8;
constexpr int64_t kSmall = 65536;  // elements that are one piece
constexpr int kAhead = 64;         // rows that are looked up before they are added

struct Table {
  const tn_tensor& x;
  const int64_t* index;
  int64_t n, size, row_size;

  explicit Table(const tn_call* call)
      : x(*call->args[0].as.tensor),
        index(static_cast<const int64_t*>(call->args[1].as.tensor->data)),
        n(call->args[1].as.tensor->numel),
        size(x.sizes[0]),
        row_size(product(x.sizes + 1, x.ndim - 1)) {}

  void check_index(const tn_host* host) const {
    const int64_t* bad = std::find_if(index, index + n, [&](int64_t i) {
      return static_cast<uint64_t>(i) >= static_cast<uint64_t>(size);
    });
    if (bad == index + n) {
      return;
    }
    check(error(host, TN_INVALID_ARGUMENT,
                "add_rows_: index %lld (element %lld of index) is out of range for dimension 0 of "
                "size %lld",
                static_cast<long long>(*bad), static_cast<long long>(bad - index),
                static_cast<long long>(size)));
  }
};

// The rows of the table whose numbers leave `piece` as remainder. Rows that meet are added in their
// order, whoever adds them. The table is large: its rows are asked for ahead.
template <typename T>
void add_piece(const Table& t, const T* rows, T scale, int64_t piece, int64_t n_pieces) {
  T* const x = static_cast<T*>(t.x.data);
  int64_t places[kAhead];
  for (int64_t i = 0; i < t.n;) {
    int n = 0;
    for (; i < t.n && n < kAhead; ++i) {
      if (n_pieces > 1 && t.index[i] % n_pieces != piece) {
        continue;
      }
      places[n++] = i;
      ask_for_row<true>(x + t.index[i] * t.x.strides[0], t.row_size);
    }
    for (int k = 0; k < n; ++k) {
      add_row(x + t.index[places[k]] * t.x.strides[0], rows + places[k] * t.row_size, t.row_size,
              scale);
    }
  }
}

void launch_add_rows(const tn_call* call) {
  const Table t(call);
  t.check_index(call->host);
  const double scale = Call(call).arg<double>(3);
  const int64_t n_pieces = t.n * t.row_size > kSmall ? kPieces : 1;
  const void* const rows = call->args[2].as.tensor->data;
  parallel_for(call->host, 0, n_pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      if (t.x.dtype == TN_FLOAT64) {
        add_piece(t, static_cast<const double*>(rows), scale, piece, n_pieces);
      } else {
        add_piece(t, static_cast<const float*>(rows), static_cast<float>(scale), piece, n_pieces);
      }
    }
  });
}

bool supports_add_rows(const tn_call* call, Refusal why) {
  const tn_tensor &x = *call->args[0].as.tensor, &index = *call->args[1].as.tensor,
                  &rows = *call->args[2].as.tensor;
  const uint32_t dense = TN_TENSOR_CONTIGUOUS;
  if (x.ndim == 0 || rows.ndim != x.ndim || index.ndim != 1 || index.dtype != TN_INT64 ||
      rows.sizes[0] != index.numel || !std::equal(x.sizes + 1, x.sizes + x.ndim, rows.sizes + 1)) {
    return why("takes int64 [n] and rows [n, ...] of x's sizes");
  }
  if (x.dtype == TN_INT64 || rows.dtype != x.dtype ||
      (x.flags & rows.flags & index.flags & dense) == 0) {
    return why("takes row-major tensors, x and rows of one float dtype");
  }
  return x.storage != rows.storage || why("x and rows share memory");
}

}  // namespace

void add_add_rows() {
  kernel("add_rows_", "cpu", {.dtypes = float32 | float64 | int64, .traits = kUsualPromises},
         fn<launch_add_rows>)
      .supports(fn<supports_add_rows>);
}

}  // namespace tenon::cpu_backend
