// What goes into a call: tensors of several devices, numbers in a Tensor's place, and arguments
// that do not fit the schema, from C.
#include <climits>
#include <cstdint>
#include <deque>

#include "ops_support.h"

namespace {

struct Call : testing::Test {
  void SetUp() override { load_all(); }
};

// A call goes to the device of its tensors; a kernel never gets memory of another one.
TEST_F(Call, TensorsOfTwoDevicesNeverReachAKernel) {
  for (tn::Device d : devices()) {
    if (d.is_cpu()) continue;
    Tensor x = tn::ones({2, 3}), w = tn::ones({4, 3}), target = tn::zeros({2}, tn::int64);
    for (const std::string part :
         {std::string("cpu"), std::string(second_device()) + ":0", std::string("one device")}) {
      expect_error([&] { tn::linear(x, w.to(d)); }, part);
      expect_error([&] { tn::linear(x.to(d), w); }, part);
      expect_error([&] { tn::linear_relu(x, w, tn::ones({4}, {}, d)); }, part);
      expect_error([&] { tn::cross_entropy(x, target.to(d)); }, part);
      expect_error([&] { tn::gather(x, 1, tn::zeros({2, 1}, tn::int64, d)); }, part);
      expect_error([&] { x.to(d) + x; }, part);
    }
    expect_error([&] { tn::linear(x, tn::zeros({4, 3}, {}, tn::meta)); }, "meta");
  }
}

TEST_F(Call, ScalarsOfTheCpuMeetTensorsOfAnyDevice) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({1.f, 2.f}, d), s = tn::tensor(3.f);
    expect_near(x + s, {4, 5});
    expect_near(s - x, {2, 1});
    EXPECT_EQ((s * x).device(), d);
    expect_near(tn::where(x > tn::tensor(1.5), x, s), {3, 2});
    EXPECT_EQ((x + tn::tensor(3.0, tn::float64)).dtype(), tn::float32);
    EXPECT_EQ((x.to(tn::int64) + tn::tensor(0.5, tn::float64)).dtype(), tn::float64);
    // Its gradient comes back to the cpu.
    Tensor leaf = tn::tensor(3.f).requires_grad_(), w = x.clone().requires_grad_();
    (w * leaf).sum().backward();
    EXPECT_TRUE(leaf.grad().device().is_cpu());
    expect_sizes(leaf.grad(), {});
    expect_near(leaf.grad(), {3});
    expect_near(w.grad(), {3, 3});
    // It is read at the call: a later change is not seen.
    Tensor changes = tn::tensor(1.f), y = x * changes;
    tn::fill_(changes, 9);
    expect_near(y, {1, 2});
    // Written, it stays what it is.
    if (!d.is_cpu()) {
      expect_error([&] { tn::add_(s, x); }, "cpu");
      expect_error([&] { tn::add_(s, tn::tensor(1.f, d)); }, "cpu");
    }
  }
}

