// How the device `cuda` is opened: on a machine without a driver, on the tests' own driver, and where
// something does not fit. Each is a run of the command, since a process opens a driver once.
#include <dlfcn.h>

#include "cli_support.h"

namespace {

class CudaOpen : public cli::CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ::unsetenv("LD_LIBRARY_PATH");
  }
  void TearDown() override {
    for (const char* variable :
         {"LD_LIBRARY_PATH", "TENON_FAKE_CUDA_VERSION", "TENON_FAKE_CUDA_GPUS",
          "TENON_FAKE_CUDA_CAPABILITY", "TENON_FAKE_CUDA_FAIL"})
      ::unsetenv(variable);
    CliTest::TearDown();
  }

  static std::string fake() { return build() + "/tests/cuda/fake"; }
  static void use_fake() { ::setenv("LD_LIBRARY_PATH", fake().c_str(), 1); }
  // A folder in which a library of one name is another one of the fake's.
  void use_instead(const char* name, const char* other) {
    for (const char* library : {"libcuda.so.1", "libnvrtc.so.13", "libcublasLt.so.13"})
      cli::fs::create_symlink(
          cli::fs::path(fake()) / (library == std::string(name) ? other : library),
          folder_ / library);
    ::setenv("LD_LIBRARY_PATH", folder_.c_str(), 1);
  }
  // What `tenon devices` says of the device.
  std::string absence() const {
    const cli::Outcome run = tenon("devices");
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    EXPECT_EQ(tenon("devices --json").out.find("cuda"), std::string::npos);
    const std::string line = cli::last_line(run.out);
    EXPECT_EQ(line.rfind("cuda    not available: ", 0), 0u) << run.out;
    return line.substr(std::min<size_t>(line.size(), 23));
  }
};

TEST_F(CudaOpen, SaysThatThereIsNoDriver) {
  if (void* driver = ::dlopen("libcuda.so.1", RTLD_NOW)) {
    ::dlclose(driver);
    GTEST_SKIP() << "this machine has an NVIDIA driver";
  }
  EXPECT_EQ(absence(), "no NVIDIA driver (libcuda.so.1 was not found)");
  const cli::Outcome run = tenon("train '" + digits() + "/mlp.json' --device cuda");
  EXPECT_NE(run.code, 0);
  EXPECT_HAS(run.err,
             "device 'cuda': there is no cuda device here: no NVIDIA driver (libcuda.so.1 was not "
             "found)");
  EXPECT_HAS(tenon("plugins").out, "cuda");
}

TEST_F(CudaOpen, ListsTheGpus) {
  use_fake();
  EXPECT_HAS(tenon("devices").out, "cuda:0  NVIDIA GPUs\ncuda:1  NVIDIA GPUs\n");
}

TEST_F(CudaOpen, RefusesAnOldDriver) {
  use_fake();
  ::setenv("TENON_FAKE_CUDA_VERSION", "12040", 1);
  EXPECT_EQ(absence(),
            "the NVIDIA driver is too old: it supports CUDA 12.4, and 13.0 or newer is needed");
}

TEST_F(CudaOpen, NamesTheEntryThatADriverLacks) {
  use_instead("libcuda.so.1", "libnvrtc.so.13");
  EXPECT_HAS(absence(), "the NVIDIA driver is too old: libcuda.so.1 has no cuInit, and CUDA 13.");
}

TEST_F(CudaOpen, SaysThatThereIsNoGpu) {
  use_fake();
  ::setenv("TENON_FAKE_CUDA_GPUS", "0", 1);
  EXPECT_EQ(absence(), "no NVIDIA GPU (cuInit found none)");
}

TEST_F(CudaOpen, RefusesAGpuThatIsTooOld) {
  use_fake();
  ::setenv("TENON_FAKE_CUDA_CAPABILITY", "75", 1);
  EXPECT_EQ(absence(),
            "no GPU that can be used: fake GPU has compute capability 7.5, and 8.0 or newer is "
            "needed");
}

// The fake NVRTC knows 8.0, 9.0 and 10.0. A GPU runs code of an older one of its major number; for a
// later number there is intermediate code, which the driver compiles.
TEST_F(CudaOpen, CompilesForGpusThatNvrtcDoesNotKnow) {
  use_fake();
  ::setenv("TENON_CUDA_CACHE", "0", 1);
  const std::string compiled = (folder_ / "compiled").string();
  ::setenv("TENON_FAKE_CUDA_COMPILED", compiled.c_str(), 1);
  const std::pair<const char*, const char*> cases[] = {
      {"80", "sm_80\n"}, {"86", "sm_80\n"}, {"90", "sm_90\n"}, {"123", "compute_100\n"}};
  for (const auto& [capability, architecture] : cases) {
    SCOPED_TRACE(capability);
    cli::fs::remove(compiled);
    ::setenv("TENON_FAKE_CUDA_CAPABILITY", capability, 1);
    const cli::Outcome trained =
        tenon("train '" + training({{"\"epochs\": 40", "\"epochs\": 1"}}) + "' --device cuda");
    EXPECT_EQ(trained.code, 0) << trained.err;
    const std::string all = cli::read(compiled);
    EXPECT_EQ(all.substr(0, all.find('\n') + 1), architecture);
  }
  ::unsetenv("TENON_FAKE_CUDA_COMPILED");
  ::unsetenv("TENON_CUDA_CACHE");
}

TEST_F(CudaOpen, SaysHowTheDriverFailed) {
  use_fake();
  ::setenv("TENON_FAKE_CUDA_FAIL", "cuInit:1:803", 1);
  EXPECT_HAS(absence(), "the NVIDIA driver failed: cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
}

TEST_F(CudaOpen, NeedsNvrtc) {
  use_instead("libnvrtc.so.13", "libcublasLt.so.13");
  EXPECT_EQ(absence(), "no NVRTC, which compiles the kernels (libnvrtc.so.13 has no nvrtcVersion)");
}

TEST_F(CudaOpen, NeedsCublasLtForProducts) {
  use_instead("libcublasLt.so.13", "libnvrtc.so.13");
  EXPECT_HAS(tenon("devices").out, "cuda:0");
  const cli::Outcome run = tenon("train '" + digits() + "/mlp.json' --device cuda --epochs 1");
  EXPECT_NE(run.code, 0);
  EXPECT_HAS(run.err,
             "no cuBLASLt, which multiplies matrices (libcublasLt.so.13 has no cublasLtCreate)");
}

}  // namespace
