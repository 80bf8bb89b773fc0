// Pools over one to three dimensions with their gradients, in any layout: a thread for each element
// that is written. Of maxima the places are kept: as int32 for the gradient, or they are an output.
#include <algorithm>

#include "kernel.h"
#include "program_text.h"

namespace cuda {
namespace {

enum Kind { kMax, kIndexedMax, kAverage, kAdaptiveMax, kAdaptiveAverage };
struct Form {
  Kind kind;
  int32_t n;  // dimensions of the windows
  bool is_max() const { return kind != kAverage && kind != kAdaptiveAverage; }
  bool is_adaptive() const { return kind == kAdaptiveMax || kind == kAdaptiveAverage; }
};

// As in kernels/pool.cuh.
struct Axis {
  int64_t size = 1, out = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;
};

// What int must suffice for, and the elements of a window: more are a reduction, which has more
// threads for them.
constexpr int64_t kMost = int64_t{1} << 30, kMostInWindow = 1024;

// What is given once or for each dimension.
bool read_option(const tn_value& v, int32_t n, int32_t d, int64_t least, int64_t* value) {
  if (v.kind != TN_KIND_INTS || (v.count != 1 && v.count != static_cast<uint32_t>(n))) return false;
  *value = v.as.ints[v.count == 1 ? 0 : d];
  return *value >= least && *value <= kMost;
}

struct Axes {
  Axis axes[3];  // those that there are not come first
  int64_t samples = 1, channels = 1;

  // args: the forward's; x has these sizes. False where they do not fit together.
  bool read(const Form& form, const tn_value* args, const int64_t* sizes, int32_t ndim) {
    if (ndim != form.n + 1 && ndim != form.n + 2) return false;
    samples = ndim == form.n + 2 ? sizes[0] : 1;
    channels = sizes[ndim - form.n - 1];
    for (int32_t d = 0; d < form.n; ++d) {
      Axis& a = axes[3 - form.n + d];
      a.size = sizes[ndim - form.n + d];
      if (!(form.is_adaptive() ? read_adaptive(form, args, d, &a) : read_axis(form, args, d, &a)))
        return false;
    }
    return true;
  }
  // Elements of a window, and windows: at most `most` + 1 are counted.
  int64_t window(int64_t most) const {
    return counted(1, most, [](const Axis& a) {
      return a.kernel > 0 ? a.kernel : (a.size + a.out - 1) / a.out + 1;
    });
  }
  int64_t outputs(int64_t most) const {
    return counted(samples * channels, most, [](const Axis& a) { return a.out; });
  }

 private:
  template <class Along>
  int64_t counted(int64_t n, int64_t most, const Along& along) const {
    for (const Axis& a : axes) n = std::min(n * along(a), most + 1);
    return n;
  }
  static bool read_adaptive(const Form& form, const tn_value* args, int32_t d, Axis* a) {
    a->kernel = 0;
    return a->size > 0 && read_option(args[1], form.n, d, 1, &a->out) &&
           a->size * (a->out + 1) <= kMost;
  }
  static bool read_axis(const Form& form, const tn_value* args, int32_t d, Axis* a) {
    const tn_value& stride = args[2].count == 0 ? args[1] : args[2];
    bool fits = read_option(args[1], form.n, d, 1, &a->kernel) &&
                read_option(stride, form.n, d, 1, &a->stride) &&
                read_option(args[3], form.n, d, 0, &a->padding) && 2 * a->padding <= a->kernel;
    if (form.is_max()) fits = fits && read_option(args[4], form.n, d, 1, &a->dilation);
    if (!fits || a->kernel > kMost / a->dilation) return false;
    const bool ceil = args[form.is_max() ? 5 : 4].as.i != 0;
    const int64_t reach = a->dilation * (a->kernel - 1) + 1;
    const int64_t room = a->size + 2 * a->padding - reach;
    a->out = room < 0 ? 0 : (room + (ceil ? a->stride - 1 : 0)) / a->stride + 1;
    if (ceil && (a->out - 1) * a->stride >= a->size + a->padding)
      --a->out;  // no window begins beyond the tensor
    return a->out >= 1 && a->size + 2 * a->padding + reach + a->stride <= kMost;
  }
};

// Row-major in the order samples, axes, channels, and not row-major as well?
bool is_channels_last(const tn_tensor& t, int32_t n) {
  if (t.ndim != n + 2 || (t.flags & TN_TENSOR_CONTIGUOUS) != 0 || t.numel == 0) return false;
  int64_t stride = 1;
  bool fits = true;
  const auto lies_here = [&](int32_t d) {
    fits = fits && (t.sizes[d] == 1 || t.strides[d] == stride);
    stride *= t.sizes[d];
  };
  lies_here(1);
  for (int32_t d = t.ndim - 1; d >= 2; --d) lies_here(d);
  lies_here(0);
  return fits;
}

struct Call {
  const Form& form;
  const tn_value* args;  // the forward's
  const tn_tensor* x;    // or its gradient
  const tn_tensor* y;    // or its gradient
  const tn_tensor* places = nullptr;
};

void add_tensor_strides(Parameters& parameters, const Form& form, const tn_tensor* t) {
  int64_t strides[5] = {};
  if (t) {
    if (t->ndim == form.n + 2) strides[0] = t->strides[0];
    strides[1] = t->strides[t->ndim - form.n - 1];
    for (int32_t d = 0; d < form.n; ++d) strides[5 - form.n + d] = t->strides[t->ndim - form.n + d];
  }
  for (const int64_t stride : strides) parameters.add(stride);
}

// The places of a gradient lie in the order in which threads go over y.
struct Places {
  tn_tensor tensor;
  int64_t strides[TN_MAX_RANK];

