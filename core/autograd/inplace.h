// In-place writes and views under gradient, as PyTorch's: a write to a view becomes a node of its base, and the view's own node
// is made anew from the base when it is next asked for.
#pragma once

#include "autograd/record.h"

namespace tenon {

// If t is a view whose storage changed since its node was made, and its base is in the graph, gives it a node from the base.
void refresh_view(Tensor* t);

// The node of a view of x by geometry alone; owned.
Node* make_view_node(Tensor* x, const Tensor* view, std::string name);

// dst.copy_(src), recorded when either needs a gradient and grad mode is on.
[[nodiscard]] Status copy_recorded(Tensor* dst, Tensor* src);

}  // namespace tenon
