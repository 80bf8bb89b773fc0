// Kernels, kernel pairs, and what else a backend brings. Part of plugin.hpp.
#pragma once

#include "tenon/device.hpp"
#include "tenon/kernel.hpp"
#include "tenon/registrar.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// What a kernel takes of its tensors' layouts; the host copies others, counts it and explains it.
enum class Layout : uint32_t {
  strided = TN_LAYOUT_STRIDED,        // any strides
  contiguous = TN_LAYOUT_CONTIGUOUS,  // row-major
  rows = TN_LAYOUT_ROWS,              // last dimension dense
  dense = TN_LAYOUT_DENSE             // row-major in some order of the dimensions
};

struct KernelOptions {
  Dtypes dtypes = {};  // that its tensors may have; none: any
  Layout layout = Layout::strided;
  int32_t priority = 0;                // higher is tried first
  uint32_t traits = 0;                 // TN_KERNEL_*
  tn_predicate_fn supports = nullptr;  // 1, or 0 with a reason; its `self` is of no use
  tn_order_fn order = nullptr;         // chooses the outputs' order of dimensions; likewise
};
struct PairOptions {
  // Outputs of the forward for the backward alone, made only when a gradient is needed; their metas
  // come from infer_private, from the forward's arguments.
  uint32_t n_private = 0;
  tn_infer_fn infer_private = nullptr;
  uint64_t saves_args = ~uint64_t{0};  // bit i: backward reads flat tensor argument i
  uint64_t saves_outputs = 0;          // bit i: backward reads output i
};

namespace detail {

// The functions of a kernel or a pair, as `self` of both.
struct KernelFunctions {
  Slot forward, backward;
  static void destroy_all(void* self) { delete static_cast<KernelFunctions*>(self); }
};
template <typename F, Slot KernelFunctions::*which>
tn_status* call_kernel(void* self, const tn_call* call) {
  return tenon::to_status([&] {
    F& f = (static_cast<KernelFunctions*>(self)->*which).template get<F>();
    if constexpr (std::is_same_v<F, tn_kernel_fn>) {
      return f(nullptr, call);
    } else {
      f(Call(call));
    }
  });
}

}  // namespace detail

namespace plugin {

// A kernel being defined; it registers at the end of its statement.
class KernelDefinition {
 public:
  template <typename F>
  KernelDefinition(const char* op, tn_primitive primitive, std::string device,
                   const KernelOptions& options, F launch)
      : op_(op ? op : ""), device_(std::move(device)), functions_(new detail::KernelFunctions) {
    detail::registration.get();
    def_.size = sizeof(def_);
    def_.traits = options.traits;
    def_.primitive = primitive;
    def_.priority = options.priority;
    def_.dtypes = options.dtypes.bits;
    def_.layout = uint32_t(options.layout);
    def_.supports = options.supports;
    def_.order = options.order;
    def_.self = functions_;
    def_.destroy = detail::KernelFunctions::destroy_all;
    def_.launch = detail::call_kernel<F, &detail::KernelFunctions::forward>;
    functions_->forward.set(launch);
  }
  KernelDefinition(const KernelDefinition&) = delete;
  KernelDefinition& operator=(const KernelDefinition&) = delete;
  ~KernelDefinition() {
    tn_registrar* r = detail::registration.registrar;
    if (!r || detail::registration.error) {
      delete functions_;
      return;
    }
    def_.op = op_.empty() ? nullptr : op_.c_str();
    def_.device = device_.c_str();
    pair_.forward = &def_;
    tn_status* status = pair_.backward ? r->kernel_pair(r, &pair_) : r->kernel(r, &def_);
    if (status) delete functions_;
    detail::registration.note(status);
  }
  // The pair's backward. Its arguments are the outputs' gradients (None where zero), the forward's
  // arguments, its outputs and its private outputs; its outputs the gradients of the forward's
  // tensors, NULL where not wanted.
  template <typename F>
  KernelDefinition& backward(F f, const PairOptions& options = {}) {
    functions_->backward.set(f);
    pair_.size = sizeof(pair_);
    pair_.backward = detail::call_kernel<F, &detail::KernelFunctions::backward>;
    pair_.infer_private = options.infer_private;
    pair_.n_private = options.n_private;
    pair_.saves_args = options.saves_args;
    pair_.saves_outputs = options.saves_outputs;
    return *this;
  }

 private:
  std::string op_, device_;
  detail::KernelFunctions* functions_;
  tn_kernel_def def_{};
  tn_kernel_pair_def pair_{};
};

// A kernel of an op, by name or by the schema that it knows, on a device type. launch is a
// tn_kernel_fn (its self is NULL), or takes a Call and throws.
template <typename F>
KernelDefinition kernel(const char* op, const char* device, const KernelOptions& options,
                        F launch) {
  return KernelDefinition(op, TN_PRIM_NONE, device, options, launch);
}
template <typename F>
KernelDefinition kernel(const char* op, Device device, const KernelOptions& options, F launch) {
  return KernelDefinition(op, TN_PRIM_NONE, device.type(), options, launch);
}
// A kernel of a primitive.
template <typename F>
KernelDefinition kernel(tn_primitive primitive, const char* device, const KernelOptions& options,
                        F launch) {
  return KernelDefinition(nullptr, primitive, device, options, launch);
}

// A kind of device, and the slot of threads, as abi.h has them.
inline void device(const tn_device_def& def) {
  tn_registrar* r = detail::registration.get();
  if (!detail::registration.error) detail::registration.note(r->device(r, &def));
}
inline void threads(const tn_threads_def& def) {
  tn_registrar* r = detail::registration.get();
  if (!detail::registration.error) detail::registration.note(r->threads(r, &def));
}

}  // namespace plugin
}  // namespace v0
}  // namespace tenon
