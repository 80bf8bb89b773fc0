// The text of variants: words and conditions here, formulas in expr/parse.cpp.
#include "expr/variants.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "expr/graph.h"
#include "expr/lexer.h"
#include "expr/parse.h"

namespace tenon {
namespace {

bool is_word(const Token& token, std::string_view word) {
  return token.kind == Token::kName && token.text == word;
}

class VariantSplitter {
 public:
  VariantSplitter(const Schema& schema, std::string_view text)
      : schema_(schema), text_(text), lexer_(text_) {
    advance();
  }

  Status run(std::vector<VariantText>* variants) {
    VariantText variant;
    while (true) {
      const size_t begin = token_.at;
      if (variants->empty() || !is_word(token_, "error")) {
        skip_block();
        variant.text = blanked(begin, token_.at);
      } else {
        TN_TRY(read_error(&variant));
      }
      variants->push_back(std::move(variant));
      if (token_.kind == Token::kEnd) return nullptr;
      variant = {};
      advance();  // `when`
      TN_TRY(read_condition(&variant.condition));
    }
  }

 private:
  template <typename... Args>
  Status refuse(size_t at, fmt::format_string<Args...> format, Args&&... args) const {
    return invalid("{}: {}: {}", schema_.name, place_text(text_, at),
                   fmt::format(format, std::forward<Args>(args)...));
  }
  Status unexpected(std::string_view expected) const {
    const bool ends = token_.kind == Token::kEnd || token_.kind == Token::kLineEnd;
    return refuse(token_.at, "expected {}, found {}", expected,
                  ends ? "the end" : fmt::format("'{}'", printable(token_.text)));
  }
  void advance() { token_ = lexer_.next(); }

  // To the next `when` that begins a statement.
  void skip_block() {
    bool begins = true;
    while (token_.kind != Token::kEnd && !(begins && is_word(token_, "when"))) {
      begins = token_.kind == Token::kLineEnd;
      advance();
    }
  }
  std::string blanked(size_t begin, size_t end) const {
    std::string text = text_;
    for (size_t i = 0; i < text.size(); ++i) {
      if ((i < begin || i >= end) && text[i] != '\n') text[i] = ' ';
    }
    return text;
  }

  Status read_error(VariantText* variant) {
    advance();
    if (token_.kind != Token::kString || token_.text.size() < 3)
      return unexpected("the text of the error in quotes");
    variant->error = token_.text.substr(1, token_.text.size() - 2);
    advance();
    while (token_.kind == Token::kLineEnd) advance();
    if (token_.kind == Token::kEnd || is_word(token_, "when")) return nullptr;
    return unexpected("'when' or the end");
  }

  // test { "and" test } ":"
  Status read_condition(Condition* condition) {
    do {
      if (!condition->tests.empty()) advance();
      TN_TRY(read_test(condition));
    } while (is_word(token_, "and"));
    if (token_.kind != Token::kSymbol || token_.text != ":") return unexpected("'and' or ':'");
    advance();
    return nullptr;
  }

  Status read_test(Condition* condition) {
    if (token_.kind != Token::kName) return unexpected("the name of an argument");
    const int found = schema_.find(token_.text);
    if (found < 0) {
      std::vector<std::string> known;
      for (const Argument& argument : schema_.arguments) known.push_back(argument.name);
      return refuse(token_.at, "there is no argument '{}'{}", token_.text,
                    did_you_mean(token_.text, known));
    }
    const Argument& argument = schema_.arguments[static_cast<size_t>(found)];
    advance();
    Test test{Test::kEqual, static_cast<uint32_t>(found), {}};
    if (is_word(token_, "is")) {
      advance();
      TN_TRY(read_kind(argument, &test));
    } else if (token_.text == "==" || token_.text == "!=") {
      if (token_.text == "!=") test.kind = Test::kNotEqual;
      advance();
      TN_TRY(read_value(argument, condition, &test.value));
    } else {
      return unexpected("'==', '!=' or 'is'");
    }
    condition->tests.push_back(test);
    return nullptr;
  }

