// New tensors. dtype None: float32, or int64 where all numbers are ints; device None: the CPU.
#include "pack.h"

#include <cmath>

namespace tenon::ops_pack {
namespace {

bool is_int(const Operand& number) { return number.value().kind == TN_INT; }
double as_double(const Operand& number) {
  return number.value().kind == TN_FLOAT ? number.value().as.f : double(number.value().as.i);
}

Tensor range(Operand start, Operand end, Operand step, Dtype dtype, Device device) {
  bool ints = is_int(start) && is_int(end) && is_int(step);
  double distance = as_double(end) - as_double(start), stride = as_double(step);
  if (stride == 0) fail("arange: step is 0");
  double steps = std::ceil(distance / stride);
  bool reached = steps >= 0;
  int64_t n = steps >= 0 && steps < 0x1p62 ? int64_t(steps) : 0;
  if (ints) {  // in integers: doubles lose the last digits of large ones
    int64_t from = start.value().as.i, to = end.value().as.i;
    bool up = stride > 0;
    reached = up ? from <= to : from >= to;
    // Unsigned: the way may be longer than an int64 counts.
    uint64_t by = uint64_t(step.value().as.i), way = uint64_t(to) - uint64_t(from);
    if (!up) by = 0 - by, way = 0 - way;
    n = way == 0 ? 0 : int64_t((way - 1) / by + 1);
  }
  if (!reached) {
    fail("arange: " + std::to_string(as_double(end)) + " cannot be reached from " +
         std::to_string(as_double(start)) + " by steps of " + std::to_string(stride));
  }
  if (steps >= 0x1p62) fail("arange: more elements than memory holds");
  if (!dtype) dtype = ints ? int64 : float32;
  return prim::iota(n, Number(start), Number(step), dtype, device);
}

}  // namespace

void create() {
  op("empty(int[] sizes, dtype? dtype=None, device? device=None) -> Tensor")
      .meaning([](Ints sizes, Dtype dtype, Device device) {
        return Tensor::empty(sizes, dtype ? dtype : float32, device);
      });
  op("full(int[] sizes, number value, dtype? dtype=None, device? device=None) -> Tensor")
      .meaning([](Ints sizes, Operand value, Dtype dtype, Device device) {
        if (!dtype)
          dtype = is_int(value) ? int64 : value.value().kind == TN_BOOL_VALUE ? bool_ : float32;
        // An int is an int64 without a look; as a double it might round up to 2^63.
        if (!is_int(value) || dtype != int64)
          expect_in_range("full", "value", as_double(value), dtype, true);
        return prim::fill(sizes, Number(value), dtype, device);
      });
  op("zeros(int[] sizes, dtype? dtype=None, device? device=None) -> Tensor")
      .meaning([](Ints sizes, Dtype dtype, Device device) {
        return prim::fill(sizes, 0, dtype ? dtype : float32, device);
      });
  op("ones(int[] sizes, dtype? dtype=None, device? device=None) -> Tensor")
      .meaning([](Ints sizes, Dtype dtype, Device device) {
        return prim::fill(sizes, 1, dtype ? dtype : float32, device);
      });
  op("arange(number start, number end, number step=1, dtype? dtype=None, device? device=None) -> "
     "Tensor")
      .meaning(range);
  op("zeros_like(Tensor x) -> Tensor").no_gradient().meaning([](Tensor x) {
    return prim::fill(x.sizes(), 0, x.dtype(), x.device());
  });
  op("ones_like(Tensor x) -> Tensor").no_gradient().meaning([](Tensor x) {
    return prim::fill(x.sizes(), 1, x.dtype(), x.device());
  });
  // The new values have no gradient to give back: x gets zero, through the formula. As in every
  // formula an int beyond x's dtype wraps; full refuses it.
  op("fill_(Tensor(a!) x, number value) -> Tensor(a!)", "value");
}

}  // namespace tenon::ops_pack
