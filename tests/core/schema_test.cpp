// The schema language: what it takes, what it gives back, what it says when it refuses; and the
// check of values.
#include "schema/schema.h"

#include <cmath>
#include <utility>

#include <gtest/gtest.h>

namespace tenon {
namespace {

Schema parsed(std::string_view text) {
  Schema schema;
  const Status status = parse_schema(text, &schema);
  EXPECT_EQ(status, nullptr) << status_text(status);
  free_status(status);
  return schema;
}

std::string refusal(std::string_view text) {
  Schema schema;
  StatusHolder status(parse_schema(text, &schema));
  EXPECT_TRUE(schema.name.empty()) << "a refused schema was written: " << text;
  if (!status) return "taken";
  EXPECT_EQ(status.get()->code, TN_INVALID_ARGUMENT);
  return status_text(status.get());
}

TEST(SchemaParser, ReadsTheExampleOfTheDesign) {
  const Schema s = parsed(
      "op(Tensor x, Tensor? weight, Tensor[] xs, int[] dims=[], float eps=1e-5, str mode=\"mean\") "
      "-> (Tensor, Tensor)");
  EXPECT_EQ(s.name, "op");
  ASSERT_EQ(s.arguments.size(), 6u);
  EXPECT_EQ(s.arguments[0].type, Type::kTensor);
  EXPECT_FALSE(s.arguments[0].optional);
  EXPECT_TRUE(s.arguments[1].optional);
  EXPECT_FALSE(s.arguments[1].has_default);
  EXPECT_TRUE(s.arguments[2].list);
  EXPECT_EQ(s.arguments[3].type, Type::kInt);
  EXPECT_EQ(s.arguments[3].default_value.kind, uint32_t{TN_KIND_INTS});
  EXPECT_EQ(s.arguments[3].default_value.count, 0u);
  EXPECT_EQ(s.arguments[4].default_value.kind, uint32_t{TN_KIND_FLOAT});
  EXPECT_EQ(s.arguments[4].default_value.as.f, 1e-5);
  EXPECT_EQ(s.arguments[5].type, Type::kString);
  EXPECT_STREQ(s.arguments[5].default_value.as.string, "mean");
  EXPECT_EQ(s.arguments[5].default_value.count, 4u);
  ASSERT_EQ(s.returns.size(), 2u);
  EXPECT_EQ(s.find("eps"), 4);
  EXPECT_EQ(s.find("epsilon"), -1);
}

TEST(SchemaParser, ReadsEveryTypeAndMark) {
  const Schema s = parsed(
      "pack.op_(Tensor(a!) x, Tensor?[] ys, Tensor(b!)[] zs, int i, float f, bool b, number n, str "
      "s, dtype d, device v, "
      "object o, int[]? dims, dynamic float lr=1e-3) -> Tensor(a!)");
  EXPECT_EQ(s.name, "pack.op_");
  EXPECT_EQ(s.arguments[0].alias, 'a');
  EXPECT_TRUE(s.arguments[0].written);
  EXPECT_TRUE(s.arguments[1].list && s.arguments[1].optional_entries && !s.arguments[1].optional);
  EXPECT_TRUE(s.arguments[2].list && s.arguments[2].written);
  const Type types[] = {Type::kInt,    Type::kFloat, Type::kBool,   Type::kNumber,
                        Type::kString, Type::kDtype, Type::kDevice, Type::kObject};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(s.arguments[3 + i].type, types[i]);
  EXPECT_TRUE(s.arguments[11].list && s.arguments[11].optional &&
              !s.arguments[11].optional_entries);
  EXPECT_TRUE(s.arguments[12].is_dynamic);
  EXPECT_EQ(s.arguments[12].default_value.as.f, 1e-3);
  EXPECT_EQ(s.returns[0].alias, 'a');
}

TEST(SchemaParser, ReadsEveryDefault) {
  const Schema s = parsed(
      "f(Tensor? w=None, int i=-3, float x=2, float y=-inf, float z=nan, bool t=True, number n=1, "
      "number m=1.5, number b=False, "
      "str q='a \\'b\\' \\\\ \\n', dtype d=bfloat16, dtype? e=None, int[] l=[1, -2], float[] r=[1, "
      ".5e1], "
      "str[] names=[\"a\", \"b\"], Tensor[] ts=[], device? dev=None)");
  const auto& a = s.arguments;
  EXPECT_EQ(a[0].default_value.kind, uint32_t{TN_KIND_NONE});
  EXPECT_EQ(a[1].default_value.as.i, -3);
  EXPECT_EQ(a[2].default_value.kind, uint32_t{TN_KIND_FLOAT});
  EXPECT_EQ(a[2].default_value.as.f, 2.0);
  EXPECT_EQ(a[3].default_value.as.f, -INFINITY);
  EXPECT_TRUE(std::isnan(a[4].default_value.as.f));
  EXPECT_EQ(a[5].default_value.kind, uint32_t{TN_KIND_BOOL});
  EXPECT_EQ(a[5].default_value.as.i, 1);
  EXPECT_EQ(a[6].default_value.kind, uint32_t{TN_KIND_INT});
  EXPECT_EQ(a[7].default_value.kind, uint32_t{TN_KIND_FLOAT});
  EXPECT_EQ(a[8].default_value.kind, uint32_t{TN_KIND_BOOL});
  EXPECT_STREQ(a[9].default_value.as.string, "a 'b' \\ \n");
  EXPECT_EQ(a[10].default_value.as.dtype, TN_BFLOAT16);
  ASSERT_EQ(a[12].default_value.count, 2u);
  EXPECT_EQ(a[12].default_value.as.ints[1], -2);
  ASSERT_EQ(a[13].default_value.count, 2u);
  EXPECT_EQ(a[13].default_value.as.floats[1], 5.0);
  ASSERT_EQ(a[14].default_value.count, 2u);
  EXPECT_STREQ(a[14].default_value.as.strings[1], "b");
  EXPECT_EQ(a[15].default_value.kind, uint32_t{TN_KIND_TENSORS});
}

TEST(SchemaParser, ReadsEveryFormOfReturns) {
  EXPECT_FALSE(parsed("Linear(int in_features)").has_returns);
  const Schema nothing = parsed("step(Tensor x) -> ()");
  EXPECT_TRUE(nothing.has_returns && nothing.returns.empty());
  EXPECT_EQ(parsed("f() -> object").returns[0].type, Type::kObject);
  EXPECT_TRUE(parsed("f() -> str[]").returns[0].list);
  const Schema named = parsed("max(Tensor x) -> (Tensor values, Tensor indices)");
  EXPECT_EQ(named.returns[0].name, "values");
  EXPECT_EQ(named.returns[1].name, "indices");
  EXPECT_EQ(parsed("view(Tensor(a) x) -> Tensor(a)").returns[0].alias, 'a');
}

TEST(SchemaParser, NormalizesTheText) {
  const char* texts[][2] = {
      {" f ( Tensor x,int[]dims = [ 1,2 ] )->Tensor ", "f(Tensor x, int[] dims=[1, 2]) -> Tensor"},
      {"f(float a=1,float b=1e-5,number n=1,number m=1.0)",
       "f(float a=1.0, float b=1e-05, number n=1, number m=1.0)"},
      {"f(Tensor?[] t, Tensor(a!)[]? u=None, dynamic float lr=0.5) -> ()",
       "f(Tensor?[] t, Tensor(a!)[]? u=None, dynamic float lr=0.5) -> ()"},
      {"f(str s='\"', str[] l=['a'], dtype d=float16, bool b=True) -> (Tensor v, Tensor i)",
       "f(str s=\"\\\"\", str[] l=[\"a\"], dtype d=float16, bool b=True) -> (Tensor v, Tensor i)"}};
  for (const auto& [text, normalized] : texts) {
    EXPECT_EQ(schema_text(parsed(text)), normalized);
    EXPECT_EQ(schema_text(parsed(normalized)), normalized);
  }
}

TEST(SchemaParser, DefaultsSurviveMovesAndClones) {
  const char* text = "f(str s=\"mean\", int[] l=[1, 2], float[] r=[0.5], str[] n=[\"a\", \"b\"])";
  Schema first = parsed(text);
  Schema copy = first.clone();
  Schema moved = std::move(first);
  first = Schema();
  EXPECT_EQ(schema_text(moved), text);
  const char* before = moved.arguments[0].default_value.as.string;
  moved = Schema();
  EXPECT_EQ(schema_text(copy), text);
  EXPECT_NE(copy.arguments[0].default_value.as.string, before);
}

TEST(SchemaParser, RefusalsNameTheColumnAndWhatIsExpected) {
  EXPECT_EQ(refusal("op(Tensr x)"),
            "schema 'op(Tensr x)': column 4: unknown type 'Tensr'; did you mean 'Tensor'?");
  const std::pair<const char*, const char*> rows[] = {
      {"", "column 1: expected the name of the op, found the end"},
      {"9op()", "column 1: expected the name of the op, found '9'"},
      {"op", "column 3: expected '(', found the end"},
      {"op(Tensor x", "column 12: expected ',' or ')', found the end"},
      {"op(Tensor)", "column 10: expected a name, found ')'"},
      {"op(Tensor x,)", "column 13: expected a type, found ')'"},
      {"op(Tensor x) Tensor", "column 14: expected '->' or the end, found 'T'"},
      {"op(Tensor x) -> ", "column 17: expected a type, found the end"},
      {"op(Tensor x) -> (Tensor", "column 24: expected ',' or ')', found the end"},
      {"op(int(a) x)", "column 4: only a Tensor has an alias, not int"},
      {"op(Tensor(1) x)", "column 11: expected a letter a to z, found '1'"},
      {"op(int|str x)", "column 7: a str may stand for int[] alone, not for int"},
      {"op(int[]|int x)", "column 10: expected str, found 'i'"},
      {"op(bool[] x)", "column 4: there are no lists of bool"},
      {"op(int?[] x)",
       "column 4: only Tensor?[] has optional entries; write int[]? for an optional list"},
      {"op(dynamic Tensor x)",
       "column 11: only int, float, bool and number can be dynamic, not Tensor"},
      {"op(int x, int x)", "column 15: a second argument 'x'"},
      {"op(int x=1, int y)",
       "column 17: argument 'y' without a default follows 'x', which has one"},
      {"op(Tensor x=None)", "column 13: None needs the type Tensor?"},
      {"op(Tensor x=1)", "column 13: a default of type Tensor can only be None"},
      {"op(int x=1.5)", "column 10: expected a default of type int, found '1'"},
      {"op(int x=True)", "column 10: expected a default of type int, found 'T'"},
      {"op(bool x=1)", "column 11: expected a default of type bool, found '1'"},
      {"op(float x=one)", "column 12: expected a default of type float, found 'o'"},
      {"op(float x=1e)", "column 12: expected a default of type float, found '1'"},
      {"op(int x=99999999999999999999)", "column 10: 99999999999999999999 is out of range"},
      {"op(int[] x=1)", "column 12: expected a default of type int[], found '1'"},
      {"op(int[] x=[1)", "column 14: expected ',' or ']', found ')'"},
      {"op(Tensor[] x=[1])", "column 16: a default of type Tensor[] can only be empty"},
      {"op(str x=mean)", "column 10: expected a default of type str, found 'm'"},
      {"op(str x=\"mean)", "column 10: the string has no end"},
      {"op(str x=\"\\q\")", "column 11: unknown escape '\\q'"},
      {"op(dtype d=float23)", "column 12: unknown dtype 'float23'; did you mean 'float32'?"},
      {"op(Tensor x) -> Tensor(a!)", "column 17: no argument is Tensor(a!)"},
      {"op(Tensor(a) x) -> Tensor(a!)", "column 20: no argument is Tensor(a!)"},
      {"op() -> (Tensor a, Tensor a)", "column 27: a second result 'a'"},
  };
  for (const auto& [text, message] : rows) {
    EXPECT_EQ(refusal(text), std::string("schema '") + text + "': " + message);
  }
}

TEST(SchemaParser, RefusesTextsThatAreTooLong) {
  EXPECT_NE(refusal(std::string(20000, 'a')).find("20000 characters, at most 16384 are taken"),
            std::string::npos);
  std::string many = "op(int a0";
  for (int i = 1; i < 65; ++i) many += ", int a" + std::to_string(i);
  EXPECT_NE(refusal(many + ")").find("more than 32 arguments"), std::string::npos);
}

tn_value value_of(uint32_t kind) {
  tn_value value{};
  value.kind = kind;
  return value;
}

class ValueCheck : public testing::Test {
 protected:
  Schema schema_ = parsed(
      "f(Tensor t, Tensor? o, Tensor[] l, Tensor?[] m, int i, float f, bool b, number n, str s, "
      "dtype d, device v, object q, "
      "int[] k, float[] r, str[] w, int[]? p, int[]|str z)");

