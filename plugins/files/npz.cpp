// .npz archives are zip files (PKWARE, APPNOTE.TXT 6.3.10), as Python's zipfile writes them: a
// directory at the end, entries that are stored or deflated, sizes of 64 bits in an extra field.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "npy.h"

namespace tenon::files {
namespace {

constexpr uint64_t kEnd = 22, kEnd64 = 56, kLocator = 20, kMostComment = 65535, kLocal = 30,
                   kCentral = 46;
constexpr uint64_t kMostDirectory = 64 << 20;

template <typename T>
T number(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

}  // namespace

void NpzReader::refuse(const std::string& what) const {
  raise(TN_DATA_LOSS, "{}: {}", file_->path(), what);
}

NpzReader::NpzReader(const std::string& path) : file_(std::make_shared<const InputFile>(path)) {
  const Directory directory = find_directory();
  if (directory.begin > file_->size() || directory.bytes > file_->size() - directory.begin ||
      directory.bytes > kMostDirectory || directory.entries > directory.bytes / kCentral) {
    refuse(fmt::format("claims a directory of {} entries in {} bytes at {}, the file has {} bytes",
                       directory.entries, directory.bytes, directory.begin, file_->size()));
  }
  read_directory(directory);
}

NpzReader::Directory NpzReader::find_directory() const {
  const uint64_t size = file_->size(), tail = std::min(size, kEnd + kMostComment);
  std::vector<uint8_t> end(tail);
  if (tail > 0) file_->read_at(size - tail, end.data(), tail);
  for (uint64_t i = tail < kEnd ? 0 : tail - kEnd + 1; i-- > 0;) {
    const uint8_t* at = end.data() + i;
    if (std::memcmp(at, "PK\5\6", 4) != 0) continue;
    if (number<uint16_t>(at + 20) != tail - i - kEnd) continue;  // the comment fills the rest
    Directory found{number<uint32_t>(at + 16), number<uint32_t>(at + 12),
                    number<uint16_t>(at + 10)};
    const uint64_t place = size - tail + i;
    if (found.entries != 0xffff && found.bytes != 0xffffffff && found.begin != 0xffffffff) {
      return found;
    }
    uint8_t locator[kLocator], wide[kEnd64];
    if (place < kLocator) refuse("its end names a wider one that is not there");
    file_->read_at(place - kLocator, locator, kLocator);
    const auto where = number<uint64_t>(locator + 8);
    if (std::memcmp(locator, "PK\6\7", 4) != 0 || where > size || size - where < kEnd64) {
      refuse("its end names a wider one that is not there");
    }
    file_->read_at(where, wide, kEnd64);
    if (std::memcmp(wide, "PK\6\6", 4) != 0) refuse("its end names a wider one that is not there");
    return {number<uint64_t>(wide + 48), number<uint64_t>(wide + 40), number<uint64_t>(wide + 32)};
  }
  refuse("is no .npz archive, or is cut: it does not end with a zip file's directory");
}

void NpzReader::read_directory(const Directory& directory) {
  std::vector<uint8_t> bytes(directory.bytes);
  if (!bytes.empty()) file_->read_at(directory.begin, bytes.data(), bytes.size());
  uint64_t at = 0;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    const uint8_t* head = bytes.data() + at;
    if (bytes.size() - at < kCentral || std::memcmp(head, "PK\1\2", 4) != 0) {
      refuse(fmt::format("entry {} of its directory is not there", i));
    }
    const uint64_t name = number<uint16_t>(head + 28), extra = number<uint16_t>(head + 30),
                   comment = number<uint16_t>(head + 32);
    if (bytes.size() - at - kCentral < name + extra + comment) {
      refuse(fmt::format("entry {} of its directory is cut", i));
    }
    Entry entry{std::string(reinterpret_cast<const char*>(head + kCentral), name),
                number<uint32_t>(head + 20),
                number<uint32_t>(head + 24),
                number<uint32_t>(head + 42),
                number<uint32_t>(head + 16),
                number<uint16_t>(head + 10)};
    const uint8_t* field = head + kCentral + name;
    const uint8_t* const end = field + extra;
    // Extra field 1 has what 32 bits do not hold, in this order.
    while (end - field >= 4 && number<uint16_t>(field) != 1) {
      field += std::min<ptrdiff_t>(end - field, 4 + number<uint16_t>(field + 2));
    }
    if (end - field >= 4) {
      field += 4;
      for (uint64_t* value : {&entry.unpacked, &entry.packed, &entry.header}) {
        if (*value != 0xffffffff || end - field < 8) continue;
        *value = number<uint64_t>(field);
        field += 8;
      }
    }
    const uint64_t size = file_->size();
    if (entry.header > size || size - entry.header < kLocal || entry.packed > size) {
      refuse(fmt::format("entry '{}' of {} bytes at {} is not within its {} bytes",
                         printable(entry.name), entry.packed, entry.header, size));
    }
    at += kCentral + name + extra + comment;
    if (entry.name.find('\0') != entry.name.npos) {
      refuse(fmt::format("the name of entry {} has a zero byte", i));
    }
    if (entry.name.ends_with(".npy")) {
      entry.name.resize(entry.name.size() - 4);
      entries_.push_back(std::move(entry));
    }
  }
}

std::vector<std::string> NpzReader::names() const {
  std::vector<std::string> list;
  for (const Entry& entry : entries_) list.push_back(entry.name);
  return list;
}

NpyReader NpzReader::array(const std::string& name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  if (found == entries_.end()) {
    raise(TN_NOT_FOUND, "{}: no array '{}' among its {}", file_->path(), printable(name),
          entries_.size());
  }
  const std::string shown = fmt::format("{}: array '{}'", file_->path(), printable(name));
  uint8_t local[kLocal];
  file_->read_at(found->header, local, kLocal);
  const uint64_t begin =
      found->header + kLocal + number<uint16_t>(local + 26) + number<uint16_t>(local + 28);
  if (std::memcmp(local, "PK\3\4", 4) != 0 || begin > file_->size() ||
      found->packed > file_->size() - begin) {
    raise(TN_DATA_LOSS, "{}: its {} packed bytes are not within the file's {}", shown,
          found->packed, file_->size());
  }
  if ((number<uint16_t>(local + 6) & 1) != 0 || (found->method != 0 && found->method != 8)) {
    raise(TN_UNSUPPORTED, "{}: it is encrypted, or packed by method {}; expected 0 or 8, deflate",
          shown, found->method);
  }
  Bytes bytes(file_, shown, begin, begin + found->packed,
              found->method == 8 ? Packing::kDeflate : Packing::kNone, found->crc);
  if (bytes.size() != found->unpacked) {
    raise(TN_DATA_LOSS, "{}: has {} bytes unpacked, the directory claims {}", shown, bytes.size(),
          found->unpacked);
  }
  return NpyReader(std::move(bytes));
}

}  // namespace tenon::files
