// The header of a .npy file is a dictionary in Python's notation; what numpy writes is read, and
// nothing more of Python.
#include "npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tenon/dtype_table.hpp"
#include "widen.h"

namespace tenon::files {

static_assert(std::endian::native == std::endian::little, "values are turned around");

namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr uint64_t kMagicBytes = 6, kVersionBytes = 2;
constexpr uint64_t kMostHeader = 1 << 20;

struct NpyType {
  std::string_view code;  // the digit says the bytes of an element
  tn_dtype dtype;
};
// Of unsigned integers without a dtype the next larger one, and int64 for those of 64 bits.
constexpr NpyType kNpyTypes[] = {{"f8", TN_FLOAT64}, {"f4", TN_FLOAT32}, {"f2", TN_FLOAT16},
                                 {"i8", TN_INT64},   {"i4", TN_INT32},   {"i2", TN_INT16},
                                 {"i1", TN_INT8},    {"u8", TN_INT64},   {"u4", TN_INT64},
                                 {"u2", TN_INT32},   {"u1", TN_UINT8},   {"b1", TN_BOOL}};

// Reads Python's notation: the place in the text, and what is expected there.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  void skip_space() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n'))
      text_.remove_prefix(1);
  }
  bool take(std::string_view what) {
    skip_space();
    if (!text_.starts_with(what)) return false;
    text_.remove_prefix(what.size());
    return true;
  }
  bool at(std::string_view what) {
    skip_space();
    return text_.starts_with(what);
  }
  bool take_string(std::string_view* out) {
    skip_space();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return false;
    const size_t end = text_.find(text_.front(), 1);
    if (end == text_.npos) return false;
    *out = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return true;
  }
  bool take_size(int64_t* out) {
    skip_space();
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), *out);
    if (error != std::errc() || *out < 0) return false;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    if (text_.starts_with('L')) text_.remove_prefix(1);  // as Python 2 wrote a long
    return true;
  }
  bool at_end() {
    skip_space();
    return text_.empty();
  }

 private:
  std::string_view text_;
};

}  // namespace

void NpyReader::refuse(const std::string& what) const {
  raise(TN_DATA_LOSS, "{}: {}", bytes_.name(), what);
}

NpyReader::NpyReader(Bytes bytes) : bytes_(std::move(bytes)) {
  uint8_t start[kMagicBytes + kVersionBytes + 4] = {};
  const uint64_t shown = std::min<uint64_t>(bytes_.size(), sizeof(start));
  bytes_.read_at(0, start, shown);
  if (shown < kMagicBytes || std::memcmp(start, kMagic, kMagicBytes) != 0) {
    refuse("is no .npy file, which begins with \\x93NUMPY");
  }
  const int major = start[kMagicBytes];
  const uint64_t length_bytes = major == 1 ? 2 : 4;
  begin_ = kMagicBytes + kVersionBytes + length_bytes;
  if (major < 1 || major > 3) {
    refuse(fmt::format("is of version {} of the format, expected 1, 2 or 3", major));
  }
  if (bytes_.size() < begin_) refuse(fmt::format("{} bytes, its header has more", bytes_.size()));
  uint64_t length = 0;
  std::memcpy(&length, start + kMagicBytes + kVersionBytes, length_bytes);
  if (length > bytes_.size() - begin_ || length > kMostHeader) {
    refuse(fmt::format("claims a header of {} bytes, {} follow, and at most {} are read", length,
                       bytes_.size() - begin_, kMostHeader));
  }
  std::string header(length, '\0');
  bytes_.read_at(begin_, header.data(), length);
  begin_ += length;
  parse_header(header);

  uint64_t wanted = element_bytes_;
  bool fits = true;
  for (const int64_t size : shape_) {
    fits = fits && !__builtin_mul_overflow(wanted, static_cast<uint64_t>(size), &wanted);
  }
  if (std::ranges::count(shape_, 0) > 0) fits = (wanted = 0, true);
  if (!fits || wanted != bytes_.size() - begin_) {
    refuse(fmt::format("shape [{}] of {} bytes each does not fill the {} bytes of data",
                       fmt::join(shape_, ", "), element_bytes_, bytes_.size() - begin_));
  }
}

