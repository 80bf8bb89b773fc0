// The gradient of a formula, as a formula: reverse mode over the graph, in the graph's own terms.
// Conventions at ties and kinks are PyTorch's and stand in docs/expressions.md.
#pragma once

#include <vector>

#include "expr/expression.h"
#include "expr/graph.h"

namespace tenon {

// Bit i: operand i reaches the output or output sum through functions that have a derivative (be it
// zero).
uint64_t differentiable_operands(const Formula& formula);

// `gradient` gets one output per bit of `wanted`, and only the sources that these need as operands,
// in the order gradients, inputs, outputs. Operands that no derivative reaches give the constant 0.
void differentiate(const Formula& formula, uint64_t wanted, Formula* gradient,
                   std::vector<GradientSource>* sources);

}  // namespace tenon
