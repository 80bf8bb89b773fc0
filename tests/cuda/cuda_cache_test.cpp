// The cache of compiled kernels on disk: what a second process finds, and what happens with files and
// folders that are damaged, not ours, read-only or full. Notes are said once in a process, so each
// case is a fork; what it gives is "found" or "none", and the notes.
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "cli_support.h"
#include "disk_cache.h"
#include "driver.h"
#include "in_a_fork.h"

namespace {

using File = cli::fs::path;  // or a folder

std::string notes;
void log(int32_t, const char* message) { notes += std::string("; ") + message; }

std::string find(const std::string& key) {
  std::string value;
  if (!cuda::find_cached(key, &value)) return "none" + std::exchange(notes, "");
  return "found " + value + std::exchange(notes, "");
}

// One after the other.
std::string find(const std::string& key, const std::string& then) {
  const std::string first = find(key);
  return first + ", " + find(then);
}

std::string keep_and_find() {
  cuda::keep_cached("key", "value");
  return find("key");
}

class CudaCache : public cli::CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    static tn_host table = {};
    table.log = log;
    cuda::host = &table;
    base_ = folder_ / "cache";
    cache_ = base_ / "tenon";
    ::setenv("XDG_CACHE_HOME", base_.c_str(), 1);
    ::setenv("HOME", (folder_ / "home").c_str(), 1);
    ::unsetenv("TENON_CUDA_CACHE");
  }
  void TearDown() override {
    ::unsetenv("LD_LIBRARY_PATH");
    ::unsetenv("TENON_FAKE_CUDA_COMPILED");
    CliTest::TearDown();
  }

  std::vector<File> entries() const {
    std::vector<File> found;
    if (!cli::fs::exists(cache_)) return found;
    for (const auto& file : cli::fs::directory_iterator(cache_)) found.push_back(file.path());
    return found;
  }
  // The file of "key", which is made first.
  File entry() const {
    in_a_fork([] { return keep_and_find(); });
    const std::vector<File> found = entries();
    EXPECT_EQ(found.size(), 1u);
    return found.at(0);
  }
  std::string in_cache(const char* text) const { return cache_.string() + text; }

  File base_, cache_;
};

// ---- What is found

TEST_F(CudaCache, GivesAValueToAnotherProcess) {
  EXPECT_EQ(find("key"), "none");
  EXPECT_FALSE(cli::fs::exists(base_));  // who only looks makes no folder
  EXPECT_EQ(in_a_fork([] { return keep_and_find(); }), "found value");
  EXPECT_EQ(in_a_fork([] { return find("key"); }), "found value");
  EXPECT_EQ(find("key"), "found value");
  EXPECT_EQ(find("another key"), "none");
  EXPECT_EQ(entries().size(), 1u);
  struct stat made {};
  EXPECT_EQ(::stat(cache_.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777, 0700u);
}

TEST_F(CudaCache, KeepsBytesOfAnyKind) {
  const std::string key("a\0b\n", 4), value("\0\xff\n\0", 4);
  cuda::keep_cached(key, value);
  cuda::keep_cached("empty", "");
  EXPECT_EQ(find(key), "found " + value);
  EXPECT_EQ(find("empty"), "found ");
}

TEST_F(CudaCache, IsInTheHomeWhereNoOtherPlaceIsNamed) {
  ::mkdir(::getenv("HOME"), 0700);
  for (const char* base : {"", "relative"}) {  // which the standard tells to ignore
    ::setenv("XDG_CACHE_HOME", base, 1);
    EXPECT_EQ(keep_and_find(), "found value");
    EXPECT_EQ(cli::fs::remove_all(File(::getenv("HOME")) / ".cache/tenon"), 2u);
  }
  ::setenv("HOME", "", 1);
  EXPECT_EQ(keep_and_find(), "none");
}

TEST_F(CudaCache, IsSwitchedOff) {
  ::setenv("TENON_CUDA_CACHE", "0", 1);
  EXPECT_EQ(keep_and_find(), "none");
  EXPECT_FALSE(cli::fs::exists(base_));
}

TEST_F(CudaCache, SaysThatALimitIsNoNumber) {
  for (const char* wish : {"off", "-1", "12x", "99999999999999999999"}) {
    ::setenv("TENON_CUDA_CACHE", wish, 1);
    EXPECT_EQ(in_a_fork([] { return keep_and_find(); }),
              std::string("found value; cuda: TENON_CUDA_CACHE=") + wish +
                  ": is no number of MiB, so 1024 are taken; 0 switches the cache off");
  }
}

TEST_F(CudaCache, ComparesTheKey) {
  const File file = entry();
  cuda::keep_cached("another", "its value");
  for (const File& other : entries()) {  // as if both had the same name
    if (other != file) cli::fs::copy_file(file, other, cli::fs::copy_options::overwrite_existing);
  }
  EXPECT_EQ(find("key"), "found value");
  EXPECT_EQ(find("another"), "none");
}

// ---- Files that are not read

constexpr char kAnew[] = ", so it is not read, and made anew";

TEST_F(CudaCache, MakesADamagedFileAnew) {
  const File file = entry();
  const std::string whole = cli::read(file);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string text = whole;
    text[at] = static_cast<char>(text[at] ^ 4);
    std::ofstream(file, std::ios::binary) << text;
    const std::string outcome = in_a_fork([] { return find("key"); });
    EXPECT_EQ(outcome.rfind("none; cuda: " + file.string() + ": is ", 0), 0u) << at << outcome;
  }
  EXPECT_EQ(in_a_fork([] { return find("key"); }),
            "none; cuda: " + file.string() + ": is damaged" + kAnew);
  EXPECT_EQ(in_a_fork([] { return find("key", "key"); }),
            "none; cuda: " + file.string() + ": is damaged" + kAnew + ", none");
  EXPECT_EQ(keep_and_find(), "found value");
  EXPECT_EQ(cli::read(file), whole);
}

