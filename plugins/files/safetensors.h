// The safetensors format (https://github.com/huggingface/safetensors): 8 bytes of header length, a
// JSON header, the bytes of the tensors. Knows files, dtypes and shapes, no tensors. Nothing in a
// file is believed before it was checked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "file.h"
#include "tensor_source.h"

namespace tenon::files {

struct TensorEntry {
  std::string name;
  tn_dtype dtype = TN_DTYPE_NONE;  // TN_DTYPE_NONE: one that the format has and Tenon has not
  std::string dtype_name;          // the format's: "F32"
  uint64_t element_bytes = 0;      // of the format's
  std::vector<int64_t> shape;
  uint64_t begin = 0;  // in the file
  uint64_t end = 0;
};

// A file open for reading whose header was found whole and true: each tensor lies within the file,
// its bytes are those of its shape and dtype, tensors neither overlap nor leave gaps, names are
// unique, ranks are at most TN_MAX_RANK.
class SafetensorsReader {
 public:
  explicit SafetensorsReader(InputFile file);
  explicit SafetensorsReader(const std::string& path) : SafetensorsReader(InputFile(path)) {}

  const std::vector<TensorEntry>& entries() const { return entries_; }  // as they lie in the file
  const TensorEntry& find(std::string_view name) const;
  // The values of an entry in its dtype, row-major, into `bytes_in_memory` bytes: of one that Tenon has not its bytes. Bool bytes other
  // than 0 and 1 are refused, and so are unsigned integers beyond int64.
  void read(const TensorEntry& entry, void* memory) const;
  // The whole file as memory, one for all who ask.
  std::shared_ptr<const disk::Mapping> mapping() const;

 private:
  InputFile file_;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<const disk::Mapping> mapping_;  // needs the mutex
  std::vector<TensorEntry> entries_;
  std::map<std::string, size_t, std::less<>> index_;
};

// The file is written whole or not at all.
void write_safetensors(const std::string& path, std::vector<TensorEntry> entries,
                       TensorSource& source);
// The same bytes, into memory that `memory_of` gives when it has their number. `name` begins errors.
void write_safetensors(const std::string& name, std::vector<TensorEntry> entries,
                       TensorSource& source, const std::function<void*(uint64_t)>& memory_of);

uint64_t element_bytes(tn_dtype dtype);
// Of an entry's values once they are read: more than in the file where Tenon's dtype for them is wider, as for unsigned integers and
// floats of 8 bits.
uint64_t bytes_in_memory(const TensorEntry& entry);

}  // namespace tenon::files
