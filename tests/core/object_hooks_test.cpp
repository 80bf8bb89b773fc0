// Hooks of any kind (object/1 add_hook): what it refuses, their order, and hooks of states, which who reads
// or loads a state calls. Those of forward by themselves are in object_test.cpp.
#include "object_support.h"

using namespace object_support;
using tenon::ObjectRef;

namespace {

ObjectRef object() {
  tn_object* made = nullptr;
  expect_ok(api().create_empty("Thing", TN_OBJECT_LAYER, &made));
  return ObjectRef(made);
}
tn_status* nothing(void*, tn_object*, const tn_value*, uint32_t, tn_value*, uint32_t) {
  return nullptr;
}

TEST(AddHook, RefusesWhatItDoesNotKnow) {
  const ObjectRef o = object();
  uint64_t id = 0;
  const auto add = [&](tn_hook_kind kind, uint32_t flags) {
    return api().add_hook(o.get(), kind, flags, nothing, nullptr, nullptr, &id);
  };
  expect_error(add(6, 0), TN_INVALID_ARGUMENT, "Thing: unknown kind 6 of a hook");
  expect_error(add(-1, 0), TN_INVALID_ARGUMENT, "Thing: unknown kind -1 of a hook");
  expect_error(add(TN_HOOK_FORWARD, 8), TN_INVALID_ARGUMENT,
               "Thing: unknown flags 8 of a hook of kind 0");
  expect_error(add(TN_HOOK_LOAD, TN_HOOK_ALWAYS), TN_INVALID_ARGUMENT,
               "Thing: unknown flags 2 of a hook of kind 5");
  expect_error(api().call_hooks(o.get(), TN_HOOK_FORWARD, nullptr, 0, nullptr, 0),
               TN_INVALID_ARGUMENT, "call_hooks: Thing has no hooks of states of the kind 0");
  EXPECT_EQ(api().has_hooks(o.get(), TN_HOOK_STATE), 0);
  EXPECT_EQ(api().has_hooks(nullptr, TN_HOOK_STATE), 0);
  expect_ok(api().call_hooks(o.get(), TN_HOOK_STATE, nullptr, 0, nullptr, 0));
}

struct Noting {
  std::vector<int>* order;
  int number;
  static tn_status* run(void* self, tn_object*, const tn_value* args, uint32_t n_args, tn_value*,
                        uint32_t) {
    auto* noting = static_cast<Noting*>(self);
    EXPECT_EQ(n_args, 1u);
    EXPECT_EQ(args[0].as.i, 7);
    noting->order->push_back(noting->number);
    return noting->number < 0 ? tenon::make_status(TN_INVALID_ARGUMENT, "not this one") : nullptr;
  }
};

TEST(AddHook, HooksOfStatesRunInOrderUntilOneFails) {
  const ObjectRef o = object();
  std::vector<int> order;
  Noting notings[] = {{&order, 1}, {&order, 2}, {&order, 3}, {&order, -4}, {&order, 5}};
  uint64_t ids[5];
  const auto add = [&](int i, tn_hook_kind kind, uint32_t flags) {
    expect_ok(api().add_hook(o.get(), kind, flags, Noting::run, &notings[i], nullptr, &ids[i]));
  };
  add(0, TN_HOOK_STATE, 0);
  add(1, TN_HOOK_STATE, TN_HOOK_PREPEND);
  add(2, TN_HOOK_LOAD, 0);
  EXPECT_EQ(api().has_hooks(o.get(), TN_HOOK_STATE), 1);
  EXPECT_EQ(api().has_hooks(o.get(), TN_HOOK_FORWARD), 0);
  tn_value seven{};
  seven.kind = TN_KIND_INT;
  seven.as.i = 7;
  const auto call = [&](tn_hook_kind kind) {
    return api().call_hooks(o.get(), kind, &seven, 1, nullptr, 0);
  };
  expect_ok(call(TN_HOOK_STATE));
  EXPECT_EQ(order, (std::vector<int>{2, 1}));
  add(3, TN_HOOK_STATE, 0);
  add(4, TN_HOOK_STATE, 0);
  order.clear();
  expect_error(call(TN_HOOK_STATE), TN_INVALID_ARGUMENT, "not this one");
  EXPECT_EQ(order, (std::vector<int>{2, 1, -4}));
  expect_ok(api().remove_forward_hook(o.get(), ids[3]));
  order.clear();
  expect_ok(call(TN_HOOK_STATE));
  expect_ok(call(TN_HOOK_LOAD));
  EXPECT_EQ(order, (std::vector<int>{2, 1, 5, 3}));
}

}  // namespace
