// Trees of objects: names, state dicts, moving, training mode, text; parameter groups. Without any
// plugin.
#include "object_support.h"

#include "autograd/grad.h"
#include "registry/host_table.h"

using namespace object_support;
using tenon::ObjectRef;
using tenon::TensorRef;

namespace {

std::vector<std::string> names_of(const ObjectRef& object) {
  std::vector<std::string> names;
  const auto note = [](void* context, const char* name, tn_tensor* t, tn_entry_kind) {
    static_cast<std::vector<std::string>*>(context)->push_back(std::string(name) +
                                                               (t == nullptr ? " (empty)" : ""));
  };
  expect_ok(api().visit(object.get(), note, &names));
  return names;
}

std::string text_of(const ObjectRef& object) {
  const char* text = nullptr;
  expect_ok(api().describe(object.get(), &text));
  std::string copy = text;
  tenon::host_table().text_free(text);
  return copy;
}

TensorRef entry(const ObjectRef& object, const char* name) {
  tn_tensor* t = nullptr;
  expect_ok(api().tensor(object.get(), name, &t));
  return TensorRef(tenon::as_tensor(t));
}

using State = std::vector<std::pair<const char*, TensorRef>>;
tn_status* load(const ObjectRef& object, const State& state, bool strict = true) {
  std::vector<const char*> names;
  std::vector<tn_tensor*> tensors;
  for (const auto& [name, t] : state) {
    names.push_back(name);
    tensors.push_back(t.get());
  }
  return api().load_state(object.get(), names.data(), tensors.data(),
                          static_cast<uint32_t>(names.size()), strict);
}

TEST(Tree, NamesArePathsInOrderEachTensorOnce) {
  const ObjectRef shared = leaf("Leaf"), other = leaf("Leaf");
  expect_ok(
      api().set_tensor(other.get(), "tied", entry(shared, "weight").get(), TN_ENTRY_PARAMETER));
  expect_ok(api().set_tensor(other.get(), "bias", nullptr, TN_ENTRY_PARAMETER));
  const ObjectRef net =
      container({{"a", shared.get()}, {"b", other.get()}, {"again", shared.get()}});
  expect_ok(api().set_tensor(net.get(), "own", tensor({1}).get(), TN_ENTRY_PARAMETER));
  expect_ok(api().set_child(net.get(), "hollow", nullptr));
  EXPECT_EQ(names_of(net), (std::vector<std::string>{"own", "a.weight", "a.count", "b.weight",
                                                     "b.count", "b.bias (empty)"}));
}

TEST(Tree, ASecondEntryOfANameReplacesTheFirstInItsPlace) {
  const ObjectRef object = leaf("Leaf");
  const TensorRef replacement = tensor({4}, 7);
  expect_ok(api().set_tensor(object.get(), "weight", replacement.get(), TN_ENTRY_PARAMETER));
  EXPECT_EQ(names_of(object), (std::vector<std::string>{"weight", "count"}));
  EXPECT_EQ(entry(object, "weight").get(), replacement.get());
}

TEST(Tree, TrainingReachesEveryObject) {
  const ObjectRef inner = leaf("Leaf");
  const ObjectRef net = container({{"body", container({{"inner", inner.get()}}).get()}});
  EXPECT_EQ(api().training(inner.get()), 1);
  api().set_training(net.get(), 0);
  EXPECT_EQ(api().training(inner.get()), 0);
  api().set_training(net.get(), 1);
  EXPECT_EQ(api().training(inner.get()), 1);
}

TEST(Tree, TextIsPyTorchs) {
  register_factories();
  tn_object* made = nullptr;
  const tn_value args[] = {int_value(4), float_value(1e-5)};
  expect_ok(api().create("Dense", args, 2, &made));
  const ObjectRef dense(made);
  EXPECT_EQ(text_of(dense), "Dense(width=4, scale=1e-05, mode='sum', bias=True, dims=(1, 2))");
  const ObjectRef body = container({{"0", dense.get()}, {"1", leaf("Leaf").get()}}, "Sequential");
  const ObjectRef net = container({{"body", body.get()}, {"head", dense.get()}}, "Net");
  EXPECT_EQ(text_of(net),
            "Net(\n"
            "  (body): Sequential(\n"
            "    (0): Dense(width=4, scale=1e-05, mode='sum', bias=True, dims=(1, 2))\n"
            "    (1): Leaf()\n"
            "  )\n"
            "  (head): Dense(width=4, scale=1e-05, mode='sum', bias=True, dims=(1, 2))\n"
            ")");
}

TEST(Tree, MovingKeepsTheTensorsThatTheyAre) {
  const ObjectRef net = container({{"a", leaf("Leaf", 3).get()}});
  tn_object* a = nullptr;
  expect_ok(api().child(net.get(), "a", &a));
  const ObjectRef held(a);
  const TensorRef weight = entry(held, "weight"), count = entry(held, "count");
  expect_ok(tenon::set_grad(weight.get(), tensor({2, 3}).get()));
  const uint32_t version = weight->version();
  expect_ok(api().to(net.get(), tenon::kMeta, TN_FLOAT64));
  EXPECT_EQ(entry(held, "weight").get(), weight.get());
  EXPECT_EQ(weight->device.type, TN_DEVICE_META);
  EXPECT_EQ(weight->dtype, TN_FLOAT64);
  EXPECT_EQ(weight->data, nullptr);
  EXPECT_GT(weight->version(), version);
  EXPECT_EQ(count->device.type, TN_DEVICE_META);
  const TensorRef grad = tenon::grad_of(weight.get());
  ASSERT_TRUE(grad);
  EXPECT_EQ(grad->device.type, TN_DEVICE_META);
  EXPECT_EQ(grad->dtype, TN_FLOAT64);
}

TEST(Tree, MovingRefusesWhatIsNoFloatDtype) {
  const ObjectRef net = leaf("Leaf");
  expect_error(api().to(net.get(), tenon::kCpu, TN_INT64), TN_INVALID_ARGUMENT,
               "Leaf: to: tensors of float dtypes can only become another float dtype, not int64");
}

TEST(Tree, SetDataShowsTheOthersValues) {
  const TensorRef mine = tensor({2, 3}), other = tensor({2, 3}, 10);
  tenon::set_data(mine.get(), other.get());
  EXPECT_EQ(mine->data, other->data);
  EXPECT_EQ(mine->storage, other->storage);
  EXPECT_EQ(element(mine.get(), 5), 15.f);
}

TEST(Tree, ZeroGradClearsParametersUnderALayer) {
  const ObjectRef inner = leaf("Leaf");
  const ObjectRef net = container({{"inner", inner.get()}});
  const TensorRef weight = entry(inner, "weight");
  expect_ok(tenon::set_grad(weight.get(), tensor({2, 3}).get()));
  expect_ok(api().zero_grad(net.get()));
  EXPECT_FALSE(tenon::grad_of(weight.get()));
}

TEST(LoadState, CopiesIntoTheTensorsThatAreThere) {
  const ObjectRef inner = leaf("Leaf");
  const ObjectRef net = container({{"0", inner.get()}});
  const TensorRef weight = entry(inner, "weight");
  expect_ok(load(net, {{"0.count", tensor({}, 9)}, {"0.weight", tensor({2, 3}, 50)}}));
  EXPECT_EQ(element(weight.get(), 5), 55.f);
  EXPECT_EQ(element(entry(inner, "count").get(), 0), 9.f);
}

TEST(LoadState, NamesEverythingThatDoesNotFitAndChangesNothing) {
  const ObjectRef inner = leaf("Leaf", 1);
  const ObjectRef net = container({{"0", inner.get()}}, "Net");
  const auto refuse = [&](const State& state, const std::string& text) {
    expect_error(load(net, state), TN_INVALID_ARGUMENT, "load_state: " + text);
    EXPECT_EQ(element(entry(inner, "weight").get(), 0), 1.f);
  };
  const TensorRef good = tensor({2, 3}, 50), count = tensor({});
  refuse({{"0.weight", tensor({3, 2})}, {"0.count", count}},
         "'0.weight' is [2, 3] here and [3, 2] in the state_dict");
  refuse({{"0.weight", good}}, "'0.count' is missing in the state_dict");
  refuse({{"0.weight", good}, {"0.count", count}, {"fc.bias", count}},
         "'fc.bias' is in the state_dict and not in Net");
  refuse({{"0.weight", tensor({3, 2})}, {"a", count}, {"b", count}},
         "'0.count' is missing in the state_dict\n"
         "  'a', 'b' are in the state_dict and not in Net\n"
         "  '0.weight' is [2, 3] here and [3, 2] in the state_dict");
  refuse({{"0.weight", good}, {"0.weight", good}}, "'0.weight' is given twice");
  refuse({{"0.weight", {}}}, "'0.weight' comes without a tensor");
}

TEST(LoadState, NotStrictTakesWhatFits) {
  const ObjectRef inner = leaf("Leaf");
  const ObjectRef net = container({{"0", inner.get()}});
  expect_ok(load(net, {{"0.weight", tensor({2, 3}, 50)}, {"fc.bias", tensor({})}}, false));
  EXPECT_EQ(element(entry(inner, "weight").get(), 0), 50.f);
  expect_error(load(net, {{"0.weight", tensor({3, 2})}}, false), TN_INVALID_ARGUMENT,
               "load_state: '0.weight' is [2, 3] here and [3, 2] in the state_dict");
}

TEST(LoadState, ATiedTensorMayComeUnderAnyOfItsNames) {
  const ObjectRef a = leaf("Leaf"), b = empty("Leaf");
  expect_ok(api().set_tensor(b.get(), "weight", entry(a, "weight").get(), TN_ENTRY_PARAMETER));
  const ObjectRef net = container({{"a", a.get()}, {"b", b.get()}});
  expect_ok(load(net, {{"b.weight", tensor({2, 3}, 50)}, {"a.count", tensor({})}}));
  EXPECT_EQ(element(entry(a, "weight").get(), 0), 50.f);
}

TEST(LoadState, FillsAnOptimizersEmptyStateButNoOtherEmptyEntry) {
  const ObjectRef object = empty("State", TN_OBJECT_OTHER);
  expect_ok(api().set_tensor(object.get(), "momentum_buffer", nullptr, TN_ENTRY_STATE));
  const TensorRef given = tensor({2}, 5);
  expect_ok(load(object, {{"momentum_buffer", given}}));
  const TensorRef loaded = entry(object, "momentum_buffer");
  EXPECT_EQ(element(loaded.get(), 1), 6.f);
  EXPECT_NE(loaded->storage, given->storage);

  const ObjectRef plain = empty("Plain");
  expect_ok(api().set_tensor(plain.get(), "bias", nullptr, TN_ENTRY_PARAMETER));
  expect_ok(load(plain, {}));
  expect_error(load(plain, {{"bias", given}}), TN_INVALID_ARGUMENT,
               "load_state: 'bias' is in the state_dict and not in Plain");
}

class Groups : public testing::Test {
 protected:
  void SetUp() override {
    register_factories();
    tn_value params = of_tensors({first.get()});
    tn_object* made = nullptr;
    expect_ok(api().create("Solver", &params, 1, &made));
    solver = ObjectRef(made);
  }
  tn_value of_tensors(std::vector<tn_tensor*> list) {
    lists.push_back(std::move(list));
    tn_value v{};
    v.kind = TN_KIND_TENSORS;
    v.count = static_cast<uint32_t>(lists.back().size());
    v.as.tensors = lists.back().data();
    return v;
  }
  tn_status* add(std::vector<tn_tensor*> parameters, std::vector<const char*> names = {},
                 std::vector<tn_value> values = {}) {
    return api().add_group(solver.get(), parameters.data(),
                           static_cast<uint32_t>(parameters.size()), names.data(), values.data(),
                           static_cast<uint32_t>(names.size()));
  }
  double lr(uint32_t group) {
    tn_value value{};
    expect_ok(api().group_option(solver.get(), group, "lr", &value));
    EXPECT_EQ(value.kind, uint32_t{TN_KIND_FLOAT});
    return value.as.f;
  }
  std::vector<std::vector<tn_tensor*>> lists;
  TensorRef first = tensor({2}), second = tensor({3});
  ObjectRef solver;
};

TEST_F(Groups, OptionsNotGivenAreTheObjects) {
  expect_ok(add({second.get()}, {"lr"}, {int_value(2)}));
  EXPECT_EQ(api().n_groups(solver.get()), 2u);
  EXPECT_EQ(lr(0), 0.1);
  EXPECT_EQ(lr(1), 2.0);
  tn_tensor* const* parameters = nullptr;
  uint32_t n = 0;
  expect_ok(api().group(solver.get(), 1, &parameters, &n));
  ASSERT_EQ(n, 1u);
  EXPECT_EQ(parameters[0], second.get());
}

TEST_F(Groups, SettingAnOptionIsCheckedAgainstTheSchema) {
  const tn_value half = float_value(0.5), text = string_value("fast");
  expect_ok(api().set_group_option(solver.get(), 0, "lr", &half));
  EXPECT_EQ(lr(0), 0.5);
  expect_error(api().set_group_option(solver.get(), 0, "nestrov", &half), TN_INVALID_ARGUMENT,
               "Solver has no option 'nestrov' for its groups; did you mean 'nesterov'?");
  expect_error(api().set_group_option(solver.get(), 0, "lr", &text), TN_INVALID_ARGUMENT,
               "Solver: argument 'lr' must be float, got str \"fast\"");
  expect_error(api().set_group_option(solver.get(), 3, "lr", &half), TN_NOT_FOUND,
               "Solver has 1 parameter groups, none of index 3");
}

TEST_F(Groups, RefuseParametersThatCannotBeOptimized) {
  expect_error(add({}), TN_INVALID_ARGUMENT, "Solver: the list of parameters is empty");
  expect_error(add({first.get()}), TN_INVALID_ARGUMENT,
               "Solver: parameter 0 ([2] float32 on cpu) is in a group already");
  const TensorRef counts = tensor({2}, 0, TN_INT64);
  expect_error(add({second.get(), counts.get()}), TN_INVALID_ARGUMENT,
               "Solver: parameter 1 ([2] int64 on cpu) has no float dtype");
  EXPECT_EQ(api().n_groups(solver.get()), 1u);
  const ObjectRef layer = leaf("Leaf");
  tn_tensor* one[] = {second.get()};
  expect_error(api().add_group(layer.get(), one, 1, nullptr, nullptr, 0), TN_INVALID_ARGUMENT,
               "Leaf is no optimizer: it has no parameter groups");
}

TEST_F(Groups, TheObjectHearsOfNewGroups) {
  static int64_t heard = -1;
  expect_ok(api().add_method(
      solver.get(), "group_added(int index) -> ()",
      [](void*, tn_object*, const tn_value* args, uint32_t, tn_value*, uint32_t) {
        heard = args[0].as.i;
        return static_cast<tn_status*>(nullptr);
      },
      nullptr, nullptr));
  expect_ok(add({second.get()}));
  EXPECT_EQ(heard, 1);
}

TEST_F(Groups, TheObjectIsAskedWhetherItTakesAValue) {
  expect_ok(api().add_method(
      solver.get(), "check_lr(float value) -> ()",
      [](void*, tn_object*, const tn_value* args, uint32_t, tn_value*, uint32_t) -> tn_status* {
        return args[0].as.f > 0 ? nullptr : tenon::invalid("lr is {}", args[0].as.f);
      },
      nullptr, nullptr));
  const tn_value half = float_value(0.5), minus = int_value(-2), yes = bool_value(true);
  expect_ok(api().set_group_option(solver.get(), 0, "lr", &half));
  expect_ok(api().set_group_option(solver.get(), 0, "nesterov", &yes));
  expect_error(api().set_group_option(solver.get(), 0, "lr", &minus), TN_INVALID_ARGUMENT,
               "Solver: lr is -2");
  EXPECT_EQ(lr(0), 0.5);
  expect_error(add({second.get()}, {"lr"}, {minus}), TN_INVALID_ARGUMENT, "Solver: lr is -2");
  EXPECT_EQ(api().n_groups(solver.get()), 1u);
}

// A dynamic option is written where it lies; one of another length cannot be.
TEST_F(Groups, ADynamicListOfAnotherLengthIsAnotherTensor) {
  tn_factory_def def{};
  def.size = sizeof(def);
  def.kind = TN_OBJECT_OPTIMIZER;
  def.schema = "Waves(Tensor[] params, dynamic float[] rates=[0.5, 1])";
  def.create = [](void*, tn_object* object, const tn_value* args, uint32_t) -> tn_status* {
    return api().add_group(object, args[0].as.tensors, args[0].count, nullptr, nullptr, 0);
  };
  bring(def);
  tn_value params = of_tensors({second.get()});
  tn_object* waves = nullptr;
  expect_ok(api().create("Waves", &params, 1, &waves));
  const ObjectRef hold(waves);
  const auto rates = [&] {
    tn_tensor* t = nullptr;
    expect_ok(api().group_number(waves, 0, "rates", &t));
    return t;
  };
  const auto set = [&](std::vector<double> values) {
    tn_value v{};
    v.kind = TN_KIND_FLOATS;
    v.count = static_cast<uint32_t>(values.size());
    v.as.floats = values.data();
    expect_ok(api().set_group_option(waves, 0, "rates", &v));
  };
  const tn_tensor* before = rates();
  set({2, 3});
  EXPECT_EQ(rates(), before);
  EXPECT_EQ(static_cast<const double*>(before->data)[1], 3);
  set({4, 5, 6});
  EXPECT_EQ(rates()->numel, 3);
  EXPECT_EQ(static_cast<const double*>(rates()->data)[2], 6);
}

TEST_F(Groups, TextOfAnOptimizerIsPyTorchs) {
  expect_ok(add({second.get()}, {"lr"}, {int_value(2)}));
  EXPECT_EQ(text_of(solver),
            "Solver (\n"
            "Parameter Group 0\n    lr: 0.1\n    nesterov: False\n\n"
            "Parameter Group 1\n    lr: 2.0\n    nesterov: False\n"
            ")");
}

TEST_F(Groups, ZeroGradClearsTheirParameters) {
  expect_ok(tenon::set_grad(first.get(), tensor({2}).get()));
  expect_ok(api().zero_grad(solver.get()));
  EXPECT_FALSE(tenon::grad_of(first.get()));
}

}  // namespace
