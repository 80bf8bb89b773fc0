// Kernels, kernel pairs, and what else a backend brings. Part of plugin.hpp.
#pragma once

#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

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
  int32_t priority = 0;          // higher is tried first
  uint32_t traits = 0;           // TN_KERNEL_*
  uint32_t instruction_set = 0;  // of elementwise and reduce: the version that it knows
};
struct PairOptions {
  uint64_t saves_args = ~uint64_t{0};  // bit i: backward reads flat tensor argument i
  uint64_t saves_outputs = 0;          // bit i: backward reads output i
};

// A function as a type, so that the function which the host calls is compiled around it: `fn<f>`.
template <auto f>
struct Fn {
  template <typename... Args>
  auto operator()(Args&&... args) const -> decltype(f(std::forward<Args>(args)...)) {
    return f(std::forward<Args>(args)...);
  }
};
template <auto f>
inline constexpr Fn<f> fn{};

namespace detail {

// Calls F with the call and `rest`. F takes the kernel's self in front of them, or does without; it
// takes the call as a Call or as the host has it.
template <typename F, typename Self, typename... Rest>
decltype(auto) call_typed(void* self, const tn_call* call, Rest... rest) {
  if constexpr (!std::is_void_v<Self>) {
    const Self& typed = *static_cast<const Self*>(self);
    if constexpr (std::is_invocable_v<F, const Self&, const tn_call*, Rest...>) {
      return F{}(typed, call, rest...);
    } else if constexpr (std::is_invocable_v<F, const Self&, Call, Rest...>) {
      return F{}(typed, Call(call), rest...);
    } else {
      return call_typed<F, void>(nullptr, call, rest...);
    }
  } else if constexpr (std::is_invocable_v<F, const tn_call*, Rest...>) {
    return F{}(call, rest...);
  } else {
    static_assert(std::is_invocable_v<F, Call, Rest...>,
                  "a kernel's function takes its self, if it has one, then a Call or a const "
                  "tn_call*; a predicate a Refusal behind them");
    return F{}(Call(call), rest...);
  }
}

// A function of a kernel as the host calls it: as it is, where its type is the contract's; else one
// that is compiled around it and turns what it throws into a status. Either way nothing is looked
// up, and nothing is allocated, in a call.
template <typename Slot, typename F>
constexpr void check_stateless() {
  static_assert(std::is_convertible_v<F, Slot> || std::is_empty_v<F>,
                "a kernel's function is a lambda that captures nothing, or fn<f>: what it needs "
                "besides the call is the kernel's self");
}
template <typename F, typename Self>
tn_kernel_fn launch_function(F f) {
  check_stateless<tn_kernel_fn, F>();
  if constexpr (std::is_convertible_v<F, tn_kernel_fn>) {
    return f;
  } else {
    return [](void* self, const tn_call* call) -> tn_status* {
      return tenon::to_status([&] { return call_typed<F, Self>(self, call); });
    };
  }
}
template <typename F, typename Self>
tn_predicate_fn predicate_function(F f) {
  check_stateless<tn_predicate_fn, F>();
  if constexpr (std::is_convertible_v<F, tn_predicate_fn>) {
    return f;
  } else {
    return [](void* self, const tn_call* call, char* reason, size_t bytes) -> int32_t {
      const Refusal why(reason, bytes);
      try {
        return call_typed<F, Self>(self, call, why);
      } catch (const std::bad_alloc&) {
        return -1;
      } catch (const std::exception& error) {
        return why("%s", error.what());
      } catch (...) {
        return why("an exception that is no std::exception");
      }
    };
  }
}
template <typename F, typename Self>
auto private_function(F f) {
  using Slot = decltype(tn_kernel_pair_def::infer_private);
  check_stateless<Slot, F>();
  if constexpr (std::is_convertible_v<F, Slot>) {
    return static_cast<Slot>(f);
  } else {
    return static_cast<Slot>([](void* self, const tn_call* call, tn_meta* metas, uint32_t n) {
      return tenon::to_status(
          [&] { call_typed<F, Self>(self, call, std::span<tn_meta>(metas, n)); });
    });
  }
}

// What a kernel is of: an op, by its bare name, or a primitive.
struct KernelOf {
  KernelOf(const char* name) : op(name) {}                // NOLINT
  KernelOf(tn_primitive kind) : op(), primitive(kind) {}  // NOLINT
  std::string op;
  tn_primitive primitive = TN_PRIM_NONE;
};
// A type of device, by its name or by one of its devices.
struct DeviceType {
  DeviceType(const char* type) : name(type) {}        // NOLINT
  DeviceType(Device device) : name(device.type()) {}  // NOLINT
  std::string name;
};

}  // namespace detail

