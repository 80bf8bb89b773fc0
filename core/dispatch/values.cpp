// Owned values: what results are made of, and how they are given back.
#include <cstring>
#include <type_traits>

#include "dispatch/call.h"

namespace tenon {

void release_value(tn_value* v) {
  switch (v->kind) {
    case TN_TENSOR:
      if (v->as.tensor != nullptr) as_tensor(v->as.tensor)->release();
      break;
    case TN_TENSORS:
      for (uint32_t i = 0; i < v->count; ++i) {
        if (v->as.tensors[i] != nullptr) as_tensor(v->as.tensors[i])->release();
      }
      delete[] v->as.tensors;
      break;
    case TN_INTS: delete[] v->as.ints; break;
    case TN_FLOATS: delete[] v->as.floats; break;
    case TN_STRING: delete[] v->as.string; break;
    case TN_STRINGS:
      for (uint32_t i = 0; i < v->count; ++i) delete[] v->as.strings[i];
      delete[] v->as.strings;
      break;
    case TN_OBJECT:
      if (v->as.object != nullptr) object_references.release(v->as.object);
      break;
    case TN_OBJECTS:
      for (uint32_t i = 0; i < v->count; ++i) object_references.release(v->as.objects[i]);
      delete[] v->as.objects;
      break;
    default: break;
  }
  *v = tn_value{};
}

void release_values(std::span<tn_value> values) {
  for (tn_value& v : values) release_value(&v);
}

Status copy_value(const tn_value& from, tn_value* to) {
  const auto clone = [](const auto* list, size_t n) {
    auto* copy = new std::remove_const_t<std::remove_pointer_t<decltype(list)>>[n];
    for (size_t i = 0; i < n; ++i) copy[i] = list[i];
    return copy;
  };
  *to = from;
  switch (from.kind) {
    case TN_TENSOR:
      if (from.as.tensor != nullptr) as_tensor(from.as.tensor)->retain();
      break;
    case TN_TENSORS:
      for (uint32_t i = 0; i < from.count; ++i) {
        if (from.as.tensors[i] != nullptr) as_tensor(from.as.tensors[i])->retain();
      }
      to->as.tensors = clone(from.as.tensors, from.count);
      break;
    case TN_INTS: to->as.ints = clone(from.as.ints, from.count); break;
    case TN_FLOATS: to->as.floats = clone(from.as.floats, from.count); break;
    case TN_STRING: to->as.string = clone(from.as.string, from.count + 1); break;
    case TN_STRINGS: {
      const char** list = clone(from.as.strings, from.count);
      for (uint32_t i = 0; i < from.count; ++i) list[i] = clone(list[i], std::strlen(list[i]) + 1);
      to->as.strings = list;
      break;
    }
    case TN_OBJECT:
      if (from.as.object != nullptr) object_references.retain(from.as.object);
      break;
    case TN_OBJECTS:
      for (uint32_t i = 0; i < from.count; ++i) object_references.retain(from.as.objects[i]);
      to->as.objects = clone(from.as.objects, from.count);
      break;
    default: break;
  }
  return nullptr;
}

}  // namespace tenon