// torch 2.x: (tensor op number), dtype and values.
TEST_F(Call, NumbersPromoteAsPythonsDo) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor f16 = tn::tensor({1.f, 2.f}, d).to(tn::float16), f32 = tn::tensor({1.f, 2.f}, d);
    Tensor f64 = tn::tensor({1.0, 2.0}, tn::float64, d),
           i64 = tn::tensor({int64_t(1), int64_t(2)}, d);
    Tensor i32 = i64.to(tn::int32), u8 = i64.to(tn::uint8), b = tn::tensor({true, false}, d);
    struct Row {
      const char* text;
      Tensor result;
      tn::Dtype dtype;
      std::vector<double> values;
    };
    const Row rows[] = {
        {"i32 + 1", i32 + 1, tn::int32, {2, 3}},
        {"i32 + 1.5", i32 + 1.5, tn::float32, {2.5, 3.5}},
        {"i32 * True", i32 * true, tn::int32, {1, 2}},
        {"i64 - 3", i64 - 3, tn::int64, {-2, -1}},
        {"7 - i64", 7 - i64, tn::int64, {6, 5}},
        {"i64 / 2", i64 / 2, tn::float32, {0.5, 1}},
        {"i64 * 2.0", i64 * 2.0, tn::float32, {2, 4}},
        {"u8 + 1", u8 + 1, tn::uint8, {2, 3}},
        {"u8 - 2", u8 - 2, tn::uint8, {255, 0}},
        {"u8 / 4", u8 / 4, tn::float32, {0.25, 0.5}},
        {"u8 * 0.5", u8 * 0.5, tn::float32, {0.5, 1}},
        {"b + True", b + true, tn::bool_, {1, 1}},
        {"b * True", b * true, tn::bool_, {1, 0}},
        {"b + 1", b + 1, tn::int64, {2, 1}},
        {"b + 0.5", b + 0.5, tn::float32, {1.5, 0.5}},
        {"f16 + 1", f16 + 1, tn::float16, {2, 3}},
        {"f16 * 0.5", f16 * 0.5, tn::float16, {0.5, 1}},
        {"f32 + True", f32 + true, tn::float32, {2, 3}},
        {"f32 + 1e300", f32 + 1e300, tn::float32, {INFINITY, INFINITY}},
        {"f64 / 3", f64 / 3, tn::float64, {1.0 / 3, 2.0 / 3}},
        {"i64 ** 2", tn::pow(i64, 2), tn::int64, {1, 4}},
        {"i64 ** 0.5", tn::pow(i64, 0.5), tn::float32, {1, std::sqrt(2.0)}},
        {"2 ** i64", tn::pow(2, i64), tn::int64, {2, 4}},
        {"2.0 ** i64", tn::pow(2.0, i64), tn::float32, {2, 4}},
        {"where(b, i64, 0)", tn::where(b, i64, 0), tn::int64, {1, 0}},
        {"where(b, i64, 0.5)", tn::where(b, i64, 0.5), tn::float32, {1, 0.5}},
        {"where(b, 1, 0)", tn::where(b, 1, 0), tn::int64, {1, 0}},
        {"where(b, 1.0, 0.0)", tn::where(b, 1.0, 0.0), tn::float32, {1, 0}},
        {"i64 > 1.5", i64 > 1.5, tn::bool_, {0, 1}},
        {"b == 1", b == 1, tn::bool_, {1, 0}},
        {"u8 == 257", u8.to(tn::int64) == 257, tn::bool_, {0, 0}},
        {"i64 & 2", tn::bitwise_and(i64, 2), tn::int64, {0, 2}},
    };
    for (const Row& row : rows) {
      SCOPED_TRACE(row.text);
      EXPECT_STREQ(row.result.dtype().name(), row.dtype.name());
      expect_near(row.result, row.values);
    }
    // In place the tensor keeps its dtype, where the result can be cast back.
    expect_near(tn::add_(f16, 1.5), {2.5, 3.5});
    EXPECT_EQ(f16.dtype(), tn::float16);
    expect_near(tn::mul_(i32, 3), {3, 6});
    expect_error([&] { tn::add_(i64, 0.5); }, "add_");
    expect_error([&] { tn::div_(i64, 2); }, "float32");
    expect_error([&] { tn::bitwise_and(f32, 1); }, "bitwise_and");
  }
}

// host->call, as C has it.
std::string call_error(const char* name, const std::vector<tn_value>& args,
                       uint32_t n_results = 1) {
  const tn_op* op = nullptr;
  tn::check(tn::host()->find_op(name, &op));
  std::vector<tn_value> results(n_results + 1);
  tn_status* status =
      tn::host()->call(op, args.data(), uint32_t(args.size()), results.data(), n_results);
  if (status == nullptr) {
    for (uint32_t i = 0; i < n_results; ++i) tn::host()->value_release(&results[i]);
    return "";
  }
  EXPECT_EQ(tn::host()->status_code(status), TN_INVALID_ARGUMENT);
  std::string text = tn::host()->status_message(status);
  tn::host()->status_free(status);
  return text;
}

