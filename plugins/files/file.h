// Files as this plugin reads and writes them: regular files only, read at offsets that were checked
// against the size, written whole or not at all. Used by csv and safetensors; knows no format.
// Errors are tenon::Errors that name the path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tenon/base.hpp"

namespace tenon::files {

template <typename... Args>
[[noreturn]] void raise(tn_code code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...), code);
}

// `text` for a message: at most 40 bytes of it, what cannot be printed as \xNN.
std::string printable(std::string_view text);

// A regular file open for reading. Movable. Safe to read from several threads.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }  // when it was opened

  // Exactly `bytes` at `offset`; a file that became shorter is an error.
  void read_at(uint64_t offset, void* memory, uint64_t bytes) const;

 private:
  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

// A file that appears under its name when `commit` has returned, and never in part: it is written
// under another name in the same folder, flushed to the disk, renamed, and the folder is flushed.
// Without commit nothing stays behind.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  ~OutputFile();

  void write(const void* memory, uint64_t bytes);
  void commit();

 private:
  [[noreturn]] void fail(const char* what, int error);

  std::string path_;
  std::string temporary_;
  int fd_ = -1;
};

}  // namespace tenon::files
