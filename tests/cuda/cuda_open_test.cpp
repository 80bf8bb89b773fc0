// How the device `cuda` is opened: on a machine without a driver, on the tests' own driver, and where
// something does not fit. Each is a run of the command, since a process opens a driver once.
#include <dlfcn.h>
#include <sched.h>
#include <sys/mount.h>

#include <fstream>

#include "cli_support.h"
#include "in_a_fork.h"

namespace {

constexpr char kToolkit[] = "/usr/local/cuda/lib64";  // where the plugin looks at last

class CudaOpen : public cli::CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ::unsetenv("LD_LIBRARY_PATH");
  }
  void TearDown() override {
    for (const char* variable :
         {"LD_LIBRARY_PATH", "TENON_FAKE_CUDA_VERSION", "TENON_FAKE_CUDA_GPUS",
          "TENON_FAKE_CUDA_CAPABILITY", "TENON_FAKE_CUDA_FAIL", "TENON_FAKE_CUDNN_VERSION",
          "TENON_FAKE_CUDNN_CUDART", "TENON_CUDA_CACHE"})
      ::unsetenv(variable);
    CliTest::TearDown();
  }

  static std::string fake() { return build() + "/tests/cuda/fake"; }
  static void use_fake() { ::setenv("LD_LIBRARY_PATH", fake().c_str(), 1); }
  // A folder in which a library of one name is another one of the fake's.
  void use_instead(const char* name, const char* other) {
    for (const char* library : {"libcuda.so.1", "libnvrtc.so.13", "libcublasLt.so.13",
                                "libcudnn.so.9", "libtenon_fake_kept.so"})
      cli::fs::create_symlink(
          cli::fs::path(fake()) / (library == std::string(name) ? other : library),
          folder_ / library);
    ::setenv("LD_LIBRARY_PATH", folder_.c_str(), 1);
  }
  // A training of a small network of images: one step of 40 digits.
  cli::Outcome train_cnn() const {
    std::ifstream digits(CudaOpen::digits() + "/digits.csv");
    std::string few, line;
    for (int i = 0; i < 48 && std::getline(digits, line); ++i) few += line + "\n";
    write("digits.csv", few);
    std::string text = cli::read(CudaOpen::digits() + "/cnn.json");
    const size_t csv = text.find("\"digits.csv\"");
    text.replace(csv, 12, "\"" + path("digits.csv") + "\"");
    ::setenv("TENON_CUDA_CACHE", "0", 1);
    return tenon("train '" + write("cnn.json", text) + "' --device cuda --epochs 1");
  }
  // That the log says once why convolutions run by their meaning, and the training goes on.
  void expect_no_cudnn(const std::string& why) const {
    const cli::Outcome run = train_cnn();
    EXPECT_EQ(run.code, 0) << run.err;
    const std::string note = "cuda: " + why +
                             "; convolutions and recurrent layers run by their meaning, and "
                             "attention by other kernels\n";
    const size_t at = run.err.find(note);
    EXPECT_NE(at, std::string::npos) << run.err;
    EXPECT_EQ(run.err.find("run by their meaning", at + note.size()), std::string::npos) << run.err;
  }
  static bool has_cudnn() { return cli::fs::exists(fake() + "/libcudnn.so.9"); }
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

// ---- cuDNN

// It would end the process.
TEST_F(CudaOpen, OpensNoCudnnWithoutCublasLt) {
  if (!has_cudnn()) GTEST_SKIP() << "the plugin is built without cuDNN";
  use_instead("libcublasLt.so.13", "libnvrtc.so.13");
  const cli::Outcome run = train_cnn();
  EXPECT_HAS(run.err, "cuda: cuDNN needs cuBLASLt (libcublasLt.so.13 has no cublasLtCreate)");
  EXPECT_HAS(run.err,
             "no cuBLASLt, which multiplies matrices (libcublasLt.so.13 has no cublasLtCreate)");
  EXPECT_EQ(run.code, 1);
}

TEST_F(CudaOpen, NamesTheEntryThatCudnnLacks) {
  if (!has_cudnn()) GTEST_SKIP() << "the plugin is built without cuDNN";
  use_instead("libcudnn.so.9", "libnvrtc.so.13");
  expect_no_cudnn("cuDNN is incomplete (libcudnn.so.9 has no cudnnGetVersion)");
}

