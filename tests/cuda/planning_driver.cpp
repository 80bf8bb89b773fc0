// A libcuda.so.1 that lets cuDNN make plans with kernels that it compiles, and nothing else: code is
// loaded, and has the kernel that is asked for. All other names of the header are there and refuse.
namespace {

constexpr int kNoDevice = 100, kSystem = 34;  // CUDA_ERROR_NO_DEVICE, CUDA_ERROR_STUB_LIBRARY
int loaded = 0;

int give(void** handle) {
  *handle = &loaded;
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
#define NAME(name) \
  extern "C" int name() { return kSystem; }
#include "driver_names.h"  // NOLINT: written by CMake

extern "C" int cuInit(unsigned) { return 0; }
extern "C" int cuDeviceGetCount(int*) { return kNoDevice; }
extern "C" int cuLibraryLoadData(void** library) { return give(library); }
extern "C" int cuLibraryGetKernel(void** kernel) { return give(kernel); }
#pragma GCC visibility pop
