#include "pack.h"

#include <charconv>
#include <cmath>
#include <iterator>
#include <mutex>
#include <set>

namespace tenon::ops_pack {

int64_t wrap_dim(const char* op, int64_t d, int64_t rank) {
  // A tensor without dimensions is taken as one of size 1, as PyTorch does.
  int64_t n = rank == 0 ? 1 : rank;
  if (d < -n || d >= n) {
    fail(std::string(op) + ": dimension " + std::to_string(d) + " is out of range; expected " +
         std::to_string(-n) + " to " + std::to_string(n - 1));
  }
  return d < 0 ? d + n : d;
}

std::vector<int64_t> distinct_dims(const char* op, Ints dims, int64_t rank) {
  std::vector<int64_t> list;
  uint32_t seen = 0;
  for (int64_t dim : dims) {
    int64_t d = wrap_dim(op, dim, rank);
    if (seen >> d & 1)
      fail(std::string(op) + ": dimension " + std::to_string(d) + " appears twice");
    seen |= 1u << d;
    list.push_back(d);
  }
  return list;
}

std::string number_text(double number) {
  char text[32];
  return {text, std::to_chars(text, std::end(text), number, std::chars_format::general, 6).ptr};
}

std::string digits_of(double number) {
  char text[32];
  return {text, std::to_chars(text, std::end(text), number, std::chars_format::general, 17).ptr};
}

// The bounds are PyTorch's: -1 as uint8 is 255, and any number is a bool.
void expect_in_range(const char* op, const char* what, double number, Dtype dtype, bool special) {
  if (dtype == bool_) return;
  const double high = dtype_table::greatest(dtype.value);
  const double least = dtype_table::least(dtype.value), low = least < 0 ? least : -high;
  if (number >= low && number <= high) return;
  if (special && dtype.is_float() && !std::isfinite(number)) return;
  fail(std::string(op) + ": " + what + " is " + number_text(number) + ", which is no " +
       dtype.name() + "; expected " + number_text(low) + " to " + number_text(high));
}

Number number_for(const char* op, const char* what, const Operand& number, Dtype dtype) {
  const tn_value& v = number.value();
  const double value = v.kind == TN_KIND_FLOAT ? v.as.f : double(v.as.i);
  // An int is an int64 without a look; as a double it might round up to 2^63.
  if (v.kind == TN_KIND_FLOAT || dtype != int64) expect_in_range(op, what, value, dtype, true);
  if (dtype.is_float()) return Number(number);
  if (dtype == bool_) return v.kind == TN_KIND_FLOAT ? v.as.f != 0 : v.as.i != 0;
  const int64_t whole = v.kind == TN_KIND_FLOAT ? int64_t(v.as.f) : v.as.i;
  return dtype_table::wrap(dtype.value, whole);
}

Dtype promoted(const Operand& x, const Operand& y) {
  struct Of {
    Dtype dtype;
    int rank, kind;
    explicit Of(const Operand& o) {
      const Tensor t = o.tensor();
      dtype = t.defined()                       ? t.dtype()
              : o.value().kind == TN_KIND_FLOAT ? float32
              : o.value().kind == TN_KIND_BOOL  ? bool_
                                                : int64;
      rank = !t.defined() ? 0 : t.dim() == 0 ? 1 : 2;
      kind = dtype.is_float() ? 2 : dtype == bool_ ? 0 : 1;
    }
  };
  Of a(x), b(y);
  if (a.rank < b.rank) std::swap(a, b);
  return a.rank > b.rank && b.kind <= a.kind ? a.dtype : promote(a.dtype, b.dtype);
}

Tensor as_index(const char* op, const char* what, const Tensor& index) {
  if (index.dtype() == int64) return index;
  if (index.dtype() == int32) return prim::copy(index, int64);
  fail(std::string(op) + ": " + what + " is " + index.dtype().name() + ", expected int64 or int32");
}

void expect_countable(const char* op, std::span<const int64_t> sizes, Dtype dtype) {
  int64_t bytes = int64_t(dtype.itemsize());
  for (int64_t size : sizes) {
    if (size < 0) fail(std::string(op) + ": a size is negative in " + sizes_text(sizes));
    if (size > 0 && __builtin_mul_overflow(bytes, size, &bytes)) {
      fail(std::string(op) + ": the shape " + sizes_text(sizes) + " (" + dtype.name() +
           ") overflows: more bytes than 63 bits hold");
    }
  }
}

[[noreturn]] static void refuse_overflow(const char* op, int64_t a, const char* sign, int64_t b) {
  fail(std::string(op) + ": " + std::to_string(a) + sign + std::to_string(b) +
       " is more than 63 bits hold");
}
int64_t checked_add(const char* op, int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) refuse_overflow(op, a, " + ", b);
  return sum;
}
int64_t checked_mul(const char* op, int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) refuse_overflow(op, a, " * ", b);
  return result;
}

Sizes order_of(const Tensor& x) {
  Sizes order;
  for (int64_t d = 0; d < x.dim(); ++d) order.push_back(d);
  // As the core orders what an elementwise op makes: a dimension of stride 0 stays in its place.
  for (size_t i = 1; i < order.size(); ++i) {
    size_t at = i;
    for (size_t before = i; before-- > 0;) {
      const int64_t outer = x.stride(order[before]), inner = x.stride(order[at]);
      if (outer == 0 || inner == 0) continue;
      if (outer >= inner) break;
      std::swap(order[before], order[at]);
      at = before;
    }
  }
  return order;
}

std::string sizes_text(std::span<const int64_t> sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + "]";
}

void warn_once(const std::string& text) {
  constexpr size_t kMost = 1000;  // a program with more of them has been told
  static std::mutex mutex;
  static auto& told = *new std::set<std::string>;
  const std::scoped_lock lock(mutex);
  if (told.size() < kMost && told.insert(text).second) host()->log(2, text.c_str());
}

void expect_floating(const char* op, Dtype dtype) {
  if (dtype && !dtype.is_float())
    fail(std::string(op) + ": dtype is " + dtype.name() + ", expected a floating dtype");
}

void expect_float(const char* op, const Tensor& x) {
  if (!x.dtype().is_float())
    fail(std::string(op) + ": x is " + x.dtype().name() + ", expected a floating dtype");
}

}  // namespace tenon::ops_pack
