// The plugin `ref`: a complete backend on a simulated accelerator, written against abi.h and what
// any backend in C++ needs (tenon/backend.hpp, tenon/halves.hpp). Read this file first: it is all
// that the host meets. Then device.cpp (memory), stream.cpp (order) and the kernels, a file a
// family.
#include <memory>

#include "kernel.h"

namespace ref {
namespace {

constexpr uint32_t kPure = TN_KERNEL_CAPTURE_SAFE | TN_KERNEL_DETERMINISTIC;

// All but SCAN and SORT, which the host makes of others. They take any strides; dtypes 0: any.
constexpr Kernel kKernels[] = {
    {TN_PRIM_ELEMENTWISE, "elementwise", launch, elementwise, kPure, 0},
    {TN_PRIM_REDUCE, "reduce", launch, reduce, kPure, 0},
    {TN_PRIM_MATMUL, "matmul", launch, matmul, kPure, tenon::backend::kFloats},
    {TN_PRIM_COPY, "copy", launch, copy, kPure, 0},
    {TN_PRIM_FILL, "fill", launch, fill, kPure, 0},
    {TN_PRIM_IOTA, "iota", launch, iota, kPure, 0},
    {TN_PRIM_GATHER, "gather", launch, gather, kPure, 0},
    {TN_PRIM_SCATTER, "scatter", launch, scatter, kPure | TN_KERNEL_STRIDED_OUTPUT, 0},
    {TN_PRIM_RANDOM_BITS, "random_bits", launch, random_bits, kPure, 0},
    {TN_PRIM_NONZERO, "nonzero", launch_nonzero, nonzero, TN_KERNEL_DETERMINISTIC, 0},
};

}  // namespace

// The call is borrowed until this returns, and the work comes later: the host clones what it needs.
tn_status* launch(void* self, const tn_call* call) {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  return guarded(kernel.name, [&]() -> tn_status* {
    const tn_call* clone = nullptr;
    if (tn_status* status = host->keep(call, &clone)) return status;
    std::shared_ptr<const tn_call> kept(clone, host->release_kept);
    return enqueue(call->stream->handle, [&kernel, kept = std::move(kept)] {
      return guarded(kernel.name, [&] { return kernel.run(kept.get()); });
    });
  });
}

}  // namespace ref

extern "C" {

TN_EXPORT extern const tn_manifest tenon_manifest = {sizeof(tn_manifest), TN_ABI_VERSION,
                                                     TN_ABI_VERSION, TENON_PLUGIN_ID};

TN_EXPORT tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* registrar, void** self) {
  ref::host = host;
  *self = nullptr;  // what there is lives as long as the process
  if (tn_status* status = ref::register_device(registrar)) return status;
  for (const ref::Kernel& kernel : ref::kKernels) {
    tn_kernel_def def =
        tenon::backend::primitive_kernel(ref::kDeviceName, kernel.primitive, kernel.launch);
    def.traits = kernel.traits;
    def.dtypes = kernel.dtypes;
    def.instruction_set = TN_INSTRUCTION_SET;
    def.self = const_cast<ref::Kernel*>(&kernel);
    if (tn_status* status = registrar->kernel(registrar, &def)) return status;
  }
  return nullptr;
}

TN_EXPORT tn_status* tenon_plugin_shutdown(void*) {
  ref::stop_all_streams();
  return ref::check_memory();
}

}  // extern "C"
