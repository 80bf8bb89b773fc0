// Running sums and products along a dimension.
#include <algorithm>
#include <bit>

#include "kernel.h"
#include "program_text.h"

namespace cuda {
namespace {

constexpr int64_t kThreads = 256;
constexpr int64_t kGroup = 8, kWarp = 32;  // as in kernels/scan.cuh
constexpr int64_t kFewColumns = 16;

struct Shape {
  bool in_columns;  // a thread takes a row
  int64_t lanes;    // else, so many do
  int64_t pieces, piece;
  Grid grid;
};

int64_t power_of_two(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n)));
}

// Do the values of neighbouring rows lie behind each other, and not those of a row?
bool lies_in_columns(const Rows& rows) {
  const int32_t last = rows.dims.ndim - 1;
  return last >= 0 && rows.strides[1] != 1 && rows.dims.strides[1][last] == 1 &&
         rows.dims.sizes[last] >= kFewColumns;
}

// Few long rows are cut, so that more blocks than these work on them: `busy`, where they have as
// much.
Shape shape_of(const Rows& rows, int64_t busy) {
  const int64_t n = rows.n, n_rows = rows.dims.n;
  Shape shape = {lies_in_columns(rows), 1, 1, n, {}};
  if (!shape.in_columns) shape.lanes = std::min(power_of_two((n + kGroup - 1) / kGroup), kThreads);
  const int64_t tile = shape.in_columns ? 64 : kThreads * kGroup;
  const int64_t blocks = shape.in_columns ? (n_rows + kThreads - 1) / kThreads : n_rows;
  const int64_t wanted = std::clamp<int64_t>(std::min(n / tile, busy / blocks), 1, kThreads);
  shape.piece = (n + wanted - 1) / wanted;
  if (wanted > 1) shape.piece = (shape.piece + kGroup - 1) / kGroup * kGroup;
  shape.pieces = (n + shape.piece - 1) / shape.piece;
  if (shape.in_columns) {
    shape.grid = grid_for(n_rows);
  } else {  // whole warps
    const int64_t threads =
        std::clamp(power_of_two(n_rows) * shape.lanes, std::max(shape.lanes, kWarp), kThreads);
    const int64_t of_block = threads / shape.lanes;
    shape.grid = {std::min<int64_t>((n_rows + of_block - 1) / of_block, 65535), 1,
                  static_cast<int32_t>(threads)};
  }
  shape.grid.pieces = shape.pieces;
  return shape;
}

}  // namespace

tn_status* scan(const tn_call* call, const Stream& stream) {
  const tn_tensor* x = call->args[1].as.tensor;
  const tn_tensor* y = call->outputs[0];
  const tn_tensor* const both[] = {y, x};
  const Rows rows = rows_along(call->args[2].as.i, x, both, 2);
  const bool is_product = call->args[0].as.i == TN_REDUCE_PROD;
  static constinit Texts texts;
  Text& text =
      texts.get(TextKey(x->dtype, is_product, rows.dims.max_dims(), rows.dims.is_wide()), [&] {
        const char* value = x->dtype == TN_BOOL ? "long long" : register_name(x->dtype);
        return std::string("#include \"base.cuh\"\nusing Element = ") + element_name(x->dtype) +
               ";\nusing Value = " + value +
               ";\nconstexpr bool is_product = " + (is_product ? "true" : "false") +
               ";\nusing L = " + loop_type(rows.dims) + ";\n#include \"scan.cuh\"\n";
      });
  int64_t busy = 0;
  TN_CUDA_TRY(find_busy_blocks(stream, &busy));
  const Shape shape = shape_of(rows, busy);
  const bool is_cut = shape.pieces > 1;
  void* totals = nullptr;
  if (is_cut)
    TN_CUDA_TRY(
        host->workspace(call, static_cast<uint64_t>(rows.dims.n * shape.pieces) * 8, &totals));
  Parameters parameters;
  add_loop(parameters, rows.dims);
  for (const int64_t value : {rows.n, rows.strides[0], rows.strides[1], call->args[3].as.i,
                              shape.pieces, shape.piece, shape.lanes})
    parameters.add(value);
  parameters.add(totals);
  const char* const fold = shape.in_columns ? "fold_columns" : "fold_pieces";
  if (is_cut) TN_CUDA_TRY(launch(stream, text, fold, shape.grid, parameters));
  return launch(stream, text, shape.in_columns ? "scan_columns" : "scan", shape.grid, parameters);
}

}  // namespace cuda