TEST_F(Call, ArgumentsThatDoNotFitTheSchemaAreNamed) {
  using tn::detail::to_value;
  Tensor x = tn::ones({2, 3});
  const tn_value t = to_value(x), one = to_value(1), half = to_value(0.5), text = to_value("a");
  const tn_value ints = to_value(tn::Ints{1, 2}), list = to_value(tn::Tensors(&x, 1));
  tn_value null = t;
  null.as.tensor = nullptr;
  tn_value odd = t;
  odd.kind = 99;

  const std::string name = op_name("matmul"), schema = name + "(Tensor a, Tensor b) -> Tensor";
  EXPECT_EQ(call_error("matmul", {t}), name + ": argument 'b' is missing: " + schema);
  EXPECT_EQ(call_error("matmul", {}), name + ": argument 'a' is missing: " + schema);
  EXPECT_EQ(call_error("matmul", {t, t, t}), name + ": 3 arguments, expected at most 2: " + schema);
  EXPECT_EQ(call_error("matmul", {t, t}, 2),
            name + ": 2 results were asked for, it gives 1: " + schema);
  EXPECT_EQ(call_error("matmul", {t, t}, 0),
            name + ": 0 results were asked for, it gives 1: " + schema);
  struct Row {
    const char* op;
    std::vector<tn_value> args;
    const char *argument, *found;
  };
  const Row rows[] = {
      {"matmul", {t, one}, "'b'", "int 1"},
      {"matmul", {t, null}, "'b'", "Tensor that is NULL"},
      {"matmul", {t, to_value(tn::none)}, "'b'", "None"},
      {"matmul", {list, t}, "'a'", "list of 1 Tensor"},
      {"matmul", {t, odd}, "'b'", "value of unknown kind 99"},
      {"add", {t, text}, "'y'", "str \"a\""},
      {"leaky_relu", {t, text}, "'negative_slope'", "str \"a\""},
      {"sum", {t, one}, "'dims'", "int 1"},
      {"transpose", {t, half, one}, "'dim0'", "float 0.5"},
      {"cat", {t}, "'xs'", "Tensor"},
      {"cat", {ints}, "'xs'", "list of 2 ints"},
      {"zeros", {ints, text}, "'dtype'", "str \"a\""},
      {"sum", {t, ints, one}, "'keepdim'", "int 1"},
  };
  // Of the right kind, and yet no value of it.
  const auto changed = [](tn_value v, auto change) {
    change(v);
    return v;
  };
  const tn_value yes = to_value(true), dtype = to_value(tn::float32);
  const tn_value hole = changed(list, [](tn_value& v) {
    static tn_tensor* const none[] = {nullptr};
    v.as.tensors = none;
  });
  const std::vector<Row> broken = {
      {"sum",
       {t, ints, changed(yes, [](tn_value& v) { v.as.i = 2; })},
       "'keepdim'",
       "bool 2, which is neither 0 nor 1"},
      {"sum",
       {t, changed(ints, [](tn_value& v) { v.as.ints = nullptr; })},
       "'dims'",
       "list of 2 ints that is NULL"},
      {"cat", {hole}, "'xs'", "list of 1 Tensor with None at [0]"},
      {"cat",
       {changed(list, [](tn_value& v) { v.as.tensors = nullptr; })},
       "'xs'",
       "list of 1 Tensor that is NULL"},
      {"zeros",
       {ints, changed(dtype, [](tn_value& v) { v.as.dtype = 12; })},
       "'dtype'",
       "dtype 12, which is none"},
      {"zeros",
       {ints, changed(dtype, [](tn_value& v) { v.as.dtype = -7; })},
       "'dtype'",
       "dtype -7, which is none"},
      {"gelu",
       {t, changed(text, [](tn_value& v) { v.as.string = nullptr; })},
       "'approximate'",
       "str that is NULL"},
      {"gelu",
       {t, changed(text, [](tn_value& v) { v.count = 4096; })},
       "'approximate'",
       "str of 1 bytes, which says that it has 4096"},
  };
  std::vector<Row> all(std::begin(rows), std::end(rows));
  all.insert(all.end(), broken.begin(), broken.end());
  for (const Row& row : all) {
    SCOPED_TRACE(std::string(row.op) + " " + row.found);
    std::string text = call_error(row.op, row.args);
    EXPECT_EQ(text.rfind(op_name(row.op) + ": ", 0), 0u) << text;
    EXPECT_NE(text.find(row.argument), std::string::npos) << text;
    EXPECT_NE(text.find(row.found), std::string::npos) << text;
  }
  // A younger caller's defaults: an int is a float where one is wanted, None where it is optional.
  EXPECT_EQ(call_error("leaky_relu", {t, one}), "");
  EXPECT_EQ(call_error("linear", {t, t, to_value(tn::none)}), "");
}

