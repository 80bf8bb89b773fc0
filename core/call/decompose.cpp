#include "call/decompose.h"

#include <algorithm>
#include <utility>

#include "call/call.h"
#include "registry/recording.h"
#include "tensor/rows.h"
#include "registry/called_name.h"

namespace tenon {

// The decomposition gets the tensors that stand for numbers, so that these are read where they are
// used. What it calls has numbers of its own.
static Status run_with_numbers(const Op* op, std::span<const tn_value> args,
                               std::span<tn_value> results) {
  DynamicNumbers* const numbers = thread_state.numbers;
  const NumbersScope scope(nullptr);
  tn_value given[kMaxArguments];
  std::ranges::copy(args, given);
  if (numbers->op == op) {
    for (size_t i = 0; i < args.size(); ++i) {
      const bool same = numbers->came_as_tensor(i) && args[i].kind == numbers->read[i].kind &&
                        args[i].as.i == numbers->read[i].as.i;
      if (same) given[i] = numbers->given[i];
    }
    numbers->used = true;
  }
  return run_decomposition(op, {given, args.size()}, results);
}

Status run_decomposition(const Op* op, std::span<const tn_value> args,
                         std::span<tn_value> results) {
  for (tn_value& v : results) v = tn_value{};
  const DecompositionScope scope(op);
  // Ops are made of others a dozen deep. What goes on and on would end with the stack, without a word.
  constexpr uint32_t kDeepest = 256;
  if (scope.depth() > kDeepest) {
    return error(TN_INTERNAL, "{}: decompositions are {} deep: it is made of itself",
                 called_name(op), kDeepest);
  }
  if (thread_state.numbers != nullptr) [[unlikely]]
    return run_with_numbers(op, args, results);
  if (Status status = op->decompose(op->self, args.data(), static_cast<uint32_t>(args.size()),
                                    results.data(), static_cast<uint32_t>(results.size()))) {
    release_values(results);
    return status;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const bool list = op->schema.returns[i].list;
    const uint32_t expected = list ? uint32_t{TN_KIND_TENSORS} : uint32_t{TN_KIND_TENSOR};
    const bool fits = results[i].kind == expected && (list || results[i].as.tensor != nullptr);
    const bool sparse = fits && std::ranges::any_of(tensors_of(results[i]), [](const tn_tensor* t) {
                          return t != nullptr && is_rows(as_tensor(t));
                        });
    if (fits && !sparse) continue;
    const std::string found = sparse ? "a row-sparse tensor" : value_kind_name(results[i]);
    release_values(results);
    return error(TN_INTERNAL, "{}: its decomposition gave {} for output {}, expected {}",
                 called_name(op), found, i, list ? "a list of tensors" : "a tensor");
  }
  return nullptr;
}

}  // namespace tenon
