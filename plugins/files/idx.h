// Arrays in the IDX format of the MNIST files (http://yann.lecun.com/exdb/mnist): a type, the
// sizes, the values, all big-endian. Knows files and dtypes, no tensors. Nothing in a file is
// believed before it was checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bytes.h"

namespace tenon::files {

// A file, packed by gzip or not, whose header is true: the sizes fill the file exactly.
class IdxReader {
 public:
  explicit IdxReader(const std::string& path);

  tn_dtype dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  // All values, row-major, in this machine's order of bytes.
  void read(void* memory) const;

 private:
  Bytes file_;
  tn_dtype dtype_ = TN_DTYPE_NONE;
  uint64_t element_bytes_ = 0;
  uint64_t begin_ = 0;
  std::vector<int64_t> shape_;
};

}  // namespace tenon::files
