// softmax and log_softmax along any dimension, with their gradients: two reads of a row at most, and
// one write. The gradient takes the output; of halves, which would be too coarse, it takes the input
// and what the forward kept of each row: its maximum and its sum, as float32.
#include "kernel.h"
#include "rows.h"

namespace cuda {
namespace {

constexpr uint32_t kHalves = TN_DTYPE_BIT(TN_FLOAT16) | TN_DTYPE_BIT(TN_BFLOAT16);

// `what` is the part of the header that the text has.
template <bool is_log>
Text& text_of(const RowShape& shape, const char* what) {
  static constinit Texts texts;
  TextKey key = shape.key();
  key.add(what);  // a literal each
  return texts.get(key, [&] {
    return std::string("#define ") + what +
           "\nconstexpr bool kLog = " + (is_log ? "true" : "false") + ";\n" + shape.text() +
           "#include \"softmax.cuh\"\n";
  });
}

tn_status* run(const Stream& stream, const RowShape& shape, Text& text, const char* kernel,
               const void* peaks) {
  Parameters parameters;
  shape.add(parameters);
  parameters.add(peaks);
  return launch(stream, text, kernel, shape.grid(), parameters);
}

// args: x, dim
template <bool is_log>
tn_status* forward(const tn_call* call, const Stream& stream) {
  const tn_tensor* y = call->outputs[0];
  if (y->numel == 0) return nullptr;
  const tn_tensor* peaks = call->n_outputs > 1 ? call->outputs[1] : nullptr;
  const RowShape shape = row_shape(call->args[1].as.i, {{y}, {call->args[0].as.tensor}});
  return run(stream, shape, text_of<is_log>(shape, "FORWARD"), "softmax",
             peaks ? peaks->data : nullptr);
}

// args: the gradient of y, x, dim, y, the rows' peaks: x and peaks of halves, else y.
template <bool is_log, bool from_input>
tn_status* backward(const tn_call* call, const Stream& stream) {
  const tn_tensor* dx = call->outputs[0];
  if (!dx || dx->numel == 0) return nullptr;
  const tn_tensor* g = call->args[0].as.tensor;
  const tn_tensor* kept = call->args[from_input ? 1 : 3].as.tensor;
  const RowShape shape = row_shape(call->args[2].as.i, {{dx}, {g}, {kept}});
  const char* const what = from_input ? "BACKWARD\nconstexpr bool kFromInput = true;"
                                      : "BACKWARD\nconstexpr bool kFromInput = false;";
  return run(stream, shape, text_of<is_log>(shape, what), "softmax_backward",
             from_input ? call->args[4].as.tensor->data : nullptr);
}

void infer_peaks(const tn_call* call, tn_meta* peaks) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const int64_t dim = call->args[1].as.i,
                n = x.ndim == 0 ? 1 : x.sizes[dim < 0 ? dim + x.ndim : dim];
  peaks->ndim = 2;
  peaks->dtype = TN_FLOAT32;
  peaks->device = x.device;
  peaks->sizes[0] = n > 0 ? x.numel / n : 0;
  peaks->sizes[1] = 2;
}

template <bool is_log>
constexpr OpKernel of_floats(const char* op) {
  return {.op = op,
          .forward = forward<is_log>,
          .dtypes = tenon::backend::kFloats & ~kHalves,
          .backward = backward<is_log, false>,
          .saves_outputs = 1};
}
template <bool is_log>
constexpr OpKernel of_halves(const char* op) {
  return {.op = op,
          .forward = forward<is_log>,
          .dtypes = kHalves,
          .backward = backward<is_log, true>,
          .saves_args = 1,
          .n_private = 1,
          .infer_private = infer_peaks};
}

// Without the younger dtype: the meaning casts, and comes here again.
constexpr char kSoftmax[] = "softmax(Tensor x, int dim=-1) -> Tensor";
constexpr char kLogSoftmax[] = "log_softmax(Tensor x, int dim=-1) -> Tensor";
constexpr OpKernel kKernels[] = {of_floats<false>(kSoftmax), of_halves<false>(kSoftmax),
                                 of_floats<true>(kLogSoftmax), of_halves<true>(kLogSoftmax)};

}  // namespace

std::span<const OpKernel> softmax_kernels() { return kKernels; }

}  // namespace cuda
