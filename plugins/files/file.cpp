// By POSIX calls, whose errors are named.
#include "file.h"

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

#include <fmt/format.h>

namespace tenon::files {
namespace {

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

tn_code code_of(int error) {
  if (error == ENOENT || error == ENOTDIR) return TN_NOT_FOUND;
  return error == ENOMEM ? TN_OUT_OF_MEMORY : TN_INVALID_ARGUMENT;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr size_t kLimit = 40;
  std::string out;
  for (const char c : text.substr(0, kLimit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  if (text.size() > kLimit) out += "...";
  return out;
}

InputFile::InputFile(const std::string& path) : path_(path) {
  if (path.empty()) raise(TN_INVALID_ARGUMENT, "'': the path is empty, expected a file's");
  // O_NONBLOCK: opening a pipe that nobody writes must not hang; regular files do not care.
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) {
    const int error = errno;
    raise(code_of(error), "{}: cannot be opened: {}", path, std::strerror(error));
  }
  struct stat info {};
  if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd_);
    raise(TN_INVALID_ARGUMENT, "{}: is {}, not a regular file", path,
          S_ISDIR(info.st_mode) ? "a folder" : "a device or pipe");
  }
  size_ = static_cast<uint64_t>(info.st_size);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

void InputFile::read_at(uint64_t offset, void* memory, uint64_t bytes) const {
  auto* to = static_cast<char*>(memory);
  while (bytes > 0) {
    const ssize_t n = ::pread(fd_, to, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      raise(TN_DATA_LOSS, "{}: reading {} bytes at {} failed: {}", path_, bytes, offset,
            std::strerror(errno));
    }
    if (n == 0) {
      raise(TN_DATA_LOSS, "{}: ends at {}, had {} bytes when it was opened", path_, offset, size_);
    }
    to += n;
    offset += static_cast<uint64_t>(n);
    bytes -= static_cast<uint64_t>(n);
  }
}

OutputFile::OutputFile(const std::string& path) : path_(path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    raise(TN_INVALID_ARGUMENT, "{}: is {}, not a regular file", path,
          S_ISDIR(info.st_mode) ? "a folder" : "a device or pipe");
  }
  static std::atomic<uint64_t> counter{0};
  const std::string folder = folder_of(path);
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.empty()) {
    raise(TN_INVALID_ARGUMENT, "'{}': the path does not name a file", path);
  }
  temporary_ = fmt::format("{}/.{}.{}.{}.part", folder, name, ::getpid(), counter++);
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) {
    const int error = errno;
    const bool no_folder = ::stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode);
    raise(code_of(error), "{}: cannot be written in {}: {}", path, folder,
          no_folder ? "there is no folder of this name" : std::strerror(error));
  }
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::fail(const char* what, int error) {
  raise(TN_DATA_LOSS, "{}: {} failed, nothing was changed: {}", path_, what, std::strerror(error));
}

void OutputFile::write(const void* memory, uint64_t bytes) {
  const auto* from = static_cast<const char*>(memory);
  while (bytes > 0) {
    const ssize_t n = ::write(fd_, from, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("writing", errno);
    from += n;
    bytes -= static_cast<uint64_t>(n);
  }
}

void OutputFile::commit() {
  if (::fsync(fd_) != 0) fail("flushing it to the disk", errno);
  const int closed = ::close(std::exchange(fd_, -1));
  if (closed != 0) fail("closing it", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("renaming it into place", errno);
  temporary_.clear();
  // The new name must survive a crash too. The file is whole by now, so what cannot be flushed here
  // is no error.
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

}  // namespace tenon::files
