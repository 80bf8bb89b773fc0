// Loading a state dict into a tree of objects.
#pragma once

#include "object/object.h"

namespace tenon {

// Copies tensors[i] into the entry of path names[i]; sizes must be equal, float dtypes are cast to
// the entry's, others must be the entry's own. An empty entry of kind TN_ENTRY_STATE (an optimizer's
// before its first step) gets a copy on the tensor's device, if the object's method
// accepts_state(str name, Tensor value) does not fail; other empty entries take nothing.
// strict: every tensor is given, under one of its names, and every name has an entry; else both are
// passed over. The error lists all that does not fit, and then nothing was changed.
[[nodiscard]] Status load_state(Object* object, const char* const* names, tn_tensor* const* tensors,
                                uint32_t n, bool strict);

}  // namespace tenon
