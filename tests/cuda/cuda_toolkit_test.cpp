// The real libraries of a toolkit that lies where the plugin looks last and the loader does not. They
// open each other by name alone, so the plugin opens first what they need. No GPU is needed.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "convolution_graph.h"
#include "in_a_fork.h"
#include "nvrtc.h"
#include "nvrtc_support.h"

// What the plugin's driver.cpp has, which is not linked.
namespace cuda {
void log_failure(tn_status*) {}
}  // namespace cuda

namespace {

namespace fs = std::filesystem;

// The outcome of the body in a process for which the loader's list of folders is empty. "hidden not":
// this user may not do that.
template <class Body>
std::string without_list(const Body& body) {
  return in_a_fork([&]() -> std::string {
    static tn_host table = {};
    table.log = [](int32_t, const char*) {};
    table.status = [](tn_code, const char* text, tn_status*) -> tn_status* {
      throw std::runtime_error(text);
    };
    cuda::host = &table;
    ::setenv("TENON_CUDA_CACHE", "0", 1);
    ::unsetenv("LD_LIBRARY_PATH");
    const std::string empty = fs::temp_directory_path() / "tenon_empty_list";
    std::ofstream(empty).close();
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, "") != 0 ||
        ::mount(empty.c_str(), "/etc/ld.so.cache", nullptr, MS_BIND, "") != 0)
      return "not hidden";
    return body();
  });
}

constexpr char kSine[] =
    "extern \"C\" __global__ void sine(float* x) { x[threadIdx.x] = sinf(x[threadIdx.x]); }";

TEST(CudaToolkit, NvrtcFindsItsFunctions) {
  const std::string outcome = without_list([]() -> std::string {
    cuda::open_nvrtc();
    std::string image;
    cuda::compile(kSine, "sm_90", &image);
    return image.substr(1, 3);
  });
  if (outcome == "not hidden" || outcome.find("libnvrtc.so.13 was not found") != std::string::npos)
    GTEST_SKIP() << outcome;
  EXPECT_EQ(outcome, "ELF");
}

// A plan of a convolution, for a device that a text describes.
std::string plan() {
  if (const std::string& why = cuda::why_no_cudnn(); !why.empty()) return why;
  const std::string device = nvrtc::read(nvrtc::source() / "tests/cuda/devices/sm_90.json");
  cuda::Descriptors descriptors;
  cuda::Target target;
  target.device = descriptors.make(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
                                   {{CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                                     static_cast<int64_t>(device.size()), device.data()}});
  const cuda::Convolution convolution = {.result = cuda::Convolution::kY,
                                         .dtype = TN_FLOAT16,
                                         .channels_last = 1,
                                         .n = 2,
                                         .x = {8, 64, 28, 28},
                                         .weight = {64, 64, 3, 3},
                                         .y = {8, 64, 28, 28},
                                         .stride = {1, 1},
                                         .padding = {1, 1},
                                         .dilation = {1, 1}};
  cuda::Search search;
  return cuda::plan_convolution(convolution, target, &search) ? "planned" : search.why;
}

// The folder of cuDNN, or nothing.
std::string folder_of_cudnn() {
  return in_a_fork([]() -> std::string {
    if (!cuda::why_no_cudnn().empty()) return "";
    Dl_info file = {};
    ::dladdr(reinterpret_cast<void*>(cuda::cudnn.cudnnGetVersion), &file);
    return fs::path(file.dli_fname).parent_path();
  });
}

// cuDNN looks beside itself, too: so it lies alone.
TEST(CudaToolkit, CudnnFindsCublasLt) {
  const fs::path found = folder_of_cudnn();
  if (found.empty()) GTEST_SKIP() << "cuDNN is not here";
  std::string own = (fs::temp_directory_path() / "tenon_toolkit_XXXXXX").string();
  ASSERT_NE(::mkdtemp(own.data()), nullptr);
  fs::create_directory(own + "/lib64");
  for (const fs::directory_entry& file : fs::directory_iterator(found)) {
    const std::string name = file.path().filename();
    if (name.starts_with("libcudnn")) fs::create_symlink(file.path(), own + "/lib64/" + name);
  }
  ::setenv("CUDA_HOME", own.c_str(), 1);
  const std::string outcome = without_list(plan);
  ::unsetenv("CUDA_HOME");
  fs::remove_all(own);
  if (outcome == "not hidden" || outcome.find("was not found") != std::string::npos)
    GTEST_SKIP() << outcome;
  EXPECT_EQ(outcome, "planned");
}

}  // namespace
