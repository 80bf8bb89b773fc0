// Modules of the fake driver, and launches of their kernels. TENON_FAKE_CUDA_FAULT="gather:2:700" is a
// fault with that result in the second run of a kernel of the name, behind which the device refuses
// everything.
#include <cstring>
#include <string_view>

#include "kernels.h"
#include "state.h"

struct CUmod_st {
  int device;
  std::string text;
};
struct CUfunc_st {
  int device;
  std::string name;
  const fake::Entry* entry;
};

namespace fake {
namespace {

std::mutex mutex;  // of what follows
auto& modules = *new std::set<CUmodule>;
auto& functions = *new std::map<std::pair<CUmodule, std::string>, CUfunction>;

// The addresses of live memory in a kernel's struct.
std::vector<const char*> addresses_in(const std::string& bytes) {
  std::vector<const char*> found;
  for (size_t at = 0; at + sizeof(char*) <= bytes.size(); at += sizeof(char*)) {
    const char* word = nullptr;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    const int arena = arena_of(word);
    if (arena >= 0 && is_live(arena, word, 1)) found.push_back(word);
  }
  return found;
}

bool meets_fault(const std::string& kernel, int device) {
  static const auto& wanted = *new std::string([] {
    const char* text = std::getenv("TENON_FAKE_CUDA_FAULT");
    return text ? text : "";
  }());
  char name[100];
  int run = 0, error = 0;
  if (std::sscanf(wanted.c_str(), "%99[^:]:%d:%d", name, &run, &error) != 3 || kernel != name)
    return false;
  static std::atomic<int> runs = 0;
  if (++runs != run) return false;
  set_fault(device, static_cast<CUresult>(error));
  return true;
}

}  // namespace

std::string living_modules() {
  const std::lock_guard lock(mutex);
  return std::to_string(modules.size()) + " modules\n";
}

}  // namespace fake

using namespace fake;  // NOLINT

#pragma GCC visibility push(default)
extern "C" {

// The image is what the fake NVRTC gives: a line, and the text.
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  ENTER_UNSAFE(cuModuleLoadData);
  static constexpr std::string_view kLine = "fake image\n";
  const std::string_view all = static_cast<const char*>(image);
  if (!all.starts_with(kLine)) return CUDA_ERROR_INVALID_IMAGE;
  const std::lock_guard lock(mutex);
  modules.insert(*module = new CUmod_st{current->device, std::string(all.substr(kLine.size()))});
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  ENTER(cuModuleGetFunction);
  {
    const std::lock_guard lock(mutex);
    if (!modules.contains(module)) return CUDA_ERROR_INVALID_HANDLE;
    if (module->device != current->device) return CUDA_ERROR_INVALID_CONTEXT;
  }
  const Entry* entry = find_kernel(module->text, name);
  if (!entry) return CUDA_ERROR_NOT_FOUND;
  const std::lock_guard lock(mutex);
  CUfunction& found = functions[{module, name}];
  if (!found) found = new CUfunc_st{current->device, name, entry};
  return *function = found, CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream handle, void** parameters, void** extra) {
  if (is_idle()) return CUDA_SUCCESS;
  ENTER(cuLaunchKernel);
  std::shared_ptr<Stream> stream;
  if (const CUresult failed = stream_here(handle, &stream)) return failed;
  if (function->device != current->device) return CUDA_ERROR_INVALID_CONTEXT;
  if (!parameters || !parameters[0] || extra || shared != 0) return CUDA_ERROR_INVALID_VALUE;
  // The fake counts in x and y alone; a block has what __launch_bounds__ allows.
  if (grid_x == 0 || grid_x > 0x7FFFFFFF || grid_y == 0 || grid_y > 65535 || grid_z != 1 ||
      block_x == 0 || block_x > 256 || block_y != 1 || block_z != 1)
    return CUDA_ERROR_INVALID_VALUE;
  const Entry& entry = *function->entry;
  if (entry.bytes > 32764) return CUDA_ERROR_INVALID_VALUE;  // what a kernel may take
  std::string bytes(static_cast<const char*>(parameters[0]), entry.bytes);
  Work work = {"launch " + function->name, {}, addresses_in(bytes)};
  work.run = [=, &entry, bytes = std::move(bytes), device = current->device] {
    if (meets_fault(function->name, device)) return;
    run_kernel(entry, bytes.data(), {grid_x, grid_y, 1}, {block_x, 1, 1}, device);
  };
  return put(stream, std::move(work));
}

}  // extern "C"
#pragma GCC visibility pop
