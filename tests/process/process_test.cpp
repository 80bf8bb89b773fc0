// What becomes of a process that uses Tenon: forks of it, and limits that the shell set for it.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <tenon/data/stream.hpp>
#include <tenon/tenon.hpp>

#include "in_a_fork.h"

namespace tn = tenon;

namespace {

// Large enough for all threads of cpu: a formula, a sum, a product and a convolution.
// "": right.
std::string compute() {
  const auto x = tn::ones({1024, 1024});
  if ((x + x).sum().item<float>() != 2.0f * 1024 * 1024) return "add is wrong";
  if (tn::matmul(x, x).sum().item<float>() != 1024.0f * 1024 * 1024) return "matmul is wrong";
  if (tn::conv2d(tn::ones({8, 64, 32, 32}), tn::ones({64, 64, 1, 1})).sum().item<float>() !=
      64.0f * 64 * 8 * 32 * 32) {
    return "conv2d is wrong";
  }
  return "";
}

// What runs behind main and behind the ends of all that Tenon and its plugins made: it was asked for before
// anything of them was there. In a fork that sets the file alone, where it says what it found.
std::string late_file;
void use_late() {
  if (late_file.empty()) return;
  std::string found = "fine";
  try {
    const auto x = tn::ones({3, 1}), y = tn::ones({3});
    tn::mse_loss(x, y);  // warns
    tn::binomial(tn::full({10}, 5.0f), tn::full({10}, 0.5f));
    tn::poisson(tn::full({10}, 15.0f));
    tn::erfinv(x * 0.5);
    const auto layer = tn::nn::Linear(1, 4);
    const auto optimizer = tn::optim::AdamW(layer.parameters());
    layer(x).sum().backward();
    optimizer.step();
    tn::save(layer.state_dict(), late_file + ".safetensors");
    if (tn::load(late_file + ".safetensors").size() != 2) found = "not saved";
    try {
      tn::matmul(tn::ones({2, 3}), tn::ones({2, 3}));
      found = "no error";
    } catch (const tn::Error&) {
    }
  } catch (const std::exception& e) {
    found = e.what();
  }
  std::ofstream(late_file) << found;
}
[[maybe_unused]] const int asked = std::atexit(use_late);

TEST(Exit, TenonIsThereUntilTheProcessIsGone) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::string file = folder / ("tenon_late_" + std::to_string(::getpid()));
  const std::string ended = in_a_fork([&]() -> std::string {
    tn::load_plugins();
    tn::ones({3}).sum();
    late_file = file;
    std::exit(0);
  });
  EXPECT_EQ(ended, "");
  std::string found;
  std::getline(std::ifstream(file), found);
  EXPECT_EQ(found, "fine");
  std::filesystem::remove(file);
  std::filesystem::remove(file + ".safetensors");
}

// oneDNN is opened at the first convolution. Before a test of this process has one.
TEST(OpenFiles, ThatAreTooManyConcernTheCallsMeanwhileAlone) {
  const auto convolve = [](bool lacks_files) {
    return in_a_fork([lacks_files] {
      tn::load_plugins();
      tn::manual_seed(1);
      const auto x = tn::randn({1, 32, 20, 20}), w = tn::randn({32, 32, 3, 3});
      if (lacks_files) {
        const rlimit few{40, 40};
        ::setrlimit(RLIMIT_NOFILE, &few);
        std::vector<int> files;
        for (int file; (file = ::open("/dev/null", O_RDONLY)) >= 0;) files.push_back(file);
        tn::conv2d(x, w);
        for (const int file : files) ::close(file);
      }
      char sum[40];  // exactly
      std::snprintf(sum, sizeof(sum), "%a", tn::conv2d(x, w).sum().item<double>());
      return std::string(sum);
    });
  };
  EXPECT_EQ(convolve(true), convolve(false));
}

TEST(Fork, ComputesOnCpuInTheChild) {
  tn::load_plugins();
  EXPECT_EQ(compute(), "");
  EXPECT_EQ(in_a_fork(compute), "");
  EXPECT_EQ(in_a_fork([] { return in_a_fork(compute); }), "");
  EXPECT_EQ(compute(), "");
}

