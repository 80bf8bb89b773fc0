#include "object/tree.h"

#include <algorithm>
#include <unordered_set>

#include "autograd/grad.h"
#include "primitive/convert.h"

namespace tenon {
namespace {

constexpr uint32_t kOwnFlags = TN_TENSOR_REQUIRES_GRAD | TN_TENSOR_LEAF | TN_TENSOR_INFERENCE;

struct Visit {
  const std::function<void(const std::string&, const NamedTensor&)>& see;
  std::unordered_set<const Object*> objects;
  std::unordered_set<const Tensor*> tensors;

  void walk(const Object* object, const std::string& prefix) {
    if (!objects.insert(object).second) return;
    object->tell_members();
    for (const NamedTensor& entry : object->tensors) {
      if (entry.tensor && !tensors.insert(entry.tensor.get()).second) continue;
      see(prefix + entry.name, entry);
    }
    object->note_use();
    for (const NamedChild& child : object->children) {
      if (child.object) walk(child.object.get(), prefix + child.name + ".");
    }
  }
};

void walk_every_name(Object* object, const std::string& prefix,
                     const std::function<void(const std::string&, Object*, NamedTensor*)>& see) {
  object->note_use();
  object->tell_members();
  for (NamedTensor& entry : object->tensors) see(prefix + entry.name, object, &entry);
  for (NamedChild& child : object->children) {
    if (child.object) walk_every_name(child.object.get(), prefix + child.name + ".", see);
  }
}

void collect(Object* object, std::unordered_set<Object*>* seen, std::vector<Object*>* all) {
  if (!seen->insert(object).second) return;
  object->note_use();
  object->tell_members();
  all->push_back(object);
  for (const NamedChild& child : object->children) {
    if (child.object) collect(child.object.get(), seen, all);
  }
}

std::vector<Object*> all_objects(Object* root) {
  std::unordered_set<Object*> seen;
  std::vector<Object*> all;
  collect(root, &seen, &all);
  return all;
}

// A tensor of the tree and what it is to become.
struct Move {
  std::string path;
  TensorRef tensor;
  TensorRef moved;       // empty: stays
  TensorRef moved_grad;  // empty: stays, or there is none
};

Status convert(Tensor* tensor, tn_device device, tn_dtype floats, TensorRef* moved) {
  const tn_dtype dtype =
      floats != TN_DTYPE_NONE && is_float(tensor->dtype) ? floats : tensor->dtype;
  if (tensor->device == device && tensor->dtype == dtype) return nullptr;
  Tensor* result = nullptr;
  TN_TRY(copy_in_order(tensor, device, dtype, &result));
  *moved = TensorRef(result);
  return nullptr;
}

}  // namespace

void visit_tensors(const Object* object,
                   const std::function<void(const std::string&, const NamedTensor&)>& see) {
  Visit{see, {}, {}}.walk(object, "");
}

void visit_every_name(Object* object,
                      const std::function<void(const std::string&, Object*, NamedTensor*)>& see) {
  walk_every_name(object, "", see);
}

void set_data(Tensor* tensor, const Tensor* other) {
  note_watched_change(tensor);
  other->storage->retain();
  const uint32_t version = std::max(tensor->version(), other->version()) + 1;
  tensor->storage->release();
  tensor->storage = other->storage;
  // Behind any version that a saved tensor noted, so that a backward over the old values is
  // refused.
  version_of(tensor->storage).store(version, std::memory_order_relaxed);
  std::copy_n(other->strides, other->ndim, const_cast<int64_t*>(tensor->strides));
  tensor->data = other->data;
  tensor->dtype = other->dtype;
  tensor->device = other->device;
  tensor->byte_offset = other->byte_offset;
  tensor->flags = (tensor->flags & kOwnFlags) | (other->flags & ~kOwnFlags);
  if (tensor->base != nullptr) std::exchange(tensor->base, nullptr)->release();
  renew_hooked_values(tensor);
}

Status move_object(Object* object, tn_device device, tn_dtype floats) {
  TN_TRY(check_device(device));
  if (floats != TN_DTYPE_NONE && !(is_known_dtype(floats) && is_float(floats))) {
    return invalid("{}: to: tensors of float dtypes can only become another float dtype, not {}",
                   object->type, dtype_name(floats));
  }
  std::vector<Move> moves;
  visit_tensors(object, [&](const std::string& path, const NamedTensor& entry) {
    if (entry.tensor) moves.push_back({path, entry.tensor, {}, {}});
  });
  for (Move& move : moves) {
    Status status = convert(move.tensor.get(), device, floats, &move.moved);
    if (status == nullptr) {
      if (TensorRef grad = grad_of(move.tensor.get()))
        status = convert(grad.get(), device, floats, &move.moved_grad);
    }
    if (status != nullptr) {
      return wrap(status, [&] {
        return fmt::format(
            "{}: to: '{}' ({}) cannot be moved to {}{}; nothing was moved", object->type, move.path,
            tensor_text(move.tensor.get()), device_text(device),
            floats == TN_DTYPE_NONE ? "" : fmt::format(" as {}", dtype_name(floats)));
      });
    }
  }
  const std::vector<Object*> parts = all_objects(object);  // from here on nothing needs memory
  for (Move& move : moves) {
    if (!move.moved) continue;
    if (move.moved_grad) TN_TRY(set_grad(move.tensor.get(), nullptr));
    if (move.tensor->is_leaf()) {
      set_data(move.tensor.get(), move.moved.get());
      if (move.moved_grad) TN_TRY(set_grad(move.tensor.get(), move.moved_grad.get()));
    } else {  // a buffer that a recorded call made: the graph keeps the old one
      for (Object* part : parts) {
        for (NamedTensor& entry : part->tensors) {
          if (entry.tensor.get() != move.tensor.get()) continue;
          entry.tensor = move.moved;
          part->tell_members(entry.name.c_str());
        }
      }
    }
  }
  return nullptr;
}

// Needs no memory, since it cannot say that there is none. A part with several parents is met by
// each.
void set_training(Object* object, bool on) {
  object->training = on;
  object->tell_watchers();
  object->tell_members();
  for (const NamedChild& child : object->children) {
    if (child.object) set_training(child.object.get(), on);
  }
}

Status become(Object* object, Object* made) {
  const std::vector<Object*> parts = all_objects(made);
  const bool is_of_a_class = object->members != nullptr || made->members != nullptr;
  if (made->kind != object->kind || is_of_a_class ||
      std::ranges::find(parts, object) != parts.end())
    return invalid("{}: become: it cannot be a {}", object->type, made->type);
  object->type = made->type;
  object->factory = made->factory;
  object->options = std::move(made->options);
  object->tensors = std::move(made->tensors);
  object->children = std::move(made->children);
  object->methods = std::move(made->methods);
  object->note_change();
  made->note_change();
  set_training(object, object->training);
  return nullptr;
}

Status zero_grad(Object* object) {
  if (object->kind == TN_OBJECT_OPTIMIZER) {
    for (const ParameterGroup& group : object->groups) {
      for (const TensorRef& parameter : group.parameters)
        TN_TRY(set_grad(parameter.get(), nullptr));
    }
    return nullptr;
  }
  for (const Object* part : all_objects(object)) {
    for (const NamedTensor& entry : part->tensors) {
      if (entry.tensor && entry.kind == TN_ENTRY_PARAMETER)
        TN_TRY(set_grad(entry.tensor.get(), nullptr));
    }
  }
  return nullptr;
}

}  // namespace tenon
