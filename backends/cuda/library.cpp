#include "library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

namespace cuda {

namespace {

// The folders of a toolkit. The packages of PyPI have the second, and cuDNN in the third.
void* open_in(const std::string& toolkit, const std::string& soname) {
  void* handle = nullptr;
  for (const char* folder : {"/lib64/", "/lib/", "/../cudnn/lib/"})
    if (!handle) handle = dlopen((toolkit + folder + soname).c_str(), RTLD_NOW | RTLD_LOCAL);
  return handle;
}

}  // namespace

Library::Library(std::string soname) : soname_(std::move(soname)) {
  handle_ = dlopen(soname_.c_str(), RTLD_NOW | RTLD_LOCAL);
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* folder = std::getenv(variable);
    if (!handle_ && folder && folder[0] == '/') handle_ = open_in(folder, soname_);
  }
  if (!handle_) handle_ = open_in("/usr/local/cuda", soname_);
  if (!handle_) why_ = soname_ + " was not found";
}

void* Library::entry(const char* name) {
  void* found = handle_ ? dlsym(handle_, name) : nullptr;
  if (!found && why_.empty()) why_ = soname_ + " has no " + name;
  return found;
}

}  // namespace cuda
