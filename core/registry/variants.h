// Variants: an expression op may have several formulas, of which options choose one. Each formula is
// an op of the same name and schema, so that gradients, kernels, autocast and explain know nothing of
// variants. The op itself is the plain formula, and `call` goes straight on with it where a call
// brings just the arguments that this formula reads (Op::n_direct); where a condition asks for one of
// these, every call chooses, and the plain formula is an op of its own (Variants::plain).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "registry/registry.h"
#include "expr/variants.h"

namespace tenon {

struct Variants {
  struct Entry {
    Condition condition;
    std::string error;       // what a call is told that it meets; else empty
    uint64_t needed = 0;     // bit i: the formula reads argument i, which may be None
    std::unique_ptr<Op> op;  // NULL with an error
  };
  std::string text;  // of all
  std::vector<Entry> entries;
  uint64_t needed = 0;        // of the plain formula
  uint64_t ignored = 0;       // bit i: it does not read argument i, which must be at its default
  std::unique_ptr<Op> plain;  // the plain formula once more, where no call of the op is direct
};

// Parses the text of an op that has its schema. `amp`: of its definition.
[[nodiscard]] Status set_formulas(Op* op, const char* text, tn_amp_class amp);

// The formula of a call of an op with variants: its arguments are checked, and complete. It gets the
// first `n_direct` of them. An error where no formula takes the call.
[[nodiscard]] Status choose_variant(const Op** op, const tn_value* args);

// The op, and the other formulas that it has.
template <typename AnyOp, typename F>
void each_formula(AnyOp& op, F&& f) {
  f(op);
  if (op.variants == nullptr) return;
  for (const Variants::Entry& entry : op.variants->entries) {
    if (entry.op != nullptr) f(*entry.op);
  }
  if (op.variants->plain != nullptr) f(*op.variants->plain);
}

}  // namespace tenon
