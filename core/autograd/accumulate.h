// Sums of gradients: on their way through the graph, and where they end, at leaves.
#pragma once

#include "autograd/node.h"

namespace tenon {

inline constexpr size_t kMaxTerms = 4;  // that add_into takes at once

// grad += terms, from left to right, in place when nobody else can see it; recorded under
// create_graph. 1 to kMaxTerms terms.
[[nodiscard]] Status add_into(TensorRef* grad, std::span<Tensor* const> terms, bool create_graph);
// The same where one of them at least is row-sparse: the sum is so where all are.
[[nodiscard]] Status add_rows_into(TensorRef* grad, std::span<Tensor* const> terms,
                                   bool create_graph);
// Does nobody else see the rows? Memory counts that only the view still holds that they are.
bool are_unseen(const Tensor* rows);
// Does only the caller hold t, and nothing else its memory?
inline bool is_unseen(const Tensor* t) {
  return t->retained_once() && t->base == nullptr &&
         t->storage->refs.load(std::memory_order_acquire) == 1;
}
// t += term, in t's memory, whoever sees it; not recorded.
[[nodiscard]] Status add_in_place(Tensor* t, Tensor* term);

}  // namespace tenon
