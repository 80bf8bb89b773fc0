#include "dispatch/expressions.h"

#include <map>
#include <mutex>
#include <string>

#include "dispatch/elementwise.h"

namespace tenon {

Status intern_expression(const char* schema, const char* text, const tn_expression** expression) {
  static std::mutex mutex;
  static auto& interned = *new std::map<std::pair<std::string, std::string>, tn_expression>;
  std::lock_guard lock(mutex);
  const auto key = std::make_pair(std::string(schema), std::string(text));
  auto found = interned.find(key);
  if (found == interned.end()) {
    Schema parsed;
    TN_TRY(parse_schema(schema, &parsed));
    std::unique_ptr<Expression> made;
    TN_TRY(Expression::parse(parsed, text, &made));
    TN_TRY(check_elementwise(*made));
    found = interned.emplace(key, tn_expression{std::move(made)}).first;
  }
  *expression = &found->second;
  return nullptr;
}

const Expression& formula(const char* schema, const char* text) {
  const tn_expression* expression;
  throw_if(intern_expression(schema, text, &expression));
  return *expression->expression;
}

}  // namespace tenon
