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
    for (const std::string& part :
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
  // With its pack, but for the standard one.
  const std::string shown = (renamed_ops() ? "renamed." : "") + name;
  EXPECT_EQ(call_error("matmul", {t}), shown + ": argument 'b' is missing: " + schema);
  EXPECT_EQ(call_error("matmul", {}), shown + ": argument 'a' is missing: " + schema);
  EXPECT_EQ(call_error("matmul", {t, t, t}),
            shown + ": 3 arguments, expected at most 2: " + schema);
  EXPECT_EQ(call_error("matmul", {t, t}, 2),
            shown + ": 2 results were asked for, it gives 1: " + schema);
  EXPECT_EQ(call_error("matmul", {t, t}, 0),
            shown + ": 0 results were asked for, it gives 1: " + schema);
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
      {"sum", {t, one}, "'dim'", "int 1"},
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
       "'dim'",
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
       "str of 1 bytes in front of a zero byte, which says that it has 4096"},
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

}  // namespace
