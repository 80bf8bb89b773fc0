// The default values of a schema's arguments: None, numbers, strings, names of dtypes, and lists of
// them.
#include <charconv>
#include <limits>

#include "base/text.h"
#include "schema/cursor.h"
#include "tensor/dtype.h"

namespace tenon {
namespace {

class DefaultParser {
 public:
  DefaultParser(Cursor& cursor, Schema* schema) : cursor_(cursor), schema_(*schema) {}

  Status wrong_default(size_t begin, const Argument& argument) {
    cursor_.at_ = begin;
    return cursor_.refuse(begin, "expected a default of type {}, found {}",
                          argument_type_text(argument), cursor_.found());
  }

  Status default_value(Argument* argument) {
    cursor_.skip();
    const size_t begin = cursor_.at_;
    tn_value& value = argument->default_value;
    if (cursor_.word(/*dots=*/false) == "None") {
      if (argument->optional) return nullptr;
      return cursor_.refuse(begin, "None needs the type {}?", argument_type_text(*argument));
    }
    cursor_.at_ = begin;
    if (argument->list)
      return cursor_.take('[') ? default_list(argument) : wrong_default(begin, *argument);
    switch (argument->type) {
      case Type::kString: {
        std::string* text = nullptr;
        if (cursor_.peek() != '"' && cursor_.peek() != '\'') return wrong_default(begin, *argument);
        TN_TRY(string(&text));
        value.kind = TN_KIND_STRING;
        value.count = static_cast<uint32_t>(text->size());
        value.as.string = text->c_str();
        return nullptr;
      }
      case Type::kDtype: {
        const std::string name(cursor_.word(/*dots=*/false));
        value.kind = TN_KIND_DTYPE;
        value.as.dtype = dtype_from_name(name);
        if (value.as.dtype != TN_DTYPE_NONE) return nullptr;
        std::vector<std::string> names;
        for (tn_dtype dtype = 0; dtype < TN_N_DTYPES; ++dtype) names.push_back(dtype_name(dtype));
        return cursor_.refuse(begin, "unknown dtype '{}'{}", printable(name),
                              did_you_mean(name, names));
      }
      case Type::kInt:
      case Type::kFloat:
      case Type::kBool:
      case Type::kNumber:
        return number(argument->type, *argument, &value);
      default:
        return cursor_.refuse(begin, "a default of type {} can only be None",
                              argument_type_text(*argument));
    }
  }

 private:
  Status default_list(Argument* argument) {
    tn_value& value = argument->default_value;
    std::vector<int64_t> ints;
    std::vector<double> floats;
    std::vector<const char*> strings;
    if (!cursor_.take(']')) {
      do {
        tn_value entry{};
        cursor_.skip();
        const size_t begin = cursor_.at_;
        if (argument->type == Type::kString) {
          std::string* text = nullptr;
          if (cursor_.peek() != '"' && cursor_.peek() != '\'')
            return wrong_default(begin, *argument);
          TN_TRY(string(&text));
          strings.push_back(text->c_str());
        } else if (argument->type == Type::kInt || argument->type == Type::kFloat) {
          TN_TRY(number(argument->type, *argument, &entry));
          if (entry.kind == TN_KIND_INT) ints.push_back(entry.as.i);
          if (entry.kind == TN_KIND_FLOAT) floats.push_back(entry.as.f);
        } else {
          return cursor_.refuse(begin, "a default of type {} can only be empty",
                                argument_type_text(*argument));
        }
      } while (cursor_.take(','));
      TN_TRY(cursor_.expect(']', "',' or ']'"));
    }
    switch (argument->type) {
      case Type::kInt:
        value.kind = TN_KIND_INTS;
        value.count = static_cast<uint32_t>(ints.size());
        schema_.int_lists.push_back(std::move(ints));
        value.as.ints = schema_.int_lists.back().data();
        break;
      case Type::kFloat:
        value.kind = TN_KIND_FLOATS;
        value.count = static_cast<uint32_t>(floats.size());
        schema_.float_lists.push_back(std::move(floats));
        value.as.floats = schema_.float_lists.back().data();
        break;
      case Type::kString:
        value.kind = TN_KIND_STRINGS;
        value.count = static_cast<uint32_t>(strings.size());
        schema_.string_lists.push_back(std::move(strings));
        value.as.strings = schema_.string_lists.back().data();
        break;
      default:
        value.kind = argument->type == Type::kTensor ? TN_KIND_TENSORS : TN_KIND_OBJECTS;
        break;
    }
    return nullptr;
  }

