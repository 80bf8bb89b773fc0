// Matrix products for the kernels of this plugin: the primitive MATMUL, linear and its fusions.
#pragma once

#include <cstdint>

#include "tenon/abi.h"

namespace tenon::cpu_backend {

// c[i] = a[i] b[i] (+ bias) (relu) for i < batch, any strides.
struct Product {
  int64_t batch, m, n, k;
  const void* a;
  const void* b;
  void* c;
  int64_t a_strides[3], b_strides[3], c_strides[3];  // in elements: batch, row, column
  tn_dtype dtype;                                    // of all: a float
  const void* bias = nullptr;                        // [n]
  int64_t bias_stride = 1;
  bool relu = false;
};

void multiply(const tn_call* call, const Product& product);

}  // namespace tenon::cpu_backend
