// Files on disk as everything of Tenon reads and writes them. Read: regular files only, at offsets
// that are compared with the size, and a file that changes meanwhile is an error. Written: whole or
// not at all, whatever kills the process. For libtenon.so, the command and the plugin `files`;
// knows no format, needs nothing of the host.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/abi.h"

namespace tenon {
namespace [[gnu::visibility("hidden")]] disk {

// Why something failed; TN_OK: it did not. The text names the path.
struct [[nodiscard]] Problem {
  tn_code code = TN_OK;
  std::string text;

  explicit operator bool() const { return code != TN_OK; }
};

inline tn_code code_of(int error) {
  if (error == ENOENT || error == ENOTDIR) return TN_NOT_FOUND;
  return error == ENOMEM ? TN_OUT_OF_MEMORY : TN_INVALID_ARGUMENT;
}

inline Problem not_regular(const std::string& path, mode_t mode) {
  const char* what = S_ISDIR(mode) ? "a folder" : "a device or pipe";
  return {TN_INVALID_ARGUMENT, path + ": is " + what + ", not a regular file"};
}

// The names of what a folder holds, sorted, into `names`; gives 0, or errno where it cannot be read. Where
// memory ends that is an exception; within the standard library's directory_iterator the process would end.
inline int names_in(const std::string& folder, std::vector<std::string>& names) {
  struct Folder {
    DIR* entries;
    ~Folder() {
      if (entries != nullptr) ::closedir(entries);
    }
  };
  const Folder open{::opendir(folder.c_str())};
  if (open.entries == nullptr) return errno;
  names.clear();
  errno = 0;
  for (const dirent* entry; (entry = ::readdir(open.entries)) != nullptr; errno = 0) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return errno;
  std::sort(names.begin(), names.end());
  return 0;
}

// A descriptor that is none of the three streams: where one of these is closed, what is printed
// would go into the file. Takes `fd`.
inline int above_streams(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int above = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(fd);
  errno = error;
  return above;
}

// More than this no file can have whose whole contents are wanted.
inline uint64_t host_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? uint64_t(pages) * uint64_t(bytes) : UINT64_MAX;
}

// A file's bytes as memory, until this goes. What is written there stays in this process. A file
// that becomes shorter meanwhile ends the process with SIGBUS when the missing part is read.
class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (memory_ != nullptr) ::munmap(memory_, bytes_);
  }
  void* memory() const { return memory_; }

 private:
  friend class Input;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

