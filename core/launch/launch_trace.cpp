// Lines of TENON_TRACE=launches about launches; those about slots are in tensor/slots.cpp.
#include "base/text.h"
#include "launch/launch.h"
#include "tensor/slots.h"

namespace tenon {
namespace {

std::string shaped(tn_dtype dtype, const int64_t* sizes, int32_t ndim) {
  return fmt::format("{}{}", dtype_name(dtype), shape_text(sizes, ndim));
}

std::string text_of(const tn_tensor* t) {
  return t != nullptr ? shaped(t->dtype, t->sizes, t->ndim) : "none";
}

// Operands have the sizes of the loop, broadcast; its outputs are among the launch's.
std::string operands_text(const tn_operand* inputs, uint32_t n, const int64_t* sizes,
                          int32_t ndim) {
  std::string text;
  for (uint32_t i = 0; i < n; ++i)
    text += (i > 0 ? ", " : "") + shaped(inputs[i].dtype, sizes, ndim);
  return text;
}

std::string text_of(const tn_value& v) {
  switch (v.kind) {
    case TN_KIND_TENSOR:
      return text_of(v.as.tensor);
    case TN_KIND_TENSORS: {
      std::string text;
      for (uint32_t i = 0; i < v.count; ++i) text += (i > 0 ? ", " : "") + text_of(v.as.tensors[i]);
      return "[" + text + "]";
    }
    case TN_KIND_LOOP: {
      const tn_loop& loop = *v.as.loop;
      return operands_text(loop.operands + loop.program->n_outputs, loop.program->n_inputs,
                           loop.sizes, loop.ndim);
    }
    case TN_KIND_REDUCTION: {
      const tn_reduction& r = *v.as.reduction;
      return operands_text(r.operands + 1, r.prologue != nullptr ? r.prologue->n_inputs : 1,
                           r.sizes, r.ndim);
    }
    case TN_KIND_INT:
      return std::to_string(v.as.i);
    case TN_KIND_BOOL:
      return v.as.i != 0 ? "true" : "false";
    case TN_KIND_FLOAT:
      return fmt::format("{}", v.as.f);
    case TN_KIND_INTS:
      return shape_text(v.as.ints, static_cast<int32_t>(v.count));
    case TN_KIND_NONE:
      return "none";
    default:
      return "..";
  }
}

}  // namespace

void trace_launch(const char* name, const Kernel& kernel, tn_device device,
                  std::span<const tn_value> args, std::span<Tensor* const> outputs,
                  const tn_status* failed) {
  std::string line = device_text(device);
  Stream* stream = nullptr;
  const StatusHolder none(current_stream(device, &stream));
  if (stream != nullptr) line += fmt::format(" stream {}", stream->id);
  line += fmt::format(" launch {} ({} of {}): ", name,
                      kernel.def.primitive != TN_PRIM_NONE ? kernel.primitive_name : "op kernel",
                      kernel.plugin);
  for (size_t i = 0; i < args.size(); ++i) line += (i > 0 ? ", " : "") + text_of(args[i]);
  line += " -> ";
  for (size_t i = 0; i < outputs.size(); ++i) line += (i > 0 ? ", " : "") + text_of(outputs[i]);
  if (failed != nullptr) line += fmt::format(": error: {}", status_text(failed));
  trace_line(line);
}

}  // namespace tenon
