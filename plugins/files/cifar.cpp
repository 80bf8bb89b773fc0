#include "cifar.h"

#include <cstring>
#include <vector>

#include <fmt/format.h>

namespace tenon::files {

constexpr int64_t kImage = int64_t{3} * 32 * 32;

CifarReader::CifarReader(const std::string& path, int64_t classes)
    : bytes_(path), classes_(classes), label_bytes_(classes == 100 ? 2 : 1) {
  if (classes != 10 && classes != 100) {
    raise(TN_INVALID_ARGUMENT, "{}: CIFAR of {} classes, there are 10 and 100", path, classes);
  }
  const auto record = static_cast<uint64_t>(kImage + label_bytes_);
  if (bytes_.size() == 0 || bytes_.size() % record != 0) {
    raise(TN_DATA_LOSS, "{}: {} bytes are no images of CIFAR-{}, which have {} each", path,
          bytes_.size(), classes, record);
  }
  size_ = static_cast<int64_t>(bytes_.size() / record);
}

template <typename Record>
void CifarReader::each_record(Record record) const {
  std::vector<uint8_t> bytes(static_cast<size_t>(kImage + label_bytes_));
  size_t filled = 0;
  int64_t i = 0;
  bytes_.each_piece([&](const uint8_t* data, uint64_t n) {
    while (n > 0) {
      const uint64_t used = std::min<uint64_t>(n, bytes.size() - filled);
      std::memcpy(bytes.data() + filled, data, used);
      filled += used;
      data += used;
      n -= used;
      if (filled < bytes.size()) break;
      if (i == size_) return false;  // it grew; read_at has said so where it is not packed
      record(i++, bytes.data());
      filled = 0;
    }
    return true;
  });
  if (i != size_) raise(TN_DATA_LOSS, "{}: it is changed while it is read", bytes_.name());
}

void CifarReader::read_images(uint8_t* images) const {
  each_record([&](int64_t i, const uint8_t* record) {
    std::memcpy(images + i * kImage, record + label_bytes_, kImage);
  });
}

void CifarReader::read_labels(int64_t* labels, bool coarse) const {
  if (coarse && !has_coarse()) {
    raise(TN_INVALID_ARGUMENT, "{}: CIFAR-10 has no coarse classes", bytes_.name());
  }
  const int64_t most = coarse ? 20 : classes_;
  each_record([&](int64_t i, const uint8_t* record) {
    labels[i] = record[coarse ? 0 : label_bytes_ - 1];
    if (labels[i] >= most) {
      raise(TN_DATA_LOSS, "{}: image {} is of class {}, expected 0 to {}", bytes_.name(), i,
            labels[i], most - 1);
    }
  });
}

}  // namespace tenon::files
