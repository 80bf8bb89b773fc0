// Files as all of Tenon reads and writes them: regular ones only, and whole or not at all, wherever
// the process is killed.
#include "tenon/disk.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <gtest/gtest.h>

#include <csignal>
#include <cstddef>

#include "files_support.h"
#include "killed_at.h"

namespace tenon::disk {
namespace {

namespace fs = std::filesystem;

class Disk : public files::FilesTest {
 protected:
  // What is wrong with reading the file, or "".
  static std::string reading(const std::string& file, uint64_t most = host_memory()) {
    Input input;
    std::string text;
    Problem problem = input.open(file);
    if (!problem) problem = input.read_all(&text, most);
    return problem.text;
  }
  static std::string writing(const std::string& file, const std::string& text) {
    Output output;
    Problem problem = output.open(file);
    if (!problem) problem = output.write(text.data(), text.size());
    if (!problem) problem = output.commit();
    return problem.text;
  }
  static mode_t mode(const std::string& file) {
    struct stat info {};
    EXPECT_EQ(::stat(file.c_str(), &info), 0) << file;
    return info.st_mode & 07777;
  }
  // Files of unfinished writers in the folder.
  size_t left_behind() const {
    size_t n = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      n += entry.path().filename().string().starts_with(".tenon-") ? 1 : 0;
    }
    return n;
  }
};

#define EXPECT_PART(text, part) EXPECT_PRED_FORMAT2(testing::IsSubstring, part, text)

// Runs `body` in a process of its own, as another user where `user` is given, and gives its code.
template <typename Body>
int in_child(Body body, uid_t user = 0) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (user != 0 && (::setgid(user) != 0 || ::setuid(user) != 0)) ::_exit(99);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Disk, ReadsRegularFilesOnly) {
  EXPECT_EQ(reading(write("a", "text")), "");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_PART(reading(path("pipe")), "pipe: is a device or pipe, not a regular file");
  EXPECT_EQ(reading("/dev/zero"), "/dev/zero: is a device or pipe, not a regular file");
  EXPECT_EQ(reading(folder_.string()), folder_.string() + ": is a folder, not a regular file");
  fs::create_symlink("/dev/zero", path("link"));
  EXPECT_PART(reading(path("link")), "link: is a device or pipe, not a regular file");
  EXPECT_PART(reading(path("absent")), "absent: cannot be opened: No such file");
  EXPECT_EQ(reading(""), "'': the path is empty, expected a file's");
  EXPECT_PART(reading(std::string("a\0b", 3)), "has a NUL in it");
}

TEST_F(Disk, ListsAFolder) {
  std::vector<std::string> names = {"before"};
  EXPECT_EQ(names_in(path("absent"), names), ENOENT);
  EXPECT_EQ(names_in(write("file", ""), names), ENOTDIR);
  fs::create_directory(path("sub"));
  write(".hidden", "");
  fs::create_symlink("nowhere", path("link"));
  EXPECT_EQ(names_in(folder_.string(), names), 0);
  EXPECT_EQ(names, (std::vector<std::string>{".hidden", "file", "link", "sub"}));
}

TEST_F(Disk, ComparesTheSizeBeforeItAllocates) {
  EXPECT_PART(reading(write("a", "12345"), 4), "a: has 5 bytes, expected at most 4");
  const uint64_t most = host_memory();
  if (::truncate(path("a").c_str(), off_t(most + 1)) != 0)
    GTEST_SKIP() << "no such large file here";
  EXPECT_PART(reading(path("a")), "expected at most " + std::to_string(most));
}

TEST_F(Disk, AFileThatChangesWhileItIsReadIsAnError) {
  const std::string file = write("a", "1234567890");
  char bytes[10];
  {
    Input input;
    ASSERT_FALSE(input.open(file));
    EXPECT_FALSE(input.read_at(0, bytes, 10));
    fs::resize_file(file, 5);
    EXPECT_PART(input.read_at(0, bytes, 10).text, "ends at 5, had 10 bytes when it was opened");
    EXPECT_PART(input.read_at(0, bytes, 5).text, "has 5 bytes, had 10 bytes when it was opened");
    fs::resize_file(file, 20);
    EXPECT_PART(input.read_at(0, bytes, 10).text, "has 20 bytes, had 10 bytes when it was opened");
  }
  Input input;
  ASSERT_FALSE(input.open(file));
  const timespec times[2] = {{1, 0}, {1, 0}};  // as a write of the same size would, at another time
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  EXPECT_PART(input.read_at(0, bytes, 10).text, "was written to, had 20 bytes");
}