TEST_F(Call, PrimitivesAreOps) {
  using tn::detail::to_value;
  Tensor x = tn::ones({2, 3});
  const tn_value t = to_value(x), text = to_value("a");
  const auto primitive = [](tn_primitive kind, const std::vector<tn_value>& args) {
    tn_value result{};
    tn_status* status = tn::host()->call(tn::host()->primitive_op(kind), args.data(),
                                         uint32_t(args.size()), &result, 1);
    if (status == nullptr) {
      tn::host()->value_release(&result);
      return std::string();
    }
    std::string text = tn::host()->status_message(status);
    tn::host()->status_free(status);
    return text;
  };
  const auto says = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  says(primitive(TN_PRIM_MATMUL, {t}), "matmul: argument 'b' is missing");
  says(primitive(TN_PRIM_PERMUTE, {t, text}),
       "permute: argument 'dims' must be int[], got str \"a\"");
  says(primitive(TN_PRIM_SLICE, {t, to_value(0), to_value(0.5), to_value(1), to_value(1)}),
       "slice: argument 'start' must be int, got float 0.5");
  says(primitive(TN_PRIM_SORT, {t, to_value(0)}), "sort: 1 results were asked for, it gives 2");
  // A formula is an op of its own, and a kind that there is none of has none.
  for (const tn_primitive kind :
       std::vector<tn_primitive>{TN_PRIM_ELEMENTWISE, TN_PRIM_NONE, TN_N_PRIM_KERNELS, 77, -1})
    EXPECT_EQ(tn::host()->primitive_op(kind), nullptr) << kind;
  // What comes from outside is looked at as every op's arguments are.
  const tn_value sizes = to_value(tn::Ints{2});
  tn_value formula{TN_KIND_EXPRESSION, 0, {}}, hole{TN_KIND_TENSORS, 1, {}},
      list{TN_KIND_TENSORS, 1, {}}, odd = to_value(tn::float32), ref = to_value(tn::cpu);
  tn_tensor *const none[] = {nullptr}, *const one[] = {x.get()};
  hole.as.tensors = none;
  list.as.tensors = one;
  odd.as.dtype = 12;
  ref.as.device = {99, 0};
  const tn_value no_dims = to_value(tn::Ints{}), no = to_value(false), nothing = to_value(tn::none);
  says(primitive(TN_PRIM_REDUCE, {to_value(0), hole}),
       "reduce: argument 'xs' must be Tensor[], got list of 1 Tensor with None at [0]");
  says(primitive(TN_PRIM_REDUCE, {to_value(0), list, no_dims, no, formula}),
       "reduce: argument 'prologue' must be expression?, got expression that is NULL");
  const tn_op* op = nullptr;
  tn::check(tn::host()->find_op("matmul", &op));
  formula.as.expression = op;
  says(primitive(TN_PRIM_REDUCE, {to_value(0), list, no_dims, no, formula}),
       "matmul) is no expression");
  tn::check(tn::host()->find_op("square", &op));
  formula.as.expression = op;
  EXPECT_EQ(primitive(TN_PRIM_REDUCE, {to_value(0), list, no_dims, no, formula}), "");
  says(primitive(TN_PRIM_FILL, {sizes, to_value(0), odd}),
       "fill: argument 'dtype' must be dtype?, got dtype 12, which is none");
  says(primitive(TN_PRIM_COPY, {t, nothing, ref}), "copy: there is no device");
  says(primitive(TN_PRIM_FILL, {sizes}), "fill: argument 'value' is missing");
  // More than it takes, and fewer results than it gives, with and without a gradient.
  Tensor leaf = tn::ones({2, 3}).requires_grad_();
  const tn_value l = to_value(leaf), i = to_value(1);
  says(primitive(TN_PRIM_MATMUL, {t, t, t}), "matmul: 3 arguments, expected at most 2");
  says(primitive(TN_PRIM_MATMUL, {l, t, t}), "matmul: 3 arguments, expected at most 2");
  says(primitive(TN_PRIM_SLICE, {l, i, i, i, i, i}), "slice: 6 arguments, expected at most 5");
  tn_status* status =
      tn::host()->call(tn::host()->primitive_op(TN_PRIM_RESHAPE), nullptr, 0, nullptr, 0);
  says(tn::host()->status_message(status), "reshape: argument 'x' is missing");
  tn::host()->status_free(status);
}

