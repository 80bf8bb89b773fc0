// NVRTC, which compiles kernel texts: its entries in one table, and a compilation.
#pragma once

#include <nvrtc.h>

#include <string>

#include "library.h"
#include "tenon/abi.h"

namespace cuda {

#define TN_CUDA_NVRTC(ROW)       \
  ROW(nvrtcVersion)              \
  ROW(nvrtcGetErrorString)       \
  ROW(nvrtcGetNumSupportedArchs) \
  ROW(nvrtcGetSupportedArchs)    \
  ROW(nvrtcCreateProgram)        \
  ROW(nvrtcDestroyProgram)       \
  ROW(nvrtcCompileProgram)       \
  ROW(nvrtcGetCUBINSize)         \
  ROW(nvrtcGetCUBIN)             \
  ROW(nvrtcGetPTXSize)           \
  ROW(nvrtcGetPTX)               \
  ROW(nvrtcGetProgramLogSize)    \
  ROW(nvrtcGetProgramLog)

struct Nvrtc {
  TN_CUDA_NVRTC(TN_CUDA_MEMBER)
};

// The error says why there is no device: nothing runs without it.
tn_status* open_nvrtc();

// What to compile for a GPU of a compute capability: its own machine code ("sm_90"), that of an older
// one of the same major number, which it runs too, or, where NVRTC knows none of that number, the newest
// intermediate code that it knows ("compute_121"), which the driver compiles.
std::string architecture_for(int major, int minor);

// Compiles a text for an architecture ("sm_90") to machine code, or finds it in the cache on disk. It
// may include the headers of kernels/, which are part of the plugin.
tn_status* compile(const std::string& text, const std::string& architecture, std::string* image);

}  // namespace cuda
