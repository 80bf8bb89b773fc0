// Types of formulas: PyTorch's promotion (the values of torch.promote_types and torch.result_type),
// integers that wrap, comparisons, conditions, in-place outputs; and the shape of the flat programs
// that abi.h promises to evaluators.
#include <map>
#include <set>

#include "expression_support.h"
#include "tensor/dtype.h"

namespace tenon {
namespace {

constexpr tn_dtype f4 = TN_FLOAT32, f8 = TN_FLOAT64, f2 = TN_FLOAT16, bf = TN_BFLOAT16,
                   i8 = TN_INT64, i4 = TN_INT32, u1 = TN_UINT8, b1 = TN_BOOL, i1 = TN_INT8,
                   i2 = TN_INT16;

tn_dtype result(std::string_view text, const std::vector<OperandType>& types) {
  std::string schema = "f(";
  const char* names[] = {"x", "y", "z"};
  for (size_t i = 0; i < types.size(); ++i)
    schema += std::string(i == 0 ? "" : ", ") + "Tensor " + names[i];
  return compiled(*parsed(schema + ") -> Tensor", text), types).output_dtypes[0];
}

TEST(Promotion, OfTensorsIsPyTorchs) {
  // clang-format off
  constexpr tn_dtype kExpected[TN_N_DTYPES][TN_N_DTYPES] = {
      {f4, f8, f4, f4, f4, f4, f4, f4, f4, f4}, {f8, f8, f8, f8, f8, f8, f8, f8, f8, f8},
      {f4, f8, f2, f4, f2, f2, f2, f2, f2, f2}, {f4, f8, f4, bf, bf, bf, bf, bf, bf, bf},
      {f4, f8, f2, bf, i8, i8, i8, i8, i8, i8}, {f4, f8, f2, bf, i8, i4, i4, i4, i4, i4},
      {f4, f8, f2, bf, i8, i4, u1, u1, i2, i2}, {f4, f8, f2, bf, i8, i4, u1, b1, i1, i2},
      {f4, f8, f2, bf, i8, i4, i2, i1, i1, i2}, {f4, f8, f2, bf, i8, i4, i2, i2, i2, i2}};
  // clang-format on
  for (tn_dtype a = 0; a < TN_N_DTYPES; ++a) {
    for (tn_dtype b = 0; b < TN_N_DTYPES; ++b) {
      EXPECT_EQ(dtype_table::promote(a, b), kExpected[a][b]) << a << " " << b;
      EXPECT_EQ(result("x + y", {dims(a), dims(b)}), kExpected[a][b]) << a << " " << b;
    }
  }
}

TEST(Promotion, OfCategoriesIsPyTorchs) {
  const struct {
    OperandType x, y;
    tn_dtype expected;
  } rows[] = {{dims(f2), zero_dim(f4), f2},     {dims(f4), zero_dim(f8), f4},
              {dims(i4), zero_dim(f8), f8},     {dims(i8), zero_dim(f2), f2},
              {dims(u1), zero_dim(i8), u1},     {dims(i4), zero_dim(i8), i4},
              {dims(b1), zero_dim(u1), u1},     {dims(b1), zero_dim(f2), f2},
              {zero_dim(f2), zero_dim(f4), f4}, {zero_dim(i4), zero_dim(i8), i8},
              {dims(f2), number(f8), f2},       {dims(bf), number(i8), bf},
              {dims(i4), number(f8), f4},       {dims(u1), number(i8), u1},
              {dims(b1), number(i8), i8},       {dims(b1), number(f8), f4},
              {dims(b1), number(b1), b1},       {dims(i8), number(b1), i8},
              {zero_dim(f8), number(f8), f8},   {zero_dim(f2), number(f8), f2},
              {zero_dim(i4), number(f8), f4},   {zero_dim(u1), number(i8), u1},
              {number(f8), number(i8), f4},     {number(i8), number(b1), i8},
              {dims(i1), zero_dim(u1), i1},     {dims(u1), zero_dim(i1), u1},
              {zero_dim(i1), zero_dim(u1), i2}, {dims(i1), number(i8), i1},
              {dims(i2), zero_dim(f8), f8},     {dims(b1), zero_dim(i1), i1},
              {number(b1), number(b1), b1}};
  for (const auto& row : rows) {
    EXPECT_EQ(result("x + y", {row.x, row.y}), row.expected) << &row - rows;
    EXPECT_EQ(result("x + y", {row.y, row.x}), row.expected) << &row - rows;
  }
  EXPECT_EQ(result("x + y * z", {dims(u1), zero_dim(f8), number(i8)}), f8);
  EXPECT_EQ(result("x + y * z", {dims(f2), zero_dim(f8), number(f8)}), f2);
}

TEST(Promotion, WithinAFormulaNumbersAreWeak) {
  EXPECT_EQ(result("x * 2", {dims(u1)}), u1);
  EXPECT_EQ(result("x * 2.0", {dims(u1)}), f4);
  EXPECT_EQ(result("x * 2.0", {dims(f2)}), f2);
  EXPECT_EQ(result("x * 2", {dims(b1)}), i8);
  EXPECT_EQ(result("x + True", {dims(b1)}), b1);
  EXPECT_EQ(result("x / 2", {dims(i8)}), f4);
  EXPECT_EQ(result("x / 2", {dims(f8)}), f8);
  EXPECT_EQ(result("exp(x)", {dims(i4)}), f4);
  EXPECT_EQ(result("exp(x)", {dims(b1)}), f4);
  EXPECT_EQ(result("exp(x)", {dims(bf)}), bf);
  EXPECT_EQ(result("x < 2", {dims(f2)}), b1);
  EXPECT_EQ(result("not x", {dims(f2)}), b1);
  EXPECT_EQ(result("isnan(x)", {dims(i4)}), b1);
  EXPECT_EQ(result("floor(x)", {dims(i4)}), i4);
  EXPECT_EQ(result("abs(x)", {dims(b1)}), b1);
  EXPECT_EQ(result("x ** 2", {dims(b1)}), i8);
  EXPECT_EQ(result("(x > 0) * x", {dims(f2)}), f2);
  EXPECT_EQ(result("(x > 0) * 1", {dims(i4)}), i4);
  EXPECT_EQ(result("int(x)", {dims(f4)}), i8);
  EXPECT_EQ(result("int(x)", {dims(i4)}), i4);
  EXPECT_EQ(result("float(x)", {dims(i4)}), f4);
  EXPECT_EQ(result("float(x)", {dims(f8)}), f8);
  EXPECT_EQ(result("bool(x)", {dims(f8)}), b1);
  EXPECT_EQ(result("x & y", {dims(u1), dims(i4)}), i4);
  EXPECT_EQ(result("x << 1", {dims(b1)}), i8);
  EXPECT_EQ(result("sigmoid(x)", {dims(u1)}), f4);
  EXPECT_EQ(result("clamp(x, 0, 1)", {dims(u1)}), u1);
  EXPECT_EQ(result("clamp(x, 0, 1.5)", {dims(u1)}), f4);
}

TEST(Promotion, ResultsOfNumbersAloneMeetTheOperandsAtTheEnd) {
  EXPECT_EQ(result("1", {dims(f2)}), f2);
  EXPECT_EQ(result("1", {dims(u1)}), u1);
  EXPECT_EQ(result("1", {dims(b1)}), i8);
  EXPECT_EQ(result("0.5", {dims(u1)}), f4);
  EXPECT_EQ(result("True", {dims(u1)}), u1);
  EXPECT_EQ(result("where(x > 0, 1, 0)", {dims(f8)}), f8);
  EXPECT_EQ(result("where(x, 1, 0)", {dims(f8)}), i8);
  EXPECT_EQ(result("where(x, 1.0, 0)", {dims(f8)}), f4);
}

TEST(Promotion, ConditionsTakeNoPart) {
  EXPECT_EQ(result("where(x, y, z)", {dims(f8), dims(f2), dims(u1)}), f2);
  EXPECT_EQ(result("where(x, y, 0)", {dims(f8), dims(i4)}), i4);
  EXPECT_EQ(result("x and y", {dims(f8), dims(i4)}), b1);
  EXPECT_EQ(result("where(x, x, y)", {dims(f8), dims(f4)}), f8);
  // a value of the comparison
  EXPECT_EQ(result("where(x > 0, y, z)", {dims(f8), dims(f4), dims(f4)}), f8);
  const auto e = parsed("f(Tensor c, Tensor x) -> Tensor", "where(c, x, -x)");
  // not rounded to float32 on the way to bool
  EXPECT_EQ(run(*e, {dims(f8), dims(f4)}, {1e-300, 2.0})[0].f, 2);
  EXPECT_EQ(run(*e, {{f8, Category::kZeroDim, true}, dims(f4)}, {1e-300, 2.0})[0].f, 2);
  EXPECT_EQ(run(*e, {number(i8), dims(f4)}, {256, 2.0})[0].f, 2);
  EXPECT_EQ(run(*e, {dims(u1), dims(f4)}, {0, 2.0})[0].f, -2);
}

TEST(Integers, WrapAtTheirWidth) {
  const auto unary = [](const char* text, tn_dtype dtype, int64_t x) {
    return run(*parsed("f(Tensor x) -> Tensor", text), {dims(dtype)}, {x})[0].i;
  };
  EXPECT_EQ(unary("x + 200", u1, 100), 44);
  EXPECT_EQ(unary("(x + 200) // 2", u1, 100), 22);
  EXPECT_EQ(unary("-x", u1, 1), 255);
  EXPECT_EQ(unary("~x", u1, 5), 250);
  EXPECT_EQ(unary("~x", i4, 5), -6);
  EXPECT_EQ(unary("x * x", i4, 65536), 0);
  EXPECT_EQ(unary("abs(x)", i4, INT32_MIN), INT32_MIN);
  EXPECT_EQ(unary("x // -1", i4, INT32_MIN), INT32_MIN);
  EXPECT_EQ(unary("x << 31", i4, 1), INT32_MIN);
  EXPECT_EQ(unary("x << 8", u1, 1), 0);
  EXPECT_EQ(unary("x ** 2 / 2", i4, 65536), 0);
  EXPECT_EQ(unary("x ** 5", u1, 4), 0);
  EXPECT_EQ(unary("x ** 300", u1, 1), 1);
  EXPECT_EQ(unary("x * x", i8, int64_t{1} << 32), 0);
  EXPECT_EQ(unary("x < 300", u1, 255), 1);  // compared as it is: 300 does not wrap to 44
  EXPECT_EQ(unary("max(x, 300)", u1, 1), 44);
  const auto add = parsed("f(Tensor x, Tensor y) -> Tensor", "x + y");
  EXPECT_EQ(run(*add, {dims(u1), zero_dim(i8)}, {1, 300})[0].i, 45);
  EXPECT_EQ(run(*add, {dims(u1), number(i8)}, {1, 300})[0].i, 45);
}

TEST(Integers, KeepTheirExactOperations) {
  const auto both = [](const char* text, int64_t x, int64_t y) {
    return run(*parsed("f(Tensor x, Tensor y) -> Tensor", text), {dims(i8), dims(i8)}, {x, y})[0];
  };
  const int64_t big = (int64_t{1} << 53) + 1;
  EXPECT_EQ(both("x + y", big, 0).i, big);
  EXPECT_EQ(both("x < y", big - 1, big).i, 1);
  EXPECT_EQ(both("x // y", -7, 2).i, -4);
  EXPECT_EQ(both("x % y", -7, 2).i, 1);
  EXPECT_EQ(both("fmod(x, y)", -7, 2).i, -1);
  EXPECT_EQ(both("x / y", -7, 2).f, -3.5);
  EXPECT_EQ(both("x ** y", 3, 4).i, 81);
  EXPECT_EQ(both("x ** y", 2, -1).i, 0);
  EXPECT_EQ(both("x >> y", -8, 1).i, -4);
  EXPECT_EQ(both("x & y | 1", 12, 10).i, 9);
  EXPECT_EQ(both("where(x < y, x, y)", 3, 4).i, 3);
}

TEST(Bools, AddAsOrAndMultiplyAsAnd) {
  const auto both = [](const char* text, int x, int y) {
    return run(*parsed("f(Tensor x, Tensor y) -> Tensor", text), {dims(b1), dims(b1)}, {x, y})[0].i;
  };
  EXPECT_EQ(both("x + y", 1, 1), 1);
  EXPECT_EQ(both("x * y", 1, 0), 0);
  EXPECT_EQ(both("max(x, y)", 1, 0), 1);
  EXPECT_EQ(both("min(x, y)", 1, 0), 0);
  EXPECT_EQ(both("~x", 1, 0), 0);
  EXPECT_EQ(both("x < y", 0, 1), 1);
  const auto e = parsed("f(Tensor x, Tensor y) -> Tensor", "x - y");
  EXPECT_THROW(
      {
        try {
          compiled(*e, {dims(b1), dims(b1)});
        } catch (const std::runtime_error& error) {
          EXPECT_STREQ(error.what(), "f: column 3: '-' takes int and float, got bool");
          throw;
        }
      },
      std::runtime_error);
}

TEST(InPlace, OutputsKeepTheirOperandsDtype) {
  const auto e = parsed("add_(Tensor(a!) x, Tensor y) -> Tensor(a!)", "x + y");
  EXPECT_EQ(compiled(*e, {dims(f2), dims(f4)}).output_dtypes[0], f2);
  EXPECT_EQ(compiled(*e, {dims(f4), dims(i8)}).output_dtypes[0], f4);
  EXPECT_EQ(compiled(*e, {dims(u1), dims(i8)}).output_dtypes[0], u1);
  EXPECT_EQ(run(*e, {dims(u1), dims(i8)}, {1, 255})[0].i, 0);
  const std::pair<std::vector<OperandType>, const char*> rows[] = {
      {{dims(i8), dims(f4)},
       "add_: the result is float32, which cannot be written into 'x' of dtype int64 in place"},
      {{dims(b1), dims(i4)},
       "add_: the result is int32, which cannot be written into 'x' of dtype bool in place"},
      {{number(f8), dims(f4)},
       "add_: argument 'x' is written in place and must be a Tensor, not a number"}};
  for (const auto& [types, message] : rows) {
    const CompiledProgram* c = nullptr;
    StatusHolder status(e->compile(types, &c));
    ASSERT_TRUE(status);
    EXPECT_EQ(status.get()->code, TN_INVALID_ARGUMENT);
    EXPECT_STREQ(status_text(status.get()), message);
  }
  const auto less = parsed("lt_(Tensor(a!) x, Tensor y) -> Tensor(a!)", "x < y");
  EXPECT_EQ(run(*less, {dims(f4), dims(f4)}, {1.0, 2.0})[0].f, 1);
}

// What abi.h and flatten.h promise of any program.
void expect_sound(const CompiledProgram& c, const std::string& what) {
  const tn_program& p = c.program;
  const std::set<int> registers = {TN_FLOAT32, TN_FLOAT64, TN_INT64, TN_BOOL};
  std::map<int, int> type_of;    // of registers that hold a value
  std::map<int, uint32_t> last;  // use of what was written at an instruction
  std::vector<uint32_t> writer(p.n_registers, UINT32_MAX);
  const auto reads = [](const tn_instruction& in) -> std::vector<uint16_t> {
    if (in.opcode == TN_I_STORE) return {in.a};
    if (in.opcode <= TN_I_CONST) return {};
    if (in.opcode == TN_I_WHERE) return {in.a, in.b, in.c};
    return in.opcode < TN_I_ADD ? std::vector<uint16_t>{in.a} : std::vector<uint16_t>{in.a, in.b};
  };
  for (uint32_t n = 0; n < p.n_instructions; ++n) {
    for (uint16_t r : reads(p.instructions[n])) last[writer[r]] = n;
    if (p.instructions[n].opcode != TN_I_STORE) writer[p.instructions[n].dst] = n;
  }
  writer.assign(p.n_registers, UINT32_MAX);
  bool leaves = true;
  std::set<uint32_t> stored;
  for (uint32_t n = 0; n < p.n_instructions; ++n) {
    const tn_instruction& in = p.instructions[n];
    for (uint16_t r : reads(in)) {
      ASSERT_LT(r, p.n_registers) << what;
      ASSERT_NE(writer[r], UINT32_MAX) << what << ": read before it is written";
    }
    if (in.opcode == TN_I_STORE) {
      EXPECT_TRUE(stored.insert(in.b).second) << what;
      EXPECT_EQ(in.dtype, type_of[in.a]) << what;
      // As soon as the value is there: right behind it, other stores, or the last leaf.
      uint32_t before = n;
      while (before > 0 && p.instructions[before - 1].opcode == TN_I_STORE) --before;
      const bool is_leaf = p.instructions[writer[in.a]].opcode <= TN_I_CONST;
      EXPECT_TRUE(is_leaf ? p.instructions[before - 1].opcode <= TN_I_CONST
                          : writer[in.a] == before - 1)
          << what;
      continue;
    }
    if (in.opcode > TN_I_CONST) leaves = false;
    EXPECT_TRUE(leaves || in.opcode > TN_I_CONST) << what << ": a leaf behind an operation";
    EXPECT_LT(in.opcode, TN_N_INSTRUCTIONS) << what;
    int type = in.dtype;
    if (in.opcode == TN_I_CAST) {
      EXPECT_EQ(in.flags, type_of[in.a]) << what;
      if (type == TN_INT32 || type == TN_INT16 || type == TN_INT8 || type == TN_UINT8)
        type = TN_INT64;
      if (type == TN_FLOAT16 || type == TN_BFLOAT16) type = TN_FLOAT32;  // rounded to a half
    }
    EXPECT_TRUE(registers.count(type)) << what;
    // The register's earlier value is dead, or an operand of this instruction and of its own type.
    const uint32_t earlier = writer[in.dst];
    if (earlier != UINT32_MAX && last.count(earlier)) {
      EXPECT_LE(last[earlier], n) << what << ": a live register is overwritten";
      if (last[earlier] == n) {
        EXPECT_EQ(type_of[in.dst], type) << what;
      }
    }
    EXPECT_TRUE(last.count(n)) << what << ": a value that nobody reads";
    writer[in.dst] = n;
    type_of[in.dst] = type;
  }
  EXPECT_EQ(stored.size(), p.n_outputs) << what;
}

TEST(Programs, AreSoundForEveryFormulaAndType) {
  const char* texts[] = {"x + y",
                         "x",
                         "x * x * x + y",
                         "where(x > y, x, y ** 2)",
                         "max(x, y, 2) * (x > 0)",
                         "sigmoid(x) * x + log1p(exp(0 - abs(y)))",
                         "clamp(x, y, 3.5)",
                         "x // y % 3 + fmod(x, 2)",
                         "where(x, float(y), 1) + isnan(x)",
                         "x ** y + 2 ** x",
                         "int(x) + 2",
                         "1.5"};
  for (const char* text : texts) {
    const auto e = parsed("f(Tensor x, Tensor y) -> Tensor", text);
    for (tn_dtype a = 0; a < TN_N_DTYPES; ++a) {
      for (tn_dtype b = 0; b < TN_N_DTYPES; ++b) {
        expect_sound(compiled(*e, {dims(a), dims(b)}), text);
        expect_sound(compiled(*e, {dims(a), {b, Category::kZeroDim, true}}), text);
      }
    }
    const Expression::Gradient gradient = gradient_of(*e, 3);
    const std::vector<OperandType> floats(gradient.sources.size(), dims(f4));
    expect_sound(compiled(*gradient.expression, floats), std::string("gradient of ") + text);
  }
}

TEST(Programs, ComputeEachPartOnceAndReuseRegisters) {
  const auto count = [](const CompiledProgram& c, int opcode) {
    int n = 0;
    for (uint32_t i = 0; i < c.program.n_instructions; ++i)
      n += c.program.instructions[i].opcode == opcode;
    return n;
  };
  const auto twice = parsed("f(Tensor x, Tensor y) -> Tensor", "exp(x + y) + exp(y + x) * 2 + 2");
  const CompiledProgram& c = compiled(*twice, {dims(f4), dims(f4)});
  EXPECT_EQ(count(c, TN_I_EXP), 1);
  EXPECT_EQ(count(c, TN_I_LOAD), 2);
  EXPECT_EQ(count(c, TN_I_CONST), 1);
  EXPECT_EQ(c.program.n_constants, 1u);
  EXPECT_EQ(c.program.n_registers, 3u);
  const auto square = parsed("f(Tensor x) -> Tensor", "x ** 2");
  EXPECT_EQ(count(compiled(*square, {dims(f4)}), TN_I_MUL), 1);
  EXPECT_EQ(compiled(*square, {dims(f4)}).program.n_instructions, 3u);
  EXPECT_EQ(compiled(*square, {dims(f4)}).program.n_registers, 1u);
}

TEST(Programs, HalvesComputeInFloat32AndFloat64Alone) {
  const auto e = parsed("f(Tensor x, Tensor y) -> Tensor", "exp(x) * y + 0.1");
  for (tn_dtype dtype : {f2, bf, f4}) {
    const CompiledProgram& c = compiled(*e, {dims(dtype), number(f8)});
    EXPECT_EQ(c.output_dtypes[0], dtype);
    EXPECT_EQ(c.common_dtype, dtype);
    for (uint32_t i = 0; i < c.program.n_instructions; ++i)
      EXPECT_EQ(c.program.instructions[i].dtype, f4);
  }
  const CompiledProgram& c = compiled(*e, {dims(f8), dims(f4)});
  for (uint32_t i = 0; i < c.program.n_instructions; ++i)
    EXPECT_EQ(c.program.instructions[i].dtype, f8);
}

}  // namespace
}  // namespace tenon