TEST_F(CudaCache, MakesACutFileAnew) {
  const File file = entry();
  const auto whole = cli::fs::file_size(file);
  for (uintmax_t bytes = 0; bytes < whole; ++bytes) {
    cuda::keep_cached("key", "value");
    cli::fs::resize_file(file, bytes);
    EXPECT_EQ(in_a_fork([] { return find("key"); }),
              "none; cuda: " + file.string() + ": is cut" + kAnew);
  }
  EXPECT_EQ(keep_and_find(), "found value");
  std::ofstream(file, std::ios::app) << "more";
  EXPECT_EQ(in_a_fork([] { return find("key"); }),
            "none; cuda: " + file.string() + ": is cut" + kAnew);
}

TEST_F(CudaCache, ReadsNoFileOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const File file = entry();
  ASSERT_EQ(::chown(file.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  EXPECT_EQ(in_a_fork([] { return find("key"); }),
            "none; cuda: " + file.string() + ": belongs to another user" + kAnew);
  EXPECT_EQ(keep_and_find(), "found value");
}

TEST_F(CudaCache, ReadsNoFileThatOthersCanWrite) {
  const File file = entry();
  for (const mode_t mode : {0620u, 0602u}) {
    ::chmod(file.c_str(), mode);
    EXPECT_EQ(in_a_fork([] { return find("key"); }),
              "none; cuda: " + file.string() + ": can be written by others" + kAnew);
  }
  EXPECT_EQ(keep_and_find(), "found value");
}

TEST_F(CudaCache, FollowsNoLink) {
  const File file = entry(), other = folder_ / "other";
  cli::fs::rename(file, other);
  cli::fs::create_symlink(other, file);
  EXPECT_EQ(in_a_fork([] { return find("key"); }),
            "none; cuda: " + file.string() + ": is a link" + kAnew);
  cuda::keep_cached("key", "new value");
  EXPECT_EQ(find("key"), "found new value");
  EXPECT_FALSE(cli::fs::is_symlink(file));
  EXPECT_EQ(cli::read(other).substr(cli::fs::file_size(other) - 8), "keyvalue");
}

TEST_F(CudaCache, ReadsRegularFilesAlone) {
  const File file = entry();
  cli::fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(in_a_fork([] { return find("key"); }),
            "none; cuda: " + file.string() + ": is no file" + kAnew);
  EXPECT_EQ(keep_and_find(), "found value");
}

// ---- Folders that are not used

constexpr char kNotKept[] = ", so what is compiled is not kept on disk";

TEST_F(CudaCache, UsesNoFolderThatOthersCanWrite) {
  const File file = entry();
  for (const mode_t mode : {0770u, 0707u}) {
    ::chmod(cache_.c_str(), mode);
    EXPECT_EQ(in_a_fork([] { return find("key", "key"); }),
              "none; cuda: " + in_cache(": can be written by others") + kNotKept + ", none");
  }
}

TEST_F(CudaCache, UsesNoFolderOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const File file = entry();
  ASSERT_EQ(::chown(cache_.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  EXPECT_EQ(in_a_fork([] { return keep_and_find(); }),
            "none; cuda: " + in_cache(": belongs to another user") + kNotKept);
}

TEST_F(CudaCache, UsesNoFolderBehindALink) {
  const File file = entry();
  cli::fs::rename(cache_, base_ / "other");
  cli::fs::create_directory_symlink(base_ / "other", cache_);
  EXPECT_EQ(in_a_fork([] { return keep_and_find(); }),
            "none; cuda: " + in_cache(": is a link or no folder") + kNotKept);
  cli::fs::remove(cache_);
  std::ofstream(cache_.string()) << "a file";
  EXPECT_EQ(in_a_fork([] { return keep_and_find(); }),
            "none; cuda: " + in_cache(": is a link or no folder") + kNotKept);
}

TEST_F(CudaCache, SaysThatAFolderCannotBeMade) {
  ::setenv("XDG_CACHE_HOME", "/proc/self", 1);  // where nobody makes one
  EXPECT_EQ(in_a_fork([] {
              cuda::keep_cached("key", "value");
              return find("key", "key");
            }),
            std::string("none; cuda: /proc/self/tenon: cannot be made: No such file or directory") +
                kNotKept + ", none");
}

TEST_F(CudaCache, ReadsAReadOnlyFolder) {
  const File file = entry();
  if (::geteuid() == 0) {  // whom modes do not hold up
    ::chmod(folder_.c_str(), 0755);
    for (const File& one : {base_, cache_, file})
      ASSERT_EQ(::chown(one.c_str(), 65534, static_cast<gid_t>(-1)), 0);
  }
  ::chmod(cache_.c_str(), 0500);
  EXPECT_EQ(in_a_fork([]() -> std::string {
              if (::geteuid() == 0 && ::setuid(65534) != 0) return "setuid";
              cuda::keep_cached("another", "its value");
              const std::string first = find("key");
              cuda::keep_cached("a third", "its value");
              return first + " " + find("a third");
            }),
            "found value; cuda: " + in_cache(": cannot be written: Permission denied") + kNotKept +
                " none");
  ::chmod(cache_.c_str(), 0700);
}

TEST_F(CudaCache, GoesOnWhereTheDiskIsFull) {
  const File file = entry();
  const std::string outcome = in_a_fork([&]() -> std::string {
    const char* all = cache_.c_str();
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, "") != 0 ||
        ::mount("none", all, "tmpfs", 0, "size=64k,mode=700") != 0)
      return "no mount";
    cuda::keep_cached("large", std::string(100000, 'x'));
    const auto left = entries().size();
    cuda::keep_cached("key", "value");
    return find("large", "key") + " " + std::to_string(left);
  });
  if (outcome == "no mount") GTEST_SKIP() << "this user may not mount a small disk";
  EXPECT_EQ(outcome, "none; cuda: " + in_cache(": cannot be written: No space left on device") +
                         kNotKept + ", found value 0");
}

TEST_F(CudaCache, GoesOnWhereFilesMayNotBeLong) {
  const File file = entry();
  EXPECT_EQ(in_a_fork([] {
              const rlimit few = {1000, 1000};
              ::setrlimit(RLIMIT_FSIZE, &few);
              cuda::keep_cached("large", std::string(2000, 'x'));
              cuda::keep_cached("key", "value");
              return find("large", "key");
            }),
            "none; cuda: " + in_cache(": cannot be written: File too large") + kNotKept +
                ", found value");
  EXPECT_EQ(entries().size(), 1u);
}

// ---- Limits, and others at the same time

TEST_F(CudaCache, RemovesTheOldest) {
  ::setenv("TENON_CUDA_CACHE", "1", 1);
  const File first = entry();
  const auto now = cli::fs::file_time_type::clock::now();
  const auto add = [&](const char* name, int hours, size_t bytes) {
    std::ofstream(cache_ / name) << std::string(bytes, 'x');
    cli::fs::last_write_time(cache_ / name, now - std::chrono::hours(hours));
  };
  add("cuda-oldest", 300, 400000);
  add("cuda-old", 200, 400000);
  add("cuda-new", 100, 400000);
  add("cuda-left.1.part", 30, 1);
  add("cuda-busy.2.part", 20, 1);
  add("another", 400, 400000);
  cli::fs::last_write_time(first, now - std::chrono::hours(400));
  // An entry that is read counts as new.
  EXPECT_EQ(in_a_fork([] {
              find("key");
              cuda::keep_cached("more", std::string(70000, 'm'));  // so much that it looks
              return find("key");
            }),
            "found value");
  std::set<std::string> left;
  for (const File& file : entries()) left.insert(file.filename());
  EXPECT_EQ(left.size(), 6u);
  EXPECT_EQ(left.count("cuda-oldest") + left.count("cuda-left.1.part"), 0u);
  EXPECT_EQ(left.count("cuda-old") + left.count("cuda-busy.2.part") + left.count("another"), 3u);
  EXPECT_EQ(in_a_fork([] { return find("more").substr(0, 7); }), "found m");
}

// Values that depend on their keys, so that a wrong or a torn one shows; the limit makes some go.
TEST_F(CudaCache, ServesManyProcessesAtOnce) {
  ::setenv("TENON_CUDA_CACHE", "1", 1);
  const auto value_of = [](int key) {
    return std::string(static_cast<size_t>(5000 + 2000 * key), static_cast<char>('a' + key));
  };
  const auto work = [&](int self) -> std::string {
    int found = 0;
    for (int k = 0; k < 400; ++k) {
      const int key = (k * 7 + self * 3) % 26;
      std::string value;
      if (!cuda::find_cached(std::to_string(key), &value)) {
        cuda::keep_cached(std::to_string(key), value_of(key));
      } else if (value == value_of(key)) {
        ++found;
      } else {
        return "wrong value";
      }
    }
    return (found > 100 ? "fine" : "found too few") + notes;
  };
  std::vector<pid_t> children;
  for (int self = 0; self < 8; ++self) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(work(self) == "fine" ? 0 : 1);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  for (const File& file : entries()) EXPECT_NE(file.extension(), ".part");
}

// ---- The plugin, on the driver of the tests' own

TEST_F(CudaCache, ASecondTrainingCompilesNothing) {
  ::setenv("LD_LIBRARY_PATH", (build() + "/tests/cuda/fake").c_str(), 1);
  const std::string compiled = (folder_ / "compiled").string();
  ::setenv("TENON_FAKE_CUDA_COMPILED", compiled.c_str(), 1);
  const std::string train =
      "train '" + training({{"\"epochs\": 40", "\"epochs\": 1"}}) + "' --device cuda";
  const auto count = [&] {
    const std::string lines = cli::read(compiled);
    cli::fs::remove(compiled);
    return std::count(lines.begin(), lines.end(), '\n');
  };
  const cli::Outcome first = tenon(train);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.err, "");
  const auto n = count();
  EXPECT_GT(n, 10);
  EXPECT_EQ(entries().size(), static_cast<size_t>(n));
  EXPECT_EQ(cli::accuracy(tenon(train)), cli::accuracy(first));
  EXPECT_EQ(count(), 0);

  std::ofstream(entries().at(0), std::ios::app) << "more";
  const cli::Outcome third = tenon(train);
  EXPECT_HAS(third.err, "cuda: " + in_cache("/cuda-"));
  EXPECT_EQ(cli::accuracy(third), cli::accuracy(first));
  EXPECT_EQ(count(), 1);

  ::setenv("TENON_CUDA_CACHE", "0", 1);
  EXPECT_EQ(cli::accuracy(tenon(train)), cli::accuracy(first));
  EXPECT_EQ(count(), n);
}

// Plans of cuDNN: a second process reads them, and another version of cuDNN makes its own.
TEST_F(CudaCache, ASecondTrainingPlansNothing) {
  const std::string fake = build() + "/tests/cuda/fake";
  if (!cli::fs::exists(fake + "/libcudnn.so.9"))
    GTEST_SKIP() << "the plugin is built without cuDNN";
  ::setenv("LD_LIBRARY_PATH", fake.c_str(), 1);
  const std::string planned = (folder_ / "planned").string();
  ::setenv("TENON_FAKE_CUDNN_PLANNED", planned.c_str(), 1);
  std::ifstream digits(CliTest::digits() + "/digits.csv");
  std::string few, line;
  for (int i = 0; i < 48 && std::getline(digits, line); ++i) few += line + "\n";
  std::string text = cli::read(CliTest::digits() + "/cnn.json");
  text.replace(text.find("digits.csv"), 10, write("few.csv", few));
  const std::string train = "train '" + write("cnn.json", text) + "' --device cuda --epochs 1";
  const auto plans_of_training = [&] {
    const cli::Outcome run = tenon(train);
    EXPECT_EQ(run.code, 0) << run.err;
    const std::string lines = cli::read(planned);
    cli::fs::remove(planned);
    return std::count(lines.begin(), lines.end(), '\n');
  };
  const auto n = plans_of_training();
  EXPECT_GE(n, 5);  // two convolutions, and three of their gradients
  EXPECT_EQ(plans_of_training(), 0);
  for (const auto& [variable, other] : {std::pair("TENON_FAKE_CUDNN_VERSION", "92000"),
                                        {"TENON_FAKE_CUDNN_CUDART", "13990"},
                                        {"TENON_FAKE_CUDA_MULTIPROCESSORS", "66"}}) {
    SCOPED_TRACE(variable);
    ::setenv(variable, other, 1);
    EXPECT_EQ(plans_of_training(), n);
    EXPECT_EQ(plans_of_training(), 0);
    ::unsetenv(variable);
  }
  ::unsetenv("TENON_FAKE_CUDNN_PLANNED");
}

}  // namespace
