// The variants of an expression op: its text cut into the plain formula and blocks that begin with
// "when CONDITION:", each with a formula or an error of its own. Used where an op is registered
// (the text) and at a call (the conditions). What a block computes is expr/parse.h's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "schema/schema.h"

namespace tenon {

// What a condition asks of one argument.
struct Test {
  enum Kind : uint8_t { kEqual, kNotEqual, kNone, kNotNone, kNumber, kTensor } kind;
  uint32_t argument;
  tn_value value{};  // of kEqual and kNotEqual: a number, a bool or a string

  bool holds(const tn_value* args) const;
};

struct Condition {
  std::vector<Test> tests;
  std::vector<std::unique_ptr<std::string>> strings;  // what `value` of tests points to

  bool holds(const tn_value* args) const {
    for (const Test& test : tests) {
      if (!test.holds(args)) return false;
    }
    return true;
  }
};

struct VariantText {
  Condition condition;  // of the first, the plain formula: without tests
  std::string text;     // as long as all of the text, blank where others stand: columns are right
  std::string error;    // "when ...: error 'text'", which has no formula; else empty
};

// At least one: the plain formula. Errors name the place in the text.
[[nodiscard]] Status split_variants(const Schema& schema, std::string_view text,
                                    std::vector<VariantText>* variants);

// The schema that a variant's formula is parsed with: the arguments without a default, and of the
// others those that the formula names. None of these is None, and a `Tensor` of which the condition
// says that it is a number is a `number`.
Schema schema_of_variant(const Schema& schema, const VariantText& variant);

}  // namespace tenon
