// Attention and its gradients by the plugin's own kernels (kernels/attention.cuh), for what no library
// takes: any float dtype, any mask without a gradient, heads that are shared. Kept for the backward: of
// each query the greatest score and 1 / the sum of exponentials.
#include <algorithm>
#include <bit>
#include <cmath>

#include "kernel.h"
#include "program_text.h"

namespace cuda {
namespace {

// As kernels/attention.cuh has them.
enum Operand {
  kOutput,
  kQuery,
  kKey,
  kValue,
  kMask,
  kPeaks,
  kGradient,
  kDQuery,
  kDKey,
  kDValue,
  kOperands
};

constexpr int64_t kMostWidth = 256;

// A call's sizes: query [.., n, e], key [.., m, e], value [.., m, v].
struct Attention {
  const tn_tensor* operands[kOperands] = {};
  bool is_causal;
  double scale;
  int32_t leading;  // dimensions of the heads
  int64_t shared = 1, n, m, e, v;
  tn_dtype dtype;
  void* dots = nullptr;  // of the backward of halves

  // `args` are those of the op.
  explicit Attention(const tn_value* args) {
    for (int k = 0; k < 4; ++k) operands[kQuery + k] = tensor_of(args[k]);
    const tn_tensor &query = *operands[kQuery], &key = *operands[kKey];
    is_causal = args[4].as.i != 0;
    leading = query.ndim - 2;
    n = query.sizes[leading], e = query.sizes[leading + 1];
    m = key.sizes[leading], v = operands[kValue]->sizes[leading + 1];
    if (args[6].as.i != 0) shared = query.sizes[leading - 1] / key.sizes[leading - 1];
    scale = args[5].kind == TN_KIND_FLOAT ? args[5].as.f : 1 / std::sqrt(static_cast<double>(e));
    dtype = query.dtype;
  }

  bool is_half() const { return item_size(dtype) == 2; }
  bool is_double() const { return dtype == TN_FLOAT64; }
  int64_t width() const {
    return std::max<int64_t>(
        32, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(e, v)))));
  }
  // Four tiles of that width and two of scores fit into the 48 KiB of a block.
  int64_t tile() const {
    const int64_t rows = 2048 / width() / (is_double() ? 2 : 1);
    return std::min<int64_t>(rows, is_double() ? 16 : 32);
  }
};

// The strides of an operand over the heads, which are the leading dimensions of query, but the last of
// them as two: heads of key, and those of query that share one.
void head_strides(const Attention& a, int operand, int64_t* strides) {
  const tn_tensor* x = a.operands[operand];
  std::fill_n(strides, a.leading + 1, 0);
  if (!x || operand == kPeaks) return;  // which are counted by the head
  const bool is_of_keys =
      operand == kKey || operand == kValue || operand == kDKey || operand == kDValue;
  for (int32_t d = 0; d < a.leading; ++d) {
    const int32_t of_x = d - (a.leading + 2 - x->ndim);  // a mask may have fewer dimensions
    const bool is_there = of_x >= 0 && x->sizes[of_x] != 1;
    const int64_t stride = is_there ? x->strides[of_x] : 0;
    const bool is_last = d == a.leading - 1;
    strides[d] = is_last && !is_of_keys ? stride * a.shared : stride;
    if (is_last && !is_of_keys) strides[d + 1] = stride;
  }
}

int64_t stride_at(const tn_tensor* x, int32_t from_end) {
  const int32_t d = x ? x->ndim - from_end : -1;
  return d >= 0 && x->sizes[d] != 1 ? x->strides[d] : 0;
}

Dims heads_of(const Attention& a) {
  int64_t sizes[TN_MAX_RANK + 1], strides[kOperands][TN_MAX_RANK + 1];
  const tn_tensor& query = *a.operands[kQuery];
  std::copy(query.sizes, query.sizes + a.leading, sizes);
  if (a.leading > 0) sizes[a.leading - 1] /= a.shared;
  sizes[a.leading] = a.shared;
  Side sides[kOperands];
  for (int k = 0; k < kOperands; ++k) {
    head_strides(a, k, strides[k]);
    sides[k] = {a.operands[k] ? a.operands[k]->data : nullptr, strides[k]};
  }
  return merged(a.leading + 1, sizes, sides, kOperands);
}

