#include "autograd/saved_hooks.h"

#include <algorithm>

#include "autograd/record.h"
#include "base/text.h"
#include "registry/recording.h"
#include "tensor/view.h"

namespace tenon {
namespace {

std::vector<std::shared_ptr<SavedHooks>>& hooks_of_thread() {
  thread_local std::vector<std::shared_ptr<SavedHooks>> hooks;
  return hooks;
}

// The functions are called below autograd, and nothing of theirs is packed.
class HookScope : ModeScope {
 public:
  HookScope() : ModeScope(kModeNoGrad, kModeSavedHooks) {}
};

}  // namespace

SavedPacker::SavedPacker(Node* node) : node_(node), hooks_(hooks_of_thread().back()) {}

void SavedPacker::pack(SavedTensor* saved) {
  // Memory that the call wrote over has other values by now: a backward that reads it is refused.
  if (!*saved || !saved->is_current()) return;
  Tensor* const t = saved->get();
  std::shared_ptr<PackedTensors>& packed = node_->extras().packed;
  if (!packed) packed = std::make_shared<PackedTensors>();
  std::vector<PackedTensor>& list = packed->list;
  PackedTensor& made = list.emplace_back();
  made.place = saved;
  made.info = TensorInfo(t);
  if (!saved->is_output() && needs_gradient(t)) {
    const Edge edge = gradient_edge(t);
    made.node = Ref<Node>(edge.node);
    made.output = edge.output;
  }
  const TensorRef detached(make_alias(t));
  Status status;
  {
    const HookScope scope;
    status = hooks_->pack(hooks_->self, detached.get(), &made.packed);
  }
  if (status != nullptr) {
    list.pop_back();
    throw_if(status);
  }
  made.hooks = hooks_;
  saved->set_packed();
}

void pack_saved(Node* node) {
  // Scopes that do not end in the order in which they began may leave the mode behind.
  if (hooks_of_thread().empty()) return;
  if ((thread_state.modes & kModeRecord) != 0)
    thread_state.recording->refuse("saved_tensors_hooks: what a graph saves is packed by the host");
  SavedPacker packer(node);
  node->pack_saved(&packer);
}

Status push_saved_hooks(tn_pack_fn pack, tn_unpack_fn unpack,
                        void (*drop)(void* self, void* packed), void* self,
                        void (*destroy)(void*)) {
  auto hooks = std::make_shared<SavedHooks>();
  hooks_of_thread().push_back(hooks);
  hooks->pack = pack;
  hooks->unpack = unpack;
  hooks->drop = drop;
  hooks->self = self;
  hooks->destroy = destroy;
  thread_state.modes |= kModeSavedHooks;
  return nullptr;
}

Status pop_saved_hooks() {
  auto& hooks = hooks_of_thread();
  if (hooks.empty())
    return error(TN_FAILED_PRECONDITION,
                 "pop_saved_hooks: this thread has no hooks of saved tensors");
  const std::shared_ptr<SavedHooks> last = std::move(hooks.back());
  hooks.pop_back();
  if (hooks.empty()) thread_state.modes &= ~uint32_t{kModeSavedHooks};
  return nullptr;
}

Status SavedTensor::unpack_packed(Node* node, TensorRef* tensor) const {
  const PackedTensor* found = nullptr;
  const Node::Extras* extras = is_packed() ? node->extras_if_any() : nullptr;
  if (extras != nullptr && extras->packed) {
    for (const PackedTensor& packed : extras->packed->list) {
      if (packed.place == this) found = &packed;
    }
  }
  if (found == nullptr) return error(TN_INTERNAL, "{}: a saved tensor is missing", node->name());
  const std::shared_ptr<SavedHooks> hooks = found->hooks;
  tn_tensor* given = nullptr;
  {
    const HookScope scope;
    TN_TRY(hooks->unpack(hooks->self, found->packed, &given));
  }
  const TensorRef unpacked(as_tensor(given));
  const TensorInfo& info = found->info;
  if (given == nullptr || !std::ranges::equal(unpacked->size_span(), info.sizes) ||
      given->dtype != info.dtype || !(given->device == info.device)) {
    std::string sizes;
    for (const int64_t n : info.sizes) sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", n);
    return invalid("{}: what was saved for its gradient was unpacked as {}, expected [{}] {} on {}",
                   node->name(), given == nullptr ? "nothing" : tensor_text(given), sizes,
                   dtype_name(info.dtype), device_text(info.device));
  }
  TensorRef own(make_alias(unpacked.get()));
  // A gradient of this gradient goes on where the tensor came from. An input has its history in any
  // case, which functions of the program look at.
  const bool records = (thread_state.modes & kModeNoGrad) == 0;
  Node* const maker = !is_output() ? found->node.get() : records ? node : nullptr;
  if (maker != nullptr) {
    maker->retain();
    if (maker->is_leaf()) {
      own->flags |= TN_TENSOR_REQUIRES_GRAD;
      own->meta = maker;
    } else {
      own->output_number = is_output() ? output_ : found->output;
      give_history(own.get(), maker);
    }
  }
  *tensor = std::move(own);
  return nullptr;
}

}  // namespace tenon
