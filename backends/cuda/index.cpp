// gather and scatter: the loop is over the index tensor, and the indexed side's stride along its
// dimension is left to the index.
#include "kernel.h"
#include "number.h"
#include "program_text.h"
#include "sort.h"

namespace cuda {
namespace {

enum class Indexed { kGather, kScatter, kScatterAdd };

// How many bytes move at once: where one index stands for a whole dense row, as in an embedding, up to
// `most`, and sizes and strides then count such pieces. `stride` is that along the indexed dimension.
int32_t widen_moves(Dims* dims, int32_t item, int32_t most, int64_t* stride) {
  const int32_t last = dims->ndim - 1;
  if (last < 0 || dims->strides[1][last] != 0) return item;
  for (int32_t bytes = most; bytes > item; bytes /= 2) {
    const int64_t n = bytes / item;
    bool fits = dims->sizes[last] % n == 0 && *stride % n == 0;
    for (const int32_t k : {0, 2}) {
      fits = fits && dims->strides[k][last] == 1 &&
             reinterpret_cast<uint64_t>(dims->data[k]) % static_cast<uint64_t>(bytes) == 0;
      for (int32_t d = 0; d < last; ++d) fits = fits && dims->strides[k][d] % n == 0;
    }
    if (!fits) continue;
    dims->sizes[last] /= n, dims->n /= n, *stride /= n;
    for (const int32_t k : {0, 2}) {
      for (int32_t d = 0; d < last; ++d) dims->strides[k][d] /= n;
    }
    return bytes;
  }
  return item;
}

// An element that is moved and not looked at.
const char* moved_name(int32_t bytes) {
  switch (bytes) {
    case 1:
      return "unsigned char";
    case 2:
      return "unsigned short";
    case 4:
      return "unsigned";
    case 8:
      return "unsigned long long";
    default:
      return "Pack<unsigned, 4>";
  }
}

// `picked` is the side that is indexed, and `other` has an element for each index.
tn_status* run(const Stream& stream, Indexed which, const tn_tensor* index, int64_t dim,
               const tn_tensor* picked, const tn_tensor* other) {
  const bool is_gather = which == Indexed::kGather;
  int64_t strides[TN_MAX_RANK];
  std::copy(picked->strides, picked->strides + picked->ndim, strides);
  int64_t stride = picked->ndim > 0 ? std::exchange(strides[dim], 0) : 0;
  const Side without_dim = {picked->data, strides}, elements = {other->data, other->strides};
  const Side sides[] = {is_gather ? elements : without_dim,
                        {index->data, index->strides},
                        is_gather ? without_dim : elements};
  Dims dims = merged(index->ndim, index->sizes, sides, 3);
  const bool is_add = which == Indexed::kScatterAdd;
  int32_t bytes = static_cast<int32_t>(item_size(picked->dtype));
  // What is set may be set twice, and so at once: 8 bytes are the most that are.
  if (!is_add) bytes = widen_moves(&dims, bytes, is_gather ? 16 : 8, &stride);
  static constinit Texts texts;
  Text& text = texts.get(
      TextKey(which, is_add ? picked->dtype : bytes, dims.max_dims(), dims.is_wide()), [&] {
        const char* const kind = is_gather ? "GATHER" : is_add ? "SCATTER_ADD" : "SCATTER";
        return std::string("#define ") + kind + "\n#include \"base.cuh\"\nusing Element = " +
               (is_add ? element_name(picked->dtype) : moved_name(bytes)) +
               ";\nusing L = " + loop_type(dims) + ";\n#include \"index.cuh\"\n";
      });
  Parameters parameters;
  add_loop(parameters, dims);
  parameters.add(stream.place->fault);
  parameters.add(dim);
  parameters.add(picked->ndim > 0 ? picked->sizes[dim] : int64_t{1});
  parameters.add(stride);
  const char* kernel = is_gather ? "gather" : is_add ? "scatter_add" : "scatter";
  return launch(stream, text, kernel, grid_for(dims.n), parameters);
}

// ---- Sums of floats, whose bits depend on the order: by runs of equal indices

// An index as it differs: of size 1 where it is repeated along another dimension, as that of an
// embedding's gradient is.
struct Distinct {
  tn_tensor index;
  int64_t sizes[TN_MAX_RANK];

