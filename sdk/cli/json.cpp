// The tree is built from nlohmann's SAX events. That parser gives no positions, so its input
// iterator notes the character that was read last: a token's line is the line of that character,
// because the parser reads at most one character past a token.
#include "json.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tenon/base.hpp>

#include "text.h"

namespace tenon::cli {
namespace {

struct NotingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** last_read;

  const char& operator*() const { return *(*last_read = at); }
  NotingIterator& operator++() {
    ++at;
    return *this;
  }
  NotingIterator operator++(int) {
    NotingIterator before = *this;
    ++at;
    return before;
  }
  bool operator==(const NotingIterator& other) const { return at == other.at; }
};

class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(std::string_view text, const std::string& file)
      : last_read(text.data()), file_(file), counted_to_(text.data()) {}

  const char* last_read;
  Json root;

  bool null() override {
    add(Json::Kind::kNull);
    return true;
  }
  bool boolean(bool value) override {
    add(Json::Kind::kBool).boolean = value;
    return true;
  }
  bool number_integer(number_integer_t value) override {
    Json& json = add(Json::Kind::kInt);
    json.integer = value;
    json.real = static_cast<double>(value);
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= INT64_MAX) return number_integer(static_cast<int64_t>(value));
    return number_float(static_cast<double>(value), std::to_string(value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    Json& json = add(Json::Kind::kFloat);
    json.real = value;
    json.text = text;
    return true;
  }
  bool string(string_t& value) override {
    refuse_nul(value);
    add(Json::Kind::kString).text = std::move(value);
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::Kind::kObject); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::Kind::kArray); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    refuse_nul(name);
    const auto [first, is_new] = names_.back().emplace(name, line());
    if (!is_new) {
      fail_at(file_, line(),
              fmt::format("'{}' is there twice, first on line {}", printable(name), first->second));
    }
    open_.back()->members.push_back({std::move(name), line(), {}});
    return true;
  }
  bool parse_error(std::size_t, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    constexpr int kNumberOverflow = 406;
    if (error.id == kNumberOverflow) {
      fail_at(file_, line(),
              fmt::format("the number {} is out of range, expected at most {} in size",
                          printable(token), std::numeric_limits<double>::max()));
    }
    // "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error while parsing
    // ...": the line is ours.
    std::string_view what = error.what();
    const size_t colon = what.find(": ");
    if (colon != std::string_view::npos) what.remove_prefix(colon + 2);
    // What was read last may be the whole file, in one string that has no end.
    constexpr std::string_view kQuoted = "last read: '";
    const size_t quoted = what.find(kQuoted), end = what.rfind('\'');
    std::string message(what);
    if (quoted != what.npos && end > quoted + kQuoted.size()) {
      const size_t begin = quoted + kQuoted.size();
      message = fmt::format("{}{}{}", what.substr(0, begin),
                            printable(what.substr(begin, end - begin)), what.substr(end));
    }
    fail_at(file_, line(), message);
  }

 private:
  void refuse_nul(const std::string& text) {
    const size_t at = text.find('\0');
    if (at == text.npos) return;
    fail_at(file_, line(),
            fmt::format("a string with \\u0000 in it, after '{}'; expected text "
                        "without",
                        printable(text.substr(0, at))));
  }
  int line() {
    if (last_read > counted_to_) {
      line_ += static_cast<int>(std::count(counted_to_, last_read, '\n'));
      counted_to_ = last_read;
    }
    return line_;
  }
  Json& add(Json::Kind kind) {
    Json* json = &root;
    if (!open_.empty()) {
      Json& parent = *open_.back();
      json = parent.kind == Json::Kind::kArray ? &parent.items.emplace_back()
                                               : &parent.members.back().value;
    }
    json->kind = kind;
    json->line = line();
    return *json;
  }
  bool open(Json::Kind kind) {
    constexpr size_t kDeepest = 64;
    if (open_.size() == kDeepest)
      fail_at(file_, line(), "more than 64 levels of lists and objects");
    open_.push_back(&add(kind));
    names_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }

  const std::string& file_;
  const char* counted_to_;
  int line_ = 1;
  std::vector<Json*>
      open_;  // from the root; the children of each but the last do not grow meanwhile
  std::vector<std::map<std::string, int>>
      names_;  // of the members of each of these, and their lines
};

}  // namespace

static nlohmann::json value_of(const Json& json) {
  switch (json.kind) {
    case Json::Kind::kNull:
      return nullptr;
    case Json::Kind::kBool:
      return json.boolean;
    case Json::Kind::kInt:
      return json.integer;
    case Json::Kind::kFloat:
      return json.real;
    case Json::Kind::kString:
      return json.text;
    case Json::Kind::kArray: {
      nlohmann::json list = nlohmann::json::array();
      for (const Json& item : json.items) list.push_back(value_of(item));
      return list;
    }
    case Json::Kind::kObject:
      break;
  }
  nlohmann::json object = nlohmann::json::object();
  for (const JsonMember& member : json.members) object[member.name] = value_of(member.value);
  return object;
}

std::string text_of(const Json& json) {
  return value_of(json).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

const char* Json::kind_name() const {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "true or false";
    case Kind::kInt:
      return "an integer";
    case Kind::kFloat:
      return "a number";
    case Kind::kString:
      return "a string";
    case Kind::kArray:
      return "a list";
    case Kind::kObject:
      return "an object";
  }
  return "nothing";
}

