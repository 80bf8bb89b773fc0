// The plugin `cuda`: NVIDIA GPUs. Read this file first: it is all that the host meets. Then driver.h
// (the driver, which is opened late), device.cpp and stream.cpp (memory and order), launch.h (how a
// kernel's text becomes work on a stream) and the kernels, a file a family; their texts are in
// kernels/.
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

constexpr uint32_t kSame = TN_KERNEL_CAPTURE_SAFE | TN_KERNEL_DETERMINISTIC;

constexpr Kernel kKernels[] = {
    {TN_PRIM_ELEMENTWISE, "elementwise", elementwise, kSame, 0},
    {TN_PRIM_REDUCE, "reduce", reduce, kSame, 0},
    {TN_PRIM_SCAN, "scan", scan, kSame, 0},
    {TN_PRIM_MATMUL, "matmul", matmul, kSame, tenon::backend::kFloats},
    {TN_PRIM_COPY, "copy", copy, kSame, 0},
    {TN_PRIM_FILL, "fill", fill, kSame, 0},
    {TN_PRIM_IOTA, "iota", iota, kSame, 0},
    {TN_PRIM_GATHER, "gather", gather, kSame, 0},
    {TN_PRIM_SCATTER, "scatter", scatter, TN_KERNEL_CAPTURE_SAFE, 0},  // adds in any order
    {TN_PRIM_SORT, "sort", sort, kSame, 0},
    {TN_PRIM_RANDOM_BITS, "random_bits", random_bits, kSame, 0},
    {TN_PRIM_NONZERO, "nonzero", nonzero, TN_KERNEL_DETERMINISTIC, 0},  // waits for the count
};

tn_status* run(void* self, const tn_call* call) {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Stream& stream = stream_of(call);
  return guarded(kernel.name, stream.index, [&] { return kernel.run(call, stream); });
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
    tn_kernel_def def =
        tenon::backend::primitive_kernel(cuda::kDeviceName, kernel.primitive, cuda::run);
    def.traits = kernel.traits;
    def.dtypes = kernel.dtypes;
    def.instruction_set = 2;  // what program_text.cpp was written for
    def.self = const_cast<cuda::Kernel*>(&kernel);
    if (tn_status* status = registrar->kernel(registrar, &def)) return status;
  }
  return nullptr;
}

}  // extern "C"
