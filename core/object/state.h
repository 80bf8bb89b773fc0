// Loading a state dict into a tree of objects.
#pragma once

#include "object/object.h"

namespace tenon {

// Copies tensors[i] into the entry of path names[i], whose dtype its values are converted to; sizes
// must be equal, but that [1] goes into an entry without dimensions, and an integer entry takes no
// float that it has no number for. An empty entry of kind TN_ENTRY_STATE (an optimizer's
// before its first step) gets a copy on the tensor's device, if the object's method
// accepts_state(str name, Tensor value) does not fail; other empty entries take nothing.
// strict: every tensor is given, under one of its names, but those of which the method
// may_lack(str name) of their object says that old states are without them, and every name has an
// entry; else both are passed over. The error lists all that does not fit, and then nothing was changed.
[[nodiscard]] Status load_state(Object* object, const char* const* names, tn_tensor* const* tensors,
                                uint32_t n, bool strict);

}  // namespace tenon
