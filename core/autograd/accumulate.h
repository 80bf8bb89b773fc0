// Sums of gradients: on their way through the graph, and where they end, at leaves.
#pragma once

#include "autograd/node.h"

namespace tenon {

// grad += more, in place when nobody else can see it; recorded under create_graph.
[[nodiscard]] Status add_into(TensorRef* grad, Tensor* more, bool create_graph);

}  // namespace tenon
