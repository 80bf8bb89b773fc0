// What the losses share: their reduction, and refusals of their inputs. Used by the files of losses.
#pragma once

#include "pack.h"

namespace tenon::ops_pack {

enum class Reduction { none, mean, sum };
// `known`: what errors say is expected, where an op has others beside these.
Reduction reduction_of(const char* op, const std::string& name,
                       const char* known = "mean, sum or none");
Tensor reduced(const Tensor& loss, Reduction reduction);

void expect_positive(const char* op, const char* what, double value, bool zero);
void expect_same_sizes(const char* op, const Tensor& input, const Tensor& target);
void expect_broadcast(const char* op, const Tensor& input, const Tensor& target);
// Target must broadcast to the sizes of input, which does not grow.
void expect_broadcast_to(const char* op, const Tensor& input, const Tensor& target);
void expect_fractions(const char* op, const Tensor& input, const Tensor& target);
// What two bools have no difference of, whole numbers have.
void expect_numbers(const char* op, const Tensor& input, const Tensor& target);

}  // namespace tenon::ops_pack
