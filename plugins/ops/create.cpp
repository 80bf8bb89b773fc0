// New tensors. dtype None: float32, or int64 where all numbers are ints; device None: the CPU.
#include "pack.h"

#include <algorithm>
#include <cmath>

namespace tenon::ops_pack {
namespace {

bool is_int(const Operand& number) { return number.value().kind == TN_KIND_INT; }
double as_double(const Operand& number) {
  return number.value().kind == TN_KIND_FLOAT ? number.value().as.f : double(number.value().as.i);
}

// What a range of a dtype begins, ends or goes on with: PyTorch takes it to the dtype before it counts.
double counted_in(Dtype dtype, double value) {
  return dtype && !dtype.is_float() ? std::trunc(value) : value;
}

Tensor range(Operand start, Operand end, Operand step, Dtype dtype, Device device) {
  const auto is_whole = [](const Operand& number) {
    return is_int(number) || number.value().kind == TN_KIND_BOOL;
  };
  bool ints = is_whole(start) && is_whole(end) && is_whole(step);
  double distance = as_double(end) - as_double(start), stride = as_double(step);
  if (stride == 0) fail("arange: step is 0");
  if (!std::isfinite(stride))
    fail("arange: step is " + detail::number_text(stride) + ", expected a finite number");
  double steps = std::ceil(distance / stride);
  bool reached = distance / stride >= 0, counted = !(steps >= 0x1p62);
  int64_t n = steps >= 0 && steps < 0x1p62 ? int64_t(steps) : 0;
  if (ints) {  // in integers: doubles lose the last digits of large ones
    int64_t from = start.value().as.i, to = end.value().as.i;
    bool up = stride > 0;
    reached = up ? from <= to : from >= to;
    // Unsigned: the way may be longer than an int64 counts.
    uint64_t by = uint64_t(step.value().as.i), way = uint64_t(to) - uint64_t(from);
    if (!up) by = 0 - by, way = 0 - way;
    const uint64_t count = way == 0 ? 0 : (way - 1) / by + 1;
    counted = count <= uint64_t(INT64_MAX);
    n = int64_t(count);
  }
  if (!reached) {
    fail("arange: " + detail::number_text(as_double(end)) + " cannot be reached from " +
         detail::number_text(as_double(start)) + " by steps of " + detail::number_text(stride));
  }
  if (!counted) fail("arange: more elements than memory holds");
  if (!dtype) dtype = ints ? int64 : float32;
  expect_countable("arange", {&n, 1}, dtype);
  // Integers are counted in int64, and those of smaller dtypes wrap, as PyTorch's do.
  if (n > 0 && !ints && !dtype.is_float()) {
    number_for("arange", "start", start, int64);
    number_for("arange", "the last element", as_double(start) + double(n - 1) * stride, int64);
  }
  if (ints) return prim::iota(n, start.value().as.i, step.value().as.i, dtype, device);
  if (dtype.is_float()) return prim::iota(n, Number(start), Number(step), dtype, device);
  const double from = counted_in(dtype, as_double(start)), by = counted_in(dtype, stride);
  if (by == 0) {
    fail("arange: step is " + detail::number_text(stride) + ", which is 0 in " + dtype.name());
  }
  return prim::iota(n, from, by, dtype, device);
}

constinit ExpressionRef filled_with{"_filled_with(Tensor(a!) x, number value) -> Tensor(a!)",
                                    "value"};

Tensor filled_like(const Tensor& x, int value, Dtype dtype) {
  return laid_as(x, [&](Ints sizes) {
    return prim::fill(sizes, value, dtype ? dtype : x.dtype(), x.device());
  });
}

// From both ends to the middle, so that the last element is `end` itself.
constinit ExpressionRef between{
    "_between(Tensor i, float start, float end, float step, int n) -> Tensor",
    "where(2 * i < n, start + step * i, end - step * (n - 1 - i))"};

// In dtype; `of` is the dtype that start and end are in.
Tensor line(const char* op, const Operand& start, const Operand& end, int64_t steps, Dtype dtype,
            Dtype of, Device device) {
  if (steps < 0) {
    fail(std::string(op) + ": steps is " + std::to_string(steps) + ", at least 0 is needed");
  }
  if (!dtype) dtype = float32;
  expect_countable(op, {&steps, 1}, float64);  // its steps are counted in float64
  if (steps > 0) {
    number_for(op, "start", start, of ? of : dtype);
    number_for(op, "end", end, of ? of : dtype);
  }
  double from = counted_in(of, as_double(start)), to = counted_in(of, as_double(end));
  double step = steps > 1 ? (to - from) / double(steps - 1) : 0;
  // float64 counts the steps, as halves cannot.
  Tensor i = prim::iota(steps, 0, 1, float64, device);
  Tensor y = prim::elementwise(between, i, from, to, step, steps);
  return dtype == float64 ? y : prim::copy(y, dtype);
}

constinit ExpressionRef raised{"_raised(Tensor x, float base) -> Tensor", "base ** x"};

constinit ExpressionRef same_place{
    "_same_place(Tensor(a!) y, Tensor row, Tensor column) -> Tensor(a!)", "row == column"};

Tensor identity(int64_t n, optional<int64_t> m, Dtype dtype, Device device) {
  if (n < 0 || (m && *m < 0)) {
    fail("eye: " + std::to_string(n) + " rows and " + std::to_string(m ? *m : n) +
         " columns, at least 0 are needed");
  }
  if (!dtype) dtype = float32;
  const Sizes sizes{n, m ? *m : n};
  expect_countable("eye", sizes, dtype);
  // First of all what is largest: where that does not fit, nothing else has been made.
  Tensor y = Tensor::empty(sizes, dtype, device);
  if (y.numel() == 0) return y;
  Tensor row = prim::reshape(prim::iota(n, 0, 1, int64, device), {n, 1});
  return prim::elementwise(same_place, y, row, prim::iota(sizes[1], 0, 1, int64, device));
}

// The columns of row i in a triangle: `from` and behind, up to `to`.
struct Triangle {
  int64_t row, col, offset;
  bool lower;
  // In 128 bits, where no sum of an int64 and another overflows.
  int64_t edge(int64_t i) const {
    const __int128 at = __int128(i) + offset + (lower ? 1 : 0);
    return int64_t(std::clamp<__int128>(at, 0, col));
  }
  int64_t from(int64_t i) const { return lower ? 0 : edge(i); }
  int64_t to(int64_t i) const { return lower ? edge(i) : col; }
  // The rows with elements are neighbours: a lower triangle's are the last, an upper one's the
  // first.
  int64_t first_row() const {
    if (!lower) return 0;
    return int64_t(std::clamp<__int128>(-__int128(offset), 0, row));
  }
  int64_t behind_rows() const {
    if (lower) return row;
    return int64_t(std::clamp<__int128>(__int128(col) - offset, 0, row));
  }
  // Elements: rows whose edge is within the matrix have one more each, the others are whole.
  __int128 count() const {
    if (col == 0 || first_row() >= behind_rows()) return 0;
    const int64_t first = first_row(), behind = behind_rows();
    // Rows [first, behind) hold to(i) - from(i), which moves by one from row to row until all `col`
    // are in.
    const int64_t small = lower ? to(first) : col - from(behind - 1);
    const __int128 n = __int128(behind) - first, growing = std::min<__int128>(n, col - small);
    return growing * small + growing * (growing - 1) / 2 + (n - growing) * col;
  }
};

// Rows and columns [2, count] of a triangle's elements, row by row: made here and copied, since
// their number follows from the sizes alone.
Tensor triangle_indices(const char* op, int64_t row, int64_t col, int64_t offset, bool lower,
                        Device device) {
  if (row < 0 || col < 0) {
    fail(std::string(op) + ": " + std::to_string(row) + " rows and " + std::to_string(col) +
         " columns, at least 0 are needed");
  }
  const Triangle t{row, col, offset, lower};
  const int64_t n = int64_t(std::min<__int128>(t.count(), INT64_MAX));
  expect_countable(op, Sizes{2, n}, int64);
  if (device.value.type == TN_DEVICE_META) return Tensor::empty({2, n}, int64, device);
  Tensor y = Tensor::empty({2, n}, int64);
  int64_t* rows = y.mutable_data<int64_t>();
  int64_t* columns = rows + n;
  for (int64_t i = t.first_row(); n > 0 && i < t.behind_rows(); ++i) {
    for (int64_t k = t.from(i), end = t.to(i); k < end; ++k) {
      *rows++ = i;
      *columns++ = k;
    }
  }
  return device.is_cpu() ? y : y.to(device);
}

void tensors_of_one_value() {
  // The face asks the allocator for it, without a call.
  group("memory");
  op("empty(int[] sizes, dtype? dtype=None, device? device=None) -> Tensor")
      .doc("A new tensor that is not initialized. dtype None: float32; device None: the CPU.")
      .meaning([](Ints sizes, Dtype dtype, Device device) {
        return Tensor::empty(sizes, dtype ? dtype : float32, device);
      });
  group("create");
  op("full(int[] sizes, number value, dtype? dtype=None, device? device=None) -> Tensor")
      .doc("A tensor of one value. dtype None: as the value; device None: the CPU.")
      .meaning([](Ints sizes, Operand value, Dtype dtype, Device device) {
        if (!dtype)
          dtype = is_int(value) ? int64 : value.value().kind == TN_KIND_BOOL ? bool_ : float32;
        return prim::fill(sizes, number_for("full", "value", value, dtype), dtype, device);
      });
  op("zeros(int[] sizes, dtype? dtype=None, device? device=None) -> Tensor")
      .doc("A tensor of zeros. dtype None: float32; device None: the CPU.")
      .meaning([](Ints sizes, Dtype dtype, Device device) {
        return prim::fill(sizes, 0, dtype ? dtype : float32, device);
      });
  op("ones(int[] sizes, dtype? dtype=None, device? device=None) -> Tensor")
      .doc("A tensor of ones. dtype None: float32; device None: the CPU.")
      .meaning([](Ints sizes, Dtype dtype, Device device) {
        return prim::fill(sizes, 1, dtype ? dtype : float32, device);
      });
}

void ranges_and_indices() {
  op("arange(number start, number end, number step=1, dtype? dtype=None, device? device=None) -> "
     "Tensor")
      .doc(
          "start, start + step, .. before end. dtype None: int64 where all are ints, else float32; "
          "device None: the CPU.")
      .meaning(range);
  op("linspace(number start, number end, int steps, dtype? dtype=None, device? device=None) -> "
     "Tensor")
      .doc(
          "steps values from start to end, both included. dtype None: float32; device None: the "
          "CPU.")
      .meaning([](Operand start, Operand end, int64_t steps, Dtype dtype, Device device) {
        return line("linspace", start, end, steps, dtype, dtype, device);
      });
  op("logspace(number start, number end, int steps, float base=10, dtype? dtype=None, "
     "device? device=None) -> Tensor")
      .doc(
          "base to the powers linspace(start, end, steps), computed in float64. dtype None: "
          "float32; device None: the CPU.")
      .meaning(
          [](Operand start, Operand end, int64_t steps, double base, Dtype dtype, Device device) {
            const Tensor powers = line("logspace", start, end, steps, float64, dtype, device);
            return as_dtype(prim::elementwise(raised, powers, base), dtype ? dtype : float32);
          });
  op("eye(int n, int? m=None, dtype? dtype=None, device? device=None) -> Tensor")
      .doc(
          "n rows and m (None: n) columns with ones on the diagonal. dtype None: float32; device "
          "None: the CPU.")
      .meaning(identity);
  op("tril_indices(int row, int col, int offset=0, device? device=None) -> Tensor")
      .doc(
          "int64 [2, count]: rows and columns of the elements of a row by col matrix that tril "
          "leaves.")
      .meaning([](int64_t row, int64_t col, int64_t offset, Device device) {
        return triangle_indices("tril_indices", row, col, offset, true, device);
      });
  op("triu_indices(int row, int col, int offset=0, device? device=None) -> Tensor")
      .doc(
          "int64 [2, count]: rows and columns of the elements of a row by col matrix that triu "
          "leaves.")
      .meaning([](int64_t row, int64_t col, int64_t offset, Device device) {
        return triangle_indices("triu_indices", row, col, offset, false, device);
      });
}

void tensors_like_others() {
  op("empty_like(Tensor x, dtype? dtype=None) -> Tensor")
      .doc(
          "A tensor that is not initialized, of the sizes and device of x, and of its dtype unless "
          "said. Its dimensions lie in the order of x's; so do those of the other ops whose names "
          "end in _like.")
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor x, Dtype dtype) {
        return laid_as(x, [&](Ints sizes) {
          return Tensor::empty(sizes, dtype ? dtype : x.dtype(), x.device());
        });
      });
  op("zeros_like(Tensor x, dtype? dtype=None) -> Tensor")
      .doc("Zeros of the sizes and device of x, and of its dtype unless said.")
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor x, Dtype dtype) { return filled_like(x, 0, dtype); });
  op("ones_like(Tensor x, dtype? dtype=None) -> Tensor")
      .doc("Ones of the sizes and device of x, and of its dtype unless said.")
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor x, Dtype dtype) { return filled_like(x, 1, dtype); });
  op("full_like(Tensor x, number value, dtype? dtype=None) -> Tensor")
      .doc("One value in the sizes and on the device of x, and of its dtype unless said.")
      .no_gradient()
      .keeps_halves()
      .meaning([](Tensor x, Operand value, Dtype dtype) {
        return laid_as(x, [&](Ints sizes) {
          return full(sizes, Number(value), dtype ? dtype : x.dtype(), x.device());
        });
      });
  // The new values have no gradient to give back: x gets zero, through the formula.
  op("fill_(Tensor(a!) x, number value) -> Tensor(a!)")
      .doc("Writes value to all elements of x. Of floats integers take the whole part.")
      .meaning([](Tensor x, Operand value) {
        return prim::elementwise(filled_with, x, number_for("fill_", "value", value, x.dtype()));
      });
}

}  // namespace

void create() {
  tensors_of_one_value();
  ranges_and_indices();
  tensors_like_others();
  signal_windows();
}

}  // namespace tenon::ops_pack