// The ops with a leading underscore are parts of others, and anybody may call them.
TEST_F(Call, PrivateOpsLookAtTheirLists) {
  using tn::detail::to_value;
  Tensor x = tn::ones({2, 5});
  const tn_value t = to_value(x);
  const auto ints = [](std::initializer_list<int64_t> list) {
    static std::deque<std::vector<int64_t>> kept;
    kept.emplace_back(list);
    return to_value(tn::Ints(kept.back()));
  };
  const tn_value one = ints({1}), two = ints({2}), none = ints({}), both = ints({1, 1}),
                 minus = ints({-1}), zero = ints({0});
  const tn_value far = ints({INT64_MAX}), three = ints({1, 1, 1});
  struct Row {
    const char* op;
    std::vector<tn_value> args;
    const char* part;
  };
  for (const Row& row : std::vector<Row>{
           {"_windows",
            {t, two, two, one, none, one},
            "padding is [], expected 1 numbers of at least 0"},
           {"_windows", {t, two, both, one, zero, one}, "kernel is [1, 1]"},
           {"_windows", {t, two, two, zero, zero, one}, "stride is [0]"},
           {"_windows", {t, two, two, far, zero, one}, "reach further than any tensor"},
           {"_windows",
            {t, three, three, three, three, three},
            "windows of 3 dimensions for a tensor of 2"},
           {"_window_view", {t, minus, two, one, one}, "out is [-1]"},
           {"_window_view", {t, two, two, one, none}, "dilation is []"},
           {"_overlap_add", {t, both, both, both, both}, "expected at least 4 dimensions"},
           {"_overlap_add", {t, two, none, zero, one}, "stride is []"},
           {"_overlap_add", {t, two, one, far, one}, "reach further than any tensor"},
           {"_first_max", {t, none}, "dims are [], expected neighbours within 0 to 1"},
           {"_first_max", {t, minus}, "dims are [-1]"},
           {"_first_max", {t, ints({0, 2})}, "dims are [0, 2]"},
           {"_constant_pad", {t, ints({INT64_MIN, INT64_MAX}), to_value(0)}, "pad"},
       }) {
    SCOPED_TRACE(row.op);
    const std::string text = call_error(row.op, row.args);
    EXPECT_NE(text.find(row.part), std::string::npos) << text;
  }
}