  // "None", "not None", "number" or "Tensor"
  Status read_kind(const Argument& argument, Test* test) {
    const size_t at = token_.at;
    const bool is_not = is_word(token_, "not");
    if (is_not) advance();
    const bool is_tensor = argument.type == Type::kTensor && !argument.list && !argument.written;
    bool fits = true;
    if (is_word(token_, "None")) {
      test->kind = is_not ? Test::kNotNone : Test::kNone;
      fits = argument.optional;
    } else if (is_word(token_, "number") && !is_not) {
      test->kind = Test::kNumber;
      fits = is_tensor;
    } else if (is_word(token_, "Tensor") && !is_not) {
      test->kind = Test::kTensor;
      fits = is_tensor;
    } else {
      return unexpected(is_not ? "'None'" : "'None', 'not None', 'number' or 'Tensor'");
    }
    if (!fits) {
      return refuse(at, "'{}' is {}, which is never {}", argument.name,
                    argument_type_text(argument), token_.text);
    }
    advance();
    return nullptr;
  }

  Status read_value(const Argument& argument, Condition* condition, tn_value* value) {
    const size_t at = token_.at;
    const bool minus = token_.kind == Token::kSymbol && token_.text == "-";
    if (minus) advance();
    bool fits = !argument.list;
    if (token_.kind == Token::kString && !minus) {
      const auto& text = *condition->strings.emplace_back(
          std::make_unique<std::string>(token_.text.substr(1, token_.text.size() - 2)));
      value->kind = TN_KIND_STRING;
      value->count = static_cast<uint32_t>(text.size());
      value->as.string = text.c_str();
      fits = fits && argument.type == Type::kString;
    } else if ((is_word(token_, "True") || is_word(token_, "False")) && !minus) {
      value->kind = TN_KIND_BOOL;
      value->as.i = is_word(token_, "True") ? 1 : 0;
      fits = fits && argument.type == Type::kBool;
    } else if (token_.kind == Token::kNumber) {
      double number = 0;
      const char* end = token_.text.data() + token_.text.size();
      const auto result = std::from_chars(token_.text.data(), end, number);
      if (result.ec != std::errc() || result.ptr != end)
        return refuse(at, "'{}' is no number", token_.text);
      value->kind = TN_KIND_FLOAT;
      value->as.f = minus ? -number : number;
      fits = fits && (argument.type == Type::kNumber || argument.type == Type::kInt ||
                      argument.type == Type::kFloat);
    } else {
      return unexpected("a number, a string in quotes, True or False");
    }
    if (!fits) {
      return refuse(at, "'{}' is {}, which is never {}", argument.name,
                    argument_type_text(argument), token_.text);
    }
    advance();
    return nullptr;
  }

  const Schema& schema_;
  const std::string text_;
  Lexer lexer_;
  Token token_;
};

// Does the formula read the argument, or state its derivative ("dx")? A name before a parenthesis
// is a function: max(x, min) reads no `max`.
bool names(std::string_view text, std::string_view argument) {
  Lexer lexer(text);
  for (Token token = lexer.next(); token.kind != Token::kEnd;) {
    const Token next = lexer.next();
    const bool is_name = token.kind == Token::kName && next.text != "(";
    const std::string_view name = token.text;
    if (is_name && (name == argument || (name[0] == 'd' && name.substr(1) == argument)))
      return true;
    token = next;
  }
  return false;
}

}  // namespace

bool Test::holds(const tn_value* args) const {
  const tn_value& given = args[argument];
  const bool is_number =
      given.kind == TN_KIND_INT || given.kind == TN_KIND_FLOAT || given.kind == TN_KIND_BOOL;
  switch (kind) {
    case kEqual:
      return same_value(given, value);
    case kNotEqual:
      return !same_value(given, value);
    case kNone:
      return given.kind == TN_KIND_NONE;
    case kNotNone:
      return given.kind != TN_KIND_NONE;
    case kNumber:
      return is_number;
    default:
      return given.kind == TN_KIND_TENSOR;
  }
}

Status split_variants(const Schema& schema, std::string_view text,
                      std::vector<VariantText>* variants) {
  if (text.size() > kMaxFormulaText) {
    return invalid("{}: the expression has {} characters, at most {} are taken", schema.name,
                   text.size(), kMaxFormulaText);
  }
  return VariantSplitter(schema, text).run(variants);
}

Schema schema_of_variant(const Schema& schema, const VariantText& variant) {
  Schema own = schema.clone();
  for (const Test& test : variant.condition.tests) {
    if (test.kind == Test::kNumber) own.arguments[test.argument].type = Type::kNumber;
  }
  std::erase_if(own.arguments, [&](const Argument& argument) {
    return argument.has_default && !names(variant.text, argument.name);
  });
  // Whoever chooses the variant sees to it that what its formula reads is there.
  for (Argument& argument : own.arguments) {
    argument.optional = false;
    argument.has_default &= argument.default_value.kind != TN_KIND_NONE;
  }
  return own;
}

}  // namespace tenon