// As kernels/attention.cuh counts them: none, of bool, added.
int64_t mask_kind(const Attention& a) {
  if (!a.operands[kMask]) return 0;
  return a.operands[kMask]->dtype == TN_BOOL ? 1 : 2;
}

Text& text_of(const Attention& a, const Dims& heads, const char* part) {
  static constinit Texts texts;
  const TextKey key(part, a.dtype, a.width(), heads.max_dims(), heads.is_wide());
  return texts.get(key, [&] {
    return std::string("#define ") + part +
           (a.is_half() && std::string_view(part) == "BACKWARD" ? "\n#define HALVES" : "") +
           "\n#include \"base.cuh\"\nusing Element = " + element_name(a.dtype) +
           ";\nconstexpr int kWidth = " + std::to_string(a.width()) +
           ", kTile = " + std::to_string(a.tile()) + ";\nusing L = " + loop_type(heads) +
           ";\n#include \"attention.cuh\"\n";
  });
}

int64_t count_tiles(const Attention& a, int64_t rows) { return (rows + a.tile() - 1) / a.tile(); }

// A kernel whose blocks have tiles of `rows` rows of `n_heads` heads.
tn_status* run(const Stream& stream, const Attention& a, const char* part, const char* kernel,
               int64_t n_heads, int64_t rows) {
  const Dims heads = heads_of(a);
  const int64_t tiles = count_tiles(a, rows);
  Parameters parameters;
  add_loop(parameters, heads);
  for (int k = 0; k < kOperands; ++k) parameters.add(stride_at(a.operands[k], 2));
  parameters.add(stride_at(a.operands[kMask], 1));
  for (const int64_t value :
       {a.n, a.m, a.e, a.v, tiles, a.shared, int64_t{a.is_causal}, mask_kind(a)})
    parameters.add(value);
  if (a.is_double()) {
    parameters.add(a.scale);
  } else {
    parameters.add(static_cast<float>(a.scale));
  }
  parameters.add(a.dots);
  return launch(stream, text_of(a, heads, part), kernel, {n_heads * tiles, 1, 256}, parameters);
}

int64_t count_heads(const Attention& a) {
  int64_t heads = 1;
  for (int32_t d = 0; d < a.leading; ++d) heads *= a.operands[kQuery]->sizes[d];
  return heads;
}

tn_status* forward(const tn_call* call, const Stream& stream) {
  Attention a(call->args);
  a.operands[kOutput] = call->outputs[0];
  a.operands[kPeaks] = call->n_outputs > 1 ? call->outputs[1] : nullptr;
  return run(stream, a, "FORWARD", "attention", count_heads(a), a.n);
}

// args: g, then query, key, value, mask, is_causal, scale, enable_gqa; y, peaks.
tn_status* backward(const tn_call* call, const Stream& stream) {
  const tn_value* args = call->args;
  tn_tensor *const dquery = call->outputs[0], *const dkey = call->outputs[1],
                   *const dvalue = call->outputs[2];
  if (args[0].kind != TN_KIND_TENSOR) {
    for (const tn_tensor* output : {dquery, dkey, dvalue}) TN_CUDA_TRY(clear(stream, output));
    return nullptr;
  }
  Attention a(args + 1);
  a.operands[kGradient] = args[0].as.tensor;
  a.operands[kOutput] = args[8].as.tensor;
  a.operands[kPeaks] = args[9].as.tensor;
  a.operands[kDQuery] = dquery, a.operands[kDKey] = dkey, a.operands[kDValue] = dvalue;
  const int64_t heads = count_heads(a);
  if (a.is_half()) {
    TN_CUDA_TRY(host->workspace(call, static_cast<uint64_t>(heads * a.n) * 4, &a.dots));
    TN_CUDA_TRY(run(stream, a, "BACKWARD", "attention_dots", heads, a.n));
  }
  if (dquery) TN_CUDA_TRY(run(stream, a, "BACKWARD", "attention_dquery", heads, a.n));
  if (!dkey && !dvalue) return nullptr;
  return run(stream, a, "BACKWARD", "attention_dkey_dvalue", heads / a.shared, a.m);
}

