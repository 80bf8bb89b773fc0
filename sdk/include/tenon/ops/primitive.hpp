// Primitives, for decompositions: what every complete backend computes (docs/abi.md). Applications
// use the ops instead.
#pragma once

#include "tenon/op.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// A formula, parsed at its first use. Thread-safe.
//   constinit static ExpressionRef square{"square(Tensor x) -> Tensor", "x * x"};
class ExpressionRef {
 public:
  constexpr ExpressionRef(const char* schema, const char* formula)
      : schema_(schema), formula_(formula) {}
  const tn_op* get() const {
    const tn_op* e = __atomic_load_n(&expression_, __ATOMIC_ACQUIRE);
    return e ? e : parse();
  }

 private:
  [[gnu::cold, gnu::noinline]] const tn_op* parse() const {
    const tn_op* e = nullptr;
    check(host()->expression(schema_, formula_, &e));
    __atomic_store_n(&expression_, e, __ATOMIC_RELEASE);
    return e;
  }
  const char* schema_;
  const char* formula_;
  mutable const tn_op* expression_ = nullptr;
};

namespace detail {
inline tn_value to_value(const ExpressionRef& x) {
  tn_value v = make_value(TN_KIND_EXPRESSION);
  v.as.expression = x.get();
  return v;
}

// A tensor as a list of one, for the call.
struct ListOfOne {
  explicit ListOfOne(const Tensor& x) : tensor(x.get()) {}
  tn_tensor* tensor;
};
inline tn_value to_value(const ListOfOne& list) {
  tn_value v = make_value(TN_KIND_TENSORS);
  v.count = 1;
  v.as.tensors = &list.tensor;
  return v;
}

// The op of a primitive, asked for once.
template <tn_primitive kind>
inline constinit const tn_op* primitive_op = nullptr;

template <typename R, tn_primitive kind, typename... Args>
R call_primitive(const Args&... args) {
  const tn_op* op = __atomic_load_n(&primitive_op<kind>, __ATOMIC_RELAXED);
  if (op == nullptr) [[unlikely]] {
    op = host()->primitive_op(kind);
    __atomic_store_n(&primitive_op<kind>, op, __ATOMIC_RELAXED);
  }
  return call<R>(op, args...);
}
}  // namespace detail

