#include "nvrtc.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <vector>

#include "disk_cache.h"
#include "driver.h"
#include "kernel_headers.h"

namespace cuda {
namespace {

Nvrtc nvrtc = {};

tn_status* status_of(nvrtcResult result, const char* entry) {
  if (result == NVRTC_SUCCESS) return nullptr;
  return error(host, result == NVRTC_ERROR_OUT_OF_MEMORY ? TN_OUT_OF_MEMORY : TN_UNSUPPORTED,
               "%s: %s (cuda)", entry, nvrtc.nvrtcGetErrorString(result));
}

#define TN_NVRTC_CALL(entry, ...) TN_CUDA_TRY(status_of(nvrtc.entry(__VA_ARGS__), #entry))

// The compiler's own words: at most as many as a message holds.
std::string log_of(nvrtcProgram program) {
  size_t bytes = 0;
  if (nvrtc.nvrtcGetProgramLogSize(program, &bytes) != NVRTC_SUCCESS || bytes == 0) return "";
  std::string log(bytes, '\0');
  if (nvrtc.nvrtcGetProgramLog(program, log.data()) != NVRTC_SUCCESS) return "";
  log.resize(std::min<size_t>(bytes - 1, 300));
  return log;
}

// Without contraction, fused and separate calls have the same bits.
constexpr const char* kOptions[] = {"--std=c++20", "--fmad=false"};

// What all images depend on beside text and architecture: the library, of which the version lacks the
// last number, the options, and the headers.
std::string compiler_key() {
  int major = 0, minor = 0;
  nvrtc.nvrtcVersion(&major, &minor);
  std::string key = "kernel, NVRTC " + std::to_string(major) + "." + std::to_string(minor);
  Dl_info library = {};
  struct stat file {};
  if (::dladdr(reinterpret_cast<void*>(nvrtc.nvrtcVersion), &library) && library.dli_fname &&
      ::stat(library.dli_fname, &file) == 0)
    key += " of " + std::to_string(file.st_mtime) + ", " + std::to_string(file.st_size) + " bytes";
  for (const char* option : kOptions) key += std::string("\n") + option;
  return key + "\nheaders " + kKernelHeadersDigest;
}

tn_status* compile_anew(const std::string& text, const std::string& architecture,
                        std::string* image) {
  nvrtcProgram made = nullptr;
  TN_NVRTC_CALL(nvrtcCreateProgram, &made, text.c_str(), "tenon_kernel.cu", kKernelHeaderCount,
                kKernelHeaders, kKernelHeaderNames);
  const auto destroy = [](nvrtcProgram program) {
    log_failure(status_of(nvrtc.nvrtcDestroyProgram(&program), "nvrtcDestroyProgram"));
  };
  const std::unique_ptr<_nvrtcProgram, decltype(destroy)> program(made, destroy);
  const std::string target = "--gpu-architecture=" + architecture;
  const char* options[std::size(kOptions) + 1] = {target.c_str()};
  std::copy(std::begin(kOptions), std::end(kOptions), options + 1);
  const nvrtcResult result =
      nvrtc.nvrtcCompileProgram(program.get(), static_cast<int>(std::size(options)), options);
  if (result != NVRTC_SUCCESS)
    return error(host, TN_UNSUPPORTED, "nvrtcCompileProgram: %s (cuda, %s): %s",
                 nvrtc.nvrtcGetErrorString(result), architecture.c_str(),
                 log_of(program.get()).c_str());
  size_t bytes = 0;
  if (architecture.starts_with("compute_")) {
    TN_NVRTC_CALL(nvrtcGetPTXSize, program.get(), &bytes);
    image->resize(bytes);
    TN_NVRTC_CALL(nvrtcGetPTX, program.get(), image->data());
    return nullptr;
  }
  TN_NVRTC_CALL(nvrtcGetCUBINSize, program.get(), &bytes);
  image->resize(bytes);
  TN_NVRTC_CALL(nvrtcGetCUBIN, program.get(), image->data());
  return nullptr;
}

// NVRTC opens a second library, of its functions for devices, by its name alone. Where it was itself found by
// its path, that one lies beside it and the loader does not look there; what is open it finds. Without
// it NVRTC says so itself.
void open_builtins(const Nvrtc& table) {
  int major = 0, minor = 0;
  Dl_info file = {};
  if (table.nvrtcVersion(&major, &minor) != NVRTC_SUCCESS ||
      dladdr(reinterpret_cast<void*>(table.nvrtcVersion), &file) == 0 || !file.dli_fname)
    return;
  const std::filesystem::path beside = std::filesystem::path(file.dli_fname).parent_path();
  const std::string name =
      "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
  dlopen((beside / name).c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

tn_status* open_nvrtc() {
  Library library("libnvrtc.so." + std::to_string(CUDA_VERSION / 1000));
  Nvrtc table = {};
  if (library.is_whole()) {
    TN_CUDA_NVRTC(TN_CUDA_FILL)
  }
  if (!library.is_whole())
    return error(host, TN_NOT_FOUND, "no NVRTC, which compiles the kernels (%s)",
                 library.why().c_str());
  open_builtins(table);
  nvrtc = table;
  return nullptr;
}

std::string architecture_for(int major, int minor) {
  const int own = major * 10 + minor;
  int n = 0;
  std::vector<int> known;
  if (nvrtc.nvrtcGetNumSupportedArchs(&n) == NVRTC_SUCCESS && n > 0) {
    known.resize(static_cast<size_t>(n));
    if (nvrtc.nvrtcGetSupportedArchs(known.data()) != NVRTC_SUCCESS) known.clear();
  }
  int best = 0, newest = 0;
  for (const int each : known) {
    if (each / 10 == major && each <= own) best = std::max(best, each);
    if (each <= own) newest = std::max(newest, each);
  }
  if (best == 0 && newest > 0) return "compute_" + std::to_string(newest);
  return "sm_" + std::to_string(best > 0 ? best : own);
}

tn_status* compile(const std::string& text, const std::string& architecture, std::string* image) {
  static const std::string& compiler = *new std::string(compiler_key());
  const std::string key = compiler + "\n" + architecture + "\n" + text;
  if (find_cached(key, image)) return nullptr;
  TN_CUDA_TRY(compile_anew(text, architecture, image));
  keep_cached(key, *image);
  return nullptr;
}

}  // namespace cuda
