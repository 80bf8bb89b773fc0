#include "registry/values.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "schema/schema.h"
#include "tensor/device.h"

namespace tenon {

ObjectReferences object_references{};

void release_value(tn_value* v) {
  for (tn_tensor* t : tensors_of(*v)) {
    if (t != nullptr) as_tensor(t)->release();
  }
  switch (v->kind) {
    case TN_KIND_TENSORS:
      delete[] v->as.tensors;
      break;
    case TN_KIND_INTS:
      delete[] v->as.ints;
      break;
    case TN_KIND_FLOATS:
      delete[] v->as.floats;
      break;
    case TN_KIND_STRING:
      delete[] v->as.string;
      break;
    case TN_KIND_STRINGS:
      for (uint32_t i = 0; i < v->count; ++i) delete[] v->as.strings[i];
      delete[] v->as.strings;
      break;
    case TN_KIND_OBJECT:
      if (v->as.object != nullptr) object_references.release(v->as.object);
      break;
    case TN_KIND_OBJECTS:
      for (uint32_t i = 0; i < v->count; ++i) object_references.release(v->as.objects[i]);
      delete[] v->as.objects;
      break;
    default:
      break;
  }
  *v = tn_value{};
}

namespace {

template <typename T>
T* clone(const T* list, size_t n) {
  T* copy = new T[n];
  std::copy_n(list, n, copy);
  return copy;
}

}  // namespace

void release_values(std::span<tn_value> values) {
  for (tn_value& v : values) release_value(&v);
}

// `to` is as it was where memory is exhausted.
Status copy_value(const tn_value& from, tn_value* to) {
  if (!is_sound(from)) return invalid("value_copy: the value is {}", value_kind_name(from));
  tn_value copy = from;
  switch (from.kind) {
    case TN_KIND_TENSORS:
      copy.as.tensors = clone(from.as.tensors, from.count);
      break;
    case TN_KIND_INTS:
      copy.as.ints = clone(from.as.ints, from.count);
      break;
    case TN_KIND_FLOATS:
      copy.as.floats = clone(from.as.floats, from.count);
      break;
    case TN_KIND_STRING:
      copy.as.string = clone(from.as.string, from.count + 1);
      break;
    case TN_KIND_STRINGS: {
      std::vector<std::unique_ptr<char[]>> texts(from.count);
      for (uint32_t i = 0; i < from.count; ++i) {
        texts[i].reset(clone(from.as.strings[i], std::strlen(from.as.strings[i]) + 1));
      }
      const char** list = new const char*[from.count];
      for (uint32_t i = 0; i < from.count; ++i) list[i] = texts[i].release();
      copy.as.strings = list;
      break;
    }
    case TN_KIND_OBJECT:
      if (from.as.object != nullptr) object_references.retain(from.as.object);
      break;
    case TN_KIND_OBJECTS:
      copy.as.objects = clone(from.as.objects, from.count);
      for (uint32_t i = 0; i < from.count; ++i) object_references.retain(from.as.objects[i]);
      break;
    default:
      break;
  }
  for (tn_tensor* t : tensors_of(from)) {
    if (t != nullptr) as_tensor(t)->retain();
  }
  *to = copy;
  return nullptr;
}

tn_device call_device(std::span<const tn_value> args) {
  const tn_device* scalar = nullptr;
  for (const tn_value& v : args) {
    for (const tn_tensor* t : tensors_of(v)) {
      if (t == nullptr) continue;
      if (t->ndim > 0 || t->device.type != TN_DEVICE_CPU) return t->device;
      if (scalar == nullptr) scalar = &t->device;
    }
  }
  if (scalar != nullptr) return *scalar;
  for (const tn_value& v : args) {
    if (v.kind == TN_KIND_DEVICE) return v.as.device;
  }
  return kCpu;
}

bool any_needs_gradient(std::span<const tn_value> args) {
  for (const tn_value& v : args) {
    for (tn_tensor* t : tensors_of(v)) {
      if (t != nullptr && needs_gradient(as_tensor(t))) return true;
    }
  }
  return false;
}

}  // namespace tenon