Json read_json(const std::string& file) { return parse_json(read_text(file, kMostWritten), file); }

Json parse_json(std::string_view text, const std::string& file) {
  TreeBuilder builder(text, file);
  const NotingIterator first{text.data(), &builder.last_read};
  const NotingIterator last{text.data() + text.size(), &builder.last_read};
  nlohmann::json::sax_parse(first, last, &builder);
  // The parser takes a zero byte for the end.
  if (const size_t at = text.find('\0'); at != text.npos) {
    fail_at(file, static_cast<int>(1 + std::ranges::count(text.substr(0, at), '\n')),
            "a zero byte, which no JSON has");
  }
  return std::move(builder.root);
}

void fail_at(const std::string& file, int line, const std::string& message) {
  fail(fmt::format("{}:{}: {}", shown(file), line, message));
}

Fields::Fields(const std::string& file, const Json& object, std::string what)
    : file_(file), object_(object), what_(std::move(what)) {
  if (object.kind != Json::Kind::kObject) {
    fail_at(
        file, object.line,
        fmt::format("{}: an object {{...}} is expected, this is {}", what_, object.kind_name()));
  }
}

const JsonMember* Fields::find(const std::string& name) {
  if (std::ranges::find(known_, name) == known_.end()) known_.push_back(name);
  const auto found = std::ranges::find(object_.members, name, &JsonMember::name);
  return found == object_.members.end() ? nullptr : &*found;
}

const JsonMember& Fields::require(const std::string& name) {
  const JsonMember* member = find(name);
  if (member != nullptr) return *member;
  // Misspelled, most likely: then that is what to say.
  const std::vector<std::string> wanted = {name};
  for (const JsonMember& other : object_.members) {
    if (std::ranges::find(known_, other.name) != known_.end()) continue;
    const std::string hint = did_you_mean(other.name, wanted);
    if (!hint.empty()) {
      fail_at(file_, other.line,
              fmt::format("{}: unknown field '{}'{}", what_, printable(other.name), hint));
    }
  }
  fail_at(file_, object_.line, fmt::format("{}: the field '{}' is missing", what_, name));
}

std::string Fields::string(const std::string& name) {
  const JsonMember& member = require(name);
  if (member.value.kind != Json::Kind::kString) wrong(member, "a string");
  return member.value.text;
}

int64_t Fields::integer(const std::string& name, int64_t low, int64_t high) {
  return checked_integer(require(name), low, high);
}

int64_t Fields::integer(const std::string& name, int64_t low, int64_t high, int64_t absent) {
  const JsonMember* member = find(name);
  return member == nullptr ? absent : checked_integer(*member, low, high);
}

double Fields::number(const std::string& name, double low, double high, double absent) {
  const JsonMember* member = find(name);
  if (member == nullptr) return absent;
  if (member->value.kind != Json::Kind::kInt && member->value.kind != Json::Kind::kFloat) {
    wrong(*member, "a number");
  }
  const double value = member->value.real;
  if (!(value >= low && value <= high)) {
    fail_at(file_, member->line,
            fmt::format("{}: {} is {}, expected a number from {} to {}", what_, name, value, low,
                        high));
  }
  return value;
}

double Fields::positive(const std::string& name, double high, double absent) {
  constexpr double kMost = std::numeric_limits<double>::max();
  const double value = number(name, -kMost, kMost, absent);
  const JsonMember* member = find(name);
  if (member != nullptr && !(value > 0 && value <= high)) {
    fail_at(
        file_, member->line,
        fmt::format("{}: {} is {}, expected more than 0 and at most {}", what_, name, value, high));
  }
  return value;
}

bool Fields::boolean(const std::string& name, bool absent) {
  const JsonMember* member = find(name);
  if (member == nullptr) return absent;
  if (member->value.kind != Json::Kind::kBool) wrong(*member, "true or false");
  return member->value.boolean;
}

void Fields::finish() const {
  for (const JsonMember& member : object_.members) {
    if (std::ranges::find(known_, member.name) != known_.end()) continue;
    fail_at(file_, member.line,
            fmt::format("{}: unknown field '{}'{} (known are {})", what_, printable(member.name),
                        did_you_mean(member.name, known_), joined(known_)));
  }
}

int64_t Fields::checked_integer(const JsonMember& member, int64_t low, int64_t high) const {
  if (member.value.kind != Json::Kind::kInt) {
    wrong(member, fmt::format("an integer from {} to {}", low, high));
  }
  const int64_t value = member.value.integer;
  if (value < low || value > high) {
    fail_at(file_, member.line,
            fmt::format("{}: {} is {}, expected at {} {}", what_, member.name, value,
                        value < low ? "least" : "most", value < low ? low : high));
  }
  return value;
}

void Fields::wrong(const JsonMember& member, const std::string& expected) const {
  fail_at(file_, member.line,
          fmt::format("{}: {} is {}, expected {}", what_, member.name,
                      member.value.kind == Json::Kind::kFloat ? printable(member.value.text)
                                                              : member.value.kind_name(),
                      expected));
}

}  // namespace tenon::cli
