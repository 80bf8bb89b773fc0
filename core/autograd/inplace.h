// In-place writes under gradient, as PyTorch's: a write to a view becomes a node of its base, and
// the view's own node is made anew from the base when it is next asked for. The nodes of views are
// in autograd/view_nodes.h.
#pragma once

#include "autograd/record.h"

namespace tenon {

// If t is a view whose storage changed since its node was made, and its base is in the graph, gives
// it a node from the base.
void refresh_view(Tensor* t);

// For a tensor that is about to get the history `node`: if calls that lead to this node hold the
// tensor or its base, they hold aliases from now on. Else node and tensor would own each other, for
// ever.
void break_cycles(Tensor* t, Node* node);
// Whether nobody holds the memory of this view, of what a custom function gave or made while gradients were
// off, but the view itself and its base, of which nobody else has a handle; the base loses its history then,
// which may have saved what it gave. It is a tensor of its own from here on.
bool let_view_go(Tensor* view);
// For a result that is a view, and about to get a history of its own: of what its function made and
// dropped it is a tensor of its own.
void give_as_view(Tensor* view);

// dst.copy_(src), recorded when either needs a gradient and grad mode is on.
[[nodiscard]] Status copy_recorded(Tensor* dst, Tensor* src);

}  // namespace tenon
