// The way from the cpu plugin to oneDNN, under the small host of cpu_host.h: when its adapter is
// opened, and what happens where it is not there or damaged. The long form cuts the file of the
// adapter at 50 places, the default form at 10.
#include <filesystem>
#include <fstream>

#include "cpu_host.h"
#include "long_form.h"

#include <gtest/gtest.h>

namespace cpu_test {
namespace {

namespace fs = std::filesystem;

// Whether the kernel of conv2d takes an ordinary call.
bool ask_for_convolution() {
  Tensor x({1, 3, 8, 8}, TN_FLOAT32), weight({4, 3, 3, 3}, TN_FLOAT32);
  const int64_t one = 1, zero = 0;
  const auto ints = [](const int64_t* value) {
    tn_value v = {TN_KIND_INTS, 1, {}};
    v.as.ints = value;
    return v;
  };
  tn_value groups = {TN_KIND_INT, 0, {}};
  groups.as.i = 1;
  const tn_value none = {TN_KIND_NONE, 0, {}};
  const tn_value args[] = {x, weight, none, ints(&one), ints(&zero), ints(&one), groups};
  const tn_meta y = {4, TN_FLOAT32, {}, {1, 4, 6, 6}};
  tn_call call = {};
  call.host = &plugin().host;
  call.args = args;
  call.n_args = 7;
  call.metas = &y;
  char reason[200];
  const tn_kernel_def& conv2d = record().pairs.at("conv2d").forward;
  return conv2d.supports(conv2d.self, &call, reason, sizeof reason) != 0;
}

bool is_mapped(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != line.npos) {
      return true;
    }
  }
  return false;
}

bool may_open_library() {
#if defined(TENON_SANITIZE)
  return false;
#endif
  const char* wish = std::getenv("TENON_CPU_DNNL");
  return !(wish && *wish == '0');
}

// The first test of this file: nothing has opened it yet.
TEST(CpuOneDnn, IsOpenedAtTheFirstConvolution) {
  const bool there =
      may_open_library() && fs::exists(Plugin::folder() + "/cpu/libtenon_cpu_dnnl.so");
  plugin();
  EXPECT_FALSE(is_mapped("libdnnl"));
  EXPECT_EQ(ask_for_convolution(), there);
  EXPECT_EQ(is_mapped("libdnnl"), there);
}

// A copy of the plugin in a folder of this process; it takes the first one's place.
class Copy {
 public:
  Copy() {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    fs::copy_file(Plugin::folder() + "/libtenon_cpu.so", fs::path(folder_) / "libtenon_cpu.so");
  }
  Copy(const Copy&) = delete;
  ~Copy() { fs::remove_all(folder_); }

  fs::path adapter() const { return fs::path(folder_) / kAdapter; }
  // Asks for two convolutions; what was logged meanwhile.
  std::string ask() {
    plugin();
    const Plugin second((fs::path(folder_) / "libtenon_cpu.so").string());
    record().log.clear();
    ask_for_convolution();
    ask_for_convolution();
    return record().log;
  }

  static constexpr const char* kAdapter = "cpu/libtenon_cpu_dnnl.so";

 private:
  std::string folder_ = testing::TempDir() + "tenon_cpu_copy_XXXXXX";
};
const std::string kWithout = "2 cpu: oneDNN is not there, convolutions decompose: ";

// The last ones, since they put copies in the plugin's place.
TEST(CpuOneDnn, DoesWithoutOneDnnAndSaysSoOnce) {
  Copy copy;
  const std::string log = copy.ask();
  if (may_open_library()) {
    EXPECT_EQ(log.rfind(kWithout + copy.adapter().string() + ": cannot be opened: "), 0u) << log;
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  }
}

TEST(CpuOneDnn, AdapterThatIsCutIsNotOpened) {
  const fs::path whole = fs::path(Plugin::folder()) / Copy::kAdapter;
  if (!may_open_library() || !fs::exists(whole)) {
    GTEST_SKIP() << "no adapter is opened here";
  }
  const int cuts = long_form() ? 50 : 10;
  for (int i = 0; i < cuts; ++i) {
    Copy copy;
    fs::create_directory(copy.adapter().parent_path());
    fs::copy_file(whole, copy.adapter());
    const size_t bytes = fs::file_size(whole) * i / cuts;
    fs::resize_file(copy.adapter(), bytes);
    const std::string why =
        i == 0 ? "the file is empty" : "file ends at " + std::to_string(bytes) + ", ";
    const std::string log = copy.ask();
    EXPECT_EQ(log.rfind(kWithout + copy.adapter().string() + ": " + why, 0), 0u) << log;
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  }
}

}  // namespace
}  // namespace cpu_test