// Of each query the greatest score and 1 / the sum.
void infer_peaks(const tn_call* call, tn_meta* peaks) {
  const tn_tensor& query = *call->args[0].as.tensor;
  peaks->ndim = query.ndim;
  peaks->dtype = query.dtype == TN_FLOAT64 ? TN_FLOAT64 : TN_FLOAT32;
  peaks->device = query.device;
  std::copy_n(query.sizes, query.ndim - 1, peaks->sizes);
  peaks->sizes[query.ndim - 1] = 2;
}

bool mask_fits(const tn_tensor& mask, const tn_tensor& query, int64_t m) {
  if (mask.ndim > query.ndim) return false;
  for (int32_t d = 0; d < mask.ndim; ++d) {
    const int32_t at = query.ndim - mask.ndim + d;
    const int64_t size = at == query.ndim - 1 ? m : query.sizes[at];
    if (mask.sizes[d] != 1 && mask.sizes[d] != size) return false;
  }
  return true;
}

std::string refusal(const tn_call* call) {
  const tn_tensor &q = *call->args[0].as.tensor, &k = *call->args[1].as.tensor;
  const tn_tensor& v = *call->args[2].as.tensor;
  const tn_tensor* mask = tensor_of(call->args[3]);
  const bool grouped = call->args[6].as.i != 0;
  if (q.dtype != k.dtype || q.dtype != v.dtype || q.dtype == TN_BOOL)
    return "takes query, key and value of one float dtype";
  if (q.numel == 0 || k.numel == 0 || v.numel == 0) return "takes no empty tensors";
  const int32_t leading = q.ndim - 2;
  bool fits = leading >= (grouped ? 1 : 0) && leading < TN_MAX_RANK - 2 && k.ndim == q.ndim &&
              v.ndim == q.ndim;
  for (int32_t d = 0; fits && d < leading; ++d) {
    const bool heads = grouped && d == leading - 1;
    fits = k.sizes[d] == v.sizes[d] &&
           (heads ? q.sizes[d] % k.sizes[d] == 0 : q.sizes[d] == k.sizes[d]);
  }
  if (!fits || q.sizes[leading + 1] != k.sizes[leading + 1] || k.sizes[leading] != v.sizes[leading])
    return "takes query, key and value of equal leading dimensions";
  const int64_t widest = std::max(q.sizes[leading + 1], v.sizes[leading + 1]);
  if (widest > (q.dtype == TN_FLOAT64 ? kMostWidth / 4 : kMostWidth))
    return "takes heads of at most 256 numbers, of float64 64";
  if (mask && (call->args[4].as.i != 0 || !mask_fits(*mask, q, k.sizes[leading])))
    return "attn_mask does not fit";
  if (mask && (mask->flags & TN_TENSOR_REQUIRES_GRAD) != 0) return "has no gradient of attn_mask";
  const Attention a(call->args);
  if (count_heads(a) * std::max(count_tiles(a, a.n), count_tiles(a, a.m)) > kMostBlocks)
    return "takes at most 2147483647 tiles of queries or keys in all heads";
  return "";
}

constexpr OpKernel kKernels[] = {
    {.op = "_attention",
     .forward = forward,
     .refusal = refusal,
     .dtypes = tenon::backend::kFloats | TN_DTYPE_BIT(TN_BOOL),
     .layout = TN_LAYOUT_ROWS,
     .backward = backward,
     .saves_args = 0b1111,  // all of the tensors
     .saves_outputs = 1,
     .n_private = 1,
     .infer_private = infer_peaks},
};

}  // namespace

std::span<const OpKernel> attention_kernels() { return kKernels; }

}  // namespace cuda
