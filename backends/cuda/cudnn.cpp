#include "cudnn.h"

#include <dlfcn.h>

#include <atomic>
#include <mutex>

#include "cublaslt.h"

namespace cuda {

Cudnn cudnn = {};

namespace {

std::atomic<bool> is_open = false;

// cuDNN 8 has another name, and is here or not.
bool has_older() {
  void* older = dlopen("libcudnn.so.8", RTLD_LAZY | RTLD_LOCAL);
  if (older) dlclose(older);
  return older != nullptr;
}

std::string open_cudnn() {
  Library library("libcudnn.so.9");
  if (!library.is_whole())
    return has_older() ? "cuDNN 8 is here (libcudnn.so.8), and cuDNN 9 is needed"
                       : "no cuDNN (" + library.why() + ")";
  // It opens cuBLASLt by its name alone, and ends the process where the loader does not find it. What is
  // open here it finds, wherever the file lies.
  if (const std::string& why = why_no_cublaslt(); !why.empty())
    return "cuDNN needs cuBLASLt (" + why + ")";
  Cudnn table = {};
  TN_CUDA_CUDNN(TN_CUDA_FILL)
  if (!library.is_whole()) return "cuDNN is incomplete (" + library.why() + ")";
  const size_t version = table.cudnnGetVersion();
  if (version < 90000)  // what is before 9 counts in thousands
    return "cuDNN " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 100) +
           " is here (libcudnn.so.9), and cuDNN 9 is needed";
  // Those for CUDA 12 and 13 have the same name.
  const size_t toolkit = table.cudnnGetCudartVersion();
  if (toolkit / 1000 != CUDA_VERSION / 1000)
    return "the cuDNN that is here (libcudnn.so.9) is for CUDA " + std::to_string(toolkit / 1000) +
           ", and one for CUDA " + std::to_string(CUDA_VERSION / 1000) + " is needed";
  // The library is a door to others, each a file of its own, which may be missing or of another
  // version.
  const cudnnStatus_t parts = table.cudnnGraphVersionCheck();
  cudnn = table;
  if (parts != CUDNN_STATUS_SUCCESS)
    return "cuDNN is incomplete (" + cudnn_words("cudnnGraphVersionCheck", parts) + ")";
  return "";
}

}  // namespace

const std::string& why_no_cudnn() {
  static std::once_flag once;
  static std::string& why = *new std::string;
  std::call_once(once, [] {
    why = open_cudnn();
    if (!why.empty()) log_no_cudnn(why);
    is_open = why.empty();
  });
  return why;
}

bool is_cudnn_open() { return is_open; }

const std::string& why_no_recurrent() {
  if (!why_no_cudnn().empty()) return why_no_cudnn();
  static std::once_flag once;
  static std::string& why = *new std::string;
  std::call_once(once, [] {
    const cudnnStatus_t part = cudnn.cudnnAdvVersionCheck();
    if (part == CUDNN_STATUS_SUCCESS) return;
    why = "cuDNN is incomplete (" + cudnn_words("cudnnAdvVersionCheck", part) + ")";
    host->log(2, ("cuda: " + why + "; recurrent layers run by their meaning").c_str());
  });
  return why;
}

void log_no_cudnn(const std::string& why) {
  host->log(2, ("cuda: " + why +
                "; convolutions and recurrent layers run by their meaning, and attention by other "
                "kernels")
                   .c_str());
}

std::string cudnn_words(const char* entry, cudnnStatus_t result) {
  std::string text = std::string(entry) + ": " + cudnn.cudnnGetErrorString(result);
  char last[200] = "";
  cudnn.cudnnGetLastErrorString(last, sizeof last);
  if (last[0] != '\0') text += std::string(": ") + last;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace cuda
