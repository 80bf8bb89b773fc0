#include "idx.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "tenon/dtype_table.hpp"

namespace tenon::files {

static_assert(std::endian::native == std::endian::little, "values are turned around");

namespace {

constexpr uint64_t kIdxMagicBytes = 4;  // 0, 0, the type, the number of dimensions
constexpr int kMostDims = 16;

struct IdxType {
  uint8_t code;
  tn_dtype dtype;
};
constexpr IdxType kIdxTypes[] = {{0x08, TN_UINT8}, {0x09, TN_INT8},    {0x0b, TN_INT16},
                                 {0x0c, TN_INT32}, {0x0d, TN_FLOAT32}, {0x0e, TN_FLOAT64}};

}  // namespace

IdxReader::IdxReader(const std::string& path) : file_(path) {
  const auto refuse = [&path](const std::string& what) {
    raise(TN_DATA_LOSS, "{}: {}", path, what);
  };
  const auto expect_bytes = [&](uint64_t bytes) {
    if (file_.size() >= bytes) return;
    refuse(fmt::format("{} bytes, its header has {}", file_.size(), bytes));
  };
  expect_bytes(kIdxMagicBytes);
  uint8_t magic[kIdxMagicBytes];
  file_.read_at(0, magic, kIdxMagicBytes);
  const auto* type = std::ranges::find(kIdxTypes, magic[2], &IdxType::code);
  if (magic[0] != 0 || magic[1] != 0 || type == std::end(kIdxTypes)) {
    refuse(
        fmt::format("begins with {:02x} {:02x} {:02x}, an IDX file with 00 00 and 08, 09, 0b, "
                    "0c, 0d or 0e",
                    magic[0], magic[1], magic[2]));
  }
  dtype_ = type->dtype;
  element_bytes_ = dtype_table::item_size(type->dtype);
  const int dims = magic[3];
  if (dims < 1 || dims > kMostDims) {
    refuse(fmt::format("has {} dimensions, expected 1 to {}", dims, kMostDims));
  }
  begin_ = kIdxMagicBytes + 4 * static_cast<uint64_t>(dims);
  expect_bytes(begin_);
  std::vector<uint8_t> sizes(begin_ - kIdxMagicBytes);
  file_.read_at(kIdxMagicBytes, sizes.data(), sizes.size());
  uint64_t bytes = element_bytes_;
  bool fits = true;
  for (size_t i = 0; i < sizes.size(); i += 4) {
    const uint32_t size = static_cast<uint32_t>(sizes[i]) << 24 | sizes[i + 1] << 16 |
                          sizes[i + 2] << 8 | sizes[i + 3];
    shape_.push_back(size);
    fits = fits && !__builtin_mul_overflow(bytes, uint64_t{size}, &bytes);
  }
  const uint64_t data = file_.size() - begin_;
  if (!fits || bytes != data) {
    refuse(fmt::format("shape [{}] of {} bytes each does not fill the {} bytes of data",
                       fmt::join(shape_, ", "), element_bytes_, data));
  }
}

void IdxReader::read(void* memory) const {
  const uint64_t bytes = file_.size() - begin_;
  file_.read_at(begin_, memory, bytes);
  auto* values = static_cast<uint8_t*>(memory);
  for (uint64_t i = 0; element_bytes_ > 1 && i < bytes; i += element_bytes_) {
    std::reverse(values + i, values + i + element_bytes_);
  }
}

}  // namespace tenon::files