  Places(const tn_tensor& y, const tn_tensor& memory, bool is_last) : tensor(y) {
    tensor.data = memory.data;
    tensor.dtype = memory.dtype;
    tensor.strides = strides;
    int64_t stride = 1;
    const auto put = [&](int32_t d) {
      strides[d] = stride;
      stride *= y.sizes[d];
    };
    if (is_last) put(1);
    for (int32_t d = y.ndim - 1; d >= 0; --d) {
      if (!is_last || d != 1) put(d);
    }
  }
};

tn_status* run(const Stream& stream, const Call& call, const char* part, const char* kernel,
               int64_t n, bool is_last) {
  const Form& form = call.form;
  Axes axes;
  axes.read(form, call.args, call.x->sizes, call.x->ndim);
  const tn_dtype place = call.places ? call.places->dtype : TN_INT32;
  static constinit Texts texts;
  Text& text = texts.get(TextKey(call.x->dtype, place, part), [&] {
    return std::string("#define ") + part +
           "\n#include \"base.cuh\"\nusing Element = " + element_name(call.x->dtype) +
           ";\nusing Place = " + element_name(place) + ";\n#include \"pool.cuh\"\n";
  });
  const bool is_average = form.kind == kAverage, is_plane = form.n > 1;
  Parameters parameters;
  parameters.add(call.x->data);
  parameters.add(call.y->data);
  parameters.add(call.places ? call.places->data : nullptr);
  for (const tn_tensor* t : {call.x, call.y, call.places}) add_tensor_strides(parameters, form, t);
  for (const Axis& a : axes.axes) {
    for (const int64_t value : {a.size, a.out, a.kernel, a.stride, a.padding, a.dilation})
      parameters.add(static_cast<int32_t>(value));
  }
  parameters.add(static_cast<int32_t>(axes.channels));
  parameters.add(static_cast<int32_t>(is_last));
  parameters.add(n);
  const bool has_divisor = is_average && is_plane && call.args[6].kind == TN_KIND_INT;
  parameters.add(has_divisor ? static_cast<double>(call.args[6].as.i) : 0.0);
  parameters.add(static_cast<int32_t>(is_average && call.args[5].as.i != 0));
  parameters.add(static_cast<int32_t>(form.kind == kIndexedMax));
  return launch(stream, text, kernel, grid_for(n), parameters);
}

template <Kind kind, int32_t n>
constexpr Form kForm = {kind, n};

template <Kind kind, int32_t n>
tn_status* forward(const tn_call* call, const Stream& stream) {
  const Form& form = kForm<kind, n>;
  const tn_tensor *x = call->args[0].as.tensor, *y = call->outputs[0];
  if (y->numel == 0) return nullptr;
  const bool is_last = is_channels_last(*x, n);
  const tn_tensor* kept = call->n_outputs > 1 ? call->outputs[1] : nullptr;
  if (!form.is_max())
    return run(stream, {form, call->args, x, y}, "AVERAGE", "average_pool", y->numel, is_last);
  if (!kept || kind == kIndexedMax)
    return run(stream, {form, call->args, x, y, kept}, "MAX", "max_pool", y->numel, is_last);
  const Places places(*y, *kept, is_last);
  return run(stream, {form, call->args, x, y, &places.tensor}, "MAX", "max_pool", y->numel,
             is_last);
}

// args: the gradients of the outputs, the forward's arguments, the outputs, the places.
template <Kind kind, int32_t n>
tn_status* backward(const tn_call* call, const Stream& stream) {
  const Form& form = kForm<kind, n>;
  const tn_tensor* dx = call->outputs[0];
  if (!dx || dx->numel == 0) return nullptr;
  if (call->args[0].kind != TN_KIND_TENSOR) {
    const size_t bytes = static_cast<size_t>(dx->numel) * item_size(dx->dtype);
    TN_CUDA_CALL(stream.index, cuMemsetD8Async, reinterpret_cast<CUdeviceptr>(dx->data), 0, bytes,
                 stream.handle);
    return nullptr;
  }
  constexpr uint32_t n_outputs = kind == kIndexedMax ? 2 : 1;
  const tn_tensor* g = call->args[0].as.tensor;
  const tn_value* args = call->args + n_outputs;
  const bool is_last = is_channels_last(*dx, n);
  if (!form.is_max())
    return run(stream, {form, args, dx, g}, "AVERAGE_BACKWARD", "average_pool_backward", dx->numel,
               is_last);
  const tn_tensor* kept = call->args[call->n_args - 1].as.tensor;
  const auto run_with = [&](const tn_tensor* places) {
    return run(stream, {form, args, dx, g, places}, "MAX_BACKWARD", "max_pool_backward", dx->numel,
               is_last);
  };
  if (kind == kIndexedMax) return run_with(kept);
  const Places places(*g, *kept, is_last);
  return run_with(&places.tensor);
}

template <Kind kind, int32_t n>
std::string refusal(const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  Axes axes;
  if (!axes.read(kForm<kind, n>, call->args, x.sizes, x.ndim))
    return "the arguments do not fit together";
  if (kind == kAverage && n > 1 && call->args[6].kind == TN_KIND_INT && call->args[6].as.i == 0)
    return "divisor_override is 0";
  if (axes.window(kMostInWindow) > kMostInWindow)
    return "windows of so many elements are a reduction";
  if (x.numel > kMost || axes.outputs(kMost) > kMost)
    return "takes tensors of at most 2^30 elements";
  return "";
}

void infer_places(const tn_call* call, tn_meta* places) {
  *places = call->metas[0];
  places->dtype = TN_INT32;
}

// Channels-last for a channels-last x.
void order_as_x(void*, const tn_call* call, uint32_t, const tn_meta* meta, int32_t* order) {
  const tn_tensor& x = *call->args[0].as.tensor;
  if (x.ndim != meta->ndim || !is_channels_last(x, x.ndim - 2)) return;
  for (int32_t d = 2; d < meta->ndim; ++d) order[d - 1] = d;
  order[meta->ndim - 1] = 1;
}

template <Kind kind, int32_t n>
constexpr OpKernel row(const char* op) {
  constexpr bool keeps = kind == kMax || kind == kAdaptiveMax;
  return {.op = op,
          .forward = forward<kind, n>,
          .refusal = refusal<kind, n>,
          .layout = TN_LAYOUT_DENSE,
          .order = order_as_x,
          .backward = backward<kind, n>,
          .saves_outputs = kind == kIndexedMax ? 2u : 0u,
          .n_private = keeps ? 1u : 0u,
          .infer_private = keeps ? infer_places : nullptr};
}

constexpr OpKernel kOps[] = {
    row<kMax, 1>("max_pool1d"),
    row<kMax, 2>("max_pool2d"),
    row<kMax, 3>("max_pool3d"),
    row<kIndexedMax, 1>("max_pool1d_with_indices"),
    row<kIndexedMax, 2>("max_pool2d_with_indices"),
    row<kIndexedMax, 3>("max_pool3d_with_indices"),
    row<kAverage, 1>("avg_pool1d"),
    row<kAverage, 2>("avg_pool2d"),
    row<kAverage, 3>("avg_pool3d"),
    row<kAdaptiveMax, 1>("adaptive_max_pool1d"),
    row<kAdaptiveMax, 2>("adaptive_max_pool2d"),
    row<kAdaptiveMax, 3>("adaptive_max_pool3d"),
    row<kAdaptiveAverage, 1>("adaptive_avg_pool1d"),
    row<kAdaptiveAverage, 2>("adaptive_avg_pool2d"),
    row<kAdaptiveAverage, 3>("adaptive_avg_pool3d"),
};

}  // namespace

std::span<const OpKernel> pool_kernels() { return kOps; }

}  // namespace cuda
