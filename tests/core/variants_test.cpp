// Ops with variants: how their text is read, which formula takes a call, and that kernels,
// derivatives and results are of the op that was called. No plugins: definitions are staged by hand.
#include "registry/variants.h"

#include <gtest/gtest.h>

#include "call/call.h"
#include "staging_support.h"
#include "memory/memory.h"
#include "value_support.h"

namespace tenon {
namespace {

// "op 't.f': what is wrong"
std::string refusal(const char* expression) {
  constexpr std::string_view kCause = "\n  because ";
  StagedOps staged;
  std::string text = text_of(stage_op(
      op_def("f(Tensor x, Tensor? y=None, number k=1, str? mode=None) -> Tensor", expression), "t",
      &staged));
  if (const size_t at = text.find(kCause); at != text.npos) text.replace(at, kCause.size(), ": ");
  return text;
}

TEST(Variants, RefusalsNameThePlace) {
  EXPECT_EQ(refusal("x\nwhen z is None: x"),
            "op 't.f': f: line 2, column 6: there is no argument 'z'");
  EXPECT_EQ(refusal("x\nwhen k: x"),
            "op 't.f': f: line 2, column 7: expected '==', '!=' or 'is', "
            "found ':'");
  EXPECT_EQ(refusal("x\nwhen k is None: x"),
            "op 't.f': f: line 2, column 11: 'k' is number, which is never None");
  EXPECT_EQ(refusal("x\nwhen k == 'a': x"),
            "op 't.f': f: line 2, column 11: 'k' is number, which is never 'a'");
  EXPECT_EQ(refusal("x\nwhen mode == 3: x"),
            "op 't.f': f: line 2, column 14: 'mode' is str?, which is never 3");
  EXPECT_EQ(refusal("x\nwhen mode == floor: x"),
            "op 't.f': f: line 2, column 14: expected a number, a string in quotes, True or False, "
            "found 'floor'");
  EXPECT_EQ(refusal("x\nwhen y is not Tensor: x"),
            "op 't.f': f: line 2, column 15: expected 'None', found 'Tensor'");
  EXPECT_EQ(refusal("x\nwhen k == 2 or k == 3: x"),
            "op 't.f': f: line 2, column 13: expected 'and' or ':', found 'or'");
  EXPECT_EQ(refusal("x\nwhen k == 2: error"),
            "op 't.f': f: line 2, column 19: expected the text of the error in quotes, found the "
            "end");
  EXPECT_EQ(refusal("x\nwhen k == 2: x +"),
            "op 't.f': f: line 2, column 17: expected a value, found the end");
  EXPECT_EQ(refusal("x\nwhen k == 2:"),
            "op 't.f': f: the schema has 1 result, the expression 0 formulas");
  EXPECT_EQ(refusal("when k == 2: x"),
            "op 't.f': f: the schema has 1 result, the expression 0 formulas");
  EXPECT_EQ(refusal("x + mode"),
            "op 't.f': f: argument 'y' is Tensor?; an expression takes Tensor, "
            "int, float, bool and number");
  Schema schema;
  ASSERT_EQ(text_of(parse_schema("f(Tensor x) -> Tensor", &schema)), "");
  std::unique_ptr<Expression> e;
  EXPECT_EQ(text_of(Expression::parse(schema, "x\nwhen k == 2: x", &e)),
            "f: line 2, column 1: 'when' is for an op that has a name");
}

TEST(Variants, AreFormulasOfTheArgumentsThatTheyName) {
  ASSERT_EQ(bring("shape", op_def("f(Tensor x, Tensor? y=None, number k=1) -> Tensor",
                                  "x\n when y is number and k != 1: x + k * y\n"
                                  " when y is Tensor: x * y\n dx = g\n when k == 7: error 'no'")),
            "");
  const Op& op = *find_op("shape.f");
  EXPECT_EQ(op.n_direct, 1u);
  EXPECT_EQ(op.map.n_operands, 1);
  ASSERT_EQ(op.variants->entries.size(), 3u);
  const Op& scaled = *op.variants->entries[0].op;
  EXPECT_EQ(schema_text(scaled.expression->schema()),
            "f(Tensor x, number y, number k=1) -> Tensor");
  EXPECT_EQ(schema_text(scaled.schema), schema_text(op.schema));
  EXPECT_EQ(scaled.name, "shape.f");
  EXPECT_EQ(schema_text(op.variants->entries[1].op->expression->schema()),
            "f(Tensor x, Tensor y) -> Tensor");
  EXPECT_EQ(op.variants->entries[2].op, nullptr);
  EXPECT_EQ(op.variants->entries[2].error, "no");
}

// The kernel of `f` notes what it got; where it refuses, so does the call's evaluator, of which the
// host has none here.
struct Got {
  int launches = 0;
  std::vector<double> numbers;  // of the arguments behind x
};
Got got;

tn_kernel_def noting(const char* op) {
  tn_kernel_def def{};
  def.size = sizeof(def);
  def.op = op;
  def.device = "cpu";
  def.launch = [](void*, const tn_call* call) -> Status {
    ++got.launches;
    got.numbers.clear();
    for (uint32_t i = 1; i < call->n_args; ++i) {
      const tn_value& v = call->args[i];
      got.numbers.push_back(v.kind == TN_KIND_FLOAT ? v.as.f : static_cast<double>(v.as.i));
    }
    return nullptr;
  };
  return def;
}

std::string run(const char* op, std::vector<tn_value> rest) {
  Tensor* x;
  free_status(empty_tensor(std::vector<int64_t>{2}, TN_FLOAT32, kCpu, &x));
  const TensorRef hold(x);
  rest.insert(rest.begin(), tensor_value(x));
  tn_value result{};
  const std::string failed =
      text_of(call(find_op(op), rest.data(), static_cast<uint32_t>(rest.size()), &result, 1));
  release_value(&result);
  return failed;
}

TEST(Variants, AKernelByABareNameGetsAllArgumentsInEachOfThem) {
  ASSERT_EQ(bring("all",
                  op_def("f(Tensor x, number k=1, number b=0) -> Tensor",
                         "x\n when k != 1: x * k\n when b == 5: x + b"),
                  {noting("f")}),
            "");
  got = {};
  EXPECT_EQ(run("all.f", {}), "");
  EXPECT_EQ(got.numbers, (std::vector<double>{1, 0}));
  EXPECT_EQ(run("all.f", {int_value(1)}), "");
  EXPECT_EQ(got.numbers, (std::vector<double>{1, 0}));
  EXPECT_EQ(run("all.f", {float_value(2.5)}), "");
  EXPECT_EQ(got.numbers, (std::vector<double>{2.5, 0}));
  EXPECT_EQ(run("all.f", {bool_value(true), int_value(5)}), "");
  EXPECT_EQ(got.numbers, (std::vector<double>{1, 5}));
  EXPECT_EQ(got.launches, 4);
}

TEST(Variants, AKernelOfAnOlderSchemaTakesThePlainFormulaAlone) {
  ASSERT_EQ(bring("old", op_def("f(Tensor x, number k=1) -> Tensor", "x\n when k != 1: x * k"),
                  {noting("f(Tensor x) -> Tensor")}),
            "");
  got = {};
  EXPECT_EQ(run("old.f", {}), "");
  EXPECT_EQ(run("old.f", {float_value(1)}), "") << "the default said aloud is the default";
  EXPECT_EQ(got.launches, 2);
  EXPECT_EQ(got.numbers, std::vector<double>());
  EXPECT_NE(run("old.f", {int_value(2)}), "") << "this host has no evaluator of formulas";
  EXPECT_EQ(got.launches, 2);
}

TEST(Variants, AKernelThatComesLaterServesThemToo) {
  ASSERT_EQ(bring("late", op_def("f(Tensor x, number k=1) -> Tensor", "x\n when k != 1: x * k")),
            "");
  StagedOps staged;
  ASSERT_EQ(text_of(stage_kernel(noting("late.f"), "helper", &staged)), "");
  ASSERT_EQ(text_of(registry().check(staged)), "");
  registry().commit(std::move(staged));
  got = {};
  EXPECT_EQ(run("late.f", {int_value(3)}), "");
  EXPECT_EQ(run("late.f", {}), "");
  EXPECT_EQ(got.launches, 2);
}

TEST(Variants, RefusalsSayWhatWasFoundAndWhatIsExpected) {
  ASSERT_EQ(bring("strict2",
                  op_def("f(Tensor x, str? mode=None, number k=1, float? low=None, "
                         "float? high=None) -> Tensor",
                         "x\n when mode == 'up': ceil(x)\n when mode == 'down': floor(x)"
                         "\n when k == 2: x + x\n when k == 4: x + low\n"
                         " when low == 0 and high == 0: error 'expected a range'"),
                  {noting("f")}),
            "");
  const tn_value none{};
  EXPECT_EQ(run("strict2.f", {string_value("in")}),
            "f: mode is 'in'; expected None, 'up' or 'down'");
  EXPECT_EQ(run("strict2.f", {none, int_value(3)}), "f: k is int 3, for which it has no formula");
  EXPECT_EQ(run("strict2.f", {none, int_value(4)}), "f: low is None, for which it has no formula");
  EXPECT_EQ(run("strict2.f", {none, int_value(1), float_value(0), int_value(0)}),
            "f: low is float 0.0, high is int 0; expected a range");
  EXPECT_EQ(run("strict2.f", {int_value(2)}), "f: argument 'mode' must be str?, got int 2");
  EXPECT_EQ(
      run("strict2.f", {none, none, none, none, none}),
      "strict2.f: 6 arguments, expected at most 5: " + schema_text(find_op("strict2.f")->schema));
}

TEST(Variants, AskAtEachCallWhereTheyAskForWhatThePlainFormulaReads) {
  ASSERT_EQ(
      bring("each", op_def("f(Tensor x, Tensor? y=None) -> Tensor", "x + y\n when y is None: x"),
            {noting("f")}),
      "");
  EXPECT_EQ(find_op("each.f")->n_direct, kNoDirectCall);
  got = {};
  EXPECT_EQ(run("each.f", {}), "");
  EXPECT_EQ(run("each.f", {int_value(3)}), "");
  EXPECT_EQ(got.numbers, std::vector<double>{3});
  EXPECT_EQ(got.launches, 2);
  // As many arguments as no call has.
  tn_value result{};
  EXPECT_NE(text_of(call(find_op("each.f"), nullptr, UINT32_MAX, &result, 1)), "");
}

TEST(Variants, AVjpIsTheirsAndGetsAllArguments) {
  static std::vector<uint32_t> counts;
  ASSERT_EQ(bring("vjp", op_def("f(Tensor x, number k=1) -> Tensor", "x\n when k != 1: x * k")),
            "");
  StagedOps staged;
  const auto fn = [](void*, const tn_vjp_call* call) -> Status {
    counts.push_back(call->n_args);
    return nullptr;
  };
  ASSERT_EQ(text_of(stage_vjp("vjp.f", fn, nullptr, "vjp", &staged)), "");
  ASSERT_EQ(text_of(registry().check(staged)), "");
  registry().commit(std::move(staged));
  const Op& op = *find_op("vjp.f");
  EXPECT_EQ(op.vjp, static_cast<tn_vjp_fn>(fn));
  EXPECT_EQ(op.variants->entries[0].op->vjp, static_cast<tn_vjp_fn>(fn));
}

}  // namespace
}  // namespace tenon