void NpyReader::parse_header(std::string_view text) {
  Cursor cursor(text);
  const auto expect = [&](bool ok, const char* what) {
    if (!ok) refuse(fmt::format("its header has no {}: '{}'", what, printable(std::string(text))));
  };
  int seen = 0;
  expect(cursor.take("{"), "dictionary");
  while (!cursor.take("}")) {
    std::string_view key;
    expect(cursor.take_string(&key) && cursor.take(":"), "key where one is expected");
    if (key == "descr") {
      std::string_view descr;
      if (cursor.at("[")) {
        raise(TN_UNSUPPORTED, "{}: its values are records, expected numbers of one kind",
              bytes_.name());
      }
      expect(cursor.take_string(&descr), "text of 'descr'");
      parse_descr(descr);
      seen |= 1;
    } else if (key == "fortran_order") {
      fortran_ = cursor.take("True");
      expect(fortran_ || cursor.take("False"), "truth of 'fortran_order'");
      seen |= 2;
    } else if (key == "shape") {
      expect(cursor.take("("), "tuple of 'shape'");
      shape_.clear();
      while (!cursor.take(")")) {
        int64_t size = 0;
        expect(cursor.take_size(&size), "size in 'shape'");
        if (shape_.size() == TN_MAX_RANK) {
          refuse(fmt::format("has more than {} dimensions", TN_MAX_RANK));
        }
        shape_.push_back(size);
        expect(cursor.take(",") || cursor.at(")"), "comma in 'shape'");
      }
      seen |= 4;
    } else {
      refuse(fmt::format("unknown key '{}' in its header", printable(std::string(key))));
    }
    expect(cursor.take(",") || cursor.at("}"), "comma");
  }
  expect(cursor.at_end(), "end");
  expect(seen == 7, "'descr', 'fortran_order' and 'shape'");
}

void NpyReader::parse_descr(std::string_view descr) {
  // NumPy takes a text without the order of bytes, too, as this machine's.
  const bool has_order = !descr.empty() && std::string_view("<>|=").find(descr[0]) != descr.npos;
  const char order = has_order ? descr[0] : '=';
  const auto* type = std::ranges::find(kNpyTypes, descr.substr(has_order ? 1 : 0), &NpyType::code);
  if (type == std::end(kNpyTypes)) {
    raise(TN_UNSUPPORTED,
          "{}: its values are '{}', expected f8, f4, f2, i8, i4, i2, i1, u8, u4, u2, u1 or b1 "
          "behind <, > or |",
          bytes_.name(), printable(std::string(descr)));
  }
  dtype_ = type->dtype;
  big_endian_ = order == '>';
  element_bytes_ = static_cast<uint64_t>(type->code[1] - '0');
  is_unsigned_ = type->code[0] == 'u';
}

void NpyReader::read(void* memory) const {
  const uint64_t bytes = bytes_.size() - begin_, n = bytes / element_bytes_;
  // What becomes wider is read into the last bytes, and taken apart from the first element on.
  auto* values =
      static_cast<uint8_t*>(memory) + n * (dtype_table::item_size(dtype_) - element_bytes_);
  if (fortran_ && shape_.size() > 1) {
    read_columns(values);
  } else {
    bytes_.read_at(begin_, values, bytes);
  }
  for (uint64_t i = 0; big_endian_ && element_bytes_ > 1 && i < bytes; i += element_bytes_) {
    std::reverse(values + i, values + i + element_bytes_);
  }
  if (is_unsigned_) widen_unsigned(bytes_.name(), memory, element_bytes_, n);
  if (dtype_ != TN_BOOL) return;
  const auto* bad = std::find_if(values, values + bytes, [](uint8_t v) { return v > 1; });
  if (bad != values + bytes) {
    refuse(fmt::format("value {} is {}, a bool is 0 or 1", bad - values, *bad));
  }
}

// The first dimension runs fastest in the file, and the last in memory.
void NpyReader::read_columns(uint8_t* memory) const {
  std::vector<int64_t> strides(shape_.size(), 1), index(shape_.size(), 0);
  for (size_t d = shape_.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * shape_[d];
  uint64_t to = 0, part = 0, skipped = 0;  // the element, the byte of it, bytes of the header
  bytes_.each_piece([&](const uint8_t* data, uint64_t n) {
    for (uint64_t i = 0; i < n; ++i) {
      if (skipped < begin_) {
        ++skipped;
        continue;
      }
      memory[to * element_bytes_ + part] = data[i];
      if (++part < element_bytes_) continue;
      part = 0;
      for (size_t d = 0; d < index.size(); ++d) {
        to += static_cast<uint64_t>(strides[d]);
        if (++index[d] < shape_[d]) break;
        to -= static_cast<uint64_t>(strides[d] * shape_[d]);
        index[d] = 0;
      }
    }
    return true;
  });
}

}  // namespace tenon::files
