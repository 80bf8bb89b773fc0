// Images [n, channels, ..] lie row-major, or channels-last: the channels innermost. Kernels that take
// both give what they got, so a network stays in the layout of its input.
#pragma once

#include "tenon/abi.h"

namespace cuda {

// Is it channels-last, and not row-major as well?
bool is_channels_last(const tn_tensor& t);
// Dense in a third order, in which its gradient would lie, too.
bool lies_otherwise(const tn_tensor& t);
// A tn_order_fn: channels-last outputs for a channels-last first argument.
void image_order(void*, const tn_call* call, uint32_t, const tn_meta* meta, int32_t* order);
// The strides of an image of these sizes.
void image_strides(const tn_tensor& t, bool channels_last, int64_t* strides);

}  // namespace cuda