TEST_F(Disk, ANewFileHasTheModeOfAnyOther) {
  const mode_t mask = ::umask(027);
  EXPECT_EQ(writing(path("a"), "new"), "");
  ::umask(mask);
  EXPECT_EQ(bytes_of(path("a")), "new");
  EXPECT_EQ(mode(path("a")), 0640u);
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(Disk, AReplacedFileKeepsItsMode) {
  for (const mode_t wanted : {0600u, 0644u, 0666u, 0750u}) {
    write("a", "old");
    ASSERT_EQ(::chmod(path("a").c_str(), wanted), 0);
    EXPECT_EQ(writing(path("a"), "new"), "");
    EXPECT_EQ(bytes_of(path("a")), "new");
    EXPECT_EQ(mode(path("a")), wanted);
    EXPECT_EQ(files_in_folder(), 1u);
  }
}

TEST_F(Disk, AReplacedFileKeepsItsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  write("a", "old");
  ASSERT_EQ(::chown(path("a").c_str(), 1234, 4321), 0);
  ASSERT_EQ(::chmod(path("a").c_str(), 0660), 0);
  EXPECT_EQ(writing(path("a"), "new"), "");
  struct stat info {};
  ASSERT_EQ(::stat(path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 1234u);
  EXPECT_EQ(info.st_gid, 4321u);
  EXPECT_EQ(info.st_mode & 07777, 0660u);
}

// Who may not give the file to its group gives the group's rights to nobody else.
TEST_F(Disk, ARightThatCannotBeKeptIsNotWidened) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  fs::permissions(folder_, fs::perms(0777));
  write("a", "old");
  ASSERT_EQ(::chown(path("a").c_str(), 1234, 4321), 0);
  ASSERT_EQ(::chmod(path("a").c_str(), 0662), 0);
  EXPECT_EQ(in_child([&] { return writing(path("a"), "new").empty() ? 0 : 1; }, 65534), 0);
  EXPECT_EQ(bytes_of(path("a")), "new");
  EXPECT_EQ(mode(path("a")), 0622u);
}

TEST_F(Disk, WhoMayNotWriteAFileMayNotReplaceIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  fs::permissions(folder_, fs::perms(0777));
  write("a", "old");
  ASSERT_EQ(::chown(path("a").c_str(), 65534, 65534), 0);
  ASSERT_EQ(::chmod(path("a").c_str(), 0444), 0);
  const auto refused = [&] {
    return writing(path("a"), "new").find("a: cannot be replaced: Permission denied") !=
                   std::string::npos
               ? 0
               : 1;
  };
  EXPECT_EQ(in_child(refused, 65534), 0);
  EXPECT_EQ(bytes_of(path("a")), "old");
  EXPECT_EQ(mode(path("a")), 0444u);
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(Disk, ALinkIsFollowedAndStays) {
  fs::create_directory(path("elsewhere"));
  write("elsewhere/real", "old");
  ASSERT_EQ(::chmod(path("elsewhere/real").c_str(), 0600), 0);
  fs::create_symlink("elsewhere/real", path("first"));
  fs::create_symlink(path("first"), path("second"));
  EXPECT_EQ(writing(path("second"), "new"), "");
  EXPECT_EQ(bytes_of(path("elsewhere/real")), "new");
  EXPECT_EQ(mode(path("elsewhere/real")), 0600u);
  EXPECT_TRUE(fs::is_symlink(path("first")));
  EXPECT_TRUE(fs::is_symlink(path("second")));
  fs::create_symlink("elsewhere/later", path("to_nothing"));  // makes what it names
  EXPECT_EQ(writing(path("to_nothing"), "new"), "");
  EXPECT_TRUE(fs::is_symlink(path("to_nothing")));
  EXPECT_EQ(bytes_of(path("elsewhere/later")), "new");
  fs::create_symlink("circle", path("circle"));
  EXPECT_PART(writing(path("circle"), "new"), "circle: cannot be reached: Too many levels");
}

TEST_F(Disk, SaysWhereNothingCanBeWritten) {
  EXPECT_PART(writing(path("no/a"), "x"), "there is no folder of this name");
  EXPECT_PART(writing(folder_.string(), "x"), ": is a folder, not a regular file");
  EXPECT_PART(writing(path("new/"), "x"), "new/': the path does not name a file");
  EXPECT_EQ(writing("", "x"), "'': the path does not name a file");
  EXPECT_EQ(writing("/dev/full", "x"), "/dev/full: is a device or pipe, not a regular file");
  EXPECT_PART(writing(path(std::string(300, 'a')), "x"), "File name too long");
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  fs::permissions(folder_, fs::perms(0555));
  const auto refused = [&] {
    return writing(path("a"), "x").find("Permission denied") != std::string::npos ? 0 : 1;
  };
  EXPECT_EQ(in_child(refused, 65534), 0);
  EXPECT_EQ(files_in_folder(), 0u);
}

TEST_F(Disk, WithoutACommitNothingStays) {
  {
    Output output;
    ASSERT_FALSE(output.open(path("a")));
    ASSERT_FALSE(output.write("text", 4));
    EXPECT_FALSE(fs::exists(path("a")));
  }
  EXPECT_EQ(files_in_folder(), 0u);
}

TEST_F(Disk, WhatIsPrintedNeverGoesIntoAFile) {
  const auto body = [&] {
    for (const int stream : {0, 1, 2}) ::close(stream);
    Output output;
    if (output.open(path("a")) || output.write("text", 4)) return 1;
    for (const int stream : {0, 1, 2}) {
      if (::write(stream, "printed", 7) != -1) return 2;
    }
    return output.commit() ? 3 : 0;
  };
  EXPECT_EQ(in_child(body), 0);
  EXPECT_EQ(bytes_of(path("a")), "text");
}

TEST_F(Disk, WhatAKilledWriterLeftGoesWithTheNextCommit) {
  write(".tenon-0123456789abcdef.part", "left");
  const std::string locked = write(".tenon-fedcba9876543210.part", "a writer's that lives");
  write(".tenon-notes.part", "somebody's own");
  const int fd = ::open(locked.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  EXPECT_EQ(writing(path("a"), "new"), "");
  ::close(fd);
  EXPECT_FALSE(fs::exists(path(".tenon-0123456789abcdef.part")));
  EXPECT_TRUE(fs::exists(locked));
  EXPECT_TRUE(fs::exists(path(".tenon-notes.part")));
}

// From here on this process is on a file system that has no files without a name.
bool forbid_unnamed_files() {
  constexpr uint32_t kUnnamed = O_TMPFILE & ~O_DIRECTORY;
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kUnnamed, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {std::size(filter), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(Disk, WritesWholeFilesWhereAllHaveNames) {
  write("a", "old");
  ASSERT_EQ(::chmod(path("a").c_str(), 0600), 0);
  const auto body = [&] {
    if (!forbid_unnamed_files()) return 77;
    {
      Output output;
      if (output.open(path("a")) || output.write("text", 4)) return 1;
      if (left_behind() != 1 || bytes_of(path("a")) != "old") return 2;
    }
    if (left_behind() != 0) return 3;
    return writing(path("a"), "new").empty() && writing(path("b"), "new").empty() ? 0 : 4;
  };
  const int code = in_child(body);
  if (code == 77) GTEST_SKIP() << "no system call can be forbidden here";
  EXPECT_EQ(code, 0);
  EXPECT_EQ(bytes_of(path("a")), "new");
  EXPECT_EQ(bytes_of(path("b")), "new");
  EXPECT_EQ(mode(path("a")), 0600u);
  EXPECT_EQ(files_in_folder(), 2u);
}

// A file that is there or not, on a file system with unnamed files or not.
class DiskKill : public Disk, public testing::WithParamInterface<std::pair<bool, bool>> {};

TEST_P(DiskKill, AnywhereLeavesTheOldFileOrTheNew) {
  const auto [replaces, unnamed] = GetParam();
  const std::string file = path("a"), old_text(10'000, 'o'), new_text(20'000, 'n');
  int stops = 0;
  for (int n = 1;; ++n) {
    fs::remove(file);
    if (replaces) {
      write("a", old_text);
      ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
    }
    const size_t before = left_behind();
    const int ended = killed_at(n, [&, unnamed = unnamed] {
      if (unnamed || forbid_unnamed_files()) writing(file, new_text);
    });
    if (ended == -2) GTEST_SKIP() << "no process may be traced here";
    if (ended == -1) break;
    stops = n;
    const bool there = fs::exists(file);
    EXPECT_TRUE(there || !replaces) << n;
    EXPECT_LE(left_behind(), before + 1) << n;
    if (!there) continue;
    const std::string text = bytes_of(file);
    EXPECT_TRUE(text == new_text || (replaces && text == old_text))
        << n << ": " << text.size() << " bytes";
    if (replaces) {
      EXPECT_EQ(mode(file), 0600u) << n;
    }
  }
  EXPECT_GT(stops, 20);
  EXPECT_EQ(writing(file, new_text), "");
  EXPECT_EQ(left_behind(), 0u);
  EXPECT_EQ(bytes_of(file), new_text);
}

INSTANTIATE_TEST_SUITE_P(Each, DiskKill,
                         testing::Values(std::pair(true, true), std::pair(false, true),
                                         std::pair(true, false), std::pair(false, false)));

}  // namespace
}  // namespace tenon::disk
