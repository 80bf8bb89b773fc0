// The plugin `cuda`: NVIDIA GPUs. Read this file first: it is all that the host meets. Then driver.h
// (the driver, which is opened late), device.cpp and stream.cpp (memory and order), launch.h (how a
// kernel's text becomes work on a stream) and the kernels, a file a family; their texts are in
// kernels/.
#include <cstdio>

#include "device.h"
#include "kernel.h"

namespace cuda {
namespace {

struct Kernel {
  tn_primitive primitive;
  const char* name;
  Run* run;
  uint32_t traits;
  uint32_t dtypes;  // 0: any
};

constexpr Kernel kKernels[] = {
    {TN_PRIM_ELEMENTWISE, "elementwise", elementwise, kUsualTraits, 0},
    {TN_PRIM_REDUCE, "reduce", reduce, kUsualTraits, 0},
    {TN_PRIM_SCAN, "scan", scan, kUsualTraits, 0},
    {TN_PRIM_MATMUL, "matmul", matmul, kUsualTraits, tenon::backend::kFloats},
    {TN_PRIM_COPY, "copy", copy, kUsualTraits, 0},
    {TN_PRIM_FILL, "fill", fill, kUsualTraits, 0},
    {TN_PRIM_IOTA, "iota", iota, kUsualTraits, 0},
    {TN_PRIM_GATHER, "gather", gather, kUsualTraits, 0},
    {TN_PRIM_SCATTER, "scatter", scatter, kUsualTraits | TN_KERNEL_STRIDED_OUTPUT, 0},
    {TN_PRIM_SORT, "sort", sort, kUsualTraits, 0},
    {TN_PRIM_RANDOM_BITS, "random_bits", random_bits, kUsualTraits, 0},
    {TN_PRIM_NONZERO, "nonzero", nonzero, TN_KERNEL_DETERMINISTIC, 0},  // waits for the count
};

// Those of whole ops, a family each.
constexpr OpKernels* kOpKernels[] = {
    linear_kernels,      feed_forward_kernels,
    softmax_kernels,     norm_kernels,
    batch_norm_kernels,  loss_kernels,
    attention_kernels,   optim_kernels,
    clip_kernels,        index_kernels,
    pool_kernels,        random_kernels,
#ifdef TENON_CUDA_CUDNN
    convolution_kernels, attention_kernels_of_cudnn,
    recurrent_kernels,
#endif
};

tn_status* run(void* self, const tn_call* call) {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Stream& stream = stream_of(call);
  return guarded(kernel.name, stream.index,
                 [&] { return put(call->stream, [&] { return kernel.run(call, stream); }); });
}

tn_status* register_primitive(tn_registrar* registrar, const Kernel& kernel) {
  tn_kernel_def def = tenon::backend::primitive_kernel(kDeviceName, kernel.primitive, run);
  def.traits = kernel.traits;
  def.dtypes = kernel.dtypes;
  def.instruction_set = 2;  // what program_text.cpp was written for
  def.self = const_cast<Kernel*>(&kernel);
  return registrar->kernel(registrar, &def);
}

// ---- Whole ops: a row is the `self` of its functions

const OpKernel& kernel_of(void* self) { return *static_cast<const OpKernel*>(self); }

template <Run* OpKernel::*part>
tn_status* run_part(void* self, const tn_call* call) {
  const OpKernel& kernel = kernel_of(self);
  const Stream& stream = stream_of(call);
  return guarded(kernel.op, stream.index,
                 [&] { return put(call->stream, [&] { return (kernel.*part)(call, stream); }); });
}

int32_t takes(void* self, const tn_call* call, char* reason, size_t bytes) noexcept {
  try {
    const std::string refusal = kernel_of(self).refusal(call);
    std::snprintf(reason, bytes, "%s", refusal.c_str());
    return refusal.empty();
  } catch (const std::bad_alloc&) {
    return -1;
  } catch (const std::exception& exception) {
    std::snprintf(reason, bytes, "%s", exception.what());
    return 0;
  }
}

tn_status* infer_private(void* self, const tn_call* call, tn_meta* privates, uint32_t) {
  const OpKernel& kernel = kernel_of(self);
  if (kernel.ask_private) return kernel.ask_private(call, privates);
  return kernel.infer_private(call, privates), nullptr;
}

tn_status* register_op(tn_registrar* registrar, const OpKernel& kernel) {
  tn_kernel_def def = {};
  def.size = sizeof def;
  def.op = kernel.op;
  def.device = kDeviceName;
  def.traits = kernel.traits;
  def.priority = kernel.priority;
  def.dtypes = kernel.dtypes;
  def.layout = kernel.layout;
  def.launch = run_part<&OpKernel::forward>;
  if (kernel.refusal) def.supports = takes;
  def.order = kernel.order;
  def.self = const_cast<OpKernel*>(&kernel);
  if (!kernel.backward) return registrar->kernel(registrar, &def);
  tn_kernel_pair_def pair = {};
  pair.size = sizeof pair;
  pair.forward = &def;
  pair.n_private = kernel.n_private;
  if (kernel.infer_private || kernel.ask_private) pair.infer_private = infer_private;
  pair.backward = run_part<&OpKernel::backward>;
  pair.saves_args = kernel.saves_args;
  pair.saves_outputs = kernel.saves_outputs;
  return registrar->kernel_pair(registrar, &pair);
}

}  // namespace
}  // namespace cuda

extern "C" {

TN_EXPORT extern const tn_manifest tenon_manifest = {sizeof(tn_manifest), TN_ABI_VERSION,
                                                     TN_ABI_VERSION, TENON_PLUGIN_ID};

// Opens nothing: what there is to open is opened when somebody first asks for the device.
TN_EXPORT tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* registrar, void** self) {
  cuda::host = host;
  *self = nullptr;  // what there is lives as long as the process
  if (tn_status* status = cuda::register_device(registrar)) return status;
  for (const cuda::Kernel& kernel : cuda::kKernels) {
    if (tn_status* status = cuda::register_primitive(registrar, kernel)) return status;
  }
  for (cuda::OpKernels* family : cuda::kOpKernels) {
    for (const cuda::OpKernel& kernel : family()) {
      if (tn_status* status = cuda::register_op(registrar, kernel)) return status;
    }
  }
  return nullptr;
}

}  // extern "C"
