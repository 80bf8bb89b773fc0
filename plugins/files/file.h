// Files as this plugin reads and writes them: those of tenon/disk.hpp, with what is wrong as a
// tenon::Error that names the path. Used by csv, idx and safetensors; knows no format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tenon/base.hpp"
#include "tenon/disk.hpp"
#include "tenon/messages.hpp"

namespace tenon::files {

using messages::printable;

// An error of one line, whatever is in the path that it names.
template <typename... Args>
[[noreturn]] void raise(tn_code code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(messages::escaped(fmt::format(format, std::forward<Args>(args)...)), code);
}

inline void raise_if(const disk::Problem& problem) {
  if (problem) raise(problem.code, "{}", problem.text);
}

// A regular file open for reading, or memory in the place of one. Movable. Safe to read from several
// threads.
class InputFile {
 public:
  explicit InputFile(const std::string& path) : path_(path) { raise_if(file_.open(path)); }
  // Memory that outlives this, called `name` in errors. It cannot be mapped, nor read whole.
  InputFile(std::string name, std::string_view bytes)
      : path_(std::move(name)), memory_(bytes), is_memory_(true) {}

  const std::string& path() const { return path_; }
  uint64_t size() const {
    return is_memory_ ? memory_.size() : file_.size();
  }  // when it was opened

  // Exactly `bytes` at `offset`; a file that changed since it was opened is an error.
  void read_at(uint64_t offset, void* memory, uint64_t bytes) const {
    if (!is_memory_) return raise_if(file_.read_at(offset, memory, bytes));
    if (offset > memory_.size() || bytes > memory_.size() - offset) {
      raise(TN_DATA_LOSS, "{}: {} bytes at {} are not within its {}", path_, bytes, offset,
            memory_.size());
    }
    if (bytes > 0) std::memcpy(memory, memory_.data() + offset, bytes);
  }
  std::shared_ptr<const disk::Mapping> map() const {
    auto mapping = std::make_shared<disk::Mapping>();
    raise_if(file_.map(mapping.get()));
    return mapping;
  }
  std::string read_all() const {
    std::string text;
    raise_if(file_.read_all(&text));
    return text;
  }

 private:
  disk::Input file_;
  std::string path_;
  std::string_view memory_;
  bool is_memory_ = false;
};

// A file that appears under its name when `commit` has returned, and never in part.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path) { raise_if(file_.open(path)); }

  void write(const void* memory, uint64_t bytes) { raise_if(file_.write(memory, bytes)); }
  void commit() { raise_if(file_.commit()); }

 private:
  disk::Output file_;
};

// Runs `body`, whose errors know no file: what it throws names `path` first.
template <typename Body>
auto naming(const std::string& path, Body body) {
  try {
    return body();
  } catch (const Error& error) {
    throw Error(messages::escaped(path) + ": " + error.what(), error.code());
  }
}

}  // namespace tenon::files
