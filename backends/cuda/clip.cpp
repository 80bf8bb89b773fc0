// What comes between the gradients and a step, for all gradients together: clip_grad_norm_ in a launch
// that folds chunks, whose last block folds these, and one that scales; unscale_ and update_scale_
// in one each.
#include <algorithm>
#include <cmath>

#include "program_text.h"
#include "steps.h"

namespace cuda {
namespace {

// ---- As the structs of kernels/clip.cuh, behind the table

struct NormNumbers {
  double* partial;
  void* arrivals;
  double* all;
  int64_t n;
  void* norm;
  double* factor;
  double p, most;
  int64_t is_wide;
};
struct ScaleNumbers {
  const void* factor;
};
struct UnscaleNumbers {
  const void* factor;
  void* found_inf;
};

// `what` is the part of kernels/clip.cuh; `power` is not used by all of them.
Text& text_for(const char* what, tn_dtype dtype, int most, int power = 2) {
  static constinit Texts texts;
  return texts.get(TextKey(what, dtype, most, power), [&] {
    std::string text = std::string("#define ") + what +
                       "\n#include \"base.cuh\"\nusing Element = " + element_name(dtype) + ";\n";
    if (std::string_view(what) == "NORM")
      text += "constexpr int power = " + std::to_string(power) + ";\n";
    return text + "constexpr int kMost = " + std::to_string(most) + ";\n#include \"clip.cuh\"\n";
  });
}

int64_t count_chunks(const Lists& lists) {
  const Groups groups(lists);
  int64_t n = 0;
  for (uint32_t i = 0; i < lists.count(); ++i) {
    const int32_t chunk = groups.of(kind_of(lists, i)).chunk();
    n += (lists.at(0, i).numel + chunk - 1) / chunk;
  }
  return n;
}

Lists gradients_of(const tn_call* call) {
  return {.values = {&call->args[0]}, .n = 1, .may_write = {true}};
}

// The sums or maxima of all chunks, behind each other; the last launch folds these. Where there are no
// elements, one launch says so.
tn_status* find_norm(const Stream& stream, const Lists& lists, NormNumbers numbers) {
  const int power = std::isinf(numbers.p) ? 0 : numbers.p == 2 ? 2 : -1;
  double* const end = numbers.all + numbers.n;
  bool is_empty = numbers.n == 0;
  return each_table<1>(
      lists, numbers, [&](const Kind& kind, auto& work, int64_t blocks) -> tn_status* {
        if (blocks == 0 && !is_empty) return nullptr;
        is_empty = false;
        work.numbers.partial = numbers.partial;
        numbers.partial += blocks;
        if (numbers.partial == end) work.numbers.arrivals = stream.place->arrivals.get();
        Text& text = text_for("NORM", kind.first, work.table.kMost, power);
        return launch(stream, text, "fold_chunks", {std::max<int64_t>(blocks, 1), 1, 256}, &work);
      });
}

tn_status* clip_grad_norm(const tn_call* call, const Stream& stream) {
  const Lists lists = gradients_of(call);
  const double most = float_of(call->args[1]), p = float_of(call->args[2]);
  const tn_tensor* norm = call->outputs[0];
  const int64_t chunks = count_chunks(lists);
  void* memory = nullptr;
  TN_CUDA_TRY(host->workspace(call, static_cast<uint64_t>(chunks + 2) * 8, &memory));
  auto* const factor = static_cast<double*>(memory);
  double* const partial = factor + 1;
  TN_CUDA_TRY(find_norm(
      stream, lists,
      {partial, nullptr, partial, chunks, norm->data, factor, p, most, norm->dtype == TN_FLOAT64}));
  return each_table<1>(lists, ScaleNumbers{factor},
                       [&](const Kind& kind, auto& work, int64_t blocks) -> tn_status* {
                         if (blocks == 0) return nullptr;
                         Text& text = text_for("SCALE", kind.first, work.table.kMost);
                         return launch(stream, text, "scale_chunks", {blocks, 1, 256}, &work);
                       });
}

std::string clip_refusal(const tn_call* call) {
  if (!(float_of(call->args[1]) >= 0) || !(float_of(call->args[2]) > 0))
    return "takes a max_norm of 0 or more and a norm_type above 0";
  if (call->args[0].count == 0) return "takes one gradient at least";
  return refusal(call, gradients_of(call), 1, {});
}

tn_status* unscale(const tn_call* call, const Stream& stream) {
  const UnscaleNumbers numbers = {call->args[2].as.tensor->data, call->args[1].as.tensor->data};
  return each_table<1>(gradients_of(call), numbers,
                       [&](const Kind& kind, auto& work, int64_t blocks) -> tn_status* {
                         if (blocks == 0) return nullptr;
                         Text& text = text_for("UNSCALE", kind.first, work.table.kMost);
                         return launch(stream, text, "unscale_chunks", {blocks, 1, 256}, &work);
                       });
}

std::string unscale_refusal(const tn_call* call) {
  const tn_tensor *found_inf = call->args[1].as.tensor, *scale = call->args[2].as.tensor;
  if (found_inf->dtype != TN_FLOAT32 || scale->dtype != TN_FLOAT32)
    return "takes a found_inf and a scale of float32";
  return refusal(call, gradients_of(call), 1, {found_inf, scale});
}

// update_scale_(scale, good_steps, found_inf, growth_factor, backoff_factor, growth_interval)
tn_status* update_scale(const tn_call* call, const Stream& stream) {
  const tn_value* args = call->args;
  const tn_tensor *scale = args[0].as.tensor, *found_inf = args[2].as.tensor;
  Parameters parameters;
  parameters.add(scale->data);
  parameters.add(args[1].as.tensor->data);
  parameters.add(found_inf->data);
  parameters.add(static_cast<int64_t>(item_size(found_inf->dtype)));
  parameters.add(args[5].as.i);
  parameters.add(float_of(args[3]));
  parameters.add(float_of(args[4]));
  return launch(stream, text_for("RESCALE", scale->dtype, 1), "next_scale", {1, 1, 1}, parameters);
}

std::string update_scale_refusal(const tn_call* call) {
  const tn_tensor *scale = call->args[0].as.tensor, *good_steps = call->args[1].as.tensor,
                  *found_inf = call->args[2].as.tensor;
  if (scale->dtype == TN_INT64 || found_inf->dtype == TN_INT64 || good_steps->dtype != TN_INT64)
    return "takes a scale and a found_inf that are floats, and a count of int64";
  for (const tn_tensor* t : {scale, good_steps, found_inf}) {
    if (t->numel != 1 || t->device.type != call->device.type ||
        t->device.index != call->device.index)
      return "takes tensors of one element on one device";
  }
  return "";
}

constexpr OpKernel kKernels[] = {{"clip_grad_norm_", clip_grad_norm, clip_refusal},
                                 {"unscale_", unscale, unscale_refusal},
                                 {.op = "update_scale_",
                                  .forward = update_scale,
                                  .refusal = update_scale_refusal,
                                  .dtypes = tenon::backend::kFloats | TN_DTYPE_BIT(TN_INT64)}};

}  // namespace

std::span<const OpKernel> clip_kernels() { return kKernels; }

}  // namespace cuda
