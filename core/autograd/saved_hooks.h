// Functions of a program that pack what nodes save, and unpack it in backward (autograd/1
// push_saved_hooks). A new node packs all that it saved before anyone sees it; what it then keeps is
// among its extras, so that nodes without such functions pay nothing.
#pragma once

#include <memory>

#include "autograd/node.h"

namespace tenon {

struct SavedHooks {
  tn_pack_fn pack = nullptr;
  tn_unpack_fn unpack = nullptr;
  void (*drop)(void* self, void* packed) = nullptr;
  void* self = nullptr;
  void (*destroy)(void*) = nullptr;
  SavedHooks() = default;
  SavedHooks(const SavedHooks&) = delete;
  ~SavedHooks() {
    if (destroy != nullptr) destroy(self);
  }
};

// What became of one saved tensor.
struct PackedTensor {
  const SavedTensor* place = nullptr;
  std::shared_ptr<SavedHooks> hooks;
  void* packed = nullptr;
  TensorInfo info;
  Ref<Node> node;       // the history of an input, or its leaf
  uint32_t output = 0;  // of that node

  PackedTensor() = default;
  PackedTensor(PackedTensor&& other) noexcept = default;
  ~PackedTensor() {
    if (hooks) hooks->drop(hooks->self, packed);
  }
};

struct PackedTensors {
  std::vector<PackedTensor> list;
};

// Packs by the innermost functions of this thread.
class SavedPacker {
 public:
  explicit SavedPacker(Node* node);
  void pack(SavedTensor* saved);  // throws

 private:
  Node* node_;
  std::shared_ptr<SavedHooks> hooks_;
};

// Where they are in force on this thread (kModeSavedHooks): packs what the node saved. Throws.
void pack_saved(Node* node);

// Takes `self` unless there is an error.
[[nodiscard]] Status push_saved_hooks(tn_pack_fn pack, tn_unpack_fn unpack,
                                      void (*drop)(void* self, void* packed), void* self,
                                      void (*destroy)(void*));
[[nodiscard]] Status pop_saved_hooks();

}  // namespace tenon