// A regular file open for reading. Safe to read from several threads.
class Input {
 public:
  Input() = default;
  Input(Input&& other) noexcept
      : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), opened_(other.opened_) {}
  Input& operator=(Input&&) = delete;
  ~Input() {
    if (fd_ >= 0) ::close(fd_);
  }

  Problem open(const std::string& path) {
    path_ = path;
    if (path.empty()) return {TN_INVALID_ARGUMENT, "'': the path is empty, expected a file's"};
    if (path.find('\0') != path.npos) return {TN_INVALID_ARGUMENT, path + ": has a NUL in it"};
    // To open a device or a pipe can hang or move something, so it is looked at before, and after,
    // since it may be another by then.
    if (::stat(path.c_str(), &opened_) == 0 && !S_ISREG(opened_.st_mode)) {
      return not_regular(path, opened_.st_mode);
    }
    fd_ = above_streams(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (fd_ < 0 || ::fstat(fd_, &opened_) != 0) {
      const int error = errno;
      return {code_of(error), path + ": cannot be opened: " + std::strerror(error)};
    }
    return S_ISREG(opened_.st_mode) ? Problem{} : not_regular(path, opened_.st_mode);
  }

  const std::string& path() const { return path_; }
  uint64_t size() const { return uint64_t(opened_.st_size); }  // when it was opened

  // Exactly `bytes` at `offset`, of a file that is as it was when it was opened.
  Problem read_at(uint64_t offset, void* memory, uint64_t bytes) const {
    auto* to = static_cast<char*>(memory);
    for (uint64_t done = 0; done < bytes;) {
      const ssize_t n = ::pread(fd_, to + done, bytes - done, off_t(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        const int error = errno;
        return {TN_DATA_LOSS, path_ + ": reading " + std::to_string(bytes) + " bytes at " +
                                  std::to_string(offset) + " failed: " + std::strerror(error)};
      }
      if (n == 0) return changed("ends at " + std::to_string(offset + done));
      done += uint64_t(n);
    }
    struct stat now {};
    if (::fstat(fd_, &now) != 0) return changed("cannot be looked at");
    if (now.st_size != opened_.st_size) {
      return changed("has " + std::to_string(now.st_size) + " bytes");
    }
    const bool written = now.st_mtim.tv_sec != opened_.st_mtim.tv_sec ||
                         now.st_mtim.tv_nsec != opened_.st_mtim.tv_nsec;
    return written ? changed("was written to") : Problem{};
  }

  // The whole file, which has bytes, as memory. `mapping` is new.
  Problem map(Mapping* mapping) const {
    constexpr int kReadWrite = PROT_READ | PROT_WRITE;
    void* memory = ::mmap(nullptr, size(), kReadWrite, MAP_PRIVATE | MAP_NORESERVE, fd_, 0);
    if (memory == MAP_FAILED) {
      const int error = errno;
      return {code_of(error), path_ + ": cannot be mapped: " + std::strerror(error)};
    }
    mapping->memory_ = memory;
    mapping->bytes_ = size();
    struct stat now {};
    if (::fstat(fd_, &now) != 0 || now.st_size != opened_.st_size) {
      return changed("has another size");
    }
    return {};
  }

  // The whole file, if it has at most `most` bytes.
  Problem read_all(std::string* text, uint64_t most = host_memory()) const {
    if (size() > most) {
      return {TN_INVALID_ARGUMENT, path_ + ": has " + std::to_string(size()) +
                                       " bytes, expected at most " + std::to_string(most)};
    }
    try {
      text->resize(size());
    } catch (const std::bad_alloc&) {
      return {TN_OUT_OF_MEMORY,
              path_ + ": host memory is exhausted: it has " + std::to_string(size()) + " bytes"};
    }
    return read_at(0, text->data(), text->size());
  }

 private:
  Problem changed(const std::string& what) const {
    return {TN_DATA_LOSS, path_ + ": " + what + ", had " + std::to_string(size()) +
                              " bytes when it was opened: it is changed while it is read"};
  }

  std::string path_;
  int fd_ = -1;
  struct stat opened_ {};
};

// A file that appears under its name when `commit` has returned, and never in part: it is written
// without a name where the file system can do that, else under another one in the same folder,
// flushed to the disk and renamed, and the folder is flushed. Without commit nothing stays behind.
//
// 1. A link is followed: what it names is written, and the link stays.
// 2. A file that is replaced keeps its mode, its access list, and where this process may give them,
//    owner and group. Who may not write it may not replace it.
// 3. Only between two system calls of a commit that replaces does the new file have a name of its
//    own. What a kill leaves there is whole, is called .tenon-*.part, and goes with the next commit
//    in that folder: a writer that lives holds a lock on its file.
class Output {
 public:
  Output() = default;
  Output(const Output&) = delete;
  ~Output() {
    if (fd_ >= 0) ::close(fd_);
    if (!temporary_.empty()) ::unlinkat(folder_fd_, temporary_.c_str(), 0);
    if (folder_fd_ >= 0) ::close(folder_fd_);
  }

  Problem open(const std::string& path) {
    path_ = path;
    if (path.find('\0') != path.npos) return {TN_INVALID_ARGUMENT, path + ": has a NUL in it"};
    if (Problem problem = find_target()) return problem;
    folder_fd_ =
        above_streams(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK));
    if (folder_fd_ < 0) return no_place(errno);
    if (Problem problem = make()) return problem;
    return replaces_ ? take_over() : Problem{};
  }

  Problem write(const void* memory, uint64_t bytes) {
    const auto* from = static_cast<const char*>(memory);
    while (bytes > 0) {
      const ssize_t n = ::write(fd_, from, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed("writing", errno);
      from += n;
      bytes -= uint64_t(n);
    }
    return {};
  }

  Problem commit() {
    if (::fsync(fd_) != 0) return failed("flushing it to the disk", errno);
    if (Problem problem = give_name()) return problem;
    ::close(std::exchange(fd_, -1));  // what this could say the flush has said
    remove_left_behind();
    // The new name must survive a crash too. The file is whole by now, so what cannot be flushed
    // here is no error.
    ::fsync(folder_fd_);
    return {};
  }

 private:
  static constexpr std::string_view kPrefix = ".tenon-", kSuffix = ".part";
  static constexpr size_t kDigits = 16;
  static constexpr int kMostTries = 100;

  static std::string new_name() {
    uint64_t random = 0;
    if (::getrandom(&random, sizeof(random), GRND_NONBLOCK) != ssize_t(sizeof(random))) {
      struct timespec now {};
      ::clock_gettime(CLOCK_REALTIME, &now);
      random = uint64_t(now.tv_nsec) << 32 ^ uint64_t(now.tv_sec) ^ uint64_t(::getpid()) << 20;
    }
    char digits[kDigits + 1];
    std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(random));
    return std::string(kPrefix) + digits + std::string(kSuffix);
  }

  Problem failed(const char* what, int error) const {
    return {TN_DATA_LOSS,
            path_ + ": " + what + " failed, nothing was changed: " + std::strerror(error)};
  }
  Problem no_place(int error) const {
    struct stat info {};
    const bool no_folder = ::stat(folder_.c_str(), &info) != 0 || !S_ISDIR(info.st_mode);
    return {code_of(error),
            path_ + ": cannot be written in " + folder_ + ": " +
                (no_folder ? "there is no folder of this name" : std::strerror(error))};
  }

  // Folder and name of the file at the end of all links, and what is there now.
  Problem find_target() {
    std::string target = path_;
    // First by the kernel: it follows no link that another user laid into a common folder.
    replaces_ = ::stat(path_.c_str(), &replaced_) == 0;
    if (!replaces_ && (errno == EACCES || errno == ELOOP || errno == ENAMETOOLONG)) {
      const int error = errno;
      return {code_of(error), path_ + ": cannot be reached: " + std::strerror(error)};
    }
    if (replaces_ && !S_ISREG(replaced_.st_mode)) return not_regular(path_, replaced_.st_mode);
    if (replaces_ && ::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) {
      return {TN_INVALID_ARGUMENT, path_ + ": cannot be replaced: " + std::strerror(errno)};
    }
    for (int links = 0;; ++links) {
      const size_t slash = target.rfind('/');
      name_ = target.substr(slash + 1);  // npos + 1 is 0
      folder_ = slash == target.npos ? "." : slash == 0 ? "/" : target.substr(0, slash);
      if (name_.empty() || name_ == "." || name_ == "..") {
        return {TN_INVALID_ARGUMENT, "'" + path_ + "': the path does not name a file"};
      }
      char link[4096];
      const ssize_t n = ::readlink(target.c_str(), link, sizeof(link));
      if (n < 0) return {};
      if (links == 40) return {TN_INVALID_ARGUMENT, path_ + ": too many links, one to the other"};
      const std::string next(link, size_t(n));
      target = next.starts_with('/') ? next : folder_ + "/" + next;
    }
  }

  // A new empty file without a name, or with one of its own.
  Problem make() {
    const mode_t mode = replaces_ ? 0600 : 0666;
    fd_ = above_streams(::openat(folder_fd_, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
    if (fd_ >= 0 && ::access(descriptor_path().c_str(), F_OK) == 0) {  // it can get a name
      ::flock(fd_, LOCK_EX | LOCK_NB);
      return {};
    }
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    for (int tries = 0; tries < kMostTries; ++tries) {
      std::string name = new_name();
      const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
      fd_ = above_streams(::openat(folder_fd_, name.c_str(), flags, mode));
      if (fd_ < 0 && errno == EEXIST) continue;
      if (fd_ < 0) return no_place(errno);
      temporary_.swap(name);  // which needs no memory: the file is there, so it must go with this
      // Another writer that finds it before the lock takes it for one that was left behind.
      struct stat info {};
      const bool taken = ::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
      if (!taken && ::fstat(fd_, &info) == 0 && info.st_nlink == 1) return {};
      ::close(std::exchange(fd_, -1));
      temporary_.clear();
    }
    return no_place(EEXIST);
  }

  // Mode, owner, group and access list of the file that is replaced. A right that one of these
  // narrowed is not widened where it cannot be given.
  Problem take_over() {
    mode_t mode = replaced_.st_mode & 07777;
    struct stat own {};
    if (::fstat(fd_, &own) != 0) return failed("looking at it", errno);
    const bool same_owner = own.st_uid == replaced_.st_uid && own.st_gid == replaced_.st_gid;
    if (!same_owner && ::fchown(fd_, replaced_.st_uid, replaced_.st_gid) != 0) {
      mode &= 0777;
      const bool group = ::fchown(fd_, uid_t(-1), replaced_.st_gid) == 0;
      if (!group && own.st_gid != replaced_.st_gid) mode &= 0707 | (mode & 07) << 3;
    }
    constexpr const char* kList = "system.posix_acl_access";
    std::vector<char> list(4096);
    const ssize_t n = ::getxattr(path_.c_str(), kList, list.data(), list.size());
    // With a list the mode's group is its mask.
    if (n > 0 && ::fsetxattr(fd_, kList, list.data(), size_t(n), 0) != 0) mode &= ~mode_t{070};
    if (::fchmod(fd_, mode) != 0) return failed("keeping its mode", errno);
    return {};
  }

  std::string descriptor_path() const { return "/proc/self/fd/" + std::to_string(fd_); }

  bool link_as(const std::string& name) const {
    return ::linkat(AT_FDCWD, descriptor_path().c_str(), folder_fd_, name.c_str(),
                    AT_SYMLINK_FOLLOW) == 0;
  }

  Problem give_name() {
    // A file that is new gets its name and no other.
    if (temporary_.empty() && !replaces_) {
      if (link_as(name_)) return {};
      if (errno != EEXIST) return failed("giving it its name", errno);
    }
    for (int tries = 0; temporary_.empty() && tries < kMostTries; ++tries) {
      std::string name = new_name();
      if (link_as(name)) {
        temporary_.swap(name);  // as in make
      } else if (errno != EEXIST) {
        return failed("giving it a name", errno);
      }
    }
    if (::renameat(folder_fd_, temporary_.c_str(), folder_fd_, name_.c_str()) != 0) {
      return failed("renaming it into place", errno);
    }
    temporary_.clear();
    return {};
  }

  // Files of writers that were killed: they bear our kind of name and no lock.
  void remove_left_behind() const {
    const int again = ::openat(folder_fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* entries = again < 0 ? nullptr : ::fdopendir(again);
    if (entries == nullptr) {
      if (again >= 0) ::close(again);
      return;
    }
    while (const dirent* entry = ::readdir(entries)) {
      const std::string_view name = entry->d_name;
      if (name.size() != kPrefix.size() + kDigits + kSuffix.size() || !name.starts_with(kPrefix) ||
          !name.ends_with(kSuffix)) {
        continue;
      }
      const int fd =
          ::openat(folder_fd_, entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
      struct stat info {};
      const bool left = fd >= 0 && ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                        info.st_uid == ::geteuid() && ::flock(fd, LOCK_EX | LOCK_NB) == 0;
      if (left) ::unlinkat(folder_fd_, entry->d_name, 0);
      if (fd >= 0) ::close(fd);
    }
    ::closedir(entries);
  }

  std::string path_;  // as it was given
  std::string folder_, name_;
  std::string temporary_;  // the name while it has one of its own
  bool replaces_ = false;
  struct stat replaced_ {};
  int fd_ = -1;
  int folder_fd_ = -1;
};

}  // namespace gnu::visibility("hidden")]]disk
}  // namespace tenon
