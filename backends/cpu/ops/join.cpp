// The pair of cat: rows of the result after each other, each of a piece of every tensor. Copies into
// slices of the result, which the decomposition makes, come by each of its pages once a tensor.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "copy_bytes.h"
#include "cpu.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kPieceBytes = 1 << 18;  // of a task
constexpr int64_t kShort = 32;            // bytes; such a piece is copied before a call begins

// A tensor [0] among others is passed over.
bool counts(const tn_tensor& x) { return x.ndim != 1 || x.numel > 0; }

struct Piece {
  const char* from;
  int64_t bytes;  // of each row
};

void launch(const tn_call* call) {
  const tn_value& xs = call->args[0];
  const tn_tensor& y = *call->outputs[0];
  if (y.numel == 0) return;
  const auto d = static_cast<int32_t>(call->args[1].as.i + (call->args[1].as.i < 0 ? y.ndim : 0));
  const int64_t rows = product(y.sizes, d);
  const int64_t entry = product(y.sizes + d + 1, y.ndim - d - 1) * item_size(y.dtype);
  std::vector<Piece> pieces;
  for (uint32_t i = 0; i < xs.count; ++i) {
    const tn_tensor& x = *xs.as.tensors[i];
    if (counts(x)) pieces.push_back({static_cast<const char*>(x.data), x.sizes[d] * entry});
  }
  char* const to = static_cast<char*>(y.data);
  if (rows == 1) {
    char* next = to;
    for (const Piece& piece : pieces) {
      parallel_for(call->host, 0, piece.bytes, kPieceBytes, [&](int64_t begin, int64_t end) {
        copy_bytes(next + begin, piece.from + begin, static_cast<size_t>(end - begin));
      });
      next += piece.bytes;
    }
    return;
  }
  const int64_t row_bytes = y.sizes[d] * entry;
  parallel_for(call->host, 0, rows, 1 + kPieceBytes / row_bytes, [&](int64_t begin, int64_t end) {
    char* next = to + begin * row_bytes;
    for (int64_t row = begin; row < end; ++row) {
      for (const Piece& piece : pieces) {
        copy_bytes(next, piece.from + row * piece.bytes, static_cast<size_t>(piece.bytes));
        next += piece.bytes;
      }
    }
  });
}

bool supports(const tn_call* call, Refusal why) {
  const tn_value& xs = call->args[0];
  for (uint32_t i = 0; i < xs.count; ++i) {
    const tn_tensor& x = *xs.as.tensors[i];
    if (x.dtype != xs.as.tensors[0]->dtype) return why("takes tensors of one dtype");
    if (!counts(x)) continue;
    if ((x.flags & TN_TENSOR_CONTIGUOUS) == 0) return why("takes row-major tensors");
    const int64_t dim = call->args[1].as.i;
    const auto d = static_cast<int32_t>(dim < 0 ? dim + x.ndim : dim);
    if (d < 0 || d >= x.ndim) return why("takes a dimension that is there");
    const int64_t bytes = product(x.sizes + d, x.ndim - d) * item_size(x.dtype);
    if (d > 0 && bytes < kShort) {
      return why("takes rows of %lld bytes or more of each tensor", static_cast<long long>(kShort));
    }
  }
  return true;
}

}  // namespace

void add_join() {
  kernel("cat", "cpu", {.traits = kUsualPromises}, fn<launch>).supports(fn<supports>);
}

}  // namespace tenon::cpu_backend
