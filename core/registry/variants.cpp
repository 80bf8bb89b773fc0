#include "registry/variants.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "base/text.h"

namespace tenon {
namespace {

// The arguments that a formula reads and that may be None, and those that it does not read.
void note_arguments(const Op& op, const Schema& own, uint64_t* needed, uint64_t* ignored) {
  for (size_t i = 0; i < op.schema.arguments.size(); ++i) {
    const Argument& argument = op.schema.arguments[i];
    const bool reads = own.find(argument.name) >= 0;
    if (!reads) *ignored |= uint64_t{1} << i;
    if (reads && argument.optional) *needed |= uint64_t{1} << i;
  }
}

Status set_formula(Op* op, const Schema& own, const std::string& text, tn_amp_class amp) {
  std::unique_ptr<Expression> expression;
  TN_TRY(Expression::parse(own, text, &expression));
  TN_TRY(set_expression(op, std::move(expression)));
  // What is written in place cannot change its dtype.
  if (amp == TN_AMP_AUTO && op->written == 0) op->amp = op->expression->amp_class();
  return nullptr;
}

// A formula of `op` as an op, which takes all of its arguments.
Status make_formula(const Op& op, const Schema& own, const std::string& text, tn_amp_class amp,
                    std::unique_ptr<Op>* made) {
  *made = std::make_unique<Op>();
  Op& formula = **made;
  formula.name = op.name;
  formula.plugin = op.plugin;
  formula.flags = op.flags;
  formula.amp = op.amp;
  set_schema(&formula, op.schema.clone());
  return set_formula(&formula, own, text, amp);
}

// How many arguments a call may bring that is certain to take the plain formula: those up to the
// last that this reads, where all conditions ask for others, and none holds at the defaults.
uint64_t direct_count(const Op& op, const Variants& variants) {
  uint32_t n = op.n_required;
  const auto n_args = static_cast<uint32_t>(op.defaults.size());
  for (uint32_t i = n; i < n_args; ++i) {
    if ((variants.ignored >> i & 1) == 0) n = i + 1;
  }
  for (const Variants::Entry& entry : variants.entries) {
    for (const Test& test : entry.condition.tests) {
      if (test.argument < n) return kNoDirectCall;
    }
    if (entry.condition.holds(op.defaults.data())) return kNoDirectCall;
  }
  return (variants.needed & ((uint64_t{1} << n) - 1)) == 0 ? n : kNoDirectCall;
}

std::string value_text(const tn_value& value) {
  if (value.kind != TN_KIND_STRING) return value_kind_name(value);
  return fmt::format("'{}'", printable({value.as.string, value.count}));
}

// "min is None, max is None"
std::string tested_text(const Op& op, const Condition& condition, const tn_value* args) {
  std::vector<std::string> parts;
  for (const Test& test : condition.tests) {
    parts.push_back(fmt::format("{} is {}", op.schema.arguments[test.argument].name,
                                value_text(args[test.argument])));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// What argument i may be: "None, 'floor' or 'trunc'"; "" where conditions name no strings.
std::string choices(const Op& op, uint32_t i) {
  std::vector<std::string> known;
  for (const Variants::Entry& entry : op.variants->entries) {
    for (const Test& test : entry.condition.tests) {
      if (test.argument != i || test.kind != Test::kEqual || test.value.kind != TN_KIND_STRING)
        continue;
      const std::string text = value_text(test.value);
      if (std::find(known.begin(), known.end(), text) == known.end()) known.push_back(text);
    }
  }
  if (known.empty()) return "";
  known.insert(known.begin(), value_text(op.defaults[i]));
  const std::string last = known.back();
  known.pop_back();
  return fmt::format("{} or {}", fmt::join(known, ", "), last);
}

[[gnu::cold, gnu::noinline]] Status no_formula(const Op& op, uint32_t i, const tn_value& value) {
  const std::string& name = op.schema.arguments[i].name;
  const std::string expected = choices(op, i);
  if (!expected.empty() && value.kind == TN_KIND_STRING) {
    return invalid("{}: {} is {}; expected {}", op.schema.name, name, value_text(value), expected);
  }
  return invalid("{}: {} is {}, for which it has no formula", op.schema.name, name,
                 value_text(value));
}

Status check_needed(const Op& op, uint64_t needed, const tn_value* args) {
  for (; needed != 0; needed &= needed - 1) {
    const auto i = static_cast<uint32_t>(__builtin_ctzll(needed));
    if (args[i].kind == TN_KIND_NONE) return no_formula(op, i, args[i]);
  }
  return nullptr;
}

}  // namespace

Status set_formulas(Op* op, const char* text, tn_amp_class amp) {
  // Most ops have one formula, and it is read once.
  if (std::string_view(text).find("when") == std::string_view::npos) {
    return set_formula(op, op->schema, text, amp);
  }
  std::vector<VariantText> texts;
  TN_TRY(split_variants(op->schema, text, &texts));
  if (texts.size() == 1) return set_formula(op, op->schema, text, amp);
  auto variants = std::make_shared<Variants>();
  variants->text = text;
  const Schema plain = schema_of_variant(op->schema, texts[0]);
  note_arguments(*op, plain, &variants->needed, &variants->ignored);
  TN_TRY(set_formula(op, plain, texts[0].text, amp));
  for (size_t i = 1; i < texts.size(); ++i) {
    Variants::Entry& entry = variants->entries.emplace_back();
    entry.error = std::move(texts[i].error);
    if (entry.error.empty()) {
      const Schema own = schema_of_variant(op->schema, texts[i]);
      uint64_t ignored = 0;  // the condition has asked for what matters
      note_arguments(*op, own, &entry.needed, &ignored);
      TN_TRY(make_formula(*op, own, texts[i].text, amp, &entry.op));
    }
    entry.condition = std::move(texts[i].condition);
  }
  op->n_direct = direct_count(*op, *variants);
  if (op->n_direct == kNoDirectCall) {
    TN_TRY(make_formula(*op, plain, texts[0].text, amp, &variants->plain));
  } else {
    op->map.n_args = static_cast<uint8_t>(op->n_direct);
  }
  op->variants = std::move(variants);
  return nullptr;
}

Status choose_variant(const Op** chosen, const tn_value* args) {
  const Op& op = **chosen;
  const Variants& variants = *op.variants;
  for (const Variants::Entry& entry : variants.entries) {
    if (!entry.condition.holds(args)) continue;
    if (entry.op == nullptr) [[unlikely]] {
      return invalid("{}: {}; {}", op.schema.name, tested_text(op, entry.condition, args),
                     entry.error);
    }
    *chosen = entry.op.get();
    return check_needed(op, entry.needed, args);
  }
  for (uint64_t rest = variants.ignored; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<uint32_t>(__builtin_ctzll(rest));
    if (!same_value(args[i], op.defaults[i])) [[unlikely]]
      return no_formula(op, i, args[i]);
  }
  if (variants.plain != nullptr) *chosen = variants.plain.get();
  return check_needed(op, variants.needed, args);
}

}  // namespace tenon