  Distinct(const tn_tensor& from, int64_t dim) : index(from) {
    index.sizes = sizes;
    index.numel = 1;
    for (int32_t d = 0; d < from.ndim; ++d) {
      sizes[d] = d != dim && from.strides[d] == 0 ? 1 : from.sizes[d];
      index.numel *= sizes[d];
    }
  }
};

tn_status* scatter_runs(const tn_call* call, const Stream& stream, const tn_tensor* index,
                        int64_t dim, const tn_tensor* y, const tn_tensor* src,
                        const Number& scale) {
  const Distinct distinct(*index, dim);
  Sorted sorted;
  TN_CUDA_TRY(make_sorted(call, &distinct.index, dim, &sorted));
  TN_CUDA_TRY(
      sort_rows(call, stream, &distinct.index, dim, false, &sorted.values, &sorted.indices));
  for (int32_t d = 0; d < index->ndim; ++d) {
    if (distinct.sizes[d] != index->sizes[d]) sorted.strides[d] = 0;
  }
  const tn_tensor* const all[] = {y, src, &sorted.values, &sorted.indices};
  const Rows rows = rows_along(dim, index, all, 4);
  static constinit Texts texts;
  Text& text = texts.get(TextKey(y->dtype, rows.dims.max_dims(), rows.dims.is_wide()), [&] {
    return std::string("#define SCATTER_RUNS\n#include \"base.cuh\"\nusing Element = ") +
           element_name(y->dtype) + ";\nusing L = " + loop_type(rows.dims) +
           ";\n#include \"index.cuh\"\n";
  });
  constexpr int64_t kPiece = 32;  // as in kernels/index.cuh
  const int64_t n_pieces = (rows.n + kPiece - 1) / kPiece, n_threads = rows.dims.n * n_pieces;
  void* partial = nullptr;
  if (n_pieces > 1)
    TN_CUDA_TRY(host->workspace(call, static_cast<uint64_t>(n_threads) * 16, &partial));
  Parameters parameters;
  add_loop(parameters, rows.dims);
  for (const int64_t stride : rows.strides) parameters.add(stride);
  parameters.add(rows.n);
  parameters.add(n_pieces);
  parameters.add(partial);
  parameters.add(stream.place->fault);
  for (const int64_t value : {dim, y->sizes[dim], y->strides[dim]}) parameters.add(value);
  add_number(parameters, scale);
  TN_CUDA_TRY(launch(stream, text, "add_pieces", grid_for(n_threads), parameters));
  if (n_pieces == 1) return nullptr;
  return launch(stream, text, "join_pieces", grid_for(n_threads - rows.dims.n), parameters);
}

// Several indices of a row may be equal, and then the order of additions counts.
bool needs_order(const tn_tensor* index, int64_t dim, const tn_tensor* y) {
  const bool is_float = (TN_DTYPE_BIT(y->dtype) & tenon::backend::kFloats) != 0;
  return is_float && index->ndim > 0 && index->sizes[dim] > 1;
}

}  // namespace

tn_status* gather(const tn_call* call, const Stream& stream) {
  const tn_value* args = call->args;
  return run(stream, Indexed::kGather, args[2].as.tensor, args[1].as.i, args[0].as.tensor,
             call->outputs[0]);
}

tn_status* scatter(const tn_call* call, const Stream& stream) {
  const tn_value* args = call->args;
  const tn_tensor *index = args[0].as.tensor, *y = call->outputs[0];
  const bool adds = args[3].as.i != 0;
  if (adds && needs_order(index, args[1].as.i, y))
    return scatter_runs(call, stream, index, args[1].as.i, y, args[2].as.tensor, {1, nullptr, 0});
  const Indexed which = adds ? Indexed::kScatterAdd : Indexed::kScatter;
  return run(stream, which, index, args[1].as.i, y, args[2].as.tensor);
}

// ---- add_rows_(x, index, rows, scale), in place

namespace {

tn_status* add_rows(const tn_call* call, const Stream& stream) {
  const tn_value* args = call->args;
  const tn_tensor *x = args[0].as.tensor, *rows = args[2].as.tensor;
  if (rows->numel == 0) return nullptr;
  tn_tensor index = *rows;  // one for each element of the rows
  index.data = args[1].as.tensor->data;
  index.dtype = TN_INT64;
  const int64_t strides[TN_MAX_RANK] = {args[1].as.tensor->strides[0]};
  index.strides = strides;
  return scatter_runs(call, stream, &index, 0, x, rows, number_of(args[3]));
}

std::string add_rows_refusal(const tn_call* call) {
  const tn_value* args = call->args;
  const tn_tensor &x = *args[0].as.tensor, &index = *args[1].as.tensor, &rows = *args[2].as.tensor;
  if (x.ndim == 0 || rows.ndim != x.ndim || index.ndim != 1 || index.dtype != TN_INT64 ||
      rows.sizes[0] != index.numel || !std::equal(x.sizes + 1, x.sizes + x.ndim, rows.sizes + 1))
    return "takes int64 [n] and rows [n, ...] of x's sizes";
  if (x.dtype == TN_INT64 || rows.dtype != x.dtype) return "takes x and rows of one float dtype";
  return x.storage == rows.storage ? "x and rows share memory" : "";
}

constexpr OpKernel kOps[] = {{.op = "add_rows_",
                              .forward = add_rows,
                              .refusal = add_rows_refusal,
                              .dtypes = tenon::backend::kFloats | TN_DTYPE_BIT(TN_INT64)}};

}  // namespace

std::span<const OpKernel> index_kernels() { return kOps; }

}  // namespace cuda