// Tables of the host: what must be there is looked for.
TEST_F(Call, NullsAtTheBorderAreRefused) {
  const tn_host* h = tenon_host(TN_ABI_VERSION, nullptr);
  const auto* tensor = static_cast<const tn_tensor_api*>(h->get_interface("tensor/1"));
  const auto* autograd = static_cast<const tn_autograd_api*>(h->get_interface("autograd/1"));
  const auto* object = static_cast<const tn_object_api*>(h->get_interface("object/1"));
  const auto refused = [&](tn_status* status, const std::string& part) {
    ASSERT_NE(status, nullptr) << part;
    EXPECT_EQ(h->status_code(status), TN_INVALID_ARGUMENT);
    EXPECT_NE(std::string(h->status_message(status)).find(part), std::string::npos)
        << h->status_message(status);
    h->status_free(status);
  };
  const tn_op* op = nullptr;
  tn_value result{};
  refused(h->find_op(nullptr, &op), "the name is NULL");
  refused(h->call(nullptr, nullptr, 0, &result, 1),
          "call: the op, the arguments or the results are NULL");
  tn::check(tn::host()->find_op("add", &op));
  refused(h->call(op, nullptr, 2, &result, 1), "are NULL");
  const tn_op* e = nullptr;
  refused(h->expression("_f(Tensor x) -> Tensor", nullptr, &e), "formula is NULL");
  // However long what they quote is, messages are not.
  tn_status* unknown = h->find_op(std::string(100000, 'i').c_str(), &op);
  EXPECT_LE(std::string(h->status_message(unknown)).size(), 4096u);
  h->status_free(unknown);
  tn_value loop{TN_KIND_LOOP, 0, {}};
  refused(h->value_copy(&loop, &result), "value_copy: the value is loop");
  h->tensor_retain(nullptr);
  h->status_set_payload(nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(h->get_interface(nullptr), nullptr);

  tn_tensor* made = nullptr;
  refused(tensor->empty(2, nullptr, TN_FLOAT32, {0, 0}, &made), "sizes is NULL");
  Tensor x = tn::ones({2});
  refused(tensor->read(x.get(), nullptr, 8), "memory is NULL");
  refused(tensor->to(x.get(), {0, 0}, 12, &made), "dtype 12");
  tn_status* nowhere = tensor->to(x.get(), {0, 5}, TN_FLOAT32, &made);
  EXPECT_NE(nowhere, nullptr);
  h->status_free(nowhere);
  EXPECT_EQ(tensor->dtype_from_name(nullptr), TN_DTYPE_NONE);
  refused(autograd->backward(nullptr, nullptr, 2, 0), "list of tensors is NULL");
  refused(autograd->add_hook(x.get(), nullptr, nullptr, nullptr, nullptr), "function is NULL");
  EXPECT_EQ(autograd->node_n_next(nullptr), 0u);
  EXPECT_EQ(autograd->node_next(nullptr, 0), nullptr);

  tn_object* o = nullptr;
  refused(object->create(nullptr, nullptr, 0, &o), "the factory's name is NULL");
  const char* none[] = {nullptr};
  refused(object->create_named("Linear", none, &loop, 1, &o), "name 0 of 1 is NULL");
  refused(object->set_tensor(nullptr, "a", x.get(), TN_ENTRY_PARAMETER), "the object is NULL");
  refused(object->invoke(nullptr, "forward", nullptr, 0, nullptr, 0), "the object is NULL");
  tn::check(object->create_empty("Mine", TN_OBJECT_LAYER, &o));
  refused(object->set_tensor(o, nullptr, x.get(), TN_ENTRY_PARAMETER), "the name is NULL");
  refused(object->invoke(o, "forward", nullptr, 1, nullptr, 0), "list of arguments is NULL");
  refused(object->add_method(o, "f() -> ()", nullptr, nullptr, nullptr), "function is NULL");
  refused(object->load_state(o, none, nullptr, 1, 1), "list of tensors is NULL");
  EXPECT_EQ(object->n_children(nullptr), 0u);
  object->release(o);
}

TEST_F(Call, TheHostSaysWhyItGivesNothing) {
  const char* why = nullptr;
  EXPECT_EQ(tenon_host(TN_ABI_VERSION + 1, &why), nullptr);
  const std::string own =
      "has ABI " + std::to_string(TN_ABI_MAJOR) + "." + std::to_string(TN_ABI_MINOR);
  EXPECT_NE(std::string(why).find(own), std::string::npos) << why;
  EXPECT_EQ(tenon_host(TN_ABI_VERSION + 1, nullptr), nullptr);
  EXPECT_NE(tenon_host(TN_ABI_VERSION, nullptr), nullptr);
}

TEST_F(Call, NullsInPlaceOfAResultAreRefused) {
  const tn_host* h = tenon_host(TN_ABI_VERSION, nullptr);
  const auto* tensor = static_cast<const tn_tensor_api*>(h->get_interface("tensor/1"));
  const auto* device = static_cast<const tn_device_api*>(h->get_interface("device/1"));
  const auto* capture = static_cast<const tn_capture_api*>(h->get_interface("capture/1"));
  const auto* autograd = static_cast<const tn_autograd_api*>(h->get_interface("autograd/1"));
  const auto* random = static_cast<const tn_random_api*>(h->get_interface("random/1"));
  const auto* object = static_cast<const tn_object_api*>(h->get_interface("object/1"));
  const auto* plugin = static_cast<const tn_plugin_api*>(h->get_interface("plugin/1"));
  const auto* explain = static_cast<const tn_explain_api*>(h->get_interface("explain/1"));
  const auto refused = [&](tn_status* status, const std::string& message) {
    ASSERT_NE(status, nullptr) << message;
    EXPECT_EQ(h->status_code(status), TN_INVALID_ARGUMENT);
    EXPECT_STREQ(h->status_message(status), message.c_str());
    h->status_free(status);
  };
  const auto no_place = [&](tn_status* status, const std::string& what) {
    refused(status, what + ": the place for the result is NULL");
  };
  tn_value value{TN_KIND_INT, 0, {}};
  no_place(h->find_op("add", nullptr), "find_op");
  no_place(h->expression("_f(Tensor x) -> Tensor", "x", nullptr), "expression");
  no_place(h->value_copy(&value, nullptr), "value_copy");
  refused(h->value_copy(nullptr, &value), "value_copy: the value is NULL");
  const std::string either = ": the call or the place for the result is NULL";
  void* data = nullptr;
  const tn_call* kept = nullptr;
  const tn_call call = {};
  refused(h->workspace(nullptr, 1, &data), "workspace" + either);
  refused(h->workspace(&call, 1, nullptr), "workspace" + either);
  refused(h->keep(nullptr, &kept), "keep" + either);
  refused(h->keep(&call, nullptr), "keep" + either);
  refused(h->set_output(nullptr, 0, 0, nullptr), "set_output: the call is NULL");
  refused(h->set_output(&call, 0, 1, nullptr), "set_output: sizes is NULL, with 1 dimensions");
  refused(h->set_output(&call, 0, -1, nullptr), "set_output: -1 dimensions");

  Tensor x = tn::ones({2});
  const int64_t sizes[] = {2};
  float memory[2] = {};
  no_place(tensor->empty(1, sizes, TN_FLOAT32, {0, 0}, nullptr), "empty");
  no_place(tensor->from_memory(memory, 1, sizes, nullptr, TN_FLOAT32, nullptr, nullptr, nullptr),
           "from_memory");
  no_place(tensor->to(x.get(), {0, 0}, TN_FLOAT64, nullptr), "to");
  no_place(tensor->mutable_data(x.get(), nullptr), "mutable_data");
  no_place(tensor->detach(x.get(), nullptr), "detach");
  no_place(tensor->to_dlpack(x.get(), 0, nullptr), "to_dlpack");
  no_place(tensor->from_dlpack(memory, nullptr), "from_dlpack");
  no_place(device->parse("cpu", nullptr), "parse");
  no_place(device->stream_create({0, 0}, nullptr), "stream_create");
  no_place(device->current_stream({0, 0}, nullptr), "current_stream");
  no_place(device->memory_stats({0, 0}, nullptr), "memory_stats");
  no_place(capture->end(nullptr), "capture_end");
  refused(capture->launch(nullptr, {0, 0}), "capture_launch: the graph is NULL");
  capture->destroy(nullptr);
  no_place(autograd->custom_saved(0, nullptr), "custom_saved");
  random->get_state(nullptr, nullptr);
  no_place(plugin->list(nullptr), "list");
  no_place(plugin->ops(nullptr), "ops");
  explain->begin();
  no_place(explain->end(nullptr), "explain_end");
  const char* text = nullptr;
  tn::check(explain->end(&text));
  h->text_free(text);

  tn_object* o = nullptr;
  const char* name = nullptr;
  no_place(object->create("ReLU", nullptr, 0, nullptr), "create");
  no_place(object->create_named("ReLU", nullptr, nullptr, 0, nullptr), "create_named");
  no_place(object->create_empty("Mine", TN_OBJECT_LAYER, nullptr), "create_empty");
  tn::check(object->create_empty("Mine", TN_OBJECT_LAYER, &o));
  no_place(object->tensor(o, "weight", nullptr), "tensor");
  no_place(object->child(o, "0", nullptr), "child");
  no_place(object->child_at(o, 0, &name, nullptr), "child_at");
  refused(object->child_at(o, 0, nullptr, &o), "child_at: the place for the name is NULL");
  no_place(object->option(o, "lr", nullptr), "option");
  no_place(object->method_schema(o, "forward", nullptr), "method_schema");
  refused(object->describe(o, nullptr), "describe: the place for the text is NULL");
  uint32_t n = 0;
  refused(object->group(o, 0, nullptr, &n), "group: the place for the tensors is NULL");
  tn_tensor* const* borrowed = nullptr;
  refused(object->group(o, 0, &borrowed, nullptr), "group: the place for their number is NULL");
  no_place(object->group_option(o, 0, "lr", nullptr), "group_option");
  object->release(o);
}

}  // namespace
