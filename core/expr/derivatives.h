// The derivative of each operation, beside each other: what differentiate.cpp walks over the graph
// with.
#pragma once

#include <array>

#include "expr/graph.h"

namespace tenon {

// Of node `id`, given the gradient `g` of its value: the gradients of the arguments for which
// `needs` is true. kNoNode is a structural zero. `on_tensors(i)`: does argument i depend on an
// operand at all?
std::array<NodeId, 3> derivatives(Graph& graph, NodeId id, NodeId g, std::array<bool, 3> needs,
                                  std::array<bool, 3> on_tensors);

// Is argument i of this operation a value that has a derivative, be it zero (floor), or is it none
// (a comparison, a condition)?
bool has_derivative(uint16_t op, int i);

}  // namespace tenon
