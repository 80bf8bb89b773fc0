// What random.cpp draws for the other files of the family random.
#pragma once

#include "pack.h"

namespace tenon::ops_pack {

void random_fills();  // of which random() registers these
void random_counts();

// Uniform in [0, 1), in float64, from 53 bits each.
Tensor uniform_numbers(const char* op, Ints sizes, Device device);
// Normal with mean 0 and variance 1, in float32.
Tensor normal_numbers(const char* op, Ints sizes, Device device);

}  // namespace tenon::ops_pack
