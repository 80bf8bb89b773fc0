// The parser of the schema language: one pass over the text, no recursion. Schemas come from
// plugins, so lengths are limited and every refusal names the column.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "schema/cursor.h"
#include "schema/schema.h"

namespace tenon {
namespace {

constexpr size_t kMaxText = 16384;

const std::vector<std::string>& type_names() {
  static const auto& names = *new std::vector<std::string>{
      "Tensor", "int", "float", "bool", "number", "str", "dtype", "device", "expression", "object"};
  return names;
}

// Kinds that fit without a look at what they hold, but for a bool, which is 0 or 1, and for a list
// of numbers, which has memory.
uint32_t plain_kinds(const Argument& argument) {
  const uint32_t none = argument.optional ? 1u << TN_KIND_NONE : 0;
  if (argument.list) {
    return none | (argument.type == Type::kInt     ? 1u << TN_KIND_INTS
                   : argument.type == Type::kFloat ? 1u << TN_KIND_FLOATS
                                                   : 0);
  }
  switch (argument.type) {
    case Type::kInt:
      return none | 1u << TN_KIND_INT;
    case Type::kFloat:
      return none | 1u << TN_KIND_FLOAT | 1u << TN_KIND_INT;
    case Type::kBool:
      return none | 1u << TN_KIND_BOOL;
    case Type::kNumber:
      return none | 1u << TN_KIND_FLOAT | 1u << TN_KIND_INT | 1u << TN_KIND_BOOL;
    default:
      return none;
  }
}

class Parser : private Cursor {
 public:
  Parser(std::string_view text, Schema* schema) : Cursor(text), schema_(*schema) {}

  Status parse() {
    TN_TRY(name(/*dots=*/true, "the name of the op", &schema_.name));
    schema_.arguments.reserve(
        std::min<size_t>(std::count(text_.begin(), text_.end(), ',') + 1, kMaxArguments));
    TN_TRY(expect('('));
    if (!take(')')) {
      do {
        if (schema_.arguments.size() == kMaxArguments) {
          return refuse(at_, "more than {} arguments", kMaxArguments);
        }
        TN_TRY(argument());
      } while (take(','));
      TN_TRY(expect(')', "',' or ')'"));
    }
    const bool has_results = take("->");
    if (has_results) TN_TRY(returns());
    skip();
    if (at_ == text_.size()) return nullptr;
    return refuse(at_, "expected {}the end, found {}", has_results ? "" : "'->' or ", found());
  }

 private:
  Status type(Argument* argument) {
    skip();
    const size_t begin = at_;
    const std::string_view text = word(/*dots=*/false);
    if (text.empty()) return refuse(at_, "expected a type, found {}", found());
    const auto& names = type_names();
    const auto found_name = std::find(names.begin(), names.end(), text);
    if (found_name == names.end()) {
      return refuse(begin, "unknown type '{}'{}", printable(text), did_you_mean(text, names));
    }
    argument->type = static_cast<Type>(found_name - names.begin());
    if (take('(')) {
      if (argument->type != Type::kTensor)
        return refuse(begin, "only a Tensor has an alias, not {}", text);
      const char letter = peek();
      if (letter < 'a' || letter > 'z')
        return refuse(at_, "expected a letter a to z, found {}", found());
      ++at_;
      argument->alias = letter;
      argument->written = take('!');
      TN_TRY(expect(')'));
    }
    bool question = take('?');
    if (take("[]")) {
      argument->list = true;
      argument->optional_entries = question;
      const bool has_lists = argument->type == Type::kTensor || argument->type == Type::kInt ||
                             argument->type == Type::kFloat || argument->type == Type::kString ||
                             argument->type == Type::kObject;
      if (!has_lists) return refuse(begin, "there are no lists of {}", text);
      if (question && argument->type != Type::kTensor) {
        return refuse(
            begin, "only Tensor?[] has optional entries; write {}[]? for an optional list", text);
      }
      question = take('?');
    }
    argument->optional = question;
    const size_t bar = at_;
    if (take('|')) {
      if (!take("str")) return refuse(at_, "expected str, found {}", found());
      if (!argument->list || argument->type != Type::kInt || question) {
        return refuse(bar, "a str may stand for int[] alone, not for {}",
                      argument_type_text(*argument));
      }
      argument->or_text = true;
    }
    argument->kinds = plain_kinds(*argument);
    return nullptr;
  }

  Status argument() {
    Argument argument;
    skip();
    size_t begin = at_;
    if (word(/*dots=*/false) == "dynamic") {
      argument.is_dynamic = true;
      begin = at_;
    } else {
      at_ = begin;
    }
    TN_TRY(type(&argument));
    const bool whole_or_real = argument.type == Type::kInt || argument.type == Type::kFloat;
    const bool number = argument.list ? whole_or_real && !argument.optional && !argument.or_text
                                      : whole_or_real || argument.type == Type::kBool ||
                                            argument.type == Type::kNumber;
    if (argument.is_dynamic && !number) {
      return refuse(begin, "only int, float, bool and number can be dynamic, not {}",
                    argument_type_text(argument));
    }
    skip();
    begin = at_;
    TN_TRY(name(/*dots=*/false, "a name", &argument.name));
    if (schema_.find(argument.name) >= 0)
      return refuse(begin, "a second argument '{}'", argument.name);
    if (take('=')) {
      argument.has_default = true;
      TN_TRY(parse_default(*this, &schema_, &argument));
    } else if (!schema_.arguments.empty() && schema_.arguments.back().has_default) {
      return refuse(begin, "argument '{}' without a default follows '{}', which has one",
                    argument.name, schema_.arguments.back().name);
    }
    schema_.arguments.push_back(std::move(argument));
    return nullptr;
  }

  Status returns() {
    schema_.has_returns = true;
    if (!take('(')) return single_return();
    if (take(')')) return nullptr;
    do {
      if (schema_.returns.size() == kMaxArguments)
        return refuse(at_, "more than {} results", kMaxArguments);
      TN_TRY(single_return());
      if (is_letter(peek())) {
        const size_t begin = at_;
        TN_TRY(name(/*dots=*/false, "a name", &schema_.returns.back().name));
        for (size_t i = 0; i + 1 < schema_.returns.size(); ++i) {
          if (schema_.returns[i].name == schema_.returns.back().name) {
            return refuse(begin, "a second result '{}'", schema_.returns[i].name);
          }
        }
      }
    } while (take(','));
    return expect(')', "',' or ')'");
  }

  Status single_return() {
    skip();
    const size_t begin = at_;
    Argument result;
    TN_TRY(type(&result));
    if (result.alias != 0) {
      const auto same = [&](const Argument& argument) {
        return argument.alias == result.alias && argument.written == result.written;
      };
      if (std::none_of(schema_.arguments.begin(), schema_.arguments.end(), same)) {
        return refuse(begin, "no argument is Tensor({}{})", result.alias,
                      result.written ? "!" : "");
      }
    }
    schema_.returns.push_back(std::move(result));
    return nullptr;
  }

  Schema& schema_;
};

}  // namespace

Status parse_schema(std::string_view text, Schema* schema) {
  if (text.size() > kMaxText) {
    return invalid("schema '{}...': {} characters, at most {} are taken", text.substr(0, 80),
                   text.size(), kMaxText);
  }
  Schema parsed;
  TN_TRY(Parser(text, &parsed).parse());
  *schema = std::move(parsed);
  return nullptr;
}

}  // namespace tenon