namespace plugin {

// A kernel being defined; it registers at the end of its statement. Self is what its functions take
// in front of the call, or void. A function is one of abi.h's types, which gets `self` as the host
// has it and throws nothing; or a lambda without captures; or fn<f>.
template <typename Self>
class KernelDefinition {
 public:
  template <typename F>
  KernelDefinition(detail::KernelOf of, detail::DeviceType device, const KernelOptions& options,
                   F launch, const Self* self, void (*destroy)(void*))
      : op_(std::move(of.op)), device_(std::move(device.name)) {
    def_.size = sizeof(def_);
    def_.primitive = of.primitive;
    def_.traits = options.traits;
    def_.priority = options.priority;
    def_.dtypes = options.dtypes.bits;
    def_.layout = uint32_t(options.layout);
    def_.instruction_set = options.instruction_set;
    def_.launch = detail::launch_function<F, Self>(launch);
    def_.self = const_cast<void*>(static_cast<const void*>(self));
    def_.destroy = destroy;
    pair_.size = sizeof(pair_);
  }
  KernelDefinition(const KernelDefinition&) = delete;
  KernelDefinition& operator=(const KernelDefinition&) = delete;
  ~KernelDefinition() {
    tn_registrar* r = detail::registration.registrar;
    if (!r || detail::registration.error) {
      if (def_.destroy) def_.destroy(def_.self);
      return;
    }
    def_.op = op_.empty() ? nullptr : op_.c_str();
    def_.device = device_.c_str();
    pair_.forward = &def_;
    tn_status* status = pair_.backward ? r->kernel_pair(r, &pair_) : r->kernel(r, &def_);
    if (status && def_.destroy) def_.destroy(def_.self);
    detail::registration.note(status);
  }
  // Does it take this call? f(call, Refusal why) gives true, or `why("groups are %d", groups)`.
  // Outputs are not there yet.
  template <typename F>
  KernelDefinition& supports(F f) {
    def_.supports = detail::predicate_function<F, Self>(f);
    return *this;
  }
  // Chooses the order of the outputs' dimensions in memory.
  KernelDefinition& order(tn_order_fn f) {
    def_.order = f;
    return *this;
  }
  // Outputs of the forward for the backward alone, made only when a gradient is needed:
  // f(call, std::span<tn_meta> metas) describes them, by the forward's arguments and the metas of
  // its outputs.
  template <typename F>
  KernelDefinition& private_outputs(uint32_t n, F f) {
    pair_.n_private = n;
    pair_.infer_private = detail::private_function<F, Self>(f);
    return *this;
  }
  // The pair's backward. Its arguments are the outputs' gradients (None where zero), the forward's
  // arguments, its outputs and its private outputs; its outputs the gradients of the forward's
  // tensors, NULL where not wanted.
  template <typename F>
  KernelDefinition& backward(F f, const PairOptions& options = {}) {
    pair_.backward = detail::launch_function<F, Self>(f);
    pair_.saves_args = options.saves_args;
    pair_.saves_outputs = options.saves_outputs;
    return *this;
  }

 private:
  std::string op_, device_;
  tn_kernel_def def_{};
  tn_kernel_pair_def pair_{};
};

// A kernel of an op on a type of device: kernel("conv2d", "cpu", {.dtypes = float32}, fn<conv2d>).
// The op is said by its bare name ("conv2d", another pack's "acme.scale"), or by the schema that
// the kernel knows where the op's has grown since: then calls that use younger arguments go
// elsewhere. Of a primitive: kernel(TN_PRIM_MATMUL, ...).
template <typename F>
KernelDefinition<void> kernel(detail::KernelOf of, detail::DeviceType device,
                              const KernelOptions& options, F launch) {
  detail::registration.get();
  return {std::move(of), std::move(device), options, launch, nullptr, nullptr};
}
// With a self that lives as long as the process, or that the registration owns.
template <typename F, typename Self>
KernelDefinition<Self> kernel(detail::KernelOf of, detail::DeviceType device,
                              const KernelOptions& options, F launch, const Self* self) {
  detail::registration.get();
  return {std::move(of), std::move(device), options, launch, self, nullptr};
}
template <typename F, typename Self>
KernelDefinition<Self> kernel(detail::KernelOf of, detail::DeviceType device,
                              const KernelOptions& options, F launch, std::unique_ptr<Self> self) {
  detail::registration.get();
  return {std::move(of), std::move(device), options,
          launch,        self.release(),    [](void* held) { delete static_cast<Self*>(held); }};
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
