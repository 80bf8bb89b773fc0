#include "dnnl/library.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "cpu.h"
#include "tenon/elf.hpp"

namespace tenon::cpu_backend {
namespace {

// What passes: the process has no descriptor or no memory left.
bool may_pass(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

// The table of cpu/libtenon_cpu_dnnl.so beside this library; NULL, said once, where it cannot be
// opened. Throws, said once too, where the next call should try again. TENON_CPU_DNNL=0 does without.
const tenon_cpu_dnnl* open_library(const tn_host* host) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return nullptr;  // its threads are not built for the sanitizers, which then stumble over them
#endif
  const char* wish = std::getenv("TENON_CPU_DNNL");
  if (wish && std::string(wish) == "0") {
    return nullptr;
  }
  Dl_info self;
  if (!dladdr(reinterpret_cast<const void*>(&open_library), &self) || !self.dli_fname) {
    return nullptr;
  }
  std::string path = self.dli_fname;
  path = path.substr(0, path.rfind('/') + 1) + "cpu/libtenon_cpu_dnnl.so";
  errno = 0;
  const elf::Verdict verdict = elf::check_library(path.c_str());
  const bool good = verdict.code == TN_OK;
  void* library = good ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* symbol = library ? dlsym(library, TENON_CPU_DNNL_SYMBOL) : nullptr;
  if (!symbol) {
    const bool again = may_pass(errno);
    const char* refusal = good ? dlerror() : nullptr;
    const std::string text =
        std::string("cpu: oneDNN ") +
        (again ? "cannot be opened now, convolutions decompose until it can: "
               : "is not there, convolutions decompose: ") +
        (good ? std::string(refusal ? refusal : path.c_str()) : path + ": " + verdict.reason);
    static bool is_told = false;
    if (!std::exchange(is_told, true)) host->log(2, text.c_str());
    if (again) throw std::bad_alloc();
    return nullptr;
  }
  return reinterpret_cast<const tenon_cpu_dnnl* (*)()>(symbol)();
}

}  // namespace

const tenon_cpu_dnnl* dnnl_library(const tn_host* host) {
  static std::once_flag once;
  static const tenon_cpu_dnnl* table = nullptr;
  try {
    std::call_once(once, [host] { table = open_library(host); });
  } catch (...) {
    return nullptr;  // the next call tries again
  }
  return table;
}

tenon_cpu_dnnl_threads dnnl_threads(const tn_host* host) {
  const auto run = [](void* context, int64_t n, void (*body)(void*, int64_t), void* body_context) {
    parallel_for(static_cast<const tn_host*>(context), 0, n, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        body(body_context, i);
      }
    });
  };
  return {thread_count(), run, const_cast<tn_host*>(host)};
}

}  // namespace tenon::cpu_backend
