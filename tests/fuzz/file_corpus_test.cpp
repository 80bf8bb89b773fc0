// The files that libFuzzer begins with (file_fuzz_test.sh, in the long form), as they are, cut, and with
// a byte changed: each is read to its end or refused with an error that names it, and its reader has
// at no moment more than the file's size and 64 MiB.
#include <sys/resource.h>

#include <fstream>
#include <new>

#include "files_support.h"
#include "file_formats.h"

namespace tenon::fuzz {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimits = false;  // their own memory is counted too
#else
constexpr bool kLimits = true;
#endif

// Memory of this process that it can write to, as RLIMIT_DATA counts it.
uint64_t data_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    uint64_t kib = 0;
    if (word == "VmData:" && status >> kib) return kib << 10;
  }
  return 0;
}

// While it lives, so much memory more is all that there is.
class MemoryLimit {
 public:
  explicit MemoryLimit(uint64_t bytes) {
    if (!kLimits) return;
    ::getrlimit(RLIMIT_DATA, &before_);
    rlimit limit = before_;
    limit.rlim_cur = std::min<rlim_t>(data_bytes() + bytes, before_.rlim_max);
    ::setrlimit(RLIMIT_DATA, &limit);
  }
  ~MemoryLimit() {
    if (kLimits) ::setrlimit(RLIMIT_DATA, &before_);
  }

 private:
  rlimit before_{};
};

class FileCorpus : public files::FilesTest {
 protected:
  // "" where the file is read or refused as it should be.
  std::string wrong_with(const FileFormat& format, const std::string& bytes) const {
    const std::string file = write("f", bytes);
    const MemoryLimit limit(bytes.size() + kMostBeside);
    try {
      format.read(file);
    } catch (const Error& error) {
      const std::string what = error.what();
      if (error.code() == TN_OUT_OF_MEMORY) return "needs too much memory: " + what;
      if (what.find(file) == what.npos) return "does not name the file: " + what;
      if (what.find('\n') != what.npos) return "has several lines: " + what;
    } catch (const std::bad_alloc&) {
      return "needs too much memory";
    }
    return "";
  }
};

// Bytes of both ends of a number's range, and one that is between.
std::vector<std::string> changed(const std::string& bytes, size_t at) {
  std::vector<std::string> list;
  for (const char byte : {'\0', '\x7f', '\xff', static_cast<char>(bytes[at] ^ 1)}) {
    list.push_back(bytes);
    list.back()[at] = byte;
  }
  return list;
}

TEST_F(FileCorpus, IsReadOrRefused) {
  for (const FileFormat& format : file_formats()) {
    int64_t tried = 0;
    for (const std::string& bytes : format.corpus()) {
      const auto expect_well = [&](std::string file, const std::string& how) {
        if (format.mend != nullptr && tried % 2 == 0) format.mend(&file);
        EXPECT_EQ(wrong_with(format, file), "") << format.name << ", file " << tried << how;
        ++tried;
      };
      expect_well(bytes, "");
      const size_t step = 1 + bytes.size() / 60;
      for (size_t at = 0; at < bytes.size(); at += step) {
        expect_well(bytes.substr(0, at), ", cut at " + std::to_string(at));
        for (const std::string& file : changed(bytes, at))
          expect_well(file, ", changed at " + std::to_string(at));
      }
    }
    EXPECT_GT(tried, 500) << format.name;
  }
}

// Those of the corpus that are good are read: it would prove little if all were refused.
TEST_F(FileCorpus, HasGoodFiles) {
  for (const FileFormat& format : file_formats()) {
    const std::vector<std::string> corpus = format.corpus();
    size_t good = 0;
    for (const std::string& bytes : corpus) {
      const std::string file = write("f", bytes);
      good += files::message_of([&] { format.read(file); }).empty();
    }
    EXPECT_GE(good, 3u) << format.name;
  }
}

}  // namespace
}  // namespace tenon::fuzz
