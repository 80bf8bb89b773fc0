// What kernels written in C++ get: a call with its arguments and outputs. Part of plugin.hpp.
#pragma once

#include <initializer_list>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <span>

#include "tenon/backend.hpp"
#include "tenon/function.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Sizes, dtype and device of an output that is to be made.
struct Meta : tn_meta {
  Meta() : tn_meta{} { dtype = TN_FLOAT32; }
  Meta(std::span<const int64_t> s, Dtype type, Device where) : Meta() {
    if (s.size() > TN_MAX_RANK) {
      fail(detail::joined({"rank ", std::to_string(s.size()), " is above 16"}));
    }
    ndim = int32_t(s.size());
    for (size_t i = 0; i < s.size(); ++i) sizes[i] = s[i];
    dtype = type.value;
    device = where.value;
  }
  Meta(std::initializer_list<int64_t> s, Dtype type, Device where)
      : Meta(std::span<const int64_t>(s.begin(), s.size()), type, where) {}
  // As a tensor's own.
  explicit Meta(const Tensor& t) : Meta(t.sizes(), t.dtype(), t.device()) {}
};

// A view of an op's first argument: offset in elements from its element 0. Sizes and strides are
// there up to ndim.
struct View : tn_view {
  View() {  // NOLINT: the arrays are 256 bytes, and views are made in nanoseconds
    ndim = 0;
    reserved = 0;
    offset = 0;
  }
  // All of t, to be changed.
  explicit View(const tn_tensor* t) : View() {
    for (int32_t d = 0; d < t->ndim; ++d) append(t->sizes[d], t->strides[d]);
  }
  explicit View(const Tensor& t) : View(t.get()) {}
  void append(int64_t size, int64_t stride) {
    if (ndim == TN_MAX_RANK) [[unlikely]]
      fail("a view of rank 17 is asked for, 16 is the most");
    sizes[ndim] = size;
    strides[ndim++] = stride;
  }
};

// A kernel's call; borrowed for its length. Outputs exist already.
class Call {
 public:
  explicit Call(const tn_call* call) : call_(call) {}
  const tn_call* get() const { return call_; }
  uint32_t n_args() const { return call_->n_args; }
  uint32_t n_outputs() const { return call_->n_outputs; }
  // Argument i as a T (Tensor, std::optional<Tensor>, Tensors, double, int64_t, ...).
  template <typename T>
  T arg(uint32_t i) const {
    return detail::Unpack<T>::borrow(call_->args[i]);
  }
  // Argument i as the host's tensor, without a count; NULL for None.
  const tn_tensor* tensor(uint32_t i) const {
    return call_->args[i].kind == TN_KIND_TENSOR ? call_->args[i].as.tensor : nullptr;
  }
  const tn_loop* loop() const { return call_->args[0].as.loop; }
  const tn_reduction* reduction() const { return call_->args[0].as.reduction; }
  // Sizes, dtype and device of output i, also before there are outputs; throws where the host knows
  // none (tn_call).
  const tn_meta& meta(uint32_t i = 0) const {
    if (!call_->metas) fail("the call has no metas", TN_UNSUPPORTED);
    return call_->metas[i];
  }
  // NULL: not wanted.
  tn_tensor* output(uint32_t i = 0) const { return call_->outputs[i]; }
  template <typename T>
  T* output_data(uint32_t i = 0) const {
    return static_cast<T*>(call_->outputs[i]->data);
  }
  tn_stream* stream() const { return call_->stream; }
  // Scratch memory until the call's work is done; not zeroed.
  void* workspace(uint64_t bytes) const {
    void* data = nullptr;
    check(call_->host->workspace(call_, bytes, &data));
    return data;
  }
  // Of a dynamic op: makes output i.
  void set_output(uint32_t i, Ints sizes) const {
    check(call_->host->set_output(call_, i, int32_t(sizes.size()), sizes.data()));
  }
  // body(begin, end) over [begin, end) on the threads there are, in pieces of at least `grain`.
  // What the body throws is thrown again here, when all pieces have ended: the first exception.
  template <typename Body>
  void parallel_for(int64_t begin, int64_t end, int64_t grain, const Body& body) const {
    backend::parallel_for(call_->host, begin, end, grain, body);
  }

 private:
  const tn_call* call_;
};

// Where a kernel says why it does not take a call: `return why("groups are %d", groups);`.
class Refusal {
 public:
  Refusal(char* text, size_t bytes) : text_(text), bytes_(bytes) {}
  // As printf makes it; always false.
  [[gnu::format(printf, 2, 3)]] bool operator()(const char* format, ...) const {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text_, bytes_, format, arguments);
    va_end(arguments);
    return false;
  }

 private:
  char* text_;
  size_t bytes_;
};

// A gradient that is asked of a vjp. As a Tensor it is the gradient of the first output.
class Vjp {
 public:
  explicit Vjp(const tn_vjp_call* call) : call_(call) {}
  operator Tensor() const { return grad(); }
  // Of output i; null where zero.
  Tensor grad(uint32_t i = 0) const { return Tensor::borrow(call_->grads[i]); }
  Tensor output(uint32_t i = 0) const { return Tensor::borrow(call_->outputs[i]); }
  // Is the gradient of flat tensor argument i wanted?
  bool needs(uint32_t i) const { return call_->needs[i] != 0; }
  uint32_t n_results() const { return call_->n_results; }

 private:
  const tn_vjp_call* call_;
};

}  // namespace v0
}  // namespace tenon
