// The tests' own driver finds what it is for. Mistakes are put into copies of the plugin's headers of
// kernels, one at a time, and an op that meets the mistake runs in a process of its own: what the
// driver says there names it. With headers as they are, and in any order of threads and blocks, the
// same ops have the values of `cpu` and nothing is said.
#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "in_a_fork.h"
#include "seeded_faults.h"

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

class CudaShim : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tenon_shim_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    ::unsetenv("TENON_FAKE_CUDA_HEADERS");
    ::unsetenv("TENON_FAKE_CUDA_ORDER");
    fs::remove_all(folder_);
  }

  // Texts are compiled with the plugin's headers, but for this change.
  void use_headers_with(const faults::Fault& fault) {
    const fs::path kernels =
        fs::path(::getenv("TENON_SOURCE_DIR")) / "backends" / "cuda" / "kernels";
    const fs::path headers = folder_ / "headers";
    fs::remove_all(headers);
    fs::copy(kernels, headers);
    std::string text = read(headers / fault.file);
    const size_t place = text.find(fault.from);
    ASSERT_NE(place, std::string::npos) << fault.file << " has no longer:\n"
                                        << fault.from << "\nPut the mistake elsewhere.";
    text.replace(place, fault.from.size(), fault.to);
    std::ofstream(headers / fault.file, std::ios::binary) << text;
    ::setenv("TENON_FAKE_CUDA_HEADERS", headers.c_str(), 1);
  }

  // What stderr gets in a process that runs ops on `cuda`, and how it ends. `values` gets theirs.
  std::string said_of(const std::vector<const faults::Op*>& ops, std::string* values = nullptr) {
    const fs::path file = folder_ / "said", bytes = folder_ / "values";
    const std::string ended = in_a_fork([&] {
      ::dup2(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
      load_all();
      std::ofstream out(bytes, std::ios::binary);
      for (const faults::Op* op : ops) {
        const Tensor x = op->input(), there = x.to(tn::Device("cuda:0"));
        const Tensor found = op->run(there).to(tn::cpu), expected = op->run(x);
        if (!is_same(found, expected) || !is_same(there.to(tn::cpu), x)) return faults::kWrongValue;
        for (const double value : found.to_vector<double>())
          out.write(reinterpret_cast<const char*>(&value), sizeof value);
      }
      return "";
    });
    if (values) *values = read(bytes);
    return read(file) + ended;
  }

  // Kernels of whole ops round in their own order.
  static bool is_same(const Tensor& found, const Tensor& expected) {
    const std::vector<double> a = found.to_vector<double>(), b = expected.to_vector<double>();
    for (size_t i = 0; i < a.size(); ++i) {
      if (!(std::fabs(a[i] - b[i]) <= 1e-6 * std::fabs(b[i]))) return false;
    }
    return a.size() == b.size();
  }

  fs::path folder_;
};

// The parts of `pattern`, which "..." divides, in their order.
bool has_parts(const std::string& text, const std::string& pattern) {
  size_t at = 0;
  for (size_t begin = 0; begin <= pattern.size();) {
    const size_t end = std::min(pattern.find("...", begin), pattern.size());
    const std::string part = pattern.substr(begin, end - begin);
    at = text.find(part, at);
    if (at == std::string::npos) return false;
    at += part.size();
    begin = end + 3;
  }
  return true;
}

class CudaFault : public CudaShim, public testing::WithParamInterface<faults::Fault> {};

TEST_P(CudaFault, IsReported) {
  use_headers_with(GetParam());
  const std::string said = said_of({GetParam().op});
  EXPECT_TRUE(has_parts(said, GetParam().says)) << GetParam().says << "\n" << said;
}

INSTANTIATE_TEST_SUITE_P(Seeded, CudaFault, testing::ValuesIn(faults::all()),
                         [](const auto& info) { return std::string(info.param.name); });

// Those of the faults whose index is in range.
std::vector<const faults::Op*> sound_ops() {
  std::vector<const faults::Op*> ops;
  for (const faults::Fault& fault : faults::all()) {
    if (fault.op != &faults::gather_behind) ops.push_back(fault.op);
  }
  return ops;
}

TEST_F(CudaShim, SaysNothingOfKernelsAsTheyAreInAnyOrderOfThreadsAndBlocks) {
  std::string values, others;
  EXPECT_EQ(said_of(sound_ops(), &values), "");
  EXPECT_GT(values.size(), 500'000u);
  for (const char* seed : {"1", "2", "3"}) {
    ::setenv("TENON_FAKE_CUDA_ORDER", seed, 1);
    EXPECT_EQ(said_of(sound_ops(), &others), "") << seed;
    EXPECT_TRUE(others == values) << seed;
  }
}

}  // namespace
