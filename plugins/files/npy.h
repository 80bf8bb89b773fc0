// Arrays of NumPy: .npy files (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html)
// and .npz archives of them. Knows files and dtypes, no tensors. Nothing in a file is believed before
// it was checked; objects, which are programs, are refused.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bytes.h"
#include "tensor_source.h"

namespace tenon::files {

// An array whose header is true: its shape fills the bytes exactly.
class NpyReader {
 public:
  explicit NpyReader(Bytes bytes);
  explicit NpyReader(const std::string& path) : NpyReader(Bytes(path)) {}

  tn_dtype dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  // All values in dtype(), row-major, in this machine's order of bytes; of either order in the file.
  // An Error where an unsigned one is beyond int64.
  void read(void* memory) const;

 private:
  void parse_header(std::string_view text);
  void parse_descr(std::string_view descr);
  void read_columns(uint8_t* memory) const;
  [[noreturn]] void refuse(const std::string& what) const;

  Bytes bytes_;
  tn_dtype dtype_ = TN_DTYPE_NONE;
  uint64_t element_bytes_ = 0, begin_ = 0;
  bool big_endian_ = false, fortran_ = false, is_unsigned_ = false;
  std::vector<int64_t> shape_;
};

// A .npz archive: its directory was found whole, and each entry within the file. The entries
// themselves are looked at when they are read.
class NpzReader {
 public:
  explicit NpzReader(const std::string& path);

  std::vector<std::string> names() const;  // without ".npy"
  // TN_NOT_FOUND where there is none of this name.
  NpyReader array(const std::string& name) const;

 private:
  struct Entry {
    std::string name;
    uint64_t packed, unpacked, header;  // bytes, bytes, where its local header is
    uint32_t crc;
    uint16_t method;
  };
  struct Directory {
    uint64_t begin, bytes, entries;
  };
  [[noreturn]] void refuse(const std::string& what) const;
  Directory find_directory() const;
  void read_directory(const Directory& directory);

  std::shared_ptr<const InputFile> file_;
  std::vector<Entry> entries_;
};

// An array that is written; `name` is that of an entry of an archive, without ".npy".
struct ArrayEntry {
  std::string name;
  tn_dtype dtype;
  std::vector<int64_t> shape;
};
// Files are written whole or not at all, for NumPy to read. An Error for bfloat16, which it has not.
void write_npy(const std::string& path, const ArrayEntry& entry, TensorSource& source);
// As numpy.savez writes it, not compressed.
void write_npz(const std::string& path, const std::vector<ArrayEntry>& entries,
               TensorSource& source);

}  // namespace tenon::files
