// A libnvrtc of the tests' own: a text becomes an image that the fake driver reads, which is the text
// itself. Options and architectures are checked as NVRTC does. TENON_FAKE_CUDA_COMPILED=file gets a
// line for each text: its architecture.
#include <nvrtc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "calls.h"

struct _nvrtcProgram {
  std::string text, image, log;
};

constexpr int kKnown[] = {80, 90, 100};

bool is_target(std::string_view option) {
  constexpr std::string_view kName = "--gpu-architecture=";
  if (!option.starts_with(kName)) return false;
  option.remove_prefix(kName.size());
  return std::ranges::any_of(kKnown, [&](int known) {
    const std::string number = std::to_string(known);
    return option == "sm_" + number || option == "compute_" + number;
  });
}

#define ENTER(name) \
  if (const int failed = fake::begin_call(#name)) return static_cast<nvrtcResult>(failed)

#pragma GCC visibility push(default)
extern "C" {

nvrtcResult nvrtcVersion(int* major, int* minor) {
  ENTER(nvrtcVersion);
  return *major = 13, *minor = 0, NVRTC_SUCCESS;
}

const char* nvrtcGetErrorString(nvrtcResult result) {
  fake::begin_call("nvrtcGetErrorString");
  return result == NVRTC_ERROR_COMPILATION      ? "NVRTC_ERROR_COMPILATION"
         : result == NVRTC_ERROR_INVALID_OPTION ? "NVRTC_ERROR_INVALID_OPTION"
                                                : "NVRTC_ERROR";
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* text, const char*, int n_headers,
                               const char* const* headers, const char* const* names) {
  ENTER(nvrtcCreateProgram);
  for (int k = 0; k < n_headers; ++k) {
    if (!headers[k] || !names[k]) return NVRTC_ERROR_INVALID_INPUT;
  }
  *program = new _nvrtcProgram{text, "", ""};
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int* n) {
  ENTER(nvrtcGetNumSupportedArchs);
  return *n = 3, NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetSupportedArchs(int* all) {
  ENTER(nvrtcGetSupportedArchs);
  return std::copy(kKnown, kKnown + 3, all), NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  ENTER(nvrtcDestroyProgram);
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int n, const char* const* options) {
  ENTER(nvrtcCompileProgram);
  std::string target;
  for (int k = 0; k < n; ++k) {
    const std::string_view option = options[k];
    if (is_target(option)) target = option.substr(option.find('=') + 1);
    if (option != "--std=c++20" && option != "--fmad=false" && !is_target(option))
      return NVRTC_ERROR_INVALID_OPTION;
  }
  if (program->text.find("KERNEL(") == std::string::npos &&
      program->text.find(".cuh") == std::string::npos) {
    program->log = "the text has no kernel";
    return NVRTC_ERROR_COMPILATION;
  }
  if (const char* path = std::getenv("TENON_FAKE_CUDA_COMPILED")) {
    FILE* file = std::fopen(path, "a");
    if (!file) return NVRTC_ERROR_INTERNAL_ERROR;
    std::fprintf(file, "%s\n", target.c_str());
    std::fclose(file);
  }
  program->image = "fake image\n" + program->text;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes) {
  ENTER(nvrtcGetCUBINSize);
  return *bytes = program->image.size() + 1, NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* image) {
  ENTER(nvrtcGetCUBIN);
  return std::memcpy(image, program->image.c_str(), program->image.size() + 1), NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* bytes) {
  ENTER(nvrtcGetPTXSize);
  return *bytes = program->image.size() + 1, NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* image) {
  ENTER(nvrtcGetPTX);
  return std::memcpy(image, program->image.c_str(), program->image.size() + 1), NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes) {
  ENTER(nvrtcGetProgramLogSize);
  return *bytes = program->log.size() + 1, NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  ENTER(nvrtcGetProgramLog);
  return std::memcpy(log, program->log.c_str(), program->log.size() + 1), NVRTC_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop
