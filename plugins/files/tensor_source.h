// The tensors that a file gets, as the writers see them: names, dtypes and shapes are known before,
// the bytes come in the order that the file wants. Knows no tensors.
#pragma once

#include <cstddef>

namespace tenon::files {

struct TensorSource {
  virtual ~TensorSource() = default;
  // Row-major, in this machine's order of bytes; valid until the next call.
  virtual const void* bytes_of(size_t i) = 0;
};

}  // namespace tenon::files
