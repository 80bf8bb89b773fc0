// The tables of functions and operators.
#include "expr/functions.h"

#include <algorithm>

namespace tenon {
namespace {

constexpr Function kFunctions[] = {
    {"abs", TN_I_ABS, 1, 1},
    {"sign", TN_I_SIGN, 1, 1},
    {"floor", TN_I_FLOOR, 1, 1},
    {"ceil", TN_I_CEIL, 1, 1},
    {"round", TN_I_ROUND, 1, 1},
    {"trunc", TN_I_TRUNC, 1, 1},
    {"sqrt", TN_I_SQRT, 1, 1},
    {"exp", TN_I_EXP, 1, 1},
    {"exp2", TN_I_EXP2, 1, 1},
    {"expm1", TN_I_EXPM1, 1, 1},
    {"log", TN_I_LOG, 1, 1},
    {"log2", TN_I_LOG2, 1, 1},
    {"log10", TN_I_LOG10, 1, 1},
    {"log1p", TN_I_LOG1P, 1, 1},
    {"sin", TN_I_SIN, 1, 1},
    {"cos", TN_I_COS, 1, 1},
    {"tan", TN_I_TAN, 1, 1},
    {"asin", TN_I_ASIN, 1, 1},
    {"acos", TN_I_ACOS, 1, 1},
    {"atan", TN_I_ATAN, 1, 1},
    {"sinh", TN_I_SINH, 1, 1},
    {"cosh", TN_I_COSH, 1, 1},
    {"tanh", TN_I_TANH, 1, 1},
    {"asinh", TN_I_ASINH, 1, 1},
    {"acosh", TN_I_ACOSH, 1, 1},
    {"atanh", TN_I_ATANH, 1, 1},
    {"erf", TN_I_ERF, 1, 1},
    {"erfc", TN_I_ERFC, 1, 1},
    {"isnan", TN_I_ISNAN, 1, 1},
    {"isinf", TN_I_ISINF, 1, 1},
    {"atan2", TN_I_ATAN2, 2, 2},
    {"min", TN_I_MIN, 2, kAnyNumber},
    {"max", TN_I_MAX, 2, kAnyNumber},
    {"pow", TN_I_POW, 2, 2},
    {"fmod", TN_I_FMOD, 2, 2},
    {"remainder", TN_I_REM, 2, 2},
    {"floor_div", TN_I_FLOORDIV, 2, 2},
    {"trunc_div", kTruncDiv, 2, 2},
    {"where", TN_I_WHERE, 3, 3},
    {"clamp", kClamp, 3, 3},
    {"sigmoid", kSigmoid, 1, 1},
    {"rsqrt", kRsqrt, 1, 1},
    {"reciprocal", kReciprocal, 1, 1},
    {"square", kSquare, 1, 1},
    {"isfinite", kIsFinite, 1, 1},
    {"logical_not", kLogicalNot, 1, 1},
    {"float", kToFloat, 1, 1},
    {"int", kToInt, 1, 1},
    {"bool", kToBool, 1, 1},
    {"element", kToElement, 1, 1},
};

// `and` and `or` come first among those with their instruction: `&` and `|` are found by text only.
constexpr Operator kOperators[] = {
    {"or", TN_I_OR, kLoosest},
    {"and", TN_I_AND, kAndPrecedence},
    {"<", TN_I_LT, kComparison},
    {"<=", TN_I_LE, kComparison},
    {">", TN_I_GT, kComparison},
    {">=", TN_I_GE, kComparison},
    {"==", TN_I_EQ, kComparison},
    {"!=", TN_I_NE, kComparison},
    {"|", TN_I_OR, 5},
    {"^", TN_I_XOR, 6},
    {"&", TN_I_AND, 7},
    {"<<", TN_I_SHL, 8},
    {">>", TN_I_SHR, 8},
    {"+", TN_I_ADD, 9},
    {"-", TN_I_SUB, 9},
    {"*", TN_I_MUL, 10},
    {"/", TN_I_DIV, 10},
    {"//", TN_I_FLOORDIV, 10},
    {"%", TN_I_REM, 10},
    {"**", TN_I_POW, kPower},
};
constexpr std::string_view kBeginOperators = "oa<>=!|^&+-*/%";

}  // namespace

const Function* find_function(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                   [&](const Function& function) { return function.name == name; });
  return found == std::end(kFunctions) ? nullptr : found;
}

const std::vector<std::string>& function_names() {
  static const auto& names = *[] {
    auto* all = new std::vector<std::string>;
    for (const Function& function : kFunctions) all->emplace_back(function.name);
    return all;
  }();
  return names;
}

const Operator* find_operator(std::string_view text) {
  // Most words and symbols of a formula are none, which their first character says.
  if (text.empty() || kBeginOperators.find(text[0]) == text.npos) return nullptr;
  for (const Operator& candidate : kOperators) {
    if (candidate.text[0] == text[0] && candidate.text == text) return &candidate;
  }
  return nullptr;
}

const Operator* operator_of(uint16_t op) {
  // From the back: `&` and `|` mean the same as `and` and `or` on bools, and the right thing on
  // ints.
  const auto found = std::find_if(std::rbegin(kOperators), std::rend(kOperators),
                                  [&](const Operator& candidate) { return candidate.op == op; });
  return found == std::rend(kOperators) ? nullptr : &*found;
}

const char* operation_name(uint16_t op) {
  if (const Operator* found = operator_of(op)) return found->text.data();
  for (const Function& function : kFunctions) {
    if (function.op == op) return function.name.data();
  }
  return op == TN_I_NEG ? "-" : op == TN_I_NOT ? "~" : "?";
}

bool is_free_name(std::string_view name) {
  for (std::string_view word :
       {"let", "when", "and", "or", "not", "True", "False", "inf", "nan", "pi"}) {
    if (name == word) return false;
  }
  for (std::string_view word : {"g", "out"}) {
    if (name.substr(0, word.size()) == word &&
        name.find_first_not_of("0123456789", word.size()) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

}  // namespace tenon