struct Numbers {
  int64_t size() const { return 10; }
  int64_t get(int64_t i) const { return i; }
};
int64_t sum_of(const std::vector<int64_t>& samples) {
  return std::accumulate(samples.begin(), samples.end(), int64_t{0});
}
// A child has none of its parent's workers, one of which may hold the loader's mutex as it is made.
template <typename Loader>
void expect_passes_in_children(Loader loader) {
  const auto pass = [&] {
    int64_t sum = 0;
    for (const int64_t batch : loader) sum += batch;
    return std::to_string(sum);
  };
  EXPECT_EQ(pass(), "45");
  EXPECT_EQ(in_a_fork([&] { return pass() + " " + pass(); }), "45 45");
  for (int i = 0; i < 20; ++i) {
    auto at = loader.begin();
    EXPECT_EQ(in_a_fork([&] {
                ++at;
                return std::string("the pass went on");
              }),
              "DataLoader: this process was forked within a pass, whose workers are its parent's: "
              "begin a pass of its own");
    EXPECT_EQ(in_a_fork(pass), "45");
    EXPECT_EQ(in_a_fork([&] {
                { const Loader gone = std::move(loader); }
                return std::string("gone");
              }),
              "gone");
    EXPECT_EQ(pass(), "45");
  }
}
TEST(Fork, PassesOverALoaderWithWorkersOfItsOwn) {
  tn::load_plugins();
  for (const bool persistent : {false, true}) {
    expect_passes_in_children(tn::data::DataLoader(
        Numbers(), {.batch_size = 2, .num_workers = 3, .persistent_workers = persistent}, sum_of));
  }
  const auto numbers = tn::data::stream([](int64_t) {
    return
        [i = int64_t{0}]() mutable { return i < 10 ? std::optional<int64_t>(i++) : std::nullopt; };
  });
  for (const int64_t shuffle_buffer : {0, 4}) {
    expect_passes_in_children(tn::data::StreamLoader(
        numbers, {.batch_size = 2, .shuffle_buffer = shuffle_buffer, .num_workers = 3, .seed = 1},
        sum_of));
  }
}

// Before a test of this process uses `ref`.
TEST(Fork, MayBeTheFirstToUseADevice) {
  tn::load_plugins();
  EXPECT_EQ(in_a_fork([] {
              const auto x = tn::ones({100}, tn::float32, tn::Device("ref"));
              return std::to_string((x + x).sum().item<float>());
            }),
            "200.000000");
}

TEST(Fork, RefusesADeviceThatTheParentUsed) {
  tn::load_plugins();
  const auto x = tn::ones({100}, tn::float32, tn::Device("ref"));
  EXPECT_EQ(x.sum().item<float>(), 100);
  const std::string refusal = "this process is a fork of one that used the device";
  const auto refused = in_a_fork([&] {
    const auto y = x + x;  // its memory may be of the host's cache
    return std::to_string(y.sum().item<float>());
  });
  EXPECT_NE(refused.find(refusal), refused.npos) << refused;
  const auto copied =
      in_a_fork([&] { return std::to_string(x.to(tn::Device("cpu")).sum().item<float>()); });
  EXPECT_NE(copied.find(refusal), copied.npos) << copied;
  EXPECT_EQ(in_a_fork([&] {
              { const auto dropped = x; }
              return compute();
            }),
            "");
  EXPECT_EQ((x + x).sum().item<float>(), 200);
}

// `limits` are the shell's. Output goes through a pipe, since a file would fall under them.
std::string tenon_under(const std::string& limits, const std::string& line) {
  const std::string command = "bash -c 'set -o pipefail; (" + limits + "; \"" +
                              std::string(std::getenv("TENON_BUILD_DIR")) + "/bin/tenon\" " + line +
                              ") 2>&1 | cat'";
  FILE* out = ::popen(command.c_str(), "r");
  if (out == nullptr) return "popen";
  std::string text;
  char buffer[256];
  while (std::fgets(buffer, sizeof(buffer), out) != nullptr) text += buffer;
  const int status = ::pclose(out);
  return status == 0 ? text : text + "; ended with " + std::to_string(status);
}

TEST(Limits, OfTheSizeOfFilesConcernNoDevice) {
  const std::string devices = tenon_under("ulimit -f 0", "plugins");
  EXPECT_NE(devices.find("device ref"), devices.npos) << devices;
  EXPECT_EQ(devices.find("not loaded"), devices.npos) << devices;
  const std::string trained =
      tenon_under("ulimit -f 0", "train \"" + std::string(std::getenv("TENON_SOURCE_DIR")) +
                                     "/examples/digits/mlp.json\" --epochs 1 --device ref");
  EXPECT_NE(trained.find("test accuracy"), trained.npos) << trained;
}

TEST(Limits, OfTheSizeOfFilesAreAnErrorOfTheSaveThatNamesTheFile) {
  const std::string file = testing::TempDir() + "tenon_process_test.safetensors";
#if defined(__clang__) && defined(TENON_SANITIZE)
  const std::string limit = "ulimit -f 4";  // clang's OpenMP writes a file of its own, of a KiB
#else
  const std::string limit = "ulimit -f 0";
#endif
  const std::string saved =
      tenon_under(limit, "train \"" + std::string(std::getenv("TENON_SOURCE_DIR")) +
                             "/examples/digits/mlp.json\" --epochs 1 --save \"" + file + "\"");
  EXPECT_NE(saved.find(file + ": writing failed, nothing was changed: File too large"), saved.npos)
      << saved;
  EXPECT_NE(saved.find("ended with 256"), saved.npos) << saved;  // code 1, and no signal
}

}  // namespace
