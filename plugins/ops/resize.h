// What images at other sizes and images sampled by a grid share.
#pragma once

#include <array>

#include "windows.h"

namespace tenon::ops_pack {

// The weights of the two elements below a place and the two above, of which `part`, 0 to 1, is how
// far it lies above the second. Keys, 1981, with the slope -0.75 that PyTorch has.
std::array<Tensor, 4> cubic_weights(const Tensor& part);

}  // namespace tenon::ops_pack
