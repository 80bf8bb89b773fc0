// What the tests of core/object share: values, tensors, a factory and C methods, all through
// object/1.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "memory/memory.h"
#include "object/api.h"
#include "object/factory.h"
#include "object/tree.h"
#include "value_support.h"

namespace object_support {

inline const tn_object_api& api() { return *tenon::object_api(); }

using tenon::bool_value, tenon::float_value, tenon::int_value;

inline tn_value none() { return tn_value{}; }

// Takes the status.
inline void expect_ok(tn_status* status) {
  EXPECT_EQ(status, nullptr) << tenon::status_text(status);
  tenon::free_status(status);
}
inline void expect_error(tn_status* status, tn_code code, const std::string& text) {
  ASSERT_NE(status, nullptr) << "expected: " << text;
  EXPECT_EQ(status->code, code);
  EXPECT_EQ(std::string(tenon::status_text(status)), text);
  tenon::free_status(status);
}

// A float32 cpu tensor that counts up from `first`.
inline tenon::TensorRef tensor(std::initializer_list<int64_t> sizes, float first = 0,
                               tn_dtype dtype = TN_FLOAT32) {
  tenon::Tensor* t = nullptr;
  expect_ok(tenon::empty_tensor({sizes.begin(), sizes.size()}, dtype, tenon::kCpu, &t));
  for (int64_t i = 0; dtype == TN_FLOAT32 && i < t->numel; ++i) {
    static_cast<float*>(t->data)[i] = first + static_cast<float>(i);
  }
  return tenon::TensorRef(t);
}
inline float element(const tn_tensor* t, int64_t i) {
  return static_cast<const float*>(t->data)[i];
}

inline tenon::ObjectRef empty(const char* type, tn_object_kind kind = TN_OBJECT_LAYER) {
  tn_object* object = nullptr;
  expect_ok(api().create_empty(type, kind, &object));
  return tenon::ObjectRef(object);
}

// forward(Tensor x) -> Tensor: x itself.
inline tn_status* identity(void*, tn_object*, const tn_value* args, uint32_t, tn_value* results,
                           uint32_t) {
  return tenon::copy_value(args[0], &results[0]);
}
// Pipes through the children, as a container does.
inline tn_status* pipe(void*, tn_object* object, const tn_value* args, uint32_t, tn_value* results,
                       uint32_t) {
  tenon::OwnedValue x;
  TN_TRY(tenon::OwnedValue::copy(args[0], &x));
  for (uint32_t i = 0; i < api().n_children(object); ++i) {
    const char* name = nullptr;
    tn_object* child = nullptr;
    TN_TRY(api().child_at(object, i, &name, &child));
    const tenon::ObjectRef held(child);
    tn_value y{};
    TN_TRY(api().invoke(child, "forward", &x.get(), 1, &y, 1));
    tenon::free_status(tenon::OwnedValue::copy(y, &x));
    tenon::release_value(&y);
  }
  return tenon::copy_value(x.get(), &results[0]);
}
inline constexpr const char* kForward = "forward(Tensor x) -> Tensor";

// A layer of the application: parameter `weight` [2, 3], buffer `count`, forward is the identity.
inline tenon::ObjectRef leaf(const char* type, float first = 0) {
  tenon::ObjectRef object = empty(type);
  expect_ok(
      api().set_tensor(object.get(), "weight", tensor({2, 3}, first).get(), TN_ENTRY_PARAMETER));
  expect_ok(api().set_tensor(object.get(), "count", tensor({}, first).get(), TN_ENTRY_BUFFER));
  expect_ok(api().add_method(object.get(), kForward, identity, nullptr, nullptr));
  return object;
}
inline tenon::ObjectRef container(
    std::initializer_list<std::pair<const char*, tn_object*>> children,
    const char* type = "Stack") {
  tenon::ObjectRef object = empty(type);
  for (const auto& [name, child] : children) expect_ok(api().set_child(object.get(), name, child));
  expect_ok(api().add_method(object.get(), kForward, pipe, nullptr, nullptr));
  return object;
}

inline void bring(const tn_factory_def& def) {
  std::unique_ptr<tenon::Factory> factory;
  expect_ok(tenon::make_factory(def, "testpack", &factory));
  tenon::commit_factory(std::move(factory));
}

// Registers "Dense" and "Solver" of plugin `testpack`, once.
inline void register_factories() {
  static const bool done = [] {
    tn_factory_def def{};
    def.size = sizeof(def);
    def.kind = TN_OBJECT_LAYER;
    def.schema =
        "Dense(int width, float scale=1.0, str mode=\"sum\", bool bias=True, int[] dims=[1, 2])";
    def.create = [](void*, tn_object*, const tn_value* args, uint32_t) -> tn_status* {
      if (args[0].as.i > 0) return nullptr;
      return tenon::invalid("width is {}, expected at least 1", args[0].as.i);
    };
    bring(def);
    def.kind = TN_OBJECT_OPTIMIZER;
    def.schema = "Solver(Tensor[] params, float lr=0.1, bool nesterov=False)";
    def.create = [](void*, tn_object* object, const tn_value* args, uint32_t) -> tn_status* {
      return api().add_group(object, args[0].as.tensors, args[0].count, nullptr, nullptr, 0);
    };
    bring(def);
    return true;
  }();
  (void)done;
}

}  // namespace object_support
