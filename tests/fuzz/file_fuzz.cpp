// libFuzzer's target for files (file_fuzz_test.sh builds and runs it): TENON_FUZZ_FORMAT names the
// format. A file is read to its end or refused with an Error that names it, and at no moment has its
// reader more than the file's size and 64 MiB.
//
//   TENON_FUZZ_FORMAT=npy fuzz corpus      tries
//   TENON_FUZZ_CORPUS=folder fuzz          writes the files to begin with, a folder for each format
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <sanitizer/allocator_interface.h>

#include "file_formats.h"
#include "tenon/base.hpp"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using namespace tenon::fuzz;

const FileFormat* format = nullptr;
int64_t allocated = 0, most = INT64_MAX;

void on_malloc(const volatile void*, size_t bytes) {
  allocated += static_cast<int64_t>(bytes);
  if (allocated <= most) return;
  most = INT64_MAX;
  std::fprintf(stderr, "%s: %lld bytes are allocated at a time\n", format->name,
               static_cast<long long>(allocated));
  std::abort();
}
void on_free(const volatile void* memory) {
  if (memory != nullptr) {
    allocated -=
        static_cast<int64_t>(__sanitizer_get_allocated_size(const_cast<const void*>(memory)));
  }
}

void write_corpus(const std::filesystem::path& folder) {
  for (const FileFormat& each : file_formats()) {
    std::filesystem::create_directories(folder / each.name);
    int n = 0;
    for (const std::string& bytes : each.corpus())
      std::ofstream(folder / each.name / std::to_string(n++), std::ios::binary) << bytes;
    std::printf("%s\n", each.name);
  }
}

// A file in memory, which all tries share.
const std::string& path_of(const uint8_t* data, size_t size) {
  static const int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, data, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (const char* folder = std::getenv("TENON_FUZZ_CORPUS")) {
    write_corpus(folder);
    std::exit(0);
  }
  const char* name = std::getenv("TENON_FUZZ_FORMAT");
  for (const FileFormat& each : file_formats()) {
    if (name != nullptr && std::string_view(name) == each.name) format = &each;
  }
  if (format == nullptr) {
    std::fprintf(stderr, "TENON_FUZZ_FORMAT is none of the formats\n");
    std::exit(1);
  }
  __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string& path = path_of(data, size);
  allocated = 0;
  most = static_cast<int64_t>(size + kMostBeside);
  try {
    format->read(path);
  } catch (const tenon::Error& error) {
    if (std::strstr(error.what(), path.c_str()) == nullptr ||
        std::strchr(error.what(), '\n') != nullptr) {
      std::fprintf(stderr, "it does not say which file, in one line: %s\n", error.what());
      std::abort();
    }
  }
  most = INT64_MAX;
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  size = LLVMFuzzerMutate(data, size, max_size);
  if (format->mend == nullptr || seed % 8 == 0) return size;
  std::string bytes(reinterpret_cast<char*>(data), size);
  format->mend(&bytes);
  std::memcpy(data, bytes.data(), size);
  return size;
}
