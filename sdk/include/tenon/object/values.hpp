// Objects as arguments and results of calls.
#pragma once

#include <vector>

#include "tenon/function.hpp"
#include "tenon/object/handle.hpp"
#include "tenon/value.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

inline tn_value to_value(const Object& x) noexcept {
  tn_value v = make_value(x ? TN_KIND_OBJECT : TN_KIND_NONE);
  v.as.object = x.get();
  return v;
}
inline tn_value to_value(const std::vector<Object>& x) noexcept {
  static_assert(sizeof(Object) == sizeof(tn_object*));
  tn_value v = make_value(TN_KIND_OBJECTS, uint32_t(x.size()));
  v.as.objects = reinterpret_cast<tn_object* const*>(x.data());
  return v;
}
inline void give(tn_value& v, Object x) {
  v = to_value(x);
  x.release();
}
template <>
struct Unpack<Object> {
  static Object borrow(const tn_value& v) {
    if (v.kind == TN_KIND_NONE) return {};
    expect_kind(v, TN_KIND_OBJECT, "an object");
    return Object::borrow(v.as.object);
  }
  static Object own(tn_value& v) {
    if (v.kind == TN_KIND_NONE) return {};
    return Object::take(v.as.object);
  }
};
template <>
struct Unpack<std::vector<Object>> {
  static std::vector<Object> borrow(const tn_value& v) {
    std::vector<Object> list;
    if (v.kind == TN_KIND_NONE) return list;
    expect_kind(v, TN_KIND_OBJECTS, "objects");
    for (uint32_t i = 0; i < v.count; ++i) list.push_back(Object::borrow(v.as.objects[i]));
    return list;
  }
};

}  // namespace detail

}  // namespace v0
}  // namespace tenon
