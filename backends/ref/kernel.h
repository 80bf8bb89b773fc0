// What the kernels share: scalars, operands, indices, programs; and their list. A kernel runs on
// its stream's thread, on a call that was kept; a status that it returns is kept by the stream
// until the host synchronizes.
#pragma once

#include "device.h"
#include "tenon/halves.hpp"

namespace ref {

using tenon::backend::item_size;
using tenon::dtype_table::register_type;  // one of the four below
using tenon::halves::BFloat16;
using tenon::halves::Float16;

struct Kernel {
  tn_primitive primitive;
  const char* name;
  tn_kernel_fn launch;                     // what the host calls, on its thread; self is this row
  tn_status* (*run)(const tn_call* call);  // the work, on the stream's thread
  uint32_t traits;                         // TN_KERNEL_*
  uint32_t dtypes;
};

using Run = tn_status*(const tn_call*);
Run elementwise, reduce, matmul, copy, fill, iota, gather, scatter, random_bits, nonzero;

// Keeps the call and enqueues the kernel's run.
tn_status* launch(void* kernel, const tn_call* call);
// The launch of nonzero, which must know the output's size first.
tn_status* launch_nonzero(void* kernel, const tn_call* call);

// Calls fn with a value of the C++ type that elements of this dtype have.
template <class Fn>
auto with_type(tn_dtype dtype, Fn&& fn) {
  return tenon::dtype_table::visit(dtype,
                                   [&]<class Tag>(Tag) { return fn(typename Tag::Element()); });
}

// The four register types: TN_FLOAT32 is in f, TN_FLOAT64 in d, TN_INT64 and TN_BOOL (0, 1) in i.
union Register {
  float f;
  double d;
  int64_t i;
};

// As TN_I_CAST: from a register type to any dtype, in the register type of that.
Register cast(Register value, tn_dtype from, tn_dtype to);

// A multi-dimensional index, starting at 0.
class Index {
 public:
  Index(int32_t ndim, const int64_t* sizes) : ndim_(ndim), sizes_(sizes) {}

  int64_t& operator[](int32_t dim) { return at_[dim]; }
  int64_t operator[](int32_t dim) const { return at_[dim]; }

  // Moves on in dimensions [first, last), the last fastest. False at the end; they are 0 again.
  bool next(int32_t first, int32_t last) {
    for (int32_t dim = last - 1; dim >= first; --dim) {
      if (++at_[dim] < sizes_[dim]) return true;
      at_[dim] = 0;
    }
    return false;
  }
  bool next() { return next(0, ndim_); }

 private:
  int32_t ndim_;
  const int64_t* sizes_;
  int64_t at_[TN_MAX_RANK] = {};
};

// The elements of a tensor, or of an operand of a loop, of which programs see the one `at`.
struct View {
  char* data;
  const int64_t* strides;
  int32_t ndim;
  tn_dtype dtype;
  char* at = data;

  View() : View(nullptr, TN_INT64) {}
  explicit View(const tn_tensor* x)
      : data(kernel_view(x->data)), strides(x->strides), ndim(x->ndim), dtype(x->dtype) {}
  View(const tn_operand& x, int32_t loop_ndim)
      : data(kernel_view(x.data)), strides(x.strides), ndim(loop_ndim), dtype(x.dtype) {}
  View(Register* value, tn_dtype type)
      : data(reinterpret_cast<char*>(value)), strides(nullptr), ndim(0), dtype(type) {}

  void move(const Index& index) {
    int64_t offset = 0;
    for (int32_t dim = 0; dim < ndim; ++dim) offset += index[dim] * strides[dim];
    at = data + offset * item_size(dtype);
  }

  // The element, converted to register type `type`; and the element from a register of that type.
  Register load(tn_dtype type) const;
  void store(Register value, tn_dtype type) const;
};

// Calls fn(index) for all indices of x, in row-major order, with the views moved there.
template <class Fn, class... Views>
void for_each(const tn_tensor* x, Fn&& fn, Views&... views) {
  Index index(x->ndim, x->sizes);
  if (x->numel == 0) return;
  do {
    (views.move(index), ...);
    fn(index);
  } while (index.next());
}

// As many as instructions can name: on the stack, since a stream's thread may find no other memory.
using Registers = Register[UINT16_MAX + 1];

// Runs a program for the elements that the views are at. Registers are the caller's to reuse.
tn_status* run_program(const tn_program& program, const tn_scalar* params, Register* registers,
                       const View* inputs, const View* outputs);

}  // namespace ref
