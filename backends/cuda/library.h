// A library of NVIDIA's that is opened when it is first needed: by its soname, then in the folder of
// the toolkit. Nothing of it is linked.
#pragma once

#include <string>

namespace cuda {

class Library {
 public:
  // NULL handle: `why` says what was looked for.
  explicit Library(std::string soname);

  // The entry, or NULL: then `why` names the first that is missing.
  void* entry(const char* name);

  bool is_whole() const { return why_.empty(); }
  const std::string& why() const { return why_; }

 private:
  std::string soname_;
  void* handle_ = nullptr;
  std::string why_;
};

// The rows of a table: `ROW(name)` for each entry. A header of NVIDIA may make another name of it by
// a macro (cuMemAlloc is cuMemAlloc_v2), which is the one that the library exports.
#define TN_CUDA_TEXT(name) #name
#define TN_CUDA_MEMBER(name) decltype(&::name) name;
#define TN_CUDA_FILL(name) \
  table.name = reinterpret_cast<decltype(&::name)>(library.entry(TN_CUDA_TEXT(name)));

}  // namespace cuda
