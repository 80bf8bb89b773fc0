// The header is read through SAX events into entries: its depth is that of the format, and no tree
// of the file's making is ever built.
#include "safetensors_header.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tenon/dtype_table.hpp"

namespace tenon::files {
namespace {

using nlohmann::json;

constexpr DtypeRow known(const char* name, tn_dtype dtype) {
  return {name, dtype, dtype_table::item_size(dtype)};
}
// Unsigned integers become the next larger dtype, as those of NumPy's files do, and floats of 8 bits
// float32, which has all their values.
constexpr DtypeRow wider(const char* name, uint64_t bytes, tn_dtype dtype) {
  return {name, dtype, bytes};
}
constexpr DtypeRow unknown(const char* name, uint64_t bytes) {
  return {name, TN_DTYPE_NONE, bytes};
}
// Those that Tenon writes come first.
constexpr DtypeRow kDtypes[] = {
    known("F64", TN_FLOAT64),        known("F32", TN_FLOAT32),
    known("F16", TN_FLOAT16),        known("BF16", TN_BFLOAT16),
    known("I64", TN_INT64),          known("I32", TN_INT32),
    known("I16", TN_INT16),          known("I8", TN_INT8),
    known("U8", TN_UINT8),           known("BOOL", TN_BOOL),
    wider("U16", 2, TN_INT32),       wider("U32", 4, TN_INT64),
    wider("U64", 8, TN_INT64),       wider("F8_E4M3", 1, TN_FLOAT32),
    wider("F8_E5M2", 1, TN_FLOAT32), unknown("C64", 8),
};

// Depth 1: the names. Depth 2: the fields of a tensor, or metadata. Depth 3: the two lists of
// numbers.
class HeaderHandler : public nlohmann::json_sax<json> {
 public:
  std::vector<TensorEntry> entries;
  std::string problem;

  bool start_object(std::size_t) override {
    if (depth_ == 2) return refuse("objects nested too deep");
    if (depth_ == 1) {
      if (!metadata_) entries.emplace_back().name = key_;
      seen_ = 0;
    }
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    if (depth_ == 1) {
      if (!metadata_ && seen_ != 7)
        return refuse("not all of dtype, shape and data_offsets are given");
      metadata_ = false;
    }
    return true;
  }
  bool key(std::string& text) override {
    key_ = text;
    if (depth_ == 1) {
      metadata_ = key_ == "__metadata__";
      name_ = key_;
      if (name_.find('\0') != name_.npos) return refuse("the name has a zero byte");
      if (!names_.insert(key_).second) return refuse("the name is there twice");
      return true;
    }
    if (metadata_) return true;
    const int bit = key_ == "dtype" ? 1 : key_ == "shape" ? 2 : key_ == "data_offsets" ? 4 : 0;
    if (bit == 0) return refuse(fmt::format("unknown field '{}'", printable(key_)));
    if ((seen_ & bit) != 0) return refuse(fmt::format("{} is there twice", key_));
    seen_ |= bit;
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || metadata_ || in_list_ || key_ == "dtype") return unexpected("a list");
    in_list_ = true;
    numbers_.clear();
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    TensorEntry& entry = entries.back();
    if (key_ == "shape") {
      entry.shape.assign(numbers_.begin(), numbers_.end());
      return true;
    }
    if (numbers_.size() != 2) {
      return refuse(fmt::format("data_offsets has {} numbers, not 2", numbers_.size()));
    }
    entry.begin = numbers_[0];
    entry.end = numbers_[1];
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!in_list_) return unexpected("a number");
    if (value > INT64_MAX) return refuse(fmt::format("{} of {} is out of range", value, key_));
    if (key_ == "shape" && numbers_.size() == TN_MAX_RANK) {
      return refuse(fmt::format("more than {} dimensions", TN_MAX_RANK));
    }
    if (numbers_.size() == TN_MAX_RANK) return refuse("data_offsets has more than 2 numbers");
    numbers_.push_back(value);
    return true;
  }
  bool string(string_t& text) override {
    if (depth_ == 2 && metadata_) return true;
    if (depth_ != 2 || in_list_ || key_ != "dtype") return unexpected("a string");
    const DtypeRow* row = find_dtype(text);
    if (row == nullptr) return refuse(fmt::format("unknown dtype '{}'", printable(text)));
    entries.back().dtype = row->dtype;
    entries.back().dtype_name = row->name;
    entries.back().element_bytes = row->bytes;
    return true;
  }
  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a bool"); }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override {
    return unexpected("a number that is no integer in range");
  }
  bool binary(binary_t&) override { return unexpected("binary"); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    problem = fmt::format("the header is not JSON at byte {}", 7 + position);
    return false;
  }

 private:
  bool refuse(const std::string& what) {
    problem = name_.empty() ? what : fmt::format("tensor '{}': {}", printable(name_), what);
    return false;
  }
  bool unexpected(const char* what) {
    return refuse(
        fmt::format("{} is not expected{}{}", what, key_.empty() ? "" : " at ", printable(key_)));
  }

  int depth_ = 0;
  int seen_ = 0;
  bool metadata_ = false;
  bool in_list_ = false;
  std::string name_, key_;
  std::set<std::string> names_;
  std::vector<uint64_t> numbers_;
};

