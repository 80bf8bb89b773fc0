#include "library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

namespace cuda {

Library::Library(std::string soname) : soname_(std::move(soname)) {
  handle_ = dlopen(soname_.c_str(), RTLD_NOW | RTLD_LOCAL);
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* folder = std::getenv(variable);
    if (handle_ || !folder || folder[0] != '/') continue;
    handle_ = dlopen((std::string(folder) + "/lib64/" + soname_).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!handle_)
    handle_ = dlopen(("/usr/local/cuda/lib64/" + soname_).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) why_ = soname_ + " was not found";
}

void* Library::entry(const char* name) {
  void* found = handle_ ? dlsym(handle_, name) : nullptr;
  if (!found && why_.empty()) why_ = soname_ + " has no " + name;
  return found;
}

}  // namespace cuda
