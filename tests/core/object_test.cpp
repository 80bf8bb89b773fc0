// Factories, and single objects: options, entries, methods, hooks, errors. Trees are in
// object_tree_test.cpp.
#include "object_support.h"

#include "object/invoke.h"

using namespace object_support;
using tenon::ObjectRef;

namespace {

class Factories : public testing::Test {
 protected:
  void SetUp() override { register_factories(); }
  ObjectRef dense(std::vector<tn_value> args) {
    tn_object* object = nullptr;
    expect_ok(api().create("Dense", args.data(), static_cast<uint32_t>(args.size()), &object));
    return ObjectRef(object);
  }
  tn_value option(const ObjectRef& object, const char* name) {
    tn_value value{};
    expect_ok(api().option(object.get(), name, &value));
    return value;
  }
  tn_object* nothing = nullptr;
};

tn_status* make(const tn_factory_def& def) {
  std::unique_ptr<tenon::Factory> made;
  return tenon::make_factory(def, "testpack", &made);
}

TEST_F(Factories, RefuseDefinitionsThatAreNotComplete) {
  tn_factory_def def{};
  def.size = 8;
  expect_error(make(def), TN_INVALID_ARGUMENT, "a factory's size is 8, expected at least 24");
  def.size = sizeof(def);
  expect_error(make(def), TN_INVALID_ARGUMENT, "a factory has no schema");
  def.schema = "Thing(int a)";
  expect_error(make(def), TN_INVALID_ARGUMENT, "factory Thing: create is missing");
  def.create = [](void*, tn_object*, const tn_value*, uint32_t) -> tn_status* { return nullptr; };
  def.kind = 9;
  expect_error(make(def), TN_INVALID_ARGUMENT, "factory Thing: unknown kind 9");
  def.kind = TN_OBJECT_LAYER;
  def.group = "a b";
  expect_error(make(def), TN_INVALID_ARGUMENT,
               "factory Thing: its group is 'a b', expected lower case letters, digits and '_'");
  def.group = nullptr;
  def.kind = TN_OBJECT_LAYER;
  def.schema = "Thing(int a) -> Tensor";
  expect_error(make(def), TN_INVALID_ARGUMENT,
               "factory Thing: its schema returns something: Thing(int a) -> Tensor");
  def.schema = "Dense(int a)";
  expect_error(make(def), TN_INVALID_ARGUMENT,
               "factory Dense: plugin 'testpack' brings one of this name already");
  def.schema = "Thing(int";
  tn_status* status = make(def);
  ASSERT_NE(status, nullptr);
  EXPECT_TRUE(std::string(tenon::status_text(status))
                  .starts_with("the schema of a factory is wrong\n  because "));
  tenon::free_status(status);
}

TEST_F(Factories, UnknownNameGetsTheNearestAndThePlugins) {
  expect_error(api().create("Dens", nullptr, 0, &nothing), TN_NOT_FOUND,
               "no layer or optimizer is named 'Dens'; did you mean 'Dense'? (plugins that bring "
               "some: testpack)");
}

TEST_F(Factories, AreTold) {
  struct Found {
    tn_object_kind kind = -1;
    std::string schema;
  } found;
  const auto see = [](void* context, tn_object_kind kind, const char* name, const char* schema) {
    if (std::string_view(name) == "Dense") *static_cast<Found*>(context) = {kind, schema};
  };
  expect_ok(api().factories(see, &found));
  EXPECT_EQ(found.kind, TN_OBJECT_LAYER);
  EXPECT_TRUE(found.schema.starts_with("Dense(")) << found.schema;
  expect_error(api().factories(nullptr, nullptr), TN_INVALID_ARGUMENT,
               "factories: the function is NULL");
}

TEST_F(Factories, TrailingOptionsDefault) {
  const ObjectRef object = dense({int_value(4), float_value(0.5)});
  EXPECT_EQ(option(object, "width").as.i, 4);
  EXPECT_EQ(option(object, "scale").as.f, 0.5);
  EXPECT_STREQ(option(object, "mode").as.string, "sum");
  EXPECT_EQ(option(object, "bias").as.i, 1);
  EXPECT_EQ(option(object, "dims").as.ints[1], 2);
}

TEST_F(Factories, OptionsByNameComeInAnyOrder) {
  const char* names[] = {"mode", "width"};
  const tn_value values[] = {string_value("mean"), int_value(7)};
  tn_object* object = nullptr;
  expect_ok(api().create_named("Dense", names, values, 2, &object));
  const ObjectRef held(object);
  EXPECT_EQ(option(held, "width").as.i, 7);
  EXPECT_STREQ(option(held, "mode").as.string, "mean");
}

TEST_F(Factories, RefuseOptionsThatDoNotFit) {
  const tn_value values[] = {int_value(7), int_value(8)};
  const char* unknown[] = {"widht"};
  expect_error(api().create_named("Dense", unknown, values, 1, &nothing), TN_INVALID_ARGUMENT,
               "Dense has no option 'widht'; did you mean 'width'? (its options: width, scale, "
               "mode, bias, dims)");
  const char* twice[] = {"width", "width"};
  expect_error(api().create_named("Dense", twice, values, 2, &nothing), TN_INVALID_ARGUMENT,
               "Dense: option 'width' is given twice");
  expect_error(
      api().create_named("Dense", nullptr, nullptr, 0, &nothing), TN_INVALID_ARGUMENT,
      "Dense: option 'width' is missing: Dense(int width, float scale=1.0, str mode=\"sum\", "
      "bool bias=True, int[] dims=[1, 2])");
  const tn_value wrong = string_value("wide");
  expect_error(api().create("Dense", &wrong, 1, &nothing), TN_INVALID_ARGUMENT,
               "Dense: argument 'width' must be int, got str \"wide\"");
}

TEST_F(Factories, AnIntInAFloatsPlaceIsAFloat) {
  const ObjectRef object = dense({int_value(4), int_value(3)});
  EXPECT_EQ(option(object, "scale").kind, uint32_t{TN_KIND_FLOAT});
  EXPECT_EQ(option(object, "scale").as.f, 3.0);
}

TEST_F(Factories, ObjectsOwnTheirOptions) {
  char mode[] = "mean";
  std::vector<int64_t> numbers = {5, 6, 7};
  tn_value dims{};
  dims.kind = TN_KIND_INTS;
  dims.count = 3;
  dims.as.ints = numbers.data();
  const ObjectRef object =
      dense({int_value(4), float_value(1), string_value(mode), bool_value(false), dims});
  mode[0] = 'x';
  numbers.assign(3, 0);
  EXPECT_STREQ(option(object, "mode").as.string, "mean");
  EXPECT_EQ(option(object, "dims").as.ints[2], 7);
}

TEST_F(Factories, AFailedCreateSaysWhy) {
  const tn_value zero = int_value(0);
  expect_error(api().create("Dense", &zero, 1, &nothing), TN_INVALID_ARGUMENT,
               "Dense could not be made\n  because width is 0, expected at least 1");
}

TEST(Object, RefusesNamesThatCannotBePaths) {
  const ObjectRef object = leaf("Block");
  expect_error(api().set_tensor(object.get(), "a.b", nullptr, TN_ENTRY_BUFFER), TN_INVALID_ARGUMENT,
               "Block: 'a.b' cannot name a tensor: dots separate the parts of a path");
  expect_error(api().set_child(object.get(), "", leaf("Leaf").get()), TN_INVALID_ARGUMENT,
               "Block: the name of a child is empty");
  expect_error(api().set_child(object.get(), "weight", leaf("Leaf").get()), TN_INVALID_ARGUMENT,
               "Block: 'weight' is a tensor already");
}

TEST(Object, RefusesCycles) {
  const ObjectRef inner = container({}, "Inner");
  const ObjectRef middle = container({{"inner", inner.get()}}, "Middle");
  const ObjectRef outer = container({{"middle", middle.get()}}, "Outer");
  expect_error(api().set_child(inner.get(), "up", outer.get()), TN_INVALID_ARGUMENT,
               "Inner: child 'up' (Outer) contains this Inner: a tree of objects has no cycles");
  expect_error(api().set_child(inner.get(), "me", inner.get()), TN_INVALID_ARGUMENT,
               "Inner: child 'me' is the object itself");
  EXPECT_EQ(api().n_children(inner.get()), 0u);
}

TEST(Object, RemovesEntries) {
  const ObjectRef child = leaf("Leaf");
  const ObjectRef object = container({{"inner", child.get()}}, "Block");
  expect_ok(api().remove(object.get(), "inner"));
  EXPECT_EQ(api().n_children(object.get()), 0u);
  expect_error(api().remove(object.get(), "inner"), TN_NOT_FOUND,
               "Block has no tensor or child 'inner'");
  // Another one of the name is none that was there before.
  expect_ok(api().set_child(object.get(), "inner", child.get()));
  EXPECT_EQ(api().child_changes(object.get(), 0), 1u);
  expect_ok(api().remove(child.get(), "weight"));
  expect_error(api().remove(child.get(), "weight"), TN_NOT_FOUND,
               "Leaf has no tensor or child 'weight'");
  expect_ok(api().set_tensor(child.get(), "weight", nullptr, TN_ENTRY_COMPUTED));
  expect_error(api().remove(child.get(), "weight"), TN_FAILED_PRECONDITION,
               "Leaf: 'weight' is computed from other tensors: remove what computes it "
               "(remove_parametrizations) first");
  expect_error(api().remove(child.get(), nullptr), TN_INVALID_ARGUMENT, "remove: the name is NULL");
}

TEST(Object, NamesTheNearestOfWhatIsNotThere) {
  const ObjectRef object = leaf("Block");
  tn_tensor* t = nullptr;
  expect_error(api().tensor(object.get(), "scale", &t), TN_NOT_FOUND,
               "Block has no tensor 'scale' (its tensors: 'weight', 'count')");
  expect_error(api().tensor(object.get(), "wieght", &t), TN_NOT_FOUND,
               "Block has no tensor 'wieght'; did you mean 'weight'?");
  const tn_value x{};
  tn_value y{};
  expect_error(api().invoke(object.get(), "foward", &x, 1, &y, 1), TN_NOT_FOUND,
               "Block has no method 'foward'; did you mean 'forward'?");
}

TEST(Object, MethodsCheckTheirArguments) {
  const ObjectRef object = empty("Block");
  expect_ok(api().add_method(
      object.get(), "scale(int by, float more=2.5) -> float",
      [](void*, tn_object*, const tn_value* args, uint32_t, tn_value* results, uint32_t) {
        results[0] = float_value(static_cast<double>(args[0].as.i) * args[1].as.f);
        return static_cast<tn_status*>(nullptr);
      },
      nullptr, nullptr));
  tn_value result{};
  const tn_value args[] = {int_value(4), int_value(3), int_value(1)};
  expect_ok(api().invoke(object.get(), "scale", args, 1, &result, 1));
  EXPECT_EQ(result.as.f, 10.0);
  expect_ok(api().invoke(object.get(), "scale", args, 2, &result, 1));
  EXPECT_EQ(result.as.f, 12.0);
  const std::string schema = "scale(int by, float more=2.5) -> float";
  expect_error(api().invoke(object.get(), "scale", args, 3, &result, 1), TN_INVALID_ARGUMENT,
               "Block: 3 arguments given, at most 2 taken: " + schema);
  expect_error(api().invoke(object.get(), "scale", args, 0, &result, 1), TN_INVALID_ARGUMENT,
               "Block: argument 'by' is missing: " + schema);
  expect_error(api().invoke(object.get(), "scale", args, 1, nullptr, 0), TN_INVALID_ARGUMENT,
               "Block.scale: 0 results asked for, it gives 1: " + schema);
}

TEST(Object, AResultOfTheWrongKindIsTheMethodsFault) {
  const ObjectRef object = empty("Block");
  expect_ok(api().add_method(
      object.get(), "forward(int x) -> Tensor",
      [](void*, tn_object*, const tn_value*, uint32_t, tn_value* results, uint32_t) {
        results[0] = int_value(1);
        return static_cast<tn_status*>(nullptr);
      },
      nullptr, nullptr));
  const tn_value x = int_value(1);
  tn_value y{};
  expect_error(api().invoke(object.get(), "forward", &x, 1, &y, 1), TN_INTERNAL,
               "Block.forward gave int 1 as result 0: forward(int x) -> Tensor");
  EXPECT_EQ(y.kind, uint32_t{TN_KIND_NONE});
}

TEST(Object, ASecondMethodOfANameReplacesTheFirst) {
  const ObjectRef object = empty("Block");
  int destroyed = 0;
  const auto count = [](void* self) { ++*static_cast<int*>(self); };
  expect_ok(api().add_method(object.get(), kForward, identity, &destroyed, count));
  expect_ok(api().add_method(object.get(), kForward, identity, nullptr, nullptr));
  EXPECT_EQ(destroyed, 1);
}

// An entry TN_ENTRY_COMPUTED.
TEST(Object, AComputedTensorIsWhatTheMethodOfItsNameGives) {
  const ObjectRef object = leaf("Leaf");
  tn_tensor* t = nullptr;
  expect_error(api().set_tensor(object.get(), "scale", nullptr, TN_ENTRY_LATER + 1),
               TN_INVALID_ARGUMENT, "Leaf: unknown entry kind 6");
  expect_error(api().set_tensor(object.get(), "scale", tensor({1}).get(), TN_ENTRY_LATER),
               TN_INVALID_ARGUMENT, "Leaf: 'scale' is made later, and comes with a tensor");
  expect_ok(api().set_tensor(object.get(), "scale", nullptr, TN_ENTRY_COMPUTED));
  expect_error(api().tensor(object.get(), "scale", &t), TN_NOT_FOUND, "Leaf has no method 'scale'");

  const auto give = [](void* self, tn_object*, const tn_value*, uint32_t, tn_value* results,
                       uint32_t) -> tn_status* {
    tn_value value{};
    value.kind = TN_KIND_TENSOR;
    value.as.tensor = static_cast<tn_tensor*>(self);
    return tenon::copy_value(value, &results[0]);
  };
  const tenon::TensorRef scale = tensor({2});
  expect_ok(api().add_method(object.get(), "scale() -> Tensor", give, scale.get(), nullptr));
  expect_ok(api().tensor(object.get(), "scale", &t));
  EXPECT_EQ(tenon::TensorRef(tenon::as_tensor(t)).get(), scale.get());
  const auto see = [](void* tensor, const char* name, tn_tensor* found, tn_entry_kind kind) {
    if (kind == TN_ENTRY_COMPUTED) {
      EXPECT_STREQ(name, "scale");
    }
    if (found == tensor) FAIL() << "a tree shows the entry, and no value of it";
  };
  expect_ok(api().visit(object.get(), see, scale.get()));

  const auto count = [](void*, tn_object*, const tn_value*, uint32_t, tn_value* results,
                        uint32_t) -> tn_status* {
    results[0] = int_value(3);
    return nullptr;
  };
  expect_ok(api().add_method(object.get(), "scale() -> int", count, nullptr, nullptr));
  expect_ok(api().tensor(object.get(), "scale", &t));
  EXPECT_EQ(t, nullptr) << "no tensor";
}

// Errors of methods.
tn_status* fails(void*, tn_object*, const tn_value*, uint32_t, tn_value*, uint32_t) {
  return tenon::invalid("linear: inner dimensions differ");
}

TEST(Object, AnErrorNamesTheObjectsOnItsWay) {
  const ObjectRef linear = empty("Linear");
  expect_ok(api().add_method(linear.get(), kForward, fails, nullptr, nullptr));
  const ObjectRef first = leaf("First");
  const ObjectRef stack = container({{"0", first.get()}, {"1", linear.get()}});
  const ObjectRef net = container({{"body", stack.get()}}, "Net");
  const tenon::TensorRef t = tensor({2});
  tn_value x{}, y{};
  x.kind = TN_KIND_TENSOR;
  x.as.tensor = t.get();
  expect_error(api().invoke(net.get(), "forward", &x, 1, &y, 1), TN_INVALID_ARGUMENT,
               "Net: child 'body' (Stack): child '1' (Linear): linear: inner dimensions differ");
}

// Hooks note their number; an odd one replaces the result by a tensor that starts with it.
struct Noting {
  std::vector<int>* order;
  int number;
  static tn_status* run(void* self, tn_object*, const tn_value*, uint32_t, tn_value* results,
                        uint32_t) {
    auto* noting = static_cast<Noting*>(self);
    noting->order->push_back(noting->number);
    if (noting->number % 2 == 0) return nullptr;
    tenon::release_value(&results[0]);
    results[0].kind = TN_KIND_TENSOR;
    results[0].as.tensor = tensor({1}, static_cast<float>(noting->number)).take();
    return nullptr;
  }
};

TEST(Hooks, RunInOrderAndMayReplaceTheResult) {
  const ObjectRef object = leaf("Leaf");
  std::vector<int> order;
  Noting notings[] = {{&order, 2}, {&order, 3}, {&order, 4}};
  uint64_t ids[3];
  for (int i = 0; i < 3; ++i) {
    expect_ok(api().add_forward_hook(object.get(), Noting::run, &notings[i], nullptr, &ids[i]));
  }
  const tenon::TensorRef t = tensor({2});
  tn_value x{}, y{};
  x.kind = TN_KIND_TENSOR;
  x.as.tensor = t.get();
  expect_ok(api().invoke(object.get(), "forward", &x, 1, &y, 1));
  EXPECT_EQ(order, (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(element(y.as.tensor, 0), 3.f);
  tenon::release_value(&y);

  expect_ok(api().remove_forward_hook(object.get(), ids[1]));
  expect_ok(api().invoke(object.get(), "forward", &x, 1, &y, 1));
  EXPECT_EQ(y.as.tensor, t.get());
  tenon::release_value(&y);
  expect_error(api().remove_forward_hook(object.get(), ids[1]), TN_NOT_FOUND,
               "Leaf has no forward hook 2");
}

TEST(Hooks, OnesBeforeForwardMayReplaceArguments) {
  const ObjectRef object = leaf("Leaf");
  uint64_t id = 0;
  const auto replace = [](void*, tn_object*, const tn_value* args, uint32_t n_args, tn_value* given,
                          uint32_t n_given) -> tn_status* {
    EXPECT_EQ(n_args, n_given);
    EXPECT_EQ(given[0].kind, uint32_t{TN_KIND_NONE});
    given[0].kind = TN_KIND_TENSOR;
    given[0].as.tensor = tensor({1}, args[0].as.tensor->numel == 2 ? 8.f : 9.f).take();
    return nullptr;
  };
  // The second gets what the first gave.
  for (int i = 0; i < 2; ++i)
    expect_ok(api().add_forward_pre_hook(object.get(), replace, nullptr, nullptr, &id));
  const tenon::TensorRef t = tensor({2});
  tn_value x{}, y{};
  x.kind = TN_KIND_TENSOR;
  x.as.tensor = t.get();
  expect_ok(api().invoke(object.get(), "forward", &x, 1, &y, 1));
  EXPECT_EQ(element(y.as.tensor, 0), 9.f);
  tenon::release_value(&y);
  expect_ok(api().remove_forward_hook(object.get(), id));
  expect_ok(api().invoke(object.get(), "forward", &x, 1, &y, 1));
  EXPECT_EQ(element(y.as.tensor, 0), 8.f);
  tenon::release_value(&y);

  const auto misfit = [](void*, tn_object*, const tn_value*, uint32_t, tn_value* given,
                         uint32_t) -> tn_status* {
    given[0].kind = TN_KIND_INT;
    given[0].as.i = 3;
    return nullptr;
  };
  expect_ok(api().add_forward_pre_hook(object.get(), misfit, nullptr, nullptr, &id));
  tn_status* status = api().invoke(object.get(), "forward", &x, 1, &y, 1);
  ASSERT_NE(status, nullptr) << "no Tensor";
  tenon::free_status(status);
  EXPECT_EQ(y.kind, uint32_t{TN_KIND_NONE});
}

TEST(Hooks, AHooksErrorComesOutUnchanged) {
  const ObjectRef object = leaf("Leaf");
  static const int tag = 0;
  static int payload = 42;
  uint64_t id = 0;
  expect_ok(api().add_forward_hook(
      object.get(),
      [](void*, tn_object*, const tn_value*, uint32_t, tn_value*, uint32_t) -> tn_status* {
        tn_status* status = tenon::make_status(TN_EXCEPTION, "thrown in a hook");
        status->payload_tag = &tag;
        status->payload = &payload;
        return status;
      },
      nullptr, nullptr, &id));
  const tenon::TensorRef t = tensor({2});
  tn_value x{}, y{};
  x.kind = TN_KIND_TENSOR;
  x.as.tensor = t.get();
  tn_status* status = api().invoke(object.get(), "forward", &x, 1, &y, 1);
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(status->payload, &payload);
  EXPECT_EQ(y.kind, uint32_t{TN_KIND_NONE});
  expect_error(status, TN_EXCEPTION, "thrown in a hook");
}

TEST(Hooks, AHookMayRemoveItself) {
  const ObjectRef object = leaf("Leaf");
  struct Once {
    tn_object* object;
    uint64_t id = 0;
    int runs = 0;
  } once{object.get()};
  expect_ok(api().add_forward_hook(
      object.get(),
      [](void* self, tn_object*, const tn_value*, uint32_t, tn_value*, uint32_t) -> tn_status* {
        auto* o = static_cast<Once*>(self);
        ++o->runs;
        return api().remove_forward_hook(o->object, o->id);
      },
      &once, nullptr, &once.id));
  const tenon::TensorRef t = tensor({2});
  tn_value x{}, y{};
  x.kind = TN_KIND_TENSOR;
  x.as.tensor = t.get();
  for (int i = 0; i < 2; ++i) {
    expect_ok(api().invoke(object.get(), "forward", &x, 1, &y, 1));
    tenon::release_value(&y);
  }
  EXPECT_EQ(once.runs, 1);
}

}  // namespace
