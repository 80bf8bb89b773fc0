// What graphs save for backward, in a form of the program's own: PyTorch's
// torch.autograd.graph.saved_tensors_hooks and save_on_cpu. Programs include it for either class; calls
// that record nothing, and what a backward computes, have nothing to do with it.
//
//   tn::SavedTensorsHooks scope([](tn::Tensor x) { return x.to(tn::bfloat16); },
//                               [](const tn::Tensor& x) { return x.to(tn::float32); });
#pragma once

#include <type_traits>
#include <utility>

#include "tenon/function.hpp"
#include "tenon/ops/shape.hpp"
#include "tenon/tensor.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// As long as it lives, on the thread that made it: pack(Tensor) is called for each tensor that a
// recorded call saves, without its history, and gives anything that can be moved; in backward, once for
// each use and on the thread of that backward, unpack(const Packed&) gives the tensor again, with the
// same sizes, dtype and device. The innermost scope counts. Neither function records. Nothing notices
// that a tensor which pack gave as it came is written later. Leaves, as parameters, are packed too; what
// kernels of a device keep for their own backward is not. Compiled functions run eagerly within.
template <typename Pack, typename Unpack>
class SavedTensorsHooks {
  using Packed = std::decay_t<std::invoke_result_t<Pack&, Tensor>>;
  static_assert(std::is_invocable_r_v<Tensor, Unpack&, const Packed&>,
                "unpack of SavedTensorsHooks takes what pack(Tensor) gives, as const&, and gives a "
                "Tensor");
  struct Functions {
    Pack pack;
    Unpack unpack;
  };

 public:
  SavedTensorsHooks(Pack pack, Unpack unpack) {
    void* self = detail::Held<Functions>::make({std::move(pack), std::move(unpack)});
    const auto call_pack = [](void* f, tn_tensor* tensor, void** packed) -> tn_status* {
      return to_status([&] {
        *packed = new Packed(detail::Held<Functions>::get(f).pack(Tensor::borrow(tensor)));
      });
    };
    const auto call_unpack = [](void* f, void* packed, tn_tensor** tensor) -> tn_status* {
      return to_status([&] {
        Tensor unpacked =
            detail::Held<Functions>::get(f).unpack(*static_cast<const Packed*>(packed));
        *tensor = unpacked.release();
      });
    };
    const auto drop = [](void*, void* packed) { delete static_cast<Packed*>(packed); };
    if (tn_status* status = detail::api.autograd->push_saved_hooks(
            call_pack, call_unpack, drop, self, detail::Held<Functions>::destroy)) {
      detail::Held<Functions>::destroy(self);
      detail::raise(status);
    }
  }
  SavedTensorsHooks(const SavedTensorsHooks&) = delete;
  SavedTensorsHooks& operator=(const SavedTensorsHooks&) = delete;
  ~SavedTensorsHooks() { ignore(detail::api.autograd->pop_saved_hooks()); }
};

namespace detail {
struct OnCpu {
  Device device;
  Tensor values;
};
inline OnCpu pack_on_cpu(const Tensor& x) {
  return {x.device(), x.device().is_cpu() ? clone(x) : x.to(Device("cpu"))};
}
inline Tensor unpack_from_cpu(const OnCpu& packed) { return packed.values.to(packed.device); }
}  // namespace detail

// What is saved lies in the memory of the cpu until backward needs it, a copy also of what lies there
// anyway: a device has room for larger batches, and each step copies twice.
class SaveOnCpu
    : SavedTensorsHooks<detail::OnCpu (*)(const Tensor&), Tensor (*)(const detail::OnCpu&)> {
 public:
  SaveOnCpu() : SavedTensorsHooks(detail::pack_on_cpu, detail::unpack_from_cpu) {}
};

}  // namespace v0
}  // namespace tenon
