// The binary files of CIFAR-10 and CIFAR-100 (https://www.cs.toronto.edu/~kriz/cifar.html): of each
// image one or two bytes of classes and 3 * 32 * 32 of colours. Knows files, no tensors.
#pragma once

#include <cstdint>
#include <string>

#include "bytes.h"

namespace tenon::files {

class CifarReader {
 public:
  // classes: 10 or 100. Errors (Error) name the path, and the image whose class is none.
  CifarReader(const std::string& path, int64_t classes);

  int64_t size() const { return size_; }
  // uint8 [size, 3, 32, 32], int64 [size], and of CIFAR-100 the 20 coarse classes.
  void read_images(uint8_t* images) const;
  void read_labels(int64_t* labels, bool coarse) const;
  bool has_coarse() const { return label_bytes_ == 2; }

 private:
  // record(i, bytes) of each image in turn.
  template <typename Record>
  void each_record(Record record) const;

  Bytes bytes_;
  int64_t classes_, label_bytes_, size_ = 0;
};

}  // namespace tenon::files
