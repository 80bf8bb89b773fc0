// What is done to an object and everything under it: visiting, moving to a device, training mode,
// clearing gradients.
#pragma once

#include <functional>

#include "object/object.h"

namespace tenon {

// Every tensor with its path ("0.weight"), the object's own first, then its children's, in order of
// definition; a tensor reached twice is named once. Empty entries are named too.
void visit_tensors(const Object* object,
                   const std::function<void(const std::string&, const NamedTensor&)>& see);
// The same under all of its names, for loading: what is tied here may be stored under any of them.
void visit_every_name(Object* object,
                      const std::function<void(const std::string&, Object*, NamedTensor*)>& see);

// Moves all tensors, and casts those of float dtypes unless `floats` is TN_DTYPE_NONE. Parameters
// and buffers stay the tensors that they are (set_data), so an optimizer that holds them goes on;
// gradients move with them. All or nothing.
[[nodiscard]] Status move_object(Object* object, tn_device device, tn_dtype floats);

void set_training(Object* object, bool on);

// `object` takes what `made`, which does not contain it, is made of.
[[nodiscard]] Status become(Object* object, Object* made);

// Of all groups of an optimizer, or of all parameters under a layer.
[[nodiscard]] Status zero_grad(Object* object);

// Makes `tensor`, a leaf, show the values of `other`, which has the same sizes: storage, strides,
// dtype and device are taken over, identity, flags of autograd and hooks stay. A view is none
// afterwards. Saved for a backward that has not run, it counts as changed.
void set_data(Tensor* tensor, const Tensor* other);

}  // namespace tenon