  std::string check(const char* name, const tn_value& value, bool numbers_as_tensors = false) {
    StatusHolder status(
        check_value(schema_, schema_.arguments[schema_.find(name)], value, numbers_as_tensors));
    return status ? status_text(status.get()) : "";
  }
};

TEST_F(ValueCheck, TakesWhatFits) {
  tn_tensor tensor{};
  tn_tensor* tensors[] = {&tensor, nullptr};
  tn_value t = value_of(TN_KIND_TENSOR);
  t.as.tensor = &tensor;
  EXPECT_EQ(check("t", t), "");
  EXPECT_EQ(check("o", t), "");
  EXPECT_EQ(check("o", value_of(TN_KIND_NONE)), "");
  tn_value l = value_of(TN_KIND_TENSORS);
  l.as.tensors = tensors;
  l.count = 1;
  EXPECT_EQ(check("l", l), "");
  l.count = 2;
  EXPECT_EQ(check("m", l), "");
  tn_value word = value_of(TN_KIND_STRING);
  word.as.string = "same";
  word.count = 4;
  EXPECT_EQ(check("z", word), "");
  EXPECT_EQ(check("k", word), "f: argument 'k' must be int[], got str \"same\"");
  const int64_t numbers[] = {1, 2};
  tn_value list = value_of(TN_KIND_INTS);
  list.as.ints = numbers;
  list.count = 2;
  EXPECT_EQ(check("z", list), "");
  EXPECT_EQ(check("z", value_of(TN_KIND_INT)), "f: argument 'z' must be int[]|str, got int 0");
  EXPECT_EQ(check("i", value_of(TN_KIND_INT)), "");
  EXPECT_EQ(check("f", value_of(TN_KIND_FLOAT)), "");
  EXPECT_EQ(check("f", value_of(TN_KIND_INT)), "");
  EXPECT_EQ(check("b", value_of(TN_KIND_BOOL)), "");
  for (uint32_t kind : {TN_KIND_INT, TN_KIND_FLOAT, TN_KIND_BOOL}) {
    EXPECT_EQ(check("n", value_of(kind)), "");
    EXPECT_EQ(check("t", value_of(kind), /*numbers_as_tensors=*/true), "");
  }
  tn_value s = value_of(TN_KIND_STRING);
  s.as.string = "";
  EXPECT_EQ(check("s", s), "");
  EXPECT_EQ(check("d", value_of(TN_KIND_DTYPE)), "");
  EXPECT_EQ(check("v", value_of(TN_KIND_DEVICE)), "");
  EXPECT_EQ(check("k", value_of(TN_KIND_INTS)), "");
  EXPECT_EQ(check("r", value_of(TN_KIND_FLOATS)), "");
  EXPECT_EQ(check("w", value_of(TN_KIND_STRINGS)), "");
  EXPECT_EQ(check("p", value_of(TN_KIND_NONE)), "");
}

TEST_F(ValueCheck, RefusesWhatDoesNotFitAndSaysWhatCame) {
  tn_tensor tensor{};
  tn_tensor* tensors[] = {&tensor, nullptr};
  const int64_t ints[] = {1, 2};
  tn_value t = value_of(TN_KIND_TENSOR);
  t.as.tensor = &tensor;
  tn_value l = value_of(TN_KIND_TENSORS);
  l.as.tensors = tensors;
  l.count = 2;
  tn_value f = value_of(TN_KIND_FLOAT);
  f.as.f = 2;
  tn_value b = value_of(TN_KIND_BOOL);
  b.as.i = 1;
  tn_value i = value_of(TN_KIND_INT);
  i.as.i = 7;
  tn_value k = value_of(TN_KIND_INTS);
  k.as.ints = ints;
  k.count = 2;
  tn_value s = value_of(TN_KIND_STRING);
  s.as.string = "sum";
  s.count = 3;
  tn_value d = value_of(TN_KIND_DTYPE);
  d.as.dtype = 99;
  EXPECT_EQ(check("t", value_of(TN_KIND_NONE)), "f: argument 't' must be Tensor, got None");
  EXPECT_EQ(check("t", value_of(TN_KIND_TENSOR)),
            "f: argument 't' must be Tensor, got Tensor that is NULL");
  EXPECT_EQ(check("t", f), "f: argument 't' must be Tensor, got float 2.0");
  EXPECT_EQ(check("o", l), "f: argument 'o' must be Tensor?, got list of 2 Tensors");
  EXPECT_EQ(check("l", t), "f: argument 'l' must be Tensor[], got Tensor");
  EXPECT_EQ(check("l", l),
            "f: argument 'l' must be Tensor[], got list of 2 Tensors with None at [1]");
  EXPECT_EQ(check("i", f), "f: argument 'i' must be int, got float 2.0");
  EXPECT_EQ(check("i", b), "f: argument 'i' must be int, got bool True");
  EXPECT_EQ(check("i", k), "f: argument 'i' must be int, got list of 2 ints");
  EXPECT_EQ(check("f", b), "f: argument 'f' must be float, got bool True");
  EXPECT_EQ(check("b", i), "f: argument 'b' must be bool, got int 7");
  EXPECT_EQ(check("n", s), "f: argument 'n' must be number, got str \"sum\"");
  EXPECT_EQ(check("s", i), "f: argument 's' must be str, got int 7");
  EXPECT_EQ(check("d", d), "f: argument 'd' must be dtype, got dtype 99, which is none");
  EXPECT_EQ(check("v", s), "f: argument 'v' must be device, got str \"sum\"");
  EXPECT_EQ(check("q", t), "f: argument 'q' must be object, got Tensor");
  EXPECT_EQ(check("k", i), "f: argument 'k' must be int[], got int 7");
  EXPECT_EQ(check("r", k), "f: argument 'r' must be float[], got list of 2 ints");
  EXPECT_EQ(check("p", i), "f: argument 'p' must be int[]?, got int 7");
  EXPECT_EQ(check("i", value_of(77)), "f: argument 'i' must be int, got value of unknown kind 77");
}

}  // namespace
}  // namespace tenon