namespace prim {

// The formula on operands and scalars in the order of its schema. R: Tensor, or a tuple for several
// outputs.
template <typename R = Tensor, typename... Args>
R elementwise(const ExpressionRef& expression, const Args&... args) {
  return detail::call<R>(expression.get(), args...);
}

// dims empty: all. dtype none: as the kind gives it.
inline Tensor reduce(tn_reduce_kind kind, const Tensor& x, Ints dims = {}, bool keepdim = false,
                     Dtype dtype = {}) {
  if (!dtype)
    return detail::call_primitive<Tensor, TN_PRIM_REDUCE>(int64_t(kind), detail::ListOfOne(x), dims,
                                                          keepdim);
  return detail::call_primitive<Tensor, TN_PRIM_REDUCE>(
      int64_t(kind), detail::ListOfOne(x), dims, keepdim, none, Floats(), none, Floats(), dtype);
}
// Folds prologue(xs, prologue_scalars), without storing it.
inline Tensor reduce(tn_reduce_kind kind, const Tensors& xs, Ints dims, bool keepdim,
                     const ExpressionRef& prologue, Floats prologue_scalars = {},
                     Dtype dtype = {}) {
  return detail::call_primitive<Tensor, TN_PRIM_REDUCE>(int64_t(kind), xs, dims, keepdim, prologue,
                                                        prologue_scalars, none, Floats(), dtype);
}
// Stores epilogue(folded, epilogue_scalars).
inline Tensor reduce_then(tn_reduce_kind kind, const Tensor& x, Ints dims, bool keepdim,
                          const ExpressionRef& epilogue, Floats epilogue_scalars = {},
                          Dtype dtype = {}) {
  return detail::call_primitive<Tensor, TN_PRIM_REDUCE>(int64_t(kind), detail::ListOfOne(x), dims,
                                                        keepdim, none, Floats(), epilogue,
                                                        epilogue_scalars, dtype);
}

// Sums or products of all elements up to each along dim (from it on, reverse). Integers and bool:
// int64.
inline Tensor scan(tn_reduce_kind kind, const Tensor& x, int64_t dim, bool reverse = false) {
  return detail::call_primitive<Tensor, TN_PRIM_SCAN>(int64_t(kind), x, dim, reverse);
}
// Values in order, and where they were in x (int64). Equal ones keep their order; NaN is the
// greatest.
inline std::tuple<Tensor, Tensor> sort(const Tensor& x, int64_t dim, bool descending = false) {
  return detail::call_primitive<std::tuple<Tensor, Tensor>, TN_PRIM_SORT>(x, dim, descending);
}

// a [.., m, k]·b [.., k, n]; leading dimensions broadcast.
inline Tensor matmul(const Tensor& a, const Tensor& b) {
  return detail::call_primitive<Tensor, TN_PRIM_MATMUL>(a, b);
}
// A new row-major tensor.
inline Tensor copy(const Tensor& x, Dtype dtype = {}) {
  return detail::call_primitive<Tensor, TN_PRIM_COPY>(x, dtype, none);
}
inline Tensor copy(const Tensor& x, Dtype dtype, Device device) {
  return detail::call_primitive<Tensor, TN_PRIM_COPY>(x, dtype, device);
}
inline Tensor fill(Ints sizes, Number value, Dtype dtype, Device device) {
  return detail::call_primitive<Tensor, TN_PRIM_FILL>(sizes, value, dtype, device);
}
// start + i * step, [n].
inline Tensor iota(int64_t n, Number start, Number step, Dtype dtype, Device device) {
  return detail::call_primitive<Tensor, TN_PRIM_IOTA>(n, start, step, dtype, device);
}
inline Tensor gather(const Tensor& x, int64_t dim, const Tensor& index) {
  return detail::call_primitive<Tensor, TN_PRIM_GATHER>(x, dim, index);
}
inline Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src,
                      bool add) {
  return detail::call_primitive<Tensor, TN_PRIM_SCATTER>(x, dim, index, src, add);
}
// The same, written to x; what core/primitive/index.cpp cannot write directly is copied. Gives x.
inline Tensor scatter_(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src,
                       bool add) {
  return detail::call_primitive<Tensor, TN_PRIM_SCATTER_INTO>(x, dim, index, src, add);
}
// int32, 32 random bits each.
inline Tensor random_bits(Ints sizes, Device device) {
  return detail::call_primitive<Tensor, TN_PRIM_RANDOM_BITS>(sizes, device);
}
inline Tensor nonzero(const Tensor& x) {
  return detail::call_primitive<Tensor, TN_PRIM_NONZERO>(x);
}

// Views.
inline Tensor reshape(const Tensor& x, Ints sizes) {
  return detail::call_primitive<Tensor, TN_PRIM_RESHAPE>(x, sizes);
}
inline Tensor permute(const Tensor& x, Ints dims) {
  return detail::call_primitive<Tensor, TN_PRIM_PERMUTE>(x, dims);
}
inline Tensor slice(const Tensor& x, int64_t dim, int64_t start, int64_t end, int64_t step = 1) {
  return detail::call_primitive<Tensor, TN_PRIM_SLICE>(x, dim, start, end, step);
}
inline Tensor expand(const Tensor& x, Ints sizes) {
  return detail::call_primitive<Tensor, TN_PRIM_EXPAND>(x, sizes);
}
inline Tensor as_strided(const Tensor& x, Ints sizes, Ints strides, int64_t offset) {
  return detail::call_primitive<Tensor, TN_PRIM_AS_STRIDED>(x, sizes, strides, offset);
}

}  // namespace prim
}  // namespace v0
}  // namespace tenon
