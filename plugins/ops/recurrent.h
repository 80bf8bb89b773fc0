// What the two files of recurrent ops share.
#pragma once

#include <string>
#include <vector>

#include "pack.h"

namespace tenon::ops_pack {

using States = std::vector<Tensor>;  // h, or h and c

// recurrent_layer.cpp: one layer in one direction, and cells.
void recurrent_layers();

// Refuses what is not of the dtype of `first`, a float; null tensors pass.
void expect_one_dtype(const char* op, const char* first_name, const Tensor& first,
                      const std::vector<std::string>& names, const std::vector<Tensor>& others);

}  // namespace tenon::ops_pack
