// The words of the expression language: its functions with their instructions, its operators with
// their precedence. The parser reads by this table and the printer writes by it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/graph.h"

namespace tenon {

// Functions that the parser expands have an `op` from here.
enum : uint16_t { kRsqrt = 300, kReciprocal, kSquare, kIsFinite, kLogicalNot };

struct Function {
  std::string_view name;
  uint16_t op;
  uint8_t min_args, max_args;
};
inline constexpr uint8_t kAnyNumber = 255;

struct Operator {
  std::string_view text;
  uint16_t op;
  uint8_t precedence;
};
// Python's, from loose to tight. `not` stands between kAndPrecedence and kComparison, unary - + ~
// at kUnary.
enum : uint8_t {
  kLoosest = 1,
  kAndPrecedence = 2,
  kComparison = 4,
  kUnary = 11,
  kPower = 12,
  kTightest = 13
};

const Function* find_function(std::string_view name);
const std::vector<std::string>& function_names();
const Operator* find_operator(std::string_view text);
const Operator* operator_of(uint16_t op);  // NULL: it is written as a call

// False for the words that no argument and no `let` may be called: constants, keywords, g, g0, out,
// out0, ...
bool is_free_name(std::string_view name);

}  // namespace tenon