  // An int, float or bool as `type` asks for it; a float takes an int too.
  Status number(Type type, const Argument& argument, tn_value* value) {
    cursor_.skip();
    const size_t begin = cursor_.at_;
    const std::string_view name = cursor_.word(/*dots=*/false);
    if (name == "True" || name == "False") {
      if (type != Type::kBool && type != Type::kNumber) return wrong_default(begin, argument);
      value->kind = TN_KIND_BOOL;
      value->as.i = name == "True";
      return nullptr;
    }
    cursor_.at_ = begin;
    if (type == Type::kBool) return wrong_default(begin, argument);
    const bool negative = cursor_.take('-');
    const std::string_view special = cursor_.word(/*dots=*/false);
    if (special == "inf" || special == "nan") {
      if (type == Type::kInt) return wrong_default(begin, argument);
      value->kind = TN_KIND_FLOAT;
      value->as.f = special == "inf" ? std::numeric_limits<double>::infinity()
                                     : std::numeric_limits<double>::quiet_NaN();
      if (negative) value->as.f = -value->as.f;
      return nullptr;
    }
    if (!special.empty()) return wrong_default(begin, argument);
    const size_t digits = cursor_.at_;
    while (cursor_.at_ < cursor_.text_.size() &&
           (is_digit(cursor_.text_[cursor_.at_]) || cursor_.text_[cursor_.at_] == '.' ||
            cursor_.text_[cursor_.at_] == 'e' ||
            ((cursor_.text_[cursor_.at_] == '-' || cursor_.text_[cursor_.at_] == '+') &&
             cursor_.text_[cursor_.at_ - 1] == 'e'))) {
      ++cursor_.at_;
    }
    std::string literal(negative ? "-" : "");
    literal += cursor_.text_.substr(digits, cursor_.at_ - digits);
    const bool is_int = literal.find_first_of(".e") == std::string::npos;
    const char* end = literal.data() + literal.size();
    std::from_chars_result result{};
    if (is_int && type != Type::kFloat) {
      value->kind = TN_KIND_INT;
      result = std::from_chars(literal.data(), end, value->as.i);
    } else if (type != Type::kInt) {
      value->kind = TN_KIND_FLOAT;
      result = std::from_chars(literal.data(), end, value->as.f);
    } else {
      return wrong_default(begin, argument);
    }
    if (result.ec == std::errc::result_out_of_range)
      return cursor_.refuse(begin, "{} is out of range", literal);
    if (result.ec != std::errc() || result.ptr != end) return wrong_default(begin, argument);
    return nullptr;
  }

  // A string in double or single quotes; \" \' \\ and \n are escapes.
  Status string(std::string** text) {
    const size_t begin = cursor_.at_;
    const char quote = cursor_.text_[cursor_.at_++];
    schema_.strings.push_back(std::make_unique<std::string>());
    *text = schema_.strings.back().get();
    for (; cursor_.at_ < cursor_.text_.size() && cursor_.text_[cursor_.at_] != quote;
         ++cursor_.at_) {
      char c = cursor_.text_[cursor_.at_];
      if (c == '\\' && cursor_.at_ + 1 < cursor_.text_.size()) {
        c = cursor_.text_[++cursor_.at_];
        if (c == 'n') {
          c = '\n';
        } else if (c != '"' && c != '\'' && c != '\\') {
          return cursor_.refuse(cursor_.at_ - 1, "unknown escape '\\{}'", c);
        }
      }
      **text += c;
    }
    if (cursor_.at_ == cursor_.text_.size()) return cursor_.refuse(begin, "the string has no end");
    ++cursor_.at_;
    return nullptr;
  }

  Cursor& cursor_;
  Schema& schema_;
};

}  // namespace

Status parse_default(Cursor& cursor, Schema* schema, Argument* argument) {
  return DefaultParser(cursor, schema).default_value(argument);
}

}  // namespace tenon