TEST_F(CudaOpen, RefusesAnOldCudnn) {
  if (!has_cudnn()) GTEST_SKIP() << "the plugin is built without cuDNN";
  use_fake();
  ::setenv("TENON_FAKE_CUDNN_VERSION", "8902", 1);
  expect_no_cudnn("cuDNN 8.9 is here (libcudnn.so.9), and cuDNN 9 is needed");
}

TEST_F(CudaOpen, RefusesACudnnOfAnotherToolkit) {
  if (!has_cudnn()) GTEST_SKIP() << "the plugin is built without cuDNN";
  use_fake();
  ::setenv("TENON_FAKE_CUDNN_CUDART", "12090", 1);
  expect_no_cudnn(
      "the cuDNN that is here (libcudnn.so.9) is for CUDA 12, and one for CUDA 13 is needed");
}

TEST_F(CudaOpen, SaysThatThereIsNoCudnn) {
  if (!has_cudnn()) GTEST_SKIP() << "the plugin is built without cuDNN";
  use_instead("libcudnn.so.9", "nothing");
  const auto note = [&] {
    const std::string err = train_cnn().err;
    return err.substr(0, err.find('\n'));
  };
  // The toolkit's folder is empty for this process alone.
  const std::string notes = in_a_fork([&]() -> std::string {
    if (cli::fs::exists(kToolkit) &&
        (::unshare(CLONE_NEWNS) != 0 ||
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, "") != 0 ||
         ::mount("none", cli::fs::canonical(kToolkit).c_str(), "tmpfs", 0, "") != 0))
      return "";
    if (::dlopen("libcudnn.so.9", RTLD_LAZY)) return "";
    const std::string none = note();
    // The other name is all that the plugin looks at.
    cli::fs::create_symlink(cli::fs::path(fake()) / "libnvrtc.so.13", folder_ / "libcudnn.so.8");
    return none + "\n" + note();
  });
  if (notes.empty()) GTEST_SKIP() << "cuDNN is here, and this user may not hide it";
  EXPECT_EQ(
      notes,
      "tenon warning: cuda: no cuDNN (libcudnn.so.9 was not found); convolutions and "
      "recurrent layers run by their meaning, and attention by other kernels\n"
      "tenon warning: cuda: cuDNN 8 is here (libcudnn.so.8), and cuDNN 9 is needed; "
      "convolutions and recurrent layers run by their meaning, and attention by other kernels");
}

TEST_F(CudaOpen, SaysThatPartsOfCudnnDoNotFit) {
  if (!has_cudnn()) GTEST_SKIP() << "the plugin is built without cuDNN";
  use_fake();
  ::setenv("TENON_FAKE_CUDA_FAIL", "cudnnGraphVersionCheck:1:1002", 1);
  expect_no_cudnn(
      "cuDNN is incomplete (cudnnGraphVersionCheck: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH: as "
      "the fake was told)");
}

TEST_F(CudaOpen, SaysHowCudnnFailed) {
  if (!has_cudnn()) GTEST_SKIP() << "the plugin is built without cuDNN";
  use_fake();
  ::setenv("TENON_FAKE_CUDA_FAIL", "cudnnCreate:1:1001", 1);
  expect_no_cudnn("cuDNN failed: cudnnCreate: CUDNN_STATUS_NOT_INITIALIZED: as the fake was told");
  for (const char* entry : {"cudnnBackendExecute", "cudnnSetStream"}) {
    ::setenv("TENON_FAKE_CUDA_FAIL", (std::string(entry) + ":1:5000").c_str(), 1);
    const cli::Outcome run = train_cnn();
    EXPECT_NE(run.code, 0);
    EXPECT_HAS(run.err, "conv2d: " + std::string(entry) +
                            ": CUDNN_STATUS_EXECUTION_FAILED: as the fake was told (cuda:0)");
  }
}

// What fails while a plan is made is a refusal: the call runs by its meaning.
TEST_F(CudaOpen, RunsByItsMeaningWhatCudnnRefuses) {
  if (!has_cudnn()) GTEST_SKIP() << "the plugin is built without cuDNN";
  use_fake();
  for (const char* entry : {"cudnnBackendFinalize", "cudnnBackendGetAttribute"}) {
    ::setenv("TENON_FAKE_CUDA_FAIL", (std::string(entry) + ":1:3000").c_str(), 1);
    const cli::Outcome run = train_cnn();
    EXPECT_EQ(run.code, 0) << entry << run.err;
    EXPECT_EQ(run.err, "");
  }
}

}  // namespace
