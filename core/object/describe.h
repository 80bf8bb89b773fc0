// The text of an object, as PyTorch prints modules and optimizers.
#pragma once

#include <string>

#include "object/object.h"

namespace tenon {

// Sequential(
//   (0): Linear(in_features=64, out_features=128, bias=True)
//   (1): ReLU()
// )
std::string describe(const Object* object);

}  // namespace tenon
