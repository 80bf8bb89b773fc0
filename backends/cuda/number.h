// Arguments that may change from one launch of a graph to the next, as kernels/number.cuh has them.
#pragma once

#include "launch.h"

namespace cuda {

struct Number {
  double value;
  const void* live;  // where the device has it, while a graph is recorded
  int64_t is_integer;
};

inline Number number_of(const tn_value& value) {
  if (value.kind == TN_KIND_TENSOR)
    return {0, value.as.tensor->data, value.as.tensor->dtype == TN_INT64};
  return {value.kind == TN_KIND_FLOAT ? value.as.f : static_cast<double>(value.as.i), nullptr, 0};
}
inline void add_number(Parameters& parameters, const Number& number) {
  parameters.add(number.value);
  parameters.add(number.live);
  parameters.add(number.is_integer);
}

}  // namespace cuda
