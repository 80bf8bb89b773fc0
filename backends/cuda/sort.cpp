// Sorting along a dimension: tiles in shared memory, and then pairs of sorted runs, which go to and
// fro between the outputs and the workspace so that the last lies in the outputs.
#include <algorithm>
#include <bit>

#include "kernel.h"
#include "program_text.h"
#include "sort.h"

namespace cuda {
namespace {

constexpr int64_t kTile = 1024, kGroup = 8;  // as in kernels/sort.cuh
constexpr int64_t kBlocks =
    65536;  // more than a GPU has at once; each sorts one tile after the other

struct Sorting {
  const Stream& stream;
  const tn_tensor* x;
  int64_t dim, descending;

  // One kernel, from the values and indices `from` to `to`.
  tn_status* run(const char* kernel, const tn_tensor* const (&to)[2],
                 const tn_tensor* const (&from)[2], int64_t length) const {
    const tn_tensor* const all[] = {to[0], to[1], from[0], from[1]};
    const Rows rows = rows_along(dim, x, all, 4);
    const bool is_merge = std::strcmp(kernel, "merge_runs") == 0;
    const int64_t step = is_merge ? 2 * length : length;
    const int64_t n_runs = (rows.n + step - 1) / step;
    const std::string text = std::string("#include \"base.cuh\"\nusing Element = ") +
                             element_name(x->dtype) + ";\nusing L = " + loop_type(rows.dims) +
                             ";\n#include \"sort.cuh\"\n";
    Parameters parameters;
    add_loop(parameters, rows.dims);
    for (const int64_t stride : rows.strides) parameters.add(stride);
    for (const int64_t value : {rows.n, length, n_runs, descending}) parameters.add(value);
    Grid grid = grid_for(rows.dims.n * ((rows.n + kGroup - 1) / kGroup));
    if (!is_merge)
      grid = {std::min(rows.dims.n * n_runs, kBlocks), 1,
              static_cast<int32_t>(std::clamp<int64_t>(length / 2, 1, 256))};
    return launch(stream, text, kernel, grid, parameters);
  }
};

}  // namespace

tn_status* make_sorted(const tn_call* call, const tn_tensor* x, int64_t dim, Sorted* buffer) {
  int64_t step = x->sizes[dim];
  for (int32_t d = x->ndim - 1; d >= 0; --d) {
    buffer->strides[d] = d == dim ? 1 : step;
    if (d != dim) step *= x->sizes[d];
  }
  void* memory = nullptr;
  const auto n = static_cast<uint64_t>(x->numel);
  TN_CUDA_TRY(host->workspace(call, n * (8 + item_size(x->dtype)), &memory));
  buffer->values = buffer->indices = *x;
  buffer->values.strides = buffer->indices.strides = buffer->strides;
  buffer->indices.data = memory;
  buffer->values.data = static_cast<char*>(memory) + n * 8;
  return nullptr;
}

tn_status* sort_rows(const tn_call* call, const Stream& stream, const tn_tensor* x, int64_t dim,
                     bool descending, const tn_tensor* values, const tn_tensor* indices) {
  const Sorting sorting = {stream, x, dim, descending};
  const int64_t n = x->ndim > 0 ? x->sizes[dim] : 1;
  const auto tile = std::min(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n))), kTile);
  int32_t passes = 0;
  for (int64_t run = tile; run < n; run *= 2) ++passes;
  Sorted buffer;
  if (passes > 0) TN_CUDA_TRY(make_sorted(call, x, dim, &buffer));
  const tn_tensor* const outputs[] = {values, indices};
  const tn_tensor* const scratch[] = {&buffer.values, &buffer.indices};
  const tn_tensor* const input[] = {x, x};  // has no indices yet
  bool in_scratch = passes % 2 == 1;
  TN_CUDA_TRY(sorting.run("sort_tile", in_scratch ? scratch : outputs, input, tile));
  for (int64_t run = tile; run < n; run *= 2, in_scratch = !in_scratch) {
    TN_CUDA_TRY(sorting.run("merge_runs", in_scratch ? outputs : scratch,
                            in_scratch ? scratch : outputs, run));
  }
  return nullptr;
}

tn_status* sort(const tn_call* call, const Stream& stream) {
  return sort_rows(call, stream, call->args[0].as.tensor, call->args[1].as.i,
                   call->args[2].as.i != 0, call->outputs[0], call->outputs[1]);
}

}  // namespace cuda
