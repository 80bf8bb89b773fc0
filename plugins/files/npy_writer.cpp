// .npy files of version 1, and .npz archives as numpy.savez writes them: zip files (PKWARE, APPNOTE.TXT
// 6.3.10) whose entries are stored, each with its sizes in 64 bits.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "npy.h"
#include "tenon/dtype_table.hpp"

#ifdef TENON_FILES_ZLIB
#include <zlib.h>
#endif

namespace tenon::files {
namespace {

// NumPy's name of a dtype; NULL where it has none.
const char* descr_of(tn_dtype dtype) {
  switch (dtype) {
    case TN_FLOAT64:
      return "<f8";
    case TN_FLOAT32:
      return "<f4";
    case TN_FLOAT16:
      return "<f2";
    case TN_INT64:
      return "<i8";
    case TN_INT32:
      return "<i4";
    case TN_INT16:
      return "<i2";
    case TN_INT8:
      return "|i1";
    case TN_UINT8:
      return "|u1";
    case TN_BOOL:
      return "|b1";
    default:
      return nullptr;
  }
}

// What stands before the values; they begin at a multiple of 64 bytes, as NumPy's do.
std::string npy_header(const std::string& name, const ArrayEntry& entry) {
  const char* descr = descr_of(entry.dtype);
  if (descr == nullptr) {
    raise(TN_UNSUPPORTED, "{}: NumPy has no {}; expected another dtype, as float32", name,
          dtype_table::kRows[entry.dtype].name);
  }
  std::string shape;
  for (const int64_t size : entry.shape) shape += fmt::format("{}, ", size);
  if (entry.shape.size() > 1) shape.resize(shape.size() - 2);
  if (entry.shape.size() == 1) shape.resize(shape.size() - 1);  // a tuple of one keeps its comma
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  constexpr size_t kBefore = 10, kAlignment = 64;  // magic, version, length
  const size_t end = (kBefore + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.resize(end - kBefore - 1, ' ');
  text += '\n';
  const auto length = static_cast<uint16_t>(text.size());
  std::string header("\x93NUMPY\1\0", 8);
  header.append(reinterpret_cast<const char*>(&length), sizeof(length));
  return header + text;
}

uint64_t bytes_of(const ArrayEntry& entry) {
  auto bytes = static_cast<uint64_t>(dtype_table::item_size(entry.dtype));
  for (const int64_t size : entry.shape) bytes *= static_cast<uint64_t>(size);
  return bytes;
}

}  // namespace

void write_npy(const std::string& path, const ArrayEntry& entry, TensorSource& source) {
  const std::string header = npy_header(path, entry);
  OutputFile file(path);
  file.write(header.data(), header.size());
  file.write(naming(path, [&] { return source.bytes_of(0); }), bytes_of(entry));
  file.commit();
}

#ifdef TENON_FILES_ZLIB

namespace {

template <typename... T>
void append(std::string& text, T... numbers) {
  (text.append(reinterpret_cast<const char*>(&numbers), sizeof(numbers)), ...);
}

constexpr uint32_t kIn64Bits = 0xffffffff;
constexpr uint16_t kIn64BitsToo = 0xffff;
constexpr uint16_t kVersion = 45, kStored = 0, kTime = 0, kDate = 33;  // 1980-01-01, as NumPy's

uint32_t checksum(const std::string& header, const void* values, uint64_t bytes) {
  uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size());
  return static_cast<uint32_t>(crc32_z(sum, static_cast<const Bytef*>(values), bytes));
}

struct Written {
  std::string name;  // with ".npy"
  uint64_t begin, bytes;
  uint32_t crc;
};

bool is_utf8(std::string_view text) {
  uint32_t code = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t bytes = messages::first_character(text.substr(i), &code);
    if (bytes == 0) return false;
    i += bytes;
  }
  return true;
}

// Bit 11: the name is in UTF-8.
uint16_t flags_of(const std::string& name) {
  const bool is_ascii =
      std::ranges::all_of(name, [](char c) { return static_cast<uint8_t>(c) < 128; });
  return is_ascii ? 0 : 1 << 11;
}

std::string local_header(const Written& entry) {
  std::string head = "PK\3\4";
  append(head, kVersion, flags_of(entry.name), kStored, kTime, kDate, entry.crc, kIn64Bits,
         kIn64Bits, static_cast<uint16_t>(entry.name.size()), uint16_t{20});
  head += entry.name;
  append(head, uint16_t{1}, uint16_t{16}, entry.bytes, entry.bytes);
  return head;
}

std::string directory_entry(const Written& entry) {
  std::string head = "PK\1\2";
  append(head, kVersion, kVersion, flags_of(entry.name), kStored, kTime, kDate, entry.crc,
         kIn64Bits, kIn64Bits, static_cast<uint16_t>(entry.name.size()), uint16_t{28}, uint16_t{0},
         uint16_t{0}, uint16_t{0}, uint32_t{0}, kIn64Bits);
  head += entry.name;
  append(head, uint16_t{1}, uint16_t{24}, entry.bytes, entry.bytes, entry.begin);
  return head;
}

// Of 64 bits only where 32 do not hold it: NumPy knows an archive without entries by the other.
std::string end_of_directory(uint64_t begin, uint64_t bytes, uint64_t entries) {
  std::string end;
  const bool is_wide = begin + bytes >= kIn64Bits || entries >= kIn64BitsToo;
  if (is_wide) {
    end += "PK\6\6";
    append(end, uint64_t{44}, kVersion, kVersion, uint32_t{0}, uint32_t{0}, entries, entries, bytes,
           begin);
    end += "PK\6\7";
    append(end, uint32_t{0}, begin + bytes, uint32_t{1});
  }
  const auto count = is_wide ? kIn64BitsToo : static_cast<uint16_t>(entries);
  end += "PK\5\6";
  append(end, uint16_t{0}, uint16_t{0}, count, count,
         is_wide ? kIn64Bits : static_cast<uint32_t>(bytes),
         is_wide ? kIn64Bits : static_cast<uint32_t>(begin), uint16_t{0});
  return end;
}

void check_names(const std::string& path, const std::vector<ArrayEntry>& entries) {
  std::set<std::string_view> names;
  for (const ArrayEntry& entry : entries) {
    constexpr size_t kMost = 65535 - 4;
    const bool is_new = names.insert(entry.name).second;
    if (is_new && is_utf8(entry.name) && !entry.name.empty() && entry.name.size() <= kMost)
      continue;
    raise(TN_INVALID_ARGUMENT, "{}: an array cannot be named '{}'{}", path, printable(entry.name),
          is_new ? "" : ": there is one already");
  }
}

}  // namespace

void write_npz(const std::string& path, const std::vector<ArrayEntry>& entries,
               TensorSource& source) {
  check_names(path, entries);
  OutputFile file(path);
  uint64_t at = 0;
  const auto write = [&](const void* memory, uint64_t bytes) {
    file.write(memory, bytes);
    at += bytes;
  };
  std::string directory;
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string shown = fmt::format("{}: array '{}'", path, printable(entries[i].name));
    const std::string header = npy_header(shown, entries[i]);
    const uint64_t bytes = bytes_of(entries[i]);
    const void* values = naming(shown, [&] { return source.bytes_of(i); });
    const Written entry{entries[i].name + ".npy", at, header.size() + bytes,
                        checksum(header, values, bytes)};
    const std::string local = local_header(entry);
    write(local.data(), local.size());
    write(header.data(), header.size());
    write(values, bytes);
    directory += directory_entry(entry);
  }
  directory += end_of_directory(at, directory.size(), entries.size());
  write(directory.data(), directory.size());
  file.commit();
}

#else

void write_npz(const std::string& path, const std::vector<ArrayEntry>&, TensorSource&) {
  raise(TN_UNSUPPORTED, "{}: this build of Tenon has no zlib, which archives need", path);
}

#endif

}  // namespace tenon::files