// Its bytes by shape and dtype; false where they do not fit 63 bits.
bool bytes_of(const TensorEntry& entry, uint64_t* bytes) {
  *bytes = find_dtype(entry.dtype_name)->bytes;
  for (const int64_t size : entry.shape) {
    if (size == 0) {
      *bytes = 0;
      return true;
    }
  }
  for (const int64_t size : entry.shape) {
    if (__builtin_mul_overflow(*bytes, static_cast<uint64_t>(size), bytes) || *bytes > INT64_MAX) {
      return false;
    }
  }
  return true;
}

}  // namespace

const DtypeRow* find_dtype(std::string_view name) {
  const auto* row = std::ranges::find(kDtypes, name, &DtypeRow::name);
  return row == std::end(kDtypes) ? nullptr : row;
}

const DtypeRow* find_dtype(tn_dtype dtype) {
  if (dtype == TN_DTYPE_NONE) return nullptr;
  const auto* row = std::ranges::find(kDtypes, dtype, &DtypeRow::dtype);
  return row == std::end(kDtypes) ? nullptr : row;
}

std::vector<TensorEntry> parse_header(const std::string& path, std::string_view header,
                                      uint64_t data_begin, uint64_t file_bytes) {
  const auto fail = [&path](const std::string& what) { raise(TN_DATA_LOSS, "{}: {}", path, what); };
  if (header.empty() || header.front() != '{') fail("the header does not begin with '{'");
  HeaderHandler handler;
  if (!json::sax_parse(header.begin(), header.end(), &handler)) fail(handler.problem);

  std::vector<TensorEntry> entries = std::move(handler.entries);
  std::ranges::stable_sort(entries, [](const TensorEntry& a, const TensorEntry& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  const uint64_t data_bytes = file_bytes - data_begin;
  uint64_t next = 0;
  for (TensorEntry& entry : entries) {
    const std::string name = fmt::format("tensor '{}'", printable(entry.name));
    if (entry.end > data_bytes || entry.begin > entry.end) {
      fail(fmt::format("{}: data_offsets [{}, {}] are not within the {} bytes of data", name,
                       entry.begin, entry.end, data_bytes));
    }
    uint64_t bytes = 0;
    if (!bytes_of(entry, &bytes) || entry.end - entry.begin != bytes) {
      fail(fmt::format("{}: shape [{}] of {} does not fill the {} bytes of its data_offsets", name,
                       fmt::join(entry.shape, ", "), entry.dtype_name, entry.end - entry.begin));
    }
    if (entry.begin != next) {
      fail(fmt::format("{}: {} at byte {} of the data, the tensor before it ends at {}", name,
                       entry.begin < next ? "overlaps" : "leaves a gap", entry.begin, next));
    }
    next = entry.end;
    entry.begin += data_begin;
    entry.end += data_begin;
  }
  if (next != data_bytes) {
    fail(fmt::format("{} bytes of data, the header describes {}", data_bytes, next));
  }
  return entries;
}

}  // namespace tenon::files
