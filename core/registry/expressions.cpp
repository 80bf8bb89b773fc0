#include "registry/expressions.h"

#include <map>
#include <mutex>
#include <string>

namespace tenon {

Status intern_expression(const char* schema, const char* text, const Op** op) {
  static std::mutex mutex;
  static auto& interned = *new std::map<std::pair<std::string, std::string>, Op>;
  std::lock_guard lock(mutex);
  const auto key = std::make_pair(std::string(schema), std::string(text));
  auto found = interned.find(key);
  if (found == interned.end()) {
    Schema parsed;
    TN_TRY(parse_schema(schema, &parsed));
    std::unique_ptr<Expression> made;
    TN_TRY(Expression::parse(parsed, text, &made));
    found = interned.try_emplace(key).first;
    Op& fresh = found->second;
    const Status refused = guarded([&] {
      fresh.passes_autocast = true;
      set_schema(&fresh, std::move(parsed));
      return set_expression(&fresh, std::move(made));
    });
    if (refused != nullptr) {
      interned.erase(found);
      return refused;
    }
  }
  *op = &found->second;
  return nullptr;
}

const Op& formula(const char* schema, const char* text) {
  const Op* op;
  throw_if(intern_expression(schema, text, &op));
  return *op;
}

Status make_gradient(const Op& op, uint64_t wanted, const GradientOp** gradient) {
  static std::mutex mutex;
  const Expression::Gradient* made;
  TN_TRY(op.expression->gradient(wanted, &made));
  const std::lock_guard lock(mutex);
  const GradientOp* const first = op.gradients.load(std::memory_order_relaxed);
  for (const GradientOp* g = first; g != nullptr; g = g->next) {
    if (g->wanted == wanted) return *gradient = g, nullptr;  // another thread was first
  }
  auto entry = std::make_unique<GradientOp>();
  entry->wanted = wanted;
  entry->sources = made->sources;
  entry->next = first;
  entry->op.passes_autocast = true;
  set_schema(&entry->op, made->expression->schema().clone());
  // It belongs to the expression that it is the gradient of.
  TN_TRY(set_expression(&entry->op, {op.expression, made->expression}));
  *gradient = entry.get();
  op.gradients.store(entry.release(), std::memory_order_release);
  return nullptr;
}

}  // namespace tenon
